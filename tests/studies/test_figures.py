"""Figures: everything named, nothing hidden, the same bytes for the same table."""

from xml.etree import ElementTree

import numpy as np
import pytest

from tests.studies.toys import make_blobs, toy_study
from viewspan import LRR
from viewspan.studies import Method, Study, run, summarise, write_figures
from viewspan.studies.figures import LOOKS, PREFERRED, apart, bar_ends, looks, plot_accuracy


@pytest.fixture(scope="module")
def summary(tmp_path_factory):
    return summarise(run(toy_study(), tmp_path_factory.mktemp("run"), trials=2, jobs=1))


def test_every_figure_is_written_twice(summary, tmp_path):
    written = write_figures(summary, tmp_path, {"toy": "A toy"})
    assert sorted(path.name for path in written) == [
        "toy-difference.png",
        "toy-difference.svg",
        "toy-main.png",
        "toy-main.svg",
    ]
    text = (tmp_path / "toy-main.svg").read_text(encoding="utf-8")
    for words in (
        "A toy",
        "2 trials",
        "Mean SCA",
        "Median SCA",
        "Maximum SCA",
        "Minimum SCA",
        "PSNR in dB",
        "k-means",
    ):
        assert words in text
    assert "k-means" not in (tmp_path / "toy-difference.svg").read_text(
        encoding="utf-8"
    )  # it has no coefficients


def test_the_same_table_gives_the_same_bytes(summary, tmp_path):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        write_figures(summary, tmp_path / folder)
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()


def test_the_panels_show_the_tables_numbers(summary):
    figure = plot_accuracy(summary)
    for ax, statistic in zip(figure.axes, ("mean", "median", "max", "min"), strict=True):
        for line, method in zip(ax.lines, ("LRR", "k-means"), strict=True):
            np.testing.assert_allclose(
                line.get_ydata(), summary[summary["method"] == method][statistic]
            )


def test_labels_move_apart_evenly_and_stay_inside():
    heights = apart([10, 10, 11, 99, 100, 100], gap=5, low=0, high=104)
    assert min(np.diff(heights)) >= 5 - 1e-9
    assert max(heights) <= 104
    np.testing.assert_allclose(apart([10, 50, 90], gap=5, low=0, high=104), [10, 50, 90])
    np.testing.assert_allclose(apart([50, 50, 50], gap=6, low=0, high=104), [44, 50, 56])
    assert apart([0, 0], gap=5, low=0, high=104)[0] >= 0


def test_methods_keep_their_look_and_strangers_get_one_of_their_own():
    assert looks(PREFERRED) == dict(zip(PREFERRED, LOOKS, strict=True))
    mixed = looks(["mine", "cLRSC", "yours"])
    assert mixed["cLRSC"] == LOOKS[0]
    assert len(set(mixed.values())) == 3


def test_odd_studies_are_drawn(tmp_path):
    """Names with mathematics in them, long ones, many methods, levels in any order, one level."""
    names = ["$\\foo{$", "a_b|c<&>", "x" * 200, *map(str, range(12))]
    study = Study("odd", make_blobs, (0.5,), [Method(name, LRR(3)) for name in names], "A $title_$")
    summary = summarise(run(study, tmp_path, trials=1, jobs=1))
    assert len(write_figures(summary, tmp_path, {"odd": study.title})) == 4
    drawn = ElementTree.parse(tmp_path / "odd-main.svg").getroot()
    texts = {
        "".join(text.itertext()).strip() for text in drawn.iter("{http://www.w3.org/2000/svg}text")
    }
    assert {"$\\foo{$", "a_b|c<&>"} <= texts
    assert max(map(len, texts)) < 100


def test_levels_are_drawn_from_little_noise_to_much(tmp_path):
    summary = summarise(run(toy_study(noise=(0.6, 0.0, 0.2)), tmp_path, trials=1, jobs=1))
    ax = plot_accuracy(summary).axes[0]
    assert [label.get_text().split("σ = ")[1] for label in ax.get_xticklabels()] == [
        "0",
        "0.2",
        "0.6",
    ]
    expected = summary[summary["method"] == "LRR"].sort_values("noise")["mean"]
    np.testing.assert_allclose(ax.lines[0].get_ydata(), expected)


def test_bars_show_the_spread(summary):
    low, high = bar_ends(summary, "median")
    assert low.equals(summary["quarter"]) and high.equals(summary["three_quarters"])
    low, high = bar_ends(summary, "mean")
    assert (low >= 0).all() and (high <= 100).all()
    assert bar_ends(summary, "max") is None


def test_a_line_that_ends_nowhere_has_no_name(summary):
    broken = summary.copy()
    broken.loc[broken["noise"] == broken["noise"].max(), "mean"] = np.nan
    assert not plot_accuracy(broken).axes[0].texts
