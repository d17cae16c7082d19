"""Views that raise an error, and unusual views that are accepted (rows 1 to 25)."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.metrics import adjusted_rand_score

import viewspan
from tests.bad_inputs.entry_points import every_entry_point, every_estimator
from tests.problems import two_subspaces

VIEWS, LABELS = two_subspaces(size=10)
GOOD = VIEWS[0]


def with_value(value, place=(3, 2)):
    view = GOOD.copy()
    view[place] = value
    return view


def with_na():
    frame = pd.DataFrame(GOOD).add_prefix("f").convert_dtypes()
    frame.iloc[3, 2] = pd.NA
    return frame


FRAME = pd.DataFrame(GOOD, index=[f"s{position}" for position in range(20)]).add_prefix("f")
BAD_VIEWS = {
    "1 different numbers of samples": (
        [GOOD, GOOD[:15]],
        ValueError,
        "view 0 has 20, view 1 has 15",
    ),
    "1 different numbers, named views": (
        {"left": GOOD, "right": GOOD[:15]},
        ValueError,
        "left has 20, right has 15",
    ),
    "2 no views": ([], ValueError, "needs at least one view"),
    "2 no named views": ({}, ValueError, "needs at least one view"),
    "6 infinity": (
        [GOOD, with_value(np.inf)],
        ValueError,
        "view 1 contains infinity in 1 of its 240 values",
    ),
    "6 minus infinity": ([with_value(-np.inf), GOOD], ValueError, "view 0 contains infinity in 1"),
    "7 no samples": (
        np.empty((0, 3)),
        ValueError,
        r"0 sample\(s\) \(shape=\(0, 3\)\).* minimum of",
    ),
    "8 no features": ([GOOD, np.empty((20, 0))], ValueError, r"view 1.*0 feature\(s\)"),
    "10 one dimension": (
        [GOOD, np.arange(20.0)],
        ValueError,
        "view 1: Expected 2D array, got 1D array",
    ),
    "11 three dimensions": (
        [GOOD, np.zeros((20, 2, 2))],
        ValueError,
        r"view 1.*reshape\(len\(array\), -1\)",
    ),
    "12 complex": ([GOOD, GOOD + 1j], ValueError, "view 1: Complex data not supported"),
    "14 objects": ([GOOD, np.array([[{}]] * 20)], TypeError, "view 1"),
    "15 text": ([GOOD, GOOD.astype(str)], ValueError, "view 1.*text"),
    "15 text in a data frame": (
        [FRAME.assign(sex="f")],
        ValueError,
        "view 0: column 'sex' holds text",
    ),
    "18 dates": ([GOOD.astype("datetime64[s]")], ValueError, "view 0.*dates"),
    "19 masked values": ([GOOD, np.ma.masked_greater(GOOD, 0)], ValueError, "view 1.*masked"),
    "20 np.matrix": ([GOOD, np.asmatrix(GOOD)], TypeError, "np.matrix"),
    "23 another order": (
        [FRAME, FRAME.iloc[::-1]],
        ValueError,
        r"another order.*view\.loc\[first\.index\]",
    ),
    "25 NA": ([GOOD, with_na()], ValueError, "view 1 contains NaN in 1 of its 240 values"),
}


@every_entry_point
@pytest.mark.parametrize(("views", "error", "message"), BAD_VIEWS.values(), ids=BAD_VIEWS.keys())
def test_bad_views_raise(call, views, error, message):
    with pytest.raises(error, match=message):
        call(views)


@every_entry_point
def test_04_a_generator_raises(call):
    with pytest.raises(TypeError, match="list, tuple or dict"):
        call(view for view in VIEWS)


@every_entry_point
def test_05_nan_is_counted_and_named(call):
    """Rows with some NaN raise everywhere, also where whole rows of NaN are missing samples."""
    with pytest.raises(ValueError, match="view 1 contains NaN in 1 of its 240 values"):
        call([GOOD, with_value(np.nan)])
    with pytest.raises(ValueError, match="right contains NaN in 2 of its 240 values"):
        call({"left": GOOD, "right": with_value(np.nan, (slice(3, 5), 2))})


@every_entry_point
def test_09_one_sample_is_too_few(call):
    """A batch may have one sample, but the solution of all batches needs two."""
    with pytest.raises(ValueError, match=r"minimum of 2|at least 2 samples, and one has arrived"):
        call([view[:1] for view in VIEWS])


@every_estimator
def test_03_one_array_is_one_view(build):
    model = build(2, random_state=0).fit(GOOD)
    assert model.n_views_in_ == 1
    assert model.n_features_in_ == 12


@every_estimator
def test_24_column_names_of_mixed_types_raise(build):
    with pytest.raises(
        TypeError,
        match=r"X has column names of mixed types: some are strings and others are not, such as 11",
    ):
        build(2).fit(pd.DataFrame(GOOD, columns=[*map(str, range(11)), 11]))


@cache
def labels_by(build):
    return build(2, random_state=0).fit_predict(VIEWS)


UNUSUAL_VIEWS = {
    "4 tuple": tuple,
    "4 dict": lambda views: dict(zip("ab", views, strict=True)),
    "13 numbers as objects": lambda views: [view.astype(object) for view in views],
    "17 float16": lambda views: [view.astype(np.float16) for view in views],
    "17 longdouble": lambda views: [view.astype(np.longdouble) for view in views],
    "17 integers": lambda views: [np.rint(1e4 * view).astype(int) for view in views],
    "17 float32": lambda views: [view.astype(np.float32) for view in views],
    "22 Fortran order": lambda views: [np.asfortranarray(view) for view in views],
    "22 not contiguous": lambda views: [np.repeat(view, 2, axis=1)[:, ::2] for view in views],
    "22 byte-swapped": lambda views: [view.astype(">f8") for view in views],
    "22 negative strides": lambda views: [view[:, ::-1].copy()[:, ::-1] for view in views],
    "23 frames with the same index": lambda views: [
        pd.DataFrame(view, index=FRAME.index) for view in views
    ],
    "16 sparse": lambda views: [scipy.sparse.csr_array(view) for view in views],
    "16 sparse CSC matrices": lambda views: [scipy.sparse.csc_matrix(view) for view in views],
    "16 one sparse view": lambda views: [scipy.sparse.coo_array(views[0]), views[1]],
}


@every_estimator
@pytest.mark.parametrize("convert", UNUSUAL_VIEWS.values(), ids=UNUSUAL_VIEWS.keys())
def test_unusual_views_give_the_same_labels(build, convert):
    np.testing.assert_array_equal(
        build(2, random_state=0).fit_predict(convert(VIEWS)), labels_by(build)
    )


@every_estimator
def test_04_views_are_found_by_name(build):
    model = build(2, random_state=0).fit({"left": GOOD, "right": VIEWS[1]})
    with pytest.raises(ValueError, match="'right' is missing"):
        model.predict({"left": GOOD})
    np.testing.assert_array_equal(model.predict({"right": VIEWS[1], "left": GOOD}), model.labels_)


@pytest.mark.parametrize("datafit", ["l12", "l1"])
def test_16_sparse_views_in_robust_fits(datafit):
    model = viewspan.CLRSC(2, datafit=datafit, random_state=0)
    expected = model.fit_predict(VIEWS)
    np.testing.assert_array_equal(
        model.fit_predict([scipy.sparse.csr_array(view) for view in VIEWS]), expected
    )


@every_estimator
def test_17_precision_of_the_results(build):
    signs = [view > 0 for view in VIEWS]
    assert build(2, random_state=0).fit(signs).coefficients_[0].dtype == np.float64
    singles = [view.astype(np.float32) for view in VIEWS]
    assert build(2, random_state=0).fit(singles).coefficients_[0].dtype == np.float32
    mixed = [singles[0], VIEWS[1]]
    assert build(2, random_state=0).fit(mixed).coefficients_[0].dtype == np.float64


@every_estimator
def test_21_read_only_and_memory_mapped_views(build, tmp_path):
    expected = labels_by(build)
    for number, view in enumerate(VIEWS):
        np.save(tmp_path / f"{number}.npy", view)
    before = [(tmp_path / f"{number}.npy").read_bytes() for number in range(2)]
    mapped = [np.load(tmp_path / f"{number}.npy", mmap_mode="r") for number in range(2)]
    np.testing.assert_array_equal(build(2, random_state=0).fit_predict(mapped), expected)
    writable = [np.load(tmp_path / f"{number}.npy", mmap_mode="r+") for number in range(2)]
    np.testing.assert_array_equal(build(2, random_state=0).fit_predict(writable), expected)
    assert [(tmp_path / f"{number}.npy").read_bytes() for number in range(2)] == before
    frozen = [view.copy() for view in VIEWS]
    for view in frozen:
        view.setflags(write=False)
    np.testing.assert_array_equal(build(2, random_state=0).fit_predict(frozen), expected)


@every_estimator
def test_the_arrays_of_the_caller_are_not_changed(build):
    given = [view.copy() for view in VIEWS]
    build(2, random_state=0).fit(given).predict(given)
    np.testing.assert_array_equal(given, VIEWS)


@every_estimator
def test_25_nullable_integers_with_and_without_na(build):
    frame = pd.DataFrame(np.rint(10 * GOOD)).add_prefix("f").astype("Int64")
    labels = build(2, random_state=0).fit_predict([frame, VIEWS[1]])
    assert adjusted_rand_score(LABELS, labels) == 1.0
    frame.iloc[3, 2] = pd.NA
    with pytest.raises(ValueError, match="view 0 contains NaN in 1"):
        build(2, random_state=0).fit([frame, VIEWS[1]])
