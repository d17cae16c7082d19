"""Entry point of the ``viewspan`` command."""

import os
import sys
from contextlib import suppress

from viewspan._utils import signals


def main() -> None:
    """Run the command, or exit with the name of the missing package.

    The app is imported here and not at the top for two reasons: Ctrl-C ends the command silently
    while numpy and scikit-learn are loaded, and typer and rich are optional dependencies.
    """
    signals.exit_on_signals()
    try:
        from viewspan.cli.app import app

        signals.raise_on_signals()
        app()
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("viewspan"):
            raise
        sys.exit(
            f"The viewspan command needs the package {error.name!r}: pip install 'viewspan[cli]'."
        )
    except (SystemExit, KeyboardInterrupt) as error:
        succeeded = isinstance(error, SystemExit) and not error.code
        if not succeeded and (code := signals.received_exit_code()):
            sys.exit(code)
        raise
    finally:
        signals.exit_on_signals()
        discard_unwritten_output()


def discard_unwritten_output() -> None:
    """Discard output that cannot be written, so that Python does not report it again at exit."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            with suppress(OSError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
