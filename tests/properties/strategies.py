"""Strategies for matrices and problems, including degenerate ones."""

from dataclasses import dataclass

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

import viewspan
from tests.problems import full_problem
from viewspan.objective.couplings import Uncoupled

EPS = np.finfo(float).eps
SEEDS = st.integers(0, 2**32 - 1)
KINDS = (
    "gaussian",
    "low rank",
    "duplicates",
    "ill-conditioned",
    "integers",
    "uneven samples",
    "zero",
)
AXES = tuple(
    {"datafit": datafit, "penalty": penalty, "coupling": coupling}
    for datafit in ("frobenius", "half_frobenius", "l12", "l1")
    for penalty in ("nuclear", "l1")
    for coupling in ("nuclear", "l12", "none")
)


def examples(default):
    """Return settings with this number of examples, unless ``VIEWSPAN_EXAMPLES`` is set."""
    requested = settings.default.max_examples
    return settings(max_examples=default if settings.default.derandomize else requested)


def matrix(kind, rng, rows, columns):
    """Return a random matrix of spectral norm 1, or of zeros."""
    if kind == "low rank":
        rank = int(rng.integers(1, max(2, min(rows, columns))))
        values = rng.normal(size=(rows, rank)) @ rng.normal(size=(rank, columns))
    elif kind == "duplicates":
        distinct = (rows + 1) // 2
        values = rng.normal(size=(distinct, columns))[rng.integers(0, distinct, rows)]
    elif kind == "ill-conditioned":  # singular values over 12 decades
        left, _, right = np.linalg.svd(rng.normal(size=(rows, columns)), full_matrices=False)
        values = (left * np.logspace(0, -12, min(rows, columns))) @ right
    elif kind == "integers":
        values = rng.integers(-1, 2, size=(rows, columns)).astype(float)
    elif kind == "uneven samples":
        values = rng.normal(size=(rows, columns)) * 10.0 ** rng.uniform(-8, 0, size=(rows, 1))
    elif kind == "zero":
        return np.zeros((rows, columns))
    else:
        values = rng.normal(size=(rows, columns))
    return values / (np.linalg.norm(values, 2) or 1.0)


@dataclass(frozen=True)
class Case:
    """A problem: views with samples in rows, weights, axes, and the mask of observed samples."""

    views: list
    lam: np.ndarray
    tau: float
    axes: dict
    observed: np.ndarray | None = None

    @property
    def problem(self):
        """The problem without a reduction."""
        problem = full_problem(self.views, self.lam, self.tau, **self.axes, observed=self.observed)
        if self.tau == 0.0:
            object.__setattr__(problem, "coupling", Uncoupled())
        return problem

    def solve(self, **options):
        """Return the result of :func:`viewspan.solve`, with missing samples as rows of NaN."""
        views = self.views
        if self.observed is not None:
            pairs = zip(self.views, self.observed, strict=True)
            views = [np.where(present[:, None], view, np.nan) for view, present in pairs]
            options["missing"] = "allow"
        return viewspan.solve(views, self.lam, self.tau, **self.axes, **options)

    def objective(self, stack):
        """Compute the objective from the definitions, with the datafit in extended precision."""
        total = np.longdouble(0.0)
        for number, (view, coefficients) in enumerate(zip(self.views, stack, strict=True)):
            columns = view.T.astype(np.longdouble)
            residual = columns - columns @ coefficients.astype(np.longdouble)
            if self.observed is not None:
                residual = residual[:, self.observed[number]]
            total += FITS[self.axes["datafit"]](residual)
            if self.axes["penalty"] == "nuclear":
                total += self.lam[number] * np.linalg.svd(coefficients, compute_uv=False).sum()
            else:
                assert not np.diagonal(coefficients).any()
                total += (self.lam[number] * np.abs(coefficients).sum(axis=0)).sum()
        rows = np.reshape(stack, (len(stack), -1))
        if self.tau > 0 and self.axes["coupling"] == "nuclear":
            total += self.tau * np.linalg.svd(rows, compute_uv=False).sum()
        if self.tau > 0 and self.axes["coupling"] == "l12":
            total += self.tau * np.sqrt((rows**2).sum(axis=0)).sum()
        return float(total)

    @property
    def unit(self):
        """The datafit of zero coefficients, as a unit of the objective."""
        return float(sum(FITS[self.axes["datafit"]](view.T) for view in self.views))

    def rounding(self, stack):
        """Return how much rounding errors of the data may change the objective of a stack."""
        fit, degree = FITS[self.axes["datafit"]], 2 if "frobenius" in self.axes["datafit"] else 1
        pairs = zip(self.views, stack, strict=True)
        change = sum(fit(view.T) * (1 + np.linalg.norm(z, 2)) ** degree for view, z in pairs)
        return float((16 + max(max(view.shape) for view in self.views)) * EPS * change)


FITS = {
    "frobenius": lambda residual: (residual**2).sum(),
    "half_frobenius": lambda residual: 0.5 * (residual**2).sum(),
    "l12": lambda residual: np.sqrt((residual**2).sum(axis=0)).sum(),
    "l1": lambda residual: np.abs(residual).sum(),
}


@st.composite
def cases(
    draw,
    axes=AXES,
    kinds=KINDS,
    exponents=(-5.0, 0.5),
    largest=10,
    scales=True,
    masks=True,
    zeros=True,
):
    """Draw a problem of up to three views.

    λ and τ are powers of ten, with the given exponents, in units of the data's norm, or zero.
    """
    rng = np.random.default_rng(draw(SEEDS))
    chosen = draw(st.sampled_from(axes))
    n_views, n_samples = draw(st.integers(1, 3)), draw(st.integers(2, largest))
    views = [
        matrix(draw(st.sampled_from(kinds)), rng, n_samples, draw(st.integers(1, 12)))
        for _ in range(n_views)
    ]
    if scales:
        views = [10.0 ** draw(st.sampled_from((0.0, 0.0, -6.0, 3.0))) * view for view in views]
    degree = 2 if "frobenius" in chosen["datafit"] else 1
    unit = (max(np.linalg.norm(view, 2) for view in views) or 1.0) ** degree
    weights = st.floats(*exponents).map(lambda exponent: unit * 10.0**exponent)
    if zeros:
        weights = st.one_of(weights, weights, weights, st.just(0.0))
    lam = np.array([draw(weights) for _ in views])
    if chosen["penalty"] == "l1" and draw(st.booleans()):
        lam = lam[:, None] * 10.0 ** rng.uniform(-1, 0, size=(n_views, n_samples))
    tau = 0.0 if chosen["coupling"] == "none" else draw(weights)
    observed = None
    if masks and n_samples > 2 and draw(st.integers(0, 3)) == 0:
        observed = rng.random((n_views, n_samples)) < 0.75
        observed[rng.integers(n_views, size=n_samples), np.arange(n_samples)] = True
        views = [
            np.where(present[:, None], view, 0.0)
            for view, present in zip(views, observed, strict=True)
        ]
    return Case(views, lam, tau, chosen, observed)
