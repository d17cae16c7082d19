"""Sample ids, which pandas frames have as their index.

Other tables have no ids. Their rows are assumed to be in the same order in all views.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from viewspan.inputs.frames import is_dask, is_pandas


def check_frames_aligned(names: Sequence[str], parts: Sequence[Any]) -> None:
    """Raise ValueError unless all pandas frames have the same ids in the same order.

    The default index 0, 1, 2, … does not count as ids. Frames of different lengths are left to the
    check of the numbers of samples.
    """
    indices = indices_of(parts)
    if not indices:
        return
    reference = choose_index(indices)
    first_name = names[next(position for position, index in indices.items() if index is reference)]
    for position, index in indices.items():
        if len(index) == len(reference) and not index.equals(reference):
            check_aligned(names[position], index, first_name, reference)


def check_aligned(name: str, index: Any, first_name: str, first: Any) -> None:
    """Raise ValueError if two indices have the same ids in another order, or different ids."""
    codes = first.append(index).factorize()[0]  # equal ids have equal codes, whatever their type
    expected, given = np.sort(codes[: len(first)]), np.sort(codes[len(first) :])
    if np.array_equal(expected, given):
        if first.is_unique:
            remedy = (
                "Align it with view.loc[first.index], where view is "
                f"{name} and first is {first_name}."
            )
        else:
            remedy = (
                "Some ids are repeated, so the rows cannot be aligned by id: sort the rows of all "
                "views in the same way and drop the index with .reset_index(drop=True)."
            )
        raise ValueError(
            f"{name} has the same index in another order than {first_name}, so their rows are "
            f"different samples. {remedy}"
        )
    if not (is_default(index) or is_default(first)):
        unknown = np.flatnonzero(~np.isin(codes[len(first) :], expected))
        example = "some ids are repeated"
        if len(unknown):
            example = f"{index[unknown[0]]!r} is not in {first_name}"
        raise ValueError(
            f"{name} has another index than {first_name} ({example}), so their rows are different "
            "samples. Keep the ids that all views share. If the rows do correspond, drop the index "
            "with .reset_index(drop=True)."
        )


def sample_ids(parts: Sequence[Any]) -> Any:
    """Return the index of the samples; None if no part has one."""
    indices = indices_of(parts)
    return choose_index(indices) if indices else None


def indices_of(parts: Sequence[Any]) -> dict[int, Any]:
    """Return the index of every pandas frame, by the position of the frame."""
    return {i: part.index for i, part in enumerate(parts) if is_pandas(part) and not is_dask(part)}


def choose_index(indices: dict[int, Any]) -> Any:
    """Return the first index with ids, or the first default index if none has ids."""
    with_ids = (index for index in indices.values() if not is_default(index))
    return next(with_ids, next(iter(indices.values())))


def is_default(index: Any) -> bool:
    """Return whether an index is 0, 1, 2, …, which pandas makes if there are no ids."""
    return type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1
