"""Compare ways to cluster data with missing samples: viewspan's, two simple ones, and iMML's.

    make benchmark-missing

On five real sets of the ``multiview`` data folder, 10, 30 and 50 % of all (sample, view) pairs are
removed at random; every sample keeps at least one view. All methods get the true number of clusters
and the same data. The simple alternatives fill missing samples with zeros, or fit complete samples
only and predict the others. Finished rows are kept in ``missing.csv``, so the benchmark can be
stopped and continued; it takes hours. viewspan's treatment of missing samples was designed on other
sets.
"""

import argparse
import signal
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rows import append, read
from timing import print_table

from problems import Views, load_real, unit_samples
from viewspan import CLRSC
from viewspan.metrics import subspace_clustering_accuracy

SETS = ("3sources", "msrc_v1_5v", "orl_4v", "bbcsport", "handwritten")
SHARES = (0.1, 0.3, 0.5)
SEEDS = 3
TIME_LIMIT = 900
"""Time limit for one fit in seconds."""
FIELDS = ["set", "share", "seed", "method", "accuracy", "seconds", "detail"]
PEERS = ("IMSR", "DAIMC", "PIMVC", "LFIMVC", "EEIMVC", "NEMO", "OPIMC")

Labels = np.ndarray
Method = Callable[[Views, int], Labels]


def draw_observed(n_views: int, n_samples: int, share: float, seed: int) -> np.ndarray:
    """Return a mask (n_views, n_samples) that is False for the missing pairs.

    One random view of each sample is kept; the missing pairs are drawn from the other ones.
    """
    generator = np.random.default_rng(seed)
    observed = np.ones((n_views, n_samples), dtype=bool)
    candidates = np.ones_like(observed)
    candidates[generator.integers(0, n_views, n_samples), np.arange(n_samples)] = False
    pairs = np.argwhere(candidates)
    for view, sample in generator.permutation(pairs)[: round(share * observed.size)]:
        observed[view, sample] = False
    return observed


def ours(views: Views, k: int) -> Labels:
    return CLRSC(k, missing="allow", random_state=0).fit_predict(views)


def zeros(views: Views, k: int) -> Labels:
    return CLRSC(k, random_state=0).fit_predict([np.nan_to_num(view) for view in views])


def complete_only(views: Views, k: int) -> Labels:
    """Fit the samples that no view misses, then predict the others from the views they have."""
    complete = ~np.isnan(np.hstack(views)).any(axis=1)
    if complete.sum() <= k:
        raise ValueError(f"only {complete.sum()} complete samples for {k} clusters")
    model = CLRSC(k, missing="allow", random_state=0).fit([view[complete] for view in views])
    return model.predict(views)


def peer(name: str) -> Method:
    """Return a method of iMML."""

    def run(views: Views, k: int) -> Labels:
        import imml.cluster

        build = getattr(imml.cluster, name)
        return np.asarray(build(n_clusters=k, random_state=0).fit_predict(unit_samples(views)))

    return run


METHODS: dict[str, Method] = {
    "ours": ours,
    "zeros": zeros,
    "complete, then predict": complete_only,
    **{f"iMML {name}": peer(name) for name in PEERS},
}


def measure(name: str, share: float, seed: int, method: str) -> dict[str, Any]:
    """Return accuracy and seconds of one fit, or the error message as the detail."""
    views, truth = load_real(name)
    if share > 0:
        observed = draw_observed(len(views), len(truth), share, seed)
        views = [
            np.where(present[:, None], view, np.nan)
            for view, present in zip(views, observed, strict=True)
        ]
    start = time.perf_counter()
    signal.alarm(TIME_LIMIT)
    try:
        labels = METHODS[method](views, int(truth.max()) + 1)
        accuracy = round(float(subspace_clustering_accuracy(truth, labels)), 2)
        return {"accuracy": accuracy, "seconds": round(time.perf_counter() - start, 2)}
    except Exception as error:  # other packages may raise anything
        return {"detail": (str(error).splitlines() or [type(error).__name__])[0][:100]}
    finally:
        signal.alarm(0)


def raise_timeout(*_: Any) -> None:
    raise TimeoutError(f"over {TIME_LIMIT} s")


def run_all(path: Path, sets: list[str], methods: list[str]) -> None:
    """Append all missing rows; after a timeout, a method is not run on the same set again."""
    rows = read(path)
    done = {(row["set"], float(row["share"]), int(row["seed"]), row["method"]) for row in rows}
    slow = {(row["set"], row["method"]) for row in rows if row["detail"].startswith("over")}
    for name in sets:
        draws = [(0.0, 0), *((share, seed) for share in SHARES for seed in range(SEEDS))]
        for share, seed in draws:
            for method in methods:
                if (name, share, seed, method) in done or (name, method) in slow:
                    continue
                row = {"set": name, "share": share, "seed": seed, "method": method, "detail": ""}
                row |= measure(name, share, seed, method)
                if row["detail"].startswith("over"):
                    slow.add((name, method))
                append(path, FIELDS, row)


def print_means(rows: list[dict[str, str]]) -> None:
    """Print the mean accuracies over the seeds, with the number of seeds if some failed."""
    sets = [name for name in SETS if any(row["set"] == name for row in rows)]
    lines = []
    for share in (0.0, *SHARES):
        for method in METHODS:
            cells = [cell(rows, name, share, method) for name in sets]
            if any(text != "–" for text in cells):
                lines.append([f"{100 * share:.0f} %", method, *cells])
    print_table(["missing", "method", *sets], lines)


def cell(rows: list[dict[str, str]], name: str, share: float, method: str) -> str:
    """Return one cell of the table: the mean accuracy, or a dash if no fit succeeded."""
    values = [
        float(row["accuracy"])
        for row in rows
        if (row["set"], float(row["share"]), row["method"]) == (name, share, method)
        and row["accuracy"]
    ]
    if not values:
        return "–"
    note = f" ({len(values)} of {SEEDS})" if share > 0 and len(values) < SEEDS else ""
    return f"{np.mean(values):.1f}{note}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", nargs="*", default=list(SETS))
    parser.add_argument("--methods", nargs="*", default=list(METHODS), choices=list(METHODS))
    parser.add_argument(
        "--table", action="store_true", help="run nothing; print the table of the finished rows"
    )
    parser.add_argument("-o", "--output", type=Path, default=Path("missing.csv"))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, raise_timeout)
    if not options.table:
        run_all(options.output, options.sets, options.methods)
    print_means(read(options.output))


if __name__ == "__main__":
    main()
