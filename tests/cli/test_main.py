"""Help, version, ``viewspan reproduce``, missing packages and the progress bar."""

import io
import subprocess
import sys

import pytest
from rich.console import Console

from tests.cli.running import run
from viewspan import Progress, __version__
from viewspan.cli.progress_bar import ProgressBar
from viewspan.datasets import files
from viewspan.studies import paper


@pytest.fixture
def small(monkeypatch):
    """Reduce the studies of the paper to one quick method each."""
    monkeypatch.setattr(
        paper, "authors_methods", lambda weights: paper.lrr_methods("authors", weights.lrr)
    )
    monkeypatch.setattr(paper, "optimum_methods", lambda _: [])
    monkeypatch.setattr(paper, "auto_methods", lambda: [])


def test_version_and_help():
    assert run("--version").output.strip() == f"viewspan {__version__}"
    text = run("reproduce", "--help").output
    for option in ("--out", "-o", "--trials", "--jobs", "--tune", "--mineral-copies"):
        assert option in text


def test_a_study_writes_tables_and_figures(small, tmp_path):
    result = run("reproduce", "synthetic", "-o", tmp_path / "out", "--trials", 1, "--jobs", 1)
    assert result.exit_code == 0, result.output
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names >= {"results.parquet", "results.csv", "summary.csv", "summary.md"}
    assert names >= {"synthetic-authors.png", "synthetic-authors.svg", "synthetic-difference.png"}
    assert str(tmp_path / "out" / "summary.md") in result.stdout.splitlines()


def test_all_runs_all_studies(small, minerals, faces, tmp_path):
    result = run(
        "reproduce", "all", "-o", tmp_path, "--trials", 1, "--jobs", 1, "--mineral-copies", 20
    )
    assert result.exit_code == 0, result.output
    assert {path.name.split("-")[0] for path in tmp_path.glob("*.svg")} == {
        "synthetic",
        "minerals",
        "faces",
    }


def test_missing_data_is_reported_before_anything_runs(monkeypatch, tmp_path):
    monkeypatch.setattr(files, "cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr(files, "SOURCE", "http://127.0.0.1:9/")
    monkeypatch.delenv("VIEWSPAN_DATA", raising=False)
    result = run("reproduce", "all", "-o", tmp_path / "out", "--trials", 1)
    assert result.exit_code == 1
    assert "TIRlib.mat" in result.stderr and "VIEWSPAN_DATA" in result.stderr
    assert not (tmp_path / "out").exists()


def test_reproduce_refuses_a_file_as_output_folder(small, tmp_path):
    target = tmp_path / "taken"
    target.write_text("mine")
    result = run("reproduce", "synthetic", "-o", target, "--trials", 1)
    assert result.exit_code == 2
    assert "is a file, but --out needs a folder" in result.stderr
    assert target.read_text() == "mine"


@pytest.mark.parametrize(
    "arguments",
    [
        ("reproduce", "everything", "-o", "x"),
        ("reproduce", "all"),
        ("reproduce", "all", "--trials", "0"),
    ],
)
def test_wrong_usage_is_exit_code_two(arguments):
    assert run(*arguments).exit_code == 2


HIDE_PACKAGES = """
import sys
class HidingFinder:
    def find_spec(self, name, *others):
        if name.partition(".")[0] in {names!r}:
            raise ModuleNotFoundError("no " + name, name=name)
sys.meta_path.insert(0, HidingFinder())
"""


def run_without(names, code):
    """Run code in a new Python process in which these packages cannot be imported."""
    script = HIDE_PACKAGES.format(names=names) + code
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )


def test_a_missing_package_is_named_with_the_extra_to_install():
    result = run_without(["typer"], "from viewspan.cli.main import main; main()")
    assert result.returncode == 1
    assert "pip install 'viewspan[cli]'" in result.stderr
    assert "Traceback" not in result.stderr


def test_estimators_and_generators_need_no_extra():
    code = (
        "from viewspan import CLRSC; from viewspan.datasets import make_subspaces\n"
        "CLRSC(5).fit(make_subspaces()[0])\n"
        "try:\n    import viewspan.studies\n"
        "except ModuleNotFoundError as error:\n    print(error)\n"
    )
    result = run_without(["pandas", "pyarrow", "matplotlib", "PIL", "pooch", "typer", "rich"], code)
    assert result.returncode == 0, result.stderr
    assert "viewspan.studies needs the package 'pandas'" in result.stdout


def test_progress_bar_draws_every_stage():
    console = Console(force_terminal=True, width=80, file=io.StringIO())
    with ProgressBar(console) as bar:
        for share in (0.0, 0.5, 1.0):
            bar(Progress("labelling", share, 3.0, 2.0 if share == 0.5 else None))
            bar.bar.refresh()
    drawn = console.file.getvalue()
    assert "labelling" in drawn and "50%" in drawn and "2 s left" in drawn and "100%" in drawn
