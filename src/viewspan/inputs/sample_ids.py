"""The ids of samples, which pandas frames carry as their index; other tables have none, and their rows are taken as
they stand.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from viewspan.inputs.frames import is_dask, is_pandas


def check_frames_aligned(names: Sequence[str], parts: Sequence[Any]) -> None:
    """Rows that stand in another order are an error, not a guess. An index 0, 1, 2, … is none."""
    indices = indices_of(parts)
    if not indices:
        return
    reference = the_index(indices)
    first_name = names[next(position for position, index in indices.items() if index is reference)]
    for position, index in indices.items():
        if len(index) == len(reference) and not index.equals(reference):
            check_aligned(names[position], index, first_name, reference)


def check_aligned(name: str, index: Any, first_name: str, first: Any) -> None:
    codes = first.append(index).factorize()[
        0
    ]  # equal ids have equal codes, whatever kind they are of
    expected, given = np.sort(codes[: len(first)]), np.sort(codes[len(first) :])
    if np.array_equal(expected, given):
        way_out = (
            f"align it with view.loc[first.index], where view is {name} and first is {first_name}."
            if first.is_unique
            else "and some ids are repeated, so that they do not tell which row is which: bring the rows in one order "
            "and drop the index with .reset_index(drop=True)."
        )
        raise ValueError(
            f"{name} has the same index in another order than {first_name}, so their rows are not the same samples; "
            f"{way_out}"
        )
    if not (is_default(index) or is_default(first)):
        strange = np.flatnonzero(~np.isin(codes[len(first) :], expected))
        example = (
            f"{index[strange[0]]!r} is not in {first_name}"
            if len(strange)
            else "some ids are repeated"
        )
        raise ValueError(
            f"{name} has another index than {first_name} ({example}), so their rows are not the same samples; "
            "keep the ids that all views share. If the rows do correspond, drop the index with "
            ".reset_index(drop=True)."
        )


def sample_ids(parts: Sequence[Any]) -> Any:
    """The index of the samples; None if no part has one."""
    indices = indices_of(parts)
    return the_index(indices) if indices else None


def indices_of(parts: Sequence[Any]) -> dict[int, Any]:
    """By position, of those that have one."""
    return {i: part.index for i, part in enumerate(parts) if is_pandas(part) and not is_dask(part)}


def the_index(indices: dict[int, Any]) -> Any:
    """The first that says something."""
    return next(
        (index for index in indices.values() if not is_default(index)), next(iter(indices.values()))
    )


def is_default(index: Any) -> bool:
    """0, 1, 2, … as pandas makes it where there are no ids."""
    return type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1
