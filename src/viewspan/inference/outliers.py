"""Samples that the others do not explain."""

import numpy as np

from viewspan._utils.linalg import ratio
from viewspan._utils.typing import Array
from viewspan.objective.reduction import Reduction
from viewspan.solvers.result import Result


def outlier_scores(result: Result, reduction: Reduction) -> Array:
    r"""For every view and sample, the share of its length that the other samples do not explain.

    .. math:: o_{ij} = \frac{\|x_j - \sum_{l \ne j} z_{lj} x_l\|}{\|x_j\|}

    The residual alone would miss a sample that rebuilds itself, :math:`z_{jj} = 1`, which is how an outlier looks
    if λ is small. NaN where a view does not have the sample.
    """
    scores = np.array(
        [scores_of_view(result, reduction, view) for view in range(len(reduction.factors))]
    )
    if reduction.observed is not None:
        scores[~reduction.observed] = np.nan
    return scores


def scores_of_view(result: Result, reduction: Reduction, view: int) -> Array:
    factor = reduction.factors[view]
    core: Array = (
        result.cores[view] if result.scales is None else result.scales[view] * result.cores[0]
    ).astype(float)
    samples = factor if reduction.left is None else factor @ reduction.left.T
    coefficients = core if result.right is None else core @ result.right.T
    itself = np.einsum("ij,ij->j", result.basis.T, coefficients)
    within = coefficients if result.directions is None else result.directions @ coefficients
    left = samples * (1.0 + itself) - factor @ within
    return ratio(np.linalg.norm(left, axis=0), np.linalg.norm(samples, axis=0))
