"""Summary of a fitted model in the terminal."""

from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from viewspan._utils.text import shortened, visible
from viewspan.cli.job import Outcome
from viewspan.plot.clusters import UNCERTAIN_BELOW
from viewspan.report.facts import certificate_sentence, facts_of_views

MAX_CLUSTERS = 20
"""Largest number of clusters in the table of sizes."""
BAR_WIDTH = 24
MAX_NAME_LENGTH = 60


def print_summary(outcome: Outcome, console: Console) -> None:
    """Print views, cluster sizes, certificate and scores."""
    model = outcome.model
    n_samples, seconds = len(model.labels_), outcome.seconds.get("clustering", 0.0)
    heading = f"{n_samples} samples, {model.n_views_in_} views, {model.n_clusters_} clusters"
    n_uncertain = int((model.confidence_ < UNCERTAIN_BELOW).sum())
    console.print()
    console.print(Text.assemble((heading, "bold"), f"  {seconds:.1f} s"))
    for table in (table_of_views(outcome), table_of_sizes(model)):
        console.print()
        console.print(table)
    console.print()
    console.print(Text(certificate_sentence(model)))
    console.print(
        Text(
            f"{n_uncertain} of {n_samples} samples have less than half of their edge weight within "
            "their own cluster."
        )
    )
    if outcome.scores:
        console.print(Text(", ".join(map(format_score, outcome.scores.items())), "bold"))
    console.print()


def format_score(score: tuple[str, float]) -> str:
    name, value = score
    return f"{name} {value:.1f} %" if name == "accuracy" else f"{name} {value:.3f}"


def table_of_views(outcome: Outcome) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for heading in ("view", "features", "weight", "view score"):
        table.add_column(heading, justify="left" if heading == "view" else "right")
    for view in facts_of_views(outcome.model):
        name = Text(shortened(visible(view.name), MAX_NAME_LENGTH))
        table.add_row(name, str(view.features), view.weight, view.score)
    return table


def table_of_sizes(model: Any) -> Table:
    sizes = np.bincount(model.labels_, minlength=model.n_clusters_)
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("cluster", "samples", ""):
        table.add_column(name, justify="left" if not name else "right")
    for cluster, size in list(enumerate(sizes))[:MAX_CLUSTERS]:
        bar = "█" * max(1, round(BAR_WIDTH * size / sizes.max()))
        table.add_row(str(cluster), str(size), Text(bar, "cyan"))
    if len(sizes) > MAX_CLUSTERS:
        n_others = len(sizes) - MAX_CLUSTERS
        table.add_row("…", str(sizes[MAX_CLUSTERS:].sum()), f"in {n_others} more clusters")
    return table
