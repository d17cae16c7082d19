"""A short version of ``benchmarks/load.py``: memory comes back, and processes do not stand in each other's way."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
ALLOWED, KEPT = 0.05, 2.0
"""Of resident memory, as a share of its level; and of what Python holds, in kB for every fit."""
PROGRAM = """
import json, tracemalloc
import load
{leak}
load.SHAPES = [(48, (12, 20)), (40, (30,)), (36, (50, 40)), (60, (9, 8))]
tracemalloc.start()
rows = load.run({count}, {warm_up}, 13)
print(json.dumps([*load.growth(rows), min(row[3] for row in rows)]))
"""
LEAK = """
kept = []
use = load.use
load.use = lambda name, model, views: kept.append((views, use(name, model, views))) or kept[-1][1]
"""
needs_linux = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="Linux tells how much memory is used"
)


def in_a_process(program):
    """A fresh one, so that no other test has warmed it up."""
    path = os.pathsep.join([str(BENCHMARKS), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-c", program]
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": path}
    )
    return json.loads(done.stdout)


@needs_linux
def test_memory_returns_to_its_level():
    """After a warm-up of two rounds of all roads, two more."""
    resident, held, agreement = in_a_process(PROGRAM.format(leak="", count=52, warm_up=26))
    assert resident < ALLOWED
    assert held < KEPT
    assert agreement > 0.9


@needs_linux
def test_a_leak_would_be_seen():
    """The same with one that keeps the views of every fit."""
    _, held, _ = in_a_process(PROGRAM.format(leak=LEAK, count=26, warm_up=13))
    assert held > KEPT


def test_eight_processes_at_once_all_finish_with_the_right_labels():
    """More than there are cores, each with as many threads of BLAS as it likes."""
    names = ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"]
    threads = dict.fromkeys(names, "2")
    found = in_a_process(f"import json, load; print(json.dumps(load.at_once(8, 2, **{threads})))")
    assert len(found) == 8
    assert len({str(one["agreement"]) for one in found}) == 1
    assert min(found[0]["agreement"]) > 0.9
