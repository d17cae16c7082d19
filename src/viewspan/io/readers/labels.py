"""Reader of true labels, and writer of predicted labels."""

import csv
from pathlib import Path
from typing import Any

import numpy as np

from viewspan._utils.text import listed
from viewspan._utils.typing import AnyArray, Array, Labels
from viewspan.io.readers import arrays, matlab
from viewspan.io.readers.layout import UNNAMED
from viewspan.io.readers.read import format_of, input_errors
from viewspan.io.readers.source import Source
from viewspan.io.readers.table import InputError, Reading, pandas
from viewspan.io.readers.views import checked_ids

NO_LABEL = ""
"""Label of a sample without a true label."""
LABEL_COLUMNS = ("id", "label", "confidence")
"""Columns of the tables of labels that viewspan writes."""


def read_labels(text: str, reading: Reading, ids: AnyArray | None, n_samples: int) -> AnyArray:
    """Return the true label of every sample as text, "" for samples without one.

    Parameters
    ----------
    text : str
        ``file``, ``file::column`` of a table, or ``file::key`` of arrays.
    reading : Reading
        If the table has the id column, labels are matched by id.
    ids : array of str, optional
        Ids of the samples.
    n_samples : int
    """
    source = Source.parse(text)
    file_format = format_of(source.path)
    with input_errors(source.path):
        if file_format.load_frame is not None:
            frame = file_format.load_frame(source.path, reading)
            return labels_of_table(source, frame, reading, ids, n_samples)
        values = labels_of_array(source)
        check_label_count(text, len(values), n_samples)
        return np.array([single_label(text, value) for value in values], dtype=str)


def check_label_count(name: str, n_labels: int, n_samples: int, hint: str = "") -> None:
    if n_labels != n_samples:
        raise InputError(f"{name} has {n_labels} labels for {n_samples} samples.{hint}")


def single_label(text: str, value: Any) -> str:
    """Return a label as text. In MATLAB cells, every label is an array of its own."""
    values = np.asarray(value).ravel()
    if values.size > 1 or values.dtype.names:
        raise InputError(
            f"{text} does not hold one label per sample; one of its entries has "
            f"{values.size} values."
        )
    return str(values[0]) if values.size else NO_LABEL


def labels_of_table(
    source: Source, frame: Any, reading: Reading, ids: AnyArray | None, n_samples: int
) -> AnyArray:
    """Return the labels in a column, matched by id if both the table and the samples have ids."""
    path = source.path
    id_column = reading.id_column if reading.id_column in frame.columns else None
    if id_column is None and str(frame.columns[0]) == UNNAMED:
        id_column = UNNAMED
    column = label_column(source, [str(name) for name in frame.columns if name != id_column])
    found = frame[column].map(label_text)
    if ids is not None and id_column is not None:
        by_id = dict(zip(checked_ids(path, frame[id_column]), found, strict=True))
        labels = np.array([by_id.get(name, NO_LABEL) for name in ids])
        if not labels.any():
            raise InputError(f"{path} has none of the samples' ids in column {id_column!r}.")
        return labels
    hint = " A column with ids, given by --id, would match them to the samples."
    check_label_count(str(path), len(found), n_samples, hint if ids is not None else "")
    if ids is not None:
        reading.note(
            f"{path}: without ids; the labels are assumed to be in the order of the samples."
        )
    return np.array(found, dtype=str)


def label_column(source: Source, columns: list[str]) -> str:
    """Return the column that the source names, or the only one."""
    if source.key is not None:
        if source.key not in columns:
            raise InputError(
                f"{source.path} has no column {source.key!r}; it has {listed(columns)}."
            )
        return source.key
    if len(columns) != 1:
        raise InputError(
            f"{source.path} has the columns {listed(columns)}; say which with "
            f"{source.path.name}::COLUMN."
        )
    return columns[0]


def label_text(value: Any) -> str:
    """Return a label as text: 1.0 and 1 are the same label, and an empty cell is no label."""
    if value is None or value != value:
        return NO_LABEL
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def labels_of_array(source: Source) -> Any:
    """Return a vector of labels from a .npy, .npz or .mat file."""
    suffix = source.path.suffix.lower()
    if suffix == ".npy":
        values = arrays.load_npy(source.path)
    elif suffix == ".npz" and source.key is not None:
        values = arrays.load_npz(source.path, source.key)
    elif suffix == ".mat" and source.key is not None:
        _, values = matlab.load(source.path, source.key)
    else:
        raise InputError(
            f"{source.text} does not name labels; give a table, a .npy file, or FILE::KEY for .npz "
            "and .mat files."
        )
    values = np.squeeze(np.asarray(values))
    if values.ndim != 1:
        shape = " × ".join(map(str, values.shape)) or "a single value"
        raise InputError(f"{source.text} does not hold one label per sample; its shape is {shape}.")
    return values


def labels_csv(ids: AnyArray, labels: Labels, confidence: Array) -> bytes:
    """Return a table with the columns id, label and confidence as bytes of a .csv file."""
    columns = (ids, labels, np.round(confidence, 4))
    frame = pandas().DataFrame(dict(zip(LABEL_COLUMNS, columns, strict=True)))
    # pandas does not quote a carriage return by default.
    has_line_breaks = any(set(str(name)) & set("\r\n") for name in ids)
    quoting = csv.QUOTE_NONNUMERIC if has_line_breaks else csv.QUOTE_MINIMAL
    return bytes(frame.to_csv(index=False, quoting=quoting, lineterminator="\n").encode())


def is_labels_csv(path: Path) -> bool:
    """Return whether a file begins like a table of labels that viewspan wrote."""
    with path.open("rb") as file:
        first_line = file.readline(100)
    return first_line.replace(b'"', b"").strip() == ",".join(LABEL_COLUMNS).encode()
