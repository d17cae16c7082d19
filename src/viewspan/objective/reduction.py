"""Exact reduction of a problem from N samples to r directions.

Let V (N × r) be an orthonormal basis of the **joint** row space of all views, and P = VVᵀ.
Replacing Z_i by PZ_iP does not increase the fit (X_iP = X_i), nor ‖Z_i‖_*, nor ‖A‖_*. So every
optimum is Z_i = V W_i Vᵀ, where W_i is only r × r. A basis for every view of its own would not be
enough, and W_i is not symmetric.

Datafits that depend on single samples allow the reduction on the left side only: Z_i = V Y_i, where
Y_i is r × N. Penalties and couplings that depend on single entries allow no reduction.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from viewspan._utils.linalg import Spectrum, ratio, spectrum, spectrum_of_gram, svd, triangle
from viewspan._utils.sparse import full
from viewspan._utils.threads import map_views, threads_for
from viewspan._utils.typing import AnyArray, Array, Block
from viewspan.objective.coordinates import (
    ByFeatures,
    BySamples,
    Coordinates,
    dense_product,
    norm_or_one,
)

Sides = Literal["both", "left", "none"]

MAX_BASIS_SHARE = 0.9
"""Largest basis, as a share of all directions, that is worth a change of coordinates."""


@dataclass(frozen=True)
class Reduction:
    """Views in the coordinates in which the problem is solved.

    If the fit is invariant to rotations of the features, they are rotated so that every view has
    orthogonal rows, at most as many as its rank.

    Attributes
    ----------
    left, right : array (N, r) or None
        Z_i = left · W_i · rightᵀ; None stands for the identity.
    spectra : list of Spectrum
        Singular values and right singular vectors of X_i · left.
    factors : list of arrays (d_i, r)
        X_i · left.
    targets : list of arrays (d_i, m)
        X_i · right.
    n_samples : int
        N. In a landmark fit the bases have the rows of some of the samples only.
    n_features_used : tuple of int
        Number of features of every view that are not zero for all samples.
    coordinates : Coordinates
        Map from any sample to its row of ``left``, or of the identity.
    observed : array (n_views, N) of bool, optional
        Whether each view has each sample; None if no sample is missing.
    """

    left: Array | None
    right: Array | None
    spectra: list[Spectrum]
    factors: list[Array]
    targets: list[Array]
    n_samples: int
    n_features_used: tuple[int, ...]
    coordinates: Coordinates
    observed: AnyArray | None = None

    @property
    def counts(self) -> list[int]:
        """Number of samples in each view, at least 1."""
        if self.observed is None:
            return [self.n_samples] * len(self.spectra)
        return [max(int(count), 1) for count in self.observed.sum(axis=1)]

    def singular_values(self) -> list[Array]:
        """Return the singular values of every view.

        None is lost, because the basis contains the row space of every view.
        """
        return [view.values for view in self.spectra]


def rms_length(spectra: Sequence[Array], n_samples: int) -> float:
    """Return the root mean square length of a sample over all views that are not zero."""
    squares = [float((values**2).sum()) for values in spectra if values.any()]
    return float(np.sqrt(sum(squares) / (n_samples * max(len(squares), 1))))


def reduce_views(
    views: Sequence[Block],
    reduced: Sides = "both",
    *,
    squares_suffice: bool = True,
    rotate_features: bool = True,
) -> Reduction:
    """Find the joint basis and write every view in it.

    Parameters
    ----------
    views : sequence of arrays (N, D_i)
    reduced : {"both", "left", "none"}
        Sides of Z_i that are reduced.
    squares_suffice : bool
        Whether the fit depends on squared residuals only, so that Gram matrices are accurate
        enough.
    rotate_features : bool
        Whether the fit is invariant to rotations of the features.
    """
    n_samples = views[0].shape[0]
    basis: Array | None
    coordinates: Coordinates
    if reduced != "none" and sum(view.shape[1] for view in views) <= n_samples:
        basis, coordinates, spectra = narrow_basis(views)
    else:
        with threads_for(len(views), n_samples):
            spectra = map_views(gram_spectrum if squares_suffice else direct_spectrum, views)
        basis = None if reduced == "none" else wide_basis(spectra)
        coordinates = BySamples(views, basis)
        spectra = spectra if basis is None else [in_basis(view, basis) for view in spectra]
    factors = (
        [view.matrix for view in spectra]
        if rotate_features
        else [full(part) for part in coordinates.loadings]
    )
    right, targets = (None, with_samples(factors, basis)) if reduced == "left" else (basis, factors)
    used = tuple(n_features_used(view) for view in views)
    return Reduction(basis, right, spectra, factors, targets, n_samples, used, coordinates)


def with_samples(factors: list[Array], basis: Array | None) -> list[Array]:
    """Return the factors with one column per sample instead of one per direction."""
    return factors if basis is None else [factor @ basis.T for factor in factors]


def weighted(reduction: Reduction, weights: Array) -> Reduction:
    """Return the reduction of views multiplied by weights; the basis stays the same."""
    if (weights == 1.0).all():
        return reduction
    pairs = zip(reduction.spectra, weights, strict=True)
    spectra = [Spectrum(weight * view.values, view.right) for view, weight in pairs]
    factors = [weight * factor for factor, weight in zip(reduction.factors, weights, strict=True)]
    targets = (
        factors if reduction.right is reduction.left else with_samples(factors, reduction.left)
    )
    return replace(reduction, spectra=spectra, factors=factors, targets=targets)


def n_features_used(view: Block) -> int:
    """Return the number of features that are not zero for all samples."""
    return int((abs(view).max(axis=0) > 0).sum())


def select_basis_rows(reduction: Reduction, rows: AnyArray) -> Reduction:
    """Return the reduction with only the basis rows of the given samples."""
    basis = np.eye(reduction.n_samples)[rows] if reduction.left is None else reduction.left[rows]
    return replace(reduction, left=basis, right=basis)


def narrow_basis(views: Sequence[Block]) -> tuple[Array, ByFeatures, list[Spectrum]]:
    """Return basis, coordinates and spectra of views with fewer features than samples.

    They follow from the QR factorisation of all features side by side. Every view is scaled to norm
    1 for it, so that a small view next to a large one keeps its directions.
    """
    sizes = [norm_or_one(view) for view in views]
    scaled = [full(view) / scale for view, scale in zip(views, sizes, strict=True)]
    basis, corner = np.linalg.qr(np.hstack(scaled))
    widths = [view.shape[1] for view in views]
    rotation, coordinates = from_triangle(corner, sizes, widths, len(basis))
    spectra = map_views(spectrum, coordinates.loadings)
    return basis if rotation is None else basis @ rotation, coordinates, spectra


def from_triangle(
    corner: Array, sizes: Sequence[float], widths: Sequence[int], n_samples: int
) -> tuple[Array | None, ByFeatures]:
    """Return basis and coordinates from the triangle R of all features side by side.

    Every view was divided by its size. A direction is left out only if it is below rounding in
    every view.

    Returns
    -------
    rotation : array (ΣD, r) or None
        Matrix with which Q is multiplied to get the basis; None if no direction is left out.
    coordinates : ByFeatures
        Map from the features before division to coordinates in the basis, and back.
    """
    rotation, singular, right = svd(corner)
    rank = max(1, int((singular > n_samples * np.finfo(float).eps * singular[0]).sum()))
    inverse = right[:rank].T * ratio(1.0, singular[:rank])
    complete = rank == len(singular)
    inverse, corner = (
        (inverse @ rotation.T, corner) if complete else (inverse, rotation[:, :rank].T @ corner)
    )
    blocks = np.split(corner, np.cumsum(widths)[:-1], axis=1)
    loadings = [scale * block.T for block, scale in zip(blocks, sizes, strict=True)]
    matrix = inverse / np.repeat(sizes, widths)[:, None]
    return None if complete else rotation[:, :rank], ByFeatures(matrix, loadings)


def gram_spectrum(view: Block) -> Spectrum:
    """Return the spectrum of a view with samples in columns.

    It is computed from the Gram matrix if there are more features than samples.
    """
    if view.shape[1] > view.shape[0]:
        return spectrum_of_gram(dense_product(view, view))
    return spectrum(full(view).T)


def direct_spectrum(view: Block) -> Spectrum:
    """Return the spectrum of a view with samples in columns, without a Gram matrix."""
    return spectrum(triangle(full(view).T) if view.shape[1] > view.shape[0] else full(view).T)


def above_rounding(view: Spectrum) -> AnyArray:
    """Return which singular values are larger than rounding errors."""
    return np.asarray(view.values > view.right.shape[1] * np.finfo(float).eps * view.values[0])


def in_basis(view: Spectrum, basis: Array) -> Spectrum:
    """Return the spectrum in the coordinates of a basis.

    Directions of rounding errors are left out. They may lie outside the basis, and the rows of a
    spectrum must be orthonormal in it. A zero view keeps one direction.
    """
    kept = above_rounding(view)
    if not kept.any():
        return Spectrum(np.zeros(1), np.eye(1, basis.shape[1]))
    return Spectrum(view.values[kept], view.right[kept] @ basis)


def wide_basis(spectra: Sequence[Spectrum]) -> Array | None:
    """Return the joint basis of views with more features than samples, or None for the identity.

    The joint row space is usually the whole space, unless all views have a low rank.
    """
    n_samples = spectra[0].right.shape[1]
    rows = np.vstack([view.right[above_rounding(view)] for view in spectra])
    if len(rows) == 0 or max(len(view.values) for view in spectra) > MAX_BASIS_SHARE * n_samples:
        return None
    joint = spectrum_of_gram(rows.T @ rows)  # directions have norm 1, whatever their view's scale
    return joint.right.T if len(joint.values) <= MAX_BASIS_SHARE * n_samples else None
