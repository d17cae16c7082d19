"""From files to files: read, align, cluster, score, write."""

import re
import shlex
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from viewspan.cli.folder import WRITTEN, claimed, write_all
from viewspan.cli.progress_bar import ProgressBar
from viewspan.cli.record import file_facts, record_of
from viewspan.cli.summary import show
from viewspan.cli.terminal import Terminal
from viewspan.io.models import as_bytes
from viewspan.io.readers import Aligned, InputError, Reading, Table, align, read
from viewspan.io.readers.align import Missing
from viewspan.io.readers.labels import NO_LABEL, labels_csv, read_labels
from viewspan.io.readers.read import Source
from viewspan.metrics import subspace_clustering_accuracy
from viewspan.report import html_report

SHAPE = re.compile(r"(\d+)[x×](\d+)(?:[x×]([13]))?$")


@dataclass(frozen=True)
class Job:
    """What was asked for on the command line."""

    sources: Sequence[str]
    out: Path
    model: Any
    reading: Reading = field(default_factory=Reading)
    missing: Missing = "forbid"
    truth: str | None = None
    image_shapes: Sequence[str] = ()
    report: bool = True
    force: bool = False
    command: Sequence[str] = ()

    @property
    def inputs(self) -> list[Path]:
        """The files that the run reads."""
        sources = self.sources if self.truth is None else [*self.sources, self.truth]
        return [Source.parse(source).path for source in sources]


@dataclass
class Outcome:
    """What came of it."""

    aligned: Aligned
    files: list[dict[str, Any]]
    model: Any
    seconds: dict[str, float]
    scores: dict[str, float]
    notes: list[str]


def run(job: Job, terminal: Terminal) -> list[Path]:
    """Do it, and tell what was written."""
    with claimed(job.out, force=job.force, inputs=job.inputs):
        return run_here(job, terminal)


def run_here(job: Job, terminal: Terminal) -> list[Path]:
    """In a folder that is claimed already."""
    outcome, exemplars = work(job, terminal)
    if not terminal.quiet:
        show(outcome, terminal.console)
    terminal.notes(outcome.notes)
    return write(job, outcome, exemplars)


def work(job: Job, terminal: Terminal) -> tuple[Outcome, dict[str, tuple[int, ...]]]:
    """Read and cluster; what came of it, and which views are pictures."""
    shapes = [parse_shape(text) for text in job.image_shapes]
    seconds: dict[str, float] = {}
    with timed(seconds, "reading"), collected_warnings(job.reading):
        tables = read_all(job.sources, job.reading)
        if job.missing != "allow":
            check_gaps(tables)
        aligned = align(tables, job.reading, job.missing)
        truth = None
        if job.truth is not None:
            truth = read_labels(job.truth, job.reading, aligned.ids, aligned.n_samples)
            check_no_leak(job.truth, tables)
        exemplars = views_of_shape(aligned, shapes)
        files = [
            file_facts(table.path) for table in aligned.tables
        ]  # now: later they may have gone
    with timed(seconds, "clustering"), collected_warnings(job.reading):
        model = fit(job.model, aligned, terminal)
        name_features(model, aligned.tables)
    scores = {} if truth is None else scores_of(truth, model.labels_, job.reading)
    return Outcome(aligned, files, model, seconds, scores, job.reading.notes), exemplars


def fit(model: Any, aligned: Aligned, terminal: Terminal) -> Any:
    if terminal.quiet or model.verbose:
        return model.fit(aligned.views)
    with ProgressBar(terminal.console) as bar:
        return model.set_params(callback=bar).fit(aligned.views)


def name_features(model: Any, tables: Sequence[Table]) -> None:
    """Also of sparse tables, whose names the estimator cannot see."""
    names = tuple(table.columns for table in tables)
    if any(columns is not None for columns in names):
        model.feature_names_in_ = tuple(
            None if columns is None else columns.astype(object) for columns in names
        )


