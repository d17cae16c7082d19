"""What was found, on one screen of the terminal."""

from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from viewspan._utils.text import shortened, visible
from viewspan.report.facts import UNSURE, certificate_sentence, facts_of_views

if TYPE_CHECKING:
    from viewspan.cli.job import Outcome

MOST_BARS = 20
WIDTH, LONGEST = 24, 60


def show(outcome: "Outcome", console: Console) -> None:
    """Views, sizes, certificate, scores."""
    model = outcome.model
    seconds = outcome.seconds.get("clustering", 0.0)
    head = f"{len(model.labels_)} samples, {model.n_views_in_} views, {model.n_clusters_} clusters"
    unsure = int((model.confidence_ < UNSURE).sum())
    console.print()
    console.print(Text.assemble((head, "bold"), f"  {seconds:.1f} s"))
    for table in (views_table(outcome), sizes_table(model)):
        console.print()
        console.print(table)
    console.print()
    console.print(Text(certificate_sentence(model)))
    console.print(
        Text(
            f"{unsure} of {len(model.labels_)} samples have less than half of their ties with their own cluster."
        )
    )
    if outcome.scores:
        console.print(Text(", ".join(map(written_score, outcome.scores.items())), "bold"))
    console.print()


def written_score(score: tuple[str, float]) -> str:
    name, value = score
    return f"{name} {value:.1f} %" if name == "accuracy" else f"{name} {value:.3f}"


def views_table(outcome: "Outcome") -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("view", "features", "counts", "shows the clusters"):
        table.add_column(name, justify="left" if name == "view" else "right")
    for view in facts_of_views(outcome.model):
        table.add_row(
            Text(shortened(visible(view.name), LONGEST)),
            str(view.features),
            view.weight,
            view.score,
        )
    return table


def sizes_table(model: Any) -> Table:
    sizes = np.bincount(model.labels_, minlength=model.n_clusters_)
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("cluster", "samples", ""):
        table.add_column(name, justify="left" if not name else "right")
    for cluster, size in list(enumerate(sizes))[:MOST_BARS]:
        table.add_row(
            str(cluster), str(size), Text("█" * max(1, round(WIDTH * size / sizes.max())), "cyan")
        )
    if len(sizes) > MOST_BARS:
        table.add_row("…", str(sizes[MOST_BARS:].sum()), f"in {len(sizes) - MOST_BARS} more")
    return table
