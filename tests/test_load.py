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
N_ROUND = 7
"""Number of models, each of which is fitted once in a round."""
PROGRAM = f"""
import json, tracemalloc
import load
load.MODELS = load.MODELS[::2]
load.SHAPES = [(48, (12, 20)), (40, (30,)), (36, (50, 40)), (60, (9, 8))]
tracemalloc.start()
rows = load.run({3 * N_ROUND}, {N_ROUND}, {N_ROUND})
kept = []
one_fit = load.fit_and_use
def leaking_fit(name, model, views):
    kept.append((views, one_fit(name, model, views)))
    return kept[-1][1]
load.fit_and_use = leaking_fit
leaking = load.run({N_ROUND}, 1, {N_ROUND - 1})
agreement = min(row[3] for row in rows)
print(json.dumps([*load.growth(rows), agreement, load.growth(leaking)[1]]))
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
def test_memory_does_not_grow_and_a_leak_would_be_noticed():
    """The warm-up is one round of all models, and the measurement two.

    Then every fit of one more round leaks its views.
    """
    resident, held, agreement, held_with_leak = run_program(PROGRAM)
    assert resident < MAX_RESIDENT_GROWTH
    assert held < MAX_HELD_GROWTH < held_with_leak
    assert agreement > 0.9


def test_three_parallel_processes_finish_with_the_same_labels():
    """The processes and their BLAS threads are more than most machines have cores."""
    names = ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"]
    environment = dict.fromkeys(names, "2")
    results = run_program(
        f"import json, load; print(json.dumps(load.run_in_parallel(3, 2, **{environment})))"
    )
    assert len(results) == 3
    assert len({str(result["agreement"]) for result in results}) == 1
    assert min(results[0]["agreement"]) > 0.9
