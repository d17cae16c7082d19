"""Fuzz the readers: read randomly damaged files and report crashes, hangs and wrong errors.

    python benchmarks/fuzz.py text --minutes 10
    python benchmarks/fuzz.py all --minutes 10 --keep folder

Valid files are damaged at random, also inside their compressed parts. A file with an outcome that
no other file had is damaged further. A worker process reads the files. It may use 3 GB of memory,
and 20 seconds of computing time per file. A defect is a worker that crashes or exceeds these
limits, or an error whose message is not one sentence. Files that cause a defect are kept.
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

from tests.untrusted_files import LOADERS, Loader
from timing import print_table

MAX_MEMORY, MAX_COMPUTING_SECONDS, MAX_WAITING_SECONDS = 3_000_000_000, 20, 300
"""Limits on the memory of the worker in bytes, and on the time for one file."""
MAX_CORPUS = 3000
"""Largest number of files that are damaged further."""
HEADER = ["reader", "minutes", "files", "read", "outcomes", "defects", "max s", "max MB"]


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
    rows = [supervise(name, options.minutes, options.keep, options.seed) for name in names]
    print_table(HEADER, rows)


def supervise(name: str, minutes: float, keep: Path, seed: int) -> list[str]:
    """Run workers until the time is over, and return one row of the table."""
    end, reports, defects = time.monotonic() + 60 * minutes, [], set()
    while (left := end - time.monotonic()) > 1:
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, __file__, name, "--worker", folder]
            command += ["--seed", str(seed + len(reports)), "--minutes", str(left / 60)]
            code = subprocess.run(command, check=False).returncode
            report = json.loads((Path(folder) / "report.json").read_text())
            reports.append(report)
            if code:
                cause = signal.Signals(-code).name if code < 0 else "error"
                current = next((Path(folder) / "current").glob("*.*"), None)
                if current is None:
                    raise SystemExit(f"{name}: a valid file cannot be read")
                defects.add(f"{cause}: {report['problem']}")
                keep_file(keep / name, current, cause, report["problem"])
    outcomes = set().union(*(report["outcomes"] for report in reports))
    for sentence in sorted(defects):
        print(f"{name}: {sentence}", flush=True)
    for sentence in sorted(outcomes):
        print(f"  {name}: {sentence}", flush=True)
    n_files, n_read = (sum(report[key] for report in reports) for key in ("files", "read"))
    seconds, memory = (max(report[key] for report in reports) for key in ("seconds", "memory"))
    counts = [n_files, n_read, len(outcomes), len(defects)]
    return [name, f"{minutes:g}", *map(str, counts), f"{seconds:.2f}", f"{memory / 1e6:.0f}"]


def keep_file(folder: Path, current: Path, cause: str, problem: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256(current.read_bytes()).hexdigest()[:8]
    kept = folder / f"{cause}-{digest}-{current.name}"
    shutil.copy(current, kept)
    kept.with_suffix(kept.suffix + ".why").write_text(problem)


def work(name: str, folder: Path, seed: int, seconds: float) -> None:
    """Damage and read files until the time is over or a defect ends the process."""
    loader, rng = LOADERS[name], random.Random(seed)
    (folder / "valid").mkdir()
    (folder / "current").mkdir()
    corpus = list(loader.files(folder / "valid").items())
    n_valid = len(corpus)
    report = {"files": 0, "read": 0, "outcomes": [], "seconds": 0.0, "memory": 0, "problem": ""}
    (folder / "report.json").write_text(json.dumps(report))
    for file_name, _ in corpus:
        loader.outcome(folder / "valid" / file_name)  # imports everything before the limits
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    start, seen = time.monotonic(), set()
    while time.monotonic() - start < seconds:
        n_choices = n_valid if rng.random() < 0.4 else len(corpus)
        file_name, content = corpus[rng.randrange(n_choices)]
        damaged = loader.damaged(file_name, content, rng)
        if report["files"] % 50 == 0:
            (folder / "report.json").write_text(json.dumps(report))
        memory_before, file_start = peak_memory(), time.monotonic()
        try:
            outcome = read_file(loader, folder, file_name, damaged)
        except BaseException:
            report["problem"] = traceback.format_exc(limit=-4)
            (folder / "report.json").write_text(json.dumps(report))
            raise
        report["files"] += 1
        report["read"] += outcome == "read"
        report["seconds"] = max(report["seconds"], time.monotonic() - file_start)
        report["memory"] = max(report["memory"], peak_memory() - memory_before)
        kind = generalise(outcome)
        if kind not in seen:
            seen.add(kind)
            report["outcomes"].append(kind)
        if (kind, len(damaged) // 64) not in seen and len(corpus) < MAX_CORPUS:
            seen.add((kind, len(damaged) // 64))
            corpus.append((file_name, damaged))
    (folder / "report.json").write_text(json.dumps(report))


def generalise(outcome: str) -> str:
    """Remove names and numbers from a message, and shorten the messages of libraries."""
    ours, separator, theirs = outcome.partition(" file: ")
    plain = re.sub(
        r"'.*'|\".*\"|\(.*\)|::\w+|holds .*;|0x\w+|\d[\d.]*( [kMGT]?B| bytes)?", "#", ours
    )
    return plain[:80] + separator + re.sub(r"[^a-zA-Z ].*", "", theirs)[:40]


def read_file(loader: Loader, folder: Path, name: str, content: bytes) -> str:
    path = folder / "current" / name
    for other in path.parent.iterdir():
        if other.is_file() and other != path:
            other.unlink()
    path.write_bytes(content)
    # These signals are not handled, so they also end compiled code.
    signal.setitimer(signal.ITIMER_PROF, MAX_COMPUTING_SECONDS)
    signal.alarm(MAX_WAITING_SECONDS)
    try:
        return loader.outcome(path)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)


def peak_memory() -> int:
    """Return the peak memory of this process in bytes."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    main()
