"""``viewspan reproduce``, killed at random moments and begun again: the tables of a run that nothing disturbed.

python benchmarks/kills.py [KILLS] [TRIALS]

Every process is killed (SIGKILL) a random time after its start, which is anywhere in the time that a whole run takes;
the same command then goes on in the same folder, until it ends before its time has come. The moments are told by what
the command had said and written.
"""

import io
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import pandas as pd
from timing import print_table

TABLES = ("results.csv", "summary.csv", "summary.md", "claims.md")
WRITING = "Writing tables and figures."


def begin(out: Path, trials: int, log: io.BufferedRandom) -> subprocess.Popen[bytes]:
    command = [
        "-m",
        "viewspan",
        "reproduce",
        "synthetic",
        "--out",
        str(out),
        "--trials",
        str(trials),
        "--jobs",
        "2",
    ]
    return subprocess.Popen(
        [sys.executable, *command], stdout=log, stderr=log, start_new_session=True
    )


def run_for(seconds: float, out: Path, trials: int) -> str | None:
    """What the command was doing when it was killed; None if it had ended before."""
    with tempfile.TemporaryFile() as log:
        process = begin(out, trials, log)
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            code = None
        log.seek(0)
        words = log.read().decode()
    if code is None:
        return moment(out, words)
    if code != 0:
        raise SystemExit(f"It ended with exit code {code}: {words}")
    return None


def moment(out: Path, words: str) -> str:
    if any(out.rglob("*.tmp")):
        return "in the middle of a file"
    if WRITING in words:
        return "tables and figures"
    return "trials" if (out / "trials").exists() else "starting"


def tables(folder: Path) -> dict[str, bytes]:
    """Bytes, but for the time that fits took."""
    contents = {name: (folder / name).read_bytes() for name in TABLES}
    for name in ("results.csv", "summary.csv"):
        frame = pd.read_csv(io.BytesIO(contents[name]), dtype=str, keep_default_na=False)
        contents[name] = frame.drop(columns="seconds").to_csv(index=False).encode()
    return contents


def main(kills: int = 50, trials: int = 2) -> None:
    generator, moments, runs = random.Random(0), Counter[str](), 0
    with tempfile.TemporaryDirectory() as scratch:
        start = time.perf_counter()
        assert run_for(3600, Path(scratch) / "undisturbed", trials) is None
        longest, expected = time.perf_counter() - start, tables(Path(scratch) / "undisturbed")
        while moments.total() < kills:
            out = Path(scratch) / str(runs)
            while hit := run_for(generator.uniform(0, longest), out, trials):
                moments[hit] += 1
                print(f"{moments.total()} killed: {hit}", file=sys.stderr, flush=True)
            runs += 1
            same, left = tables(out) == expected, len(list(out.rglob("*.tmp")))
            assert same and not left, f"{out} has other tables, or {left} temporary files"
    print(
        f"A whole run takes {longest:.0f} s. {moments.total()} kills, {runs} runs ended: the same tables every time."
    )
    print_table(
        ["killed while", "times"], [[name, str(count)] for name, count in moments.most_common()]
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
