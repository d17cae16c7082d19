"""Missing samples, which are rows of NaN, and checks that all other values are finite."""

from collections.abc import Sequence

import numpy as np
import scipy.sparse
import scipy.sparse.csgraph

from viewspan._utils.sparse import is_sparse
from viewspan._utils.typing import AnyArray, Block
from viewspan._utils.warnings import warn

ALLOW_HINT = (
    " A row of NaN can mark a missing sample: set missing='allow', a parameter of CLRSC, to keep "
    "the sample."
)
PARTIAL_ROW_HINT = " A missing sample must be given as a whole row of NaN."


def missing_rows(block: Block) -> AnyArray:
    """Return which rows are missing: all values, or all stored values of a sparse row, are NaN."""
    if not is_sparse(block):
        return np.asarray(np.isnan(block).all(axis=1))
    n_stored = np.diff(block.indptr)
    rows = np.repeat(np.arange(len(n_stored)), n_stored)
    n_nan: AnyArray = np.bincount(rows, np.isnan(block.data), minlength=len(n_stored))
    return np.asarray((n_stored > 0) & (n_nan == n_stored))


def find_observed(
    arrays: Sequence[Block], names: Sequence[str], first: int | None
) -> AnyArray | None:
    """Return whether each view has each sample, or None if no sample is missing.

    Raises ValueError for samples that are missing from every view. Warns about views without
    samples, unless the arrays hold only one sample or are one block of many.

    Parameters
    ----------
    arrays : list of arrays (n_samples, n_features_i)
    names : list of str
        Names of the views, for messages.
    first : int or None
        Position of the first sample if the arrays are one block of many.

    Returns
    -------
    array (n_views, n_samples) of bool, or None
    """
    observed = np.array([~missing_rows(array) for array in arrays])
    if observed.all():
        return None
    nowhere = np.flatnonzero(~observed.any(axis=0))
    if len(nowhere):
        raise ValueError(
            f"{len(nowhere)} sample(s) are missing from every view, the first in row "
            f"{nowhere[0] + (first or 0)}; every sample must be in at least one view. Remove them."
        )
    for name, present in zip(names, observed, strict=True):
        if first is None and not present.any() and len(present) > 1:
            warn(f"{name} has no samples, because all its rows are NaN, and is ignored.")
    return observed


def zero_missing_rows(block: Block, present: AnyArray) -> Block:
    """Return a copy of the block in which missing rows are zero."""
    if not is_sparse(block):
        return np.where(present[:, None], block, 0.0)
    # without the copy, eliminate_zeros would change the index arrays of the caller
    zeroed = scipy.sparse.csr_array(block, copy=True)
    zeroed.data = np.where(np.repeat(present, np.diff(block.indptr)), block.data, 0.0)
    zeroed.eliminate_zeros()
    return zeroed


def warn_about_unlinked_views(observed: AnyArray | None, names: Sequence[str]) -> None:
    """Warn if two groups of views have no sample in common, so that clusters cannot be matched."""
    if observed is None:
        return
    used = np.flatnonzero(observed.any(axis=1))
    present = observed[used].astype(float)
    n_groups, groups = scipy.sparse.csgraph.connected_components(present @ present.T)
    if n_groups > 1:
        first, other = (names[used[np.flatnonzero(groups == group)[0]]] for group in (0, 1))
        warn(
            f"No sample links {first} with {other}, directly or through other views: their "
            "clusters cannot be matched to each other."
        )


def check_finite(
    block: Block, name: str, first: int | None = None, *, missing: bool = False
) -> None:
    """Raise ValueError if a block holds NaN or infinity.

    Parameters
    ----------
    block : array (n_samples, n_features)
        A view, or some of its samples.
    name : str
        Name of the view, for the message.
    first : int, optional
        Position of the first sample if the block is one of many.
    missing : bool
        Whether missing samples are allowed. They must have been replaced by zeros before.
    """
    values: AnyArray = block.data if is_sparse(block) else block
    if np.isfinite(values).all():
        return
    where = "" if first is None else f" from sample {first} to {first + block.shape[0] - 1}"
    hint = PARTIAL_ROW_HINT if missing else ALLOW_HINT * bool(missing_rows(block).any())
    n_nan, n_infinite = int(np.isnan(values).sum()), int(np.isinf(values).sum())
    raise_if_unusable(name, n_nan, n_infinite, int(np.prod(block.shape)), where, hint)


def raise_if_unusable(
    name: str, n_nan: int, n_infinite: int, n_values: int, where: str = "", hint: str = ""
) -> None:
    """Raise ValueError if some values of a view are NaN or infinite."""
    found = [f"NaN in {n_nan}"] if n_nan else []
    found += [f"infinity in {n_infinite}"] if n_infinite else []
    if found:
        raise ValueError(
            f"{name} contains {' and '.join(found)} of its {n_values} values{where}; impute or "
            f"remove them first.{hint}"
        )
