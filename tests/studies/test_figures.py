"""Figures: they show the numbers of the table, with a label for every line."""

from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.text import Text

from tests.studies.toys import make_blobs, toy_study
from viewspan import LRR
from viewspan.studies import Method, Study, run, summarize, write_figures
from viewspan.studies.figures import plot_accuracy, plot_difference
from viewspan.studies.lines import spread_labels

STATISTICS = ("mean", "median", "max", "min")
"""Columns of the summary that the four panels of the accuracy figure show."""


@pytest.fixture(scope="module")
def summary(tmp_path_factory):
    return summarize(run(toy_study(), tmp_path_factory.mktemp("run"), trials=2, jobs=1))


def renamed(summary, *names):
    """Return the summary of a study with one method for each name, all with the same numbers."""
    rows = summary[summary["method"] == "LRR"]
    return pd.concat([rows.assign(method=name) for name in names])


def line_styles(summary):
    """Return colour, marker and dashes of every method's line, in order of the methods."""
    lines = plot_accuracy(summary).axes[0].lines
    return [(to_hex(line.get_color()), line.get_marker(), line.get_linestyle()) for line in lines]


def test_every_figure_is_written_as_png_and_svg(summary, tmp_path):
    written = write_figures(summary, tmp_path, {"toy": "A toy"})
    assert sorted(path.name for path in written) == [
        "toy-difference.png",
        "toy-difference.svg",
        "toy-main.png",
        "toy-main.svg",
    ]
    text = (tmp_path / "toy-main.svg").read_text(encoding="utf-8")
    titles = ("Mean SCA", "Median SCA", "Maximum SCA", "Minimum SCA")
    for expected in ("A toy", "2 trials", *titles, "PSNR in dB", "k-means"):
        assert expected in text


def test_methods_without_coefficients_are_left_out_of_the_difference(summary):
    (ax,) = plot_difference(summary).axes
    assert [text.get_text() for text in ax.texts] == ["LRR"]


def test_the_same_table_gives_the_same_bytes(summary, tmp_path):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        write_figures(summary, tmp_path / folder)
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()


def test_the_panels_show_the_numbers_of_the_table(summary):
    figure = plot_accuracy(summary)
    for ax, statistic in zip(figure.axes, STATISTICS, strict=True):
        for line, method in zip(ax.lines, ("LRR", "k-means"), strict=True):
            np.testing.assert_allclose(
                line.get_ydata(), summary[summary["method"] == method][statistic]
            )


def test_bars_show_the_spread(summary):
    """Bars are one standard deviation around the mean, within 0 and 100, and the quartiles."""
    wide = summary[summary["method"] == "LRR"].assign(mean=[99.0, 50.0], std=[5.0, 60.0])
    wide = wide.assign(median=50.0, quarter=40.0, three_quarters=70.0)
    mean, median, maximum, minimum = (
        [segment[:, 1] for bars in ax.collections for segment in bars.get_segments()]
        for ax in plot_accuracy(wide).axes
    )
    np.testing.assert_allclose(mean, [[94, 100], [0, 100]])
    np.testing.assert_allclose(median, [[40, 70]] * 2)
    assert not maximum and not minimum


def test_labels_of_close_lines_do_not_overlap(summary):
    figure = plot_accuracy(renamed(summary, "first", "second", "third"))
    figure.draw_without_rendering()
    # The extent of an annotation includes its arrow, that of a text does not.
    extents = [Text.get_window_extent(label) for label in figure.axes[0].texts]
    boxes = sorted(extents, key=lambda box: box.y0)
    assert len(boxes) == 3
    assert all(lower.y1 <= upper.y0 for lower, upper in pairwise(boxes))


def test_labels_move_as_little_as_possible_and_stay_within_the_limits():
    heights = spread_labels([10, 10, 11, 99, 100, 100], gap=5, low=0, high=104)
    assert min(np.diff(heights)) >= 5 - 1e-9
    assert max(heights) <= 104
    np.testing.assert_allclose(spread_labels([10, 50, 90], gap=5, low=0, high=104), [10, 50, 90])
    np.testing.assert_allclose(spread_labels([50, 50, 50], gap=6, low=0, high=104), [44, 50, 56])
    assert spread_labels([0, 0], gap=5, low=0, high=104)[0] >= 0


def test_the_papers_methods_keep_their_style_and_others_get_unused_ones(summary):
    alone = line_styles(renamed(summary, "cLRSC", "MLAP"))
    mixed = line_styles(renamed(summary, "mine", "cLRSC", "yours"))
    assert mixed[1] == alone[0]
    assert len(set(mixed)) == 3


def test_unusual_names_are_drawn_as_they_are(tmp_path):
    """Names may contain mathematics or markup, be long or many; there may be one noise level."""
    names = ["$\\foo{$", "a_b|c<&>", "x" * 200, *map(str, range(12))]
    study = Study("odd", make_blobs, (0.5,), [Method(name, LRR(3)) for name in names], "A $title_$")
    summary = summarize(run(study, tmp_path, trials=1, jobs=1))
    assert len(write_figures(summary, tmp_path, {"odd": study.title})) == 4
    drawn = ElementTree.parse(tmp_path / "odd-main.svg").getroot()
    texts = {
        "".join(text.itertext()).strip() for text in drawn.iter("{http://www.w3.org/2000/svg}text")
    }
    assert {"$\\foo{$", "a_b|c<&>"} <= texts
    assert max(map(len, texts)) < 100


def test_noise_levels_are_drawn_in_ascending_order(tmp_path):
    summary = summarize(run(toy_study(noise=(0.6, 0.0, 0.2)), tmp_path, trials=1, jobs=1))
    ax = plot_accuracy(summary).axes[0]
    labels = [label.get_text().split("σ = ")[1] for label in ax.get_xticklabels()]
    assert labels == ["0", "0.2", "0.6"]
    expected = summary[summary["method"] == "LRR"].sort_values("noise")["mean"]
    np.testing.assert_allclose(ax.lines[0].get_ydata(), expected)


def test_a_line_without_a_last_value_has_no_label(summary):
    broken = summary.copy()
    broken.loc[broken["noise"] == broken["noise"].max(), "mean"] = np.nan
    assert not plot_accuracy(broken).axes[0].texts
