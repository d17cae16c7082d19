"""Every example runs without warnings and draws its picture."""

import runpy
import sys
import warnings
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import pytest
from PIL import Image

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_draws_its_picture(example, tmp_path, monkeypatch, capfd):
    picture = tmp_path / "picture.png"
    monkeypatch.setattr(sys, "argv", [str(example), str(picture)])
    with warnings.catch_warnings(), matplotlib.rc_context({"backend": "agg"}):
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", DeprecationWarning)  # Python hides those of libraries
        runpy.run_path(str(example), run_name="__main__")
    plt.close("all")
    printed = capfd.readouterr()
    assert printed.out
    assert not printed.err
    assert min(Image.open(picture).size) > 300


def test_the_documentation_has_one_picture_for_each_example():
    pictures = (Path(__file__).parents[1] / "docs" / "examples").glob("*.png")
    assert {path.stem for path in pictures} == {path.stem for path in EXAMPLES}
