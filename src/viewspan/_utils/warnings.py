"""Warnings that point to the user's code."""

import sys
import warnings

INTERNAL_MODULES = (
    "viewspan",
    "sklearn.utils._param_validation",
    "sklearn.callback",
    "contextlib",
    "functools",
)
"""Prefixes of the modules that are skipped when the caller is searched."""


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning at the line of the user's code that called the package."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(
        INTERNAL_MODULES
    ):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
