"""ViewSplitter: one table split into views, alone and in pipelines and grid searches."""

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.compose import make_column_selector
from sklearn.metrics import adjusted_rand_score, make_scorer, silhouette_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from tests.problems import two_subspaces
from viewspan import CLRSC, LRR, ViewSplitter

VIEWS, LABELS = two_subspaces(size=20)
ORDER = np.random.default_rng(0).permutation(40)
VIEWS, LABELS = [view[ORDER] for view in VIEWS], LABELS[ORDER]
WIDE = np.hstack(VIEWS)
NAMES = [f"{view}_{number}" for view in ("image", "text") for number in range(12)]
FRAME = pd.DataFrame(WIDE, columns=NAMES, index=[f"id{number}" for number in range(40)])
BY_NAME = {"image": slice("image_0", "image_11"), "text": slice("text_0", None)}
BY_POSITION = {"image": slice(0, 12), "text": slice(12, 24)}


def pipeline(columns=BY_POSITION, model=None):
    return Pipeline(
        [("split", ViewSplitter(columns)), ("cluster", model or CLRSC(2, random_state=0))]
    )


def assert_views(found, expected=VIEWS):
    for view, truth in zip(
        found.values() if isinstance(found, dict) else found, expected, strict=True
    ):
        np.testing.assert_array_equal(
            view.toarray() if scipy.sparse.issparse(view) else np.asarray(view), truth
        )


@pytest.mark.parametrize(
    "columns",
    [
        BY_POSITION,
        BY_NAME,
        [slice(None, 12), slice(-12, None)],
        [NAMES[:12], NAMES[12:]],
        [list(range(12)), np.arange(12, 24)],
        [np.arange(24) < 12, [False] * 12 + [True] * 12],
        (
            make_column_selector("^image"),
            lambda table: [name for name in table.columns if "text" in name],
        ),
    ],
    ids=[
        "positions",
        "names",
        "slices",
        "lists of names",
        "lists of positions",
        "masks",
        "callables",
    ],
)
def test_columns_are_selected_as_in_scikit_learn(columns):
    found = ViewSplitter(columns).fit_transform(FRAME)
    assert_views(found)
    assert (
        list(found) == ["image", "text"] if isinstance(columns, dict) else isinstance(found, list)
    )


@pytest.mark.parametrize(
    "kind", [np.array, scipy.sparse.csr_array, scipy.sparse.csc_matrix, scipy.sparse.coo_array]
)
def test_arrays_of_every_kind(kind):
    assert_views(ViewSplitter(BY_POSITION).fit_transform(kind(WIDE)))
    found = ViewSplitter([[5, 2], [3]], remainder="drop").fit_transform(kind(WIDE))
    assert_views(found, [WIDE[:, [5, 2]], WIDE[:, [3]]])


def test_keys_of_a_dict_are_kept():
    found = ViewSplitter({1: slice(0, 12), "1": slice(12, 24)}).fit_transform(WIDE)
    assert list(found) == [1, "1"]
    assert_views(found)


def test_frames_stay_frames():
    pl = pytest.importorskip("polars")
    pa = pytest.importorskip("pyarrow")
    for table in (
        pl.DataFrame(WIDE, schema=NAMES),
        pa.table(dict(zip(NAMES, WIDE.T, strict=True))),
    ):
        found = ViewSplitter(BY_NAME).fit_transform(table)
        assert type(found["image"]) is type(table)
        assert_views(found)
    found = ViewSplitter(BY_NAME).fit_transform(FRAME)
    assert list(found["text"].index) == list(FRAME.index)
    with pytest.raises(TypeError, match=r"LazyFrame has no rows yet; call \.collect\(\)"):
        ViewSplitter(BY_NAME).fit(pl.DataFrame(WIDE, schema=NAMES).lazy())


def test_equally_spaced_columns_are_not_copied(tmp_path):
    for columns in ([slice(0, 24, 2), slice(1, 24, 2)], [[0, 1, 2], np.arange(3, 24)]):
        assert all(
            np.shares_memory(view, WIDE) for view in ViewSplitter(columns).fit_transform(WIDE)
        )
    np.save(tmp_path / "wide.npy", WIDE)
    found = ViewSplitter(BY_POSITION).fit_transform(np.load(tmp_path / "wide.npy", mmap_mode="r"))
    assert all(isinstance(view, np.memmap) for view in found.values())


