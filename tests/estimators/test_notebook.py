"""HTML representation of estimators in notebooks."""

import re
from html import unescape

import numpy as np
import pytest
import sklearn
from sklearn.pipeline import make_pipeline

import viewspan
from tests.problems import two_subspaces
from viewspan.estimators.notebook import results_html
from viewspan.solvers.result import Result

VIEWS, _ = two_subspaces()
NAMED = {"images": VIEWS[0], '<script>alert("1")</script> & more': VIEWS[1]}
FITTED = viewspan.CLRSC(2, random_state=0).fit(NAMED)


def cells(html):
    """Return the text of all table cells, row by row."""
    rows = re.findall(r"<tr>(.*?)</tr>", html, flags=re.S)
    return [
        [unescape(re.sub("<.*?>", "", cell)) for cell in re.findall(r"<t[hd].*?</t[hd]>", row)]
        for row in rows
    ]


def test_results_are_shown():
    rows = cells(results_html(FITTED))
    assert rows[:6] == [
        ["samples", "30"],
        ["clusters", "2 of 15, 15 samples"],
        ["τ", f"{FITTED.tau_:.3g}"],
        ["certified gap", f"{FITTED.dual_gap_:.1e}"],
        ["iterations", str(FITTED.n_iter_)],
        ["solver", "optimal, to the gap that was asked for"],
    ]
    assert rows[6:] == [
        ["view", "features", "λ", "weight"],
        *[
            [name, "12", f"{lam:.3g}", f"{weight:.3g}"]
            for name, lam, weight in zip(NAMED, FITTED.lam_, FITTED.view_weights_, strict=True)
        ],
    ]


@pytest.mark.parametrize(
    ("model", "rows"),
    [
        (viewspan.SSC(2), [["view", "features", "λ", "weight"]]),
        (viewspan.LRR(2, fusion="concat"), [["view", "features"], ["view 1", "12"]]),
        (
            viewspan.CLRSC(2, coupling="rank_one"),
            [["solver", "stationary"], ["view", "features", "λ", "weight"]],
        ),
        (viewspan.CLRSC(2, max_iter=1), [["solver", "stopped at max_iter"]]),
        (viewspan.MLAP(2), [["samples", "30"]]),
        (
            viewspan.CLRSC(2, graph="landmarks", n_landmarks=10),
            [["clusters", "2 of 15, 15 samples"]],
        ),
    ],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore:The solver reached max_iter")
def test_results_of_every_method_are_shown(model, rows):
    found = cells(results_html(model.set_params(random_state=0).fit(VIEWS)))
    assert all(row in found for row in rows)
    if isinstance(model, viewspan.SSC):
        spans = [f"{row.min():.3g} to {row.max():.3g}" for row in model.lam_]
        assert [row[2] for row in found if row[0].startswith("view ")] == spans
    assert ("τ" in dict(row[:2] for row in found)) == (
        hasattr(model, "tau") and model.result_.scales is None
    )


def test_parameters_and_results_are_shown():
    shown = FITTED._repr_html_()
    assert "CLRSC(n_clusters=2, random_state=0)" in shown and "certified gap" in shown
    assert FITTED._repr_mimebundle_()["text/html"] == shown
    assert "certified gap" not in viewspan.CLRSC()._repr_html_()
    with sklearn.config_context(display="text"):
        assert list(FITTED._repr_mimebundle_()) == ["text/plain"]


def test_a_pipeline_is_shown_without_building_coefficients(monkeypatch):
    split = viewspan.ViewSplitter([slice(0, 12), slice(12, 24)])
    pipeline = make_pipeline(split, viewspan.CLRSC(2, random_state=0)).fit(np.hstack(VIEWS))
    monkeypatch.setattr(Result, "coefficient", lambda *_: pytest.fail("N × N coefficients"))
    assert "CLRSC" in pipeline._repr_html_()


def test_names_are_escaped_and_nothing_is_fetched():
    assert "alert(&quot;1&quot;)" in FITTED._repr_html_()
    assert 'alert("1")' not in FITTED._repr_html_()
    assert not re.search(r"https?:|src=|url\(|@import|<script", FITTED._repr_html_())


def test_showing_a_model_computes_nothing(monkeypatch):
    """Neither coefficients nor subspaces are computed, and batches stay unsolved."""

    def fail(self):
        pytest.fail("computed")

    for name in ("coefficients_", "subspaces_", "view_scores_", "outlier_scores_", "basis_"):
        monkeypatch.setattr(viewspan.CLRSC, name, property(fail))
    assert "certified gap" in FITTED._repr_html_()
    batches = viewspan.CLRSC(2, random_state=0).partial_fit(VIEWS)
    for shown in (batches._repr_html_(), batches._repr_mimebundle_()["text/html"]):
        assert ["samples", "30 in batches"] in cells(shown)
        assert "call partial_fit() without data" in shown
    assert "result_" not in vars(batches)
    monkeypatch.undo()
    assert len(batches.partial_fit().labels_) == 30
    assert ["samples", "30 in batches"] in cells(batches._repr_html_())


def test_models_with_impossible_parameters_can_be_shown():
    model = (
        viewspan.CLRSC(2, random_state=0).fit(VIEWS).set_params(datafit="l12", coupling="rank_one")
    )
    assert "certified gap" in model._repr_html_()


def test_long_lists_are_cut():
    rng = np.random.default_rng(0)
    model = viewspan.CLRSC(2, random_state=0, lam=1.0, tau=0.0).fit(
        [rng.normal(size=(6, 2)) for _ in range(25)]
    )
    rows = cells(results_html(model))
    assert rows[-1] == ["and 5 more"]
    assert sum(row[0].startswith("view ") for row in rows) == 20
    assert cells(results_html(viewspan.CLRSC(2, random_state=0).fit(VIEWS[0])))[-1][:2] == [
        "X",
        "12",
    ]
