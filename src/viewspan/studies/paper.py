"""The three studies of the paper."""

from collections.abc import Iterable
from functools import partial
from typing import Any, NamedTuple

from viewspan.datasets import (
    fetch_minerals,
    fetch_yale_faces,
    make_face_appearances,
    make_mineral_mixtures,
    make_subspaces,
)
from viewspan.estimators import CLRSC, LRR, MLAP, SSC
from viewspan.objective.axes import SolverName
from viewspan.studies.study import GRID, Method, Study

STUDY_NAMES = ("synthetic", "minerals", "faces")
N_CLUSTERS = 5


class PaperWeights(NamedTuple):
    """The authors' weights for one study, in the scaling of this package's objectives.

    LRR has the weight λ; cLRSC and MLAP have the weights λ and τ.
    """

    clrsc: tuple[float, float]
    lrr: float
    mlap: tuple[float, float]


AUTHORS_WEIGHTS = {
    "synthetic": PaperWeights(clrsc=(0.2, 8.0), lrr=0.2, mlap=(0.1, 0.2)),
    "minerals": PaperWeights(clrsc=(0.2, 8.0), lrr=0.2, mlap=(0.1, 0.1)),
    "faces": PaperWeights(clrsc=(2.0, 0.2), lrr=2.0, mlap=(1.0, 0.01)),
}

# Every grid has 24 points, and the authors' weights are among them.
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
    names: Iterable[str] = STUDY_NAMES, *, tune: bool = False, mineral_copies: int = 10
) -> list[Study]:
    """Return the studies of these names.

    Every method runs with the authors' weights and algorithm (setting "authors"), with the authors'
    weights at the certified optimum ("optimum"), and with automatic weights ("auto").

    Parameters
    ----------
    names : iterable of {"synthetic", "minerals", "faces"}
        Names of the studies.
    tune : bool
        Whether to add a grid of 24 points for every method, from which the best point is chosen
        with the true labels.
    mineral_copies : int
        Number of samples per mineral mixture: 10 in the paper, 20 in the authors' program.
    """
    sources: dict[str, Any] = {
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
        generate, noise, title = sources[name]
        weights = AUTHORS_WEIGHTS[name]
        methods = authors_methods(weights) + optimum_methods(weights) + auto_methods()
        methods += grid_methods() if tune else []
        studies.append(Study(name, generate, noise, methods, title))
    return studies


def check_data(names: Iterable[str]) -> None:
    """Find or download the data files of the studies, before any study runs."""
    fetchers = {"minerals": fetch_minerals, "faces": fetch_yale_faces}
    for name in names:
        if name in fetchers:
            fetchers[name]()


def authors_methods(weights: PaperWeights) -> list[Method]:
    """Return the methods with the authors' weights and algorithms, as in the paper.

    The algorithms are LADMPSAP for cLRSC and MLAP and LADMAP for LRR, stopped by the authors' rule
    after at most 200 iterations. The paper states no weight for SSC, so SSC uses the automatic one.
    """
    mlap, clrsc = coupled_estimators(weights)
    return [
        *lrr_methods("authors", weights.lrr, "ladmap"),
        Method("SSC", SSC(N_CLUSTERS), setting="authors"),
        Method("MLAP", mlap.set_params(solver="ladmpsap"), setting="authors"),
        Method("cLRSC", clrsc.set_params(solver="ladmpsap"), setting="authors"),
    ]


def optimum_methods(weights: PaperWeights) -> list[Method]:
    """Return the methods with the authors' weights, solved to the certified optimum.

    The authors' algorithms can stop far from it.
    """
    mlap, clrsc = coupled_estimators(weights)
    return [
        *lrr_methods("optimum", weights.lrr),
        Method("MLAP", mlap, setting="optimum"),
        Method("cLRSC", clrsc, setting="optimum"),
    ]


def coupled_estimators(weights: PaperWeights) -> tuple[MLAP, CLRSC]:
    """Return MLAP and cLRSC with these weights."""
    (mlap_lam, mlap_tau), (clrsc_lam, clrsc_tau) = weights.mlap, weights.clrsc
    mlap = MLAP(N_CLUSTERS, lam=mlap_lam, tau=mlap_tau)
    return mlap, CLRSC(N_CLUSTERS, lam=clrsc_lam, tau=clrsc_tau)


def auto_methods() -> list[Method]:
    """Return the methods with automatic weights."""
    return [
        *lrr_methods("auto"),
        Method("SSC", SSC(N_CLUSTERS), setting="auto"),
        Method("MLAP", MLAP(N_CLUSTERS), setting="auto"),
        Method("cLRSC", CLRSC(N_CLUSTERS), setting="auto"),
    ]


def grid_methods() -> list[Method]:
    """Return every method at all points of its grid."""
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
    """Return LRR of each view, of both views with late fusion, and of concatenated features."""
    late = LRR(N_CLUSTERS, lam=lam, solver=solver)
    concat = LRR(N_CLUSTERS, lam=lam, fusion="concat", solver=solver)
    return [
        Method("LRR view 1", late, 0, setting),
        Method("LRR view 2", late, 1, setting),
        Method("LRR late", late, setting=setting),
        Method("LRR concat", concat, setting=setting),
    ]
