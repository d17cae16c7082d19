"""How much the constants of the automatic choices matter: each halved and doubled.

    python benchmarks/constants.py

Mean accuracy of ``CLRSC(n_clusters=k)`` over the hardest levels of the paper's studies and over the real sets of up to
700 samples, as it is and with one constant changed at a time.
"""

import argparse
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from timing import print_table

from problems import Views, real
from viewspan import CLRSC
from viewspan.datasets import make_face_appearances, make_mineral_mixtures, make_subspaces
from viewspan.estimators import base, clrsc
from viewspan.graph import chance, patterns
from viewspan.graph import discretisation as discretize
from viewspan.inputs import preparation
from viewspan.metrics import subspace_clustering_accuracy
from viewspan.objective import selection

SETS = [
    *("yaleA_3v", "3sources", "webkb_cornell", "msrc_v1_5v", "msrc_v1_6v", "orl_4v"),
    *("bbcsport", "eyaleb10_3v", "bbc4", "wikipedia693"),
]
STUDIES: list[tuple[Callable[..., Any], float]] = [
    (make_subspaces, 0.2),
    (make_subspaces, 0.3),
    (make_mineral_mixtures, 0.2),
    (make_mineral_mixtures, 0.3),
    (make_face_appearances, 0.1),
    (make_face_appearances, 0.15),
]
CONSTANTS: dict[str, tuple[Any, str, tuple[Any, ...]]] = {
    "all multiples of λ": (clrsc, "PATH", ((0.5, 1.0, 0.25, 0.125), (2.0, 4.0, 1.0, 0.5))),
    "coupling, ½": (selection, "COUPLING", (0.25, 1.0)),
    "floor of λ, 2e-4": (selection, "FLOOR", (1e-4, 4e-4)),
    "neighbours, 15": (patterns, "NEIGHBORS", (8, 30)),
    "depth of ranks, 10": (patterns, "DEPTH", (5, 20)),
    "views alone up to, ¼": (clrsc, "ALONE", (0.125, 0.5)),
    "clear gap, 2": (discretize, "CLEAR", (1.0, 4.0)),
    "eigenvectors of a diffusion, 3k": (discretize, "WIDER", (2, 6)),
    "restarts of k-means, 30": (discretize, "RESTARTS", (15, 60)),
    "samples that tell a view's worth, 1000": (chance, "ENOUGH", (500, 2000)),
    "views that are alike, 0.9": (chance, "ALIKE", (0.45, 1.0)),
    "draws of noise for a mean, 3": (chance, "DRAWS", (1, 6)),
    "dominant feature, ½": (preparation, "DOMINANT", (0.25, 0.999)),
    "mean zero by chance, 0.01": (preparation, "BY_CHANCE", (0.005, 0.02)),
    "gap of a path's other solutions, 1e-3": (base, "ROUGH", (5e-4, 2e-3)),
}


@contextmanager
def changed(module: Any, name: str, value: Any) -> Iterator[None]:
    """The constant at another value, also where it is a default argument."""
    builders: tuple[Any, ...] = (patterns.pattern_graph, patterns.neighbour_graph)
    before, defaults = getattr(module, name), builders[0].__defaults__
    setattr(module, name, value)
    for build in builders if name == "NEIGHBORS" else ():
        build.__defaults__ = (value,)
    try:
        yield
    finally:
        setattr(module, name, before)
        for build in builders:
            build.__defaults__ = defaults


def accuracy(problem: tuple[Any, Any], constant: str | None, position: int) -> float:
    warnings.simplefilter("ignore")
    data, truth = load(problem)
    model = CLRSC(int(truth.max()) + 1, random_state=0)
    if constant is None:
        return float(subspace_clustering_accuracy(truth, model.fit_predict(data)))
    module, name, values = CONSTANTS[constant]
    with changed(module, name, values[position]):
        return float(subspace_clustering_accuracy(truth, model.fit_predict(data)))


def load(problem: tuple[Any, Any]) -> tuple[Views, np.ndarray]:
    source, detail = problem
    if source == "real":
        return real(detail)
    noise, trial = detail
    found = source(noise=noise, random_state=trial)
    appearances = found[0].values() if isinstance(found[0], dict) else found[0]
    return list(appearances), np.unique(found[1], return_inverse=True)[1]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--sets", nargs="*", default=SETS, help="these real sets only")
    options = parser.parse_args()
    studies = [(make, (noise, trial)) for make, noise in STUDIES for trial in range(options.trials)]
    problems = [*studies, *[("real", name) for name in options.sets]]
    rows = []
    for constant, position in [
        (None, 0),
        *[(name, place) for name in CONSTANTS for place in (0, 1)],
    ]:
        found = np.array(
            Parallel(options.jobs)(delayed(accuracy)(p, constant, position) for p in problems)
        )
        what = (
            "as they are"
            if constant is None
            else f"{constant} → {CONSTANTS[constant][2][position]}"
        )
        rows.append(
            [what, f"{found[: len(studies)].mean():.1f}", f"{found[len(studies) :].mean():.1f}"]
        )
        print(rows[-1], flush=True)
    print_table(["constants", "studies", "real sets"], rows)


if __name__ == "__main__":
    main()
