"""From N samples to r directions, exactly.

Let V (N × r) be an orthonormal basis of the **joint** row space of all views and P = VVᵀ. Replacing Z_i by PZ_iP
leaves X_iZ_i's fit no worse (X_iP = X_i) and increases neither ‖Z_i‖_* nor ‖A‖_*. So every optimum is Z_i = V W_i
Vᵀ with W_i only r × r. A basis per view is not enough, and W_i is not symmetric. Datafits that look at single
samples keep the left half only (Z_i = V Y_i, Y_i r × N); penalties or couplings that look at single entries keep
nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from viewspan._utils.linalg import Spectrum, ratio, spectrum, spectrum_of_gram, svd, triangle
from viewspan._utils.sparse import full
from viewspan._utils.threads import map_views, threads_for
from viewspan._utils.typing import AnyArray, Array, Block
from viewspan.objective.coordinates import ByFeatures, BySamples, Coordinates, product, size

Sides = Literal["both", "left", "none"]

NEARLY_ALL = 0.9
"""A basis of more than this share of all directions is not worth changing to."""


@dataclass(frozen=True)
class Reduction:
    """The views in the coordinates in which the problem is solved.

    Where the fit cannot tell, features are rotated so that every view has orthogonal rows, at most as many as its rank.

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
        N. With more samples than one graph can hold, the bases have the rows of some of them only.
    n_features_used : tuple of int
        Of every view, without features that are zero for every sample, which hold no noise either.
    coordinates : Coordinates
        Where any other sample stands: its row of ``left``, or of the identity.
    observed : array (n_views, N) of bool, optional
        Which samples every view has; None for all.
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
        """Samples that every view has; 1 for a view that has none."""
        if self.observed is None:
            return [self.n_samples] * len(self.spectra)
        return [max(int(count), 1) for count in self.observed.sum(axis=1)]

    def singular_values(self) -> list[Array]:
        """The singular values of every view; the basis contains its row space, so none is lost."""
        return [view.values for view in self.spectra]


def typical_length(spectra: Sequence[Array], n_samples: int) -> float:
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
    squares_suffice : bool
        Whether the fit sees squared residuals only, so that Gram matrices carry all that counts.
    rotate_features : bool
        Whether the fit cannot tell rotated features from those that were given.
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
    """From coordinates in the basis to samples."""
    return factors if basis is None else [factor @ basis.T for factor in factors]


def weighted(reduction: Reduction, weights: Array) -> Reduction:
    """Of views multiplied by weights; the basis, and who stands where in it, stay the same."""
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
    return int((abs(view).max(axis=0) > 0).sum())


def restricted(reduction: Reduction, rows: AnyArray) -> Reduction:
    """To some of the samples, as far as the bases go."""
    basis = np.eye(reduction.n_samples)[rows] if reduction.left is None else reduction.left[rows]
    return replace(reduction, left=basis, right=basis)


def narrow_basis(views: Sequence[Block]) -> tuple[Array, ByFeatures, list[Spectrum]]:
    """Few features: the QR factorisation of the views side by side, whose triangle holds every view in the basis.

    Every view enters at norm 1, so that a small one next to a large one keeps its directions.
    """
    sizes = [size(view) for view in views]
    basis, corner = np.linalg.qr(
        np.hstack([full(view) / scale for view, scale in zip(views, sizes, strict=True)])
    )
    rotation, coordinates = from_triangle(
        corner, sizes, [view.shape[1] for view in views], len(basis)
    )
    return (
        basis if rotation is None else basis @ rotation,
        coordinates,
        map_views(spectrum, coordinates.loadings),
    )


def from_triangle(
    corner: Array, sizes: Sequence[float], widths: Sequence[int], n_samples: int
) -> tuple[Array | None, ByFeatures]:
    """What follows from the triangle R of the views side by side, each divided by its size.

    A direction is left out only where it carries less than rounding of every view.

    Returns
    -------
    rotation : array (ΣD, r) or None
        The basis is Q times this; None if no direction is left out.
    coordinates : ByFeatures
        From the features, as they are, to coordinates in the basis, and back.
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
    """Of the view with samples in columns; through its Gram matrix where there are more features than samples."""
    return (
        spectrum_of_gram(product(view, view))
        if view.shape[1] > view.shape[0]
        else spectrum(full(view).T)
    )


def direct_spectrum(view: Block) -> Spectrum:
    """The same without squaring."""
    return spectrum(triangle(full(view).T) if view.shape[1] > view.shape[0] else full(view).T)


def above_rounding(view: Spectrum) -> AnyArray:
    return np.asarray(view.values > view.right.shape[1] * np.finfo(float).eps * view.values[0])


def in_basis(view: Spectrum, basis: Array) -> Spectrum:
    """Without directions that are only rounding: they need not lie in the basis, in which rows must be orthonormal."""
    kept = above_rounding(view)
    if not kept.any():
        return Spectrum(
            np.zeros(1), np.eye(1, basis.shape[1])
        )  # a zero view has one direction, too
    return Spectrum(view.values[kept], view.right[kept] @ basis)


def wide_basis(spectra: Sequence[Spectrum]) -> Array | None:
    """Many features: their joint row space is usually everything, V = I, unless all views are of low rank."""
    n_samples = spectra[0].right.shape[1]
    rows = np.vstack([view.right[above_rounding(view)] for view in spectra])
    if len(rows) == 0 or max(len(view.values) for view in spectra) > NEARLY_ALL * n_samples:
        return None
    joint = spectrum_of_gram(
        rows.T @ rows
    )  # every direction at norm 1, whatever the scale of its view
    return joint.right.T if len(joint.values) <= NEARLY_ALL * n_samples else None
