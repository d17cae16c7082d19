"""``kill -9`` at random moments, fifty times: the same files as of a run that nothing disturbed, byte for byte."""

import json
import subprocess
import sys
from pathlib import Path

from tests.experiments import killing

KILLS = 50
ROOT = Path(__file__).parents[2]


def test_fifty_kills_change_nothing(tmp_path):
    command = [sys.executable, "-m", killing.__name__, str(tmp_path), str(KILLS)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    told = json.loads(result.stdout)
    assert told["kills"] >= KILLS and told["runs"] >= 1
    assert set(told["while"]) == set(killing.TOLD)  # in the middle of everything that a run does
