"""λ, τ and the number of clusters from the data alone."""

from collections.abc import Sequence

import numpy as np

from viewspan._typing import Array

SHARE_OF_EDGE = 0.6
"""λ as a share of the noise edge."""
COUPLING_PER_LAMBDA = 4.0
"""τ as a multiple of the mean λ."""
ENTRY_COUPLING = 0.05
"""τ of MLAP as a share of a sample's length."""
FLOOR = 1e-3
"""The noise edge is at least this share of the largest squared singular value."""
FEWEST = 8
"""With fewer singular values than this there is no median to speak of."""
SHORTEST_RESIDUAL = 0.1
ABOVE_COLLAPSE = 1.5
"""λ of an ℓ1,2 fit as a multiple of the weight below which every sample only rebuilds itself."""
HALF = 0.5
TINY = np.finfo(float).tiny


def noise_edge(singular: Array, n_samples: int, n_features: int) -> float:
    r"""The squared singular value below which a view is noise.

    For an N × D matrix of noise with standard deviation σ the largest singular value is near the Marchenko–Pastur
    edge :math:`\sigma(\sqrt N + \sqrt D)`. It is never taken below a small share of the largest one, because
    noise-free data still needs some regularisation, nor above it, because then nothing would be left.
    """
    largest = float(singular.max(initial=0.0)) ** 2
    edge = noise_level(singular, n_samples, n_features) * (np.sqrt(n_samples) + np.sqrt(n_features))
    return min(max(float(edge**2), FLOOR * largest), largest)


def noise_level(singular: Array, n_samples: int, n_features: int) -> float:
    """σ of the noise in a view, from its median singular value [1]_.

    The median is that of the noise as long as the signal has fewer than half of all directions. A view whose numerical
    rank is below half has a median of zero: it is noise-free. A view of few features has no median to speak of, and
    is taken to be noise-free too.

    References
    ----------
    .. [1] M. Gavish, D. L. Donoho, "The optimal hard threshold for singular values is 4/√3", IEEE Trans. Inf.
       Theory, 2014.
    """
    short, long = sorted((n_samples, n_features))
    values = np.zeros(short)
    values[: min(short, len(singular))] = singular[:short]
    rank = int((values > values.max(initial=0.0) * long * np.finfo(float).eps).sum())
    if 2 * rank < short or short < FEWEST:
        return 0.0
    return float(np.median(values)) / float(np.sqrt(long * marchenko_pastur_median(short / long)))


def marchenko_pastur_median(ratio: float, n_points: int = 4097) -> float:
    """The median of the Marchenko–Pastur law for a matrix with this ratio of sides (at most 1)."""
    low, high = (1 - np.sqrt(ratio)) ** 2, (1 + np.sqrt(ratio)) ** 2
    # x = middle − half-width·cos(θ) takes the square-root ends of the density away
    angle = (np.arange(n_points) + 0.5) * np.pi / n_points
    points = (low + high) / 2 - (high - low) / 2 * np.cos(angle)
    mass = np.cumsum(np.sin(angle) ** 2 / points)
    return float(np.interp(mass[-1] / 2, mass, points))


def automatic_lam(spectra: Sequence[Array], n_samples: int, n_features: Sequence[int]) -> Array:
    """λ_i = 0.6 × noise edge, as a share of the view's energy and averaged over views, for the fit ‖E‖_F².

    Samples of unit length give every view the same energy ‖X_i‖_F², so all views get one λ: coefficients of views that
    are shrunk alike can be compared. (Every view's own edge was measured worse on four of six real sets, never better.)
    """
    energies = np.array([float((values**2).sum()) for values in spectra])
    edges = [noise_edge(values, n_samples, width) for values, width in zip(spectra, n_features, strict=True)]
    present = energies > 0
    if not present.any():
        return energies
    return SHARE_OF_EDGE * float(np.mean(np.array(edges)[present] / energies[present])) * energies


