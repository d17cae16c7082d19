"""Functions of the commands that read model files and fitted models."""

import zipfile
from pathlib import Path

from viewspan.io.readers.table import InputError


def model_path(path: Path) -> Path:
    """Return the path of a model, which may be given as the folder of ``viewspan cluster``."""
    if path.is_dir() and (path / "model").is_file():
        return path / "model"
    if not path.is_file():
        raise InputError(
            f"{path} is not a model; give the file FOLDER/model that `viewspan cluster` wrote."
        )
    if not zipfile.is_zipfile(path):
        raise InputError(
            f"{path} is not a model that viewspan saved; give the file FOLDER/model that `viewspan "
            "cluster` wrote."
        )
    return path
