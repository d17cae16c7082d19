"""Measure how much the accuracy depends on the constants of the automatic choices.

    python benchmarks/constants.py [--trials 5] [--jobs 2] [--sets SET ...]

Each constant is halved and doubled, one at a time. The table has the mean accuracy of
``CLRSC(n_clusters=k)`` over the hardest noise levels of the paper's studies, and over the real sets
of up to 700 samples in the ``multiview`` data folder.
"""

import argparse
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from timing import print_table

from problems import Views, load_real
from viewspan import CLRSC
from viewspan.datasets import make_face_appearances, make_mineral_mixtures, make_subspaces
from viewspan.fit import steps
from viewspan.graph import discretisation, similarity, view_weights
from viewspan.inputs import column_statistics
from viewspan.metrics import subspace_clustering_accuracy
from viewspan.objective import couplings
from viewspan.weights import noise

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
    "all multiples of λ": (
        noise.NoiseRule,
        "multiples",
        ((0.5, 1.0, 0.25, 0.125), (2.0, 4.0, 1.0, 0.5)),
    ),
    "coupling, ½": (couplings, "NUCLEAR_SHARE", (0.25, 1.0)),
    "floor of λ, 2e-4": (noise, "LAM_FLOOR", (1e-4, 4e-4)),
    "ranked samples per neighbour, 10": (similarity, "RANKED_PER_NEIGHBOR", (5, 20)),
    "largest multiple of λ without coupling, ½": (noise.NoiseRule, "uncoupled_up_to", (0.25, 1.0)),
    "clear gap, 2": (discretisation, "CLEAR_GAP_FACTOR", (1.0, 4.0)),
    "eigenvectors per cluster, 3": (discretisation, "EIGENVECTORS_PER_CLUSTER", (2, 6)),
    "restarts of k-means, 30": (discretisation, "N_KMEANS_STARTS", (15, 60)),
    "samples that are compared for view weights, 500": (
        view_weights,
        "MAX_COMPARED_SAMPLES",
        (250, 1000),
    ),
    "threshold of equal view weights, 0.9": (view_weights, "EQUAL_WEIGHT_THRESHOLD", (0.45, 1.0)),
    "dominant feature, ½": (column_statistics, "DOMINANT_SHARE", (0.25, 0.999)),
    "mean zero by chance, 0.01": (column_statistics, "MAX_CENTRED_MEAN", (0.005, 0.02)),
    "gap of the solution at 2λ, 0.02": (steps, "GRAPH_TOLERANCE", (0.01, 0.04)),
}
"""Module and name of every constant, and its two other values."""
PARAMETERS: dict[str, tuple[str, tuple[Any, ...]]] = {"neighbours, 15": ("n_neighbors", (8, 30))}
"""Parameter of the estimator behind a default, and its two other values."""


@contextmanager
def changed(module: Any, name: str, value: Any) -> Iterator[None]:
    """Set a constant to another value within the block."""
    before = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, before)


def accuracy(problem: tuple[Any, Any], constant: str | None, position: int) -> float:
    """Return the accuracy on one problem with one constant or parameter changed, or none."""
    warnings.simplefilter("ignore")
    data, truth = load(problem)
    model = CLRSC(int(truth.max()) + 1, random_state=0)
    if constant is None:
        return float(subspace_clustering_accuracy(truth, model.fit_predict(data)))
    if constant in PARAMETERS:
        name, values = PARAMETERS[constant]
        model.set_params(**{name: values[position]})
        return float(subspace_clustering_accuracy(truth, model.fit_predict(data)))
    module, name, values = CONSTANTS[constant]
    with changed(module, name, values[position]):
        return float(subspace_clustering_accuracy(truth, model.fit_predict(data)))


def load(problem: tuple[Any, Any]) -> tuple[Views, np.ndarray]:
    """Return the views and labels of a problem.

    A problem is ``("real", name)`` or ``(generator, (noise, seed))``.
    """
    source, detail = problem
    if source == "real":
        return load_real(detail)
    level, seed = detail
    views, labels = source(noise=level, random_state=seed)
    arrays = views.values() if isinstance(views, dict) else views
    return list(arrays), np.unique(labels, return_inverse=True)[1]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--sets", nargs="*", default=SETS, help="real sets (default: those of up to 700 samples)"
    )
    options = parser.parse_args()
    studies = [(make, (noise, seed)) for make, noise in STUDIES for seed in range(options.trials)]
    problems = [*studies, *[("real", name) for name in options.sets]]
    rows = []
    others = {name: values for name, (*_, values) in (CONSTANTS | PARAMETERS).items()}
    changes = [(None, 0), *((name, position) for name in others for position in (0, 1))]
    for constant, position in changes:
        jobs = (delayed(accuracy)(problem, constant, position) for problem in problems)
        scores = np.array(Parallel(options.jobs)(jobs))
        means = scores[: len(studies)].mean(), scores[len(studies) :].mean()
        change = f"{constant} → {others[constant][position]}" if constant else "unchanged"
        rows.append([change, *(f"{mean:.1f}" for mean in means)])
        print(rows[-1], flush=True)
    print_table(["constants", "studies", "real sets"], rows)


if __name__ == "__main__":
    main()
