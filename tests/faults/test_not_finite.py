"""Non-finite numbers during a fit give the last finite point with a warning, or an error."""

import warnings
from functools import partial

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
from viewspan.objective.penalties import ZeroDiagonalL1
from viewspan.objective.thresholding import WarmThresholding
from viewspan.solvers import ladmap, ladmpsap, lasso

VIEWS, _ = two_subspaces()
ITERATED = {
    name: model
    for name, model in MODELS.items()
    if name not in {"LRR", "LRR of one table", "LRR by landmarks"}
}
PROXES = [
    (WarmThresholding, "__call__"),
    (ZeroDiagonalL1, "prox_and_value"),
    (NuclearCoupling, "prox"),
    (L12Coupling, "prox"),
    (Frobenius, "prox"),
    (L12, "prox"),
    (L1, "prox"),
    (ladmpsap, "prox_as_published"),
    (ladmap, "prox_as_published"),
    (lasso, "solve_systems"),
]
"""Every step of a solver whose result may become non-finite."""


def insert_bad_value(monkeypatch, call, value):
    """Put a value into the result of one call of every step; return the list of steps changed."""
    changed = []

    def with_bad_value(original, key, calls):
        def prox(*args):
            calls.append(key)
            result = original(*args)
            if len(calls) != call:
                return result
            changed.append(key)
            array = (result[0] if isinstance(result, tuple) else result).copy()
            array.flat[0] = value
            return (array, *result[1:]) if isinstance(result, tuple) else array

        return prox

    for owner, name in PROXES:
        monkeypatch.setattr(owner, name, with_bad_value(getattr(owner, name), (owner, name), []))
    return changed


@pytest.mark.parametrize("model", ITERATED.values(), ids=ITERATED.keys())
@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("call", [1, 30])
@pytest.mark.filterwarnings(
    "ignore:invalid value", "ignore:overflow", "ignore:The solver reached max_iter"
)
def test_one_bad_step_never_becomes_a_label(model, value, call, monkeypatch):
    changed = insert_bad_value(monkeypatch, call, value)
    fitted = clone(model)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            fitted.fit(VIEWS)
        except NumericalError as error:
            assert "not finite" in str(error)  # noqa: PT017 (one of two good answers)
            assert not hasattr(fitted, "labels_")
            return
    warned = any(
        issubclass(warning.category, ConvergenceWarning) and "not finite" in str(warning.message)
        for warning in caught
    )
    stopped = [result for result in fitted.path_ if result.status == "non_finite"]
    assert warned == bool(stopped)
    assert stopped or not changed or fitted.result_.status == "stationary"  # from another start
    assert set(fitted.labels_) <= {0, 1}
    for result in fitted.path_:
        assert np.isfinite(result.cores).all()
        assert np.isfinite(result.objective)
        assert result.dual_bound <= result.objective * (1 + 1e-9)
    assert np.isfinite(fitted.confidence_).all()


def test_the_last_good_point_is_not_called_optimal(monkeypatch):
    """The solver needs more than 45 proxes, so the point before the bad value has a gap."""
    expected = viewspan.solve(VIEWS, 0.1, 0.5, tol=1e-9)
    changed = insert_bad_value(monkeypatch, 45, np.nan)
    with pytest.warns(
        ConvergenceWarning, match=r"went back to the last good one .* proven to be within"
    ):
        found = viewspan.solve(VIEWS, 0.1, 0.5, tol=1e-9)
    assert changed == [(WarmThresholding, "__call__")]
    assert found.status == "non_finite"
    assert 1e-9 < found.gap < 1e-2
    assert found.dual_bound <= expected.objective <= found.objective * (1 + 1e-12)


@pytest.mark.parametrize("solver", ["ladmap", "ladmpsap"])
def test_the_published_algorithms_return_the_last_finite_point(solver, monkeypatch):
    insert_bad_value(monkeypatch, 11, np.nan)
    with pytest.warns(ConvergenceWarning, match="went back to the last good one"):
        found = viewspan.solve(VIEWS, 0.1, solver=solver, coupling="none")
    assert found.status == "non_finite"
    assert np.isfinite(np.stack(found.coefficients)).all()
    assert 0.0 < found.gap < 1.0


@pytest.mark.parametrize("name", MODELS)
def test_a_graph_that_is_not_finite_is_not_cut(name, monkeypatch):
    """The degree of an isolated sample is zero; a degree of NaN must not count as zero."""

    def with_bad_value(original, *args):
        graph = original(*args).copy()
        entries = graph if isinstance(graph, np.ndarray) else graph.data
        entries.flat[0] = np.nan
        return graph

    for name_of_step in ("affinity_of", "graph_of_patterns"):
        step = getattr(partition, name_of_step)
        monkeypatch.setattr(partition, name_of_step, partial(with_bad_value, step))
    model = clone(MODELS[name])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(
            NumericalError, match=r"failed while comparing .* samples are not finite"
        ):
            model.fit(VIEWS)
    assert not hasattr(model, "labels_")


def test_a_reduction_that_is_not_finite_raises(monkeypatch):
    """The error names the step, because the views themselves were finite."""
    original = Axes.reduce

    def with_bad_value(self, arrays, *args):
        arrays[0][3, 2] = np.nan
        return original(self, arrays, *args)

    monkeypatch.setattr(Axes, "reduce", with_bad_value)
    with pytest.raises(NumericalError, match=r"CLRSC failed while reading .* in a matrix of"):
        viewspan.CLRSC(2, random_state=0).fit(VIEWS)
