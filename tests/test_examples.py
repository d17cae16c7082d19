"""Every example runs and draws its picture."""

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
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env={**os.environ, "MPLBACKEND": "agg"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert not done.stderr
    assert min(Image.open(picture).size) > 300


def test_every_picture_in_the_documentation_has_its_example():
    pictures = (Path(__file__).parents[1] / "docs" / "examples").glob("*.png")
    assert {path.stem for path in pictures} == {path.stem for path in EXAMPLES}
