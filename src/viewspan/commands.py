"""What the ``viewspan`` command can do."""

import sys
import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from viewspan import __version__
from viewspan.cli import INTERRUPTED

app = typer.Typer(
    help="Clustering of samples that were observed in several ways.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)
FAILED, WRONG_INPUT = 1, 2


class StudyName(StrEnum):
    """The paper's studies."""

    SYNTHETIC = "synthetic"
    MINERALS = "minerals"
    FACES = "faces"
    ALL = "all"


def show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"viewspan {__version__}")
        raise typer.Exit


@app.callback()
def viewspan(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Clustering of samples that were observed in several ways."""


@app.command()
def reproduce(
    study: Annotated[StudyName, typer.Argument(help="Which of the paper's studies.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", file_okay=False, help="Folder for results; the same command goes on there.")
    ],
    trials: Annotated[int, typer.Option(min=1, help="How many times the data is drawn.")] = 50,
    jobs: Annotated[int, typer.Option(help="Trials at the same time; -1 is one per core.")] = -1,
    seed: Annotated[int, typer.Option(min=0, help="Every trial's own seed follows from it.")] = 0,
    tune: Annotated[
        bool, typer.Option("--tune", help="Also the best of a grid for every method, chosen with the labels.")
    ] = False,
    mineral_copies: Annotated[
        int, typer.Option(min=1, help="Copies of every mixture: 10 in the paper, 20 in its program.")
    ] = 10,
) -> None:
    """Repeat the paper's studies: tables and figures of every method, noise level and trial.

    Minerals and faces need data, which is looked for in the folder named by VIEWSPAN_DATA, then in a cache, and is
    otherwise downloaded. A run that was interrupted goes on where it stopped.

    - `viewspan reproduce synthetic -o results --trials 5` takes a minute and needs no data;
    - `viewspan reproduce all -o results` runs everything.
    """
    from viewspan.experiments.reproduce import reproduce as run_studies

    console, start = Console(stderr=True), time.perf_counter()
    names = [name.value for name in StudyName if name is not StudyName.ALL] if study is StudyName.ALL else [study.value]
    try:
        written = run_studies(
            names, out, trials=trials, jobs=jobs, seed=seed, tune=tune, mineral_copies=mineral_copies, console=console
        )
    except KeyboardInterrupt:
        console.print(f"Interrupted. What was finished is kept in {out}; the same command goes on from there.")
        sys.exit(INTERRUPTED)
    except (OSError, ValueError, RuntimeError, ModuleNotFoundError) as error:
        console.print(f"viewspan reproduce: {error}", markup=False, highlight=False, soft_wrap=True)
        if (out / "trials").exists():
            console.print("What is finished is kept; the same command goes on from there.")
        sys.exit(FAILED)
    console.print(f"{time.perf_counter() - start:.0f} s. Written:")
    for path in written:
        typer.echo(path)


@app.command()
def cluster(
    views: Annotated[list[Path], typer.Argument(help="One .npy file per view, samples in rows.", dir_okay=False)],
    n_clusters: Annotated[int, typer.Option("--n-clusters", "-k", min=1, help="How many clusters.")],
    out: Annotated[Path, typer.Option("--out", "-o", dir_okay=False, help="The .npy file for the labels.")],
    seed: Annotated[int, typer.Option(min=0, help="Of what is random.")] = 0,
) -> None:
    """Cluster samples from files of arrays, which are read in parts and may be larger than memory.

    - `viewspan cluster radar.npy optical.npy -k 10 -o labels.npy`
    """
    import numpy as np

    from viewspan import CLRSC
    from viewspan.progress_bar import ProgressBar

    console = Console(stderr=True)
    try:
        arrays = {str(path): np.load(path, mmap_mode="r") for path in views}
        with ProgressBar(console) as bar:
            model = CLRSC(n_clusters, random_state=seed, callback=bar).fit(arrays)
        np.save(out, model.labels_)
    except (OSError, ValueError, MemoryError) as error:
        console.print(f"viewspan cluster: {error}", markup=False, highlight=False, soft_wrap=True)
        sys.exit(WRONG_INPUT)
    console.print(f"{len(model.labels_)} samples, {n_clusters} clusters, certified gap {model.dual_gap_:.1e}. Written:")
    typer.echo(out)
