"""Warnings that point at the user's line."""

import sys
import warnings

OURS = (
    "viewspan",
    "sklearn.utils._param_validation",
    "sklearn.callback",
    "contextlib",
    "functools",
)


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn with the place from which the package was called, however deep inside it this is."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(OURS):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
