"""Tests of the documentation: its code, commands, links, figures and style."""

import inspect
import re
from collections.abc import Iterator
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
PROSE = [*PAGES, "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"]
MAX_LINE_LENGTH = 100
MAX_PARAGRAPH_WORDS = 120
MAX_TABLE_COLUMNS = 8
NAMED_FILE = re.compile(r"`((?:src|tests|docs|benchmarks|examples|requirements)/[\w./-]+)`")
LINK_TARGET = re.compile(r"(?<=\])\([^)\s]*\)|https?://\S+")
LIST_ITEM = re.compile(r"\s*(?:[-*+]|\d+\.) ")
FILES_WRITTEN_BY_PAGE = {
    "docs/first-analysis.md": ["results/report.html", "checked/labels.csv", "patients.model"],
    "docs/own-study.md": ["two_sensors_results/summary.md"],
    "docs/quick-start.md": ["labels.csv", "path.png"],
    "docs/scaling.md": ["radar.npy"],
}


@pytest.mark.parametrize("page", sorted({*WITH_CODE, *WITH_COMMANDS}))
def test_code_and_commands_run(page, tmp_path, monkeypatch):
    """Run the code blocks of a page in order, then its commands.

    The folder contains only the files that the page assumes. ``demo`` and ``reproduce`` have their
    own tests.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    write_files(tmp_path)
    scope: dict = {"__name__": "page"}
    for block in blocks(page, "python"):
        # The page says that this module needs scikit-learn 1.9.
        if "sklearn.callback" not in block or find_spec("sklearn.callback"):
            exec(compile(block, page, "exec"), scope)
    for words in commands(page):
        if words[0] in {"cluster", "predict", "info"}:
            result = CliRunner().invoke(app, words)
            assert result.exit_code == 0, f"{words}: {result.output}"
    assert all((tmp_path / file).exists() for file in FILES_WRITTEN_BY_PAGE.get(page, []))


def test_code_blocks_are_in_languages_that_the_tests_run():
    """Blocks in other languages would not be run. Directives of Sphinx are not code."""
    for page in PAGES:
        languages = set(re.findall(r"^```([^\n{]\S*)$", read(page), flags=re.M))
        assert languages <= {"python", "console", "bibtex"}, page
    assert {"README.md", "docs/quick-start.md", "docs/theory.md"} <= set(WITH_CODE)


@pytest.mark.parametrize("page", WITH_COMMANDS)
def test_command_line_page_explains_every_command(page):
    """Check the commands and the long options that a page uses."""
    explained = read("docs/command-line.md") + read("docs/reproduction.md")
    for words in commands(page):
        assert f"`viewspan {words[0]} " in explained or f"`viewspan {words[0]}`" in explained
        for option in (word for word in words if word.startswith("--")):
            assert option in explained


@pytest.mark.parametrize("page", PAGES)
def test_link_targets_exist(page):
    """Check the files and the headings that a page links to."""
    for file, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)", read(page)):
        target = (ROOT / page).parent / file if file else ROOT / page
        assert target.exists(), f"{page}: {file}"
        if anchor:
            assert anchor in headings(target), f"{page}: {file}#{anchor}"


def headings(page: Path) -> set[str]:
    """Return the anchors that GitHub and Sphinx create for the headings of a page."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize(
    "module",
    [viewspan, viewspan.datasets, viewspan.studies, viewspan.plot, viewspan.report],
    ids=lambda module: module.__name__,
)
def test_reference_lists_every_public_name(module):
    """Look for names below their module. A public module has its own heading."""
    sections = re.split(
        r"^\.\. currentmodule:: (\S+)$", (ROOT / "docs/api.rst").read_text(), flags=re.M
    )
    listed = "".join(text for name, text in pairwise(sections) if name == module.__name__)
    for name in set(module.__all__) - {"__version__"}:
        if inspect.ismodule(getattr(module, name)):
            assert f"{module.__name__}.{name}" in sections
        elif isinstance(getattr(module, name), dict):
            assert f"``{module.__name__}.{name}``" in "".join(sections)
        else:
            assert re.search(rf"^   {name}$", listed, flags=re.M), name


def test_citation_has_the_current_version():
    for file in ("docs/cite.md", "CITATION.cff"):
        assert set(re.findall(r"(?<!cff-)version\W+(\d+\.\d+\.\d+)", read(file))) == {
            viewspan.__version__
        }


