"""A killed, interrupted or failed ``viewspan reproduce`` is resumed and gives the same tables.

The command runs a toy study, whose trials take half a second, in a process of its own until it is
stopped. It is resumed in this process.
"""

import contextlib
import os
import re
import resource
import signal
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import pandas as pd
import pytest

from tests.cli.running import run
from tests.studies import toy_command

ROOT = Path(__file__).parents[2]
N_TRIALS = 4
TABLES = ("results.csv", "summary.csv", "summary.md")


def arguments(out, jobs):
    return [*f"reproduce minerals --trials {N_TRIALS} --jobs {jobs} --out".split(), str(out)]


class Command:
    """``viewspan reproduce`` in its own session, with its messages in a log file."""

    def __init__(self, out, *, jobs=2, **options):
        self.log = out.with_suffix(".log")
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", toy_command.__name__, *arguments(out, jobs)],
                cwd=ROOT,
                stdout=subprocess.DEVNULL,
                stderr=log,
                start_new_session=True,
                **options,
            )

    def wait(self):
        """Return the exit code and the messages."""
        return self.process.wait(timeout=300), " ".join(self.log.read_text().split())


@pytest.fixture(scope="module", autouse=True)
def toy():
    """Replace the paper's studies in this process, too, as ``toy_command`` does."""
    module = import_module("viewspan.studies.reproduce")
    with pytest.MonkeyPatch.context() as patch:
        for name, function in toy_command.REPLACED.items():
            patch.setattr(module, name, function)
        yield


def run_here(out):
    """Run the command in this process until it ends, and return its messages."""
    result = run(*arguments(out, jobs=1))
    assert result.exit_code == 0, result.output
    return " ".join(result.stderr.split())


@pytest.fixture(scope="module")
def expected(toy, tmp_path_factory):
    """The tables of an undisturbed run."""
    out = tmp_path_factory.mktemp("undisturbed") / "out"
    run_here(out)
    return tables(out)


def finished_trials(folder):
    return sorted(folder.rglob("0*.json"))


def wait_for_trials(folder, count):
    deadline = time.monotonic() + 120
    while len(finished_trials(folder)) < count:
        assert time.monotonic() < deadline, "the trials were not finished in time"
        time.sleep(0.02)


def tables(folder):
    """Return the bytes of the tables without the column of timings."""
    contents = {}
    for name in TABLES:
        if name.endswith(".md"):
            contents[name] = (folder / name).read_bytes()
        else:
            text = pd.read_csv(folder / name, dtype=str, keep_default_na=False).drop(
                columns="seconds"
            )
            contents[name] = text.to_csv(index=False).encode()
    return contents


def resume(out):
    messages = run_here(out)
    assert not list(out.rglob("*.tmp"))
    return messages


@pytest.mark.parametrize("target", ["command", "process group"])
def test_killed_halfway(expected, tmp_path, target):
    out = tmp_path / "out"
    command = Command(out)
    wait_for_trials(out, N_TRIALS // 2)
    if target == "command":
        command.process.kill()
    else:
        os.killpg(command.process.pid, signal.SIGKILL)
    command.wait()
    kept = {path: path.stat().st_mtime_ns for path in finished_trials(out)}
    assert len(kept) < N_TRIALS
    assert not (out / "results.csv").exists()
    assert f"{len(kept)} of {N_TRIALS} trials are already finished" in resume(out)
    assert all(path.stat().st_mtime_ns == written for path, written in kept.items())
    assert tables(out) == expected


def test_interrupted(expected, tmp_path):
    out = tmp_path / "out"
    command = Command(out)
    wait_for_trials(out, 1)
    os.killpg(command.process.pid, signal.SIGINT)
    code, messages = command.wait()
    assert code == 130
    message = (
        f"Interrupted. Finished trials are kept in {out}; run the same command again to continue."
    )
    progress = rf"(\d of {N_TRIALS} trials finished\. )*"
    assert re.fullmatch(progress + re.escape(message), messages)
    assert not list(out.rglob("*.tmp"))
    wait_for_end_of_session(command.process.pid)
    assert f"{len(finished_trials(out))} of {N_TRIALS} trials are already finished" in resume(out)
    assert tables(out) == expected


def wait_for_end_of_session(session):
    """Wait until the worker processes have ended, too."""
    deadline = time.monotonic() + 120
    with contextlib.suppress(ProcessLookupError):
        while True:
            os.killpg(session, 0)
            assert time.monotonic() < deadline, "worker processes are still running"
            time.sleep(0.02)


def test_full_disk(expected, tmp_path):
    """A limit on the file size, which fails in the middle of a write, stands for a full disk."""
    out, limit = tmp_path / "out", 2_000
    command = Command(
        out, jobs=1, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    )
    code, messages = command.wait()
    assert code == 1
    assert "File too large" in messages and "00000.json" in messages
    assert "Traceback" not in messages
    assert not finished_trials(out)
    assert not list(out.rglob("*.tmp"))
    resume(out)
    assert tables(out) == expected
