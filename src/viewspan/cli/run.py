"""The steps of ``viewspan cluster``: read, fit, score and write.

Every step imports what it needs when it begins, so that a mistake in the options or in a file is
reported before scikit-learn and matplotlib are imported.
"""

from pathlib import Path

from viewspan._utils import signals
from viewspan.cli.folder import check_output_folder, locked_output_folder
from viewspan.cli.job import Job, timed
from viewspan.cli.parameters import check_combination
from viewspan.cli.terminal import Terminal


def run(job: Job, terminal: Terminal) -> list[Path]:
    """Run a job and return the paths of the written files."""
    check_job(job)
    with signals.immediate_exit():
        import viewspan.cli.inputs  # noqa: F401  # before there is a folder to clean up
    with locked_output_folder(job.out, force=job.force, inputs=job.inputs):
        return run_in_locked_folder(job, terminal)


def check_job(job: Job) -> None:
    """Raise an error for a mistake that can be told without reading the files."""
    job.check_files()
    check_output_folder(job.out, force=job.force, inputs=job.inputs)
    if job.method == "clrsc":
        check_combination(job.parameters)


def run_in_locked_folder(job: Job, terminal: Terminal) -> list[Path]:
    """Run a job whose output folder is locked already."""
    from viewspan.cli.inputs import read_inputs, warnings_as_notes

    seconds: dict[str, float] = {}
    with timed(seconds, "reading"), warnings_as_notes(job.reading):
        inputs = read_inputs(job)
    with signals.signals_deferred():
        from viewspan.cli.fitting import fit_and_write
    return fit_and_write(job, inputs, terminal, seconds)
