"""A clustering job of the command line, its inputs and its outcome."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from viewspan.cli.parameters import Method
from viewspan.io.readers.source import Source, extension_of
from viewspan.io.readers.table import Missing, Reading

if TYPE_CHECKING:
    from viewspan._utils.typing import AnyArray
    from viewspan.io.readers.align import Aligned


@dataclass(frozen=True)
class Job:
    """Everything that the user asked for.

    Attributes
    ----------
    sources : sequence of str
        ``[name=]file[::key[.T]]``; a file may hold several views.
    out : Path
        Output folder.
    method : {"clrsc", "lrr", "ssc", "mlap"}
        Name of the estimator to fit, in lower case.
    parameters : dict
        Parameters of the estimator.
    reading : Reading
        How the files are read.
    missing : {"forbid", "allow", "drop"}
        What to do with ids that some files lack.
    truth : str, optional
        ``file[::key]`` of the true labels.
    image_shapes : sequence of tuple of int
        Such as (8, 8).
    report : bool
        Whether to write the report.
    force : bool
        Whether to replace the files of an earlier run.
    command : sequence of str
        Command line, which is written to run.json.
    """

    sources: Sequence[str]
    out: Path
    method: Method
    parameters: dict[str, Any]
    reading: Reading = field(default_factory=Reading)
    missing: Missing = "forbid"
    truth: str | None = None
    image_shapes: Sequence[tuple[int, ...]] = ()
    report: bool = True
    force: bool = False
    command: Sequence[str] = ()

    @property
    def inputs(self) -> list[Path]:
        """Files that the job reads."""
        sources = self.sources if self.truth is None else [*self.sources, self.truth]
        return [Source.parse(source).path for source in sources]

    def check_files(self) -> None:
        """Raise InputError if a file does not exist or has an unknown extension."""
        for path in self.inputs:
            extension_of(path)


@dataclass(frozen=True)
class Inputs:
    """Everything that was read from the files of a job.

    Attributes
    ----------
    aligned : Aligned
        The views.
    files : list of dict
        Size and checksum of the file of every view.
    image_shapes : dict
        Shape of the images in the views that hold images.
    truth : array of str, optional
        True labels.
    """

    aligned: "Aligned"
    files: list[dict[str, Any]]
    image_shapes: dict[str, tuple[int, ...]]
    truth: "AnyArray | None"


@dataclass
class Outcome:
    """Everything that the job produced.

    Attributes
    ----------
    inputs : Inputs
    model : CLRSC, LRR, SSC or MLAP
        Fitted estimator.
    seconds : dict
        Duration of every stage.
    scores : dict
        Scores by name; empty without true labels.
    notes : list of str
        Notes and warnings about the data.
    """

    inputs: Inputs
    model: Any
    seconds: dict[str, float]
    scores: dict[str, float]
    notes: list[str]


@contextmanager
def timed(seconds: dict[str, float], stage: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    seconds[stage] = time.perf_counter() - start
