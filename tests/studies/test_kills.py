"""``kill -9`` at random moments, fifty times: the same files as of a run that nothing disturbed, byte for byte."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.studies import killing

KILLS = 50
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    command = [
        sys.executable,
        "-m",
        killing.__name__,
        str(tmp_path_factory.mktemp("killed")),
        str(KILLS),
    ]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr  # which says what differs
    return json.loads(result.stdout)


def test_fifty_kills_change_nothing(told):
    assert told["kills"] == KILLS and told["runs"] >= 1
    assert set(told["while"]) == set(killing.TOLD)  # in the middle of everything that a run does


def test_two_runs_into_one_folder_both_end_and_do_not_mix_their_tables(told):
    assert told["together"] == killing.TOGETHER
