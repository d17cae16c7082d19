"""The two roads from views to labels: all samples in one graph, or a fair sample of them with landmarks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from viewspan._utils.typing import AnyArray, Array
from viewspan._utils.warnings import warn
from viewspan.fit.one_pass import Summarise, Summary, reduction_of
from viewspan.fit.progress import Stages
from viewspan.graph.landmarks import choose_landmarks
from viewspan.graph.patterns import patterns_of
from viewspan.graph.unite import Unite, United
from viewspan.inference.assignment import (
    Assigner,
    ByCoefficients,
    ByPatterns,
    Closeness,
    coordinates_of_references,
)
from viewspan.inference.explanation import Explanation
from viewspan.inference.fitted_graph import FittedGraph
from viewspan.inference.recognition import Known
from viewspan.inputs.blocks import Source
from viewspan.inputs.preparation import Preparation, concatenate, prepare
from viewspan.inputs.views import Views, count_distinct, report_unlinked
from viewspan.objective.reduction import Reduction, restricted
from viewspan.solvers.result import Result

LARGEST_SEED = 2**31
PER_LANDMARK = 2
"""Samples in the graph for every landmark; their fair sample is what the landmarks are chosen from."""


@dataclass(frozen=True)
class Recipe:
    """What an estimator asks for.

    Attributes
    ----------
    reduce : callable
        From prepared views in memory to their reduction.
    solve : callable
        From a reduction to the solutions whose graphs are averaged, the first being the one that is reported.
    unite : Unite
    n_clusters : int or None
    scale_features, affine : bool or "auto"
    normalize, concatenated : bool
    exact_weights : bool
        Whether λ was given, so that no singular value is too small to count.
    few_copies_mislead : bool
        Whether a few samples that are there several times are too many.
    generator : RandomState
    """

    reduce: Callable[[Views], Reduction]
    solve: Callable[[Reduction], list[Result]]
    unite: Unite
    n_clusters: int | None
    scale_features: bool | Literal["auto"]
    affine: bool | Literal["auto"]
    normalize: bool
    concatenated: bool
    exact_weights: bool
    few_copies_mislead: bool
    generator: np.random.RandomState


@dataclass(frozen=True)
class Fitted:
    """What a road leads to.

    Attributes
    ----------
    preparation : Preparation
    reduction : Reduction
    results : list of Result
    united : United
    unite : Unite
    concatenated : bool
    references : array of int, optional
        The samples of the reduction that were cut, if not all.
    known : Known
        Samples that keep their label.
    lengths : list of arrays, optional
        Of all samples before they were made unit length, up to a factor.
    """

    preparation: Preparation
    reduction: Reduction
    results: list[Result]
    united: United
    unite: Unite
    concatenated: bool
    references: AnyArray | None = None
    known: Known = field(default_factory=Known.nobody)
    lengths: list[Array] | None = None

    @cached_property
    def assigner(self) -> Assigner:
        """Made when it is first asked for."""
        result, reduction, weights = self.results[0], self.reduction, self.united.view_weights
        rows = coordinates_of_references(reduction, self.references)
        closeness: Closeness = (
            ByPatterns.of(result, reduction, rows, weights, mutual=self.unite.mutual)
            if self.unite.by_patterns
            else ByCoefficients.of(result, reduction, rows, weights)
        )
        return Assigner(
            preparation=self.preparation,
            coordinates=reduction.coordinates,
            closeness=closeness,
            graph=self.graph,
            n_neighbors=self.unite.n_neighbors,
            concatenated=self.concatenated,
            known=self.known,
        )

    @cached_property
    def graph(self) -> FittedGraph:
        """The graph that was cut."""
        return FittedGraph(
            affinity=self.united.graph,
            labels=self.united.labels,
            samples=self._samples_of_nodes(),
            edges="patterns" if self.unite.by_patterns else "coefficients",
            landmarks=self.references is not None,
        )

    def _samples_of_nodes(self) -> AnyArray:
        n_nodes = len(self.united.labels)
        if self.references is None:
            return np.arange(n_nodes)
        kept = self.reduction.left
        complete = kept is not None and len(kept) == self.reduction.n_samples
        return np.asarray(self.references) if complete else np.full(n_nodes, -1)

    @cached_property
    def explanation(self) -> Explanation:
        """What it says about clusters, views and samples."""
        labels = self.united.labels
        return Explanation(
            self.preparation, self.reduction, self.results[0], labels, self.references, self.lengths
        )


def fit_all(views: Views, recipe: Recipe, stages: Stages) -> Fitted:
    """All samples in one graph."""
    stages.begin("reading")
    read = views.read()
    report_unlinked(read)
    n_clusters = known_count(read, recipe.n_clusters)
    report_copies(read, few_mislead=recipe.few_copies_mislead)
    preparation, prepared = prepare(read, recipe.scale_features, recipe.affine, recipe.normalize)
    reduction = recipe.reduce(concatenate(prepared) if recipe.concatenated else prepared)
    report_one_line(reduction, n_clusters)
    stages.step()
    results = recipe.solve(reduction)
    stages.begin("comparing", len(results) + 1)
    united = recipe.unite(results, n_clusters, recipe.generator, step=stages.step)
    stages.step()
    return Fitted(
        preparation,
        reduction,
        results,
        united,
        recipe.unite,
        recipe.concatenated,
        known=Known.samples(read),
        lengths=preparation.lengths(read) if recipe.normalize else None,
    )


def summarise(
    source: Source, recipe: Recipe, capacity: int, stages: Stages
) -> tuple[Preparation, Summary]:
    """One pass; another one if features are to be scaled or made affine, which only the first can tell, or if the Gram
    matrix is too ill-conditioned for weights that count every singular value.
    """
    seed = int(recipe.generator.randint(LARGEST_SEED))
    first = Summarise(None, recipe.normalize, "squares", capacity, seed)
    summary = one_pass(source, first, stages)
    preparation = Preparation.choose(
        summary.columns, recipe.scale_features, recipe.affine, recipe.normalize
    )
    preparation.report(source.views.names)
    if preparation.changes_features:
        summary = one_pass(source, replace(first, preparation=preparation), stages)
    if recipe.exact_weights and summary.is_ill_conditioned():
        summary = one_pass(source, replace(first, preparation=preparation, by="triangles"), stages)
    return preparation, summary


def one_pass(source: Source, function: Summarise, stages: Stages) -> Summary:
    stages.begin("reading", source.views.n_samples)
    width = sum(source.views.n_features)
    summary: Summary = source.fold(function, merge, width, stages.step)
    return summary


def merge(first: Summary, second: Summary) -> Summary:
    return first + second


def fit_landmarks(
    preparation: Preparation,
    summary: Summary,
    n_landmarks: int | None,
    recipe: Recipe,
    stages: Stages,
) -> Fitted:
    """A graph of landmarks, from what one pass has kept of the samples; None for a graph of all that were kept."""
    summary = replace(summary, sample=summary.sample.in_order())
    widths = [treatment.n_features for treatment in preparation.treatments]
    used = preparation.with_columns(summary.columns).n_features_used
    if recipe.concatenated:
        widths, used = [sum(widths)], (sum(used),)
    reduction = reduction_of(summary, widths, used)
    return cut_landmarks(preparation, reduction, summary.sample.blocks, n_landmarks, recipe, stages)


def fit_in_memory(
    views: Views, n_rows: int, n_landmarks: int, recipe: Recipe, stages: Stages
) -> Fitted:
    """A graph of landmarks, for more features than samples."""
    stages.begin("reading")
    read = views.read()
    preparation, prepared = prepare(read, recipe.scale_features, recipe.affine, recipe.normalize)
    prepared = concatenate(prepared) if recipe.concatenated else prepared
    rows = np.sort(recipe.generator.permutation(views.n_samples)[:n_rows])
    reduction = restricted(recipe.reduce(prepared), rows)
    stages.step()
    return cut_landmarks(
        preparation,
        reduction,
        [array[rows] for array in prepared.arrays],
        n_landmarks,
        recipe,
        stages,
    )


def cut_landmarks(
    preparation: Preparation,
    reduction: Reduction,
    sample: Sequence[Any],
    n_landmarks: int | None,
    recipe: Recipe,
    stages: Stages,
) -> Fitted:
    """The same, given the reduction, whose bases have one row for every sample of those."""
    n_clusters = known_count(Views(list(sample), [], False, np.dtype(float)), recipe.n_clusters)
    report_one_line(reduction, n_clusters)
    results = recipe.solve(reduction)
    landmarks = None
    if n_landmarks is not None:
        patterns = patterns_of(results[0], mutual=recipe.unite.mutual)
        landmarks = choose_landmarks(
            patterns, min(n_landmarks, sample[0].shape[0]), recipe.generator
        )
    stages.begin("comparing", len(results) + 1)
    united = recipe.unite(results, n_clusters, recipe.generator, landmarks, stages.step)
    stages.step()
    return Fitted(
        preparation, reduction, results, united, recipe.unite, recipe.concatenated, landmarks
    )


def report_one_line(reduction: Reduction, n_clusters: int | None) -> None:
    """Say where nothing tells samples apart: they lie in one subspace of one dimension in every view."""
    if n_clusters == 1:
        return
    rounding = np.finfo(float).eps * reduction.n_samples
    if all((view.values[1:] <= rounding * view.values[0]).all() for view in reduction.spectra):
        warn(
            "In every view all samples lie on one line through the origin, which is one subspace: any split of them is "
            "arbitrary. Subspaces need views of at least two features; lines that miss the origin need affine=True.",
            ConvergenceWarning,
        )


def report_copies(views: Views, *, few_mislead: bool) -> None:
    """Say where samples are there several times, and weights take that for evidence: half of all, or any with ℓ1, which
    writes them by their copies alone, and with robust fits, which need no other to see that they are no outliers.
    """
    n_copies = views.n_samples - count_distinct(views)
    if n_copies and (few_mislead or 2 * n_copies >= views.n_samples):
        warn(
            f"{n_copies} of {views.n_samples} samples are copies of others in every view, and may form clusters of "
            "their own. Fit one of each, and give the copies its label."
        )


def known_count(views: Views, n_clusters: int | None) -> int | None:
    """As asked for; 1 if nothing is asked for and all samples are alike."""
    if n_clusters is None:
        return 1 if count_distinct(views, 2) == 1 else None
    distinct = count_distinct(views, n_clusters)
    if distinct < n_clusters:
        warn(
            f"n_clusters={n_clusters} is more than there are distinct samples ({distinct}): equal samples are "
            "split arbitrarily.",
            ConvergenceWarning,
        )
    return n_clusters
