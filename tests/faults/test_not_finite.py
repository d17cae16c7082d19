"""Numbers that stop being finite on the way: the last good point with a warning, or an error; never NaN labels."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import viewspan
from tests.faults.models import MODELS
from tests.problems import two_subspaces
from viewspan._utils.linalg import NumericalError
from viewspan.graph import partition
from viewspan.objective.axes import Axes
from viewspan.objective.couplings import L12Coupling, NuclearCoupling
from viewspan.objective.datafits import L1, L12, Frobenius
from viewspan.objective.penalties import Nuclear, ZeroDiagonalL1
from viewspan.solvers import ladmap, ladmpsap

VIEWS, _ = two_subspaces()
ITERATED = {
    name: model
    for name, model in MODELS.items()
    if name not in {"LRR", "LRR of one table", "LRR by landmarks"}
}
PROXES = [
    (Nuclear, "prox_and_value"),
    (ZeroDiagonalL1, "prox_and_value"),
    (NuclearCoupling, "prox"),
    (L12Coupling, "prox"),
    (Frobenius, "prox"),
    (L12, "prox"),
    (L1, "prox"),
    (ladmpsap, "prox_as_published"),
    (ladmap, "prox_as_published"),
]


def spoil(monkeypatch, call, value):
    """The answer of every prox at one call; a list of those that were spoilt."""
    spoilt = []

    def spoiled(original, key, counts):
        def prox(*args):
            counts.append(key)
            found = original(*args)
            if len(counts) != call:
                return found
            spoilt.append(key)
            array = (found[0] if isinstance(found, tuple) else found).copy()
            array.flat[0] = value
            return (array, *found[1:]) if isinstance(found, tuple) else array

        return prox

    for owner, name in PROXES:
        monkeypatch.setattr(owner, name, spoiled(getattr(owner, name), (owner, name), []))
    return spoilt


@pytest.mark.parametrize("model", ITERATED.values(), ids=ITERATED.keys())
@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("call", [1, 30])
@pytest.mark.filterwarnings(
    "ignore:invalid value", "ignore:overflow", "ignore:The solver reached max_iter"
)
def test_one_bad_step_never_becomes_a_label(model, value, call, monkeypatch):
    spoilt = spoil(monkeypatch, call, value)
    fitted = clone(model)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            fitted.fit(VIEWS)
        except NumericalError as error:
            assert "not finite" in str(error)  # noqa: PT017 (one of two good answers)
            assert not hasattr(fitted, "labels_")
            return
    told = any(
        issubclass(one.category, ConvergenceWarning) and "non-finite" in str(one.message)
        for one in caught
    )
    stopped = [result for result in fitted.path_ if result.status == "non_finite"]
    assert told == bool(stopped)
    assert stopped or not spoilt or fitted.result_.status == "stationary"  # from another start
    assert set(fitted.labels_) <= {0, 1}
    for result in fitted.path_:
        assert np.isfinite(result.cores).all()
        assert np.isfinite(result.objective)
        assert result.dual_bound <= result.objective * (1 + 1e-9)
    assert np.isfinite(fitted.confidence_).all()


def test_the_last_good_point_is_not_called_optimal(monkeypatch):
    """Spoilt at the sixtieth step of a solve that needs more: what is returned has a gap, and it is told."""
    expected = viewspan.solve(VIEWS, 0.1, 0.5, tol=1e-9)
    spoil(monkeypatch, 60, np.nan)
    with pytest.warns(
        ConvergenceWarning, match=r"went back to the last good one .* proven to be within"
    ):
        found = viewspan.solve(VIEWS, 0.1, 0.5, tol=1e-9)
    assert found.status == "non_finite"
    assert 1e-9 < found.gap < 1e-2
    assert found.dual_bound <= expected.objective <= found.objective * (1 + 1e-12)


@pytest.mark.parametrize("solver", ["ladmap", "ladmpsap"])
def test_the_authors_algorithms_go_back_too(solver, monkeypatch):
    spoil(monkeypatch, 11, np.nan)
    with pytest.warns(ConvergenceWarning, match="went back to the last good one"):
        found = viewspan.solve(VIEWS, 0.1, solver=solver, coupling="none")
    assert found.status == "non_finite"
    assert np.isfinite(np.stack(found.coefficients)).all()
    assert 0.0 < found.gap < 1.0


@pytest.mark.parametrize("name", MODELS)
def test_a_graph_that_is_not_finite_is_not_cut(name, monkeypatch):
    """An isolated sample has no degree, and NaN is not to be taken for one."""
    original = partition.graph_of

    def spoiled(*args):
        graph = original(*args).copy()
        entries = graph if isinstance(graph, np.ndarray) else graph.data
        entries.flat[0] = np.nan
        return graph

    monkeypatch.setattr(partition, "graph_of", spoiled)
    model = clone(MODELS[name])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(
            NumericalError, match=r"failed while comparing .* samples are not finite"
        ):
            model.fit(VIEWS)
    assert not hasattr(model, "labels_")


def test_a_reduction_that_is_not_finite_is_told(monkeypatch):
    """Views are checked at the door; what happens behind it is told as the step in which it came up."""
    original = Axes.reduce

    def spoiled(self, arrays, *args):
        arrays[0][3, 2] = np.nan
        return original(self, arrays, *args)

    monkeypatch.setattr(Axes, "reduce", spoiled)
    with pytest.raises(NumericalError, match=r"CLRSC failed while reading .* in a matrix of"):
        viewspan.CLRSC(2, random_state=0).fit(VIEWS)
