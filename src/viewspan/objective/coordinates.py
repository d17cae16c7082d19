"""Where a sample stands among the others: the row v(x) that it has, or would have, in the basis V.

Column x of Z_i is V W_i v(x), so whatever can be said of the samples that were solved for can be said of any other. V
is the basis of the joint row space of all views, x = X v is solved with all views at once, each at norm 1, and v is
the shortest solution.
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
    """From prepared samples, one block (n, D_i) per view, to their rows (n, r) in the basis."""

    def __call__(self, blocks: Sequence[Block]) -> Array: ...

    @property
    def loadings(self) -> list[Block]:
        """X_i V (D_i, r), from coordinates back to features: a sample of those that were solved for is X_i V v(x)."""


@dataclass(frozen=True)
class ByFeatures:
    """v(x) = Tᵀx, for fewer features than samples: V = XᵀT has orthonormal columns.

    Attributes
    ----------
    matrix : array (ΣD_i, r)
    loadings : list of arrays (D_i, r)
    """

    matrix: Array
    loadings: list[Block]

    def __call__(self, blocks: Sequence[Block]) -> Array:
        parts = np.split(self.matrix, np.cumsum([block.shape[1] for block in blocks])[:-1])
        return np.asarray(sum(block @ part for block, part in zip(blocks, parts, strict=True)))


@dataclass(frozen=True)
class BySamples:
    """v(x) = BᵀK⁺k(x) with the kernel k(x) = Σ X_iᵀx_i / ‖X_i‖_F², for more features than samples.

    Attributes
    ----------
    views : list of arrays (N, D_i)
        The prepared samples; they are needed to compare others with.
    basis : array (N, r) or None
        None for the identity.
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
            product(block, view) / size(view) ** 2
            for block, view in zip(blocks, self.views, strict=True)
        )
        return np.asarray(sum(parts))

    @cached_property
    def _inverse(self) -> Array:
        joint = spectrum_of_gram(self._kernel(self.views))
        inverse = joint.right.T * ratio(1.0, joint.values**2) @ joint.right
        return inverse if self.basis is None else inverse @ self.basis


def size(view: Block) -> float:
    """‖X‖_F, and 1 for a view that is zero."""
    return float(np.linalg.norm(view.data if is_sparse(view) else view)) or 1.0


def product(left: Block, right: Block) -> Array:
    """left · rightᵀ in full."""
    return full(left @ right.T)


def coordinates_in_part(
    coordinates: Coordinates, blocks: Sequence[Block], observed: AnyArray
) -> Array:
    """Where samples stand of which only some views are known: the shortest v with X_i V v = x_i in those.

    Views enter at norm 1, as they do in the basis. Samples that have the same views are solved for together.
    """
    scales = [1.0 / size(loading) ** 2 for loading in coordinates.loadings]
    along = [
        scale * full(block @ part)
        for block, part, scale in zip(blocks, coordinates.loadings, scales, strict=True)
    ]
    squares = [
        scale * full(part.T @ part)
        for part, scale in zip(coordinates.loadings, scales, strict=True)
    ]
    found = np.zeros_like(along[0])
    for views in np.unique(observed, axis=1).T:
        rows = (observed == views[:, None]).all(axis=0)
        present = np.flatnonzero(views)
        joint = spectrum_of_gram(np.sum([squares[view] for view in present], axis=0))
        inverse = joint.right.T * ratio(1.0, joint.values**2) @ joint.right
        found[rows] = np.sum([along[view][rows] for view in present], axis=0) @ inverse
    return found
