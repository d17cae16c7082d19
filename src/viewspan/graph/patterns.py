"""Sparse graph that connects samples with similar coefficient patterns.

The paper's graph takes a single coefficient as the similarity of two samples. Here two samples are
similar if their whole columns of Z_i point in the same or in opposite directions, because x and −x
lie in the same subspaces. For data in subspaces this finds the same clusters with less noise. For
curved clusters, as in most real data, it keeps neighbourhoods that single coefficients blur.
"""

from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from viewspan._utils.defaults import DEFAULT_N_NEIGHBORS as DEFAULT_N_NEIGHBORS
from viewspan._utils.linalg import Spectrum, ratio, singular_values, spectrum
from viewspan._utils.threads import with_one_thread
from viewspan._utils.typing import AnyArray, Array, Graph
from viewspan.graph.similarity import PatternSums, completion
from viewspan.inputs.parameters import check_view_weights
from viewspan.solvers.result import Result

MIN_RELATIVE_LENGTH = 1e-10
"""Columns shorter than this share of the longest one are rounding errors."""


class Patterns(NamedTuple):
    """Coefficient patterns of all samples in every view.

    Attributes
    ----------
    columns : list of arrays (r_i, n_samples)
        The columns of every Z_i at unit length, up to a rotation. Columns of missing samples are 0.
    spectra : list of arrays
        The singular values of every Z_i.
    observed : array (n_views, n_samples) of bool, optional
        Whether each view has each sample; None if no sample is missing.
    """

    columns: list[AnyArray]
    spectra: list[Array]
    observed: AnyArray | None = None


@with_one_thread
def pattern_graph(
    result: Result,
    n_neighbors: int = DEFAULT_N_NEIGHBORS,
    *,
    view_weights: npt.ArrayLike | None = None,
    mutual: bool = False,
) -> Graph:
    r"""Connect every sample with the samples that have the most similar coefficient patterns.

    The similarity of samples j and l in view i is the cosine between their columns of Z_i,

    .. math:: c^i_{jl} = |\langle z^i_j, z^i_l\rangle| / \|z^i_j\|\|z^i_l\|.

    The neighbours of a sample have the largest sums over views. Three kinds of sums give three
    graphs, which are averaged:

    - the sum of the cosines;
    - the sum of √r_i × the cosines, where r_i is the effective rank of Z_i, because random
      directions of an r-dimensional space have cosines of about 1/√r;
    - the sum of −log(rank of l among the neighbours of j) and −log(rank of j among those of l), in
      which all views have the same scale.

    Parameters
    ----------
    result : Result
    n_neighbors : int
    view_weights : array-like (n_views,), optional
        The weight of every view in the sums; all 1 by default.
    mutual : bool
        Whether to compare the columns of Z_i + Z_iᵀ instead of Z_i. This helps with fits such as
        ℓ1,2, for which a sample may be represented by itself alone although other samples have
        coefficients for it.

    Returns
    -------
    sparse array (N, N)
        Symmetric, with a zero diagonal. Each of the three graphs is normalised to D^-½ G D^-½.
    """
    if not (isinstance(n_neighbors, Integral) and n_neighbors >= 1):
        raise ValueError(f"n_neighbors must be an int of at least 1. Got {n_neighbors!r} instead.")
    weights = check_view_weights(view_weights, result.n_views)
    if result.scales is not None:  # all views share one pattern
        weights = np.ones(1)
    return neighbor_graph(patterns_of(result, mutual=mutual), weights, int(n_neighbors))


def patterns_of(result: Result, *, mutual: bool) -> Patterns:
    """Return the coefficient patterns of a solution."""
    found = [
        unit_columns(coefficient_columns(result, view, mutual)) for view in range(len(result.cores))
    ]
    if result.observed is not None:
        found = [pattern * present for pattern, present in zip(found, result.observed, strict=True)]
    spectra = (
        [singular_values(core.astype(float)) for core in result.cores]
        if result.spectra is None
        else [spectrum.values for spectrum in result.spectra]
    )
    return Patterns(found, spectra, result.observed)


def neighbor_graph(
    patterns: Patterns, weights: Array, n_neighbors: int = DEFAULT_N_NEIGHBORS
) -> Graph:
    """Return the mean of the three graphs that :func:`pattern_graph` describes.

    If samples are missing from views, build a first graph from means over the views that two
    samples share. Then complete every view: the cosines of a missing sample are the means of those
    of its neighbours in the first graph. The cosines are absolute values, so they do not cancel.
    """
    used = np.flatnonzero(weights)
    sums = PatternSums(
        [np.ascontiguousarray(patterns.columns[view].T) for view in used],
        weights[used],
        calibrations([patterns.spectra[view] for view in used]),
        n_neighbors,
    )
    if patterns.observed is None:
        return sums.graph()
    observed = patterns.observed[used]
    first = replace(sums, observed=observed).graph()
    return replace(sums, completions=[completion(first, view) for view in observed]).graph()


def coefficient_columns(result: Result, view: int, mutual: bool) -> Array:
    """Return the columns of Z_i, or of Z_i + Z_iᵀ, up to a rotation, which keeps all cosines.

    A low-rank Z_i needs only as many rows as its rank.
    """
    if mutual:
        full = result.coefficient(view)
        return full + full.T
    core: Array = result.cores[view]
    if result.spectra is not None:
        rows = significant_rows(result.spectra[view], core.dtype)
    elif result.right is not None:
        rows = significant_rows(spectrum(core.astype(float)), core.dtype)
    else:
        rows = core
    return rows if result.right is None else rows @ result.right.T


def significant_rows(spectrum: Spectrum, dtype: np.dtype[Any]) -> Array:
    """Return orthogonal rows with the same products of columns, without those of rounding."""
    rows: Array = spectrum.matrix[is_significant(spectrum.values, dtype)]
    return rows.astype(dtype)


def is_significant(values: Array, dtype: np.dtype[Any]) -> AnyArray:
    """Return which singular values are more than rounding; the first one always counts."""
    rounding = max(MIN_RELATIVE_LENGTH, float(np.finfo(dtype).eps))
    found: AnyArray = values > rounding * values.max(initial=0.0)
    found[:1] = True
    return found


def unit_columns(matrix: Array) -> AnyArray:
    """Return the columns at unit length in float32; columns that are only rounding become 0.

    Single precision suffices to order cosines.
    """
    lengths = np.linalg.norm(matrix.astype(float), axis=0)
    lengths[lengths <= MIN_RELATIVE_LENGTH * lengths.max(initial=0.0)] = 0.0
    return (matrix * ratio(1.0, lengths)).astype(np.float32)


def effective_rank(singular: Array) -> float:
    """Return (Σs)² / Σs², the rank with weak directions counted in part."""
    return float(singular.sum() ** 2 / ((singular**2).sum() or 1.0))


def calibrations(spectra: Sequence[Array]) -> Array:
    """Return the square root of the effective rank of every view."""
    return np.sqrt([effective_rank(spectrum) for spectrum in spectra])
