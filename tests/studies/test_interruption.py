"""The command is killed, interrupted, or runs out of disk; the same command then gives the same tables."""

import contextlib
import os
import re
import resource
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest

TRIALS = 4
TABLES = ("results.csv", "summary.csv", "summary.md")


class Command:
    """``viewspan reproduce`` in a session of its own; what it says goes to a file, which outlives it."""

    def __init__(self, out, *, jobs=2, **options):
        arguments = [
            "reproduce",
            "minerals",
            "--out",
            str(out),
            "--trials",
            str(TRIALS),
            "--jobs",
            str(jobs),
        ]
        self.log = out.with_suffix(".log")
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-c", "from viewspan.cli import main; main()", *arguments],
                stdout=subprocess.DEVNULL,
                stderr=log,
                start_new_session=True,
                **options,
            )

    def end(self):
        """Its exit code and its words."""
        return self.process.wait(timeout=300), " ".join(self.log.read_text().split())


@pytest.fixture(scope="module")
def undisturbed():
    """The tables of a run that nothing disturbed, made once."""
    return {}


def finished(folder):
    return sorted(folder.rglob("0*.json"))


def wait_for(folder, count):
    deadline = time.monotonic() + 120
    while len(finished(folder)) < count:
        assert time.monotonic() < deadline, "no trial was finished in time"
        time.sleep(0.02)


def tables(folder):
    """The files' bytes, timings aside."""
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


@pytest.fixture
def expected(undisturbed, minerals, tmp_path):
    if not undisturbed:
        assert Command(tmp_path / "undisturbed").end()[0] == 0
        undisturbed.update(tables(tmp_path / "undisturbed"))
    return undisturbed


def resume(out):
    code, words = Command(out).end()
    assert code == 0, words
    assert not list(out.rglob("*.tmp"))
    return words


@pytest.mark.parametrize("whom", ["command", "everything"])
def test_killed_halfway(expected, tmp_path, whom):
    out = tmp_path / "out"
    command = Command(out)
    wait_for(out, TRIALS // 2)
    if whom == "command":
        command.process.kill()
    else:
        os.killpg(command.process.pid, signal.SIGKILL)
    command.end()
    kept = {path: path.stat().st_mtime_ns for path in finished(out)}
    assert len(kept) < TRIALS
    assert not (out / "results.csv").exists()
    assert f"{len(kept)} of {TRIALS} trials are there already" in resume(out)
    assert all(path.stat().st_mtime_ns == written for path, written in kept.items())
    assert tables(out) == expected


def test_interrupted(expected, tmp_path):
    out = tmp_path / "out"
    command = Command(out)
    wait_for(out, 1)
    os.killpg(command.process.pid, signal.SIGINT)
    code, words = command.end()
    assert code == 130
    said = f"Interrupted. What is finished is kept in {out}; the same command goes on from there."
    assert re.fullmatch(
        rf"(\d of {TRIALS} trials finished\. )*{re.escape(said)}", words
    )  # some may have been told
    assert not list(out.rglob("*.tmp"))
    wait_until_alone(command.process.pid)
    assert f"{len(finished(out))} of {TRIALS} trials are there already" in resume(out)
    assert tables(out) == expected


def wait_until_alone(session):
    """Workers have gone, too."""
    deadline = time.monotonic() + 120
    with contextlib.suppress(ProcessLookupError):
        while True:
            os.killpg(session, 0)
            assert time.monotonic() < deadline, "workers are left"
            time.sleep(0.02)


def test_no_room_for_a_trial(expected, tmp_path):
    """A limit on the size of files stands in for a full disk: the operating system refuses the write in the middle."""
    out, limit = tmp_path / "out", 20_000
    command = Command(
        out, jobs=1, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    )
    code, words = command.end()
    assert code == 1
    assert "File too large" in words and "00000.json" in words
    assert "Traceback" not in words
    assert not finished(out)
    assert not list(out.rglob("*.tmp"))
    resume(out)
    assert tables(out) == expected
