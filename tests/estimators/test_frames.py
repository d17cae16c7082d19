"""pandas and polars frames and Arrow tables as views: names, nulls, ids and frames as output."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import viewspan
from tests.problems import two_subspaces

pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

VIEWS, LABELS = two_subspaces()
IDS = [f"patient {number}" for number in range(30)]
NAMES = [[f"{view} {number}" for number in range(12)] for view in ("a", "b")]
PANDAS = [
    pd.DataFrame(view, columns=names, index=IDS) for view, names in zip(VIEWS, NAMES, strict=True)
]
POLARS = [pl.DataFrame(view, schema=names) for view, names in zip(VIEWS, NAMES, strict=True)]
ARROW = [
    pa.table(dict(zip(names, view.T, strict=True)))
    for view, names in zip(VIEWS, NAMES, strict=True)
]


def model(**parameters):
    return viewspan.CLRSC(2, random_state=0, **parameters)


FITTED = model().fit(VIEWS)


@pytest.mark.parametrize(
    "views",
    [
        POLARS,
        ARROW,
        [table.to_batches()[0] for table in ARROW],
        {"a": PANDAS[0], "b": POLARS[1]},
        [POLARS[0], VIEWS[1]],
        [ARROW[0], PANDAS[1]],
        [POLARS[0], scipy.sparse.csr_array(VIEWS[1])],
    ],
    ids=[
        "polars",
        "arrow",
        "batches",
        "pandas+polars",
        "polars+numpy",
        "arrow+pandas",
        "polars+sparse",
    ],
)
def test_tables_of_every_kind_are_the_arrays_that_they_hold(views):
    fitted = model().fit(views)
    np.testing.assert_array_equal(fitted.labels_, FITTED.labels_)
    np.testing.assert_allclose(fitted.coefficients_[1], FITTED.coefficients_[1], atol=1e-9)
    np.testing.assert_array_equal(fitted.predict(views), FITTED.labels_)


def test_one_frame_of_polars_and_batches_of_them():
    alone = model().fit(POLARS[0])
    np.testing.assert_array_equal(alone.labels_, model().fit_predict(VIEWS[0]))
    batches = model()
    for rows in (slice(0, 20), slice(20, 30)):
        batches.partial_fit([frame[rows] for frame in POLARS])
    np.testing.assert_array_equal(batches.predict(POLARS), batches.predict(VIEWS))


@pytest.mark.parametrize("kind", [pl.Float32, pl.Float64])
def test_precision_stays(kind):
    fitted = model().fit([frame.cast(kind) for frame in POLARS])
    assert fitted.cores_.dtype == (np.float32 if kind == pl.Float32 else np.float64)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (
            pl.Series("sex", ["f", "m"] * 15),
            r"view 1: column 'sex' holds text.*Encode or drop it\.$",
        ),
        (
            pl.Series("sex", ["f", "m"] * 15, dtype=pl.Categorical),
            "view 1: column 'sex' holds text",
        ),
        (pl.Series("born", [datetime.date(2000, 1, 1)] * 30), "view 1: column 'born' holds dates"),
        (
            pl.Series("slept", [datetime.timedelta(1)] * 30),
            "view 1: column 'slept' holds dates or durations",
        ),
        (
            pl.Series("woke", [datetime.time(7)] * 30),
            "view 1: column 'woke' holds Time, but a view must hold numbers",
        ),
        (pl.Series("list", [[1.0]] * 30), r"view 1: column 'list' holds List\(Float64\)"),
        (pl.Series("pairs", [{"left": 1, "right": 2}] * 30), "view 1: column 'pairs' holds Struct"),
    ],
    ids=["text", "categories", "dates", "durations", "times", "lists", "structs"],
)
def test_columns_that_are_not_numbers_raise(column, message):
    with pytest.raises(ValueError, match=message):
        model().fit([POLARS[0], POLARS[1].with_columns(column)])


def test_numbers_of_other_types():
    truth = np.arange(30) % 3 == 0
    decimals = pl.Series("price", [Decimal(f"{number}.5") for number in range(30)])
    frame = POLARS[0].with_columns(
        pl.Series("yes", truth), pl.Series("count", np.arange(30, dtype=np.uint8)), decimals
    )
    expected = np.column_stack([VIEWS[0], truth, np.arange(30), np.arange(30) + 0.5])
    np.testing.assert_allclose(model().fit(frame).lam_, model().fit(expected).lam_)


def test_nulls_are_counted():
    gaps = POLARS[1].with_columns(
        pl.when(pl.int_range(pl.len()) == 3).then(None).otherwise(pl.col("b 0")).alias("b 0"),
        pl.Series("yes", [None, True] * 15),
    )
    with pytest.raises(ValueError, match="view 1 contains NaN in 16 of its 390 values"):
        model().fit([POLARS[0], gaps])


def test_rows_of_nulls_are_missing_samples():
    is_missing = np.arange(30) % 10 == 4
    arrays = [VIEWS[0], np.where(is_missing[:, None], np.nan, VIEWS[1])]
    nulls = POLARS[1].with_columns(pl.when(pl.Series(~is_missing)).then(pl.all()))
    assert nulls.null_count().sum_horizontal().item() == 36
    with pytest.raises(ValueError, match=r"NaN in 36 of its 360 values; .*missing='allow'"):
        model().fit([POLARS[0], nulls])
    fitted = model(missing="allow").fit([POLARS[0], nulls])
    np.testing.assert_array_equal(fitted.labels_, model(missing="allow").fit_predict(arrays))
    np.testing.assert_array_equal(np.isnan(fitted.outlier_scores_[1]), is_missing)


def test_lazy_frames_raise():
    with pytest.raises(
        TypeError, match=r"view 1: a LazyFrame has no rows yet; call \.collect\(\) on it first"
    ):
        model().fit([POLARS[0], POLARS[1].lazy()])
    with pytest.raises(TypeError, match=r"X: a LazyFrame"):
        FITTED.predict(POLARS[0].lazy())


@pytest.mark.parametrize("frames", [PANDAS, POLARS, ARROW], ids=["pandas", "polars", "arrow"])
def test_features_keep_their_names(frames):
    alone = model().fit(frames[0])
    assert alone.feature_names_in_.dtype == object
    assert list(alone.feature_names_in_) == NAMES[0]
    both = model().fit([frames[0], VIEWS[1]])
    assert list(both.feature_names_in_[0]) == NAMES[0]
    assert both.feature_names_in_[1] is None
    assert not hasattr(both.fit(VIEWS), "feature_names_in_")
    assert [list(names) for names in both.fit(dict(enumerate(frames))).feature_names_in_] == NAMES


def test_names_are_compared_where_both_have_them():
    fitted = model().fit({"a": POLARS[0], "b": VIEWS[1]})
    np.testing.assert_array_equal(fitted.predict({"a": PANDAS[0], "b": PANDAS[1]}), fitted.labels_)
    np.testing.assert_array_equal(fitted.predict(VIEWS), fitted.labels_)
    with pytest.raises(ValueError, match="feature names of a should match"):
        fitted.predict({"a": POLARS[0].select(NAMES[0][::-1]), "b": VIEWS[1]})


def test_numbers_are_no_feature_names_and_mixed_names_raise():
    assert not hasattr(model().fit([pd.DataFrame(view) for view in VIEWS]), "feature_names_in_")
    mixed = PANDAS[1].set_axis([0, *NAMES[1][1:]], axis=1)
    with pytest.raises(
        TypeError, match=r"view 1 has column names of mixed types.* such as 0\. Convert all names"
    ):
        model(callback=lambda progress: pytest.fail("the fit has started")).fit([PANDAS[0], mixed])


@pytest.mark.parametrize(
    ("views", "index"),
    [
        (PANDAS[0], IDS),
        (PANDAS, IDS),
        ({"a": POLARS[0], "b": PANDAS[1]}, IDS),
        ([PANDAS[0].reset_index(drop=True), PANDAS[1]], IDS),
        (VIEWS, range(30)),
        (POLARS, range(30)),
    ],
    ids=["one", "list", "dict", "ids in the second", "arrays", "polars"],
)
def test_output_frames_have_the_ids_of_the_samples(views, index):
    plain = model().fit(views)
    embedding = plain.transform(views)
    assert type(embedding) is np.ndarray
    for frame in (
        plain.set_output(transform="pandas").transform(views),
        model().set_output(transform="pandas").fit_transform(views),
    ):
        assert list(frame.index) == list(index)
        assert list(frame.columns) == ["clrsc0", "clrsc1"]
        np.testing.assert_array_equal(frame, embedding)
    in_polars = plain.set_output(transform="polars").transform(views)
    assert in_polars.columns == ["clrsc0", "clrsc1"]
    np.testing.assert_array_equal(in_polars.to_numpy(), embedding)
    assert type(plain.set_output(transform="default").transform(views)) is np.ndarray
