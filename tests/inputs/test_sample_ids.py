"""Ids of samples of every kind: the same order passes, another one does not."""

import numpy as np
import pandas as pd
import pytest

from viewspan.inputs.sample_ids import sample_ids
from viewspan.inputs.views import check_views

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
def test_the_same_ids_pass_and_those_in_another_order_do_not(index):
    frame = pd.DataFrame(GOOD, index=index)
    check(frame, frame.copy())
    with pytest.raises(
        ValueError, match=r"view 1 has the same index in another order than view 0.*view\.loc"
    ):
        check(frame, frame.iloc[::-1])
    pd.testing.assert_frame_equal(frame.iloc[::-1].loc[frame.index], frame)  # what the message says


@every
def test_other_ids_do_not_pass_unless_there_are_none(index):
    frame, other = pd.DataFrame(GOOD, index=index), pd.DataFrame(GOOD, index=["a", "b", "y", "z"])
    with pytest.raises(
        ValueError, match=r"view 1 has another index than view 0 .*is not in view 0"
    ):
        check(frame, other)
    with pytest.raises(
        ValueError, match="view 2 has another index than view 1"
    ):  # the first has nothing to say
        check(GOOD, frame, other)
    check(GOOD, other, other.reset_index(drop=True))


def test_the_first_frame_without_ids_does_not_hide_the_others():
    frame, other = pd.DataFrame(GOOD, index=list("abcd")), pd.DataFrame(GOOD, index=list("dbca"))
    with pytest.raises(ValueError, match="view 2 has the same index in another order than view 1"):
        check(pd.DataFrame(GOOD), frame, other)


def test_rows_of_another_part_of_a_table_are_other_samples():
    table = pd.DataFrame(np.vstack([GOOD, GOOD]))
    with pytest.raises(
        ValueError, match=r"view 1 has another index than view 0 \(5 is not in view 0\)"
    ):
        check(table.iloc[1:5], table.iloc[2:6])


def test_numbers_are_not_the_strings_that_they_are_written_as():
    with pytest.raises(ValueError, match=r"another index than view 0 \('1' is not in view 0\)"):
        check(pd.DataFrame(GOOD, index=[1, 2, 3, 4]), pd.DataFrame(GOOD, index=list("1234")))


def test_repeated_ids_cannot_tell_rows_apart():
    frame = pd.DataFrame(GOOD, index=list("aabc"))
    check(frame, frame.copy())
    with pytest.raises(ValueError, match=r"another order.*some ids are repeated.*reset_index"):
        check(frame, frame.set_axis(list("abac")))
    with pytest.raises(ValueError, match=r"another index than view 0 \(some ids are repeated\)"):
        check(frame, frame.set_axis(list("abbc")))


def test_the_index_that_says_something_is_the_samples():
    frame = pd.DataFrame(GOOD, index=list("abcd"))
    assert sample_ids([GOOD, GOOD]) is None
    assert sample_ids([frame.reset_index(drop=True), frame]) is frame.index
