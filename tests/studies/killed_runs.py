"""Kill a toy study at random moments, resume it, and compare its files with an undisturbed run.

Each run is a child process, forked after all imports. The child reports every phase that it enters
through a pipe. The parent waits for a chosen phase, sleeps for a short random time, and kills the
child. The kills are therefore spread over all phases, however short they are.

Usage: python -m tests.studies.killed_runs FOLDER KILLS
       python -m tests.studies.killed_runs FOLDER parallel
"""

import json
import os
import random
import signal
import sys
import time
from collections import Counter
from functools import wraps
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name
from types import SimpleNamespace

from rich.console import Console
from sklearn.cluster import KMeans

from tests.studies.toys import toy_study
from viewspan.studies import Method

reproduce = import_module("viewspan.studies.reproduce")
trial = import_module("viewspan.studies.trial")

N_TRIALS = 4
N_PARALLEL_PAIRS = 5
"""Number of times that two runs write into the same folder at the same time."""
MAX_DELAY = 0.002
"""Longest time in seconds from the start of a phase to the kill, about as long as a file takes."""
PHASES = {
    "reading": ("viewspan.studies.store", "read_json"),
    "trial": ("viewspan.studies.trial", "generate_data"),
    "recording": ("viewspan.studies.run:Manifest", "record"),
    "sweeping": ("viewspan.studies.run", "remove_stale_temporaries"),
    "tables": ("viewspan.studies.reproduce", "table_files"),
    "writing": ("viewspan._utils.files", "write_and_sync"),
    "renaming": ("viewspan._utils.files", "replace_all"),
    "removing": ("viewspan._utils.files:Path", "unlink"),
}
"""Phases of a run, and the function whose call starts each of them."""


def make_tables(out: Path, seed: int = 0) -> None:
    """Do what ``viewspan reproduce`` does, with a study that takes milliseconds."""
    reproduce.reproduce(
        ["toy"], out, trials=N_TRIALS, seed=seed, jobs=1, console=Console(quiet=True)
    )


def simplify() -> None:
    """Replace the paper's studies by a toy, drawing by a text file, and all timings by zero."""
    reproduce.check_data = lambda names: None
    methods = [Method("k-means", KMeans(3, n_init=2), "concat")]
    reproduce.paper_studies = lambda *_, **__: [toy_study(methods=methods)]
    reproduce.claims_markdown = lambda summary: f"{len(summary)} rows"
    reproduce.figure_files = lambda summary, out, _: {out / "toy.png": summary.to_csv().encode()}
    trial.time = SimpleNamespace(perf_counter=lambda: 0.0)


def reporting(pipe: int, phase: str, function):
    """Return a function that writes the phase to the pipe and then calls the given function."""

    @wraps(function)
    def reported(*args, **kwargs):
        os.write(pipe, f"{phase}\n".encode())
        return function(*args, **kwargs)

    return reported


def run_child(out: Path, pipe: int) -> None:
    os.setsid()
    for phase, (owner_name, name) in PHASES.items():
        owner = resolve_name(owner_name)
        setattr(owner, name, reporting(pipe, phase, getattr(owner, name)))
    make_tables(out)


def run_and_kill(phase: str, occurrence: int, delay: float, out: Path) -> tuple[bool, list[str]]:
    """Run a child, and kill it after the given occurrence of a phase and a delay.

    Returns whether the child was killed before it ended, and the phases that it reported.
    """
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.close(read)
            run_child(out, write)
            code = 0
        finally:
            os._exit(code)
    os.close(write)
    reported = []
    with os.fdopen(read) as stream:
        for line in stream:
            reported.append(line.strip())
            if reported[-1] == phase and reported.count(phase) == occurrence:
                time.sleep(delay)
                os.killpg(pid, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert code in {0, -signal.SIGKILL}, f"the run ended with {code}"
    return code != 0, reported


def count_unmixed_tables(folder: Path, times: int) -> int:
    """Run two seeds into one folder, and count how often all tables are those of one seed."""
    single = [tables_of([seed], folder / f"seed {seed}") for seed in (0, 1)]
    return sum(tables_of([0, 1], folder / f"both {number}") in single for number in range(times))


def tables_of(seeds: list[int], out: Path) -> dict[str, bytes]:
    """Run all seeds at the same time into one folder, and return the tables."""
    children = []
    for seed in seeds:
        children.append(os.fork())
        if children[-1] == 0:
            code = 1
            try:
                make_tables(out, seed)
                code = 0
            finally:
                os._exit(code)
    assert all(os.waitpid(pid, 0)[1] == 0 for pid in children)
    return {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()}


def all_files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def kill_runs(folder: Path, kills: int) -> dict[str, object]:
    """Kill runs until ``kills`` of them were killed, and check the files of every run."""
    _, reported = run_and_kill("", 0, 0.0, folder / "undisturbed")
    expected = all_files(folder / "undisturbed")
    phases = sorted(set(reported))
    rng, killed, runs = random.Random(0), Counter[str](), 0
    while killed.total() < kills:
        out, was_killed = folder / str(runs), True
        while was_killed and killed.total() < kills:
            phase = phases[killed.total() % len(phases)]
            occurrence = rng.randint(1, reported.count(phase))
            was_killed, _ = run_and_kill(phase, occurrence, rng.uniform(0, MAX_DELAY), out)
            killed[phase] += was_killed
        if was_killed:  # by the last kill; now the run may finish
            run_and_kill("", 0, 0.0, out)
        differing = {name for name, _ in all_files(out).items() ^ expected.items()}
        assert not differing, f"after the kills {killed}, these files differ: {differing}"
        runs += 1
    return {"kills": killed.total(), "runs": runs, "phases": killed}


def main(folder: Path, kills: str) -> None:
    simplify()
    if kills == "parallel":
        report = {"unmixed": count_unmixed_tables(folder, N_PARALLEL_PAIRS)}
    else:
        report = kill_runs(folder, int(kills))
    sys.stdout.write(json.dumps(report))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
