"""Fit the model of a job, and write its results."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from viewspan import estimators
from viewspan._utils.signals import signals_deferred
from viewspan.cli.folder import OUTPUT_NAMES, RECORD_NAME, write_files
from viewspan.cli.inputs import warnings_as_notes
from viewspan.cli.job import Inputs, Job, Outcome, timed
from viewspan.cli.progress_bar import ProgressBar
from viewspan.cli.record import make_record
from viewspan.cli.terminal import Terminal
from viewspan.io.models import as_bytes
from viewspan.io.readers.labels import NO_LABEL, labels_csv
from viewspan.io.readers.table import Reading, Table
from viewspan.metrics import subspace_clustering_accuracy


def fit_and_write(
    job: Job, inputs: Inputs, terminal: Terminal, seconds: dict[str, float]
) -> list[Path]:
    """Fit, print a summary, write all files and return their paths."""
    outcome = fit_and_score(job, inputs, terminal, seconds)
    if not terminal.quiet:
        with signals_deferred():
            from viewspan.cli.summary import print_summary  # here, because it needs matplotlib
        print_summary(outcome, terminal.console)
    terminal.print_notes(outcome.notes)
    return write(job, outcome, terminal)


def fit_and_score(
    job: Job, inputs: Inputs, terminal: Terminal, seconds: dict[str, float]
) -> Outcome:
    with timed(seconds, "clustering"), warnings_as_notes(job.reading):
        model = fit(make_estimator(job), inputs.aligned.views, terminal)
        set_feature_names(model, inputs.aligned.tables)
    scores = {}
    if inputs.truth is not None:
        scores = compute_scores(inputs.truth, model.labels_, job.reading)
    return Outcome(inputs, model, seconds, scores, job.reading.notes)


def make_estimator(job: Job) -> Any:
    return getattr(estimators, job.method.upper())(**job.parameters)


def fit(model: Any, views: dict[str, Any], terminal: Terminal) -> Any:
    if terminal.quiet or model.verbose:
        return model.fit(views)
    with ProgressBar(terminal.console) as bar:
        model.set_params(callback=bar).fit(views)
    return model.set_params(callback=None)  # the report shows the parameters


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


def write(job: Job, outcome: Outcome, terminal: Terminal) -> list[Path]:
    """Make the contents of all files, then write them together."""
    model, ids = outcome.model, outcome.inputs.aligned.sample_ids
    contents = {"labels.csv": labels_csv(ids, model.labels_, model.confidence_)}
    with timed(outcome.seconds, "drawing"), warnings_as_notes(job.reading):
        if job.report:
            contents["report.html"] = make_report(job, outcome, terminal).encode("utf-8", "replace")
    contents["model"] = as_bytes(model)
    contents[RECORD_NAME] = make_record(job, outcome, contents)
    return write_files(
        job.out, contents, obsolete=[name for name in OUTPUT_NAMES if name not in contents]
    )


def make_report(job: Job, outcome: Outcome, terminal: Terminal) -> str:
    if terminal.quiet:
        return draw_report(job, outcome)
    with ProgressBar(terminal.console) as bar:
        return draw_report(job, outcome, bar)


def draw_report(job: Job, outcome: Outcome, bar: ProgressBar | None = None) -> str:
    with signals_deferred():
        from viewspan.report import html_report  # here, because it needs matplotlib

    inputs = outcome.inputs
    return html_report(
        outcome.model,
        ids=inputs.aligned.sample_ids,
        views=inputs.aligned.views,
        image_shapes=inputs.image_shapes,
        scores=outcome.scores,
        seconds=outcome.seconds,
        notes=outcome.notes,
        command=shlex.join(job.command),
        callback=bar,
    )
