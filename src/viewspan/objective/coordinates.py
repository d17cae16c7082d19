"""Coordinates v(x) of a sample in the basis V of the joint row space of all views.

The column of Z_i for a sample x is V W_i v(x), also if x is not one of the samples that were
solved for. v(x) is the shortest solution of x = X v for all views at once, each scaled to norm 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from viewspan._utils.linalg import ratio, spectrum_of_gram
from viewspan._utils.sparse import full, is_sparse
from viewspan._utils.typing import AnyArray, Array, Block


class Coordinates(Protocol):
    """Map from prepared samples, one block (n, D_i) per view, to their coordinates (n, r)."""

    def __call__(self, blocks: Sequence[Block]) -> Array: ...

    @property
    def loadings(self) -> list[Block]:
        """Loadings X_i V (D_i, r), which map coordinates back to features."""


@dataclass(frozen=True)
class ByFeatures:
    """Coordinates v(x) = Tᵀx, for fewer features than samples.

    Attributes
    ----------
    matrix : array (ΣD_i, r)
        T, for which V = XᵀT has orthonormal columns.
    loadings : list of arrays (D_i, r)
    """

    matrix: Array
    loadings: list[Block]

    def __call__(self, blocks: Sequence[Block]) -> Array:
        parts = np.split(self.matrix, np.cumsum([block.shape[1] for block in blocks])[:-1])
        return np.asarray(sum(block @ part for block, part in zip(blocks, parts, strict=True)))


@dataclass(frozen=True)
class BySamples:
    """Coordinates v(x) = BᵀK⁺k(x), for more features than samples.

    k(x) = Σ X_iᵀx_i / ‖X_i‖_F² is the kernel between x and the samples, and K is the kernel matrix
    of the samples.

    Attributes
    ----------
    views : list of arrays (N, D_i)
        The prepared samples.
    basis : array (N, r) or None
        B; None for the identity.
    """

    views: Sequence[Block]
    basis: Array | None

    def __call__(self, blocks: Sequence[Block]) -> Array:
        coordinates: Array = self._kernel(blocks) @ self._inverse
        return coordinates

    @cached_property
    def loadings(self) -> list[Block]:
        return [view.T if self.basis is None else full(view.T @ self.basis) for view in self.views]

    def _kernel(self, blocks: Sequence[Block]) -> Array:
        parts = (
            dense_product(block, view) / norm_or_one(view) ** 2
            for block, view in zip(blocks, self.views, strict=True)
        )
        return np.asarray(sum(parts))

    @cached_property
    def _inverse(self) -> Array:
        joint = spectrum_of_gram(self._kernel(self.views))
        inverse = joint.right.T * ratio(1.0, joint.values**2) @ joint.right
        return inverse if self.basis is None else inverse @ self.basis


def norm_or_one(view: Block) -> float:
    """Return ‖X‖_F, or 1 for a view that is zero."""
    return float(np.linalg.norm(view.data if is_sparse(view) else view)) or 1.0


def dense_product(left: Block, right: Block) -> Array:
    """Return left · rightᵀ as a dense array."""
    return full(left @ right.T)


def coordinates_of_incomplete_samples(
    coordinates: Coordinates, blocks: Sequence[Block], observed: AnyArray
) -> Array:
    """Return the coordinates of samples that are missing from some views.

    They are the shortest solution v of X_i V v = x_i for the views that the sample has, each scaled
    to norm 1 as in the basis. Samples that have the same views are solved for together.
    """
    loadings = coordinates.loadings
    scales = [1.0 / norm_or_one(loading) ** 2 for loading in loadings]
    along = [
        scale * full(block @ loading)
        for block, loading, scale in zip(blocks, loadings, scales, strict=True)
    ]
    squares = [
        scale * full(loading.T @ loading) for loading, scale in zip(loadings, scales, strict=True)
    ]
    found = np.zeros_like(along[0])
    for views in np.unique(observed, axis=1).T:
        rows = (observed == views[:, None]).all(axis=0)
        present = np.flatnonzero(views)
        joint = spectrum_of_gram(np.sum([squares[view] for view in present], axis=0))
        inverse = joint.right.T * ratio(1.0, joint.values**2) @ joint.right
        found[rows] = np.sum([along[view][rows] for view in present], axis=0) @ inverse
    return found
