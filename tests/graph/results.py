"""Results of solvers with given coefficients, for tests."""

import numpy as np

from viewspan.solvers.result import Result


def result_of(cores, left=None, right=None, scales=None, observed=None):
    """Return a result whose coefficients are left · core · rightᵀ."""
    return Result(
        cores=cores,
        left=left,
        right=right,
        directions=None,
        objective=1.0,
        dual_bound=1.0,
        status="optimal",
        n_iter=1,
        history=[],
        lam=np.ones(2),
        tau=1.0,
        scales=scales,
        observed=observed,
    )


def random_cores(size=9, seed=0):
    """Return random coefficients of two views."""
    return np.random.default_rng(seed).normal(size=(2, size, size))
