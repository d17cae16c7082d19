"""Figures: everything named, nothing hidden, the same bytes for the same table."""

import numpy as np
import pytest

from tests.experiments.toys import toy_study
from viewspan.experiments import run, summarise, write_figures
from viewspan.experiments.figures import LOOKS, PREFERRED, apart, looks, plot_accuracy


@pytest.fixture(scope="module")
def summary(tmp_path_factory):
    return summarise(run(toy_study(), tmp_path_factory.mktemp("run"), trials=2, jobs=1))


def test_every_figure_is_written_twice(summary, tmp_path):
    written = write_figures(summary, tmp_path, {"toy": "A toy"})
    assert sorted(path.name for path in written) == [
        "toy-auto.png",
        "toy-auto.svg",
        "toy-difference.png",
        "toy-difference.svg",
    ]
    text = (tmp_path / "toy-auto.svg").read_text(encoding="utf-8")
    for words in ("A toy", "2 trials", "Mean SCA", "Median SCA", "Maximum SCA", "Minimum SCA", "PSNR in dB", "k-means"):
        assert words in text
    assert "k-means" not in (tmp_path / "toy-difference.svg").read_text(encoding="utf-8")  # it has no coefficients


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
            np.testing.assert_allclose(line.get_ydata(), summary[summary["method"] == method][statistic])


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
