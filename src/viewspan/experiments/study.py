"""What a study is: data, noise levels and methods."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

GRID = "grid"
"""The setting whose methods are points to choose from: tables and figures show the best of each name."""

Data = tuple[Sequence[npt.NDArray[Any]] | Mapping[str, npt.NDArray[Any]], npt.ArrayLike]
"""Views and the true labels."""


@dataclass(frozen=True)
class Method:
    """An estimator under a name.

    Parameters
    ----------
    name : str
        As tables and figures show it.
    estimator : clusterer
        Anything with ``fit_predict`` and scikit-learn's ``get_params``, unfitted. If it has a ``random_state`` that is
        not set, the trial's seed is used.
    views : "all", "concat" or int
        What it is given: all views, their features side by side as one array, or one view (counted from 0).
    setting : str
        A name for a group of methods that belong in one table and figure, such as "authors" or "auto". In the setting
        "grid" methods of the same name are one method with several parameters, of which the best is shown, as "tuned".
    """

    name: str
    estimator: Any
    views: Literal["all", "concat"] | int = "all"
    setting: str = "auto"

    def look(self, views: Sequence[npt.NDArray[Any]] | Mapping[str, npt.NDArray[Any]]) -> Any:
        """The views as this method wants them."""
        if self.views == "all":
            return views
        arrays = list(views.values()) if isinstance(views, Mapping) else list(views)
        return np.hstack(arrays) if self.views == "concat" else arrays[self.views]


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
        if not self.name or not all(letter.isalnum() or letter in "-_" for letter in self.name):
            raise ValueError(
                f"The name of a study must be letters, digits, '-' and '_', since files are named after it. "
                f"Got {self.name!r} instead."
            )
        if not self.noise or not self.methods:
            raise ValueError(f"Study {self.name!r} needs at least one noise level and one method.")
        names = [(method.setting, method.name) for method in self.methods if method.setting != GRID]
        twice = [pair for pair in names if names.count(pair) > 1]
        if twice:
            setting, name = twice[0]
            raise ValueError(f"Study {self.name!r} has the method {name!r} twice in the setting {setting!r}.")
