"""The classes of docs/extending.md are solved to the optimum that a generic solver finds."""

import cvxpy as cp
import numpy as np
import pytest

import viewspan
from tests.pages import blocks
from tests.problems import nuclear_norm_of_rows
from viewspan.objective import Coupling, Nuclear, Penalty, Uncoupled

PAGE: dict = {"__name__": "page"}
for block in blocks("docs/extending.md", "python"):
    if "class " in block:
        exec(compile(block, "docs/extending.md", "exec"), PAGE)
Huber, SharedColumns, FrobeniusNorm = (
    PAGE[name] for name in ("Huber", "SharedColumns", "FrobeniusNorm")
)
LAM, TAU = 0.4, 0.3


@pytest.fixture(scope="module")
def views():
    """Two views of nine samples on two planes, with one gross error."""
    rng = np.random.default_rng(3)
    made = []
    for width in (6, 5):
        planes = [rng.normal(size=(2, width)), rng.normal(size=(2, width))]
        parts = [rng.normal(size=(5, 2)) @ planes[0], rng.normal(size=(4, 2)) @ planes[1]]
        made.append(np.vstack(parts) + 0.1 * rng.normal(size=(9, width)))
    made[0][2, 1] += 4.0
    return made


def optimum(views, fit, coupling, norm_of_view=cp.normNuc):
    """Return the optimal value of the full problem by a generic convex solver."""
    n_samples = len(views[0])
    unknowns = [cp.Variable((n_samples, n_samples)) for _ in views]
    loss = sum(fit(view.T - view.T @ z) for view, z in zip(views, unknowns, strict=True))
    penalty = sum(norm_of_view(z) for z in unknowns)
    norm, constraints = coupling(unknowns)
    problem = cp.Problem(cp.Minimize(loss + LAM * penalty + TAU * norm), constraints)
    problem.solve(solver=cp.CLARABEL)
    return problem.value


def stacked(unknowns):
    rows = [cp.reshape(z, (1, z.size), order="F") for z in unknowns]
    return nuclear_norm_of_rows(cp.vstack(rows))


def test_the_huber_fit_reaches_the_optimum(views):
    delta = 0.3
    expected = optimum(views, lambda e: cp.sum(cp.huber(e, delta)) / 2, stacked)
    found = viewspan.solve(views, LAM, TAU, datafit=Huber(delta), tol=1e-6)
    assert found.status == "optimal"
    assert found.objective == pytest.approx(expected, rel=1e-4)
    assert found.dual_bound <= expected * (1 + 1e-5)


def test_the_shared_columns_reach_the_optimum(views):
    expected = optimum(views, cp.sum_squares, lambda z: (cp.normNuc(cp.hstack(z)), []))
    found = viewspan.solve(views, LAM, TAU, coupling=SharedColumns(), tol=1e-7)
    assert found.status == "optimal"
    assert found.objective == pytest.approx(expected, rel=1e-4)
    assert found.dual_bound <= expected * (1 + 1e-5)


@pytest.mark.parametrize("lam", [0.4, 3.0])
def test_the_frobenius_norm_reaches_the_optimum(views, lam):
    problem_of = {"fit": cp.sum_squares, "coupling": stacked}
    expected = optimum(views, **problem_of, norm_of_view=lambda z: lam / LAM * cp.norm(z, "fro"))
    found = viewspan.solve(views, lam, TAU, penalty=FrobeniusNorm(), tol=1e-6)
    assert found.status == "optimal" and found.cores.any()
    assert found.objective == pytest.approx(expected, rel=1e-4)
    assert found.dual_bound <= expected * (1 + 1e-5)


@pytest.mark.parametrize("coupling", ["none", "nuclear"])
def test_a_subclass_of_a_built_in_penalty_is_solved_by_its_own_methods(views, coupling):
    """Half of the nuclear norm at λ is the nuclear norm at λ/2."""

    class Half(Nuclear):
        def value(self, matrix, lam):
            return super().value(matrix, 0.5 * lam)

        def prox_and_value(self, matrix, lam):
            return super().prox_and_value(matrix, 0.5 * lam)

        def polar(self, matrix, lam):
            return super().polar(matrix, 0.5 * lam)

        def excess(self, matrix, lam):
            return super().excess(matrix, 0.5 * lam)

    options = {"coupling": coupling, "tol": 1e-6}
    found = viewspan.solve(views, LAM, TAU, penalty=Half(), **options)
    expected = viewspan.solve(views, 0.5 * LAM, TAU, penalty="nuclear", **options)
    assert found.status == "optimal"
    assert found.objective == pytest.approx(expected.objective, rel=2e-6)


