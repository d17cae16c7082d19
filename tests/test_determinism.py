"""The same seed gives the same labels: in every run, process and thread, however many there are."""

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

from tests.problems import many_subspaces, two_subspaces
from viewspan import CLRSC, LRR, MLAP, SSC

dask_array = pytest.importorskip("dask.array")

VIEWS, _ = two_subspaces(size=25, noise=0.2)
UNSEEN, _ = two_subspaces(seed=1, size=25, noise=0.2)
MANY, _ = many_subspaces(420, 4, noise=0.15)
MODELS = {
    "CLRSC": (CLRSC(2), VIEWS),
    "LRR": (LRR(2), VIEWS),
    "SSC": (SSC(2), VIEWS),
    "MLAP": (MLAP(2), VIEWS),
    "CLRSC robust": (CLRSC(2, datafit="l12"), VIEWS),
    "CLRSC of rank one": (CLRSC(2, coupling="rank_one"), VIEWS),
    "CLRSC of many": (CLRSC(4), MANY),
    "CLRSC of an unknown number": (CLRSC(), VIEWS),
    "CLRSC by landmarks": (CLRSC(4, graph="landmarks", n_landmarks=80), MANY),
    "LRR by landmarks": (LRR(4, graph="landmarks", n_landmarks=80), MANY),
}
FOUR = ["CLRSC", "LRR", "SSC", "MLAP"]
BATCHES = 3
GLOBAL = np.random.mtrand._rand
pytestmark = pytest.mark.filterwarnings(
    "ignore:The number of clusters is not clear", "ignore:The graph is in"
)


def fitted(name, seed=0):
    model, views = MODELS[name]
    return clone(model).set_params(random_state=seed).fit(views)


def in_batches(seed=0):
    model = CLRSC(4, graph="landmarks", n_landmarks=80, random_state=seed)
    for rows in np.array_split(np.arange(420), BATCHES):
        model.partial_fit([view[rows] for view in MANY])
    return model


def on_dask():
    views = [dask_array.from_array(view, chunks=(90, -1)) for view in MANY]
    return clone(MODELS["CLRSC by landmarks"][0]).set_params(random_state=0).fit(views)


def everything():
    """What every road finds, for a fresh process to print."""
    found = {}
    for name in MODELS:
        model = fitted(name)
        found[name] = (
            model.labels_.tolist(),
            float(model.objective_).hex(),
            model.confidence_.sum().hex(),
        )
    model = in_batches()
    found["batches"] = (
        model.predict(MANY).tolist(),
        float(model.objective_).hex(),
        model.transform(MANY).sum().hex(),
    )
    model = on_dask()
    found["Dask"] = (np.asarray(model.labels_).tolist(), float(model.objective_).hex(), "")
    return found


def in_a_process(threads, hash_seed):
    names = ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"]
    settings = dict.fromkeys(names, str(threads)) | {"PYTHONHASHSEED": str(hash_seed)}
    program = "import json; from tests.test_determinism import everything; print(json.dumps(everything()))"
    path = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | settings | {"PYTHONPATH": path}
    command = [sys.executable, "-W", "ignore", "-c", program]
    return json.loads(
        subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
    )


def test_processes_agree_to_the_bit_and_thread_counts_to_the_label():
    """Three fresh processes: another order of hashes changes no bit, a second thread no label."""
    first, again, threaded = in_a_process(1, 0), in_a_process(1, 1), in_a_process(2, 2)
    assert first == again
    for name, (labels, objective, _) in first.items():
        assert adjusted_rand_score(labels, threaded[name][0]) == 1.0, name
        assert float.fromhex(objective) == pytest.approx(
            float.fromhex(threaded[name][1]), rel=1e-6
        ), name


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_number_of_workers_does_not_matter(n_jobs):
    """In processes of joblib's; a model that comes back predicts as one that was fitted here."""
    found = joblib.Parallel(n_jobs=n_jobs, backend="loky")(
        joblib.delayed(fitted)(name) for name in FOUR
    )
    for name, model in zip(FOUR, found, strict=True):
        here = fitted(name)
        np.testing.assert_array_equal(model.labels_, here.labels_)
        np.testing.assert_array_equal(model.predict(UNSEEN), here.predict(UNSEEN))


def test_batches_and_dask_find_what_one_fit_finds():
    expected = fitted("CLRSC by landmarks")
    assert adjusted_rand_score(expected.labels_, in_batches().predict(MANY)) == 1.0
    assert adjusted_rand_score(expected.labels_, np.asarray(on_dask().labels_)) == 1.0


