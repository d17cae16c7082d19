"""What is said to the user, and the exit codes that say it to a script."""

import contextlib
import sys
from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from viewspan.cli import INTERRUPTED

FAILED, WRONG_INPUT = 1, 2
WRONG = (ValueError, TypeError, OSError, MemoryError)


class Terminal:
    """Standard error, where words go; standard output has nothing but the paths that were written."""

    def __init__(self, *, quiet: bool = False) -> None:
        self.console = Console(stderr=True)
        self.quiet = quiet or not self.console.is_terminal

    def say(self, sentence: str, style: str = "") -> None:
        """Words from files are words, whatever they look like."""
        self.console.print(Text(sentence, style), soft_wrap=True)

    def notes(self, sentences: list[str]) -> None:
        """Also in a pipe: they are about the data."""
        for sentence in sentences:
            self.console.print(Text.assemble(("note: ", "yellow"), sentence), soft_wrap=True)


@contextlib.contextmanager
def one_sentence(command: str) -> Iterator[None]:
    """Turn what is wrong into a sentence and an exit code, without a traceback."""
    terminal = Terminal()
    try:
        yield
    except KeyboardInterrupt:
        terminal.say("Interrupted; nothing was written.")
        sys.exit(INTERRUPTED)
    except ModuleNotFoundError as error:
        terminal.say(f"viewspan {command}: {error}")
        sys.exit(FAILED)
    except WRONG as error:
        terminal.say(f"viewspan {command}: {error}")
        sys.exit(WRONG_INPUT)
