"""A toy study is killed at random moments and begun again, in processes that this one forks when all is imported.

The child tells what it does. The parent waits for one of these words, a little longer, and kills; so the moments are
spread over all that a run does, however short it is and however busy the machine.

python -m tests.studies.killing FOLDER KILLS
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

from tests.studies.toys import toy_study

reproduce = import_module("viewspan.studies.reproduce")
trial = import_module("viewspan.studies.trial")

TRIALS = 4
TOGETHER = 5
LITTLE = 0.002
"""Seconds, at most, from a word to the kill: as long as a file takes."""
TOLD = {
    "reading": ("viewspan.studies.store", "read_json"),
    "trial": ("viewspan.studies.trial", "draw"),
    "recording": ("viewspan.studies.run:Manifest", "record"),
    "sweeping": ("viewspan.studies.run", "sweep"),
    "tables": ("viewspan.studies.reproduce", "tables_in_files"),
    "writing": ("viewspan._utils.files", "write_and_sync"),
    "renaming": ("viewspan._utils.files", "replace_all"),
    "removing": ("viewspan._utils.files:Path", "unlink"),
}


def make_tables(out: Path, seed: int = 0) -> None:
    """What ``viewspan reproduce`` does, with a study that takes no time."""
    reproduce.reproduce(["toy"], out, trials=TRIALS, seed=seed, jobs=1, console=Console(quiet=True))


def simplify() -> None:
    reproduce.check_data = lambda names: None
    reproduce.paper_studies = lambda *_, **__: [toy_study()]
    reproduce.claims_markdown = lambda summary: f"{len(summary)} rows"
    reproduce.figures_in_files = lambda summary, out, _: {
        out / "toy.png": summary.to_csv().encode()
    }  # drawing takes long
    trial.time = SimpleNamespace(
        perf_counter=lambda: 0.0
    )  # so that tables can be compared byte for byte


def telling(pipe: int, word: str, meant):
    @wraps(meant)
    def told(*given, **named):
        os.write(pipe, f"{word}\n".encode())
        return meant(*given, **named)

    return told


def child(out: Path, pipe: int) -> None:
    os.setsid()
    for word, (place, name) in TOLD.items():
        owner = resolve_name(place)
        setattr(owner, name, telling(pipe, word, getattr(owner, name)))
    make_tables(out)


def run_until(word: str, times: int, wait: float, out: Path) -> tuple[bool, list[str]]:
    """Whether the child was killed, a little after it had said a word so many times, and all that it said."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.close(read)
            child(out, write)
            code = 0
        finally:
            os._exit(code)
    os.close(write)
    said = []
    with os.fdopen(read) as stream:
        for line in stream:
            said.append(line.strip())
            if said[-1] == word and said.count(word) == times:
                time.sleep(wait)
                os.killpg(pid, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert code in {0, -signal.SIGKILL}, f"the run ended with {code}"
    return code != 0, said


def at_once(folder: Path, times: int) -> int:
    """Two runs with different seeds into one folder: how often the tables that they leave are all those of one."""
    alone = [tables_of(seed, folder / f"seed {seed}") for seed in (0, 1)]
    return sum(tables_of((0, 1), folder / f"both {each}") in alone for each in range(times))


def tables_of(seeds, out: Path) -> dict[str, bytes]:
    children = []
    for seed in [seeds] if isinstance(seeds, int) else seeds:
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


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def main(folder: Path, kills: int) -> None:
    simplify()
    _, words = run_until("", 0, 0.0, folder / "undisturbed")
    expected, generator, killed, runs = (
        files(folder / "undisturbed"),
        random.Random(0),
        Counter[str](),
        0,
    )
    kinds = sorted(set(words))
    while killed.total() < kills:
        out, hit = folder / str(runs), True
        while hit:
            word = kinds[killed.total() % len(kinds)]  # each in its turn
            times, wait = generator.randint(1, words.count(word)), generator.uniform(0, LITTLE)
            hit, _ = run_until(word, times, wait, out)
            killed[word] += hit
        differing = {name for name, _ in files(out).items() ^ expected.items()}
        assert not differing, f"after {killed} other files than undisturbed: {differing}"
        runs += 1
    together = at_once(folder, TOGETHER)
    sys.stdout.write(
        json.dumps({"kills": killed.total(), "runs": runs, "while": killed, "together": together})
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