@pytest.mark.parametrize("name", MODELS)
def test_fits_in_parallel_threads_share_their_inputs_and_nothing_else(name, monkeypatch):
    """One array for all, which none may write to; the same bits as one fit after the other."""
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


def ask(model, what):
    return getattr(model, what) if what.endswith("_") else getattr(model, what)(UNSEEN)


@pytest.mark.parametrize("name", [*FOUR, "CLRSC of rank one"])
def test_threads_may_ask_one_model_for_what_it_finds_when_asked(name):
    """Predictions, subspaces and scores are made at the first question; whoever asks first, all get the same."""
    questions = [
        "predict",
        "transform",
        "predict_confidence",
        "view_scores_",
        "outlier_scores_",
        "coefficients_",
    ]
    alone = {what: ask(fitted(name), what) for what in questions}
    model = fitted(name)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda what: (what, ask(model, what)), questions * 4))
        subspaces = list(pool.map(lambda _: model.subspaces_, range(8)))
    for what, answer in answers:
        np.testing.assert_array_equal(answer, alone[what], err_msg=what)
    first, *others = [
        [subspace.basis for view in found for subspace in view] for found in subspaces
    ]
    for bases in others:
        for one, other in zip(first, bases, strict=True):
            np.testing.assert_array_equal(one, other)
            assert one is other or sys.version_info >= (
                3,
                12,
            )  # whose cached_property may compute twice


@pytest.mark.parametrize("seed", [0, None])
def test_threads_that_ask_for_batches_get_one_answer(seed):
    """Batches are solved when they are first asked about: once, also without a seed, where two would differ."""
    model = in_batches(seed)
    with ThreadPoolExecutor(8) as pool:
        labels = list(pool.map(lambda _: model.partial_fit().labels_, range(8)))
        predicted = list(pool.map(lambda _: model.predict(MANY), range(4)))
    assert all(found is labels[0] for found in labels)
    for found in predicted:
        np.testing.assert_array_equal(found, predicted[0])
    np.testing.assert_array_equal(labels[0], predicted[0][-len(labels[0]) :])


@pytest.mark.parametrize("name", [*FOUR, "CLRSC by landmarks"])
def test_a_seed_is_what_scikit_learn_says_it_is(name):
    """An int gives the same every time; a generator is drawn from, and its twin gives the same."""
    model, views = MODELS[name]
    state = GLOBAL.get_state()[1].copy()
    by_int = [fitted(name, 3).labels_ for _ in range(2)]
    np.testing.assert_array_equal(*by_int)
    generators = [np.random.RandomState(3) for _ in range(2)]
    by_generator = [clone(model).set_params(random_state=each).fit(views) for each in generators]
    np.testing.assert_array_equal(by_generator[0].labels_, by_generator[1].labels_)
    np.testing.assert_array_equal(by_generator[0].labels_, by_int[0])
    assert by_generator[0].random_state is generators[0]
    np.testing.assert_array_equal(GLOBAL.get_state()[1], state)
    assert generators[0].uniform() == generators[1].uniform() != np.random.RandomState(3).uniform()


def test_without_a_seed_the_global_generator_is_asked():
    model, views = MODELS["CLRSC by landmarks"]
    kept = GLOBAL.get_state()
    try:
        found = []
        for seed in (5, 5):
            GLOBAL.seed(seed)
            found.append(clone(model).set_params(random_state=None).fit(views).confidence_)
        np.testing.assert_array_equal(*found)
    finally:
        GLOBAL.set_state(kept)


def test_predictions_and_explanations_leave_the_global_generator_alone():
    model = fitted("CLRSC")
    state = GLOBAL.get_state()
    for what in ("predict", "transform", "view_scores_", "subspaces_"):
        ask(model, what)
    for first, second in zip(state, GLOBAL.get_state(), strict=True):
        np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize(("name", "order"), list(product(FOUR, ["names", "values"])))
def test_the_order_in_which_views_are_named_is_theirs(name, order):
    """A dict is read in its own order, not in that of hashes; models find views by name afterwards."""
    model = fitted(name)
    named = clone(model).fit({"b": VIEWS[0], "a": VIEWS[1]})
    np.testing.assert_array_equal(named.labels_, model.labels_)
    unseen = (
        {"b": UNSEEN[0], "a": UNSEEN[1]} if order == "names" else {"a": UNSEEN[1], "b": UNSEEN[0]}
    )
    np.testing.assert_array_equal(named.predict(unseen), model.predict(UNSEEN))
