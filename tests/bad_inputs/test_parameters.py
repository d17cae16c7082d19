"""Parameters out of range, and methods that are called before fit (rows 26 to 30, 37 to 39)."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils._param_validation import InvalidParameterError

import viewspan
from tests.bad_inputs.entry_points import every_estimator
from tests.problems import two_subspaces
from viewspan.inputs.views import Views

VIEWS, _ = two_subspaces(size=10)
POSITIVE, WEIGHT, COUNT = r"\(0.0, inf\)", r"\[0.0, inf\)", r"\[1, inf\)"
BAD_PARAMETERS = [
    *[("n_clusters", value, COUNT) for value in (0, -1, "3", 3.0, True, np.nan, [3])],
    *[("lam", value, WEIGHT) for value in (-1.0, np.nan, np.inf, -np.inf, "much", None)],
    *[("tol", value, POSITIVE) for value in (0.0, -1e-3, np.nan, np.inf, "small", None)],
    *[("max_iter", value, COUNT) for value in (0, -5, 1.5, "many", np.inf)],
    *[("random_state", value, "int") for value in ("a", 1.5, -1)],
    *[("n_neighbors", value, COUNT) for value in (0, -1, 2.5, "few", None)],
    *[("normalize", value, "bool") for value in ("yes", 2, None)],
    *[("scale_features", value, "auto") for value in ("yes", None)],
    *[("affine", value, "auto") for value in ("yes", None)],
    *[("view_weights", value, "equal") for value in ("best", 1.0, None)],
    *[("assign_labels", value, "kmeans") for value in ("guess", 1, None)],
    *[("affinity", value, "patterns") for value in ("guess", None)],
    *[("callback", value, "callable") for value in ("print", 1)],
]


@every_estimator
@pytest.mark.parametrize(
    ("name", "value", "expected"),
    BAD_PARAMETERS,
    ids=[f"{name}={value!r}" for name, value, _ in BAD_PARAMETERS],
)
def test_27_28_37_38_39_errors_name_the_parameter_and_its_range(build, name, value, expected):
    with pytest.raises(
        InvalidParameterError,
        match=rf"The '{name}' parameter of {build.__name__} must be .*{expected}.* Got .* instead",
    ) as caught:
        build(**{name: value}).fit(VIEWS)
    assert repr(value)[:10] in str(caught.value)


@pytest.mark.parametrize("build", [viewspan.CLRSC, viewspan.MLAP], ids=lambda build: build.__name__)
@pytest.mark.parametrize("tau", [-1.0, np.nan, np.inf, -np.inf, "much", None, [1.0]])
def test_37_bad_tau_raises(build, tau):
    with pytest.raises(
        InvalidParameterError, match=rf"The 'tau' parameter of {build.__name__} .*{WEIGHT}.* Got"
    ):
        build(tau=tau).fit(VIEWS)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"lam": [0.1, np.nan]}, "lam"),
        ({"lam": [0.1, -1.0]}, "lam"),
        ({"lam": [0.1, np.inf]}, "lam"),
        ({"lam": ["a", "b"]}, "lam"),
        ({"lam": [0.1] * 3}, r"lam must be one number.*Got an array of shape \(3,\)"),
        ({"view_weights": [1.0, np.nan]}, "view_weights"),
        ({"view_weights": [1.0, -1.0]}, "view_weights"),
        ({"view_weights": [0.0, 0.0]}, "view_weights"),
        ({"view_weights": [1.0] * 3}, "view_weights"),
    ],
    ids=str,
)
@every_estimator
def test_37_bad_weights_per_view_raise(build, parameters, message):
    with pytest.raises(ValueError, match=message):
        build(2, **parameters).fit(VIEWS)


@every_estimator
def test_26_more_clusters_than_samples_raise_before_the_views_are_read(build, monkeypatch):
    monkeypatch.setattr(Views, "read", lambda *_, **__: pytest.fail("the views were read"))
    with pytest.raises(ValueError, match=r"n_clusters=21 must not exceed .* n_samples=20"):
        build(21).fit(VIEWS)


@every_estimator
def test_27_29_one_cluster_and_numpy_integers(build):
    assert not build(np.int64(1)).fit_predict(VIEWS).any()


@every_estimator
@pytest.mark.parametrize("n_distinct", [1, 2])
def test_30_fewer_distinct_samples_than_clusters(build, n_distinct):
    rows = np.arange(12) % n_distinct
    views = [
        np.array([[1.0, 2.0, 0.5], [3.0, -1.0, 0.2]])[rows],
        np.array([[0.3, 1.0], [1.0, -0.3]])[rows],
    ]
    with pytest.warns(
        ConvergenceWarning,
        match=rf"n_clusters=3 is more than there are distinct samples \({n_distinct}\)",
    ):
        labels = build(3, random_state=0).fit_predict(views)
    assert set(labels) <= {0, 1, 2}


@every_estimator
def test_38_reaching_max_iter_warns_with_the_gap(build):
    # LRR with the Frobenius datafit has a closed form and needs no iterations
    options = {"datafit": "l12"} if build is viewspan.LRR else {}
    with pytest.warns(
        ConvergenceWarning, match=r"max_iter after 2 iterations.* proven to be within .*Increase"
    ):
        model = build(2, max_iter=2, tol=1e-12, random_state=0, **options).fit(VIEWS)
    assert model.dual_gap_ > 1e-12
    assert set(model.labels_) == {0, 1}


METHODS = ["predict", "transform", "predict_confidence", "reconstruct"]


@every_estimator
@pytest.mark.parametrize("method", METHODS)
def test_39_methods_raise_before_fit(build, method):
    with pytest.raises(NotFittedError, match=rf"{build.__name__} instance is not fitted yet"):
        getattr(build(), method)(VIEWS)


@every_estimator
def test_39_attributes_raise_before_fit(build):
    for name in ("coefficients_", "subspaces_", "view_scores_", "outlier_scores_", "dual_gap_"):
        with pytest.raises(NotFittedError):
            getattr(build(), name)


@every_estimator
def test_39_views_must_match_those_of_the_fit(build):
    model = build(2, random_state=0).fit(VIEWS)
    for method in METHODS:
        call = getattr(model, method)
        with pytest.raises(ValueError, match=r"view 1.* 11 features.* 12 "):
            call([VIEWS[0], VIEWS[1][:, :11]])
        with pytest.raises(ValueError, match=r"\b1 view.*\b2\b|\b2 views.*\b1\b"):
            call(VIEWS[:1])
        with pytest.raises(ValueError, match="view 1 contains NaN in 20"):
            call([VIEWS[0], np.where(np.arange(12) == 3, np.nan, VIEWS[1])])
        with pytest.raises(ValueError, match=r"0 sample\(s\)"):
            call([view[:0] for view in VIEWS])
