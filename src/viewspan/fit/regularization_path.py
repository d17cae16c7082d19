"""Solve cLRSC along λ and τ and score every solution without labels."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.metrics import adjusted_rand_score
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import StrOptions, validate_params

from viewspan._utils.linalg import singular_values
from viewspan._utils.optional import require
from viewspan._utils.threads import with_one_thread
from viewspan._utils.typing import Array, Graph, Labels
from viewspan.fit.constraints import SHARED_CONSTRAINTS
from viewspan.graph.cluster_count import eigengap
from viewspan.graph.discretisation import AskedLabels, AssignLabels, default_assignment
from viewspan.graph.ncut import check_request, cut
from viewspan.graph.partition import AskedWeights, GraphSettings, partition
from viewspan.graph.patterns import effective_rank
from viewspan.graph.quality import cut_value
from viewspan.inputs.checks import check_views
from viewspan.inputs.preparation import prepare
from viewspan.objective.axes import Axes
from viewspan.objective.reduction import Reduction
from viewspan.objective.weight_checks import check_lam, check_tau
from viewspan.solvers.reduced import solve_reduced
from viewspan.solvers.result import DEFAULT_TOL, Result
from viewspan.weights.noise import NoiseRule

MULTIPLES = (4.0, 2.0, 1.0, 0.5, 0.25, 0.125)
"""Multiples of the automatic λ that are solved if none is given."""


class PathPoint(NamedTuple):
    """One solution of the path, with its scores.

    Attributes
    ----------
    lam : array (n_views,)
    tau, objective, dual_gap : float
    n_iter : int
    rank : float
        Effective rank of the coefficients, the mean over views.
    eigengap : float
        Gap of the graph's eigenvalues at the number of clusters; wide for clear clusters.
    cut_value : float
        Normalised cut of the labels, from 0 (nothing is cut) to the number of clusters.
    agreement : float
        Mean adjusted Rand index between these labels and those of the other points.
    labels : array (n_samples,)
    eigenvalues : array
    """

    lam: Array
    tau: float
    objective: float
    dual_gap: float
    n_iter: int
    rank: float
    eigengap: float
    cut_value: float
    agreement: float
    labels: Labels
    eigenvalues: Array


@dataclass(frozen=True)
class RegularizationPath:
    """Solutions at several weights, and the labels of their average graph.

    Attributes
    ----------
    points : list of PathPoint
        In the order of the weights, τ running faster than λ.
    empty : list of (lam, tau)
        Weights so large that all coefficients are zero.
    labels : array (n_samples,)
        Clusters of the average graph, in which points with a wide eigengap have a high weight.
    n_clusters : int
    eigenvalues : array
        Mean eigenvalues over all points: the evidence for the number of clusters.
    view_weights : array (n_views,)
        Weights of the views in the graphs.
    tau_is_automatic : bool
        Whether every λ has its own, automatic τ.
    """

    points: list[PathPoint]
    empty: list[tuple[Array, float]]
    labels: Labels
    n_clusters: int
    eigenvalues: Array
    view_weights: Array
    tau_is_automatic: bool

    def table(self) -> list[dict[str, Any]]:
        """Return one row per point without its arrays; λ is the mean over views.

        ``pandas.DataFrame(path.table())`` makes a table of it.
        """
        rows = []
        for point in self.points:
            row = point._asdict()
            del row["labels"], row["eigenvalues"]
            rows.append(row | {"lam": float(np.mean(point.lam))})
        return rows

    def plot(self) -> Any:
        """Draw eigengap, agreement and rank against λ, one line per τ; needs matplotlib.

        Returns
        -------
        matplotlib.figure.Figure
        """
        pyplot = require("matplotlib.pyplot", "plot", purpose="Plotting a path")
        figure, panels = pyplot.subplots(3, 1, sharex=True, figsize=(6, 6.4), layout="constrained")
        scale = "log" if all(np.mean(point.lam) > 0 for point in self.points) else "linear"
        shown = {
            "eigengap": "eigengap",
            "agreement": "agreement with\nthe other points",
            "rank": "rank",
        }
        for panel, (field, title) in zip(panels, shown.items(), strict=True):
            for position, (name, line) in enumerate(self._lines()):
                lams = [float(np.mean(point.lam)) for point in line]
                heights = [getattr(point, field) for point in line]
                panel.plot(lams, heights, "o-", ms=4, lw=1.4, color=f"C{position}", label=name)
            panel.set(xscale=scale, ylabel=title, ylim=(0, None))
            panel.grid(color="#eeeeee")
            panel.spines[["top", "right"]].set_visible(False)
        lams = sorted({float(np.mean(point.lam)) for point in self.points})
        panels[-1].set_xticks(lams, [f"{value:.2g}" for value in lams])
        panels[-1].set_xticks([], minor=True)
        panels[-1].set_xlabel("λ, mean over views")
        if not self.tau_is_automatic:
            panels[0].legend(frameon=False, fontsize=9)
        return figure

    def _lines(self) -> list[tuple[str, list[PathPoint]]]:
        """Return the points of every τ; points with an automatic τ are one line."""
        if self.tau_is_automatic:
            return [("τ follows λ", self.points)]
        taus = sorted({point.tau for point in self.points})
        return [
            (f"τ = {tau:.3g}", [point for point in self.points if point.tau == tau]) for tau in taus
        ]


@validate_params(  # type: ignore[untyped-decorator]
    {
        **SHARED_CONSTRAINTS,
        "lam": [StrOptions({"auto"}), "array-like"],
        "tau": [StrOptions({"auto"}), "array-like"],
        "affinity": [StrOptions({"patterns", "coefficients"})],
    },
    prefer_skip_nested_validation=True,
)
@with_one_thread
def path(
    views: Any,
    n_clusters: int | None = None,
    *,
    lam: Literal["auto"] | Sequence[npt.ArrayLike] = "auto",
    tau: Literal["auto"] | Sequence[float] = "auto",
    affinity: str = "patterns",
    scale_features: bool | Literal["auto"] = "auto",
    affine: bool | Literal["auto"] = "auto",
    normalize: bool = True,
    view_weights: AskedWeights = "auto",
    assign_labels: AskedLabels = "auto",
    tol: float = DEFAULT_TOL,
    max_iter: int | None = None,
    random_state: Any = None,
) -> RegularizationPath:
    """Solve cLRSC at several weights and score every solution without labels.

    The views are reduced once. Every solve starts from the closed form with a ridge in place of the
    coupling, which is a better start than the previous solution.

    Parameters
    ----------
    views : list, tuple or dict of arrays (n_samples, n_features_i), or one array
    n_clusters : int, optional
        Number of clusters; estimated from the mean of the graphs' eigenvalues if None.
    lam : "auto" or sequence of float or of arrays (n_views,)
        "auto" takes 4, 2, 1, ½, ¼ and ⅛ of the automatic λ of :class:`CLRSC`.
    tau : "auto" or sequence of float
        "auto" follows λ as in :class:`CLRSC`. Given values are combined with every λ.
    affinity : {"patterns", "coefficients"}
        Edges of the graph, as in :class:`CLRSC`.
    scale_features, affine, normalize, view_weights, assign_labels, tol, max_iter, random_state
        As in :class:`CLRSC`.

    Returns
    -------
    RegularizationPath
        With ``points``, ``labels``, ``n_clusters``, ``table()`` and ``plot()``.

    Examples
    --------
    >>> from viewspan import path
    >>> from viewspan.datasets import make_subspaces
    >>> views, truth = make_subspaces(noise=0.1, random_state=0)
    >>> found = path(views, n_clusters=5, random_state=0)
    >>> [round(point.agreement, 1) for point in found.points[2:]]
    [1.0, 1.0, 1.0, 1.0]
    """
    given = check_views(views, caller="path").read()
    how = default_assignment(assign_labels, by_patterns=affinity == "patterns")
    check_request(n_clusters, how, given.n_samples)
    _, prepared = prepare(given, scale_features, affine, normalize)
    axes = Axes.choose("frobenius", "nuclear", "nuclear")
    reduction = axes.reduce(prepared.arrays, "admm")
    results, empty = [], []
    for weights in grid(lam, tau, reduction, axes):
        result = solve_reduced(reduction, *weights, axes, tol=tol, max_iter=max_iter)
        results.append(result) if result.cores.any() else empty.append(weights)
    if not results:
        raise ValueError(
            "All coefficients are zero at every lam and tau of the path; take smaller ones."
        )
    generator = check_random_state(random_state)
    settings = GraphSettings(affinity == "patterns", view_weights, assign_labels)
    found = partition(results, n_clusters, settings, generator)
    count = int(found.labels.max()) + 1 if n_clusters is None else n_clusters
    points = score(results, found.graphs, count, how, generator)
    return RegularizationPath(
        points,
        empty,
        found.labels,
        count,
        found.eigenvalues,
        found.view_weights,
        tau_is_automatic=isinstance(tau, str),
    )


def grid(
    lam: Literal["auto"] | Sequence[npt.ArrayLike],
    tau: Literal["auto"] | Sequence[float],
    reduction: Reduction,
    axes: Axes,
) -> Iterator[tuple[Array, float]]:
    """Yield every λ with every τ, or with its automatic τ."""
    rule = NoiseRule()
    if isinstance(lam, str):
        lams = [rule.lam(reduction, axes.datafit, multiple) for multiple in MULTIPLES]
    else:
        lams = [check_lam(value, reduction, axes) for value in as_sequence("lam", lam)]
    for weights in lams:
        for value in taus_for(weights, tau, reduction, axes, rule):
            yield weights, check_tau(value)


def taus_for(
    lam: Array,
    tau: Literal["auto"] | Sequence[float],
    reduction: Reduction,
    axes: Axes,
    rule: NoiseRule,
) -> Sequence[Any]:
    """Return the values of τ that are combined with one λ."""
    if not isinstance(tau, str):
        return as_sequence("tau", tau)
    strength = rule.strength(reduction, axes.datafit, lam)
    return [axes.coupling.automatic_tau(reduction, lam, strength)]


def as_sequence(name: str, values: Any) -> Sequence[Any]:
    """Return given values as a list; raise ValueError if there are none."""
    if not isinstance(values, Sequence | np.ndarray) or len(values) == 0:
        raise ValueError(
            f'{name} must be "auto" or a sequence of values to try. Got {values!r} instead.'
        )
    return list(values)


def score(
    results: Sequence[Result],
    graphs: Sequence[Graph],
    n_clusters: int,
    assign_labels: AssignLabels,
    generator: np.random.RandomState,
) -> list[PathPoint]:
    """Cut the graph of every solution and compare the labels."""
    cuts = [
        cut(graph, n_clusters, assign_labels=assign_labels, random_state=generator)
        for graph in graphs
    ]
    points = []
    for position, (result, graph, (labels, eigenvalues)) in enumerate(
        zip(results, graphs, cuts, strict=True)
    ):
        others = [other for place, (other, _) in enumerate(cuts) if place != position]
        agreement = [adjusted_rand_score(labels, other) for other in others]
        points.append(
            PathPoint(
                lam=result.lam,
                tau=result.tau,
                objective=result.objective,
                dual_gap=result.gap,
                n_iter=result.n_iter,
                rank=float(
                    np.mean([effective_rank(singular_values(core)) for core in result.cores])
                ),
                eigengap=eigengap(eigenvalues, n_clusters),
                cut_value=cut_value(graph, labels),
                agreement=float(np.mean(agreement)) if agreement else 1.0,
                labels=labels,
                eigenvalues=eigenvalues,
            )
        )
    return points
