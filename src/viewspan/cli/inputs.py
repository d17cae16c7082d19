"""Input files of the commands: read and checked before anything is computed."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from viewspan.cli.job import Inputs, Job
from viewspan.cli.record import describe_file
from viewspan.io.readers.align import Aligned, align
from viewspan.io.readers.labels import read_labels
from viewspan.io.readers.read import read
from viewspan.io.readers.source import Source
from viewspan.io.readers.table import InputError, Reading, Table


def read_inputs(job: Job) -> Inputs:
    """Read and check all files of a job."""
    tables = read_all(job.sources, job.reading)
    if job.missing != "allow":
        check_no_missing_values(tables)
    aligned = align(tables, job.reading, job.missing)
    truth = None
    if job.truth is not None:
        truth = read_labels(job.truth, job.reading, aligned.ids, aligned.n_samples)
        check_labels_not_in_views(job.truth, tables)
    image_shapes = views_of_images(aligned, job.image_shapes)
    # The checksums are computed now, because the files may change or vanish during the fit.
    files = [describe_file(table.path) for table in aligned.tables]
    return Inputs(aligned, files, image_shapes, truth)


def read_all(sources: Sequence[str], reading: Reading) -> list[Table]:
    """Read all views, and raise InputError if no file has a column given to --ignore or --id."""
    tables = [table for source in sources for table in read(source, reading)]
    for name in reading.ignored:
        if name not in reading.left_out:
            raise InputError(f"No file has the column {name!r} given to --ignore.")
    if reading.id_column is not None and all(table.ids is None for table in tables):
        raise InputError(
            f"No file has named columns, so there is no column {reading.id_column!r} for --id."
        )
    return tables


def check_no_missing_values(tables: Sequence[Table]) -> None:
    """Raise InputError with the place of the first missing value in a table with named columns."""
    for table in tables:
        if not hasattr(table.values, "isna"):
            continue
        missing = np.asarray(table.values.isna())
        if missing.any():
            row, column = np.argwhere(missing)[0]
            raise InputError(
                f"{table.source}: column {table.values.columns[column]!r} has no value in row "
                f"{row + 1} (missing values in all: {missing.sum()}); fill them in, or remove "
                "these rows or columns."
            )


def check_labels_not_in_views(truth: str, tables: Sequence[Table]) -> None:
    """Raise InputError if the column of true labels is also a feature."""
    source = Source.parse(truth)
    for table in tables:
        if table.path == source.path and table.columns is not None and source.key in table.columns:
            raise InputError(
                f"{truth} is also a feature of {table.source}; remove it from the view with "
                f"--ignore {source.key!r}."
            )


def views_of_images(
    aligned: Aligned, shapes: Sequence[tuple[int, ...]]
) -> dict[str, tuple[int, ...]]:
    """Return the image shape of every view whose number of features fits one of the shapes."""
    found = {}
    for shape in shapes:
        n_pixels = int(np.prod(shape))
        matching = [table.name for table in aligned.tables if table.shape[1] == n_pixels]
        if not matching:
            sizes = ", ".join(f"{table.source} has {table.shape[1]}" for table in aligned.tables)
            raise InputError(
                f"--image-shape {'x'.join(map(str, shape))} needs a view with {n_pixels} columns: "
                f"{sizes}."
            )
        found.update(dict.fromkeys(matching, shape))
    return found


@contextmanager
def warnings_as_notes(reading: Reading) -> Iterator[None]:
    """Turn warnings into notes for the user, except deprecation and future warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", FutureWarning)
        yield
    for warning in caught:
        reading.note(str(warning.message))
