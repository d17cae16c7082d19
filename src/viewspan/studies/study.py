"""Definition of a study: a data generator, noise levels and methods."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt

GRID = "grid"
"""Setting whose methods of the same name are the points of one parameter grid."""
TUNED = "tuned"
"""Setting under which the tables show the best point of each grid."""
RESERVED_SETTINGS = {TUNED, "difference"}
"""Setting names that the tables and figures use themselves."""

Views = Sequence[npt.NDArray[Any]] | Mapping[str, npt.NDArray[Any]]
Data = tuple[Views, npt.ArrayLike]
"""Views and true labels."""


@dataclass(frozen=True)
class Method:
    """A clusterer under the name that tables and figures show.

    Parameters
    ----------
    name : str
        Name of the method: printable text on one line.
    estimator : clusterer
        Unfitted object with ``fit_predict`` and scikit-learn's ``get_params``. Every
        ``random_state`` that is None, also inside a pipeline, is set to the seed of the trial.
    views : "all", "concat", int or str
        Input of the clusterer: all views; the features of all views side by side as one array; or
        one view, given by its position from 0 or, if the views are a dict, by its name.
    setting : str
        Group of methods that share one table and one figure, such as "untuned". In the setting
        "grid", methods of the same name are points of one parameter grid; tables and figures show
        the best point under the setting "tuned".
    """

    name: str
    estimator: Any
    views: str | int = "all"
    setting: str = "main"

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.isprintable() or not self.name.strip():
            raise ValueError(
                "The name of a method must be printable text on one line. "
                f"Got {self.name!r} instead."
            )
        check_file_name("setting", self.setting)
        if self.setting in RESERVED_SETTINGS:
            raise ValueError(
                f"The setting of method {self.name!r} must not be {self.setting!r}: "
                "tables and figures use this name. Choose another one."
            )
        if isinstance(self.views, Integral) and self.views >= 0:
            object.__setattr__(self, "views", int(self.views))
        elif not isinstance(self.views, str):
            raise ValueError(
                f"The views of method {self.name!r} must be 'all', 'concat', or the name or "
                f"position (from 0) of one view. Got {self.views!r} instead."
            )
        if not (hasattr(self.estimator, "fit_predict") and hasattr(self.estimator, "get_params")):
            raise TypeError(
                f"The estimator of method {self.name!r} must have fit_predict and get_params, as "
                f"scikit-learn's clusterers do. Got {self.estimator!r} instead."
            )

    def select_views(self, views: Views) -> Any:
        """Return the part of the views that the estimator is fitted to."""
        if self.views == "all":
            return views
        if self.views == "concat":
            return np.hstack(list_views(views))
        choices: dict[str | int, Any] = dict(enumerate(list_views(views)))
        if isinstance(views, Mapping):
            choices.update(views)
        if self.views not in choices:
            raise KeyError(f"there is no view {self.views!r}, only {', '.join(map(repr, choices))}")
        return choices[self.views]


@dataclass(frozen=True)
class Study:
    """A data generator, noise levels and methods.

    Every trial draws the data anew. Within a trial, all methods get the same data.

    Parameters
    ----------
    name : str
        Name of the study and of its folder and figures: letters, digits, ``-`` and ``_``.
    generate : callable
        ``generate(noise=…, random_state=…)`` returns the views and the true labels, as the
        ``make_…`` functions in :mod:`viewspan.datasets` do. With the same seed and ``noise=0`` it
        must return the clean data, because the signal-to-noise ratio is measured against it. Bind
        further arguments with :func:`functools.partial`.
    noise : sequence of float
        Noise levels.
    methods : sequence of Method
        Methods to compare.
    title : str, optional
        Title of the figures.
    """

    name: str
    generate: Callable[..., Data]
    noise: Sequence[float]
    methods: Sequence[Method]
    title: str = ""

    def __post_init__(self) -> None:
        check_file_name("study", self.name)
        for name, value in (("noise", self.noise), ("methods", self.methods)):
            if not hasattr(value, "__len__"):
                raise TypeError(
                    f"The {name} of study {self.name!r} must be a list. Got {value!r} instead."
                )
        if wrong := [method for method in self.methods if not isinstance(method, Method)]:
            raise TypeError(
                f"The methods of study {self.name!r} must be Method(name, estimator). "
                f"Got {wrong[0]!r} instead."
            )
        object.__setattr__(self, "noise", tuple(float(level) for level in self.noise))
        object.__setattr__(self, "methods", tuple(self.methods))
        if not self.noise or not self.methods:
            raise ValueError(f"Study {self.name!r} needs at least one noise level and one method.")
        self._check_noise()
        self._check_method_names()

    def _check_noise(self) -> None:
        valid = all(np.isfinite(level) and level >= 0 for level in self.noise)
        if not valid or len(set(self.noise)) < len(self.noise):
            raise ValueError(
                f"The noise levels of study {self.name!r} must be distinct finite numbers, none "
                f"of them negative. Got {list(self.noise)} instead."
            )

    def _check_method_names(self) -> None:
        names = [(method.setting, method.name) for method in self.methods if method.setting != GRID]
        for setting, name in names:
            if names.count((setting, name)) > 1:
                raise ValueError(
                    f"Study {self.name!r} has the method {name!r} twice in the setting "
                    f"{setting!r}. Give one of them another name."
                )


def check_file_name(kind: str, name: Any) -> None:
    """Raise ValueError if a study or setting has a name that cannot be part of a file name."""
    if (
        not isinstance(name, str)
        or not name
        or not all(letter.isalnum() or letter in "-_" for letter in name)
    ):
        raise ValueError(
            f"The name of a {kind} must consist of letters, digits, '-' and '_', because files are "
            f"named after it. Got {name!r} instead."
        )


def list_views(views: Views) -> list[npt.NDArray[Any]]:
    """Return the views as a list, also if they are a dict."""
    return list(views.values()) if isinstance(views, Mapping) else list(views)
