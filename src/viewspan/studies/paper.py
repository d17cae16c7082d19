"""The paper's three studies."""

from collections.abc import Iterable
from functools import partial
from typing import Any, NamedTuple

from viewspan import CLRSC, LRR, MLAP, SSC
from viewspan.datasets import (
    fetch_minerals,
    fetch_yale_faces,
    make_face_appearances,
    make_mineral_mixtures,
    make_subspaces,
)
from viewspan.objective.axes import SolverName
from viewspan.studies.study import GRID, Method, Study

NAMES = ("synthetic", "minerals", "faces")
N_CLUSTERS = 5


class Weights(NamedTuple):
    """The authors' λ, or λ and τ, for one study, in this package's scaling of the objectives."""

    clrsc: tuple[float, float]
    lrr: float
    mlap: tuple[float, float]


AUTHORS = {
    "synthetic": Weights(clrsc=(0.2, 8.0), lrr=0.2, mlap=(0.1, 0.2)),
    "minerals": Weights(clrsc=(0.2, 8.0), lrr=0.2, mlap=(0.1, 0.1)),
    "faces": Weights(clrsc=(2.0, 0.2), lrr=2.0, mlap=(1.0, 0.01)),
}

# Twenty-four points for every method, the authors' among them.
LRR_GRID = (
    *(0.05, 0.07, 0.1, 0.14, 0.2, 0.28, 0.4, 0.5, 0.7, 1.0, 1.2, 1.4),
    *(1.7, 2.0, 2.4, 2.8, 3.4, 4.0, 4.8, 5.6, 8.0, 11.0, 16.0, 22.0),
)
SSC_GRID = (
    *(0.005, 0.0075, 0.01, 0.015, 0.02, 0.025, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08),
    *(0.1, 0.12, 0.14, 0.16, 0.18, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.8),
)
MLAP_GRID = ((0.1, 0.3, 0.6, 0.8, 1.0, 1.2, 1.5, 2.0), (0.01, 0.1, 0.2))
CLRSC_GRID = ((0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 4.0, 8.0), (0.2, 2.0, 8.0))


def paper_studies(
    names: Iterable[str] = NAMES, *, tune: bool = False, mineral_copies: int = 10
) -> list[Study]:
    """The studies by name, each with the authors' parameters, as published and at the optimum, and with ``"auto"``.

    Parameters
    ----------
    names : iterable of {"synthetic", "minerals", "faces"}
    tune : bool
        Add, for every method alike, a grid of twenty-four points from which the best is chosen with the labels.
    mineral_copies : int
        10 in the paper, 20 in the authors' program.
    """
    makers: dict[str, Any] = {
        "synthetic": (make_subspaces, (0.0, 0.1, 0.2, 0.3), "Synthetic subspaces"),
        "minerals": (
            partial(make_mineral_mixtures, n_copies=mineral_copies),
            (0.0, 0.1, 0.2, 0.3),
            "Mineral mixtures (semi-synthetic)",
        ),
        "faces": (make_face_appearances, (0.0, 0.02, 0.05, 0.1, 0.15), "Faces through two filters"),
    }
    studies = []
    for name in names:
        generate, noise, title = makers[name]
        weights = AUTHORS[name]
        methods = authors_methods(weights) + optimum_methods(weights) + auto_methods()
        methods += grid_methods() if tune else []
        studies.append(Study(name, generate, noise, methods, title))
    return studies


def check_data(names: Iterable[str]) -> None:
    """Find or download what the studies need, before any of them runs."""
    needs = {"minerals": fetch_minerals, "faces": fetch_yale_faces}
    for name in names:
        if name in needs:
            needs[name]()


def authors_methods(weights: Weights) -> list[Method]:
    """As the paper ran them: the authors' weights, and their algorithms stopped by their rule after at most 200
    iterations (LADMPSAP for cLRSC and MLAP, LADMAP for LRR). The paper names no weight for SSC, so that is chosen from
    the data here too.
    """
    mlap, clrsc = coupled_estimators(weights)
    return [
        *lrr_methods("authors", weights.lrr, "ladmap"),
        Method("SSC", SSC(N_CLUSTERS), setting="authors"),
        Method("MLAP", mlap.set_params(solver="ladmpsap"), setting="authors"),
        Method("cLRSC", clrsc.set_params(solver="ladmpsap"), setting="authors"),
    ]


def optimum_methods(weights: Weights) -> list[Method]:
    """The authors' weights at the certified optimum, which can be far from where the paper's algorithm stops."""
    mlap, clrsc = coupled_estimators(weights)
    return [
        *lrr_methods("optimum", weights.lrr),
        Method("MLAP", mlap, setting="optimum"),
        Method("cLRSC", clrsc, setting="optimum"),
    ]


def coupled_estimators(weights: Weights) -> tuple[MLAP, CLRSC]:
    (mlap_lam, mlap_tau), (clrsc_lam, clrsc_tau) = weights.mlap, weights.clrsc
    return MLAP(N_CLUSTERS, lam=mlap_lam, tau=mlap_tau), CLRSC(
        N_CLUSTERS, lam=clrsc_lam, tau=clrsc_tau
    )


def auto_methods() -> list[Method]:
    """Weights from the data alone."""
    return [
        *lrr_methods("auto"),
        Method("SSC", SSC(N_CLUSTERS), setting="auto"),
        Method("MLAP", MLAP(N_CLUSTERS), setting="auto"),
        Method("cLRSC", CLRSC(N_CLUSTERS), setting="auto"),
    ]


def grid_methods() -> list[Method]:
    """Every method at each of its points."""
    methods = [method for lam in LRR_GRID for method in lrr_methods(GRID, lam)]
    methods += [Method("SSC", SSC(N_CLUSTERS, lam=lam), setting=GRID) for lam in SSC_GRID]
    for name, estimator, (lams, taus) in (("MLAP", MLAP, MLAP_GRID), ("cLRSC", CLRSC, CLRSC_GRID)):
        methods += [
            Method(name, estimator(N_CLUSTERS, lam=lam, tau=tau), setting=GRID)
            for lam in lams
            for tau in taus
        ]
    return methods


def lrr_methods(
    setting: str, lam: float | str = "auto", solver: SolverName = "admm"
) -> list[Method]:
    """LRR of each appearance, of both united in one graph, and of their features side by side."""
    lrr = LRR(N_CLUSTERS, lam=lam, solver=solver)
    return [
        Method("LRR view 1", lrr, 0, setting),
        Method("LRR view 2", lrr, 1, setting),
        Method("LRR late", lrr, setting=setting),
        Method(
            "LRR concat", LRR(N_CLUSTERS, lam=lam, fusion="concat", solver=solver), setting=setting
        ),
    ]
