"""SSC's λ from the data, one per sample (Soltanolkotabi, Elhamifar, Candès 2014, "Robust subspace clustering").

The right λ for a sample is inversely proportional to the ℓ1 length of its representation, which is about √d in a
subspace of dimension d. A first pass finds that length by letting every sample miss its target by twice the noise,

    minimise ‖z_j‖₁   subject to   ‖x_j − X z_j‖₂ ≤ 2ε,  z_jj = 0,

and λ_j = ¼ / ‖z_j‖₁. Two guards the theory does not need, because it assumes little noise: a sample may not miss
its target by so much that nothing is left to represent, nor by less than others can reach; and λ_j stays at half of
the value at which z_j would be zero.
"""

from collections.abc import Sequence

import numpy as np

from viewspan._utils.linalg import NumericalError, eigh, ratio, singular_values
from viewspan._utils.threads import threads_for
from viewspan._utils.typing import Array
from viewspan.objective.couplings import Uncoupled
from viewspan.objective.datafits import Ball
from viewspan.objective.penalties import ZeroDiagonalL1
from viewspan.objective.problem import Problem
from viewspan.objective.selection import noise_level
from viewspan.solvers.admm import admm

SHARE = 0.25
MISS = 2.0
MOST_MISSED = 0.9
"""Share of a sample's length that may be missed in the first pass."""
SLACK = 1.1
"""The first pass asks for residuals at least this much longer than the shortest possible."""
OF_LARGEST = 0.5
FIRST_PASS_ITERATIONS = 200


def data_driven_lam(views: Sequence[Array], n_features: Sequence[int]) -> Array:
    """λ (n_views × n_samples) for views given with samples in columns."""
    return np.stack(
        [lam_of_view(view, width) for view, width in zip(views, n_features, strict=True)]
    )


def lam_of_view(view: Array, n_features: int) -> Array:
    size = float(np.linalg.norm(view)) / np.sqrt(view.shape[1]) or 1.0  # a typical sample's length
    return size**2 * lam_of_scaled_view(view / size, n_features)


def lam_of_scaled_view(view: Array, n_features: int) -> Array:
    n_samples = view.shape[1]
    noise = noise_level(singular_values(view), n_samples, n_features) * np.sqrt(n_features)
    length = np.linalg.norm(view, axis=0)
    distance = distance_to_others(view)
    radius = np.minimum(np.maximum(MISS * noise, SLACK * distance), MOST_MISSED * length)
    radius = np.where(
        distance < MOST_MISSED * length, radius, length
    )  # what nothing explains has no representation
    problem = Problem([view], [view], np.ones(1), 0.0, Ball(radius), ZeroDiagonalL1(), Uncoupled())
    with threads_for(
        1, min(view.shape)
    ):  # thin products, in which two threads of BLAS only wait for each other
        first = admm(problem, tol=1e-2, max_iter=FIRST_PASS_ITERATIONS)
    if first.status == "non_finite":
        raise NumericalError(
            "The first representation, which lam='auto' goes by, has an iterate that is not finite; give lam."
        )
    l1_length = np.abs(first.stack[0]).sum(axis=0)
    gram = np.abs(view.T @ view)
    np.fill_diagonal(gram, 0.0)
    largest = OF_LARGEST * gram.max(axis=0)
    weights: Array = np.where(l1_length > 0, ratio(SHARE * length**2, l1_length), largest)
    return np.asarray(np.minimum(largest, weights))


def distance_to_others(view: Array) -> Array:
    """From every sample to the span of the others: 0 unless it is linearly independent of them, else 1/√(G⁻¹)_jj."""
    squares, vectors = eigh(view.T @ view)
    kept = squares > len(squares) * np.finfo(float).eps * squares.max(initial=0.0)
    independent = (vectors[:, kept] ** 2).sum(axis=1) > 1.0 - 1e-9
    inverse = ((vectors[:, kept] ** 2) / squares[kept]).sum(axis=1)
    return np.where(independent, ratio(1.0, np.sqrt(inverse)), 0.0)
