"""What a study is: data, noise levels and methods."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt

GRID, TUNED = "grid", "tuned"
"""The setting whose methods are points to choose from, and that under which tables show the best of each name."""
RESERVED = {TUNED, "difference"}
"""Names that tables and figures use themselves."""

Views = Sequence[npt.NDArray[Any]] | Mapping[str, npt.NDArray[Any]]
Data = tuple[Views, npt.ArrayLike]
"""Views and the true labels."""


@dataclass(frozen=True)
class Method:
    """An estimator under a name.

    Parameters
    ----------
    name : str
        As tables and figures show it.
    estimator : clusterer
        Anything with ``fit_predict`` and scikit-learn's ``get_params``, unfitted. If it, or a part of it, has a
        ``random_state`` that is not set, the trial's seed is used.
    views : "all", "concat", int or str
        What it is given: all views, their features side by side as one array, or one view, by its number from 0 or, in
        a dict of views, by its name.
    setting : str
        A name for a group of methods that belong in one table and figure, such as "untuned". In the setting "grid"
        methods of the same name are one method with several parameters, of which the best is shown, as "tuned".
    """

    name: str
    estimator: Any
    views: str | int = "all"
    setting: str = "main"

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.isprintable() or not self.name.strip():
            raise ValueError(
                f"The name of a method must be printable text on one line. Got {self.name!r} instead."
            )
        check_file_name("setting", self.setting)
        if self.setting in RESERVED:
            raise ValueError(
                f"The setting of a method must not be {self.setting!r}, which tables and figures use."
            )
        if isinstance(self.views, Integral) and self.views >= 0:
            object.__setattr__(self, "views", int(self.views))
        elif not isinstance(self.views, str):
            raise ValueError(
                f"The views of method {self.name!r} must be 'all', 'concat', or the name or number (from 0) of one. "
                f"Got {self.views!r} instead."
            )
        if not (hasattr(self.estimator, "fit_predict") and hasattr(self.estimator, "get_params")):
            raise TypeError(
                f"The estimator of method {self.name!r} must have fit_predict and get_params, as scikit-learn's "
                f"clusterers do. Got {self.estimator!r} instead."
            )

    def look(self, views: Views) -> Any:
        """The views as this method wants them."""
        if self.views == "all":
            return views
        if self.views == "concat":
            return np.hstack(arrays_of(views))
        one_by_one = dict(enumerate(arrays_of(views))) | (
            dict(views) if isinstance(views, Mapping) else {}
        )
        if self.views not in one_by_one:
            raise KeyError(
                f"there is no view {self.views!r}, only {', '.join(map(repr, one_by_one))}"
            )
        return one_by_one[self.views]


@dataclass(frozen=True)
class Study:
    """Data, noise levels and methods; every trial draws the data anew, and all methods see the same.

    Parameters
    ----------
    name : str
        Also the name of its folder and figures: letters, digits, ``-`` and ``_``.
    generate : callable
        ``generate(noise=…, random_state=…)`` returns the views and the true labels, as the functions ``make_…`` in
        :mod:`viewspan.datasets` do. With ``noise=0`` and the same seed it must return the clean data: the
        signal-to-noise ratio is measured against it. Give further arguments by :func:`functools.partial`.
    noise : sequence of float
        The noise levels.
    methods : sequence of Method
    title : str, optional
        For figures.
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
                    f"{name} of study {self.name!r} must be a list. Got {value!r} instead."
                )
        if wrong := [method for method in self.methods if not isinstance(method, Method)]:
            raise TypeError(
                f"The methods of study {self.name!r} must be Method(name, estimator). Got {wrong[0]!r} instead."
            )
        object.__setattr__(self, "noise", tuple(float(level) for level in self.noise))
        object.__setattr__(self, "methods", tuple(self.methods))
        if not self.noise or not self.methods:
            raise ValueError(f"Study {self.name!r} needs at least one noise level and one method.")
        if not all(np.isfinite(level) and level >= 0 for level in self.noise) or len(
            set(self.noise)
        ) < len(self.noise):
            raise ValueError(
                f"The noise levels of study {self.name!r} must be different finite numbers from 0 on. "
                f"Got {list(self.noise)} instead."
            )
        names = [(method.setting, method.name) for method in self.methods if method.setting != GRID]
        twice = [pair for pair in names if names.count(pair) > 1]
        if twice:
            setting, name = twice[0]
            raise ValueError(
                f"Study {self.name!r} has the method {name!r} twice in the setting {setting!r}."
            )


def check_file_name(what: str, name: Any) -> None:
    """Files are named after studies and settings."""
    if (
        not isinstance(name, str)
        or not name
        or not all(letter.isalnum() or letter in "-_" for letter in name)
    ):
        raise ValueError(
            f"The name of a {what} must be letters, digits, '-' and '_', since files are named after it. "
            f"Got {name!r} instead."
        )


def arrays_of(views: Views) -> list[npt.NDArray[Any]]:
    return list(views.values()) if isinstance(views, Mapping) else list(views)