@pytest.mark.parametrize(
    ("columns", "error", "message"),
    [
        (
            [slice(0, 12)],
            ValueError,
            r"12 of 24 columns are in no view: 'text_0', .*'text_4' and 7 more\. .*'drop'",
        ),
        ([slice(0, 13), slice(12, 24)], ValueError, "Column 'text_0' is in view 0 and in view 1"),
        ({"a": [0, 0], "b": slice(1, 24)}, ValueError, "Column 'image_0' is in a twice"),
        ({"a": "image", "b": slice(1, 24)}, TypeError, r"Got 'image' for a; write \['image'\]"),
        ({"a": 0, "b": slice(1, 24)}, TypeError, r"Got 0 for a; write \[0\]"),
        ({"a": ["image_0", "sound_0"]}, ValueError, "columns of a: 'sound_0' is not in the table"),
        (
            {"a": slice("image_0", "sound_9")},
            ValueError,
            "columns of a: 'sound_9' is not in the table",
        ),
        ({"a": ["image_0", 1]}, TypeError, "all of one kind"),
        ({"a": [0.5, 1.5]}, TypeError, "all of one kind"),
        ({"a": [0, 24]}, ValueError, "columns of a do not fit a table of 24 columns"),
        ({"a": [True, False]}, ValueError, "columns of a do not fit a table of 24 columns"),
        ({"a": make_column_selector("^sound")}, ValueError, "columns of a are empty"),
        ({"a": []}, ValueError, "columns of a are empty"),
        (slice(0, 12), ValueError, "The 'columns' parameter of ViewSplitter must be"),
        ([], ValueError, "columns must define at least one view"),
    ],
    ids=lambda value: None if isinstance(value, type) else str(value)[:30],
)
def test_bad_columns_raise_a_clear_error(columns, error, message):
    with pytest.raises(error, match=message):
        ViewSplitter(columns).fit(FRAME)


def test_tables_that_cannot_be_split():
    with pytest.raises(
        ValueError, match=r"selected by name, but this table has no column names; .*set_output"
    ):
        ViewSplitter(BY_NAME).fit(WIDE)
    with pytest.raises(
        TypeError, match="Got a list of several tables; pass them to the estimator directly"
    ):
        ViewSplitter(BY_NAME).fit(VIEWS)
    with pytest.raises(ValueError, match="'image_0' occurs 2 times in the table"):
        ViewSplitter([["image_0"]], remainder="drop").fit(pd.concat([FRAME, FRAME], axis=1))
    fitted = ViewSplitter(BY_NAME).fit(FRAME)
    assert_views(fitted.transform(WIDE))
    with pytest.raises(ValueError, match="X has 23 features, but ViewSplitter is expecting 24"):
        fitted.transform(WIDE[:, 1:])
    with pytest.raises(ValueError, match="feature names of X should match"):
        fitted.transform(FRAME[NAMES[::-1]])


def test_columns_in_no_view_are_dropped_on_request_and_may_hold_text():
    frame = FRAME.assign(name="somebody")
    with pytest.raises(ValueError, match="1 of 25 columns are in no view: 'name'"):
        ViewSplitter({**BY_NAME, "text": slice("text_0", "text_11")}).fit(frame)
    found = ViewSplitter(
        {**BY_NAME, "text": slice("text_0", "text_11")}, remainder="drop"
    ).fit_transform(frame)
    assert_views(found)


def test_feature_names():
    fitted = ViewSplitter({"a": ["text_1", "image_0"]}, remainder="drop").fit(FRAME)
    assert list(fitted.feature_names_in_) == NAMES
    assert list(fitted.get_feature_names_out()) == ["a__text_1", "a__image_0"]
    fitted = ViewSplitter([[3], [1, 2]], remainder="drop").fit(WIDE)
    assert not hasattr(fitted, "feature_names_in_")
    assert list(fitted.get_feature_names_out()) == ["view0__x3", "view1__x1", "view1__x2"]
    assert list(fitted.get_feature_names_out(NAMES)) == [
        "view0__image_3",
        "view1__image_1",
        "view1__image_2",
    ]
    with pytest.raises(ValueError, match="24"):
        fitted.get_feature_names_out(NAMES[1:])


