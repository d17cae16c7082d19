"""What a fitted model says beyond labels: subspaces of clusters, what views contributed, which samples are strange."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from viewspan._utils.linalg import Spectrum, singular_values, spectrum
from viewspan._utils.sparse import full
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
    """Found when asked for.

    Attributes
    ----------
    preparation : Preparation
    reduction : Reduction
    result : Result
    labels : array (n,)
        Of the references.
    references : array of int, optional
        The samples of the reduction that have labels, if not all.
    lengths : list of arrays (n,), optional
        Of samples before they were made unit length, up to a factor for every view. Noise is the same for long and for
        short ones, so subspaces are fitted to samples as long as they were.
    """

    preparation: Preparation
    reduction: Reduction
    result: Result
    labels: Labels
    references: AnyArray | None
    lengths: list[Array] | None = None

    @cached_property
    def subspaces(self) -> list[list[Subspace]]:
        """Of every cluster, in every view."""
        return [
            self._subspaces_of(np.flatnonzero(self.labels == k))
            for k in range(int(self.labels.max()) + 1)
        ]

    @cached_property
    def view_scores(self) -> Array:
        """How far the clusters can be seen in every view alone."""
        lam = automatic_lam(
            [view.values for view in self._spectra], self._counts, self.preparation.n_features_used
        )
        return view_scores(
            self._spectra, self._coordinates, lam, self.labels, self.reduction.observed
        )

    @cached_property
    def outlier_scores(self) -> Array:
        """Of every view and sample."""
        return outlier_scores(self.result, self.reduction)

    @cached_property
    def _loadings(self) -> list[Any]:
        """From coordinates to the features of every view, also where views were made one."""
        loadings, widths = (
            self.reduction.coordinates.loadings,
            [t.n_features for t in self.preparation.treatments],
        )
        return (
            loadings
            if len(loadings) == len(widths)
            else np.split(full(loadings[0]), np.cumsum(widths)[:-1])
        )

    @cached_property
    def _spectra(self) -> list[Spectrum]:
        if len(self._loadings) == len(self.reduction.spectra):
            return self.reduction.spectra
        return [spectrum(full(loading)) for loading in self._loadings]

    @property
    def _counts(self) -> list[int]:
        """Samples that every view has."""
        counts = self.reduction.counts
        return counts if len(counts) == len(self._loadings) else counts * len(self._loadings)

    @cached_property
    def _coordinates(self) -> Array:
        basis = (
            np.eye(self.reduction.n_samples) if self.reduction.left is None else self.reduction.left
        )
        return basis if self.references is None else basis[self.references]

    def _subspaces_of(self, members: AnyArray) -> list[Subspace]:
        found = []
        for view, treatment in enumerate(self.preparation.treatments):
            samples = self._samples(view, self._present(view, members))
            found.append(fit_subspace(samples, self._noise[view], treatment))
        return found

    @cached_property
    def _noise(self) -> list[float]:
        """σ of every view."""
        levels = []
        for view, treatment in enumerate(self.preparation.treatments):
            samples = self._samples(view, self._present(view, np.arange(len(self.labels))))
            levels.append(
                noise_level(singular_values(samples), samples.shape[1], treatment.n_features_used)
            )
        return levels

    def _present(self, view: int, rows: AnyArray) -> AnyArray:
        """Those that the view has."""
        return (
            rows if self.reduction.observed is None else rows[self.reduction.observed[view, rows]]
        )

    def _samples(self, view: int, rows: AnyArray) -> Array:
        """Prepared samples, one per column, as long as they were."""
        if self.reduction.left is None and self.references is None:
            found = full(self._loadings[view][:, rows])
        else:
            found = full(self._loadings[view] @ self._coordinates[rows].T)
        return found if self.lengths is None else found * self.lengths[view][rows]
