"""Explanations of a fitted model beside its labels: subspaces, view scores and outlier scores."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from viewspan._utils.linalg import Spectrum, singular_values, spectrum
from viewspan._utils.sparse import full
from viewspan._utils.threads import with_one_thread
from viewspan._utils.typing import AnyArray, Array, Labels
from viewspan.inference.outliers import outlier_scores
from viewspan.inference.subspaces import Subspace, fit_subspace
from viewspan.inference.view_scores import view_scores
from viewspan.inputs.preparation import Preparation
from viewspan.objective.reduction import Reduction
from viewspan.solvers.result import Result
from viewspan.weights.noise import automatic_lam, noise_level


@dataclass(frozen=True)
class Explanation:
    """Subspaces, view scores and outlier scores of a fitted model, computed when they are read.

    Attributes
    ----------
    preparation : Preparation
    reduction : Reduction
    result : Result
    labels : array (n_nodes,)
        Clusters of the nodes of the graph.
    landmarks : array (n_nodes,) of int, optional
        Rows of the reduction's basis that are nodes of the graph; None for all of them.
    lengths : list of arrays (n_samples,), optional
        Lengths of the samples before they were scaled to unit length, up to a factor per view.
        Subspaces are fitted to samples of their original lengths, because the noise of long and
        short samples is equal.
    """

    preparation: Preparation
    reduction: Reduction
    result: Result
    labels: Labels
    landmarks: AnyArray | None
    lengths: list[Array] | None = None

    @cached_property
    @with_one_thread
    def subspaces(self) -> list[list[Subspace]]:
        """Subspaces of every cluster in every view."""
        return [
            self._subspaces_of(np.flatnonzero(self.labels == k))
            for k in range(int(self.labels.max()) + 1)
        ]

    @cached_property
    @with_one_thread
    def view_scores(self) -> Array:
        """How well the clusters are visible in every view alone, (n_views,)."""
        lam = automatic_lam(
            [view.values for view in self._spectra], self._counts, self.preparation.n_features_used
        )
        return view_scores(
            self._spectra, self._coordinates, lam, self.labels, self.reduction.observed
        )

    @cached_property
    @with_one_thread
    def outlier_scores(self) -> Array:
        """Share of each sample's length that the others do not represent, (n_views, n_samples)."""
        return outlier_scores(self.result, self.reduction)

    @cached_property
    def _loadings(self) -> list[Any]:
        """Maps from coordinates to the features of every view, also of concatenated views."""
        loadings = self.reduction.coordinates.loadings
        widths = [treatment.n_features for treatment in self.preparation.treatments]
        if len(loadings) == len(widths):
            return loadings
        return np.split(full(loadings[0]), np.cumsum(widths)[:-1])

    @cached_property
    def _spectra(self) -> list[Spectrum]:
        """Spectra of all views, also of concatenated views."""
        if len(self._loadings) == len(self.reduction.spectra):
            return self.reduction.spectra
        return [spectrum(full(loading)) for loading in self._loadings]

    @property
    def _counts(self) -> list[int]:
        """Number of samples in each view."""
        counts = self.reduction.counts
        return counts if len(counts) == len(self._loadings) else counts * len(self._loadings)

    @cached_property
    def _coordinates(self) -> Array:
        """Coordinates of the nodes of the graph in the basis of the reduction."""
        basis = self.reduction.left
        if basis is None:
            basis = np.eye(self.reduction.n_samples)
        return basis if self.landmarks is None else basis[self.landmarks]

    def _subspaces_of(self, members: AnyArray) -> list[Subspace]:
        """Return the subspaces of one cluster in every view."""
        found = []
        for view, treatment in enumerate(self.preparation.treatments):
            samples = self._samples(view, self._present(view, members))
            found.append(fit_subspace(samples, self._noise[view], treatment))
        return found

    @cached_property
    def _noise(self) -> list[float]:
        """Standard deviation σ of the noise of every view."""
        levels = []
        for view, treatment in enumerate(self.preparation.treatments):
            samples = self._samples(view, self._present(view, np.arange(len(self.labels))))
            levels.append(
                noise_level(singular_values(samples), samples.shape[1], treatment.n_features_used)
            )
        return levels

    def _present(self, view: int, rows: AnyArray) -> AnyArray:
        """Return those of the nodes that the view has."""
        observed = self.reduction.observed
        return rows if observed is None else rows[observed[view, rows]]

    def _samples(self, view: int, rows: AnyArray) -> Array:
        """Return prepared samples of their original lengths, one per column."""
        if self.reduction.left is None and self.landmarks is None:
            found = full(self._loadings[view][:, rows])
        else:
            found = full(self._loadings[view] @ self._coordinates[rows].T)
        return found if self.lengths is None else found * self.lengths[view][rows]
