"""The code on the pages runs."""

import re
from pathlib import Path

import pandas as pd
import pytest

from viewspan.experiments.claims import check_claims

ROOT = Path(__file__).parents[1]
PAGES = {"docs/own-study.md": "two_sensors_results/summary.md", "docs/scaling.md": "radar.npy"}


@pytest.mark.parametrize("page", PAGES)
def test_code_blocks_run(page, tmp_path, monkeypatch):
    """All blocks of a page, one after the other, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), flags=re.S)
    assert blocks
    scope: dict = {"__name__": "page"}
    for block in blocks:
        exec(compile(block, page, "exec"), scope)
    assert (tmp_path / PAGES[page]).exists()


def test_the_figures_of_the_reproduction_are_those_of_its_tables():
    """Every figure that a claim is about, as published, stands on the page; and what holds is said to hold."""
    page = (ROOT / "docs/reproduction.md").read_text(encoding="utf-8")
    checked = check_claims(pd.read_csv(ROOT / "docs/reproduction/summary.csv"))
    published = checked[checked["setting"] == "authors"]
    assert len(published) == 5 * 13 + 1
    lines = [" ".join(line.replace("|", " ").split()) for line in page.splitlines()]
    for row in published.itertuples():
        verdict = "yes" if row.holds else "**no**"
        assert f"{row.study} σ = {row.noise:g} {row.figures} {verdict}" in lines


def test_the_tuned_figures_too():
    page = (ROOT / "docs/reproduction.md").read_text(encoding="utf-8")
    tuned = pd.read_csv(ROOT / "docs/reproduction/tuned/summary.csv").query("setting == 'tuned'")
    for study, noise in (("synthetic", 0.3), ("minerals", 0.3), ("faces", 0.15)):
        mean = tuned[(tuned["study"] == study) & (tuned["noise"] == noise)].set_index("method")["mean"]
        alone = mean[["LRR view 1", "LRR view 2"]].max()
        cells = [*mean[["cLRSC", "MLAP", "SSC", "LRR late", "LRR concat"]], alone]
        assert f"| {study}, σ = {noise:g} | " + " | ".join(f"{cell:.1f}" for cell in cells) + " |" in page


def test_untuned_is_nowhere_below_the_authors_parameters():
    """As the page says, for every study and noise level of the full run."""
    summary = pd.read_csv(ROOT / "docs/reproduction/summary.csv").query("method == 'cLRSC'")
    means = summary.pivot_table(index=["study", "noise"], columns="setting", values="mean")
    assert len(means) == 13
    assert (means["auto"] >= means["authors"]).all()
