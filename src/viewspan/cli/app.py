"""All commands under one name."""

from typing import Annotated

import typer

from viewspan._version import __version__
from viewspan.cli.cluster import cluster
from viewspan.cli.demo import demo
from viewspan.cli.info import info
from viewspan.cli.predict import predict
from viewspan.cli.reproduce import reproduce

ABOUT = """Clustering of samples that were observed in several ways.

Exit codes: 0 done; 1 failed; 2 something that was given cannot be used, and one sentence says what; 130 interrupted
(143 by `kill`, 129 by a terminal that closed); 141 nobody reads the output any more.
"""

app = typer.Typer(
    help=ABOUT,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (cluster, predict, info, demo, reproduce):
    app.command()(command)


def show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"viewspan {__version__}")
        raise typer.Exit


@app.callback()
def viewspan(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Before any command."""


viewspan.__doc__ = ABOUT
