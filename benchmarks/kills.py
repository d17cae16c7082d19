"""Kill ``viewspan reproduce`` at random times and check that resumed runs write the same tables.

python benchmarks/kills.py [KILLS] [TRIALS]

Every process is killed (SIGKILL) after a random time, at most that of an undisturbed run. The same
command is then run again in the same folder until it ends by itself.
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
WRITING_MESSAGE = "Writing tables and figures."


def start(out: Path, trials: int, log: io.BufferedRandom) -> subprocess.Popen[bytes]:
    options = ["--out", str(out), "--trials", str(trials), "--jobs", "2"]
    command = [sys.executable, "-m", "viewspan", "reproduce", "synthetic", *options]
    return subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)


def run_for(seconds: float, out: Path, trials: int) -> str | None:
    """Return the phase in which the command was killed, or None if it had ended before."""
    with tempfile.TemporaryFile() as log:
        process = start(out, trials, log)
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            code = None
        log.seek(0)
        output = log.read().decode()
    if code is None:
        return phase(out, output)
    if code != 0:
        raise SystemExit(f"The command ended with exit code {code}: {output}")
    return None


def phase(out: Path, output: str) -> str:
    if any(out.rglob("*.tmp")):
        return "in the middle of a file"
    if WRITING_MESSAGE in output:
        return "tables and figures"
    return "trials" if (out / "trials").exists() else "starting"


def tables(folder: Path) -> dict[str, bytes]:
    """Return the contents of all tables, without the duration of the fits."""
    contents = {name: (folder / name).read_bytes() for name in TABLES}
    for name in ("results.csv", "summary.csv"):
        frame = pd.read_csv(io.BytesIO(contents[name]), dtype=str, keep_default_na=False)
        contents[name] = frame.drop(columns="seconds").to_csv(index=False).encode()
    return contents


def main(kills: int = 50, trials: int = 2) -> None:
    generator, phases, n_runs = random.Random(0), Counter[str](), 0
    with tempfile.TemporaryDirectory() as scratch:
        began = time.perf_counter()
        assert run_for(3600, Path(scratch) / "undisturbed", trials) is None
        longest, expected = time.perf_counter() - began, tables(Path(scratch) / "undisturbed")
        while phases.total() < kills:
            out = Path(scratch) / str(n_runs)
            while killed_in := run_for(generator.uniform(0, longest), out, trials):
                phases[killed_in] += 1
                print(f"{phases.total()} killed: {killed_in}", file=sys.stderr, flush=True)
            n_runs += 1
            assert tables(out) == expected, f"{out} has other tables"
            assert not any(out.rglob("*.tmp")), f"{out} has temporary files"
    print(f"An undisturbed run takes {longest:.0f} s.")
    print(f"{phases.total()} kills, {n_runs} runs ended, with the same tables every time.")
    print_table(["phase", "kills"], [[name, str(count)] for name, count in phases.most_common()])


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
