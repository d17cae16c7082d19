"""Compare the strict constraint rank(A) = 1, the paper's open question, with the nuclear norm.

    python benchmarks/rank_one.py [--sets SET ...]

The data are those of the paper's studies at their strongest noise, and real sets of the
``multiview`` data folder. At the automatic λ, the problem is solved with the nuclear norm for
several multiples of the automatic τ, and with ``coupling="rank_one"``. The table has the objective
without τ (obj1), σ₂/σ₁ of A, the time (best of three) and the peak memory besides the views. The
accuracy is that of whole fits. "The least for rank one" is the smallest τ, to 2 %, at which σ₂/σ₁
is below 0.01.
"""

import argparse
import tracemalloc
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from constants import load
from timing import best_of, print_table

import viewspan
from problems import Views, load_real, unit_samples
from viewspan import CLRSC, LRR, Result
from viewspan.metrics import subspace_clustering_accuracy
from viewspan.studies.paper import paper_studies

STRONGEST_NOISE = {"synthetic": 0.3, "minerals": 0.3, "faces": 0.15}
REAL_SETS = ("yaleA_3v", "msrc_v1_5v", "3sources", "orl_4v", "wikipedia693", "handwritten")
MULTIPLES = (1.0, 4.0, 16.0)
MAX_SAMPLES_FOR_MULTIPLES = 1000
"""Number of samples from which on only the automatic τ is used, and timed once."""
N_DRAWS = 10
"""Number of draws of the data of the paper's studies."""
HEADER = ["problem", "coupling", "objective (obj1)", "σ₂/σ₁", "seconds", "peak memory", "accuracy"]


def strict_objective(result: Result, views: Views) -> float:
    """Return the objective (obj1): Σ ‖X_i − X_i Z_i‖_F² + λ_i ‖Z_i‖_*."""
    fits = [
        np.linalg.norm(view.T - view.T @ z) ** 2
        for view, z in zip(views, result.coefficients, strict=True)
    ]
    norms = np.array([np.linalg.norm(z, "nuc") for z in result.coefficients])
    return float(sum(fits) + result.lam @ norms)


def singular_value_ratio(result: Result) -> float:
    """Return σ₂/σ₁ of A, which is 0 for rank one."""
    rows = np.array([z.ravel() for z in result.coefficients])
    values = np.linalg.svd(rows @ rows.T, compute_uv=False)
    return float(np.sqrt(values[1] / values[0])) if result.scales is None and values[0] > 0 else 0.0


def peak_megabytes(function: Callable[[], Any]) -> float:
    """Return the peak memory of a call."""
    tracemalloc.start()
    function()
    found = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return found


def solver_settings(
    views: Views, lam: np.ndarray, tau: float
) -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    """Return the arguments of the solver and the parameters of the estimator, by row name."""
    found: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {}
    large = len(views[0]) >= MAX_SAMPLES_FOR_MULTIPLES
    for multiple in MULTIPLES[:1] if large else MULTIPLES:
        name = f"nuclear, {multiple:g} × τ"
        found[name] = ({"tau": multiple * tau}, {} if multiple == 1.0 else {"tau": multiple * tau})
    if not large:
        least = smallest_tau_of_rank_one(views, lam, tau)
        found[f"nuclear, {least / tau:.3g} × τ, the least for rank one"] = (
            {"tau": least},
            {"tau": least},
        )
    found["rank one"] = ({"coupling": "rank_one"}, {"coupling": "rank_one"})
    return found


def smallest_tau_of_rank_one(views: Views, lam: np.ndarray, tau: float) -> float:
    """Return the smallest τ at which A has rank one or is zero, found by bisection."""

    def is_strict(weight: float) -> bool:
        result = viewspan.solve(views, lam, weight, tol=1e-5)
        return not result.cores.any() or singular_value_ratio(result) < 1e-2

    low = high = tau
    while not is_strict(high):
        low, high = high, 2 * high
    while high > 1.02 * low:
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if is_strict(middle) else (middle, high)
    return high


def rows_of(problem: str, draws: list[tuple[Views, np.ndarray]]) -> list[list[str]]:
    """Return the rows of one problem: solve the first draw, and cluster all draws."""
    raw, truth = draws[0]
    k = int(truth.max()) + 1
    views = unit_samples(raw)
    first = CLRSC(k, random_state=0).fit(raw)
    rows = []
    for name, (arguments, parameters) in solver_settings(views, first.lam_, first.tau_).items():
        repeats = 3 if len(truth) < MAX_SAMPLES_FOR_MULTIPLES else 1
        seconds, result = best_of(
            lambda chosen=arguments: viewspan.solve(views, first.lam_, **chosen), repeats
        )
        memory = peak_megabytes(
            lambda chosen=arguments: viewspan.solve(views, first.lam_, **chosen)
        )
        models = [CLRSC(k, random_state=0, **parameters) for _ in draws]
        cells = [
            f"{strict_objective(result, views):.4g}",
            f"{singular_value_ratio(result):.2g}",
            f"{seconds:.2f}",
        ]
        rows.append([problem, name, *cells, f"{memory:.1f} MB", accuracy(models, draws)])
        print(rows[-1], flush=True)
    for name, fusion in (("none, concatenated (LRR)", "concat"), ("none, late (LRR)", "late")):
        models = [LRR(k, fusion=fusion, random_state=0) for _ in draws]
        rows.append([problem, name, "", "", "", "", accuracy(models, draws)])
        print(rows[-1], flush=True)
    return rows


def accuracy(models: list[Any], draws: list[tuple[Views, np.ndarray]]) -> str:
    """Return the mean accuracy, or a dash if one of the fits fails."""
    scores = []
    for model, (views, truth) in zip(models, draws, strict=True):
        try:
            scores.append(subspace_clustering_accuracy(truth, model.fit_predict(views)))
        except ValueError:  # at one λ of the path, all coefficients are zero
            return "–"
    return f"{np.mean(scores):.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", nargs="*", default=list(REAL_SETS))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for study in paper_studies():
        noise = STRONGEST_NOISE[study.name]
        rows += rows_of(
            f"{study.name}, σ = {noise:g}",
            [load((study.generate, (noise, t))) for t in range(N_DRAWS)],
        )
    for name in options.sets:
        rows += rows_of(name, [load_real(name)])
    print_table(HEADER, rows)


if __name__ == "__main__":
    main()
