"""Threads over views and parts, and the limit on BLAS threads."""

from concurrent.futures import ThreadPoolExecutor
from threading import get_ident

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import viewspan
from tests.problems import random_views
from viewspan import CLRSC
from viewspan._utils.threads import OneThread, in_threads, map_views, threads_for
from viewspan.graph import discretisation


def blas_threads():
    return {
        library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"
    }


@pytest.mark.parametrize(("n_views", "size"), [(1, 50), (3, 50), (3, 500)])
def test_blas_has_one_thread_inside_and_its_former_limit_after(n_views, size):
    before = blas_threads()
    with threads_for(n_views, size):
        assert blas_threads() == {1}
    assert blas_threads() == before


def largest_pool(user_api):
    return max(lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == user_api)


@pytest.mark.parametrize(
    "method", ["fit", "predict", "predict_confidence", "transform", "reconstruct"]
)
def test_every_call_of_blas_and_openmp_has_one_thread(method, monkeypatch):
    """This is so in all libraries: numpy's, scipy's and scikit-learn's."""
    found = []

    def observe(module, name, user_api):
        function = getattr(module, name)

        def observed(*args, **kwargs):
            found.append(largest_pool(user_api))
            return function(*args, **kwargs)

        monkeypatch.setattr(module, name, observed)

    views = random_views(0, (12, 13), 60)
    model = CLRSC(2, random_state=0).fit(views)
    for name in ("eigh", "svd", "qr", "norm"):
        observe(np.linalg, name, "blas")
    observe(discretisation, "k_means", "openmp")
    with threadpool_limits(2):
        before = threadpool_info()
        getattr(model, method)(views)
        assert threadpool_info() == before
    assert found and set(found) == {1}


def test_overlapping_fits_restore_the_limit_once():
    before = blas_threads()
    with ThreadPoolExecutor(4) as pool:
        list(
            pool.map(lambda seed: viewspan.solve(random_views(seed), 0.1, 0.5, tol=1e-8), range(12))
        )
    assert blas_threads() == before


def test_the_last_to_leave_restores_the_limit_from_any_thread():
    """Afterwards others can set the limit, although the first thread still exists."""
    with threadpool_limits(2), ThreadPoolExecutor(1) as one, ThreadPoolExecutor(1) as other:
        before = blas_threads()
        first, second = OneThread(), OneThread()
        assert one.submit(first.__enter__).result() == other.submit(second.__enter__).result() == 2
        one.submit(first.__exit__).result()
        assert blas_threads() == {1}
        other.submit(second.__exit__).result()
        assert blas_threads() == before
        with threadpool_limits(1):
            assert blas_threads() == {1}
        assert blas_threads() == before


def test_the_limit_is_restored_after_an_error():
    before = blas_threads()
    with pytest.raises(RuntimeError), threads_for(2, 500):
        raise RuntimeError
    assert blas_threads() == before


def test_views_are_mapped_in_order():
    with threads_for(4, 500):
        assert map_views(lambda a, b: a - b, [4, 3, 2, 1], [1, 1, 1, 1]) == [3, 2, 1, 0]


@pytest.mark.parametrize("n_threads", [1, 2])
def test_parts_are_yielded_in_order(n_threads):
    with threadpool_limits(n_threads):
        found = list(in_threads(lambda part: (2 * part, get_ident()), range(20)))
    assert [value for value, _ in found] == list(range(0, 40, 2))
    assert (get_ident() in {thread for _, thread in found}) == (n_threads == 1)


def test_only_a_few_parts_are_computed_ahead():
    taken = []

    def parts():
        for part in range(20):
            taken.append(part)
            yield part

    with threadpool_limits(2):
        results = in_threads(abs, parts())
        next(results)
        assert len(taken) == 5  # two for each thread, and one more
        results.close()


def test_one_and_two_threads_give_the_same_coefficients():
    views = random_views(0, (120, 130), 200)
    with threadpool_limits(1):
        alone = viewspan.solve(views, 0.3, 1.0)
    several = viewspan.solve(views, 0.3, 1.0)
    assert several.n_iter == alone.n_iter
    np.testing.assert_allclose(
        np.stack(several.coefficients), np.stack(alone.coefficients), atol=1e-9
    )
