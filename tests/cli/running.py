"""The ``viewspan`` command, in this process or as a subprocess that can pause at a function."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from typer.testing import CliRunner

from viewspan.cli.app import app

ROOT = Path(__file__).parents[2]

PAUSING = """
import importlib, os, sys
from viewspan.cli.main import main

def pause_in(place):
    "Print a line and wait at a function, so that a signal arrives there and not after some time."
    module, _, name = place.rpartition(".")
    module = importlib.import_module(module)
    function = getattr(module, name)

    def paused(*args, **kwargs):
        os.write(2, b"paused\\n")
        os.read(0, 1)
        return function(*args, **kwargs)

    setattr(module, name, paused)

place, sys.argv = sys.argv[1], ["viewspan", *sys.argv[2:]]
if place:
    pause_in(place)
main()
"""


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


class Command:
    """A running command; if ``pause_in`` names a function, it waits there for :meth:`resume`."""

    def __init__(self, *arguments, folder, pause_in="", **options):
        self.process = subprocess.Popen(
            [sys.executable, "-c", PAUSING, pause_in, *map(str, arguments)],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(ROOT / "src"), "COLUMNS": "200"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            **options,
        )
        self.stderr = b""
        if pause_in:
            for line in self.process.stderr:
                if line == b"paused\n":
                    return
                self.stderr += line
            raise AssertionError(f"{pause_in} was not called: {self.stderr.decode()}")

    def signal(self, signum):
        os.kill(self.process.pid, signum)

    def resume(self):
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def end(self):
        """Wait for the end, and return the exit code, standard output and standard error."""
        stdout, stderr = self.process.communicate(timeout=300)
        return self.process.returncode, stdout.decode(), (self.stderr + stderr).decode()


def two_views(folder, n_samples=60):
    """Write a.npy and b.npy, two small views of three clusters."""
    rng = np.random.default_rng(0)
    for name in "ab":
        blocks = [rng.normal(size=(n_samples // 3, 2)) @ rng.normal(size=(2, 9)) for _ in range(3)]
        np.save(folder / f"{name}.npy", np.vstack(blocks))


def contents(folder):
    """Return the contents of all files below a folder."""
    return {
        path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def matches_its_record(out):
    """Return whether run.json has the checksums of the files beside it."""
    written = json.loads((out / "run.json").read_text())["written"]
    return written == {
        name: hashlib.sha256((out / name).read_bytes()).hexdigest() for name in written
    }
