"""Ctrl-C, ``kill``, a closed terminal or a closed pipe leave no partial files."""

import json
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from tests.cli.running import Command, contents, matches_its_record, run, two_views

CLUSTER = ("cluster", "a.npy", "b.npy", "-k", "3", "-o", "out")
PLACES = [
    "viewspan.cli.inputs.read_all",
    "viewspan.cli.fitting.fit",
    "viewspan.cli.fitting.make_report",
    "viewspan.cli.fitting.make_record",
    "viewspan._utils.files.write_and_sync",
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    two_views(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def interrupt_in(monkeypatch, place, *, call=1, after=False):
    """Send Ctrl-C before or after one of the calls of a function."""
    module, _, name = place.rpartition(".")
    function, calls = getattr(import_module(module), name), []

    def interrupted(*args, **kwargs):
        calls.append(place)
        if len(calls) == call and not after:
            signal.raise_signal(signal.SIGINT)
        result = function(*args, **kwargs)
        if len(calls) == call and after:
            signal.raise_signal(signal.SIGINT)
        return result

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


@pytest.mark.parametrize("call", [1, 2, 4])
def test_ctrl_c_keeps_the_files_of_an_earlier_run(call, folder, monkeypatch):
    assert run(*CLUSTER).exit_code == 0
    before = contents(folder)
    interrupt_in(monkeypatch, "viewspan._utils.files.write_and_sync", call=call, after=True)
    assert run(*CLUSTER, "--force", "--seed", 1).exit_code == 130
    assert contents(folder) == before


def test_ctrl_c_during_the_renames_is_handled_after_them(folder, monkeypatch):
    """The output files are always those of one run."""
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
    assert matches_its_record(folder / "out")
    assert {path.name for path in (folder / "out").iterdir()} == {"labels.csv", "model", "run.json"}


@pytest.mark.parametrize("place", ["viewspan.cli.digits.digit_tables", "viewspan.cli.fitting.fit"])
def test_an_interrupted_demo_leaves_nothing(place, folder, monkeypatch):
    interrupt_in(monkeypatch, place, after=place.endswith("tables"))
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
    command = Command(*CLUSTER, folder=folder, pause_in="viewspan.cli.fitting.fit")
    assert (folder / "out").is_dir()  # created and locked before the fit
    command.signal(signum)
    assert command.end() == (code, "", "Interrupted; nothing was written.\n")
    assert not (folder / "out").exists()


SIGNAL_AT_IMPORT = """
import signal, sys
module, signum = sys.argv[1], getattr(signal, sys.argv[2])
class SignallingFinder:
    def find_spec(self, name, *others):
        if name == module:
            signal.raise_signal(signum)
from viewspan.cli.main import main
sys.meta_path.insert(0, SignallingFinder())
sys.argv[1:] = ["cluster", "a.npy", "-o", "out"]
main()
"""


@pytest.mark.parametrize(
    ("module", "name", "code"),
    [
        ("typer", "SIGINT", 130),
        ("viewspan.cli.app", "SIGTERM", 143),
        ("numpy", "SIGINT", 130),
        ("scipy.sparse", "SIGHUP", 129),
    ],
)
def test_a_signal_during_imports_ends_the_command_silently(module, name, code, folder):
    result = cluster_with_signal_at_import(module, name)
    assert (result.returncode, result.stdout, result.stderr) == (code, "", "")
    assert not (folder / "out").exists()


@pytest.mark.parametrize(
    ("module", "name", "code"), [("sklearn.cluster", "SIGINT", 130), ("matplotlib", "SIGTERM", 143)]
)
def test_a_signal_during_imports_of_a_run_is_handled_after_them(module, name, code, folder):
    result = cluster_with_signal_at_import(module, name)
    assert (result.returncode, result.stdout) == (code, "")
    assert result.stderr == "Interrupted; nothing was written.\n"
    assert not (folder / "out").exists()


def cluster_with_signal_at_import(module, name):
    return subprocess.run(
        [sys.executable, "-c", SIGNAL_AT_IMPORT, module, name],
        capture_output=True,
        text=True,
        check=False,
    )


def test_main_imports_nothing_slow_before_it_handles_signals():
    code = (
        "import sys, viewspan.cli.main;"
        "print({'numpy', 'scipy', 'sklearn', 'typer'} & set(sys.modules))"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
        == "set()\n"
    )


def test_an_import_error_caused_by_a_signal_counts_as_interruption(folder, monkeypatch):
    """If Ctrl-C arrives during the import of numpy and others, they raise ImportError."""

    def interrupted(*_):
        raise ImportError("numpy: cannot be imported")

    monkeypatch.setattr("viewspan.cli.fitting.fit", interrupted)
    monkeypatch.setattr("viewspan._utils.signals._received", [signal.SIGTERM])
    result = run(*CLUSTER)
    assert (result.exit_code, result.stderr) == (143, "Interrupted; nothing was written.\n")


IGNORED_SIGNAL = """
import signal
from viewspan._utils import signals
signal.signal(signal.SIGHUP, signal.SIG_IGN)
signals.raise_on_signals()
signal.raise_signal(signal.SIGHUP)
try:
    signal.raise_signal(signal.SIGTERM)
except KeyboardInterrupt:
    print(signals.received_exit_code())
"""


def test_signals_that_nohup_ignores_stay_ignored():
    result = subprocess.run([sys.executable, "-c", IGNORED_SIGNAL], capture_output=True, text=True)
    assert (result.stdout, result.stderr) == ("143\n", "")


@pytest.mark.parametrize(
    ("stream", "place"),
    [("stdout", "viewspan.cli.fitting.write"), ("stderr", "viewspan.cli.fitting.fit")],
)
def test_a_closed_pipe_ends_the_command_without_a_message(stream, place, folder):
    """After ``viewspan … | head -1`` the files are complete; a run that is not done leaves none."""
    # The one iteration makes the fit print a warning.
    arguments = (*CLUSTER, "--no-report", "--tol", "1e-12", "--max-iter", "1")
    command = Command(*arguments, folder=folder, pause_in=place)
    getattr(command.process, stream).close()
    command.resume()
    other = command.process.stderr if stream == "stdout" else command.process.stdout
    output = other.read().decode()
    assert command.process.wait(timeout=300) == 141
    assert all(word not in output for word in ("Traceback", "Errno", "ignored"))
    if stream == "stdout":
        assert matches_its_record(folder / "out")
    else:
        assert not (folder / "out").exists()
