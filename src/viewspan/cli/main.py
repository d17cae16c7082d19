"""The ``viewspan`` command: parse, call the library, say what went wrong in one sentence."""

import os
import sys
from contextlib import suppress

from viewspan._utils import signals as _signals

PIPE_CLOSED = 141
"""The exit code of a program whose reader, such as ``head``, has gone."""


def main() -> None:
    """Run the command. Typer and rich come with an extra, and without them it says how to get them."""
    _signals.leave_at_once()
    try:
        from viewspan.cli.app import app

        _signals.listen()
        app()
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("viewspan"):
            raise
        sys.exit(
            f"The viewspan command needs the package {error.name!r}: pip install 'viewspan[cli]'."
        )
    except (SystemExit, KeyboardInterrupt) as error:
        done = isinstance(error, SystemExit) and not error.code
        if not done and (code := _signals.received()):
            sys.exit(code)
        raise
    finally:
        _signals.leave_at_once()
        forgive_closed_pipes()


def forgive_closed_pipes() -> None:
    """What could not be written was said; Python would say at its end that it is left."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            with suppress(OSError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
