"""A clustering job of the command line, and its outcome."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from viewspan.io.readers.align import Aligned
from viewspan.io.readers.source import Source
from viewspan.io.readers.table import Missing, Reading


@dataclass(frozen=True)
class Job:
    """Everything that the user asked for.

    Attributes
    ----------
    sources : sequence of str
        ``[name=]file[::key[.T]]``; a file may hold several views.
    out : Path
        Output folder.
    model : CLRSC, LRR, SSC or MLAP
        Estimator to fit.
    reading : Reading
        How the files are read.
    missing : {"forbid", "allow", "drop"}
        What to do with ids that some files lack.
    truth : str, optional
        ``file[::key]`` of the true labels.
    image_shapes : sequence of str
        Such as "8x8".
    report : bool
        Whether to write the report.
    force : bool
        Whether to replace the files of an earlier run.
    command : sequence of str
        Command line, which is written to run.json.
    """

    sources: Sequence[str]
    out: Path
    model: Any
    reading: Reading = field(default_factory=Reading)
    missing: Missing = "forbid"
    truth: str | None = None
    image_shapes: Sequence[str] = ()
    report: bool = True
    force: bool = False
    command: Sequence[str] = ()

    @property
    def inputs(self) -> list[Path]:
        """Files that the job reads."""
        sources = self.sources if self.truth is None else [*self.sources, self.truth]
        return [Source.parse(source).path for source in sources]


@dataclass
class Outcome:
    """Everything that the job produced.

    Attributes
    ----------
    aligned : Aligned
        The views.
    files : list of dict
        Size and checksum of the file of every view.
    image_shapes : dict
        Shape of the images in the views that hold images.
    model : CLRSC, LRR, SSC or MLAP
        Fitted estimator.
    seconds : dict
        Duration of every stage.
    scores : dict
        Scores by name; empty without true labels.
    notes : list of str
        Notes and warnings about the data.
    """

    aligned: Aligned
    files: list[dict[str, Any]]
    image_shapes: dict[str, tuple[int, ...]]
    model: Any
    seconds: dict[str, float]
    scores: dict[str, float]
    notes: list[str]
