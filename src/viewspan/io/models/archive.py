"""Model files: zip archives of plain arrays and JSON, with a version and checksums.

========================  ======================================================================
``model.json``            format, version, and the parts of the model; arrays by their number
``arrays/0.npy``, …       arrays of numbers and texts in numpy's own format, without objects
``SHA256SUMS``            checksums of all other parts, as ``sha256sum --check`` reads them
========================  ======================================================================
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

FORMAT_NAME = "viewspan model"
VERSION = 2
READABLE_VERSIONS = (1, 2)
DESCRIPTION, SUMS = "model.json", "SHA256SUMS"
PART_NAMES = re.compile(rf"{re.escape(DESCRIPTION)}|{SUMS}|arrays/\d+\.npy")
"""Names of the parts of a model."""
MAX_COMPRESSION_RATIO = 200
"""Largest ratio of content to file size; larger ratios indicate a zip bomb."""
ARRAY_KINDS = "biufU"
"""Kinds of arrays in a model: booleans, numbers and texts."""
UNVERSIONED_DESCRIPTION = "schema.json"
"""A part of the models that were written before there was a version of the format."""


class NotAModelError(ValueError):
    """Error of a file that is not a readable model. The message lacks the file name."""


def pack(tree: Any, arrays: Sequence[AnyArray]) -> bytes:
    """Return the content of a model file.

    Parameters
    ----------
    tree : JSON-serialisable
        The parts of the model.
    arrays : list of arrays
        Arrays to which the tree refers by their number.
    """
    description = {
        "format": FORMAT_NAME,
        "version": VERSION,
        "viewspan": __version__,
        "model": tree,
    }
    parts = {DESCRIPTION: json.dumps(description, allow_nan=False).encode()}
    parts |= {part_name(number): as_npy(array) for number, array in enumerate(arrays)}
    parts[SUMS] = "".join(
        f"{sha256(part).hexdigest()}  {name}\n" for name, part in parts.items()
    ).encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, part in parts.items():
            # without the time, so that equal models have equal bytes
            archive.writestr(zipfile.ZipInfo(name), part, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def unpack(path: Path) -> tuple[int, Any, list[AnyArray]]:
    """Read a model file; raise an error if it is damaged, hostile or of another format.

    Returns
    -------
    version : int
        Version of the format.
    tree, arrays
        The arguments of :func:`pack`.
    """
    parts = read_parts(path)
    check_sums(parts)
    description = json.loads(parts[DESCRIPTION])
    if description["format"] != FORMAT_NAME:
        raise NotAModelError("is not a model that viewspan saved.")
    if description["version"] not in READABLE_VERSIONS:
        raise NotAModelError(
            f"has version {description['version']!r:.20} of the format, which viewspan "
            f"{description['viewspan']!r:.20} wrote; viewspan {__version__} reads versions up to "
            f"{VERSION}. Install that viewspan, or fit the model again."
        )
    arrays = [from_npy(parts[part_name(number)]) for number in range(len(parts) - 2)]
    return description["version"], description["model"], arrays


def is_model(path: Path) -> bool:
    """Return whether a file is a zip archive with the parts of a model.

    An archive that cannot be opened counts as a model if its name has no suffix.
    """
    if not path.is_file() or not zipfile.is_zipfile(path):
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            return DESCRIPTION in names or UNVERSIONED_DESCRIPTION in names
    # zipfile raises NotImplementedError for archives that it cannot read
    except (zipfile.BadZipFile, NotImplementedError):
        return path.suffix == ""


def read_parts(path: Path) -> dict[str, bytes]:
    """Return the parts of a model file by their names, without writing any to disk."""
    if path.exists() and not path.is_file():
        raise NotAModelError("is not a file.")
    content = io.BytesIO(path.read_bytes())  # raises FileNotFoundError if there is none
    if not zipfile.is_zipfile(content):
        raise NotAModelError("is not a model that viewspan saved.")
    with zipfile.ZipFile(content) as archive:
        entries = archive.infolist()
        check_entries(entries, len(content.getbuffer()))
        return {entry.filename: archive.read(entry) for entry in entries}


def check_entries(entries: Sequence[zipfile.ZipInfo], size: int) -> None:
    """Raise ValueError, before any part is read, if an archive is not a model or is hostile."""
    names = [entry.filename for entry in entries]
    if UNVERSIONED_DESCRIPTION in names:
        raise NotAModelError(
            "is a model of an older viewspan, which this version cannot read. Fit again and save."
        )
    unknown = [name for name in names if not PART_NAMES.fullmatch(name)]
    if unknown:
        raise NotAModelError(
            f"is not loaded: it has a part {unknown[0]!r:.60}, which models do not have."
        )
    if len(set(names)) < len(names):
        raise ValueError("two of its parts have the same name")
    content = sum(entry.file_size for entry in entries)
    if content > MAX_COMPRESSION_RATIO * size or content > memory.available():
        raise NotAModelError(
            f"is not loaded: its content of {memory.readable(content)} is more than the memory can "
            f"hold, or more than {MAX_COMPRESSION_RATIO} times the size of the file."
        )
    methods = {entry.compress_type for entry in entries}
    if not methods <= {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
        raise ValueError("its compression method is not the one of models")


def check_sums(parts: dict[str, bytes]) -> None:
    """Raise ValueError if a part is missing or does not match its checksum."""
    lines = parts[SUMS].decode("ascii").splitlines()
    written = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    changed = [
        name
        for name in parts
        if name != SUMS and written.pop(name, "") != sha256(parts[name]).hexdigest()
    ]
    if changed or written:
        part = min([*changed, *written])
        raise ValueError(f"its part {part!r:.60} is missing or does not match its checksum")


def part_name(number: int) -> str:
    """Return the name of the part that holds an array."""
    return f"arrays/{number}.npy"


def as_npy(array: AnyArray) -> bytes:
    """Return an array in numpy's file format."""
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def from_npy(part: bytes) -> AnyArray:
    """Return an array from numpy's file format; raise ValueError for objects and false sizes.

    The size in the header is checked before memory is allocated for it. The array is writable.
    """
    file = io.BytesIO(part)
    version = np.lib.format.read_magic(file)
    readers = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    shape, by_columns, dtype = readers[version](file)
    if dtype.kind not in ARRAY_KINDS:
        raise ValueError(f"it has an array of type {dtype}, which models do not have")
    content = part[file.tell() :]
    if len(content) != dtype.itemsize * np.prod(shape, dtype=object) or min(shape, default=0) < 0:
        raise ValueError("an array does not have the size that its header says")
    array = np.frombuffer(content, dtype).reshape(shape, order="F" if by_columns else "C")
    return array.copy(order="K")
