"""What was found, on one screen of the terminal."""

from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from viewspan.report.facts import UNSURE, certificate_sentence

if TYPE_CHECKING:
    from viewspan.commands.job import Outcome

MOST_BARS = 20
WIDTH = 24


def show(outcome: "Outcome", console: Console) -> None:
    """Views, sizes, certificate, scores."""
    model = outcome.model
    seconds = outcome.seconds.get("clustering", 0.0)
    head = f"{len(model.labels_)} samples, {model.n_views_in_} views, {model.n_clusters_} clusters"
    console.print(Text.assemble((head, "bold"), f"  {seconds:.1f} s"))
    console.print()
    console.print(views_table(outcome))
    console.print(sizes_table(model))
    console.print(Text(certificate_sentence(model)))
    unsure = int((model.confidence_ < UNSURE).sum())
    console.print(f"{unsure} of {len(model.labels_)} samples have less than half of their ties in their own cluster.")
    for name, value in outcome.scores.items():
        console.print(f"{name}: {value:.1f} %" if name == "accuracy" else f"{name}: {value:.3f}")


def views_table(outcome: "Outcome") -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("view", "features", "counts", "shows the clusters"):
        table.add_column(name, justify="left" if name == "view" else "right")
    model = outcome.model
    for view, weight, score in zip(outcome.aligned.tables, model.view_weights_, model.view_scores_, strict=True):
        table.add_row(Text(view.name), str(view.shape[1]), f"{weight:.2f}", f"{score:.2f}")
    return table


def sizes_table(model: Any) -> Table:
    sizes = np.bincount(model.labels_, minlength=model.n_clusters_)
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("cluster", "samples", ""):
        table.add_column(name, justify="left" if not name else "right")
    for cluster, size in list(enumerate(sizes))[:MOST_BARS]:
        table.add_row(str(cluster), str(size), Text("█" * max(1, round(WIDTH * size / sizes.max())), "cyan"))
    if len(sizes) > MOST_BARS:
        table.add_row("…", str(sizes[MOST_BARS:].sum()), f"in {len(sizes) - MOST_BARS} more")
    return table
