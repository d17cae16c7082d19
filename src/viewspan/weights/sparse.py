"""λ for ℓ1 penalties, one per sample (Soltanolkotabi, Elhamifar, Candès 2014).

The right λ of a sample is inversely proportional to the ℓ1 length of its representation, which is
about √d in a subspace of dimension d. A first pass finds that length by letting every sample miss
its target by twice the noise,

    minimise ‖z_j‖₁   subject to   ‖x_j − X z_j‖₂ ≤ 2ε,  z_jj = 0,

and λ_j = ¼ / ‖z_j‖₁. Two guards are needed beyond the theory, which assumes little noise. A sample
may not miss its target by so much that nothing is left to represent, nor by less than the other
samples can reach. And λ_j is at most half of the value at which z_j is zero.
"""

from collections.abc import Sequence

import numpy as np

from viewspan._utils.linalg import NumericalError, eigh, ratio, singular_values
from viewspan._utils.typing import AnyArray, Array
from viewspan.objective.couplings import Uncoupled
from viewspan.objective.datafits import Ball, Datafit
from viewspan.objective.penalties import ZeroDiagonalL1
from viewspan.objective.problem import Problem
from viewspan.objective.reduction import Reduction
from viewspan.objective.weight_rule import PenaltyStrength, WeightRule
from viewspan.solvers.admm import admm
from viewspan.weights.noise import MAX_CRITICAL_SHARE, curvature_of, noise_level

LAM_SHARE = 0.25
"""λ_j ‖z_j‖₁ as a share of ‖x_j‖²."""
NOISE_FACTOR = 2.0
"""Allowed residual of the first pass in units of the noise."""
LARGEST_MISS = 0.9
"""Largest residual of the first pass as a share of the sample's length."""
REACHABLE_FACTOR = 1.1
"""Smallest residual of the first pass in units of the shortest possible one."""
FIRST_PASS_ITERATIONS = 200
FIRST_PASS_TOLERANCE = 1e-2


class SparseRule(WeightRule):
    """λ_ij for quadratic fits and ℓ1 penalties, one per view and sample."""

    def chooses_lam(self, datafit: Datafit) -> bool:
        return datafit.curvature is not None

    def lam(self, reduction: Reduction, datafit: Datafit, multiple: float = 1.0) -> Array:
        base = data_driven_lam(reduction.factors, reduction.n_features_used)
        lam: Array = multiple * (curvature_of(datafit) * base)
        return lam if reduction.observed is None else fill_missing(lam, reduction.observed)

    def strength(
        self, reduction: Reduction, datafit: Datafit, lam: Array
    ) -> PenaltyStrength | None:
        r"""Return ½ (Σ_j ‖x_j‖⁴)^½ for the fit ‖E‖_F², the mean over views.

        The subgradient of ℓ1 at a column with d_j coefficients has norm λ_j √d_j, and λ_j is
        ½ ‖x_j‖² / √d_j. All coefficients are zero if τ is at least ‖A‖₂, where A has the rows
        vec((|wX_iᵀX_i| − λ_i)₊) with zero diagonals; ‖A‖₂ is at least the length of every row.
        Views that are zero are ignored. Other fits are taken to be ‖E‖_F² here.
        """
        curvature = 2.0 if datafit.curvature is None else datafit.curvature
        norms, limits = [], []
        for factor, weight in zip(reduction.factors, lam, strict=True):
            if not factor.any():
                continue
            gram = curvature * factor.T @ factor
            norms.append(0.5 * float(np.linalg.norm(0.5 * gram.diagonal())))
            beyond = np.maximum(np.abs(gram) - weight, 0.0)
            np.fill_diagonal(beyond, 0.0)
            limits.append(float(np.linalg.norm(beyond)))
        if not norms:
            return PenaltyStrength(0.0, 0.0)
        return PenaltyStrength(float(np.mean(norms)), MAX_CRITICAL_SHARE * max(limits))


def data_driven_lam(views: Sequence[Array], n_features: Sequence[int]) -> Array:
    """Return λ (n_views × n_samples) for the fit ½‖E‖_F², for views with samples in columns."""
    return np.stack(
        [lam_of_view(view, width) for view, width in zip(views, n_features, strict=True)]
    )


def lam_of_view(view: Array, n_features: int) -> Array:
    """Return λ for every sample of a view."""
    size = float(np.linalg.norm(view)) / np.sqrt(view.shape[1]) or 1.0
    return size**2 * lam_of_scaled_view(view / size, n_features)


def lam_of_scaled_view(view: Array, n_features: int) -> Array:
    """Return λ for every sample of a view whose samples have a typical length of 1."""
    length = np.linalg.norm(view, axis=0)
    l1_length = l1_lengths(view, allowed_residuals(view, n_features, length))
    gram = np.abs(view.T @ view)
    np.fill_diagonal(gram, 0.0)
    largest = MAX_CRITICAL_SHARE * gram.max(axis=0)
    weights: Array = np.where(l1_length > 0, ratio(LAM_SHARE * length**2, l1_length), largest)
    return np.asarray(np.minimum(largest, weights))


def allowed_residuals(view: Array, n_features: int, length: Array) -> Array:
    """Return how far the first pass may leave every sample from its target."""
    n_samples = view.shape[1]
    noise = noise_level(singular_values(view), n_samples, n_features) * np.sqrt(n_features)
    distance = distance_to_others(view)
    radius = np.minimum(
        np.maximum(NOISE_FACTOR * noise, REACHABLE_FACTOR * distance), LARGEST_MISS * length
    )
    # a sample that the others do not reach has no representation
    return np.where(distance < LARGEST_MISS * length, radius, length)


def l1_lengths(view: Array, radius: Array) -> Array:
    """Return ‖z_j‖₁ of the sparsest representations with residuals of at most ``radius``."""
    problem = Problem([view], [view], np.ones(1), 0.0, Ball(radius), ZeroDiagonalL1(), Uncoupled())
    first = admm(problem, tol=FIRST_PASS_TOLERANCE, max_iter=FIRST_PASS_ITERATIONS)
    if first.status == "non_finite":
        raise NumericalError(
            "lam='auto' could not be computed: an iterate of the first representation is not "
            "finite. Give lam."
        )
    lengths: Array = np.abs(first.stack[0]).sum(axis=0)
    return lengths


def distance_to_others(view: Array) -> Array:
    """Return the distance of every sample to the span of the others.

    It is 0 unless the sample is linearly independent of them, else 1/√(G⁻¹)_jj.
    """
    squares, vectors = eigh(view.T @ view)
    kept = squares > len(squares) * np.finfo(float).eps * squares.max(initial=0.0)
    independent = (vectors[:, kept] ** 2).sum(axis=1) > 1.0 - 1e-9
    inverse = ((vectors[:, kept] ** 2) / squares[kept]).sum(axis=1)
    return np.where(independent, ratio(1.0, np.sqrt(inverse)), 0.0)


def fill_missing(lam: Array, observed: AnyArray) -> Array:
    """Return λ with the median of its view where a sample is missing."""
    typical = [
        np.median(row[present]) if present.any() else 0.0
        for row, present in zip(lam, observed, strict=True)
    ]
    return np.where(observed, lam, np.array(typical)[:, None])
