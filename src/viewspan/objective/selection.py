"""λ, τ and the number of clusters from the data alone."""

from collections.abc import Sequence

import numpy as np

from viewspan._utils.linalg import ratio
from viewspan._utils.typing import Array
from viewspan._utils.warnings import warn

PATH = (1.0, 2.0, 0.5, 0.25)
"""Multiples of the automatic λ whose graphs are averaged; the first is the one that is reported."""
ALONE = 0.25
"""At this multiple and below, views are not coupled: beside what they share, the detail that each of them sees."""
COUPLING = 0.5
"""How hard the coupling pulls, as a share of the penalty's pull."""
ENTRY_COUPLING = 0.05
"""τ of MLAP as a share of a sample's length."""
FLOOR = 2e-4
"""λ is at least this share of the largest squared singular value: LRR then drops singular values below 1 % of it."""
FEWEST = 8
"""With fewer singular values than this there is no median to speak of."""
SHORTEST_RESIDUAL = 0.1
ABOVE_COLLAPSE = 1.5
"""λ of an ℓ1,2 fit as a multiple of the weight below which every sample only rebuilds itself."""
HALF = 0.5
CLEAR = 2.0
"""A gap between eigenvalues is clear if it is this many times wider than any other."""
NO_HEIGHT = 1e-3
"""An eigenvalue below this is as good as zero."""
BEYOND = 0.1
"""An eigenvalue is clearly more than chance if it is so much of the way from there to 1."""
UNCLEAR = "The number of clusters is not clear from the data:"
TELL = "Give n_clusters if you know it."
TINY = np.finfo(float).tiny


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


def automatic_lam(
    spectra: Sequence[Array], counts: Sequence[int], n_features: Sequence[int]
) -> Array:
    r"""λ_i = 2 × the energy of the noise in one sample of the view, for the fit ‖E‖_F².

    A direction over the samples in which the signal has the energy x² is seen with s² = x² + Dσ². Wiener's filter
    keeps the share x²/s² = 1 − Dσ²/s² of it, and LRR's closed form keeps 1 − λ/2s²: they are the same at λ = 2Dσ².
    Noise cannot be more than all there is; λ is at least a small share of ‖X_i‖₂², below which directions of real data
    are of no use even where nothing looks like noise, and at most half of what makes all coefficients zero.
    """
    weights = []
    for values, n_samples, width in zip(spectra, counts, n_features, strict=True):
        energy, largest = float((values**2).sum()), float(values.max(initial=0.0)) ** 2
        noise = min(width * noise_level(values, n_samples, width) ** 2, energy / n_samples)
        weights.append(min(max(2 * noise, FLOOR * largest), largest))
    return np.array(weights)


def automatic_tau(spectra: Sequence[Array], lam: Array) -> float:
    r"""τ = ½ √r̄ × the mean λ, for the nuclear coupling; at most half of what surely makes all coefficients zero.

    Where views agree, τ‖A‖_* pulls on the stack of the Z_i with a force of length τ, and λ‖Z_i‖_* on one Z_i of rank r
    with one of length λ√r. So this is half of the penalty's pull, whatever the rank; r̄ is the mean over views of the
    rank Σ_s (1 − λ_i/2s²)₊ that each would have alone.

    All are zero from ‖·‖₂ of the matrix with rows vec((2G_i − λ_i I)₊) on, which is at least the length of any row.
    """
    pairs = [
        (values, weight) for values, weight in zip(spectra, lam, strict=True) if values.any()
    ]  # zero has no say
    if not pairs:
        return 0.0
    kept = [np.maximum(2 * values**2 - weight, 0.0) for values, weight in pairs]
    ranks = [
        float(ratio(left, left + weight).sum())
        for left, (_, weight) in zip(kept, pairs, strict=True)
    ]
    limit = HALF * max(float(np.linalg.norm(left)) for left in kept)
    return min(
        COUPLING * float(np.sqrt(np.mean(ranks)) * np.mean([weight for _, weight in pairs])), limit
    )


