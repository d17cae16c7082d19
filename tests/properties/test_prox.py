"""Every proximal operator minimises its objective and is firmly non-expansive.

Let N be a norm with the dual norm N°. Then p is the prox of t·N at x if and only if w = x − p
satisfies N°(w) ≤ t and ⟨w, p⟩ = t·N(p).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.properties.strategies import EPS, KINDS, SEEDS, examples, matrix
from viewspan.objective.couplings import L12Coupling, NuclearCoupling, RankOne, Uncoupled
from viewspan.objective.datafits import L1, L12, Ball, Frobenius
from viewspan.objective.penalties import Nuclear, ZeroDiagonalL1
from viewspan.objective.thresholding import GRAM_THRESHOLD


def singular(matrix):
    return np.linalg.svd(matrix, compute_uv=False)


def columns(matrix):
    return np.sqrt((matrix**2).sum(axis=0))


def rows(stack):
    return stack.reshape(len(stack), -1)


def off_diagonal(matrix):
    return matrix - np.diag(np.diagonal(matrix))


@dataclass(frozen=True)
class Norm:
    """A proximal operator, and its norm and dual norm, computed from their definitions."""

    prox: Any
    value: Any
    norm: Any
    dual: Any
    squares: float = np.inf
    """Smallest step, relative to the norm of the point, at which the prox uses a Gram matrix.

    A Gram matrix loses digits of small singular values.
    """
    on: str = "matrix"


NUCLEAR = {
    "norm": lambda x: singular(x).sum(),
    "dual": lambda x: singular(x).max(initial=0.0),
    "squares": GRAM_THRESHOLD,
}
COLUMNS = {"norm": lambda x: columns(x).sum(), "dual": lambda x: columns(x).max(initial=0.0)}
NORMS = {
    "L12": Norm(L12().prox, L12().value, **COLUMNS),
    "L1": Norm(
        L1().prox, L1().value, lambda x: np.abs(x).sum(), lambda x: np.abs(x).max(initial=0.0)
    ),
    "Nuclear": Norm(
        lambda x, t: Nuclear().prox_and_value(x, np.float64(t))[0],
        lambda x: Nuclear().value(x, np.float64(1)),
        **NUCLEAR,
    ),
    "ZeroDiagonalL1": Norm(
        lambda x, t: ZeroDiagonalL1().prox_and_value(x, np.float64(t))[0],
        lambda x: ZeroDiagonalL1().value(x, np.float64(1)),
        lambda x: np.abs(x).sum(),
        lambda x: np.abs(off_diagonal(x)).max(initial=0.0),
        on="square",
    ),
    "NuclearCoupling": Norm(
        NuclearCoupling().prox,
        NuclearCoupling().value,
        lambda x: NUCLEAR["norm"](rows(x)),
        lambda x: NUCLEAR["dual"](rows(x)),
        squares=0.0,
        on="stack",
    ),
    "L12Coupling": Norm(
        L12Coupling().prox,
        L12Coupling().value,
        lambda x: COLUMNS["norm"](rows(x)),
        lambda x: COLUMNS["dual"](rows(x)),
        on="stack",
    ),
}
PROXES = {name: (norm.prox, norm.on) for name, norm in NORMS.items()} | {
    "Frobenius": (Frobenius(2.0).prox, "matrix"),
    "half Frobenius": (Frobenius(1.0).prox, "matrix"),
    "Ball": (lambda x, t: Ball(np.linspace(0.0, t, x.shape[1])).prox(x, 1.0), "matrix"),
    "Uncoupled": (Uncoupled().prox, "stack"),
}
SHAPES = st.tuples(st.integers(1, 8), st.integers(1, 8))
SCALES = st.sampled_from([1e-8, 1e-4, 1.0, 1e4, 1e8])
STEPS = st.floats(-9.0, 1.0).map(lambda exponent: 10.0**exponent)
"""Steps relative to the norm of the point."""


@st.composite
def points(draw, on="matrix", count=1):
    """Draw points of one shape. A second point may be near the first, or a multiple of it."""
    rng, (n_rows, n_columns) = np.random.default_rng(draw(SEEDS)), draw(SHAPES)
    depth = draw(st.integers(1, 3))
    scale = draw(SCALES)

    def point():
        kind = draw(st.sampled_from(KINDS))
        if on == "stack":
            return scale * matrix(kind, rng, depth, n_rows * n_columns).reshape(
                depth, n_rows, n_columns
            )
        return scale * matrix(kind, rng, n_rows, n_rows if on == "square" else n_columns)

    drawn = [point() for _ in range(count)]
    if count > 1:
        how = draw(st.sampled_from(["apart", "near", "multiple"]))
        if how == "near":
            drawn[1] = drawn[0] + 10.0 ** draw(st.floats(-9.0, -1.0)) * drawn[1]
        elif how == "multiple":
            drawn[1] = draw(st.floats(-2.0, 2.0)) * drawn[0]
    return drawn


def error(point, step, squares=np.inf):
    """Return a bound of the rounding error of a prox.

    It is n·ε of the point's norm. Where the prox uses a Gram matrix, it is larger by the ratio of
    the norm to the step.
    """
    size = np.linalg.norm(point)
    squared = size > 0 and step >= squares * size
    loss = min(max(1.0, size / step), 1.0 / np.sqrt(EPS)) if squared and step > 0 else 1.0
    return 8 * point.size * EPS * size * loss


@pytest.mark.parametrize("name", NORMS)
@examples(40)
@given(data=st.data(), relative=STEPS)
def test_a_prox_is_where_the_rest_is_a_subgradient(name, data, relative):
    norm = NORMS[name]
    (point,) = data.draw(points(norm.on))
    step = relative * (np.linalg.norm(point) or 1.0)
    found = norm.prox(point, step)
    rest, allowed = point - found, error(point, step, norm.squares)
    assert norm.value(found) == pytest.approx(norm.norm(found), rel=1e-12, abs=1e-300)
    assert norm.dual(rest) <= step + allowed
    assert abs(np.vdot(rest, found) - step * norm.norm(found)) <= allowed * np.linalg.norm(point)
    if norm.on == "square":
        assert not np.diagonal(found).any()


@examples(40)
@given(point=points(), relative=STEPS)
def test_the_penalty_that_comes_with_the_prox_is_that_of_the_prox(point, relative):
    """Handed to the objective, which must not be too small."""
    step = np.float64(relative * (np.linalg.norm(point[0]) or 1.0))
    found, value = Nuclear().prox_and_value(point[0], step)
    true = step * singular(found).sum()
    assert (
        true * (1 - 1e-13) <= value <= true + error(point[0], step, squares=GRAM_THRESHOLD) * step
    )


@examples(40)
@given(point=points("square"), data=st.data(), seed=SEEDS)
def test_every_sample_may_have_its_own_l1_weight(point, data, seed):
    (square,) = point
    size = np.linalg.norm(square) or 1.0
    weights = size * 10.0 ** np.random.default_rng(seed).uniform(-9, 1, len(square))
    found, value = ZeroDiagonalL1().prox_and_value(square, weights)
    rest = off_diagonal(square - found)
    assert (np.abs(rest) <= weights + 8 * EPS * size).all()
    np.testing.assert_allclose(rest * found, weights * np.abs(found), atol=8 * EPS * size**2)
    assert value == pytest.approx((weights * np.abs(found)).sum(), rel=1e-12)
    assert not np.diagonal(found).any()


@pytest.mark.parametrize("curvature", [1.0, 2.0])
@examples(20)
@given(point=points(), step=STEPS)
def test_the_quadratic_prox_has_no_slope(curvature, point, step):
    (residual,) = point
    found = Frobenius(curvature).prox(residual, step)
    np.testing.assert_allclose(
        residual - found, step * curvature * found, atol=8 * EPS * np.abs(residual).max(initial=0.0)
    )


@examples(40)
@given(point=points(), seed=SEEDS, relative=STEPS)
def test_the_ball_holds_the_nearest_point(point, seed, relative):
    (residual,) = point
    size = np.linalg.norm(residual) or 1.0
    radius = relative * size * np.random.default_rng(seed).uniform(0, 1, residual.shape[1])
    found = Ball(radius).prox(residual, 1.0)
    rest, allowed = residual - found, error(residual, 1.0)
    assert (columns(found) <= radius + allowed).all()
    np.testing.assert_allclose(
        (rest * found).sum(axis=0), radius * columns(rest), atol=allowed * size
    )
    np.testing.assert_allclose(Ball(radius).conjugate(rest), radius * columns(rest), rtol=1e-12)


@examples(40)
@given(stack=points("stack"), step=STEPS)
def test_the_nearest_stack_of_rank_one_is_as_near_as_the_svd_says(stack, step):
    (stack,) = stack
    found = RankOne().prox(stack, step)
    values, kept = singular(rows(stack)), singular(rows(found))
    allowed = error(stack, 1.0)
    assert kept[1:].max(initial=0.0) <= allowed
    assert RankOne().value(found) == 0.0
    missed = np.sqrt((values[1:] ** 2).sum())
    assert (
        missed - allowed
        <= np.linalg.norm(stack - found)
        <= missed + np.sqrt(EPS) * np.linalg.norm(stack)
    )


@examples(10)
@given(stack=points("stack"), step=STEPS)
def test_no_coupling_moves_nothing(stack, step):
    np.testing.assert_array_equal(Uncoupled().prox(stack[0], step), stack[0])


@pytest.mark.parametrize("name", PROXES)
@examples(40)
@given(data=st.data(), relative=STEPS)
def test_a_prox_is_firmly_non_expansive(name, data, relative):
    prox, on = PROXES[name]
    first, second = data.draw(points(on, count=2))
    size = np.linalg.norm(first) + np.linalg.norm(second)
    step = relative * (size or 1.0)
    moved, apart = prox(first, step) - prox(second, step), first - second
    squares = NORMS[name].squares if name in NORMS else np.inf
    allowed = 2 * (error(first, step, squares) + error(second, step, squares))
    assert (
        np.vdot(moved, moved)
        <= np.vdot(moved, apart) + allowed * np.linalg.norm(apart) + allowed**2
    )


VANISHING = 1e-150
"""Absolute tolerance: squares of smaller numbers underflow."""


@pytest.mark.parametrize("name", ["Nuclear", "NuclearCoupling", "L12Coupling"])
@examples(20)
@given(data=st.data(), power=st.integers(-900, 900))
def test_what_decides_feasibility_has_no_unit(name, data, power):
    """Neither underflow nor overflow of squares may make a dual point feasible."""
    (point,) = data.draw(points(NORMS[name].on))
    dual = {
        "Nuclear": lambda x: Nuclear().excess(x, np.float64(1.0)).worst,
        "NuclearCoupling": NuclearCoupling().polar,
        "L12Coupling": L12Coupling().polar,
    }[name]
    assert dual(2.0**power * point) == 2.0**power * dual(point)


@pytest.mark.parametrize("name", NORMS)
@examples(30)
@given(data=st.data())
def test_value_and_polar_obey_hoelder(name, data):
    """⟨x, y⟩ ≤ N(x)·N°(y), with the polars of the model."""
    norm = NORMS[name]
    first, second = data.draw(points(norm.on, count=2))
    if norm.on == "square":
        first = off_diagonal(first)
    polar = {
        "L12": L12().polar,
        "L1": L1().polar,
        "Nuclear": lambda y: Nuclear().polar(y, np.float64(1.0))[0],
        "ZeroDiagonalL1": lambda y: ZeroDiagonalL1().polar(y, np.float64(1.0)).max(),
        "NuclearCoupling": NuclearCoupling().polar,
        "L12Coupling": L12Coupling().polar,
    }[name]
    assert polar(second) == pytest.approx(norm.dual(second), rel=1e-12, abs=VANISHING)
    assert np.vdot(first, second) <= norm.value(first) * (polar(second) * (1 + 1e-12) + VANISHING)


@examples(40)
@given(point=points(), relative=STEPS, enlargement=st.floats(1.0, 10.0))
def test_what_is_clipped_to_the_dual_ball_is_inside_up_to_the_uncertainty_it_names(
    point, relative, enlargement
):
    (matrix_,) = point
    lam = np.float64(relative * (np.linalg.norm(matrix_) or 1.0))
    excess = Nuclear().excess(matrix_, lam)
    inside = matrix_ - excess.beyond(enlargement)
    sticking_out = singular(inside).max() - enlargement * lam
    assert sticking_out <= excess.uncertainty(enlargement) + error(matrix_, lam)
