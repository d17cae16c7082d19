"""The paper's studies from data to figures: what ``viewspan reproduce`` does."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from viewspan._files import write_whole
from viewspan.experiments.claims import claims_markdown
from viewspan.experiments.figures import write_figures
from viewspan.experiments.paper import check_data, paper_studies
from viewspan.experiments.progress import ProgressBar
from viewspan.experiments.run import run
from viewspan.experiments.tables import write_tables


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
    """Run the named studies into a folder and write their tables and figures; the paths of what was written."""
    check_data(names)
    console = console or Console(stderr=True)
    studies = paper_studies(names, tune=tune, mineral_copies=mineral_copies)
    with ProgressBar(console) as bar:
        results = run(studies, out, trials=trials, seed=seed, jobs=jobs, observer=bar)
    console.print("Writing tables and figures.")
    summary = write_tables(results, out)
    write_whole(out / "claims.md", claims_markdown(summary).encode())
    titles = {study.name: study.title for study in paper_studies()}
    tables = [out / name for name in ("results.parquet", "results.csv", "summary.csv", "summary.md", "claims.md")]
    return tables + write_figures(summary, out, titles)
