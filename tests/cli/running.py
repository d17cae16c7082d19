"""The ``viewspan`` command as a process of its own, which stops at a place until it is told to go on."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]

PAUSING = """
import importlib, os, sys
from viewspan import cli

def pause_in(place):
    "Say that we are there, and wait: so a signal comes at a place, not after a time."
    module, _, name = place.rpartition(".")
    module = importlib.import_module(module)
    meant = getattr(module, name)

    def paused(*given, **named):
        os.write(2, b"paused\\n")
        os.read(0, 1)
        return meant(*given, **named)

    setattr(module, name, paused)

place, sys.argv = sys.argv[1], ["viewspan", *sys.argv[2:]]
if place:
    pause_in(place)
cli.main()
"""


class Command:
    """Runs until it is paused at a function of the library, if one is named."""

    def __init__(self, *arguments, folder, pause_in="", **options):
        words = [str(argument) for argument in arguments]
        self.process = subprocess.Popen(
            [sys.executable, "-c", PAUSING, pause_in, *words],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(ROOT / "src"), "COLUMNS": "200"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            **options,
        )
        self.said = b""
        if pause_in:
            for line in self.process.stderr:
                if line == b"paused\n":
                    return
                self.said += line
            raise AssertionError(f"it never came to {pause_in}: {self.said.decode()}")

    def signal(self, signum):
        os.kill(self.process.pid, signum)

    def go_on(self):
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def end(self):
        """Exit code, standard output, standard error."""
        out, words = self.process.communicate(timeout=300)
        return self.process.returncode, out.decode(), (self.said + words).decode()


def two_views(folder, n_samples=60):
    """Small files that are clustered at once."""
    rng = np.random.default_rng(0)
    for name in "ab":
        blocks = [rng.normal(size=(n_samples // 3, 2)) @ rng.normal(size=(2, 9)) for _ in range(3)]
        np.save(folder / f"{name}.npy", np.vstack(blocks))