def automatic_tau_l1(factors: Sequence[Array], lam: Array) -> float:
    r"""τ = ¼ (Σ_j ‖x_j‖⁴)^½, the mean over views, for the nuclear coupling beside ℓ1: again half of the penalty's pull.

    ℓ1 pulls on a column with d_j coefficients with a force of length λ_j √d_j, and the data-driven λ_j of SSC is
    ½ ‖x_j‖² / √d_j (for the fit ‖E‖_F²). At most half of what surely makes all coefficients zero, which is the length
    of the entries of 2XᵀX beyond λ.
    """
    pulls, limits = [], []
    for factor, weight in zip(factors, lam, strict=True):
        if not factor.any():  # a view that is zero has no say
            continue
        gram = 2.0 * factor.T @ factor
        pulls.append(0.25 * float(np.linalg.norm(0.5 * gram.diagonal())))
        beyond = np.maximum(np.abs(gram) - weight, 0.0)
        np.fill_diagonal(beyond, 0.0)
        limits.append(float(np.linalg.norm(beyond)))
    return min(float(np.mean(pulls)), HALF * max(limits)) if pulls else 0.0


def lam_for_l12(spectra: Sequence[Array], lam: Array, counts: Sequence[int]) -> Array:
    """The weight at which the ℓ1,2 fit pulls as hard as ‖E‖_F² does at λ.

    At residuals of typical length ε the two fits have slopes 1 and 2ε, so λ becomes λ/2ε; ε is the root mean square
    length of the residuals that the closed form leaves at λ, and at least a tenth of a sample's. At most half of what
    makes all coefficients zero, which is ‖X‖₂² divided by a sample's length.

    If λ cuts off no direction, ε is proportional to λ, and λ/2ε is the weight at which residuals vanish altogether:
    below it Z = I, and every sample is a cluster of its own. So the weight stays well above that (see
    :func:`collapse_weight`), and half way to zero coefficients where the two are near each other.
    """
    weights = []
    for values, weight, n_samples in zip(spectra, lam, counts, strict=True):
        squares, length = values**2, typical_length([values], n_samples) or 1.0
        left = np.where(
            2 * squares > weight, weight**2 / (4 * np.maximum(squares, TINY)), squares
        ).sum()
        residual = max(float(np.sqrt(left / n_samples)), SHORTEST_RESIDUAL * length)
        collapse, nothing = (
            collapse_weight(values, n_samples),
            float(squares.max(initial=0.0)) / length,
        )
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
    if (
        len(singular) < n_samples
        or float(singular.min()) <= largest * n_samples * np.finfo(float).eps
    ):
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
    """Root mean square length of a sample over the given views; one that is zero has no say."""
    squares = [float((values**2).sum()) for values in spectra if values.any()]
    return float(np.sqrt(sum(squares) / (n_samples * max(len(squares), 1))))


def count_clusters(eigenvalues: Array, chance: Array | None = None) -> int:
    """The number of clusters at the widest gap in a graph's eigenvalues, largest first; at least 2 where possible.

    If it is known what the eigenvalues would be by chance, gaps are ratios, among those that are more than that: many
    small clusters lower the eigenvalues one by one, and the last step, from the loosest cluster to noise, is smaller
    than the first ones but larger in proportion.

    Warns if another gap is nearly as wide.
    """
    if len(eigenvalues) < 3:
        return max(1, len(eigenvalues) - 1)
    gaps = eigenvalues[1:-1] - eigenvalues[2:]
    if chance is not None:
        above = count_above(eigenvalues, chance)
        if above < 2:
            warn(
                f"{UNCLEAR} noise would give such a graph, so there may be no clusters at all. {TELL}"
            )
            return 2
        heights = np.maximum(eigenvalues, NO_HEIGHT)
        gaps = np.log(heights[1:-1] / heights[2:])[: above - 1]
    order = np.argsort(-gaps, kind="stable")
    widest, next_widest = (
        (int(position) + 2 for position in order[:2]) if len(order) > 1 else (2, 2)
    )
    if len(order) > 1 and gaps[order[0]] < CLEAR * gaps[order[1]]:
        warn(
            f"{UNCLEAR} {widest} is the best guess, with a gap of {gaps[order[0]]:.2g} between eigenvalues, but "
            f"{next_widest} has {gaps[order[1]]:.2g}. {TELL}"
        )
    elif chance is not None and eigenvalues[widest - 1] - chance[widest - 1] < BEYOND * (
        1.0 - chance[widest - 1]
    ):
        warn(
            f"{UNCLEAR} {widest} is the best guess, but noise would give nearly such a graph. {TELL}"
        )
    return widest


def count_above(eigenvalues: Array, chance: Array) -> int:
    """How many eigenvalues, from the second on, are larger than by chance, one after the other; and the first."""
    below = eigenvalues[1:] <= chance[1:]
    return 1 + int(below.argmax()) if below.any() else len(eigenvalues) - 1
