"""Missing samples in dense and sparse blocks."""

import warnings

import numpy as np
import pytest
import scipy.sparse

from viewspan.inputs.checks import check_views
from viewspan.inputs.missing import missing_rows, warn_about_unlinked_views, zero_missing_rows

NAN = np.nan
GOOD = np.arange(1.0, 13.0).reshape(4, 3)
GAPS = np.array([[1.0, 2.0, 3.0], [NAN, NAN, NAN], [4.0, NAN, 0.0], [0.0, 0.0, 0.0]])


def read(*views, first=None):
    return check_views(list(views), caller="CLRSC", missing=True).read(first=first)


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_array], ids=["dense", "sparse"])
def test_only_whole_rows_of_nan_are_missing(kind):
    np.testing.assert_array_equal(missing_rows(kind(GAPS)), [False, True, False, False])


def test_a_sparse_row_is_missing_if_all_its_stored_values_are_nan():
    block = scipy.sparse.csr_array(np.array([[NAN, 0.0, 0.0], [NAN, 1.0, 0.0]]))
    np.testing.assert_array_equal(missing_rows(block), [True, False])


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_array], ids=["dense", "sparse"])
def test_missing_rows_become_zeros_in_a_copy(kind):
    block = kind(GOOD)
    zeroed = zero_missing_rows(block, np.array([True, False, True, True]))
    expected = GOOD * [[1], [0], [1], [1]]
    np.testing.assert_array_equal(kind(zeroed) @ np.eye(3), expected)
    np.testing.assert_array_equal(block @ np.eye(3), GOOD)


def test_reading_finds_missing_samples():
    with_gap = GOOD.copy()
    with_gap[1] = NAN
    views = read(GOOD, with_gap)
    np.testing.assert_array_equal(views.observed, [[True] * 4, [True, False, True, True]])
    np.testing.assert_array_equal(views.arrays[1][1], 0.0)
    assert [len(rows) for rows in views.present_rows()] == [4, 3]
    assert read(GOOD, GOOD).observed is None


def test_samples_that_are_missing_everywhere_raise():
    with_gap = GOOD.copy()
    with_gap[1] = NAN
    with pytest.raises(ValueError, match=r"1 sample\(s\) are missing from every view.* in row 1;"):
        read(with_gap, with_gap)
    with pytest.raises(ValueError, match="the first in row 101;"):
        read(with_gap, with_gap, first=100)


def test_rows_with_some_nan_raise():
    with pytest.raises(ValueError, match=r"view 1 contains NaN in 1 of its 12 .*whole row of NaN"):
        read(GOOD, GAPS)


def test_a_view_without_samples_is_ignored_with_a_warning():
    empty = np.full((4, 2), NAN)
    with pytest.warns(UserWarning, match="view 1 has no samples.* and is ignored"):
        read(GOOD, empty)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(GOOD, empty, first=0)  # another block may have samples


def test_views_without_common_samples_are_reported():
    observed = np.array([[True, True, False, False], [False, False, True, True]])
    with pytest.warns(UserWarning, match="No sample links left with right"):
        warn_about_unlinked_views(observed, ["left", "right"])
    linked = np.vstack([observed, [False, True, True, False]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_about_unlinked_views(linked, ["left", "right", "middle"])
        warn_about_unlinked_views(None, ["left", "right"])
