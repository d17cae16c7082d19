"""One trial: the same data for every method, at every noise level."""

import platform
import time
import warnings
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import numpy as np
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from viewspan.experiments.study import GRID, Data, Method, Study
from viewspan.metrics import coefficient_difference, psnr, subspace_clustering_accuracy

Row = dict[str, Any]

LOG_TEN = float(np.log(10.0))


class TrialError(RuntimeError):
    """A method failed; the message says which, and on what data."""


def seed_of(seed: int, trial: int) -> int:
    """A trial's own seed: those of two studies with different seeds have nothing in common."""
    return int(np.random.SeedSequence((seed, trial)).generate_state(1)[0])


def run_trial(study: Study, trial: int, seed: int) -> list[Row]:
    """A row for every noise level and method.

    BLAS is held to one thread, so that a result does not depend on how many trials run beside it.
    """
    own_seed = seed_of(seed, trial)
    with threadpool_limits(limits=1):
        clean, _ = study.generate(noise=0.0, random_state=own_seed)
        rows = []
        for noise in study.noise:
            data = study.generate(noise=float(noise), random_state=own_seed)
            facts = {"study": study.name, "trial": trial, "seed": own_seed, "noise": float(noise)}
            facts |= noise_measures(clean, data[0])
            rows += [facts | run_method(study, method, data, facts) for method in study.methods]
    return rows


def run_method(study: Study, method: Method, data: Data, facts: Row) -> Row:
    """Fit and score. A point of a grid may have no answer, for instance with a weight that leaves nothing: its SCA
    is NaN, and the reason is kept. Anywhere else that is an error.
    """
    views, truth = data
    estimator = clone(method.estimator)
    if estimator.get_params().get("random_state", 0) is None:
        estimator.set_params(random_state=facts["seed"])
    accuracy, failure, start = float("nan"), [], time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            labels = estimator.fit_predict(method.look(views))
            accuracy = subspace_clustering_accuracy(truth, labels)
        except Exception as error:
            if method.setting != GRID or not isinstance(error, ValueError):
                raise TrialError(
                    f"{method.name} ({method.setting}) failed in study {study.name}, trial {facts['trial']}, "
                    f"noise {facts['noise']:g}, seed {facts['seed']}: {type(error).__name__}: {error}"
                ) from error
            failure = [str(error)]
    seconds = time.perf_counter() - start
    return {
        "setting": method.setting,
        "method": method.name,
        "sca": accuracy,
        **solution_measures(estimator),
        "seconds": seconds,
        "warning": "; ".join(dict.fromkeys(failure + [str(warning.message) for warning in caught])),
        "estimator": " ".join(repr(method.estimator).split()),
        "versions": versions(),
    }


def noise_measures(clean: Any, noisy: Any) -> Row:
    """PSNR, the mean over the views, by the paper's formula and as the authors' program prints it (10·ln)."""
    pairs = zip(_arrays(clean), _arrays(noisy), strict=True)
    decibels = float(np.mean([psnr(reference, observed) for reference, observed in pairs]))
    return {"psnr": decibels, "psnr_ln": LOG_TEN * decibels}


def solution_measures(estimator: Any) -> Row:
    """What our estimators tell about their solution: ‖Z_1 − Z_2‖_F of the first two views, the mean ‖Z_i‖_F, the
    objective, its gap and weights. NaN for estimators of others, and for the difference where there is one Z only.
    """
    coefficients = getattr(estimator, "coefficients_", [])
    return {
        "coefficient_difference": coefficient_difference(*coefficients[:2]) if len(coefficients) > 1 else np.nan,
        "coefficient_norm": float(np.mean([np.linalg.norm(Z) for Z in coefficients])) if coefficients else np.nan,
        "objective": float(getattr(estimator, "objective_", np.nan)),
        "gap": float(getattr(estimator, "dual_gap_", np.nan)),
        "n_iter": float(getattr(estimator, "n_iter_", np.nan)),
        "lam": float(np.mean(getattr(estimator, "lam_", np.nan))),
        "tau": float(getattr(estimator, "tau_", np.nan)),
    }


def _arrays(views: Any) -> list[Any]:
    return list(views.values()) if isinstance(views, Mapping) else list(views)


def versions() -> str:
    """What the numbers were made with."""
    packages = ("viewspan", "numpy", "scipy", "scikit-learn")
    return ", ".join([f"python {platform.python_version()}", *(f"{name} {version(name)}" for name in packages)])
