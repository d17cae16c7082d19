"""Summary of a fitted estimator for notebooks, through the display protocol of IPython."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np
from sklearn import get_config

from viewspan._utils.text import listed
from viewspan._utils.typing import AnyArray
from viewspan.inputs.fitted_inputs import per_view, view_names

MAX_LISTED = 20
"""Most views and clusters that are listed."""
STATUS = {
    "optimal": "optimal, to the gap that was asked for",
    "stationary": "stationary",
    "max_iter": "stopped at max_iter",
    "size": "not iterated: too many directions",
    "residuals": "stopped by its own rule",
    "non_finite": "stopped at the last finite iterate",
}
STYLE = """
.viewspan-summary { font-family: monospace; display: inline-block; box-sizing: border-box;
  padding: 0.3em 0.5em 0.6em; border: 1px dotted gray; border-radius: 0.25em;
  color: #000; background-color: #f0f8ff; }
.viewspan-summary pre { margin: 0.3em 0; white-space: pre-wrap; color: inherit; }
.viewspan-summary table { border-collapse: collapse; margin: 0.2em 0 0.5em; }
.viewspan-summary table :is(th, td) { border: 1px solid rgba(106, 105, 104, 0.232);
  padding: 0.3em 0.6em; color: #000; background-color: #fff; text-align: left;
  font-weight: normal; max-width: 40em; overflow-wrap: anywhere; white-space: normal; }
.viewspan-summary table :is(thead th, th[scope="row"]) { color: #444; background-color: #d4ebff; }
.viewspan-summary table td.number { text-align: right; }
"""


class NotebookSummary:
    """Mixin that shows parameters and results of an estimator in notebooks.

    Nothing is computed for it. scikit-learn's own diagram would read every fitted attribute.
    """

    def _repr_html_(self) -> str:
        return summary_html(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle = {"text/plain": repr(self)}
        if get_config()["display"] == "diagram":
            bundle["text/html"] = summary_html(self)
        return bundle


def summary_html(model: Any) -> str:
    """Return the parameters of a model and, if it is fitted, its results as HTML."""
    return (
        f'<style>{STYLE}</style><div class="viewspan-summary">'
        f"<pre>{escape(repr(model))}</pre>{results_html(model)}</div>"
    )


def results_html(model: Any) -> str:
    """Return the results of a fitted model as HTML tables; nothing before a fit."""
    known = vars(model)
    if "result_" in known:
        return pairs_table(facts(model)) + views_table(model)
    if "_batches" in known:
        n_samples = known["_batches"].n_samples
        pairs = [
            ("samples", f"{n_samples} in batches"),
            ("solved", "not yet: call partial_fit() without data, or predict"),
        ]
        return pairs_table(pairs)
    return ""


def facts(model: Any) -> Iterable[tuple[str, str]]:
    """Yield names and values of the results for all views together."""
    result, labels = model.result_, model.labels_
    if "_batches" in vars(model):
        yield "samples", f"{model._batches.n_samples} in batches"
        yield "clusters", str(model.n_clusters_)
    else:
        yield "samples", str(len(labels))
        sizes = np.bincount(labels, minlength=model.n_clusters_)
        yield "clusters", f"{model.n_clusters_} of {listed(sizes, MAX_LISTED)} samples"
    if len(result.lam) != model.n_views_in_:
        yield "λ", span(result.lam)
    if hasattr(model, "tau") and result.scales is None:
        yield "τ", number(result.tau)
    yield "certified gap", f"{result.gap:.1e}"
    yield "iterations", str(result.n_iter)
    yield "solver", STATUS.get(result.status, result.status)


def views_table(model: Any) -> str:
    n_views, lam, weights = model.n_views_in_, model.result_.lam, model.view_weights_
    names = view_names(model) if isinstance(model.n_features_in_, tuple) else ["X"]
    widths = [str(width) for width in per_view(model.n_features_in_)]
    columns: list[tuple[str, Sequence[str]]] = [("features", widths)]
    if len(lam) == n_views:
        columns.append(("λ", [span(each) for each in lam]))
    if len(weights) == n_views:
        columns.append(("weight", [number(weight) for weight in weights]))
    head = "".join(
        f'<th scope="col">{title}</th>' for title in ("view", *(title for title, _ in columns))
    )
    rows = [
        f'<tr><th scope="row">{escape(str(name))}</th>'
        + "".join(f'<td class="number">{escape(values[position])}</td>' for _, values in columns)
        + "</tr>"
        for position, name in enumerate(names[:MAX_LISTED])
    ]
    if n_views > MAX_LISTED:
        rows.append(
            f'<tr><td colspan="{len(columns) + 1}">and {n_views - MAX_LISTED} more</td></tr>'
        )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def pairs_table(pairs: Iterable[tuple[str, str]]) -> str:
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(value)}</td></tr>'
        for name, value in pairs
    )
    return f"<table><tbody>{rows}</tbody></table>"


def number(value: float) -> str:
    return f"{value:.3g}"


def span(values: AnyArray) -> str:
    """Return one number, or the smallest and the largest of several."""
    low, high = number(np.min(values)), number(np.max(values))
    return low if low == high else f"{low} to {high}"
