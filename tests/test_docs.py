"""The code on the pages runs."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = ("docs/own-study.md",)


@pytest.mark.parametrize("page", PAGES)
def test_code_blocks_run(page, tmp_path, monkeypatch):
    """All blocks of a page, one after the other, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), flags=re.S)
    assert blocks
    scope: dict = {"__name__": "page"}
    for block in blocks:
        exec(compile(block, page, "exec"), scope)
    assert (tmp_path / "two_sensors_results" / "summary.md").exists()
