"""Hostile names are shown as text on the page, in plots, in the terminal and in output files."""

import csv
import io
import re
from html.parser import HTMLParser

import matplotlib.pyplot as plt
import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

import viewspan
from tests.hostile_names import NAMES
from tests.problems import many_subspaces
from viewspan import plot
from viewspan._utils.text import shortened, visible
from viewspan.cli.app import app
from viewspan.cli.terminal import Terminal
from viewspan.io.readers.labels import labels_csv
from viewspan.plot.style import MAX_NAME_LENGTH, label_text
from viewspan.report import html_report

CONTROL_CHARACTERS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


class Page(HTMLParser):
    """Parser that collects tags with their attributes, and the texts of cells."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.cells, self.inside = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag in ("td", "li", "pre", "text"):
            self.cells.append("")
            self.inside.append(tag)

    def handle_endtag(self, tag):
        if self.inside and tag == self.inside[-1]:
            self.inside.pop()

    def handle_data(self, data):
        if self.inside:
            self.cells[-1] += data


@pytest.fixture(scope="module")
def model():
    """Fit a model with one view for every name."""
    views, _ = many_subspaces(len(NAMES) * 2)
    rng = np.random.default_rng(0)
    named = {name: views[0] + 0.4 * rng.normal(size=views[0].shape) for name in NAMES.values()}
    return viewspan.LRR(5, random_state=0).fit(named)


@pytest.fixture(scope="module")
def page(model):
    names = list(NAMES.values())
    return html_report(
        model,
        ids=[f"{name}{row}" for row in (1, 2) for name in names],
        notes=names,
        command=names[0],
    )


def test_names_are_shown_as_text(page):
    found = Page(page)
    shown = [cell.strip() for cell in found.cells]
    for name in NAMES.values():
        assert visible(name, keep="\n\t").strip() in shown
    assert [tag for tag, _ in found.tags].count("script") == 2
    assert not [tag for tag, _ in found.tags if tag in {"img", "iframe", "object", "b", "red"}]
    assert not [
        name for _, attributes in found.tags for name in attributes if name.startswith("on")
    ]


def test_page_has_no_control_characters(page):
    assert page.encode("utf-8").decode() == page
    assert not CONTROL_CHARACTERS.search(page)


def test_plots_show_names_unchanged(page):
    """Colours and ids are replaced in tags, but not in text."""
    cells = Page(page).cells
    for kind in ("entities", "backslashes", "template", "formula of TeX", "attribute"):
        assert shortened(NAMES[kind], MAX_NAME_LENGTH) in cells


@pytest.mark.parametrize("kind", NAMES)
def test_every_name_can_be_drawn(kind):
    figure, ax = plt.subplots()
    ax.set_title(label_text(NAMES[kind]))
    ax.set_xticks([0], [label_text(NAMES[kind])])
    figure.savefig(io.BytesIO(), format="png")
    plt.close(figure)
    assert len(label_text(NAMES[kind])) <= 2 * MAX_NAME_LENGTH + 1


def test_plots_of_views_with_hostile_names_can_be_saved(model):
    for draw in (plot.view_contributions, plot.view_similarity):
        draw(model).figure.savefig(io.BytesIO(), format="svg")
        plt.close("all")


def test_terminal_shows_names_without_control_characters():
    terminal, screen = Terminal(), io.StringIO()
    terminal.console = Console(file=screen, force_terminal=True, width=100)
    for name in NAMES.values():
        terminal.print_message(f"{name}|")
    terminal.print_notes(list(NAMES.values()))
    # the terminal itself colours the word "note:"
    shown = re.sub(r"\x1b\[(0|33)m", "", screen.getvalue())
    assert not CONTROL_CHARACTERS.search(shown)
    assert "[red]rich[/red]" in shown


def test_label_files_keep_the_ids_unchanged():
    """Ids such as "=1+1" are not altered, although a spreadsheet may read them as formulas."""
    ids = np.array(
        [f"{name}x" for kind, name in NAMES.items() if kind not in ("zero", "half a letter")]
    )
    written = labels_csv(ids, np.zeros(len(ids), dtype=int), np.ones(len(ids)))
    rows = list(csv.reader(io.StringIO(written.decode(), newline="")))
    assert [row[0] for row in rows[1:]] == list(ids)


@pytest.mark.parametrize(
    "kind", ["script", "control", "turned", "lines", "markup", "formula of TeX"]
)
def test_command_line_shows_names_of_files_and_columns(kind, tmp_path):
    name = NAMES[kind].replace("/", "∕").replace("\x00", "")[:60]
    rng = np.random.default_rng(0)
    for number in (1, 2):
        values = [",".join(f"{value:.3f}" for value in row) for row in rng.normal(size=(30, 3))]
        rows = [f"{row},{line}" for row, line in enumerate(values)]
        (tmp_path / f"{name}{number}.csv").write_text("\n".join(["id,=1+1,[red],<b>", *rows]))
    files = [str(tmp_path / f"{name}{number}.csv") for number in (1, 2)]
    result = CliRunner().invoke(
        app, ["cluster", *files, "--id", "id", "-k", "3", "-o", str(tmp_path / "out")]
    )
    assert result.exit_code == 0, result.output
    report = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert visible(f"{name}1", keep="\n\t") in [cell.strip() for cell in Page(report).cells]
    info = CliRunner().invoke(app, ["info", files[0]])
    assert info.exit_code == 0 and "[red]" in info.output
    assert not CONTROL_CHARACTERS.search(info.output)
    missing = CliRunner().invoke(app, ["info", files[0] + "x"])
    assert missing.exit_code == 2 and not CONTROL_CHARACTERS.search(missing.output)


def test_control_characters_become_symbols_and_long_texts_are_shortened():
    assert visible("a\x1b[0m\x7f\x85\u202e\udc80 é😀عر") == "a␛[0m␡��� é😀عر"
    assert visible("a\nb\tc", keep="\n") == "a\nb␉c"
    assert shortened("abcdefgh", 4) == "ab…gh"
