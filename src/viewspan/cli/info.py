"""``viewspan info``: what is in a file."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from viewspan._utils.text import shortened, visible
from viewspan.cli.terminal import one_sentence
from viewspan.io.readers.table import Part

MOST_ROWS, LONGEST = 60, 200
COLUMNS = {".csv", ".tsv", ".txt", ".parquet", ".gz", ".bz2", ".xz", ".zst"}


def info(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="Any file that `viewspan cluster` reads, or a model that it wrote.",
        ),
    ],
) -> None:
    """Show what is in a file: keys, shapes and kinds of arrays, columns of tables, the facts of a model.

    - `viewspan info data.mat` shows what can stand after `data.mat::`
    """
    with one_sentence("info"):
        from viewspan.io.models.archive import is_model
        from viewspan.io.readers import contents

        console = Console(highlight=False)
        for path in files:
            if is_model(path):
                show_model(path, console)
            else:
                show_parts(path, contents(path), console)


def show_parts(path: Path, parts: list[Part], console: Console) -> None:
    by_column = path.suffix.lower() in COLUMNS
    rows = f", {parts[0].shape[0]} rows, {len(parts)} columns" if by_column and parts else ""
    console.print(Text.assemble((visible(str(path)), "bold"), rows))
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("column", "values") if by_column else ("key", "shape", "type"):
        table.add_column(name)
    for part in parts[:MOST_ROWS]:
        shape = () if by_column else (" × ".join(map(str, part.shape)) or "1",)
        table.add_row(
            *[Text(shortened(visible(cell), LONGEST)) for cell in (part.key, *shape, part.kind)]
        )
    console.print(table)
    if len(parts) > MOST_ROWS:
        console.print(f"… and {len(parts) - MOST_ROWS} more.")


def show_model(path: Path, console: Console) -> None:
    from viewspan import load
    from viewspan.report.facts import certificate_sentence

    model: Any = load(path)
    console.print(Text.assemble((visible(str(path)), "bold"), f", {model!r}"))
    names = getattr(model, "view_names_in_", ["X"])
    features = (
        model.n_features_in_ if isinstance(model.n_features_in_, tuple) else (model.n_features_in_,)
    )
    for name, count in zip(names, features, strict=True):
        console.print(Text(f"  view {shortened(visible(str(name)), LONGEST)}: {count} features"))
    console.print(
        f"{len(model.labels_)} samples in {model.n_clusters_} clusters. {certificate_sentence(model)}"
    )
