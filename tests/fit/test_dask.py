"""The same estimator on Dask arrays: any scheduler, any chunks, and a worker that dies."""

import os
import signal
import threading
import time

import dask
import dask.array
import distributed
import numpy as np
import pytest
import scipy.sparse
from sklearn.metrics import adjusted_rand_score

import viewspan
from tests.problems import many_subspaces
from viewspan.fit.readings import N_COMPARED_SAMPLES
from viewspan.inputs import blocks
from viewspan.inputs.views import Views

N_SAMPLES = 1500


def model(graph="landmarks", **given):
    return viewspan.CLRSC(5, graph=graph, n_landmarks=150, random_state=0, **given)


@pytest.fixture(scope="module")
def views():
    return many_subspaces(N_SAMPLES)[0]


@pytest.fixture(scope="module")
def expected(views):
    return model().fit_predict(views)


@pytest.fixture(scope="module")
def cluster():
    """Three worker processes on this machine, as on three machines."""
    with (
        dask.config.set({"distributed.worker.daemon": False}),
        distributed.LocalCluster(
            n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def in_chunks(views, first=(625, 20), second=(375, 10)):
    chunks = (first, second)
    return [
        dask.array.from_array(view, chunks=shape) for view, shape in zip(views, chunks, strict=True)
    ]


@pytest.mark.parametrize("chunks", [(625, 20), (N_SAMPLES, 7), (37, 20), ((0, 850, 0, 650), 20)])
def test_chunks_do_not_matter(chunks, views, expected):
    with dask.config.set(scheduler="threads"):
        found = model().fit(in_chunks(views, first=chunks))
    np.testing.assert_array_equal(found.labels_, expected)


def test_views_of_different_kinds(views, expected):
    mixed = [in_chunks(views)[0], scipy.sparse.csr_array(views[1])]
    with dask.config.set(scheduler="threads"):
        np.testing.assert_array_equal(model().fit_predict(mixed), expected)


def test_labels_and_embedding_come_back_as_dask_arrays(views, expected):
    given = in_chunks(views)
    with dask.config.set(scheduler="threads"):
        fitted = model().fit(given)
        labels, embedding = fitted.predict(given), fitted.transform(given)
        assert isinstance(labels, dask.array.Array) and isinstance(embedding, dask.array.Array)
        assert labels.shape == (N_SAMPLES,) and embedding.shape == (N_SAMPLES, 5)
        np.testing.assert_array_equal(labels.compute(), expected)
        np.testing.assert_allclose(embedding.compute(), fitted.transform(views), atol=1e-12)


def test_batches_may_be_dask_arrays(views, expected):
    fitted = model()
    with dask.config.set(scheduler="threads"):
        for rows in (slice(0, 850), slice(850, None)):
            fitted.partial_fit([view[rows] for view in in_chunks(views)])
        assert adjusted_rand_score(fitted.predict(views), expected) == 1.0
        assert isinstance(fitted.labels_, dask.array.Array) and fitted.labels_.shape == (650,)


def test_batches_are_read_in_blocks(views, monkeypatch):
    largest, read = [], Views.read
    monkeypatch.setattr(blocks, "MAX_BLOCK_ENTRIES", 1)
    monkeypatch.setattr(
        Views, "read", lambda self, **given: largest.append(self.n_samples) or read(self, **given)
    )
    with dask.config.set(scheduler="threads"):
        model().partial_fit(in_chunks(views))
    assert max(largest) == N_COMPARED_SAMPLES < views[0].shape[0]


def test_few_samples_are_fetched(views):
    small = [view[:100] for view in views]
    with dask.config.set(scheduler="threads"):
        found = model(graph="auto").fit_predict(in_chunks(small, (40, 20), (40, 20)))
    np.testing.assert_array_equal(found, model(graph="auto").fit_predict(small))


@pytest.mark.parametrize(
    ("spoil", "error", "message"),
    [
        (
            lambda view: view[view[:, 0] > 0],
            ValueError,
            r"view 0: the number of samples is not known.*compute_chunk_sizes",
        ),
        (
            lambda view: dask.array.ma.masked_greater(view, 1.0),
            ValueError,
            "view 0: it is a masked array",
        ),
        (lambda view: view.astype(object), ValueError, "view 0: the array holds Python objects"),
        (
            lambda view: view.to_dask_dataframe(),
            TypeError,
            r"view 0: CLRSC takes Dask arrays.*to_dask_array",
        ),
        (lambda view: view[:, 0], ValueError, "view 0: Expected 2D array, got 1D"),
        (lambda view: view.astype(complex), ValueError, "view 0: Complex data not supported"),
        (lambda view: view[:500], ValueError, "view 0 has 500, view 1 has 1500"),
        (
            lambda view: dask.array.where(view == view.max(), np.nan, view),
            ValueError,
            "view 0 contains NaN in 1",
        ),
    ],
)
def test_bad_dask_arrays_get_one_clear_sentence(spoil, error, message, views):
    first, second = in_chunks(views)
    with dask.config.set(scheduler="threads"), pytest.raises(error, match=message):
        model().fit([spoil(first), second])


def test_several_processes_give_the_same_labels(cluster, views, expected):
    fitted = model().fit(in_chunks(views))
    np.testing.assert_array_equal(fitted.labels_, expected)
    np.testing.assert_array_equal(fitted.predict(in_chunks(views)).compute(), expected)


def slow(block, pause):
    time.sleep(pause)
    return block


def test_a_killed_worker_costs_time_not_the_result(cluster, views, expected):
    """One of three processes is killed in the first pass, and one in the second."""
    slowed = [
        view.map_blocks(slow, 0.2, dtype=float) for view in in_chunks(views, (125, 20), (125, 20))
    ]
    killed = []

    def kill(progress):
        if progress.stage in {"reading", "labelling"} and progress.share == 0.0:
            threading.Timer(0.5, kill_one).start()

    def kill_one():
        pid = next(pid for pid in cluster.run(os.getpid).values() if pid not in killed)
        killed.append(pid)
        os.kill(pid, signal.SIGKILL)

    fitted = model(callback=kill).fit(slowed)
    assert len(killed) == 2
    np.testing.assert_array_equal(fitted.labels_, expected)
