"""Messages to the user on standard error, and the exit code of a command that fails."""

import contextlib
import errno
import signal
import sys
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.text import Text

from viewspan._utils import signals
from viewspan._utils.text import visible
from viewspan.cli.exit_codes import FAILED, INVALID_INPUT, PIPE_CLOSED
from viewspan.cli.folder import WritingError
from viewspan.io.readers.table import InputError

INPUT_ERRORS = (ValueError, TypeError, OSError, MemoryError)
"""Errors that an input or an option causes. The exit code is INVALID_INPUT."""

FAILURES: tuple[type[Exception], ...] = (WritingError, ModuleNotFoundError)
"""Errors with other causes. The exit code is FAILED."""

DISK_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EIO}


class StderrConsole(Console):
    """Console that writes to standard error."""

    def __init__(self) -> None:
        super().__init__(stderr=True)

    def on_broken_pipe(self) -> None:
        """Raise BrokenPipeError again; rich would exit without cleaning up."""
        raise


class Terminal:
    """Messages on standard error; standard output is for results and the paths of written files.

    Parameters
    ----------
    quiet : bool
        Whether to hide progress and summary. They are also hidden if standard error is not a
        terminal.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self.console = StderrConsole()
        self.quiet = quiet or not self.console.is_terminal

    def print_message(self, sentence: str) -> None:
        """Print a message; text from files is neither markup nor a control sequence in it."""
        self.console.print(Text(visible(sentence, keep="\n")), soft_wrap=True)

    def print_notes(self, sentences: list[str]) -> None:
        """Print notes about the data, also if quiet."""
        for sentence in sentences:
            self.console.print(
                Text.assemble(("note: ", "yellow"), visible(sentence)), soft_wrap=True
            )


@contextlib.contextmanager
def exit_on_error(
    command: str,
    *,
    failures: tuple[type[Exception], ...] = FAILURES,
    remark: Callable[[], str] | None = None,
) -> Iterator[None]:
    """Turn an error into a message and an exit code; a bug in viewspan still shows its traceback.

    Parameters
    ----------
    command : str
        Name that the message starts with.
    failures : tuple of exception types
        Errors whose exit code is FAILED.
    remark : callable, optional
        Returns a sentence on what is kept of a run that was interrupted or failed, or "".
    """
    try:
        yield
        sys.stdout.flush()  # a full disk is noticed here, where it can still be reported
    except BrokenPipeError:
        sys.exit(PIPE_CLOSED)
    except (Exception, KeyboardInterrupt) as caught:
        error = with_standard_output_named(caught)
        interrupted = isinstance(error, KeyboardInterrupt) or bool(signals.received_exit_code())
        if not interrupted and not isinstance(error, (*failures, *INPUT_ERRORS)):
            raise
        terminal = Terminal()
        if interrupted:
            terminal.print_message(
                "Interrupted." if remark else "Interrupted; nothing was written."
            )
        else:
            terminal.print_message(f"viewspan {command}: {error}")
        if remark and (sentence := remark()):
            terminal.print_message(sentence)
        if interrupted:
            sys.exit(signals.received_exit_code() or signals.exit_code(signal.SIGINT))
        failed = isinstance(error, failures) and not isinstance(error, InputError)
        sys.exit(FAILED if failed else INVALID_INPUT)


def with_standard_output_named(error: BaseException) -> BaseException:
    """Return a WritingError if standard output cannot be written, else the error itself.

    Only errors of standard output have no file name.
    """
    if isinstance(error, OSError) and error.filename is None and error.errno in DISK_ERRORS:
        return WritingError(f"Standard output could not be written: {error.strerror}.")
    return error
