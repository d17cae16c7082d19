"""A zip archive of plain arrays and JSON, with the version of its format and a checksum of every part.

========================  =============================================================================
``model.json``            format, version, and what the model is made of; arrays by their number
``arrays/0.npy``, …       numbers and texts in numpy's own format, no objects
``SHA256SUMS``            of all other parts, as ``sha256sum --check`` reads it
========================  =============================================================================
"""

import io
import json
import re
import zipfile
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from viewspan._utils import memory
from viewspan._utils.typing import AnyArray
from viewspan._version import __version__

NAME = "viewspan model"
VERSION = 2
READABLE_VERSIONS = (1, 2)
DESCRIPTION, SUMS = "model.json", "SHA256SUMS"
PARTS = re.compile(rf"{re.escape(DESCRIPTION)}|{SUMS}|arrays/\d+\.npy")
DENSEST = 200
"""Times that a model's content may be larger than its file: more is no model, but a file made to fill the memory."""
PLAIN = "biufU"
"""Kinds of arrays: booleans, numbers and texts."""
FORMERLY = "schema.json"
"""A part of models that were written before this format."""


class NotAModelError(ValueError):
    """What the file is instead, as the end of a sentence."""


def packed(tree: Any, arrays: Sequence[AnyArray]) -> bytes:
    """The content of a file."""
    description = {"format": NAME, "version": VERSION, "viewspan": __version__, "model": tree}
    parts = {DESCRIPTION: json.dumps(description, allow_nan=False).encode()}
    parts |= {part_name(number): as_npy(array) for number, array in enumerate(arrays)}
    parts[SUMS] = "".join(
        f"{sha256(part).hexdigest()}  {name}\n" for name, part in parts.items()
    ).encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, part in parts.items():
            archive.writestr(
                zipfile.ZipInfo(name), part, zipfile.ZIP_DEFLATED
            )  # no time: same model, same bytes
    return buffer.getvalue()


def unpacked(path: Path) -> tuple[int, Any, list[AnyArray]]:
    """Return the version of the format, and what :func:`packed` was given."""
    parts = parts_of(path)
    check_sums(parts)
    description = json.loads(parts[DESCRIPTION])
    if description["format"] != NAME:
        raise NotAModelError("is not a model that viewspan saved.")
    if description["version"] not in READABLE_VERSIONS:
        raise NotAModelError(
            f"has version {description['version']!r:.20} of the format, which viewspan "
            f"{description['viewspan']!r:.20} wrote; viewspan {__version__} reads versions up to "
            f"{VERSION}. Install that version of viewspan, or fit again."
        )
    return (
        description["version"],
        description["model"],
        [from_npy(parts[part_name(number)]) for number in range(len(parts) - 2)],
    )


def is_model(path: Path) -> bool:
    """Whether the file has the parts of a model, whatever is in them; one without a suffix, if that cannot be told."""
    if not path.is_file() or not zipfile.is_zipfile(path):
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            return not {DESCRIPTION, FORMERLY}.isdisjoint(archive.namelist())
    except (
        zipfile.BadZipFile,
        NotImplementedError,
    ):  # the second is zipfile's word for what it cannot read
        return path.suffix == ""


def parts_of(path: Path) -> dict[str, bytes]:
    """By their names, of which there may be no others; none is ever written to disk."""
    if path.exists() and not path.is_file():
        raise NotAModelError("is no file.")
    content = io.BytesIO(path.read_bytes())  # a file that is not there says so itself
    if not zipfile.is_zipfile(content):
        raise NotAModelError("is not a model that viewspan saved.")
    with zipfile.ZipFile(content) as archive:
        entries = archive.infolist()
        check_entries(entries, len(content.getbuffer()))
        return {entry.filename: archive.read(entry) for entry in entries}


def check_entries(entries: Sequence[zipfile.ZipInfo], size: int) -> None:
    """Before anything is read."""
    names = [entry.filename for entry in entries]
    if FORMERLY in names:
        raise NotAModelError(
            "is a model of an older viewspan, whose files are no longer read. Fit again and save."
        )
    strange = [name for name in names if not PARTS.fullmatch(name)]
    if strange:
        raise NotAModelError(
            f"is not loaded: its part {strange[0]!r:.60} is in no model of viewspan."
        )
    if len(set(names)) < len(names):
        raise ValueError("it has two parts of one name")
    content = sum(entry.file_size for entry in entries)
    if content > DENSEST * size or content > memory.available():
        raise NotAModelError(
            f"is not loaded: its content of {memory.readable(content)} would fill the memory."
        )
    if any(
        entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for entry in entries
    ):
        raise ValueError("it is compressed in another way than models are")


def check_sums(parts: dict[str, bytes]) -> None:
    """Every part is what it was when it was written, and none is lost."""
    lines = parts[SUMS].decode("ascii").splitlines()
    written = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    changed = [
        name
        for name in parts
        if name != SUMS and written.pop(name, "") != sha256(parts[name]).hexdigest()
    ]
    if changed or written:
        raise ValueError(f"its part {min([*changed, *written])!r:.60} is not what was written")


def part_name(number: int) -> str:
    return f"arrays/{number}.npy"


def as_npy(array: AnyArray) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def from_npy(part: bytes) -> AnyArray:
    """Its own copy, so that it can be written to; nothing is set aside before the header is found to be true."""
    file = io.BytesIO(part)
    version = np.lib.format.read_magic(file)
    readers = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    shape, by_columns, dtype = readers[version](file)
    if dtype.kind not in PLAIN:
        raise ValueError(f"it has an array of {dtype}")
    content = part[file.tell() :]
    if len(content) != dtype.itemsize * np.prod(shape, dtype=object) or min(shape, default=0) < 0:
        raise ValueError("an array is not as large as it says")
    return (
        np.frombuffer(content, dtype)
        .reshape(shape, order="F" if by_columns else "C")
        .copy(order="K")
    )
