"""Samples that are absent from views: ours against zeros in their place, against leaving them out, and against iMML.

    make benchmark-missing

On five real sets, 10, 30 and 50 % of all pairs of a sample and a view are removed at random, but never the last view
of a sample. Everyone gets the true number of clusters and the same pairs. What is done is kept in ``missing.csv``, so
that it can be stopped and go on. The rule was made on other sets.
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

from problems import Views, real, unit_samples
from viewspan import CLRSC
from viewspan.metrics import subspace_clustering_accuracy

SETS = ("3sources", "msrc_v1_5v", "orl_4v", "bbcsport", "handwritten")
SHARES = (0.1, 0.3, 0.5)
SEEDS = 3
LIMIT = 900
"""Seconds for one fit."""
FIELDS = ["set", "share", "seed", "method", "accuracy", "seconds", "detail"]
PEERS = ("IMSR", "DAIMC", "PIMVC", "LFIMVC", "EEIMVC", "NEMO", "OPIMC")

Labels = np.ndarray
Method = Callable[[Views, int], Labels]


def removed(n_views: int, n_samples: int, share: float, seed: int) -> np.ndarray:
    """Which samples every view has, (n_views, n_samples): one view of each is kept, the rest is drawn."""
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
    """Fit the samples that every view has, then predict the others by the views that they have."""
    complete = ~np.isnan(np.hstack(views)).any(axis=1)
    if complete.sum() <= k:
        raise ValueError(f"{complete.sum()} complete samples for {k} clusters")
    model = CLRSC(k, missing="allow", random_state=0).fit([view[complete] for view in views])
    return model.predict(views)


def peer(name: str) -> Method:
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
    views, truth = real(name)
    if share > 0:
        observed = removed(len(views), len(truth), share, seed)
        views = [
            np.where(present[:, None], view, np.nan)
            for view, present in zip(views, observed, strict=True)
        ]
    start = time.perf_counter()
    signal.alarm(LIMIT)
    try:
        labels = METHODS[method](views, int(truth.max()) + 1)
        accuracy = round(float(subspace_clustering_accuracy(truth, labels)), 2)
        return {"accuracy": accuracy, "seconds": round(time.perf_counter() - start, 2)}
    except Exception as error:  # a peer that breaks is a row, too
        return {"detail": (str(error).splitlines() or [type(error).__name__])[0][:100]}
    finally:
        signal.alarm(0)


def too_long(*_: Any) -> None:
    raise TimeoutError(f"over {LIMIT} s")


def run_all(path: Path, sets: list[str], methods: list[str]) -> None:
    """Append every row that is missing; a method that takes too long on a set is not asked again."""
    rows = read(path)
    done = {(row["set"], float(row["share"]), int(row["seed"]), row["method"]) for row in rows}
    slow = {(row["set"], row["method"]) for row in rows if row["detail"].startswith("over")}
    for name in sets:
        for share, seed in [
            (0.0, 0),
            *((share, seed) for share in SHARES for seed in range(SEEDS)),
        ]:
            for method in methods:
                if (name, share, seed, method) in done or (name, method) in slow:
                    continue
                row = {"set": name, "share": share, "seed": seed, "method": method, "detail": ""}
                row |= measure(name, share, seed, method)
                if row["detail"].startswith("over"):
                    slow.add((name, method))
                append(path, FIELDS, row)


def table(rows: list[dict[str, str]]) -> None:
    """Mean accuracy over seeds; in brackets how many of them, if not all."""
    sets = [name for name in SETS if any(row["set"] == name for row in rows)]
    found = []
    for share in (0.0, *SHARES):
        for method in METHODS:
            cells = [cell(rows, name, share, method) for name in sets]
            if any(text != "–" for text in cells):
                found.append([f"{100 * share:.0f} %", method, *cells])
    print_table(["absent", "method", *sets], found)


def cell(rows: list[dict[str, str]], name: str, share: float, method: str) -> str:
    asked = [
        row
        for row in rows
        if (row["set"], float(row["share"]), row["method"]) == (name, share, method)
    ]
    values = [float(row["accuracy"]) for row in asked if row["accuracy"]]
    if not values:
        return "–"
    return f"{np.mean(values):.1f}" + (
        f" ({len(values)} of {SEEDS})" if share > 0 and len(values) < SEEDS else ""
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", nargs="*", default=list(SETS))
    parser.add_argument("--methods", nargs="*", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--table", action="store_true", help="print the table of what is there")
    parser.add_argument("-o", "--output", type=Path, default=Path("missing.csv"))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, too_long)
    if not options.table:
        run_all(options.output, options.sets, options.methods)
    table(read(options.output))


if __name__ == "__main__":
    main()
