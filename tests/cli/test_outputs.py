"""A command overwrites neither its inputs nor files that no earlier run has written."""

import numpy as np
import pytest

from tests.cli.running import run, two_views

CLUSTER = ("cluster", "a.npy", "b.npy", "-k", "3", "--no-report", "-o")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    two_views(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("link", [False, True])
def test_true_labels_are_not_overwritten(folder, link):
    (folder / "data").mkdir()
    truth = folder / "data/labels.csv"
    target = folder / "truth.csv" if link else truth
    target.write_text("\n".join(["is", *map(str, np.arange(len(np.load("a.npy"))) % 3)]))
    if link:
        truth.symlink_to(target)
    before = target.read_bytes()
    result = run(*CLUSTER, "data", "--labels", target, "--force")
    assert result.exit_code == 2
    assert "data/labels.csv is an input of this run" in result.stderr
    assert target.read_bytes() == before


def test_a_view_is_not_overwritten(folder):
    (folder / "data").mkdir()
    rows = np.load("a.npy")
    np.savetxt(folder / "data/labels.csv", rows, delimiter=",")
    before = (folder / "data/labels.csv").read_bytes()
    result = run("cluster", "first=data/labels.csv", "b.npy", "-k", "3", "-o", "data", "--force")
    assert result.exit_code == 2 and "is an input of this run" in result.stderr
    assert (folder / "data/labels.csv").read_bytes() == before


@pytest.mark.parametrize("record", [None, "{}", "no JSON", '{"written": {"model": "00"}}'])
def test_force_keeps_files_that_no_earlier_run_wrote(folder, record):
    (folder / "out").mkdir()
    (folder / "out/labels.csv").write_text("mine")
    if record is not None:
        (folder / "out/run.json").write_text(record)
    result = run(*CLUSTER, "out", "--force")
    assert result.exit_code == 2
    assert "was not written by viewspan, so --force does not replace it" in result.stderr
    assert (folder / "out/labels.csv").read_text() == "mine"


def test_force_keeps_files_that_were_changed_since(folder):
    assert run(*CLUSTER, "out").exit_code == 0
    changed = (folder / "out/labels.csv").read_text() + "my note\n"
    (folder / "out/labels.csv").write_text(changed)
    result = run(*CLUSTER, "out", "--force")
    assert result.exit_code == 2 and "has changed since viewspan wrote it" in result.stderr
    assert (folder / "out/labels.csv").read_text() == changed
    (folder / "out/labels.csv").unlink()
    assert run(*CLUSTER, "out", "--force").exit_code == 0


@pytest.mark.parametrize("name", ["a.npy", "out/model"])
def test_predictions_do_not_overwrite_their_inputs(folder, name):
    assert run(*CLUSTER, "out").exit_code == 0
    before = (folder / name).read_bytes()
    result = run("predict", "out/model", "a.npy", "b.npy", "-o", name, "--force")
    assert result.exit_code == 2 and f"{name} is an input of this run" in result.stderr
    assert (folder / name).read_bytes() == before


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("out/run.json", "belongs to a run of viewspan cluster"),
        ("out/labels.csv", "belongs to a run of viewspan cluster"),
        ("notes.txt", "is not a table of labels that viewspan predict wrote"),
    ],
)
def test_predictions_replace_tables_of_labels_alone(folder, name, reason):
    assert run(*CLUSTER, "out").exit_code == 0
    (folder / "notes.txt").write_text("mine")
    before = (folder / name).read_bytes()
    result = run("predict", "out/model", "a.npy", "b.npy", "-o", name, "--force")
    assert result.exit_code == 2 and f"{name} {reason}" in result.stderr
    assert (folder / name).read_bytes() == before
    for _ in range(2):
        result = run("predict", "out/model", "a.npy", "b.npy", "-o", "new.csv", "--force")
        assert result.exit_code == 0


@pytest.mark.parametrize("name", ["results.csv", "summary.md", "claims.md"])
def test_studies_keep_files_that_no_earlier_run_wrote(folder, name):
    (folder / "out").mkdir()
    (folder / "out" / name).write_text("mine")
    result = run("reproduce", "synthetic", "-o", "out", "--trials", 1, "--jobs", 1)
    assert result.exit_code == 2 and f"out/{name} was not written by viewspan" in result.stderr
    assert [path.name for path in (folder / "out").iterdir()] == [name]
    assert (folder / "out" / name).read_text() == "mine"


def test_the_demo_keeps_files_of_the_same_name(folder):
    (folder / "demo/files").mkdir(parents=True)
    (folder / "demo/files/left.csv").write_text("mine")
    result = run("demo", "-o", "demo", "--force")
    assert result.exit_code == 2 and "demo/files/left.csv already exists" in result.stderr
    assert (folder / "demo/files/left.csv").read_text() == "mine"


@pytest.mark.parametrize(
    "command",
    [CLUSTER, ("predict", "model", "a.npy", "-o"), ("demo", "-o"), ("reproduce", "all", "-o")],
    ids=lambda command: command[0],
)
def test_an_empty_path_is_refused(folder, command):
    """An unset shell variable must not mean the current folder."""
    result = run(*command, "")
    message = " ".join(result.stderr.replace("│", " ").split())
    assert result.exit_code == 2
    assert "'--out' / '-o': The path is empty; check that the shell variable is set." in message
    assert {path.name for path in folder.iterdir()} == {"a.npy", "b.npy"}
