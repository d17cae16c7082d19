"""Every example runs without warnings and draws its picture."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_draws_its_picture(example, tmp_path):
    picture = tmp_path / "picture.png"
    command = [sys.executable, "-W", "error::FutureWarning", str(example), str(picture)]
    result = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env={**os.environ, "MPLBACKEND": "agg"},
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout
    assert not result.stderr
    assert min(Image.open(picture).size) > 300


def test_the_documentation_has_one_picture_for_each_example():
    pictures = (Path(__file__).parents[1] / "docs" / "examples").glob("*.png")
    assert {path.stem for path in pictures} == {path.stem for path in EXAMPLES}