def test_a_subclass_of_the_uncoupled_axis_counts_as_a_coupling(views):
    class Squared(Uncoupled):
        def value(self, stack):
            return float(np.linalg.norm(stack))

        def prox(self, stack, step):
            return stack * max(1.0 - step / (np.linalg.norm(stack) or 1.0), 0.0)

        def polar(self, stack):
            return float(np.linalg.norm(stack))

    found = viewspan.solve(views, LAM, TAU, coupling=Squared(), tol=1e-6)
    expected = optimum(
        views, cp.sum_squares, lambda z: (cp.norm(cp.hstack([cp.vec(y, order="F") for y in z])), [])
    )
    assert found.objective == pytest.approx(expected, rel=1e-4)


def test_a_coupling_without_the_promise_is_solved_without_reduction():
    class Cautious(SharedColumns):
        orthogonally_invariant = False

    rng = np.random.default_rng(0)
    views = [rng.normal(size=(20, 3)) @ rng.normal(size=(3, 6)) for _ in range(2)]
    reduced = viewspan.solve(views, 0.5, 0.5, coupling=SharedColumns(), tol=1e-6)
    full = viewspan.solve(views, 0.5, 0.5, coupling=Cautious(), tol=1e-6)
    assert reduced.cores.shape[1] == 6 and full.cores.shape[1] == 20
    assert full.objective == pytest.approx(reduced.objective, rel=1e-5)
    with pytest.raises(ValueError, match=r"graph='landmarks' .*Cautious\(\)"):
        viewspan.CLRSC(2, coupling=Cautious(), graph="landmarks").fit(views)
    assert not hasattr(viewspan.CLRSC(2, coupling=Cautious()), "partial_fit")


def test_landmarks_and_batches_take_a_coupling_with_the_promise():
    rng = np.random.default_rng(0)
    planes = rng.normal(size=(2, 2, 3, 8))
    views = [
        np.vstack([rng.normal(size=(40, 3)) @ plane for plane in planes[view]]) for view in range(2)
    ]
    model = viewspan.CLRSC(2, coupling=SharedColumns(), random_state=0, n_landmarks=30)
    dense = model.fit(views).objective_
    landmarks = model.set_params(graph="landmarks").fit(views)
    assert landmarks.objective_ == pytest.approx(dense, rel=1e-3)
    batches = viewspan.CLRSC(2, coupling=SharedColumns(), random_state=0)
    for part in range(2):
        batches.partial_fit([view[part::2] for view in views])
    assert batches.partial_fit().objective_ == pytest.approx(dense, rel=1e-3)


def test_weights_that_have_no_rule_must_be_given(views):
    class Ruleless(SharedColumns):
        def automatic_tau(self, reduction, lam, strength):
            return None

    with pytest.raises(ValueError, match=r"tau='auto' has no rule for coupling=.*Ruleless"):
        viewspan.CLRSC(2, coupling=Ruleless()).fit(views)
    assert viewspan.CLRSC(2, coupling=Ruleless(), tau=0.1).fit(views).tau_ == 0.1


def test_only_objects_of_the_right_axis_are_taken(views):
    with pytest.raises(
        ValueError, match=r"datafit must be one of 'frobenius'.* instance of Datafit"
    ):
        viewspan.solve(views, 0.5, datafit=SharedColumns())
    with pytest.raises(ValueError, match="'coupling' parameter of CLRSC"):
        viewspan.CLRSC(2, coupling=Huber()).fit(views)
    with pytest.raises(ValueError, match=r"solver='ladmpsap' has no step for datafit=Huber"):
        viewspan.CLRSC(2, datafit=Huber(), solver="ladmpsap").fit(views)


@pytest.mark.parametrize("kind", [Coupling, Penalty])
def test_a_class_without_its_methods_cannot_be_made(kind):
    with pytest.raises(TypeError, match="abstract"):
        kind()
