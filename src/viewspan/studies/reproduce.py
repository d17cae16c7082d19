"""Implementation of ``viewspan reproduce``: run the paper's studies, write tables and figures."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from viewspan._utils.files import locked_folder
from viewspan.studies.claims import claims_markdown
from viewspan.studies.figures import figure_files
from viewspan.studies.manifest import Manifest
from viewspan.studies.outputs import check_replaceable, write_outputs
from viewspan.studies.paper import check_data, paper_studies
from viewspan.studies.progress import ProgressBar
from viewspan.studies.run import run
from viewspan.studies.tables import TABLE_NAMES, summarize, table_files

CLAIMS_NAME = "claims.md"


def reproduce(
    names: Sequence[str],
    out: Path,
    *,
    trials: int = 50,
    jobs: int = -1,
    seed: int = 0,
    tune: bool = False,
    mineral_copies: int = 10,
    console: Console | None = None,
) -> list[Path]:
    """Run the named studies, write tables and figures to a folder, and return their paths.

    Raises InputError if a file in the folder would be replaced that no earlier run wrote.
    """
    check_data(names)
    check_replaceable(out, [*TABLE_NAMES, CLAIMS_NAME])
    console = console or Console(stderr=True)
    studies = paper_studies(names, tune=tune, mineral_copies=mineral_copies)
    with ProgressBar(console) as bar:
        run(studies, out, trials=trials, seed=seed, jobs=jobs, observer=bar)
    console.print("Writing tables and figures.")
    # The lock keeps another run with the same folder from mixing its tables with these.
    with locked_folder(out, wait=True):
        results = Manifest(out).results(names)
        summary = summarize(results)
        titles = {study.name: study.title for study in paper_studies()}
        contents = table_files(results, summary, out)
        contents[out / CLAIMS_NAME] = claims_markdown(summary).encode()
        contents |= figure_files(summary, out, titles)
        write_outputs(out, contents)
    return list(contents)
