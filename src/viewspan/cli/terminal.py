"""What is said to the user, and the exit codes that say it to a script."""

import contextlib
import errno
import signal
import sys
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.text import Text

from viewspan._utils import signals as _signals
from viewspan._utils.text import visible
from viewspan.cli.folder import WritingError
from viewspan.cli.main import PIPE_CLOSED

FAILED, WRONG_INPUT = 1, 2
WRONG = (ValueError, TypeError, OSError, MemoryError)
FAILURES: tuple[type[Exception], ...] = (WritingError, ModuleNotFoundError)
"""What is wrong with something that was given, and what went wrong without it. Anything else is a mistake of ours, and
its traceback tells where.
"""


class Words(Console):
    """Standard error."""

    def __init__(self) -> None:
        super().__init__(stderr=True)

    def on_broken_pipe(self) -> None:
        """Rich would end the process here, whatever is half done."""
        raise


class Terminal:
    """Standard error, where words go; standard output has nothing but the paths that were written."""

    def __init__(self, *, quiet: bool = False) -> None:
        self.console = Words()
        self.quiet = quiet or not self.console.is_terminal

    def say(self, sentence: str, style: str = "") -> None:
        """Words from files are words, whatever they look like."""
        self.console.print(Text(visible(sentence, keep="\n"), style), soft_wrap=True)

    def notes(self, sentences: list[str]) -> None:
        """Also in a pipe: they are about the data."""
        for sentence in sentences:
            self.console.print(
                Text.assemble(("note: ", "yellow"), visible(sentence)), soft_wrap=True
            )


@contextlib.contextmanager
def one_sentence(
    command: str,
    *,
    failures: tuple[type[Exception], ...] = FAILURES,
    kept: Callable[[], str] | None = None,
) -> Iterator[None]:
    """Turn what is wrong into a sentence and an exit code, without a traceback.

    ``kept`` has one more sentence, on what there is of a run that was interrupted or failed.
    """
    try:
        yield
        sys.stdout.flush()  # a full disk is noticed here, and not after the last chance to say so
    except BrokenPipeError:
        sys.exit(PIPE_CLOSED)
    except (Exception, KeyboardInterrupt) as caught:
        error = in_words(caught)
        interrupted = isinstance(error, KeyboardInterrupt) or _signals.received() is not None
        if not interrupted and not isinstance(error, (*failures, *WRONG)):
            raise
        terminal = Terminal()
        if interrupted:
            terminal.say("Interrupted." if kept else "Interrupted; nothing was written.")
        else:
            terminal.say(f"viewspan {command}: {error}")
        if kept and (more := kept()):
            terminal.say(more)
        if interrupted:
            sys.exit(_signals.received() or _signals.code_of(signal.SIGINT))
        sys.exit(FAILED if isinstance(error, failures) else WRONG_INPUT)


def in_words(error: BaseException) -> BaseException:
    """A full disk does not say that it was standard output that it could not take."""
    if (
        isinstance(error, OSError)
        and error.filename is None
        and error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EIO}
    ):
        return WritingError(f"standard output could not be written: {error.strerror}.")
    return error
