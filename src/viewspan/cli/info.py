"""``viewspan info``: show the contents of files."""

import zipfile
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from viewspan._utils.signals import immediate_exit
from viewspan.cli.terminal import exit_on_error
from viewspan.io.readers.source import extension_of


def info(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE", help="Files that `viewspan cluster` can read, or models it wrote."
        ),
    ],
) -> None:
    """Show the contents of data files and models.

    For arrays, the keys, shapes and types are shown; for tables, the columns; for models, the views
    and the certificate.

    - `viewspan info data.mat` lists the keys for `data.mat::KEY`.
    """
    with exit_on_error("info"):
        console = Console(highlight=False)
        for path in files:
            if not (path.is_file() and zipfile.is_zipfile(path)):  # models are zip files
                extension_of(path)
            with immediate_exit():
                from viewspan.cli.contents import show_contents  # here, because it needs numpy
            show_contents(path, console)
