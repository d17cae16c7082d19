"""The commands of ``viewspan`` as one typer app."""

from typing import Annotated

import typer

from viewspan._version import __version__
from viewspan.cli.cluster import cluster
from viewspan.cli.demo import demo
from viewspan.cli.info import info
from viewspan.cli.predict import predict
from viewspan.cli.reproduce import reproduce

app = typer.Typer(
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
    """Cluster multi-view data: the same samples described by several feature tables.

    Exit codes: 0 success; 1 failure, such as a full disk; 2 invalid input or option; 130, 143 or
    129 interrupted by Ctrl-C, `kill` or a closed terminal; 141 the output pipe was closed.
    """
