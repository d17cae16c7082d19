"""The same seed gives the same labels in every run, process and thread."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from tests.problems import many_subspaces, two_subspaces
from viewspan import CLRSC, LRR, MLAP, SSC

dask_array = pytest.importorskip("dask.array")

VIEWS, _ = two_subspaces(size=25, noise=0.2)
UNSEEN, _ = two_subspaces(seed=1, size=25, noise=0.2)
MANY_SAMPLES, _ = many_subspaces(420, 4, noise=0.15)
SAMPLES, _ = many_subspaces(210, 4, noise=0.15)
MODELS = {
    "CLRSC": (CLRSC(2), VIEWS),
    "LRR": (LRR(2), VIEWS),
    "SSC": (SSC(2), VIEWS),
    "MLAP": (MLAP(2), VIEWS),
    "CLRSC robust": (CLRSC(2, datafit="l12"), VIEWS),
    "CLRSC rank one": (CLRSC(2, coupling="rank_one"), VIEWS),
    "CLRSC many samples": (CLRSC(4), MANY_SAMPLES),
    "CLRSC unknown number of clusters": (CLRSC(), VIEWS),
    "CLRSC landmarks": (CLRSC(4, graph="landmarks", n_landmarks=60), SAMPLES),
    "LRR landmarks": (LRR(4, graph="landmarks", n_landmarks=60), SAMPLES),
}
ESTIMATORS = ["CLRSC", "LRR", "SSC", "MLAP"]
N_BATCHES = 3
GLOBAL_GENERATOR = np.random.mtrand._rand
pytestmark = pytest.mark.filterwarnings(
    "ignore:The number of clusters is not clear", "ignore:The graph has"
)


def fitted(name, seed=0):
    model, views = MODELS[name]
    return clone(model).set_params(random_state=seed).fit(views)


def in_batches(seed=0):
    model = CLRSC(4, graph="landmarks", n_landmarks=60, random_state=seed)
    for rows in np.array_split(np.arange(210), N_BATCHES):
        model.partial_fit([view[rows] for view in SAMPLES])
    return model


def on_dask():
    views = [dask_array.from_array(view, chunks=(45, -1)) for view in SAMPLES]
    return clone(MODELS["CLRSC landmarks"][0]).set_params(random_state=0).fit(views)


def all_results(names=tuple(MODELS)):
    """Return labels, objective and a checksum of kinds of fits, as JSON can hold them."""
    found = {}
    for name in names:
        model = fitted(name)
        found[name] = (
            model.labels_.tolist(),
            float(model.objective_).hex(),
            model.confidence_.sum().hex(),
        )
    model = in_batches()
    found["batches"] = (
        model.predict(SAMPLES).tolist(),
        float(model.objective_).hex(),
        model.transform(SAMPLES).sum().hex(),
    )
    model = on_dask()
    found["Dask"] = (np.asarray(model.labels_).tolist(), float(model.objective_).hex(), "")
    return found


def results_of_a_process(threads, hash_seed, models=tuple(MODELS)):
    """Return the results of a new process with so many BLAS threads."""
    names = ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"]
    settings = dict.fromkeys(names, str(threads)) | {"PYTHONHASHSEED": str(hash_seed)}
    program = (
        "import json; from tests.test_determinism import all_results; "
        f"print(json.dumps(all_results({models})))"
    )
    path = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | settings | {"PYTHONPATH": path}
    command = [sys.executable, "-W", "ignore", "-c", program]
    return json.loads(
        subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
    )


def test_processes_give_equal_results_and_thread_counts_equal_labels():
    """Another process changes no bit, and a second BLAS thread changes no label."""
    with threadpool_limits(1):
        here = json.loads(json.dumps(all_results()))
    assert results_of_a_process(threads=1, hash_seed=0) == here
    threaded = results_of_a_process(2, 1, models=("CLRSC", "CLRSC many samples", "SSC"))
    for name, (labels, objective, _) in threaded.items():
        assert adjusted_rand_score(labels, here[name][0]) == 1.0, name
        assert float.fromhex(objective) == pytest.approx(float.fromhex(here[name][1]), rel=1e-6), (
            name
        )


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_models_fitted_by_joblib_workers_are_equal(n_jobs):
    """A model from a worker process predicts like one that was fitted in this process."""
    found = joblib.Parallel(n_jobs=n_jobs, backend="loky")(
        joblib.delayed(fitted)(name) for name in ESTIMATORS
    )
    for name, model in zip(ESTIMATORS, found, strict=True):
        here = fitted(name)
        np.testing.assert_array_equal(model.labels_, here.labels_)
        np.testing.assert_array_equal(model.predict(UNSEEN), here.predict(UNSEEN))


def test_batches_and_dask_give_the_labels_of_one_fit():
    expected = fitted("CLRSC landmarks")
    assert adjusted_rand_score(expected.labels_, in_batches().predict(SAMPLES)) == 1.0
    assert adjusted_rand_score(expected.labels_, np.asarray(on_dask().labels_)) == 1.0


@pytest.mark.parametrize("name", MODELS)
def test_fits_in_parallel_threads_equal_sequential_fits(name, monkeypatch):
    """The threads share read-only arrays, and the results are equal bit by bit."""
    model, views = MODELS[name]
    frozen = [view.copy() for view in views]
    for view in frozen:
        view.setflags(write=False)
    monkeypatch.setitem(MODELS, name, (model, frozen))
    seeds = [0, 1, 0]
    alone = [fitted(name, seed) for seed in seeds[:2]] * 2
    with ThreadPoolExecutor(len(seeds)) as pool:
        together = list(pool.map(lambda seed: fitted(name, seed), seeds))
    for one, other in zip(alone, together, strict=False):
        np.testing.assert_array_equal(other.labels_, one.labels_)
        np.testing.assert_array_equal(other.confidence_, one.confidence_)
        assert other.objective_ == one.objective_
    for before, after in zip(views, frozen, strict=True):
        np.testing.assert_array_equal(before, after)


def result_of(model, what):
    """Return a fitted attribute, or the result of a method for new samples."""
    return getattr(model, what) if what.endswith("_") else getattr(model, what)(UNSEEN)


@pytest.mark.parametrize("name", [*ESTIMATORS, "CLRSC rank one"])
def test_threads_that_share_a_model_get_equal_results(name):
    """Predictions, subspaces and scores are computed when a thread first reads them."""
    names = [
        "predict",
        "transform",
        "predict_confidence",
        "view_scores_",
        "outlier_scores_",
        "coefficients_",
    ]
    alone = {what: result_of(fitted(name), what) for what in names}
    model = fitted(name)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda what: (what, result_of(model, what)), names * 4))
        subspaces = list(pool.map(lambda _: model.subspaces_, range(8)))
    for what, answer in answers:
        np.testing.assert_array_equal(answer, alone[what], err_msg=what)
    first, *others = [
        [subspace.basis for view in found for subspace in view] for found in subspaces
    ]
    for bases in others:
        for one, other in zip(first, bases, strict=True):
            np.testing.assert_array_equal(one, other)
            # cached_property may compute twice since Python 3.12
            assert one is other or sys.version_info >= (3, 12)


@pytest.mark.parametrize("seed", [0, None])
def test_threads_that_share_a_model_solve_batches_once(seed):
    """Two solutions without a seed would differ."""
    model = in_batches(seed)
    with ThreadPoolExecutor(8) as pool:
        labels = list(pool.map(lambda _: model.partial_fit().labels_, range(8)))
        predicted = list(pool.map(lambda _: model.predict(SAMPLES), range(4)))
    assert all(found is labels[0] for found in labels)
    for found in predicted:
        np.testing.assert_array_equal(found, predicted[0])
    np.testing.assert_array_equal(labels[0], predicted[0][-len(labels[0]) :])


@pytest.mark.parametrize("name", [*ESTIMATORS, "CLRSC landmarks"])
def test_random_state_follows_the_rules_of_scikit_learn(name):
    """An int gives equal results every time; a generator advances, and an equal one agrees."""
    model, views = MODELS[name]
    state = GLOBAL_GENERATOR.get_state()[1].copy()
    by_int = [fitted(name, 3).labels_ for _ in range(2)]
    np.testing.assert_array_equal(*by_int)
    generators = [np.random.RandomState(3) for _ in range(2)]
    by_generator = [clone(model).set_params(random_state=each).fit(views) for each in generators]
    np.testing.assert_array_equal(by_generator[0].labels_, by_generator[1].labels_)
    np.testing.assert_array_equal(by_generator[0].labels_, by_int[0])
    assert by_generator[0].random_state is generators[0]
    np.testing.assert_array_equal(GLOBAL_GENERATOR.get_state()[1], state)
    assert generators[0].uniform() == generators[1].uniform() != np.random.RandomState(3).uniform()


def test_fits_without_a_seed_use_the_global_generator():
    model, views = MODELS["CLRSC landmarks"]
    kept = GLOBAL_GENERATOR.get_state()
    try:
        found = []
        for seed in (5, 5):
            GLOBAL_GENERATOR.seed(seed)
            found.append(clone(model).set_params(random_state=None).fit(views).confidence_)
        np.testing.assert_array_equal(*found)
    finally:
        GLOBAL_GENERATOR.set_state(kept)


def test_predictions_and_explanations_do_not_use_the_global_generator():
    model = fitted("CLRSC")
    state = GLOBAL_GENERATOR.get_state()
    for what in ("predict", "transform", "view_scores_", "subspaces_"):
        result_of(model, what)
    for first, second in zip(state, GLOBAL_GENERATOR.get_state(), strict=True):
        np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize(("name", "order"), list(product(ESTIMATORS, ["names", "values"])))
def test_views_in_a_dict_keep_their_order_and_are_found_by_name(name, order):
    """A fit reads the views in the order of the dict, and predict finds them by name."""
    model = fitted(name)
    named = clone(model).fit({"b": VIEWS[0], "a": VIEWS[1]})
    np.testing.assert_array_equal(named.labels_, model.labels_)
    unseen = (
        {"b": UNSEEN[0], "a": UNSEEN[1]} if order == "names" else {"a": UNSEEN[1], "b": UNSEEN[0]}
    )
    np.testing.assert_array_equal(named.predict(unseen), model.predict(UNSEEN))
