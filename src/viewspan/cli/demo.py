"""``viewspan demo``: a first run, on files like the user's own."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from viewspan.cli import options as o
from viewspan.cli.terminal import Terminal, one_sentence

FILES = "files"


def demo(
    out: Annotated[
        Path | None,
        o.option(
            "Options", "Also write the files and the report here.", "--out", "-o", metavar="FOLDER"
        ),
    ] = None,
    force: Annotated[
        bool, o.option("Options", "Replace what an earlier run wrote into the folder.", "--force")
    ] = False,
) -> None:
    """Cluster 1797 handwritten digits of which two observers see one half each and a third sees noise.

    - `viewspan demo -o demo` writes them as CSV files, clusters those, and leaves the report
    """
    with one_sentence("demo"):
        if out is None:
            from viewspan.datasets.observed_digits import main

            main()
            return
        from viewspan import CLRSC
        from viewspan.cli.folder import claimed
        from viewspan.cli.job import Job, run_here
        from viewspan.io.readers import Reading

        with claimed(out, force=force), written_files(out / FILES) as (views, truth):
            job = Job(
                sources=[str(path) for path in views],
                out=out,
                model=CLRSC(10, random_state=0),
                reading=Reading(id_column="digit"),
                truth=str(truth),
                image_shapes=["8x4"],
                command=[
                    *(
                        "viewspan",
                        "cluster",
                        *map(str, views),
                        "--id",
                        "digit",
                        "--n-clusters",
                        "10",
                    ),
                    *("--labels", str(truth), "--image-shape", "8x4", "--out", str(out)),
                ],
            )
            written = run_here(job, Terminal())
        for path in written:
            typer.echo(path)


@contextmanager
def written_files(folder: Path) -> Iterator[tuple[list[Path], Path]]:
    """The digits in files, which do not stay if clustering them fails."""
    from viewspan._utils.files import folder_for
    from viewspan.cli.folder import write_all
    from viewspan.io.readers import InputError

    *views, truth = contents = tables_of_digits(folder)
    new = [path for path in contents if not path.exists()]
    for path in contents:
        if path not in new and path.read_bytes() != contents[path]:
            raise InputError(f"{path} is there already, with other content; name another --out.")
    with folder_for(folder):
        try:
            write_all(contents)
            yield views, truth
        except BaseException:
            for path in new:
                path.unlink(missing_ok=True)
            raise


def tables_of_digits(folder: Path) -> dict[Path, bytes]:
    """Tables of text, one per view, each in an order of its own, and last the truth."""
    import numpy as np
    import pandas as pd

    from viewspan.datasets.observed_digits import observed_digits

    views, labels = observed_digits()
    ids = [f"d{position:04d}" for position in range(len(labels))]
    contents = {}
    for seed, (name, values) in enumerate(views.items()):
        order = np.random.default_rng(seed).permutation(len(ids))
        frame = (
            pd.DataFrame(values, index=pd.Index(ids, name="digit")).add_prefix("pixel ").iloc[order]
        )
        contents[folder / f"{name}.csv"] = frame.to_csv().encode()
    contents[folder / "truth.csv"] = (
        pd.DataFrame({"digit": ids, "is": labels}).to_csv(index=False).encode()
    )
    return contents
