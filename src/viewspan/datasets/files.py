"""Data files of the studies: in the user's folder, in the cache, or downloaded.

``registry.txt`` holds the name and the SHA-256 of every file. No file with another content is read.
"""

import hashlib
import os
from collections.abc import Iterable
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from viewspan._utils.optional import require

SOURCE = "https://raw.githubusercontent.com/sjtrny/collab_lrsc/HEAD/data/"
"""Folder in the authors' repository. Checksums, not a commit, fix the content of the files."""

DATA_VARIABLE = "VIEWSPAN_DATA"
"""Environment variable with the user's folder of data files."""


@cache
def registry() -> dict[str, str]:
    """Return the SHA-256 of every file, by name."""
    text = resources.files(__package__).joinpath("registry.txt").read_text(encoding="ascii")
    return dict(line.split() for line in text.splitlines())


def list_files(folder: str) -> list[str]:
    """Return the names of the registered files whose names start with the folder."""
    return [name for name in registry() if name.startswith(folder)]


def source_url(name: str) -> str:
    """Return the address of a file, which the authors keep in ``data/`` or ``data/faces/``."""
    return SOURCE + name.removeprefix("minerals/")


def locate(names: Iterable[str]) -> list[Path]:
    """Return the paths of the files in the given order, and download those that are missing."""
    names = list(names)
    found = {name: path for name in names if (path := _in_user_folder(name) or _in_cache(name))}
    missing = [name for name in names if name not in found]
    if missing:
        found |= _download(missing)
    return [found[name] for name in names]


def _in_user_folder(name: str) -> Path | None:
    if not (folder := os.environ.get(DATA_VARIABLE)):
        return None
    path = Path(folder) / name
    if not path.is_file():
        return None
    if _sha256(path) != registry()[name]:
        raise ValueError(
            f"{path} is not the file the study needs: its SHA-256 is {_sha256(path)}, expected "
            f"{registry()[name]}. Replace it, or remove it and it will be downloaded."
        )
    return path


def _in_cache(name: str) -> Path | None:
    path = cache_folder() / name
    return path if path.is_file() and _sha256(path) == registry()[name] else None


def cache_folder() -> Path:
    """Return viewspan's folder in the user's cache, as the operating system defines it."""
    return Path(_pooch().os_cache("viewspan"))


def _download(missing: list[str]) -> dict[str, Path]:
    downloader = _pooch().create(
        path=cache_folder(),
        base_url=SOURCE,
        registry={name: registry()[name] for name in missing},
        urls={name: source_url(name) for name in missing},
        retry_if_failed=1,
    )
    try:
        return {name: Path(downloader.fetch(name)) for name in missing}
    # No connection, no such page, or a content with another checksum.
    except (OSError, ValueError) as error:
        raise FileNotFoundError(_missing_message(missing, error)) from error


def _missing_message(missing: list[str], error: Exception) -> str:
    """Return an error message that names every missing file, its address and its path."""
    files = (
        f"{missing[0]} is"
        if len(missing) == 1
        else f"{len(missing)} files, {missing[0]} to {missing[-1]}, are"
    )
    folder = os.environ.get(DATA_VARIABLE)
    searched = f"in {folder} ({DATA_VARIABLE})" if folder else f"in {DATA_VARIABLE} (not set)"
    if folder and not Path(folder).is_dir():
        searched += ", which is not a folder,"
    targets = "\n".join(f"  {source_url(name)} -> {cache_folder() / name}" for name in missing)
    reason = " ".join(str(error).split())
    return (
        f"{files} neither {searched} nor in the cache, and the download failed: {reason}\n"
        f"Download the files by hand to these paths, or set {DATA_VARIABLE} to a folder that holds "
        f"them under the same names:\n{targets}"
    )


def _pooch() -> Any:
    return require("pooch", "studies", purpose="Finding and downloading the studies' data")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
