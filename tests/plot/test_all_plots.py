"""Properties that all plots share."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import viewspan
from tests.cli.test_main import run_without
from viewspan import plot
from viewspan.plot.colors import DISTINCT_COLOURS

PLOTS = sorted(set(plot.HOW_TO_READ) - {"exemplars"})


@pytest.mark.parametrize("name", PLOTS)
@pytest.mark.parametrize("fitted", ["model", "landmarks", "single"])
def test_plots_draw_on_the_given_axes_and_keep_global_settings(name, fitted, request):
    fitted, draw = request.getfixturevalue(fitted), getattr(plot, name)
    figure, ax = plt.subplots()
    before, top_spine = dict(mpl.rcParams), ax.spines["top"].get_visible()
    assert draw(fitted, ax=ax) is ax
    figure.canvas.draw()
    new_axes = draw(fitted)
    assert new_axes.figure is not figure
    assert new_axes.figure.get_layout_engine() is not None
    new_axes.figure.canvas.draw()
    assert dict(mpl.rcParams) == before and top_spine


@pytest.mark.parametrize("name", PLOTS)
def test_texts_have_the_current_text_colour(name, model):
    """The texts are readable on any background."""
    settings = ("text.color", "axes.labelcolor", "axes.titlecolor", "xtick.color", "ytick.color")
    with plt.rc_context(dict.fromkeys(settings, "#12ab34")):
        ax = getattr(plot, name)(model)
        ax.figure.canvas.draw()
        texts = [text for text in ax.findobj(mpl.text.Text) if text.get_text()]
        assert texts
        colours = {mpl.colors.to_hex(text.get_color()) for text in texts}
        assert colours - set(DISTINCT_COLOURS) == {"#12ab34"}


@pytest.mark.parametrize("name", PLOTS)
def test_unfitted_models_raise_and_leave_no_figure(name):
    with pytest.raises(NotFittedError):
        getattr(plot, name)(viewspan.CLRSC(3))
    assert not plt.get_fignums()


def test_every_plot_has_an_explanation():
    others = {"HOW_TO_READ", "STYLE", "cluster_colors", "drawn_rows"}
    assert set(plot.HOW_TO_READ) == set(plot.__all__) - others
    assert all("How to read it: " in getattr(plot, name).__doc__ for name in plot.HOW_TO_READ)


def test_cluster_colours_are_distinct_and_do_not_depend_on_the_count():
    colours = plot.cluster_colors(120)
    assert len(set(colours)) == 120 and colours[:7] == plot.cluster_colors(7)


def test_cluster_colours_have_contrast_to_white_and_near_black():
    channels = np.array([mpl.colors.to_rgb(colour) for colour in plot.cluster_colors(120)])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    luminance = linear @ [0.2126, 0.7152, 0.0722] + 0.05
    to_white, to_near_black = 1.05 / luminance, luminance / 0.0568
    assert (to_white[:10] >= 2).all() and (to_near_black[:10] >= 3).all()
    assert (to_white > 1.9).all() and (to_near_black > 2.2).all()


def test_import_without_matplotlib_names_the_extra_to_install():
    code = (
        "import viewspan, sys\n"
        "assert 'viewspan.plot' not in sys.modules\n"
        "try:\n    import viewspan.plot\n"
        "except ModuleNotFoundError as error:\n    print(error)\n"
    )
    result = run_without(["matplotlib"], code)
    assert "viewspan.plot needs the package 'matplotlib'" in result.stdout, result.stderr
    assert "pip install 'viewspan[plot]'" in result.stdout


def test_import_of_viewspan_does_not_import_matplotlib():
    result = run_without([], "import viewspan, sys; print('matplotlib' in sys.modules)")
    assert result.stdout.strip() == "False"
