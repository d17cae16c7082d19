"""Benchmarks: every script can be imported, says how to run it, and uses names that exist."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
PROGRAM = """
import importlib, json, sys
docs = {name: importlib.import_module(name).__doc__ for name in sys.argv[1:]}
constants = importlib.import_module("constants").CONSTANTS.values()
names = [(module, name, hasattr(module, name)) for module, name, _ in constants]
missing = [f"{module.__name__}.{name}" for module, name, exists in names if not exists]
print(json.dumps({"docs": docs, "missing": missing}))
"""
NAMES = sorted(path.stem for path in BENCHMARKS.glob("*.py"))
UNINSTALLED = {"mutants"}
"""Scripts that need a package which is installed only to run them."""


@pytest.fixture(scope="module")
def imported():
    """Import all scripts in another process, because their names are those of other modules."""
    path = os.pathsep.join([str(BENCHMARKS), os.environ.get("PYTHONPATH", "")])
    names = [name for name in NAMES if name not in UNINSTALLED]
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM, *names],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": path},
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_every_script_says_how_to_run_it(imported):
    for name, doc in imported["docs"].items():
        if '__name__ == "__main__"' in (BENCHMARKS / f"{name}.py").read_text(encoding="utf-8"):
            assert f"python benchmarks/{name}.py" in doc or "make benchmark-" in doc, name


def test_the_constants_that_are_varied_exist(imported):
    assert imported["missing"] == []


def test_the_tests_of_the_mutants_exist():
    text = (BENCHMARKS / "mutants.py").read_text(encoding="utf-8")
    paths = re.findall(r'"(tests/[\w/.]+)"', text)
    assert len(paths) > 5
    assert [path for path in paths if not (BENCHMARKS.parent / path).exists()] == []