def test_a_pipeline_gives_the_same_result_as_the_estimator_on_views():
    alone = CLRSC(2, random_state=0).fit(VIEWS)
    fitted_pipeline = pipeline().fit(WIDE)
    np.testing.assert_array_equal(fitted_pipeline.predict(WIDE), alone.labels_)
    np.testing.assert_array_equal(fitted_pipeline.transform(WIDE), alone.transform(VIEWS))
    np.testing.assert_array_equal(clone(fitted_pipeline).fit_predict(WIDE), alone.labels_)
    assert fitted_pipeline["cluster"].n_features_in_ == (12, 12)
    fitted_pipeline.set_params(cluster__tau=0.0, split__columns=[slice(0, 24)]).fit(WIDE)
    assert fitted_pipeline["cluster"].tau_ == 0.0
    assert fitted_pipeline["cluster"].n_features_in_ == (24,)


def test_a_scaler_before_the_splitter_and_frames_as_output():
    scaled = StandardScaler().fit_transform(WIDE)
    steps = [("scale", StandardScaler()), *pipeline().steps]
    np.testing.assert_array_equal(
        Pipeline(steps).fit_predict(FRAME), pipeline().fit_predict(scaled)
    )
    named = Pipeline([("scale", StandardScaler()), *pipeline(BY_NAME).steps]).set_output(
        transform="pandas"
    )
    embedding = named.fit(FRAME).transform(FRAME)
    assert list(embedding.index) == list(FRAME.index)
    assert list(embedding.columns) == list(named.get_feature_names_out()) == ["clrsc0", "clrsc1"]
    assert list(named["cluster"].feature_names_in_[1]) == NAMES[12:]


def compactness(model, table, labels=None):
    return silhouette_score(model.transform(table), model.predict(table))


@pytest.mark.parametrize(("table", "n_jobs"), [(WIDE, 1), (FRAME, 2)], ids=["array", "frame"])
@pytest.mark.parametrize(
    "scoring", [make_scorer(adjusted_rand_score), compactness], ids=["labels", "no labels"]
)
def test_a_search_finds_the_better_parameters(table, n_jobs, scoring):
    """Two clusters score higher than three, with and without labels, in one or two processes."""
    grid = {"cluster__n_clusters": [3, 2], "cluster__tau": ["auto", 0.0]}
    search = GridSearchCV(
        pipeline(), grid, scoring=scoring, cv=2, n_jobs=n_jobs, error_score="raise"
    )
    search.fit(table, None if scoring is compactness else LABELS)
    assert search.best_params_["cluster__n_clusters"] == 2
    assert adjusted_rand_score(LABELS, search.predict(table)) == 1.0
    np.testing.assert_array_equal(search.predict(table), search.best_estimator_["cluster"].labels_)


def test_a_search_over_estimators():
    search = GridSearchCV(
        pipeline(), {"cluster": [CLRSC(2), LRR(2)]}, scoring=compactness, cv=2, error_score="raise"
    )
    assert len(search.fit(WIDE).cv_results_["params"]) == 2


def test_a_pipeline_survives_joblib(tmp_path):
    fitted = pipeline(BY_NAME).fit(FRAME)
    joblib.dump(fitted, tmp_path / "model.joblib")
    np.testing.assert_array_equal(
        joblib.load(tmp_path / "model.joblib").predict(FRAME), fitted.predict(FRAME)
    )


@pytest.mark.filterwarnings("ignore")
def test_checks_of_scikit_learn():
    """Only checks of the content of columns and of array outputs fail.

    The content is checked by the estimator, and the output is a list or dict of tables.
    """
    results = check_estimator(ViewSplitter([slice(None)]), on_skip=None, on_fail=None)
    failed = {result["check_name"] for result in results if result["status"] == "failed"}
    of_content = {"check_complex_data", "check_dtype_object"}
    of_output = {
        "check_transformer_data_not_an_array",
        "check_transformer_general",
        "check_transformer_preserve_dtypes",
        "check_methods_sample_order_invariance",
    }
    assert failed == of_content | of_output
