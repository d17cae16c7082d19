"""Short version of ``benchmarks/load.py``: memory does not grow, and parallel processes agree."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
MAX_RESIDENT_GROWTH = 0.05
"""Allowed growth of the resident memory, relative to its level after the warm-up."""
MAX_HELD_GROWTH = 2.0
"""Allowed growth of the memory that Python holds, in kB per fit."""
PROGRAM = """
import json, tracemalloc
import load
{leak}
load.SHAPES = [(48, (12, 20)), (40, (30,)), (36, (50, 40)), (60, (9, 8))]
tracemalloc.start()
rows = load.run({n_fits}, {n_warm_up}, 13)
print(json.dumps([*load.growth(rows), min(row[3] for row in rows)]))
"""
LEAK = """
kept = []
one_fit = load.fit_and_use
def leaking_fit(name, model, views):
    kept.append((views, one_fit(name, model, views)))
    return kept[-1][1]
load.fit_and_use = leaking_fit
"""
needs_linux = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="memory is read from Linux's /proc"
)


def run_program(program):
    """Run a program in a new process, and return the JSON that it prints."""
    path = os.pathsep.join([str(BENCHMARKS), os.environ.get("PYTHONPATH", "")])
    result = subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": path},
    )
    return json.loads(result.stdout)


@needs_linux
def test_memory_does_not_grow():
    """The warm-up and the measurement are two rounds of all models each."""
    program = PROGRAM.format(leak="", n_fits=52, n_warm_up=26)
    resident, held, agreement = run_program(program)
    assert resident < MAX_RESIDENT_GROWTH
    assert held < MAX_HELD_GROWTH
    assert agreement > 0.9


@needs_linux
def test_a_leak_would_be_noticed():
    """The same program fails if it keeps the views of every fit."""
    _, held, _ = run_program(PROGRAM.format(leak=LEAK, n_fits=26, n_warm_up=13))
    assert held > MAX_HELD_GROWTH


def test_eight_parallel_processes_finish_with_the_same_labels():
    """The processes and their BLAS threads are more than most machines have cores."""
    names = ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"]
    environment = dict.fromkeys(names, "2")
    results = run_program(
        f"import json, load; print(json.dumps(load.run_in_parallel(8, 2, **{environment})))"
    )
    assert len(results) == 8
    assert len({str(result["agreement"]) for result in results}) == 1
    assert min(results[0]["agreement"]) > 0.9
