"""Compare a second BLAS thread with one thread per view.

    python benchmarks/threads.py

The first table has the milliseconds of the eigenvalue decompositions of two Gram matrices, which
dominate an iteration. The second table has the milliseconds of whole solves.
"""

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
from threadpoolctl import threadpool_limits
from timing import best_of, print_table

import viewspan
from problems import synthetic, unit_samples

SIZES = [50, 100, 150, 200, 300, 500]


def time_decompositions() -> None:
    rng = np.random.default_rng(0)
    rows = []
    with ThreadPoolExecutor(2) as pool:
        for size in SIZES:
            stack = rng.normal(size=(2, size, size))
            grams = stack @ stack.mT
            repeats = max(5, 2000 // size)
            in_turn = partial(lambda grams: [np.linalg.eigh(gram) for gram in grams], grams)
            in_parallel = partial(lambda grams: list(pool.map(np.linalg.eigh, grams)), grams)
            with threadpool_limits(1):
                one, _ = best_of(in_turn, repeats)
                views, _ = best_of(in_parallel, repeats)
            with threadpool_limits(2):
                two, _ = best_of(in_turn, repeats)
            cells = [f"{seconds * 1e3:.2f}" for seconds in (one, two, views)]
            rows.append([str(size), *cells, f"{one / two:.2f}×", f"{one / views:.2f}×"])
    header = [
        "directions",
        "one thread",
        "two in BLAS",
        "one per view",
        "gain in BLAS",
        "gain per view",
    ]
    print_table(header, rows)


def time_solves() -> None:
    rows = []
    for n_samples in (100, 200, 400):
        scaled = unit_samples(synthetic(n_samples, n_samples, 0.2)[0])
        solve = partial(viewspan.solve, scaled, 1.0, 4.0)
        with threadpool_limits(1):
            one, _ = best_of(solve)
        several, result = best_of(solve)
        cells = [f"{one * 1e3:.0f}", f"{several * 1e3:.0f}", f"{one / several:.2f}×"]
        rows.append([str(n_samples), *cells, str(result.n_iter)])
    print_table(
        ["samples and directions", "one thread, ms", "as arranged, ms", "gain", "iterations"], rows
    )


if __name__ == "__main__":
    time_decompositions()
    print()
    time_solves()
