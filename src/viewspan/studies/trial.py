"""One trial of a study: fit every method to the same data at every noise level."""

import copy
import platform
import re
import time
import warnings
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from typing import Any

import numpy as np
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from viewspan.estimators.base import SubspaceClusterer
from viewspan.metrics import coefficient_difference, psnr, subspace_clustering_accuracy
from viewspan.studies.study import GRID, Data, Method, Study, list_views

Row = dict[str, Any]
"""One row of the table of results, by column name."""

LOG_TEN = float(np.log(10.0))
SOLUTION_COLUMNS = (
    "coefficient_difference",
    "coefficient_norm",
    "objective",
    "gap",
    "n_iter",
    "lam",
    "tau",
)


class TrialError(RuntimeError):
    """Error in the data or in a method; the message names the study, trial, noise and seed."""


def trial_seed(seed: int, trial: int) -> int:
    """Return the seed of one trial, derived from the seed of the run and the trial's number."""
    return int(np.random.SeedSequence((seed, trial)).generate_state(1)[0])


def run_trial(study: Study, trial: int, seed: int) -> list[Row]:
    """Return one row for every noise level and method.

    BLAS is limited to one thread, so that results do not depend on the number of parallel trials.
    """
    facts = {"study": study.name, "trial": trial, "seed": trial_seed(seed, trial)}
    with threadpool_limits(limits=1):
        clean, _ = generate_data(study, facts | {"noise": 0.0})
        rows = []
        for noise in study.noise:
            context = facts | {"noise": noise}
            data = generate_data(study, context)
            context |= measure_noise(clean, data[0])
            rows += [
                context | run_method(point, method, data, context)
                for point, method in enumerate(study.methods)
            ]
    return rows


def generate_data(study: Study, context: Row) -> Data:
    """Return the views and labels at the noise level and seed of the context."""
    try:
        views, labels = study.generate(noise=context["noise"], random_state=context["seed"])
        if not isinstance(views, list | tuple | Mapping):
            raise TypeError(
                f"the views must be a list, tuple or dict of arrays, not {type(views).__name__}"
            )
    except Exception as error:
        raise TrialError(
            f"The data could not be generated {describe_context(context)}: "
            f"{type(error).__name__}: {error}"
        ) from error
    return views, labels


def run_method(point: int, method: Method, data: Data, context: Row) -> Row:
    """Fit one method, and return its columns of the row.

    A ValueError at a point of a grid, for instance because λ is so large that all coefficients are
    zero, gives an SCA of NaN, and its message is stored in the column ``warning``. All other errors
    raise TrialError.
    """
    views, truth = data
    estimator = set_random_states(clone(method.estimator), context["seed"])
    accuracy, failure, start = float("nan"), [], time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            # Each method gets its own copy: it may write into its input.
            selected = method.select_views(copy.deepcopy(views))
            start = time.perf_counter()
            accuracy = subspace_clustering_accuracy(truth, estimator.fit_predict(selected))
        except Exception as error:
            if method.setting != GRID or not isinstance(error, ValueError):
                raise TrialError(failure_message(method, context, error)) from error
            failure = [str(error)]
    seconds = time.perf_counter() - start
    return {
        "setting": method.setting,
        "method": method.name,
        "point": point,
        "sca": accuracy,
        **measure_solution(estimator),
        "seconds": seconds,
        "warning": "; ".join(dict.fromkeys(failure + [str(warning.message) for warning in caught])),
        "estimator": estimator_text(method.estimator),
        "versions": versions(),
    }


def failure_message(method: Method, context: Row, error: Exception) -> str:
    reason = f"{type(error).__name__}: {error.args[0] if isinstance(error, KeyError) else error}"
    message = f"{method.name} ({method.setting}) failed {describe_context(context)}: {reason}"
    if method.views == "all" and not isinstance(method.estimator, SubspaceClusterer):
        message += (
            ". The method got all views. A clusterer that takes one array needs views='concat', "
            "or the position or name of one view."
        )
    return message


def describe_context(context: Row) -> str:
    return (
        f"in study {context['study']}, trial {context['trial']}, noise {context['noise']:g}, "
        f"seed {context['seed']}"
    )


def set_random_states(estimator: Any, seed: int) -> Any:
    """Set every random_state that is None to the seed, also in the steps of a pipeline."""
    unset = [
        name
        for name, value in estimator.get_params(deep=True).items()
        if name.split("__")[-1] == "random_state" and value is None
    ]
    return estimator.set_params(**dict.fromkeys(unset, seed))


def estimator_text(estimator: Any) -> str:
    """Return the repr on one line, without memory addresses, which differ from run to run."""
    return re.sub(r" at 0x[0-9a-f]+", "", " ".join(repr(estimator).split()))


def measure_noise(clean: Any, noisy: Any) -> Row:
    """Return the PSNR over all entries of all views, or NaN if the shapes differ.

    ``psnr`` uses log₁₀, as the paper's formula does; ``psnr_ln`` uses ln, as the authors' program
    does.
    """
    reference, observed = (
        [np.asarray(view) for view in list_views(views)] for views in (clean, noisy)
    )
    if [view.shape for view in reference] != [view.shape for view in observed]:
        return {"psnr": float("nan"), "psnr_ln": float("nan")}
    decibels = psnr(
        *(np.concatenate([view.ravel() for view in views]) for views in (reference, observed))
    )
    return {"psnr": decibels, "psnr_ln": LOG_TEN * decibels}


def measure_solution(estimator: Any) -> Row:
    """Return the properties of the solution that a fitted viewspan estimator reports.

    They are ‖Z_1 − Z_2‖_F of the first two views (NaN with one view), the mean ‖Z_i‖_F, the
    objective, its relative gap, the number of iterations, the mean λ and τ. All are NaN for other
    estimators.
    """
    if not isinstance(estimator, SubspaceClusterer) or not hasattr(estimator, "result_"):
        return dict.fromkeys(SOLUTION_COLUMNS, float("nan"))
    coefficients = estimator.coefficients_
    difference = (
        coefficient_difference(*coefficients[:2]) if len(coefficients) > 1 else float("nan")
    )
    values = (
        difference,
        float(np.mean([np.linalg.norm(Z) for Z in coefficients])),
        estimator.objective_,
        estimator.dual_gap_,
        float(estimator.n_iter_),
        float(np.mean(estimator.lam_)),
        estimator.tau_,
    )
    return dict(zip(SOLUTION_COLUMNS, values, strict=True))


@cache
def versions() -> str:
    """Return the versions of Python and of the packages that the results depend on."""
    packages = ("viewspan", "numpy", "scipy", "scikit-learn")
    return ", ".join(
        [f"python {platform.python_version()}", *(f"{name} {version(name)}" for name in packages)]
    )
