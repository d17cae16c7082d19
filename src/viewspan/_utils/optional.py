"""Packages that only some parts need."""

from importlib import import_module
from typing import Any


def require(module: str, extra: str, *, purpose: str) -> Any:
    """The module, or an error that says how to get it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0]:
            raise
        raise ModuleNotFoundError(
            f"{purpose} needs the package {error.name!r}, which is not installed: pip install 'viewspan[{extra}]'.",
            name=error.name,
        ) from error
