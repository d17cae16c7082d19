"""Plots of the views and of the solver's convergence."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import viewspan
from tests.plot.changed_models import with_history
from viewspan import plot


def gap_line(ax):
    (line,) = [line for line in ax.lines if line.get_gid() == "gaps"]
    return line


@pytest.mark.parametrize(
    ("limits", "expected"),
    [((1e-5, 3e-2), {"10⁻⁵", "10⁻⁴", "10⁻³", "10⁻²"}), ((2e-5, 9e-5), {"2×10⁻⁵", "6×10⁻⁵"})],
)
def test_powers_of_ten_are_plain_text(model, limits, expected):
    """Formulas would take longer to draw than the rest of the plot."""
    ax = plot.convergence(model)
    ax.set_ylim(*limits)
    ax.figure.draw_without_rendering()
    labels = {label.get_text() for label in ax.get_yticklabels(which="both")}
    assert expected <= labels
    assert not any("$" in label for label in labels)


def test_convergence_shows_the_gap_of_every_check_and_the_tolerance(model):
    ax = plot.convergence(model)
    line = gap_line(ax)
    assert list(line.get_xdata()) == [check.n_iter for check in model.history_]
    assert list(line.get_ydata()) == [check.gap for check in model.history_]
    assert any(list(line.get_ydata()) == [model.tol] * 2 for line in ax.lines)


@pytest.mark.parametrize("gaps", [[np.inf, 0.5, 0.0], [np.nan, -1e-17], [0.0]])
@pytest.mark.filterwarnings("error", "default::DeprecationWarning")
def test_gaps_that_are_not_positive_and_finite_are_not_drawn(model, gaps):
    ax = plot.convergence(with_history(model, gaps))
    ax.figure.canvas.draw()
    shown = [gap for gap in gaps if np.isfinite(gap) and gap > 0]
    assert [gap for gap in gap_line(ax).get_ydata() if np.isfinite(gap)] == shown


def test_one_iteration_that_did_not_converge_is_not_a_closed_form(views):
    early = viewspan.CLRSC(5, max_iter=1, tol=1e-9, random_state=0)
    with pytest.warns(ConvergenceWarning):
        early.fit(views)
    assert len(gap_line(plot.convergence(early)).get_xdata()) == len(early.history_)


def test_plots_without_content_show_a_message(single):
    assert "closed form" in plot.convergence(single).texts[0].get_text()
    assert "one view" in plot.view_similarity(single).texts[0].get_text()


def test_view_similarity_shows_cosines(model):
    texts = [text.get_text() for text in plot.view_similarity(model).texts]
    assert texts == [f"{cosine:.2f}" for cosine in model.view_similarity_.ravel()]


def test_view_contributions_show_weights_and_scores(model):
    ax = plot.view_contributions(model)
    widths = [bar.get_width() for bar in ax.patches]
    shares = model.view_weights_ / model.view_weights_.max()
    np.testing.assert_allclose(widths, [*shares, *model.view_scores_])
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b"]


def test_subspace_dimensions_are_shown_as_numbers(model):
    dimensions = [subspace.dimension for cluster in model.subspaces_ for subspace in cluster]
    texts = [text.get_text() for text in plot.subspace_dimensions(model).texts]
    assert texts == [str(dimension) for dimension in dimensions]
