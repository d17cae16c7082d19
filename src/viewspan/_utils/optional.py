"""Imports of optional dependencies."""

from importlib import import_module
from typing import Any


def require(module: str, extra: str, *, purpose: str) -> Any:
    """Import and return a module, or raise ModuleNotFoundError with the extra to install."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0]:
            raise
        raise ModuleNotFoundError(
            f"{purpose} needs the package {error.name!r}, which is not installed: "
            f"pip install 'viewspan[{extra}]'.",
            name=error.name,
        ) from error
