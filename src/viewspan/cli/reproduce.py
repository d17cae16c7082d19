"""``viewspan reproduce``: the paper's studies."""

import time
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from viewspan.cli.terminal import Terminal, one_sentence

FAILURES = (OSError, ValueError, RuntimeError, ModuleNotFoundError)


class StudyName(StrEnum):
    """The paper's studies."""

    SYNTHETIC = "synthetic"
    MINERALS = "minerals"
    FACES = "faces"
    ALL = "all"


def reproduce(
    study: Annotated[StudyName, typer.Argument(help="Which of the paper's studies.")],
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            file_okay=False,
            help="Folder for results; the same command goes on there.",
        ),
    ],
    trials: Annotated[int, typer.Option(min=1, help="How many times the data is drawn.")] = 50,
    jobs: Annotated[int, typer.Option(help="Trials at the same time; -1 is one per core.")] = -1,
    seed: Annotated[int, typer.Option(min=0, help="Every trial's own seed follows from it.")] = 0,
    tune: Annotated[
        bool,
        typer.Option(
            "--tune", help="Also the best of a grid for every method, chosen with the labels."
        ),
    ] = False,
    mineral_copies: Annotated[
        int,
        typer.Option(min=1, help="Copies of every mixture: 10 in the paper, 20 in its program."),
    ] = 10,
) -> None:
    """Repeat the paper's studies: tables and figures of every method, noise level and trial.

    Minerals and faces need data, which is looked for in the folder named by VIEWSPAN_DATA, then in a cache, and is
    otherwise downloaded. A run that was interrupted goes on where it stopped.

    - `viewspan reproduce synthetic -o results --trials 5` takes a minute and needs no data;
    - `viewspan reproduce all -o results` runs everything.
    """

    def kept() -> str:
        return (
            f"What is finished is kept in {out}; the same command goes on from there."
            if any(trials_in(out))
            else ""
        )

    console, start = Terminal().console, time.perf_counter()
    names = (
        [name.value for name in StudyName if name is not StudyName.ALL]
        if study is StudyName.ALL
        else [study.value]
    )
    with one_sentence("reproduce", failures=FAILURES, kept=kept):
        from viewspan.studies.reproduce import reproduce as run_studies

        written = run_studies(
            names,
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


def trials_in(out: Path) -> Iterator[Path]:
    return (out / "trials").glob("*/[0-9]*.json")