def automatic_tau(spectra: Sequence[Array], lam: Array) -> float:
    """τ = 4 × the mean λ, for the nuclear coupling; at most half of what surely makes all coefficients zero.

    All are zero from ‖·‖₂ of the matrix with rows vec((2G_i − λ_i I)₊) on, which is at least the length of any row.
    """
    rows = [
        np.linalg.norm(np.maximum(2 * values**2 - weight, 0.0)) for values, weight in zip(spectra, lam, strict=True)
    ]
    return min(COUPLING_PER_LAMBDA * float(np.mean(lam)), HALF * float(max(rows)))


def lam_for_l12(spectra: Sequence[Array], lam: Array, n_samples: int) -> Array:
    """The weight at which the ℓ1,2 fit pulls as hard as ‖E‖_F² does at λ.

    At residuals of typical length ε the two fits have slopes 1 and 2ε, so λ becomes λ/2ε; ε is the root mean square
    length of the residuals that the closed form leaves at λ, and at least a tenth of a sample's. At most half of what
    makes all coefficients zero, which is ‖X‖₂² divided by a sample's length.

    If λ cuts off no direction, ε is proportional to λ, and λ/2ε is the weight at which residuals vanish altogether:
    below it Z = I, and every sample is a cluster of its own. So the weight stays well above that (see
    :func:`collapse_weight`), and half way to zero coefficients where the two are near each other.
    """
    weights = []
    for values, weight in zip(spectra, lam, strict=True):
        squares, length = values**2, typical_length([values], n_samples) or 1.0
        left = np.where(2 * squares > weight, weight**2 / (4 * np.maximum(squares, TINY)), squares).sum()
        residual = max(float(np.sqrt(left / n_samples)), SHORTEST_RESIDUAL * length)
        collapse, nothing = collapse_weight(values, n_samples), float(squares.max(initial=0.0)) / length
        wanted = max(weight / (2 * residual), ABOVE_COLLAPSE * collapse)
        weights.append(min(wanted, max(HALF * nothing, float(np.sqrt(collapse * nothing)))))
    return np.array(weights)


def collapse_weight(singular: Array, n_samples: int) -> float:
    """About the λ up to which Z = I is optimal for the ℓ1,2 fit: 1 / root mean square of 1/s.

    Z = I leaves no residual. It is optimal if some Y with columns of length at most 1 has XᵀY = λI; the shortest such
    Y is λX(XᵀX)⁻¹, whose columns have the mean square length λ² Σ s⁻² / N. The longest of them decides, so this is an
    upper bound, and nearly exact for samples of one length in all directions. Dependent samples have no such Y.
    """
    largest = float(singular.max(initial=0.0))
    if len(singular) < n_samples or float(singular.min()) <= largest * n_samples * np.finfo(float).eps:
        return 0.0
    return 1.0 / float(np.sqrt(np.mean(singular**-2.0)))


def automatic_tau_l12(spectra: Sequence[Array], n_samples: int) -> float:
    """τ = 0.05 × the root mean square length of a sample, for MLAP's coupling.

    Its dual variable bounds single entries of X_iᵀY_i, which for residual directions ‖y_j‖ ≤ 1 are at most a sample's
    length. N such entries add up to at most a quarter of ‖X‖₂² over that length, so that together with
    :func:`lam_for_l12` not everything is zero.
    """
    length = typical_length(spectra, n_samples)
    largest = max(float(values.max(initial=0.0)) for values in spectra)
    return min(ENTRY_COUPLING * length, 0.25 * largest**2 / (n_samples * (length or 1.0)))


def typical_length(spectra: Sequence[Array], n_samples: int) -> float:
    """Root mean square length of a sample over the given views."""
    squares = sum(float((values**2).sum()) for values in spectra)
    return float(np.sqrt(squares / (n_samples * len(spectra))))


def count_by_eigengap(eigenvalues: Array) -> int:
    """The number of clusters at the widest gap in the normalised affinity's eigenvalues, largest first; at
    least 2 where possible.
    """
    if len(eigenvalues) < 3:
        return max(1, len(eigenvalues) - 1)
    gaps = eigenvalues[1:-1] - eigenvalues[2:]
    return int(np.argmax(gaps)) + 2
