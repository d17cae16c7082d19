from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import viewspan
from tests.problems import random_views
from viewspan._utils.threads import SingleThreadedBlas, map_views, threads_for


def blas_threads():
    return {
        library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"
    }


@pytest.mark.parametrize(("n_views", "size"), [(1, 50), (3, 50), (3, 500)])
def test_blas_is_capped_inside_and_restored_after(n_views, size):
    before = blas_threads()
    with threads_for(n_views, size):
        assert blas_threads() == {1}
    assert blas_threads() == before


def test_overlapping_fits_restore_the_limit_once():
    before = blas_threads()
    with ThreadPoolExecutor(4) as pool:
        list(
            pool.map(lambda seed: viewspan.solve(random_views(seed), 0.1, 0.5, tol=1e-8), range(12))
        )
    assert blas_threads() == before


def test_the_last_to_leave_restores_the_limit_in_whatever_thread():
    """And leaves it to others, though the first to come is still there."""
    with threadpool_limits(2), ThreadPoolExecutor(1) as one, ThreadPoolExecutor(1) as other:
        before = blas_threads()
        first, second = SingleThreadedBlas(), SingleThreadedBlas()
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


def test_one_and_two_threads_give_the_same_coefficients():
    views = random_views(0, (120, 130), 200)
    with threadpool_limits(1):
        alone = viewspan.solve(views, 0.3, 1.0)
    several = viewspan.solve(views, 0.3, 1.0)
    assert several.n_iter == alone.n_iter
    np.testing.assert_allclose(
        np.stack(several.coefficients), np.stack(alone.coefficients), atol=1e-9
    )
