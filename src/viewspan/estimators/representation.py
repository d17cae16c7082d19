"""What a notebook shows of a fitted estimator: scikit-learn's diagram, and in it what was found."""

from collections.abc import Iterable, Sequence
from copy import copy
from html import escape
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator

from viewspan._utils.typing import AnyArray

MOST = 20
"""Views and clusters that are listed."""
IN_DIAGRAM = hasattr(BaseEstimator, "_get_fitted_attr_html")
"""Since scikit-learn 1.9 there is a place for it; before, it follows the diagram."""
STATUS = {
    "optimal": "optimal, to the gap that was asked for",
    "stationary": "stationary",
    "max_iter": "stopped at max_iter",
    "residuals": "stopped by its own rule",
    "non_finite": "stopped at the last finite iterate",
}
STYLE = """
.viewspan-found { font-family: monospace; box-sizing: border-box; padding: 0.3em 0.5em 0.6em;
  color: var(--sklearn-color-text, #000); background-color: var(--sklearn-color-fitted-level-0, #f0f8ff); }
.viewspan-alone { display: inline-block; border: 1px dotted gray; border-radius: 0.25em; }
.viewspan-found summary { cursor: pointer; padding: 0.3em 0; }
.viewspan-found table { border-collapse: collapse; margin: 0.2em 0 0.5em; background-color: #fff; }
.viewspan-found table :is(th, td) { border: 1px solid rgba(106, 105, 104, 0.232); padding: 0.3em 0.6em;
  color: #000; text-align: left; font-weight: normal; max-width: 40em; overflow-wrap: anywhere; white-space: normal; }
.viewspan-found table tr { background-color: #fff; }
.viewspan-found table thead th, .viewspan-found table th[scope="row"] { color: #444;
  background-color: var(--sklearn-color-fitted-level-1, #d4ebff); }
.viewspan-found table td.number { text-align: right; }
"""


class FittedRepresentation:
    """Stands before scikit-learn's classes, whose own table would ask for every attribute, however large."""

    def _repr_html_inner(self) -> str:
        shown = self
        if is_unsolved(
            self
        ):  # a diagram asks for the names of features, and a copy cannot be solved for them
            shown = copy(self)
            vars(shown)["_waiting"] = vars(shown).pop("_arrived")
        diagram: str = super(FittedRepresentation, shown)._repr_html_inner()  # type: ignore[misc]
        return diagram if IN_DIAGRAM else diagram + found_html(shown, alone=True)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """What Jupyter asks for; scikit-learn's would draw the diagram without asking the method above."""
        html = (
            {"text/html": self._repr_html_inner()} if get_config()["display"] == "diagram" else {}
        )
        return {"text/plain": repr(self), **html}

    def _get_fitted_attr_html(self, doc_link: str = "") -> "InDiagram":
        """For scikit-learn's diagram, also in pipelines: what was found, and the attributes that are stored."""
        stored = {
            name: value
            for name, value in vars(self).items()
            if name.endswith("_") and not name.startswith("_")
        }
        attributes = BaseEstimator._get_fitted_attr_html(SimpleNamespace(**stored), doc_link)
        attributes.estimator_class = type(self)
        return InDiagram(found_html(self), attributes)


class InDiagram:
    """A part of the diagram."""

    def __init__(self, found: str, attributes: Any) -> None:
        self.found, self.attributes = found, attributes

    def __len__(self) -> int:
        return len(self.attributes)

    def _repr_html_inner(self) -> str:
        return self.found + str(self.attributes._repr_html_inner())


def found_html(model: Any, *, alone: bool = False) -> str:
    """Of a fitted model; nothing of one that is not. Nothing is computed for it."""
    known = vars(model)
    if "result_" in known:
        tables = pairs_table(facts(model)) + views_table(model)
    elif "_waiting" in known:
        n_samples = known["_waiting"].summary.n_samples
        tables = pairs_table(
            [("samples", f"{n_samples} in batches"), ("solved", "when its labels are asked for")]
        )
    else:
        return ""
    classes = "viewspan-found viewspan-alone" if alone else "viewspan-found"
    return (
        f'<style>{STYLE}</style><div class="{classes}"><details open><summary>What was found</summary>'
        f"{tables}</details></div>"
    )


def is_unsolved(model: Any) -> bool:
    """Batches have come, and nobody has asked for more."""
    return "_arrived" in vars(model) and "result_" not in vars(model)


def facts(model: Any) -> Iterable[tuple[str, str]]:
    """What is said of all views together."""
    result, labels = model.result_, model.labels_
    if "_arrived" in vars(model):
        yield "samples", f"{model._arrived.summary.n_samples} in batches"
        yield "clusters", str(model.n_clusters_)
    else:
        yield "samples", str(len(labels))
        sizes = np.bincount(labels, minlength=model.n_clusters_)
        yield "clusters", f"{model.n_clusters_} of {listed(map(str, sizes))} samples"
    if len(result.lam) != model.n_views_in_:
        yield "λ", span(result.lam)
    if hasattr(model, "tau") and result.scales is None:
        yield "τ", number(result.tau)
    yield "certified gap", f"{result.gap:.1e}"
    yield "iterations", str(result.n_iter)
    yield "solver", STATUS.get(result.status, result.status)


def views_table(model: Any) -> str:
    n_views, lam, weights = model.n_views_in_, model.result_.lam, model.view_weights_
    several = isinstance(model.n_features_in_, tuple)
    widths = model.n_features_in_ if several else (model.n_features_in_,)
    names = getattr(model, "view_names_in_", None) or (
        [f"view {position}" for position in range(n_views)] if several else ["X"]
    )
    columns: list[tuple[str, Sequence[str]]] = [("features", [str(width) for width in widths])]
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
        for position, name in enumerate(names[:MOST])
    ]
    if n_views > MOST:
        rows.append(f'<tr><td colspan="{len(columns) + 1}">and {n_views - MOST} more</td></tr>')
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def pairs_table(pairs: Iterable[tuple[str, str]]) -> str:
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(value)}</td></tr>'
        for name, value in pairs
    )
    return f"<table><tbody>{rows}</tbody></table>"


def listed(values: Iterable[str]) -> str:
    every = list(values)
    return ", ".join(every[:MOST]) + (f" and {len(every) - MOST} more" if len(every) > MOST else "")


def number(value: float) -> str:
    return f"{value:.3g}"


def span(values: AnyArray) -> str:
    """One number, or the least and the largest of several."""
    low, high = number(np.min(values)), number(np.max(values))
    return low if low == high else f"{low} to {high}"
