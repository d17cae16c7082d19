"""The work of ``viewspan info``: print what a file contains."""

import zipfile
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from viewspan._utils.text import shortened, visible
from viewspan.io.readers.read import contents, format_of
from viewspan.io.readers.table import Part

MAX_ROWS = 60
MAX_CELL_LENGTH = 200


def show_contents(path: Path, console: Console) -> None:
    """Print the contents of a data file or a model."""
    if zipfile.is_zipfile(path):
        from viewspan.io.models.archive import is_model  # here, because it needs scikit-learn

        if is_model(path):
            show_model(path, console)
            return
    show_parts(path, contents(path), console)


def show_parts(path: Path, parts: list[Part], console: Console) -> None:
    """Print the columns of a table, or the arrays in any other file."""
    is_table = format_of(path).load_frame is not None
    size = f", {parts[0].shape[0]} rows, {len(parts)} columns" if is_table and parts else ""
    console.print(Text.assemble((visible(str(path)), "bold"), size))
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("column", "values") if is_table else ("key", "shape", "type"):
        table.add_column(name)
    for part in parts[:MAX_ROWS]:
        shape = () if is_table else (" × ".join(map(str, part.shape)) or "1",)
        cells = (part.key, *shape, part.kind)
        table.add_row(*[Text(shortened(visible(cell), MAX_CELL_LENGTH)) for cell in cells])
    console.print(table)
    if len(parts) > MAX_ROWS:
        console.print(f"… and {len(parts) - MAX_ROWS} more.")


def show_model(path: Path, console: Console) -> None:
    """Print the parameters, views, size and certificate of a model."""
    from viewspan.inputs.fitted_inputs import per_view, view_names
    from viewspan.io.models import load
    from viewspan.report.facts import certificate_sentence  # here, because it loads matplotlib

    model: Any = load(path)
    console.print(Text.assemble((visible(str(path)), "bold"), f", {model!r}"))
    for name, n_features in zip(view_names(model), per_view(model.n_features_in_), strict=True):
        shown = shortened(visible(str(name)), MAX_CELL_LENGTH)
        console.print(Text(f"  view {shown}: {n_features} features"))
    console.print(
        f"{len(model.labels_)} samples in {model.n_clusters_} clusters. "
        f"{certificate_sentence(model)}"
    )
