"""The paper's open question: what does it do to enforce rank(A) = 1 strictly?

    python benchmarks/rank_one.py

On the three studies at their hardest noise and on real sets: one solve at the automatic λ for the convex coupling at
several multiples of the automatic τ and for ``coupling="rank_one"``: its time (best of three), the memory it takes at
its peak beyond the views, the objective (obj1), which has no τ in it, and σ₂/σ₁ of A. Accuracy is that of whole fits,
with graphs along λ. "The least for rank one" is the smallest τ, to 2 %, at which σ₂/σ₁ is below 0.01.
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
from problems import Views, real, unit_samples
from viewspan import CLRSC, LRR, Result
from viewspan.metrics import subspace_clustering_accuracy
from viewspan.studies.paper import paper_studies

HARDEST = {"synthetic": 0.3, "minerals": 0.3, "faces": 0.15}
REAL = ("yaleA_3v", "msrc_v1_5v", "3sources", "orl_4v", "wikipedia693", "handwritten")
MULTIPLES = (1.0, 4.0, 16.0)
MANY = 1000
"""With more samples than this, other τ are not looked at."""
TRIALS = 10
HEADER = ["problem", "coupling", "objective (obj1)", "σ₂/σ₁", "seconds", "peak memory", "accuracy"]


def strict_objective(result: Result, views: Views) -> float:
    """Σ ‖X_i − X_i Z_i‖_F² + λ_i ‖Z_i‖_*."""
    fits = [
        np.linalg.norm(view.T - view.T @ z) ** 2
        for view, z in zip(views, result.coefficients, strict=True)
    ]
    norms = np.array([np.linalg.norm(z, "nuc") for z in result.coefficients])
    return float(sum(fits) + result.lam @ norms)


def second_singular_value(result: Result) -> float:
    """Relative to the first."""
    rows = np.array([z.ravel() for z in result.coefficients])
    values = np.linalg.svd(rows @ rows.T, compute_uv=False)
    return float(np.sqrt(values[1] / values[0])) if result.scales is None and values[0] > 0 else 0.0


def peak(function: Callable[[], Any]) -> float:
    """Megabytes."""
    tracemalloc.start()
    function()
    found = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return found


def solves(
    views: Views, lam: np.ndarray, tau: float
) -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    """What is solved, and the model of a whole fit of that kind."""
    found: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {}
    many = len(views[0]) >= MANY
    for multiple in MULTIPLES[:1] if many else MULTIPLES:
        name = f"nuclear, {multiple:g} × τ"
        found[name] = ({"tau": multiple * tau}, {} if multiple == 1.0 else {"tau": multiple * tau})
    if not many:
        least = least_for_rank_one(views, lam, tau)
        found[f"nuclear, {least / tau:.3g} × τ, the least for rank one"] = (
            {"tau": least},
            {"tau": least},
        )
    found["rank one"] = ({"coupling": "rank_one"}, {"coupling": "rank_one"})
    return found


def least_for_rank_one(views: Views, lam: np.ndarray, tau: float) -> float:
    """The smallest τ at which A is of rank one, or zero, by bisection."""

    def is_strict(weight: float) -> bool:
        result = viewspan.solve(views, lam, weight, tol=1e-5)
        return not result.cores.any() or second_singular_value(result) < 1e-2

    low = high = tau
    while not is_strict(high):
        low, high = high, 2 * high
    while high > 1.02 * low:
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if is_strict(middle) else (middle, high)
    return high


def rows_of(problem: str, draws: list[tuple[Views, np.ndarray]]) -> list[list[str]]:
    """Solved once on the first draw, clustered on all."""
    raw, truth = draws[0]
    k = int(truth.max()) + 1
    views = unit_samples(raw)
    first = CLRSC(k, random_state=0).fit(raw)
    rows = []
    for name, (arguments, parameters) in solves(views, first.lam_, first.tau_).items():
        repeats = 3 if len(truth) < MANY else 1
        seconds, result = best_of(
            lambda chosen=arguments: viewspan.solve(views, first.lam_, **chosen), repeats
        )
        memory = peak(lambda chosen=arguments: viewspan.solve(views, first.lam_, **chosen))
        models = [CLRSC(k, random_state=0, **parameters) for _ in draws]
        cells = [
            f"{strict_objective(result, views):.4g}",
            f"{second_singular_value(result):.2g}",
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
    scores = []
    for model, (views, truth) in zip(models, draws, strict=True):
        try:
            scores.append(subspace_clustering_accuracy(truth, model.fit_predict(views)))
        except ValueError:  # a weight that leaves nothing at another point of the path
            return "–"
    return f"{np.mean(scores):.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", nargs="*", default=list(REAL))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for study in paper_studies():
        noise = HARDEST[study.name]
        rows += rows_of(
            f"{study.name}, σ = {noise:g}",
            [load((study.generate, (noise, t))) for t in range(TRIALS)],
        )
    for name in options.sets:
        rows += rows_of(name, [real(name)])
    print_table(HEADER, rows)


if __name__ == "__main__":
    main()
