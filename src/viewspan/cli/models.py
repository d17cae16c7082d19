"""Functions of the commands that read model files and fitted models."""

from pathlib import Path
from typing import Any

from viewspan.io.readers import InputError


def model_path(path: Path) -> Path:
    """Return the path of a model, which may be given as the folder of ``viewspan cluster``."""
    if path.is_dir() and (path / "model").is_file():
        return path / "model"
    if not path.is_file():
        raise InputError(
            f"{path} is not a model; give the file FOLDER/model that `viewspan cluster` wrote."
        )
    return path


def view_names(model: Any) -> list[str]:
    """Return the names of the views that the model was fitted to, or "view 0", "view 1", …."""
    names = getattr(model, "view_names_in_", None)
    return names or [f"view {position}" for position in range(model.n_views_in_)]


def per_view(value: Any) -> tuple[Any, ...]:
    """Return one value per view of an attribute that is no tuple if there is only one view."""
    return value if isinstance(value, tuple) else (value,)
