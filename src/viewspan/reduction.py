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

from viewspan._linalg import Spectrum, spectrum, spectrum_of_gram, svd, triangle
from viewspan._threads import map_views, threads_for
from viewspan._typing import Array

Sides = Literal["both", "left", "none"]

NEARLY_ALL = 0.9
"""A basis of more than this share of all directions is not worth changing to."""


@dataclass(frozen=True)
class Reduction:
    """The views in the coordinates in which the problem is solved.

    Features are rotated so that every view has orthogonal rows, at most as many as its rank: no fit here can tell.

    Attributes
    ----------
    left, right : array (N, r) or None
        Z_i = left · W_i · rightᵀ; None stands for the identity.
    spectra : list of Spectrum
        Singular values and right singular vectors of X_i · left.
    targets : list of arrays (d_i, m)
        X_i · right.
    """

    left: Array | None
    right: Array | None
    spectra: list[Spectrum]
    targets: list[Array]

    @property
    def factors(self) -> list[Array]:
        """X_i · left."""
        return [view.matrix for view in self.spectra]

    @property
    def n_samples(self) -> int:
        return self.spectra[0].right.shape[1] if self.left is None else len(self.left)

    def singular_values(self) -> list[Array]:
        """The singular values of every view; the basis contains its row space, so none is lost."""
        return [view.values for view in self.spectra]


def reduce_views(views: Sequence[Array], reduced: Sides = "both", *, squares_suffice: bool = True) -> Reduction:
    """Find the joint basis and write every view in it.

    Parameters
    ----------
    views : sequence of arrays (N, D_i)
    reduced : {"both", "left", "none"}
    squares_suffice : bool
        Whether the fit sees squared residuals only, so that Gram matrices carry all that counts.
    """
    n_samples = len(views[0])
    basis: Array | None
    if reduced != "none" and sum(view.shape[1] for view in views) <= n_samples:
        basis, spectra = narrow_basis(views)
    else:
        with threads_for(len(views), n_samples):
            spectra = map_views(gram_spectrum if squares_suffice else direct_spectrum, views)
        basis = None if reduced == "none" else wide_basis(spectra)
        spectra = spectra if basis is None else [Spectrum(view.values, view.right @ basis) for view in spectra]
    targets = [view.matrix for view in spectra]
    if reduced != "left":
        return Reduction(basis, basis, spectra, targets)
    return Reduction(basis, None, spectra, targets if basis is None else [target @ basis.T for target in targets])


def narrow_basis(views: Sequence[Array]) -> tuple[Array, list[Spectrum]]:
    """Few features: the QR factorisation of the views side by side, whose triangle holds every view in the basis.

    Every view enters at norm 1, so that a small one next to a large one keeps its directions. A direction is left out
    only where it carries less than rounding of every view.
    """
    sizes = [float(np.linalg.norm(view)) or 1.0 for view in views]
    basis, corner = np.linalg.qr(np.hstack([view / size for view, size in zip(views, sizes, strict=True)]))
    rotation, singular, _ = svd(corner)
    rank = max(1, int((singular > len(basis) * np.finfo(float).eps * singular[0]).sum()))
    if rank < len(singular):
        basis, corner = basis @ rotation[:, :rank], rotation[:, :rank].T @ corner
    blocks = np.split(corner, np.cumsum([view.shape[1] for view in views])[:-1], axis=1)
    return basis, [spectrum(size * block.T) for block, size in zip(blocks, sizes, strict=True)]


def gram_spectrum(view: Array) -> Spectrum:
    """Of the view with samples in columns; through its Gram matrix where there are more features than samples."""
    return spectrum_of_gram(view @ view.T) if view.shape[1] > view.shape[0] else spectrum(view.T)


def direct_spectrum(view: Array) -> Spectrum:
    """The same without squaring."""
    return spectrum(triangle(view.T) if view.shape[1] > view.shape[0] else view.T)


def wide_basis(spectra: Sequence[Spectrum]) -> Array | None:
    """Many features: their joint row space is usually everything, V = I, unless all views are of low rank."""
    n_samples = spectra[0].right.shape[1]
    rows = np.vstack([view.right[view.values > n_samples * np.finfo(float).eps * view.values[0]] for view in spectra])
    if len(rows) == 0 or max(len(view.values) for view in spectra) > NEARLY_ALL * n_samples:
        return None
    joint = spectrum_of_gram(rows.T @ rows)  # every direction at norm 1, whatever the scale of its view
    return joint.right.T if len(joint.values) <= NEARLY_ALL * n_samples else None
