"""``viewspan reproduce``: repeat the studies of the paper."""

import time
from pathlib import Path
from typing import Annotated, Literal

import typer

from viewspan._utils.signals import immediate_exit
from viewspan.cli.folder import check_not_a_file
from viewspan.cli.options import out_path
from viewspan.cli.terminal import Terminal, exit_on_error
from viewspan.io.readers.table import InputError

STUDIES = ("synthetic", "minerals", "faces")
STUDY_FAILURES = (OSError, ValueError, RuntimeError, ModuleNotFoundError)
"""Errors of a study. The exit code is FAILED, also if a method or its data is the cause."""


def reproduce(
    study: Annotated[
        Literal["synthetic", "minerals", "faces", "all"],
        typer.Argument(
            metavar="STUDY", show_choices=False, help="One of synthetic, minerals, faces, or all."
        ),
    ],
    out: Annotated[Path, out_path("FOLDER", "Output folder. An interrupted run continues there.")],
    trials: Annotated[
        int, typer.Option(min=1, metavar="N", help="Number of random draws of the data.")
    ] = 50,
    jobs: Annotated[
        int, typer.Option(metavar="N", help="Number of parallel trials; -1 for one per core.")
    ] = -1,
    seed: Annotated[
        int, typer.Option(min=0, metavar="N", help="Random seed from which all trials derive.")
    ] = 0,
    tune: Annotated[
        bool,
        typer.Option(
            "--tune",
            help="Also tune every method on a grid of parameters, scored with the true labels.",
        ),
    ] = False,
    mineral_copies: Annotated[
        int,
        typer.Option(
            min=1,
            metavar="N",
            help="Samples per mineral mixture: 10 in the paper, 20 in the authors' program.",
        ),
    ] = 10,
) -> None:
    """Repeat the studies of the paper, and write their tables and figures.

    The data of the studies minerals and faces is taken from the folder VIEWSPAN_DATA, else from the
    cache, else it is downloaded. An interrupted run continues when the same command is run again.

    - `viewspan reproduce synthetic -o results --trials 5` takes a minute and needs no data.
    - `viewspan reproduce all -o results` runs everything.
    """

    def remark() -> str:
        if not any((out / "trials").glob("*/[0-9]*.json")):
            return ""
        return f"Finished trials are kept in {out}; run the same command again to continue."

    console, start = Terminal().console, time.perf_counter()
    with exit_on_error("reproduce", failures=STUDY_FAILURES, remark=remark):
        check_not_a_file(out)
        if jobs == 0:
            raise InputError("--jobs must be a whole number other than 0. Got 0 instead.")
        with immediate_exit():
            # here, because it needs the extra "studies"
            from viewspan.studies.reproduce import reproduce as run_studies
        written = run_studies(
            STUDIES if study == "all" else [study],
            out,
            trials=trials,
            jobs=jobs,
            seed=seed,
            tune=tune,
            mineral_copies=mineral_copies,
            console=console,
        )
        console.print(f"{time.perf_counter() - start:.0f} s. Written:")
        for path in written:
            typer.echo(path)
