"""The ``viewspan`` command: parse, call the library, say what went wrong in one sentence."""

import sys

INTERRUPTED = 130
"""The exit code by which a shell knows Ctrl-C."""


def main() -> None:
    """Run the command. Typer and rich come with an extra, and without them it says how to get them."""
    try:
        from viewspan.commands import app

        app()
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("viewspan"):
            raise
        sys.exit(f"The viewspan command needs the package {error.name!r}: pip install 'viewspan[cli]'.")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
