"""Ctrl-C, ``kill``, a terminal that closes and a reader that goes away: nothing half-written, no traceback."""

import hashlib
import json
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.cli.running import Command, two_views
from viewspan.cli.app import app

CLUSTER = ("cluster", "a.npy", "b.npy", "-k", "3", "-o", "out")
PLACES = [
    "viewspan.cli.job.read_all",
    "viewspan.cli.job.fit",
    "viewspan.cli.job.page_of",
    "viewspan.cli.job.record_of",
    "viewspan._utils.files.write_and_sync",
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    two_views(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def contents(folder):
    return {
        path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def belong_together(out):
    """The record has the checksums of what was written with it."""
    written = json.loads((out / "run.json").read_text())["written"]
    return written == {
        name: hashlib.sha256((out / name).read_bytes()).hexdigest() for name in written
    }


def interrupt_in(monkeypatch, place, *, times=1, after=False):
    """Ctrl-C the ``times``-th time that a function is called, before it or after it has done its work."""
    module, _, name = place.rpartition(".")
    meant, calls = getattr(import_module(module), name), []

    def interrupted(*given, **named):
        calls.append(place)
        if len(calls) == times and not after:
            signal.raise_signal(signal.SIGINT)
        found = meant(*given, **named)
        if len(calls) == times and after:
            signal.raise_signal(signal.SIGINT)
        return found

    monkeypatch.setattr(f"{module}.{name}", interrupted)


@pytest.mark.parametrize("place", PLACES)
def test_ctrl_c_leaves_no_folder(place, folder, monkeypatch):
    before = contents(folder)
    interrupt_in(monkeypatch, place)
    result = run(*CLUSTER[:-1], "results/deep/out")
    assert result.exit_code == 130
    assert result.stderr == "Interrupted; nothing was written.\n"
    assert contents(folder) == before
    assert not (folder / "results").exists()


@pytest.mark.parametrize("times", [1, 2, 4])
def test_ctrl_c_keeps_what_an_earlier_run_has_written(times, folder, monkeypatch):
    assert run(*CLUSTER).exit_code == 0
    before = contents(folder)
    interrupt_in(monkeypatch, "viewspan._utils.files.write_and_sync", times=times, after=True)
    assert run(*CLUSTER, "--force", "--seed", 1).exit_code == 130
    assert contents(folder) == before


def test_ctrl_c_while_files_are_renamed_is_heard_after_it(folder, monkeypatch):
    """So the four files are always those of one run."""
    assert run(*CLUSTER).exit_code == 0
    renamed, replace = [], Path.replace

    def interrupted(path, target):
        renamed.append(target.name)
        if len(renamed) == 2:
            signal.raise_signal(signal.SIGINT)
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", interrupted)
    assert run(*CLUSTER, "--force", "--seed", 1, "--no-report").exit_code == 130
    assert renamed == ["labels.csv", "model", "run.json"]
    assert json.loads((folder / "out/run.json").read_text())["parameters"]["random_state"] == 1
    assert belong_together(folder / "out")
    assert {path.name for path in (folder / "out").iterdir()} == {"labels.csv", "model", "run.json"}


@pytest.mark.parametrize("place", ["viewspan.cli.demo.tables_of_digits", "viewspan.cli.job.fit"])
def test_an_interrupted_demo_leaves_nothing(place, folder, monkeypatch):
    interrupt_in(monkeypatch, place, after=place.endswith("digits"))
    assert run("demo", "-o", "out").exit_code == 130
    assert not (folder / "out").exists()


def test_an_interrupted_prediction_leaves_nothing(folder, monkeypatch):
    assert run(*CLUSTER, "--no-report").exit_code == 0
    before = contents(folder)
    interrupt_in(monkeypatch, "viewspan._utils.files.write_and_sync", after=True)
    assert run("predict", "out/model", "a.npy", "b.npy", "-o", "new/labels.csv").exit_code == 130
    assert contents(folder) == before and not (folder / "new").exists()


@pytest.mark.parametrize(
    ("signum", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)],
    ids=lambda value: str(value),
)
def test_signals_end_a_fit_with_their_exit_code(signum, code, folder):
    command = Command(*CLUSTER, folder=folder, pause_in="viewspan.cli.job.fit")
    assert (folder / "out").is_dir()  # it is held from the start
    command.signal(signum)
    assert command.end() == (code, "", "Interrupted; nothing was written.\n")
    assert not (folder / "out").exists()


SIGNAL_AT_IMPORT = """
import signal, sys
module, signum = sys.argv[1], getattr(signal, sys.argv[2])
class Meddler:
    def find_spec(self, name, *others):
        if name == module:
            signal.raise_signal(signum)
sys.meta_path.insert(0, Meddler())
from viewspan.cli import main
sys.argv[1:] = ["cluster", "a.npy", "-o", "out"]
main()
"""


@pytest.mark.parametrize(
    ("module", "name", "code"),
    [
        ("typer", "SIGINT", 130),
        ("viewspan.cli", "SIGTERM", 143),
        ("numpy", "SIGINT", 130),
        ("scipy.sparse", "SIGHUP", 129),
        ("sklearn.cluster", "SIGINT", 130),
    ],
)
def test_a_signal_while_packages_are_imported_ends_it_without_a_word(module, name, code, folder):
    result = subprocess.run(
        [sys.executable, "-c", SIGNAL_AT_IMPORT, module, name],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.returncode, result.stdout, result.stderr) == (code, "", "")
    assert not (folder / "out").exists()


def test_the_package_alone_imports_nothing_that_takes_time():
    """Nothing of ours runs before the command hears signals, but this."""
    code = (
        "import sys, viewspan.cli; print({'numpy', 'scipy', 'sklearn', 'typer'} & set(sys.modules))"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
        == "set()\n"
    )


def test_a_package_that_fails_because_it_was_interrupted_is_not_called_missing(folder, monkeypatch):
    """numpy and others turn Ctrl-C during their import into an ImportError."""

    def interrupted(*given):
        raise ImportError("numpy: cannot be imported")

    monkeypatch.setattr("viewspan.cli.job.fit", interrupted)
    monkeypatch.setattr("viewspan._utils.signals._received", [signal.SIGTERM])
    result = run(*CLUSTER)
    assert (result.exit_code, result.stderr) == (143, "Interrupted; nothing was written.\n")


def test_what_nohup_ignores_stays_ignored():
    code = (
        "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN); from viewspan import _signals; _signals.listen();"
        "print(signal.getsignal(signal.SIGHUP) is signal.SIG_IGN, signal.getsignal(signal.SIGTERM) is _signals._raise)"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
        == "True True\n"
    )


@pytest.mark.parametrize(
    ("stream", "place"), [("stdout", "viewspan.cli.job.write"), ("stderr", "viewspan.cli.job.fit")]
)
def test_a_reader_that_goes_away_is_no_error(stream, place, folder):
    """As in ``viewspan … | head -1``: what was written stays, and what is half done goes, where rich would end it."""
    arguments = (*CLUSTER, "--no-report", "--tol", "1e-12", "--max-iter", "1")  # which is warned of
    command = Command(*arguments, folder=folder, pause_in=place)
    getattr(command.process, stream).close()
    command.go_on()
    words = (
        (command.process.stderr if stream == "stdout" else command.process.stdout).read().decode()
    )
    assert command.process.wait(timeout=300) == 141
    assert all(word not in words for word in ("Traceback", "Errno", "ignored"))
    assert belong_together(folder / "out") if stream == "stdout" else not (folder / "out").exists()
