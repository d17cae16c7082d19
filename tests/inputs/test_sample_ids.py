"""Sample ids of every type: views must have the same ids in the same order."""

import numpy as np
import pandas as pd
import pytest

from viewspan.inputs.checks import check_views
from viewspan.inputs.sample_ids import sample_ids

GOOD = np.arange(12.0).reshape(4, 3)
INDICES = {
    "strings": pd.Index(list("abcd")),
    "numbers": pd.Index([7, 3, 5, 9]),
    "permuted": pd.Index([3, 2, 0, 1]),
    "dates": pd.date_range("2000-01-01", periods=4, tz="UTC"),
    "pairs": pd.MultiIndex.from_product([["left", "right"], [1, 2]]),
    "categories": pd.CategoricalIndex(list("dbca")),
    "range": pd.RangeIndex(10, 50, 10),
    "mixed": pd.Index(["a", 1, None, (2, 3)], tupleize_cols=False),
}
every = pytest.mark.parametrize("index", INDICES.values(), ids=INDICES)


def check(*frames):
    return check_views(list(frames), caller="CLRSC")


@every
def test_ids_must_be_in_the_same_order(index):
    frame = pd.DataFrame(GOOD, index=index)
    check(frame, frame.copy())
    with pytest.raises(
        ValueError, match=r"view 1 has the same index in another order than view 0.*view\.loc"
    ):
        check(frame, frame.iloc[::-1])
    pd.testing.assert_frame_equal(frame.iloc[::-1].loc[frame.index], frame)  # the remedy


@every
def test_ids_must_be_equal_unless_a_frame_has_the_default_index(index):
    frame, other = pd.DataFrame(GOOD, index=index), pd.DataFrame(GOOD, index=["a", "b", "y", "z"])
    with pytest.raises(
        ValueError, match=r"view 1 has another index than view 0 .*is not in view 0"
    ):
        check(frame, other)
    with pytest.raises(ValueError, match="view 2 has another index than view 1"):
        check(GOOD, frame, other)  # the array has no ids
    check(GOOD, other, other.reset_index(drop=True))


def test_a_first_frame_without_ids_is_not_the_reference():
    frame, other = pd.DataFrame(GOOD, index=list("abcd")), pd.DataFrame(GOOD, index=list("dbca"))
    with pytest.raises(ValueError, match="view 2 has the same index in another order than view 1"):
        check(pd.DataFrame(GOOD), frame, other)


def test_slices_of_a_table_with_other_rows_raise():
    table = pd.DataFrame(np.vstack([GOOD, GOOD]))
    with pytest.raises(
        ValueError, match=r"view 1 has another index than view 0 \(5 is not in view 0\)"
    ):
        check(table.iloc[1:5], table.iloc[2:6])


def test_numbers_and_strings_are_different_ids():
    with pytest.raises(ValueError, match=r"another index than view 0 \('1' is not in view 0\)"):
        check(pd.DataFrame(GOOD, index=[1, 2, 3, 4]), pd.DataFrame(GOOD, index=list("1234")))


def test_repeated_ids_in_another_order_cannot_be_aligned():
    frame = pd.DataFrame(GOOD, index=list("aabc"))
    check(frame, frame.copy())
    with pytest.raises(ValueError, match=r"another order.*Some ids are repeated.*reset_index"):
        check(frame, frame.set_axis(list("abac")))
    with pytest.raises(ValueError, match=r"another index than view 0 \(some ids are repeated\)"):
        check(frame, frame.set_axis(list("abbc")))


def test_sample_ids_are_the_first_index_that_is_not_the_default():
    frame = pd.DataFrame(GOOD, index=list("abcd"))
    assert sample_ids([GOOD, GOOD]) is None
    assert sample_ids([frame.reset_index(drop=True), frame]) is frame.index
