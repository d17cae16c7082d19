"""The work of ``viewspan cluster``: read, align, fit, score and write."""

import shlex
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from viewspan.cli.folder import OUTPUT_NAMES, RECORD_NAME, locked_output_folder, write_files
from viewspan.cli.inputs import (
    check_labels_not_in_views,
    check_no_missing_values,
    parse_image_shape,
    read_all,
    views_of_images,
    warnings_as_notes,
)
from viewspan.cli.job import Job, Outcome
from viewspan.cli.progress_bar import ProgressBar
from viewspan.cli.record import describe_file, make_record
from viewspan.cli.summary import print_summary
from viewspan.cli.terminal import Terminal
from viewspan.io.models import as_bytes
from viewspan.io.readers.align import Aligned, align
from viewspan.io.readers.labels import NO_LABEL, labels_csv, read_labels
from viewspan.io.readers.table import Reading, Table
from viewspan.metrics import subspace_clustering_accuracy
from viewspan.report import html_report


def run(job: Job, terminal: Terminal) -> list[Path]:
    """Run a job and return the paths of the written files."""
    with locked_output_folder(job.out, force=job.force, inputs=job.inputs):
        return run_in_locked_folder(job, terminal)


def run_in_locked_folder(job: Job, terminal: Terminal) -> list[Path]:
    """Run a job whose output folder is locked already."""
    outcome = read_and_fit(job, terminal)
    if not terminal.quiet:
        print_summary(outcome, terminal.console)
    terminal.print_notes(outcome.notes)
    return write(job, outcome)


def read_and_fit(job: Job, terminal: Terminal) -> Outcome:
    shapes = [parse_image_shape(text) for text in job.image_shapes]
    seconds: dict[str, float] = {}
    with timed(seconds, "reading"), warnings_as_notes(job.reading):
        tables = read_all(job.sources, job.reading)
        if job.missing != "allow":
            check_no_missing_values(tables)
        aligned = align(tables, job.reading, job.missing)
        truth = None
        if job.truth is not None:
            truth = read_labels(job.truth, job.reading, aligned.ids, aligned.n_samples)
            check_labels_not_in_views(job.truth, tables)
        image_shapes = views_of_images(aligned, shapes)
        # The checksums are computed now, because the files may change or vanish during the fit.
        files = [describe_file(table.path) for table in aligned.tables]
    with timed(seconds, "clustering"), warnings_as_notes(job.reading):
        model = fit(job.model, aligned, terminal)
        set_feature_names(model, aligned.tables)
    scores = {} if truth is None else compute_scores(truth, model.labels_, job.reading)
    return Outcome(aligned, files, image_shapes, model, seconds, scores, job.reading.notes)


def fit(model: Any, aligned: Aligned, terminal: Terminal) -> Any:
    if terminal.quiet or model.verbose:
        return model.fit(aligned.views)
    with ProgressBar(terminal.console) as bar:
        return model.set_params(callback=bar).fit(aligned.views)


def set_feature_names(model: Any, tables: Sequence[Table]) -> None:
    """Store the names of all features, since the estimator does not see those of sparse tables."""
    names = tuple(table.columns for table in tables)
    if any(columns is not None for columns in names):
        model.feature_names_in_ = tuple(
            None if columns is None else columns.astype(object) for columns in names
        )


def compute_scores(truth: Any, labels: Any, reading: Reading) -> dict[str, float]:
    """Return the scores of the samples that have a true label."""
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


def write(job: Job, outcome: Outcome) -> list[Path]:
    """Make the contents of all files, then write them together."""
    model, ids = outcome.model, outcome.aligned.sample_ids
    contents = {"labels.csv": labels_csv(ids, model.labels_, model.confidence_)}
    with timed(outcome.seconds, "drawing"), warnings_as_notes(job.reading):
        if job.report:
            contents["report.html"] = make_report(job, outcome).encode("utf-8", "replace")
    contents["model"] = as_bytes(model)
    contents[RECORD_NAME] = make_record(job, outcome, contents)
    return write_files(
        job.out, contents, obsolete=[name for name in OUTPUT_NAMES if name not in contents]
    )


def make_report(job: Job, outcome: Outcome) -> str:
    return html_report(
        outcome.model,
        ids=outcome.aligned.sample_ids,
        views=outcome.aligned.views,
        image_shapes=outcome.image_shapes,
        scores=outcome.scores,
        seconds=outcome.seconds,
        notes=outcome.notes,
        command=shlex.join(job.command),
    )


@contextmanager
def timed(seconds: dict[str, float], stage: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    seconds[stage] = time.perf_counter() - start
