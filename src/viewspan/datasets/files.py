"""Where the studies' data files are: the user's folder, the cache, or the authors' repository.

``registry.txt`` names every file and its SHA-256; nothing is read whose content is another.
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
"""The authors' repository. Its head: the checksums say what is in the files, whichever commit they come from."""

VARIABLE = "VIEWSPAN_DATA"


@cache
def registry() -> dict[str, str]:
    """SHA-256 of every file."""
    lines = (
        resources.files(__package__)
        .joinpath("registry.txt")
        .read_text(encoding="ascii")
        .splitlines()
    )
    return dict(line.split() for line in lines)


def names(folder: str) -> list[str]:
    """The files below this folder."""
    return [name for name in registry() if name.startswith(folder)]


def address(name: str) -> str:
    """Where the authors keep the file: theirs is ``data/TIRlib.mat``, and the faces are in ``data/faces/``."""
    return SOURCE + name.removeprefix("minerals/")


def locate(wanted: Iterable[str]) -> list[Path]:
    """Paths of the files, in order, downloaded if need be."""
    wanted = list(wanted)
    found = {name: path for name in wanted if (path := _in_user_folder(name) or _in_cache(name))}
    missing = [name for name in wanted if name not in found]
    if missing:
        found |= _download(missing)
    return [found[name] for name in wanted]


def _in_user_folder(name: str) -> Path | None:
    if not (folder := os.environ.get(VARIABLE)):
        return None
    path = Path(folder) / name
    if not path.is_file():
        return None
    if _sha256(path) != registry()[name]:
        raise ValueError(
            f"{path} is not the file the study needs: its SHA-256 is {_sha256(path)}, expected {registry()[name]}. "
            "Replace it, or remove it and it will be downloaded."
        )
    return path


def _in_cache(name: str) -> Path | None:
    path = cache_folder() / name
    return path if path.is_file() and _sha256(path) == registry()[name] else None


def cache_folder() -> Path:
    """The user's cache, by the operating system's custom."""
    return Path(_pooch().os_cache("viewspan"))


def _download(missing: list[str]) -> dict[str, Path]:
    downloader = _pooch().create(
        path=cache_folder(),
        base_url=SOURCE,
        registry={name: registry()[name] for name in missing},
        urls={name: address(name) for name in missing},
        retry_if_failed=1,
    )
    try:
        return {name: Path(downloader.fetch(name)) for name in missing}
    except (
        OSError,
        ValueError,
    ) as error:  # no network, no such page; or another content than the checksum's
        raise FileNotFoundError(_where_to_put(missing, error)) from error


def _where_to_put(missing: list[str], error: Exception) -> str:
    what = (
        f"{missing[0]} is"
        if len(missing) == 1
        else f"{len(missing)} files, {missing[0]} to {missing[-1]}, are"
    )
    here = os.environ.get(VARIABLE)
    looked = f"in {here} ({VARIABLE})" if here else f"in {VARIABLE} (not set)"
    if here and not Path(here).is_dir():
        looked += ", which is no folder,"
    targets = "\n".join(f"  {address(name)} -> {cache_folder() / name}" for name in missing)
    reason = " ".join(str(error).split())
    return (
        f"{what} neither {looked} nor in the cache, and the download failed: {reason}\n"
        f"Put the files there by hand, or set {VARIABLE} to a folder that holds them under the same names:\n{targets}"
    )


def _pooch() -> Any:
    return require("pooch", "studies", purpose="Finding and downloading the studies' data")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
