"""Damaged files for every reader: how many were tried, what became of them, and the worst time and memory.

    python benchmarks/fuzz.py text --minutes 10
    python benchmarks/fuzz.py all --minutes 10 --keep folder

Whole files of the kind are damaged at random, also inside their compressed parts; files that give an answer that was
not there before are damaged further. They are read by a process of its own, which may take 3 GB, and 20 seconds of
computing for one file. A defect is a process that dies, a time or a memory beyond that, or an error that is no sentence
for the user; the file that showed it is kept.
"""

import argparse
import hashlib
import json
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))


from tests.strangers import LOADERS
from timing import print_table

MEMORY, SECONDS, WAITING = 3_000_000_000, 20, 300
"""Bytes, seconds of computing, and seconds of waiting, at most, for one file."""
MOST_KEPT = 3000
"""Damaged files that are damaged further, at most."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("loader", choices=[*LOADERS, "all"])
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--keep", type=Path, default=Path("fuzz-defects"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(options.loader, options.worker, options.seed, 60 * options.minutes)
        return
    names = list(LOADERS) if options.loader == "all" else [options.loader]
    header = [
        "reader",
        "minutes",
        "files",
        "read",
        "answers",
        "defects",
        "slowest, s",
        "most memory, MB",
    ]
    print_table(
        header, [supervise(name, options.minutes, options.keep, options.seed) for name in names]
    )


def supervise(name: str, minutes: float, keep: Path, seed: int) -> list[str]:
    """Start a process that reads, and another one whenever it dies."""
    end, reports, defects = time.monotonic() + 60 * minutes, [], set()
    while (left := end - time.monotonic()) > 1:
        with tempfile.TemporaryDirectory() as folder:
            command = [
                sys.executable,
                __file__,
                name,
                "--worker",
                folder,
                "--seed",
                str(seed + len(reports)),
            ]
            code = subprocess.run([*command, "--minutes", str(left / 60)], check=False).returncode
            report = json.loads((Path(folder) / "report.json").read_text())
            reports.append(report)
            if code:
                what = signal.Signals(-code).name if code < 0 else "error"
                current = next((Path(folder) / "current").glob("*.*"), None)
                if current is None:
                    raise SystemExit(f"{name}: a whole file cannot be read")
                defects.add(f"{what}: {report['problem']}")
                keep_file(keep / name, current, what, report["problem"])
    outcomes = set().union(*(report["outcomes"] for report in reports))
    for sentence in sorted(defects):
        print(f"{name}: {sentence}", flush=True)
    for sentence in sorted(outcomes):
        print(f"  {name}: {sentence}", flush=True)
    files, whole = (sum(report[what] for report in reports) for what in ("files", "read"))
    worst = [max(report[what] for report in reports) for what in ("slowest", "memory")]
    counts = [f"{minutes:g}", str(files), str(whole), str(len(outcomes)), str(len(defects))]
    return [name, *counts, f"{worst[0]:.2f}", f"{worst[1] / 1e6:.0f}"]


def keep_file(folder: Path, current: Path, what: str, problem: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256(current.read_bytes()).hexdigest()[:8]
    kept = folder / f"{what}-{digest}-{current.name}"
    shutil.copy(current, kept)
    kept.with_suffix(kept.suffix + ".why").write_text(problem)


def work(name: str, folder: Path, seed: int, seconds: float) -> None:
    """Damage and read until the time is over, or a defect ends it."""
    loader, rng = LOADERS[name], random.Random(seed)
    (folder / "seeds").mkdir()
    (folder / "current").mkdir()
    corpus = list(loader.files(folder / "seeds").items())
    n_whole = len(corpus)
    report = {"files": 0, "read": 0, "outcomes": [], "slowest": 0.0, "memory": 0, "problem": ""}
    (folder / "report.json").write_text(json.dumps(report))
    for file_name, _ in corpus:
        loader.outcome(folder / "seeds" / file_name)  # so that everything is imported
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    start, kept = time.monotonic(), set()
    while time.monotonic() - start < seconds:
        file_name, content = (
            corpus[rng.randrange(n_whole)] if rng.random() < 0.4 else rng.choice(corpus)
        )
        mutant = loader.mutant(file_name, content, rng)
        if report["files"] % 50 == 0:
            (folder / "report.json").write_text(json.dumps(report))
        before, began = peak(), time.monotonic()
        try:
            outcome = read_one(loader, folder, file_name, mutant)
        except BaseException:
            report["problem"] = traceback.format_exc(limit=-4)
            (folder / "report.json").write_text(json.dumps(report))
            raise
        report["files"] += 1
        report["read"] += outcome == "read"
        report["slowest"] = max(report["slowest"], time.monotonic() - began)
        report["memory"] = max(report["memory"], peak() - before)
        kind = in_kind(outcome)
        if kind not in kept:
            kept.add(kind)
            report["outcomes"].append(kind)
        if (kind, len(mutant) // 64) not in kept and len(corpus) < MOST_KEPT:
            kept.add((kind, len(mutant) // 64))
            corpus.append((file_name, mutant))
    (folder / "report.json").write_text(json.dumps(report))


def in_kind(outcome: str) -> str:
    """A sentence without what is of this file alone; of what other packages say, the first words."""
    ours, says, theirs = outcome.partition("its name says: ")
    plain = re.sub(
        r"'.*'|\".*\"|\(.*\)|::\w+|holds .*;|0x\w+|\d[\d.]*( [kMGT]?B| bytes)?", "#", ours
    )
    return plain[:80] + says + re.sub(r"[^a-zA-Z ].*", "", theirs)[:40]


def read_one(loader: object, folder: Path, name: str, content: bytes) -> str:
    path = folder / "current" / name
    for other in path.parent.iterdir():
        if other.is_file() and other != path:
            other.unlink()
    path.write_bytes(content)
    signal.setitimer(
        signal.ITIMER_PROF, SECONDS
    )  # nobody catches these, so that they also end compiled code
    signal.alarm(WAITING)
    try:
        return loader.outcome(path)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)


def peak() -> int:
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    main()
