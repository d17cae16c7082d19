"""One trial: the same data for every method, at every noise level."""

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
from viewspan.studies.study import GRID, Data, Method, Study, arrays_of

Row = dict[str, Any]

LOG_TEN = float(np.log(10.0))


class TrialError(RuntimeError):
    """Data or a method failed; the message says which, and in what trial."""


def seed_of(seed: int, trial: int) -> int:
    """A trial's own seed: those of two studies with different seeds have nothing in common."""
    return int(np.random.SeedSequence((seed, trial)).generate_state(1)[0])


def run_trial(study: Study, trial: int, seed: int) -> list[Row]:
    """A row for every noise level and method.

    BLAS is held to one thread, so that a result does not depend on how many trials run beside it.
    """
    facts = {"study": study.name, "trial": trial, "seed": seed_of(seed, trial)}
    with threadpool_limits(limits=1):
        clean, _ = draw(study, facts | {"noise": 0.0})
        rows = []
        for noise in study.noise:
            place = facts | {"noise": noise}
            data = draw(study, place)
            place |= noise_measures(clean, data[0])
            rows += [
                place | run_method(point, method, data, place)
                for point, method in enumerate(study.methods)
            ]
    return rows


def draw(study: Study, place: Row) -> Data:
    """Views and labels of this trial at this noise."""
    try:
        views, labels = study.generate(noise=place["noise"], random_state=place["seed"])
        if not isinstance(views, list | tuple | Mapping):
            raise TypeError(
                f"the views must be a list, tuple or dict of arrays, not {type(views).__name__}"
            )
    except Exception as error:
        raise TrialError(
            f"The data could not be generated {where(place)}: {type(error).__name__}: {error}"
        ) from error
    return views, labels


def run_method(point: int, method: Method, data: Data, place: Row) -> Row:
    """Fit and score. A point of a grid may have no answer, for instance with a weight that leaves nothing: its SCA
    is NaN, and the reason is kept. Anywhere else that is an error.
    """
    views, truth = data
    estimator = seeded(clone(method.estimator), place["seed"])
    accuracy, failure, start = float("nan"), [], time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            shown = method.look(
                copy.deepcopy(views)
            )  # one that writes into its input must not change the next one's
            start = time.perf_counter()
            accuracy = subspace_clustering_accuracy(truth, estimator.fit_predict(shown))
        except Exception as error:
            if method.setting != GRID or not isinstance(error, ValueError):
                raise TrialError(why(method, place, error)) from error
            failure = [str(error)]
    seconds = time.perf_counter() - start
    return {
        "setting": method.setting,
        "method": method.name,
        "point": point,
        "sca": accuracy,
        **solution_measures(estimator),
        "seconds": seconds,
        "warning": "; ".join(dict.fromkeys(failure + [str(warning.message) for warning in caught])),
        "estimator": in_words(method.estimator),
        "versions": versions(),
    }


def why(method: Method, place: Row, error: Exception) -> str:
    """What failed, where, and a hint if the method may not be made for several views."""
    reason = f"{type(error).__name__}: {error.args[0] if isinstance(error, KeyError) else error}"
    several = method.views == "all" and not isinstance(method.estimator, SubspaceClusterer)
    hint = ". It was given all views; one that takes a single array needs views='concat', or the number of one."
    return (
        f"{method.name} ({method.setting}) failed {where(place)}: {reason}{hint if several else ''}"
    )


def where(place: Row) -> str:
    return f"in study {place['study']}, trial {place['trial']}, noise {place['noise']:g}, seed {place['seed']}"


def seeded(estimator: Any, seed: int) -> Any:
    """Every random state that is not set, also those of the parts of a pipeline, becomes the trial's seed."""
    parameters = estimator.get_params(deep=True)
    unset = [
        name
        for name, value in parameters.items()
        if name.split("__")[-1] == "random_state" and value is None
    ]
    return estimator.set_params(**dict.fromkeys(unset, seed))


def in_words(estimator: Any) -> str:
    """Its representation on one line, without addresses in memory, which say nothing and differ every time."""
    return re.sub(r" at 0x[0-9a-f]+", "", " ".join(repr(estimator).split()))


def noise_measures(clean: Any, noisy: Any) -> Row:
    """PSNR over all entries of all views, by the paper's formula and as the authors' program prints it (10·ln)."""
    reference, observed = (
        [np.asarray(view) for view in arrays_of(views)] for views in (clean, noisy)
    )
    if [view.shape for view in reference] != [view.shape for view in observed]:
        return {"psnr": float("nan"), "psnr_ln": float("nan")}
    decibels = psnr(
        *(np.concatenate([view.ravel() for view in views]) for views in (reference, observed))
    )
    return {"psnr": decibels, "psnr_ln": LOG_TEN * decibels}


def solution_measures(estimator: Any) -> Row:
    """What our estimators tell about their solution: ‖Z_1 − Z_2‖_F of the first two views, the mean ‖Z_i‖_F, the
    objective, its gap and weights. NaN for estimators of others, and for the difference where there is one Z only.
    """
    names = (
        "coefficient_difference",
        "coefficient_norm",
        "objective",
        "gap",
        "n_iter",
        "lam",
        "tau",
    )
    if not isinstance(estimator, SubspaceClusterer) or not hasattr(estimator, "result_"):
        return dict.fromkeys(names, float("nan"))
    coefficients = estimator.coefficients_
    difference = (
        coefficient_difference(*coefficients[:2]) if len(coefficients) > 1 else float("nan")
    )
    size = float(np.mean([np.linalg.norm(Z) for Z in coefficients]))
    weights = (float(np.mean(estimator.lam_)), estimator.tau_)
    values = (
        difference,
        size,
        estimator.objective_,
        estimator.dual_gap_,
        float(estimator.n_iter_),
        *weights,
    )
    return dict(zip(names, values, strict=True))


@cache
def versions() -> str:
    """What the numbers were made with."""
    packages = ("viewspan", "numpy", "scipy", "scikit-learn")
    return ", ".join(
        [f"python {platform.python_version()}", *(f"{name} {version(name)}" for name in packages)]
    )
