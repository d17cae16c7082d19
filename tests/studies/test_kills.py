"""A study that is killed fifty times has the same files, byte for byte, as an undisturbed one."""

import json
import subprocess
import sys
from pathlib import Path

from tests.studies import killed_runs

KILLS = 50
ROOT = Path(__file__).parents[2]


def report(folder, kills):
    command = [sys.executable, "-m", killed_runs.__name__, str(folder), str(kills)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_fifty_kills_change_no_file(tmp_path):
    """The child process itself checks the files; here, every phase must have been hit."""
    found = report(tmp_path, KILLS)
    assert found["kills"] == KILLS and found["runs"] >= 1
    assert set(found["phases"]) == set(killed_runs.PHASES)


def test_two_parallel_runs_into_one_folder_do_not_mix_their_tables(tmp_path):
    assert report(tmp_path, "parallel")["unmixed"] == killed_runs.N_PARALLEL_PAIRS
