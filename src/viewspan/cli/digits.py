"""The work of ``viewspan demo``: the accuracies, the files and the report of the digits."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import typer

from viewspan import CLRSC
from viewspan._utils.files import created_folder, remove_all
from viewspan.cli.folder import locked_output_folder, write_files
from viewspan.cli.job import Job
from viewspan.cli.run import run_in_locked_folder
from viewspan.cli.terminal import Terminal
from viewspan.datasets import load_digit_halves
from viewspan.io.readers.table import InputError, Reading
from viewspan.metrics import subspace_clustering_accuracy


def print_accuracies() -> None:
    """Print the accuracy of each view and of all views, the chosen weights and the certificate."""
    views, truth = load_digit_halves()
    typer.echo(f"{len(truth)} handwritten digits in 3 views: left halves, right halves, noise\n")
    typer.echo("Accuracy of each view alone:")
    for name, view in views.items():
        labels = CLRSC(n_clusters=10, random_state=0).fit_predict(view)
        typer.echo(f"  {name:<7} {subspace_clustering_accuracy(truth, labels):5.1f} %")
    start = time.perf_counter()
    model = CLRSC(n_clusters=10, random_state=0).fit(views)
    seconds = time.perf_counter() - start
    accuracy = subspace_clustering_accuracy(truth, model.labels_)
    typer.echo(f"Accuracy of all views together ({seconds:.1f} s):\n          {accuracy:5.1f} %\n")
    typer.echo("Parameters chosen from the data:")
    for name, weight, lam in zip(views, model.view_weights_, model.lam_, strict=True):
        typer.echo(f"  {name:<7} view weight {weight:.2f}, lam = {lam:.3g}")
    typer.echo(f"  tau = {model.tau_:.3g}\n")
    typer.echo(
        f"The objective is {model.objective_:.6g} after {model.n_iter_} iterations, proven to be "
        f"within {100 * model.dual_gap_:.4f} % of the optimum."
    )


def write_demo(out: Path, *, force: bool) -> None:
    """Write the digits as files, cluster them, and print the paths of the written files."""
    terminal = Terminal()
    with locked_output_folder(out, force=force), digit_files(out / "files") as files:
        *views, truth = map(str, files)
        job = Job(
            sources=views,
            out=out,
            method="clrsc",
            parameters={"n_clusters": 10, "random_state": 0},
            reading=Reading(id_column="digit"),
            truth=truth,
            image_shapes=[(8, 4)],
            command=[
                *("viewspan", "cluster", *views, "--id", "digit", "--n-clusters", "10"),
                *("--labels", truth, "--image-shape", "8x4", "--out", str(out)),
            ],
        )
        written = run_in_locked_folder(job, terminal)
    for path in written:
        typer.echo(path)
    if not terminal.quiet:
        terminal.print_message(f"Open {out / 'report.html'} in a browser.")


@contextmanager
def digit_files(folder: Path) -> Iterator[list[Path]]:
    """Write the tables of digits to files, and remove the new ones if the block fails."""
    contents = digit_tables()
    new = [folder / name for name in contents if not (folder / name).exists()]
    for name, content in contents.items():
        path = folder / name
        if path not in new and path.read_bytes() != content:
            raise InputError(f"{path} already exists with other content; choose another --out.")
    with created_folder(folder):
        try:
            yield write_files(folder, contents)
        except BaseException:
            remove_all(new)
            raise


def digit_tables() -> dict[str, bytes]:
    """Return one CSV file per view, each with its rows in another order, and the true labels."""
    import pandas as pd  # here, because it takes long to load

    views, labels = load_digit_halves()
    ids = [f"d{position:04d}" for position in range(len(labels))]
    contents = {}
    for seed, (name, values) in enumerate(views.items()):
        order = np.random.default_rng(seed).permutation(len(ids))
        table = pd.DataFrame(values, index=pd.Index(ids, name="digit")).add_prefix("pixel ")
        contents[f"{name}.csv"] = table.iloc[order].to_csv().encode()
    truth = pd.DataFrame({"digit": ids, "is": labels})
    return contents | {"truth.csv": truth.to_csv(index=False).encode()}