def write(job: Job, outcome: Outcome, exemplars: dict[str, tuple[int, ...]]) -> list[Path]:
    """Everything is made before anything is written."""
    with timed(outcome.seconds, "drawing"), collected_warnings(job.reading):
        page = page_of(job, outcome, exemplars) if job.report else None
    contents = {
        "labels.csv": labels_csv(
            outcome.aligned.sample_ids, outcome.model.labels_, outcome.model.confidence_
        ),
        "report.html": None if page is None else page.encode("utf-8", "replace"),
        "model": as_bytes(outcome.model),
    }
    written = {job.out / name: content for name, content in contents.items() if content is not None}
    written[job.out / "run.json"] = record_of(job, outcome, written)
    return write_all(
        written, without=tuple(job.out / name for name in WRITTEN if job.out / name not in written)
    )


def page_of(job: Job, outcome: Outcome, exemplars: dict[str, tuple[int, ...]]) -> str:
    return html_report(
        outcome.model,
        ids=outcome.aligned.sample_ids,
        views=outcome.aligned.views,
        image_shapes=exemplars,
        scores=outcome.scores,
        seconds=outcome.seconds,
        notes=outcome.notes,
        command=shlex.join(job.command),
    )


def read_all(sources: Sequence[str], reading: Reading) -> list[Table]:
    """All views; what was asked of the files' columns must be there."""
    tables = [table for source in sources for table in read(source, reading)]
    for name in reading.ignored:
        if name not in reading.left_out:
            raise InputError(f"No file has a column {name!r} for --ignore.")
    if reading.id_column is not None and all(table.ids is None for table in tables):
        raise InputError(
            f"None of the files has columns with names, so there is no {reading.id_column!r} for --id."
        )
    return tables


def check_gaps(tables: Sequence[Table]) -> None:
    """Say where, which only tables can."""
    for table in tables:
        if not hasattr(table.values, "isna"):
            continue
        unknown = np.asarray(table.values.isna())
        if unknown.any():
            row, column = np.argwhere(unknown)[0]
            more = (
                f", and {unknown.sum() - 1} other cells are empty, too" if unknown.sum() > 1 else ""
            )
            raise InputError(
                f"{table.source}: column {table.values.columns[column]!r} has no value in row {row + 1}{more}; fill "
                "them in, or leave out those rows or columns."
            )


def check_no_leak(truth: str, tables: Sequence[Table]) -> None:
    """The answer must not be among the features."""
    source = Source.parse(truth)
    for table in tables:
        if table.path == source.path and table.columns is not None and source.key in table.columns:
            raise InputError(
                f"{truth} is also a feature of {table.source}; leave it out of the view with --ignore {source.key!r}."
            )


def parse_shape(text: str) -> tuple[int, ...]:
    found = SHAPE.match(text)
    if found is None:
        raise InputError(
            f"--image-shape must be like 8x8, or 8x8x3 for colour. Got {text!r} instead."
        )
    return tuple(int(size) for size in found.groups() if size is not None)


def views_of_shape(
    aligned: Aligned, shapes: Sequence[tuple[int, ...]]
) -> dict[str, tuple[int, ...]]:
    """The views whose samples are pictures of these shapes."""
    found = {}
    for shape in shapes:
        fitting = [table.name for table in aligned.tables if table.shape[1] == int(np.prod(shape))]
        if not fitting:
            features = ", ".join(f"{table.source} has {table.shape[1]}" for table in aligned.tables)
            raise InputError(
                f"--image-shape {'x'.join(map(str, shape))} needs {int(np.prod(shape))} columns in a view: {features}."
            )
        found.update(dict.fromkeys(fitting, shape))
    return found


def scores_of(truth: Any, labels: Any, reading: Reading) -> dict[str, float]:
    """Of the samples that have a true label."""
    known = truth != NO_LABEL
    if not known.all():
        reading.note(
            f"{int((~known).sum())} of {len(known)} samples have no true label and are not scored."
        )
    return {
        "accuracy": subspace_clustering_accuracy(truth[known], labels[known]),
        "adjusted Rand index": float(adjusted_rand_score(truth[known], labels[known])),
        "normalised mutual information": float(
            normalized_mutual_info_score(truth[known], labels[known])
        ),
    }


@contextmanager
def timed(seconds: dict[str, float], what: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    seconds[what] = time.perf_counter() - start


@contextmanager
def collected_warnings(reading: Reading) -> Iterator[None]:
    """What the library warns of is for the user, too."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", FutureWarning)
        yield
    for warning in caught:
        reading.note(str(warning.message))
