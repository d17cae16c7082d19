"""Compare views with one another: nearly equal views, and views that share nothing with others.

Two views of the same samples agree on which samples are alike. The agreement is the cosine between
their centred kernels, and what it is by chance follows from random orders of the samples.
"""

from collections.abc import Sequence

import numpy as np

from viewspan._utils.linalg import ratio
from viewspan._utils.sparse import full
from viewspan._utils.typing import Array, Block
from viewspan._utils.warnings import warn
from viewspan.inputs.preparation import Reading

NEARLY_EQUAL = 0.999
"""Smallest agreement of views that count as one."""
N_PERMUTATIONS = 50
"""Number of random orders of the samples."""
MIN_SCORE = 4.0
"""Smallest agreement that is more than chance, in standard deviations above its mean."""
MIN_SAMPLES_TO_COMPARE = 20
"""Smallest number of samples on which agreement is judged."""


def kernel(block: Block, reading: Reading) -> Array:
    """Return the centred similarities of samples, as a matrix of norm 1, without the diagonal.

    Similarities are products of samples. They are squared for directions, because x and −x are in
    the same subspaces.
    """
    rows = full(block)
    found = rows @ rows.T
    if reading == "directions":
        found = found**2
    np.fill_diagonal(found, 0.0)
    found -= found.mean(axis=0)
    found -= found.mean(axis=1, keepdims=True)
    size = float(np.linalg.norm(found))
    return found / size if size > 0.0 else found


def n_copies(kernels: Sequence[Array]) -> tuple[int, ...]:
    """Return how many views are nearly equal to each view, itself included."""
    flat = np.stack([found.ravel() for found in kernels])
    return tuple(np.maximum((flat @ flat.T >= NEARLY_EQUAL).sum(axis=1), 1).tolist())


def agreement_scores(kernels: Sequence[Array]) -> Array:
    """Return the agreement of every view with the sum of the others, in standard deviations.

    Zero is the mean over random orders of the samples.
    """
    generator = np.random.RandomState(0)
    orders = [generator.permutation(len(kernels[0])) for _ in range(N_PERMUTATIONS)]
    total = np.sum(kernels, axis=0)
    scores = []
    for found in kernels:
        others = total - found
        chance = np.array([(found * others[order][:, order]).sum() for order in orders])
        excess = float((found * others).sum() - chance.mean())
        scores.append(float(ratio(np.array(excess), np.array(chance.std()))))
    return np.array(scores)


def compare_views(
    blocks: Sequence[Block], readings: Sequence[Reading], names: Sequence[str]
) -> tuple[int, ...]:
    """Return how many views are nearly equal to each view; warn about views that share nothing.

    Parameters
    ----------
    blocks : list of arrays (n_samples, n_features_i)
        Some of the samples of every view, after preprocessing.
    readings : list of str
    names : list of str
        Names of the views, for the warning.
    """
    n_samples = blocks[0].shape[0]
    if len(blocks) == 1 or n_samples < MIN_SAMPLES_TO_COMPARE:
        return (1,) * len(blocks)
    kernels = [kernel(*pair) for pair in zip(blocks, readings, strict=True)]
    copies = n_copies(kernels)
    # views that are nearly equal agree, but that says nothing of the others
    distinct = [view for view in range(len(blocks)) if not is_repeated(kernels, view)]
    if len(distinct) > 1:
        scores = agreement_scores([kernels[view] for view in distinct])
        strange = [
            names[view]
            for view, score in zip(distinct, scores, strict=True)
            if score < MIN_SCORE and kernels[view].any()
        ]
        warn_about_strange_views(strange, len(distinct))
    return copies


def is_repeated(kernels: Sequence[Array], view: int) -> bool:
    """Return whether an earlier view is nearly equal."""
    return any(float((kernels[view] * other).sum()) >= NEARLY_EQUAL for other in kernels[:view])


def warn_about_strange_views(names: Sequence[str], n_views: int) -> None:
    """Warn about views that do not agree with any other."""
    if not names:
        return
    one = len(names) == 1
    if len(names) == n_views:
        what = "The views agree on nothing more than chance"
    else:
        verb = "agrees" if one else "agree"
        what = f"{', '.join(names)} {verb} with the other views no more than chance"
    they, their = ("it", "its") if one else ("they", "their")
    warn(
        f"{what}: {they} may be noise, or {their} rows may belong to other samples. Check that row "
        "i is the same sample in every view."
    )
