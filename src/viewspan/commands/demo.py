"""``viewspan demo``: a first run, on files like the user's own."""

from pathlib import Path
from typing import Annotated

import typer

from viewspan.commands import options as o
from viewspan.commands.terminal import Terminal, one_sentence

FILES = "files"


def demo(
    out: Annotated[
        Path | None, o.option("Options", "Also write the files and the report here.", "--out", "-o", metavar="FOLDER")
    ] = None,
    force: Annotated[
        bool, o.option("Options", "Replace what an earlier run wrote into the folder.", "--force")
    ] = False,
) -> None:
    """Cluster 1797 handwritten digits of which two observers see one half each and a third sees noise.

    - `viewspan demo -o demo` writes them as CSV files, clusters those, and leaves the report
    """
    if out is None:
        from viewspan.demo import main

        main()
        return
    with one_sentence("demo"):
        from viewspan import CLRSC
        from viewspan.commands.job import Job, check_folder, run
        from viewspan.tables import Reading

        check_folder(out, force=force)
        views, truth = write_files(out / FILES)
        job = Job(
            sources=[str(path) for path in views],
            out=out,
            model=CLRSC(10, random_state=0),
            reading=Reading(id_column="digit"),
            truth=str(truth),
            image_shapes=["8x4"],
            force=force,
            command=[
                *("viewspan", "cluster", *map(str, views), "--id", "digit", "--n-clusters", "10"),
                *("--labels", str(truth), "--image-shape", "8x4", "--out", str(out)),
            ],
        )
        for path in run(job, Terminal()):
            typer.echo(path)


def write_files(folder: Path) -> tuple[list[Path], Path]:
    """The digits as tables of text, each in an order of its own."""
    import numpy as np
    import pandas as pd

    from viewspan.demo import observed_digits

    folder.mkdir(parents=True, exist_ok=True)
    views, labels = observed_digits()
    ids = [f"d{position:04d}" for position in range(len(labels))]
    paths = []
    for seed, (name, values) in enumerate(views.items()):
        order = np.random.default_rng(seed).permutation(len(ids))
        frame = pd.DataFrame(values, index=pd.Index(ids, name="digit")).add_prefix("pixel ").iloc[order]
        paths.append(folder / f"{name}.csv")
        frame.to_csv(paths[-1])
    truth = folder / "truth.csv"
    pd.DataFrame({"digit": ids, "is": labels}).to_csv(truth, index=False)
    return paths, truth
