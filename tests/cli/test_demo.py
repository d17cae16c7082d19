"""``viewspan demo``."""

import json

import pytest
from rich.console import Console
from typer.testing import CliRunner

from viewspan.cli import terminal
from viewspan.cli.app import app
from viewspan.cli.folder import OUTPUT_NAMES


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(app, list(arguments))


def test_demo_prints_accuracies_weights_and_certificate(folder):
    result = run("demo")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    accuracies = [float(line.split()[-2]) for line in lines if line.endswith(" %")]
    assert len(accuracies) == 4
    assert accuracies[-1] > max(accuracies[:-1]) + 10
    weights = [float(line.split()[3].strip(",")) for line in lines if "view weight" in line]
    assert weights[2] < 0.5 * min(weights[:2])
    assert any("proven to be within" in line for line in lines)
    assert not list(folder.iterdir())


def test_demo_writes_its_files_and_clusters_them(folder):
    result = run("demo", "-o", "demo")
    assert result.exit_code == 0, result.output
    assert {path.name for path in (folder / "demo").iterdir()} == {*OUTPUT_NAMES, "files"}
    assert set(result.stdout.split()) == {f"demo/{name}" for name in OUTPUT_NAMES}
    assert result.stderr.startswith("note: broken agrees with the other views no more than chance")
    record = json.loads((folder / "demo/run.json").read_text())
    assert record["scores"]["accuracy"] > 90
    files = [word for word in record["command"] if word.endswith(".csv")]
    assert len(files) == 4 and all((folder / file).exists() for file in files)


def test_demo_names_the_report_on_a_terminal(folder, monkeypatch):
    console = Console(stderr=True, force_terminal=True, width=100)
    monkeypatch.setattr(terminal, "StderrConsole", lambda: console)
    monkeypatch.setattr("viewspan.cli.digits.run_in_locked_folder", lambda *_: [])
    result = run("demo", "-o", "demo")
    assert result.exit_code == 0, result.output
    assert "Open demo/report.html in a browser." in result.stderr
    assert result.stdout == ""
