"""From N samples to r directions, exactly.

Let V (N × r) be an orthonormal basis of the **joint** row space of all views and P = VVᵀ. Replacing Z_i by PZ_iP
leaves X_iZ_i's fit no worse (X_iP = X_i) and increases neither ‖Z_i‖_* nor ‖A‖_*. So every optimum is Z_i = V W_i
Vᵀ with W_i only r × r. A basis per view is not enough, and W_i is not symmetric. Datafits that look at single
samples keep the left half only (Z_i = V Y_i, Y_i r × N); penalties or couplings that look at single entries keep
nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from viewspan._linalg import eigh, singular_values, svd, triangle
from viewspan._typing import Array

Sides = Literal["both", "left", "none"]


@dataclass(frozen=True)
class Reduction:
    """The views in the coordinates in which the problem is solved.

    Attributes
    ----------
    left, right : array (N, r) or None
        Z_i = left · W_i · rightᵀ; None stands for the identity.
    factors : list of arrays (d_i, r)
        X_i · left, up to a rotation of the features.
    targets : list of arrays (d_i, m)
        X_i · right, with the same rotation.
    """

    left: Array | None
    right: Array | None
    factors: list[Array]
    targets: list[Array]

    @property
    def n_samples(self) -> int:
        return len(self.left) if self.left is not None else self.factors[0].shape[1]

    def singular_values(self) -> list[Array]:
        """The singular values of every view; the basis contains its row space, so none is lost."""
        return [singular_values(factor) for factor in self.factors]


def reduce_views(views: Sequence[Array], reduced: Sides = "both") -> Reduction:
    """Find the joint basis and write every view in it.

    Parameters
    ----------
    views : sequence of arrays (N, D_i)
    reduced : {"both", "left", "none"}
    """
    compact = [compress_features(view) for view in views]
    if reduced == "none":
        return Reduction(None, None, compact, compact)
    basis, factors = joint_basis(compact)
    if reduced == "both":
        return Reduction(basis, basis, factors, factors)
    return Reduction(basis, None, factors, compact)


def compress_features(view: Array) -> Array:
    """X_i as a matrix with samples in columns and at most N rows: more features than samples are rotated away."""
    if view.shape[1] <= view.shape[0]:
        return view.T
    return triangle(view.T)


def joint_basis(compact: Sequence[Array]) -> tuple[Array | None, list[Array]]:
    """An orthonormal basis V of the joint row space, and X_iV for every view.

    Few features: the QR factorisation of the stacked views, whose triangle holds every X_iV. Many features: the
    space is usually everything, V = I, unless the sum of the Gram matrices has a large null space. A direction is
    left out only where it carries less than rounding of the objective, so the reduction stays exact in floating
    point.
    """
    n_samples = compact[0].shape[1]
    stacked = np.vstack(compact)
    if len(stacked) <= n_samples:
        basis, corner = np.linalg.qr(stacked.T)
        rotation, singular, _ = svd(corner)
        rank = numerical_rank(singular**2, n_samples)
        if rank < len(singular):
            basis, corner = basis @ rotation[:, :rank], rotation[:, :rank].T @ corner
        return basis, split_rows(corner.T, compact)
    squares, vectors = eigh(stacked.T @ stacked)
    rank = numerical_rank(squares, n_samples)
    if rank == n_samples:
        return None, list(compact)
    basis = vectors[:, n_samples - rank :]
    return basis, [view @ basis for view in compact]


def numerical_rank(squares: Array, size: int) -> int:
    """How many squared singular values are above rounding; at least one, so that there is something to solve."""
    largest = float(squares.max(initial=0.0))
    return max(1, int((squares > size * np.finfo(float).eps * largest).sum()))


def split_rows(stacked: Array, like: Sequence[Array]) -> list[Array]:
    """Cut a stack of views into the views again."""
    return np.split(stacked, np.cumsum([len(view) for view in like])[:-1])
