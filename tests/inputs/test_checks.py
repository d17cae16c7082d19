"""Views that are accepted, and the error messages of those that are not."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from viewspan.inputs.checks import check_views

GOOD = np.arange(12.0).reshape(4, 3)
BAD = np.where(GOOD > 0, np.inf, np.nan)


def check(views):
    return check_views(views, caller="CLRSC").read()


@pytest.mark.parametrize("views", [[GOOD, GOOD], (GOOD, GOOD), {"left": GOOD, "right": GOOD}])
def test_collections_of_views(views):
    checked = check(views)
    assert checked.n_features == (3, 3)
    assert not checked.single
    assert checked.names == (["left", "right"] if isinstance(views, dict) else ["view 0", "view 1"])


@pytest.mark.parametrize("view", [GOOD, GOOD.tolist(), pd.DataFrame(GOOD)])
def test_one_table_is_one_view(view):
    checked = check(view)
    assert checked.single
    np.testing.assert_array_equal(checked.arrays[0], GOOD)


@pytest.mark.parametrize(
    ("views", "error", "message"),
    [
        ([GOOD, GOOD[:3]], ValueError, "view 0 has 4, view 1 has 3"),
        ({"a": GOOD, "b": GOOD[:3]}, ValueError, "a has 4, b has 3"),
        ([], ValueError, "at least one view"),
        ((GOOD for _ in range(2)), TypeError, "list, tuple or dict"),
        (
            [GOOD, np.where(GOOD == 5, np.nan, GOOD)],
            ValueError,
            "view 1 contains NaN in 1 of its 12 values",
        ),
        ([np.where(GOOD == 5, np.inf, GOOD)], ValueError, "view 0 contains infinity in 1"),
        (np.empty((0, 3)), ValueError, r"0 sample\(s\)"),
        ([GOOD, np.empty((4, 0))], ValueError, r"view 1.*0 feature\(s\)"),
        (GOOD[:1], ValueError, "minimum of 2"),
        ([GOOD, np.arange(4.0)], ValueError, "view 1: Expected 2D array, got 1D"),
        ([GOOD, np.zeros((4, 2, 2))], ValueError, r"view 1.*reshape\(len\(array\), -1\)"),
        ([GOOD + 1j], ValueError, "Complex data not supported"),
        ([np.array([["a", "b"], ["c", "d"]])], ValueError, "holds text"),
        (
            [np.array([["1.5", 2], [1, 2]], dtype=object)],
            ValueError,
            "view 0: the array holds text",
        ),
        (
            pd.DataFrame({"a": [1.0, 2.0], "sex": ["f", "m"]}),
            ValueError,
            r"X: column 'sex' holds text.*index_col",
        ),
        (
            pd.DataFrame({"born": pd.to_datetime(["2000-01-01"] * 2)}),
            ValueError,
            "column 'born' holds dates",
        ),
        (
            ["a.csv", "b.csv"],
            ValueError,
            "view 0: Expected 2D array, got .* scalar.*load the file first",
        ),
        ({"age": pd.Series([1.0, 2.0])}, ValueError, r"age: Expected 2D array, got 1D.*to_frame"),
        ([np.array([[{}], [{}]], dtype=object)], TypeError, "view 0"),
        ([np.zeros((4, 2), dtype="datetime64[s]")], ValueError, "dates"),
        ([np.ma.masked_equal(GOOD, 5)], ValueError, "masked"),
        (np.asmatrix(GOOD), TypeError, "np.matrix"),
        (
            [GOOD, scipy.sparse.csr_array(GOOD + 1j)],
            ValueError,
            "view 1: Complex data not supported",
        ),
        (
            [scipy.sparse.csr_array(BAD)],
            ValueError,
            "view 0 contains NaN in 1 and infinity in 11 of its 12",
        ),
        (pd.DataFrame({"a": [1.0, 2.0], 0: [1.0, 2.0]}).assign(b=[pd.NA, 1]), ValueError, "NaN"),
    ],
)
def test_bad_views_raise_a_clear_error(views, error, message):
    with pytest.raises(error, match=message):
        check(views)


def test_frames_in_another_order_raise():
    frame = pd.DataFrame(GOOD, index=list("abcd"))
    with pytest.raises(ValueError, match=r"same index in another order.*view\.loc\[first\.index\]"):
        check([frame, frame.iloc[::-1]])
    with pytest.raises(ValueError, match="another index"):
        check([frame, frame.set_axis(list("wxyz"))])
    with pytest.raises(ValueError, match="some ids are repeated"):
        check([frame, frame.set_axis(list("aacd"))])
    check([frame, frame.copy()])
    check([frame, frame.reset_index(drop=True)])


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        ("f2", "f8"),
        ("f4", "f4"),
        ("f8", "f8"),
        ("i4", "f8"),
        ("?", "f8"),
        (">f8", "f8"),
        ("O", "f8"),
    ],
)
def test_dtypes(dtype, expected):
    checked = check([GOOD.astype(dtype)])
    assert checked.dtype == np.dtype(expected)
    assert checked.arrays[0].dtype == np.float64
