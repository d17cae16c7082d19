"""True labels, to score against; and labels that were found, for others to use."""

import csv
from typing import Any

import numpy as np

from viewspan._utils.optional import require
from viewspan._utils.typing import AnyArray, Array, Labels
from viewspan.io.readers import arrays, delimited, matlab, parquet
from viewspan.io.readers.layout import UNNAMED
from viewspan.io.readers.read import Source, checked_ids, format_of, told_of
from viewspan.io.readers.table import InputError, Reading, listed

NO_LABEL = ""


def read_labels(text: str, reading: Reading, ids: AnyArray | None, n_samples: int) -> AnyArray:
    """One label per sample as text, empty where there is none.

    Parameters
    ----------
    text : str
        ``file``, or ``file::column`` of a table, ``file::key`` of arrays.
    reading : Reading
        With ids, labels of a table are matched by the same column.
    ids : array of str, optional
        Of the samples, if they have any.
    n_samples : int
    """
    source = Source.parse(text)
    chosen = format_of(source.path)
    with told_of(source.path):
        if chosen.read in (delimited.read_text, parquet.read_parquet):
            return from_table(source, reading, ids, n_samples)
        values = vector(source)
        if len(values) != n_samples:
            raise InputError(f"{text} has {len(values)} labels for {n_samples} samples.")
        return np.array([as_word(text, value) for value in values], dtype=str)


def as_word(text: str, value: Any) -> str:
    """MATLAB keeps every word of a list in a list of its own."""
    inner = np.asarray(value).ravel()
    if inner.size > 1 or inner.dtype.names:
        raise InputError(
            f"{text} is not one label per sample; one of them has {inner.size} values."
        )
    return str(inner[0]) if inner.size else NO_LABEL


def from_table(source: Source, reading: Reading, ids: AnyArray | None, n_samples: int) -> AnyArray:
    is_parquet = source.path.suffix.lower() == ".parquet"
    frame = (parquet.load_parquet if is_parquet else delimited.load_text)(source.path, reading)
    known = reading.id_column if reading.id_column in frame.columns else first_if_unnamed(frame)
    column = label_column(source, [str(name) for name in frame.columns if name != known])
    found = frame[column].map(as_text)
    if ids is not None and known is not None:
        named = dict(zip(checked_ids(source.path, frame[known]), found, strict=True))
        labels = np.array([named.get(name, NO_LABEL) for name in ids])
        if not labels.any():
            raise InputError(f"{source.path} has none of the samples' ids in column {known!r}.")
        return labels
    if len(found) != n_samples:
        hint = " Its samples are matched by --id if it has that column." if ids is not None else ""
        raise InputError(f"{source.path} has {len(found)} labels for {n_samples} samples.{hint}")
    if ids is not None:
        reading.note(
            f"{source.path}: without ids; the labels are taken to be in the order of the samples."
        )
    return np.array(found, dtype=str)


def first_if_unnamed(frame: Any) -> str | None:
    return UNNAMED if str(frame.columns[0]) == UNNAMED else None


def label_column(source: Source, columns: list[str]) -> str:
    if source.key is not None:
        if source.key not in columns:
            raise InputError(
                f"{source.path} has no column {source.key!r}; it has {listed(columns)}."
            )
        return source.key
    if len(columns) != 1:
        raise InputError(
            f"{source.path} has the columns {listed(columns)}; say which with {source.path.name}::COLUMN."
        )
    return columns[0]


def as_text(value: Any) -> str:
    """1.0 and 1 are the same label, and an empty cell is none."""
    if value is None or value != value:
        return NO_LABEL
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def vector(source: Source) -> Any:
    """One number or word per sample."""
    suffix = source.path.suffix.lower()
    if suffix == ".npy":
        values = arrays.load_npy(source.path)
    elif suffix in {".npz", ".mat"} and source.key is not None:
        parts = {part.key: part for part in format_of(source.path).contents(source.path)}
        if source.key not in parts:
            raise InputError(arrays.no_key(source.path, source.key, parts))
        values = (
            matlab.load(source.path, source.key)
            if suffix == ".mat"
            else arrays.load_npz(source.path, source.key)
        )
    else:
        raise InputError(
            f"{source.text} names no labels: give a table, a .npy file, or FILE::KEY of .npz or .mat."
        )
    values = np.squeeze(np.asarray(values))
    if values.ndim != 1:
        raise InputError(f"{source.text} is not one label per sample; it has shape {values.shape}.")
    return values


def labels_csv(ids: AnyArray, labels: Labels, confidence: Array) -> bytes:
    """The table that is written: id, label, confidence."""
    pd = require("pandas", "cli", purpose="Writing tables")
    frame = pd.DataFrame({"id": ids, "label": labels, "confidence": np.round(confidence, 4)})
    unusual = any(
        set(str(name)) & set("\r\n") for name in ids
    )  # pandas would not quote the first of these
    quoting = csv.QUOTE_NONNUMERIC if unusual else csv.QUOTE_MINIMAL
    return bytes(frame.to_csv(index=False, quoting=quoting, lineterminator="\n").encode())
