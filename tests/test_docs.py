"""The code on the pages runs, its commands are known, and its links lead somewhere."""

import inspect
import re
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

import viewspan
import viewspan.datasets
import viewspan.plot
import viewspan.report
import viewspan.studies
from tests.pages import PAGES, ROOT, blocks, commands, read, write_files
from viewspan.cli.app import app
from viewspan.studies.claims import check_claims

WITH_CODE = [page for page in PAGES if blocks(page, "python")]
WITH_COMMANDS = [page for page in PAGES if commands(page)]
LEFT_BEHIND = {
    "README.md": ["path.png"],
    "docs/own-study.md": ["two_sensors_results/summary.md"],
    "docs/quick-start.md": ["labels.csv", "path.png"],
    "docs/scaling.md": ["radar.npy"],
}


@pytest.mark.parametrize("page", sorted({*WITH_CODE, *WITH_COMMANDS}))
def test_code_and_commands_run(page, tmp_path, monkeypatch):
    """All blocks of a page, one after the other, in a folder with nothing but the files that it takes for granted; then
    its commands, but for studies and demo, which have tests of their own.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    write_files(tmp_path)
    scope: dict = {"__name__": "page"}
    for block in blocks(page, "python"):
        if "sklearn.callback" not in block or find_spec(
            "sklearn.callback"
        ):  # since 1.9, as the page says
            exec(compile(block, page, "exec"), scope)
    for words in commands(page):
        if words[0] in {"cluster", "predict", "info"}:
            result = CliRunner().invoke(app, words)
            assert result.exit_code == 0, f"{words}: {result.output}"
    assert all((tmp_path / file).exists() for file in LEFT_BEHIND.get(page, []))


def test_blocks_are_in_languages_that_are_looked_at():
    """A block in another language would not be run; a directive of Sphinx is no code."""
    for page in PAGES:
        languages = set(re.findall(r"^```([^\n{]\S*)$", read(page), flags=re.M))
        assert languages <= {"python", "console", "bibtex"}, page
    assert {"README.md", "docs/quick-start.md", "docs/theory.md"} <= set(WITH_CODE)


@pytest.mark.parametrize("page", WITH_COMMANDS)
def test_commands_are_those_of_the_command_line_page(page):
    """Every command and every long option that a page types is explained where the command line is."""
    explained = read("docs/command-line.md") + read("docs/reproduction.md")
    for words in commands(page):
        assert f"`viewspan {words[0]} " in explained or f"`viewspan {words[0]}`" in explained
        for option in (word for word in words if word.startswith("--")):
            assert option in explained


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    """To a file that is there, and to a heading that is on it."""
    for file, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)", read(page)):
        target = (ROOT / page).parent / file if file else ROOT / page
        assert target.exists(), f"{page}: {file}"
        if anchor:
            assert anchor in headings(target), f"{page}: {file}#{anchor}"


def headings(page: Path) -> set[str]:
    """The anchors of a page, as code hosts and Sphinx make them of its headings."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize(
    "module",
    [viewspan, viewspan.datasets, viewspan.studies, viewspan.plot, viewspan.report],
    ids=lambda module: module.__name__,
)
def test_every_public_name_is_in_the_reference(module):
    """Under its module; a module that is public itself has a heading of its own there."""
    sections = re.split(
        r"^\.\. currentmodule:: (\S+)$", (ROOT / "docs/api.rst").read_text(), flags=re.M
    )
    listed = "".join(text for name, text in pairwise(sections) if name == module.__name__)
    for name in module.__all__:
        if inspect.ismodule(getattr(module, name)):
            assert f"{module.__name__}.{name}" in sections
        elif isinstance(getattr(module, name), dict):
            assert f"``{module.__name__}.{name}``" in "".join(sections)
        else:
            assert re.search(rf"^   {name}$", listed, flags=re.M), name


def test_the_version_to_cite_is_this_one():
    for file in ("docs/cite.md", "CITATION.cff"):
        assert set(re.findall(r"(?<!cff-)version\W+(\d+\.\d+\.\d+)", read(file))) == {
            viewspan.__version__
        }


def test_the_figures_of_the_reproduction_are_those_of_its_tables():
    """Every figure that a claim is about, as published, stands on the page; and what holds is said to hold."""
    page = read("docs/reproduction.md")
    checked = check_claims(pd.read_csv(ROOT / "docs/reproduction/summary.csv"))
    published = checked[checked["setting"] == "authors"]
    assert len(published) == 5 * 13 + 1
    lines = [" ".join(line.replace("|", " ").split()) for line in page.splitlines()]
    for row in published.itertuples():
        verdict = "yes" if row.holds else "**no**"
        assert f"{row.study} σ = {row.noise:g} {row.figures} {verdict}" in lines


def test_the_tuned_figures_too():
    page = read("docs/reproduction.md")
    tuned = pd.read_csv(ROOT / "docs/reproduction/tuned/summary.csv").query("setting == 'tuned'")
    for study, noise in (("synthetic", 0.3), ("minerals", 0.3), ("faces", 0.15)):
        mean = tuned[(tuned["study"] == study) & (tuned["noise"] == noise)].set_index("method")[
            "mean"
        ]
        alone = mean[["LRR view 1", "LRR view 2"]].max()
        cells = [*mean[["cLRSC", "MLAP", "SSC", "LRR late", "LRR concat"]], alone]
        assert (
            f"| {study}, σ = {noise:g} | " + " | ".join(f"{cell:.1f}" for cell in cells) + " |"
            in page
        )


def test_untuned_is_nowhere_below_the_authors_parameters():
    """As the page says, for every study and noise level of the full run."""
    summary = pd.read_csv(ROOT / "docs/reproduction/summary.csv").query("method == 'cLRSC'")
    means = summary.pivot_table(index=["study", "noise"], columns="setting", values="mean")
    assert len(means) == 13
    assert (means["auto"] >= means["authors"]).all()