def test_reproduction_page_has_the_figures_of_its_tables():
    """Compare the figures and verdicts of all claims with the authors' parameters."""
    page = read("docs/reproduction.md")
    checked = check_claims(pd.read_csv(ROOT / "docs/reproduction/summary.csv"))
    published = checked[checked["setting"] == "authors"]
    assert len(published) == 5 * 13 + 1
    lines = [" ".join(line.replace("|", " ").split()) for line in page.splitlines()]
    for row in published.itertuples():
        verdict = "yes" if row.holds else "**no**"
        assert f"{row.study} σ = {row.noise:g} {row.numbers} {verdict}" in lines


def test_reproduction_page_has_the_tuned_figures():
    page = read("docs/reproduction.md")
    tuned = pd.read_csv(ROOT / "docs/reproduction/tuned/summary.csv").query("setting == 'tuned'")
    for study, noise in (("synthetic", 0.3), ("minerals", 0.3), ("faces", 0.15)):
        rows = tuned[(tuned["study"] == study) & (tuned["noise"] == noise)]
        mean = rows.set_index("method")["mean"]
        best_single_view = mean[["LRR view 1", "LRR view 2"]].max()
        cells = [*mean[["cLRSC", "MLAP", "SSC", "LRR late", "LRR concat"]], best_single_view]
        figures = " | ".join(f"{cell:.1f}" for cell in cells)
        assert f"| {study}, σ = {noise:g} | {figures} |" in page


def test_automatic_weights_are_never_worse_than_the_authors_parameters():
    """Check this claim of the page for every study and noise level of the full run."""
    summary = pd.read_csv(ROOT / "docs/reproduction/summary.csv").query("method == 'cLRSC'")
    means = summary.pivot_table(index=["study", "noise"], columns="setting", values="mean")
    assert len(means) == 13
    assert (means["auto"] >= means["authors"]).all()


@pytest.mark.parametrize("page", PROSE)
def test_files_that_a_page_names_exist(page):
    missing = [file for file in NAMED_FILE.findall(read(page)) if not (ROOT / file).exists()]
    assert missing == []


@pytest.mark.parametrize("page", PROSE)
def test_lines_are_short(page):
    """Tables and code may be wider, and link targets are not counted."""
    too_long = [
        line
        for block in prose_blocks(page)
        for line in block
        if not is_table(block) and len(LINK_TARGET.sub("", line)) > MAX_LINE_LENGTH
    ]
    assert too_long == []


@pytest.mark.parametrize("page", PROSE)
def test_paragraphs_are_short(page):
    """Every item of a list counts as a paragraph."""
    paragraphs = [
        paragraph
        for block in prose_blocks(page)
        if not is_table(block)
        for paragraph in split_at_list_items(block)
    ]
    too_long = [
        text for text in paragraphs if len(LINK_TARGET.sub("", text).split()) > MAX_PARAGRAPH_WORDS
    ]
    assert too_long == []


@pytest.mark.parametrize("page", PROSE)
def test_tables_are_narrow(page):
    too_wide = [
        block[0]
        for block in prose_blocks(page)
        if is_table(block) and len(re.findall(r"(?<!\\)\|", block[0])) - 1 > MAX_TABLE_COLUMNS
    ]
    assert too_wide == []


def test_the_documentation_has_one_picture_for_each_example():
    """``make docs`` runs the examples."""
    examples = {path.stem for path in (ROOT / "examples").glob("*.py")}
    assert {path.stem for path in (ROOT / "docs" / "examples").glob("*.png")} == examples


def prose_blocks(page: str) -> Iterator[list[str]]:
    """Yield the lines of every paragraph, list, heading and table, without code and formulas."""
    text = re.sub(r"^```.*?^```$", "", read(page), flags=re.S | re.M)
    text = re.sub(r"^\$\$.*?\$\$$", "", text, flags=re.S | re.M)
    for block in re.split(r"\n\s*\n", text.strip("\n")):
        if block and not block.startswith("    "):
            yield block.splitlines()


def is_table(block: list[str]) -> bool:
    return all(line.startswith("|") for line in block)


def split_at_list_items(block: list[str]) -> list[str]:
    """Return the items of a list, or the whole paragraph."""
    paragraphs: list[str] = []
    for line in block:
        if not paragraphs or LIST_ITEM.match(line):
            paragraphs.append(line)
        else:
            paragraphs[-1] += " " + line.strip()
    return paragraphs
