"""Outlier scores: how much of a sample the other samples do not represent."""

import numpy as np

from viewspan._utils.linalg import ratio
from viewspan._utils.typing import Array
from viewspan.objective.reduction import Reduction
from viewspan.solvers.result import Result


def outlier_scores(result: Result, reduction: Reduction) -> Array:
    r"""Return the share of every sample, in every view, that the other samples do not represent.

    .. math:: o_{ij} = \frac{\|x_j - \sum_{l \ne j} z_{lj} x_l\|}{\|x_j\|}

    The coefficient :math:`z_{jj}` is left out, because an outlier represents itself if λ is small:
    :math:`z_{jj} = 1`, and its residual is 0.

    Returns
    -------
    array (n_views, n_samples)
        NaN for missing samples.
    """
    scores = np.array(
        [scores_of_view(result, reduction, view) for view in range(len(reduction.factors))]
    )
    if reduction.observed is not None:
        scores[~reduction.observed] = np.nan
    return scores


def scores_of_view(result: Result, reduction: Reduction, view: int) -> Array:
    """Return the scores of all samples in one view, in the coordinates of the reduction."""
    factor = reduction.factors[view]
    core: Array = (
        result.cores[view] if result.scales is None else result.scales[view] * result.cores[0]
    ).astype(float)
    samples = factor if reduction.left is None else factor @ reduction.left.T
    coefficients = core if result.right is None else core @ result.right.T
    own = np.einsum("ij,ij->j", result.basis.T, coefficients)
    reduced = coefficients if result.directions is None else result.directions @ coefficients
    residuals = samples * (1.0 + own) - factor @ reduced
    return ratio(np.linalg.norm(residuals, axis=0), np.linalg.norm(samples, axis=0))
