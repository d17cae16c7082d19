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

from viewspan._files import write_whole
from viewspan.commands.progress_bar import ProgressBar
from viewspan.commands.record import record_of
from viewspan.commands.summary import show
from viewspan.commands.terminal import Terminal
from viewspan.metrics import subspace_clustering_accuracy
from viewspan.persistence import save
from viewspan.report import html_report
from viewspan.tables import Aligned, InputError, Reading, align, read
from viewspan.tables.align import Missing
from viewspan.tables.labels import NO_LABEL, labels_csv, read_labels

WRITTEN = ("labels.csv", "model", "run.json", "report.html")
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


@dataclass
class Outcome:
    """What came of it."""

    aligned: Aligned
    model: Any
    seconds: dict[str, float]
    scores: dict[str, float]
    notes: list[str]


def run(job: Job, terminal: Terminal) -> list[Path]:
    """Do it, and tell what was written."""
    check_folder(job.out, force=job.force)
    shapes = [parse_shape(text) for text in job.image_shapes]
    seconds: dict[str, float] = {}
    with timed(seconds, "reading"):
        tables = [table for source in job.sources for table in read(source, job.reading)]
        aligned = align(tables, job.reading, job.missing)
        truth = None
        if job.truth is not None:
            truth = read_labels(job.truth, job.reading, aligned.ids, aligned.n_samples)
        exemplars = views_of_shape(aligned, shapes)
    with timed(seconds, "clustering"), collected_warnings(job.reading):
        model = fit(job.model, aligned, terminal)
    scores = {} if truth is None else scores_of(truth, model.labels_, job.reading)
    outcome = Outcome(aligned, model, seconds, scores, job.reading.notes)
    if not terminal.quiet:
        show(outcome, terminal.console)
    terminal.notes(outcome.notes)
    return write(job, outcome, exemplars)


def fit(model: Any, aligned: Aligned, terminal: Terminal) -> Any:
    if terminal.quiet or model.verbose:
        return model.fit(aligned.views)
    with ProgressBar(terminal.console) as bar:
        return model.set_params(callback=bar).fit(aligned.views)


def write(job: Job, outcome: Outcome, exemplars: dict[str, tuple[int, ...]]) -> list[Path]:
    """Everything, each file whole or not at all."""
    job.out.mkdir(parents=True, exist_ok=True)
    labels, model, record, report = (job.out / name for name in WRITTEN)
    with timed(outcome.seconds, "writing"), collected_warnings(job.reading):
        ids = outcome.aligned.sample_ids
        write_whole(labels, labels_csv(ids, outcome.model.labels_, outcome.model.confidence_))
        save(outcome.model, model)
        if job.report:
            write_whole(report, page_of(job, outcome, exemplars).encode())
    write_whole(record, record_of(job, outcome))
    return [labels, *([report] if job.report else []), model, record]


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


def check_folder(out: Path, *, force: bool) -> None:
    """Before the work, not after it."""
    if out.exists() and not out.is_dir():
        raise InputError(f"{out} is a file; --out names a folder.")
    there = [name for name in WRITTEN if (out / name).exists()]
    if there and not force:
        raise InputError(
            f"{out} already has {there[0]}; name another folder, or give --force to replace what is there."
        )


def parse_shape(text: str) -> tuple[int, ...]:
    found = SHAPE.match(text)
    if found is None:
        raise InputError(f"--image-shape must be like 8x8, or 8x8x3 for colour. Got {text!r} instead.")
    return tuple(int(size) for size in found.groups() if size is not None)


def views_of_shape(aligned: Aligned, shapes: Sequence[tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
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
        reading.note(f"{int((~known).sum())} of {len(known)} samples have no true label and are not scored.")
    return {
        "accuracy": subspace_clustering_accuracy(truth[known], labels[known]),
        "adjusted Rand index": float(adjusted_rand_score(truth[known], labels[known])),
        "normalised mutual information": float(normalized_mutual_info_score(truth[known], labels[known])),
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
