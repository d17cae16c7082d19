"""Runs: each trial once, kept at once, never mixed."""

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from tests.studies.toys import Failing, make_blobs, toy_study
from viewspan import LRR
from viewspan._utils import files as _files
from viewspan.studies import Method, Study, run
from viewspan.studies.trial import TrialError

ROOT = Path(__file__).parents[2]


class Witness:
    """Notes what starts and finishes."""

    def __init__(self):
        self.began, self.log = None, []

    def begin(self, total, done):
        self.began = (total, done)

    def started(self, study, trial):
        self.log.append(("started", study, trial))

    def finished(self, study, trial):
        self.log.append(("finished", study, trial))

    def finished_trials(self):
        return sorted(entry[1:] for entry in self.log if entry[0] == "finished")


def without_times(table):
    return table.drop(columns="seconds")


def test_the_table_has_a_row_per_trial_noise_and_method(tmp_path):
    table = run(toy_study(), tmp_path, trials=3, jobs=1)
    assert len(table) == 3 * 2 * 2
    assert not table.duplicated(["trial", "noise", "method"]).any()
    assert table["seed"].nunique() == 3


def test_processes_do_not_change_the_table(tmp_path):
    alone = run(toy_study(), tmp_path / "one", trials=4, jobs=1)
    together = run(toy_study(), tmp_path / "two", trials=4, jobs=2)
    assert without_times(alone).equals(without_times(together))


def test_finished_trials_are_not_run_again(tmp_path):
    full = run(toy_study(), tmp_path, trials=4, jobs=1)
    next(tmp_path.rglob("00002.json")).unlink()
    witness = Witness()
    again = run(toy_study(), tmp_path, trials=4, jobs=1, observer=witness)
    assert witness.began == (4, 3)
    assert witness.finished_trials() == [("toy", 2)]
    assert without_times(full).equals(without_times(again))


def test_more_trials_later_are_added(tmp_path):
    run(toy_study(), tmp_path, trials=2, jobs=1)
    witness = Witness()
    assert run(toy_study(), tmp_path, trials=3, jobs=1, observer=witness)["trial"].nunique() == 3
    assert witness.finished_trials() == [("toy", 2)]
    assert run(toy_study(), tmp_path, trials=2, jobs=1)["trial"].nunique() == 2


def test_a_changed_setting_never_mixes_with_old_rows(tmp_path):
    first = run(toy_study(), tmp_path, trials=2, jobs=1)
    witness = Witness()
    changed = run(toy_study(noise=(0.0, 5.0)), tmp_path, trials=2, jobs=1, observer=witness)
    assert witness.began == (2, 0)
    assert set(changed["noise"]) == {0.0, 5.0}
    back = run(toy_study(), tmp_path, trials=2, jobs=1, observer=witness)
    assert witness.began == (2, 2)  # nothing was lost either
    assert first.equals(back)


def test_a_second_study_joins_the_first(tmp_path):
    run(toy_study("first"), tmp_path, trials=2, jobs=1)
    table = run(toy_study("second"), tmp_path, trials=1, jobs=1)
    assert table.groupby("study")["trial"].nunique().to_dict() == {"first": 2, "second": 1}
    both = run([toy_study("first"), toy_study("second")], tmp_path / "both", trials=2, jobs=1)
    assert both.groupby("study")["trial"].nunique().to_dict() == {"first": 2, "second": 2}


def test_a_failed_trial_is_not_kept_and_others_are(tmp_path):
    study = toy_study(
        noise=[0.0], methods=[Method("fragile", Failing())], generate=loud_at_the_third
    )
    with pytest.raises(TrialError, match="trial 2"):
        run(study, tmp_path, trials=4, jobs=1)
    kept = sorted(path.name for path in tmp_path.rglob("0*.json"))
    assert kept == ["00000.json", "00001.json"]


def loud_at_the_third(*, noise, random_state):
    from viewspan.studies.trial import seed_of

    views, labels = make_blobs(noise=noise, random_state=random_state)
    return [view * (100 if random_state == seed_of(0, 2) else 0.1) for view in views], labels


def test_a_full_disk_loses_nothing(tmp_path, monkeypatch):
    run(toy_study(), tmp_path, trials=1, jobs=1)

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(_files.os, "fsync", full)
        with pytest.raises(OSError, match=r"No space left on device: .*00001.json"):
            run(toy_study(), tmp_path, trials=3, jobs=1)
    assert not list(tmp_path.rglob("*.tmp"))
    resumed = run(toy_study(), tmp_path, trials=3, jobs=1)
    assert without_times(resumed).equals(
        without_times(run(toy_study(), tmp_path / "other", trials=3, jobs=1))
    )


def test_a_truncated_file_is_run_again(tmp_path):
    full = run(toy_study(), tmp_path, trials=2, jobs=1)
    (path,) = tmp_path.rglob("00001.json")
    path.write_bytes(path.read_bytes()[:100])
    again = run(toy_study(), tmp_path, trials=2, jobs=1)
    assert without_times(full).equals(without_times(again))


def test_leftovers_of_killed_runs_are_removed(tmp_path):
    run(toy_study(), tmp_path, trials=1, jobs=1)
    folder = next(tmp_path.rglob("00000.json")).parent
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    left = folder / f"00001.json.{_files._host()}.{gone.pid}.0123abcd.tmp"
    others = [
        folder / f"00001.json.{_files._host()}.{os.getpid()}.0123abcd.tmp",  # a run that goes on
        folder / f"00001.json.elsewhere.{gone.pid}.0123abcd.tmp",  # on another machine
        tmp_path / "mine.tmp",
    ]
    for path in (left, *others):
        path.write_bytes(b"[{")
    run(toy_study(), tmp_path, trials=2, jobs=1)
    assert not left.exists()
    assert all(path.exists() for path in others)


def test_vanished_trials_are_named(tmp_path):
    run(toy_study("first"), tmp_path, trials=1, jobs=1)
    shutil.rmtree(next(tmp_path.rglob("00000.json")).parent)
    with pytest.raises(FileNotFoundError, match="study 'first' has vanished"):
        run(toy_study("second"), tmp_path, trials=1, jobs=1)


def test_what_is_announced_is_what_runs(tmp_path):
    witness = Witness()
    run(toy_study(), tmp_path, trials=3, jobs=1, observer=witness)
    assert witness.log == [
        (what, "toy", trial) for trial in range(3) for what in ("started", "finished")
    ]


def test_two_runs_into_one_folder_do_not_disturb_each_other(tmp_path):
    code = (
        "import sys; sys.path.insert(0, '.')\n"
        "from tests.studies.toys import toy_study\nfrom viewspan.studies import run, write_tables\n"
        "write_tables(run(toy_study(sys.argv[2]), sys.argv[1], trials=8, jobs=1), sys.argv[1])"
    )
    names = ("same", "same", "other")
    started = [
        subprocess.Popen([sys.executable, "-c", code, tmp_path, name], cwd=ROOT) for name in names
    ]
    assert [process.wait(timeout=120) for process in started] == [0, 0, 0]
    table = run(toy_study("same"), tmp_path, trials=8, jobs=1)
    assert table.groupby("study")["trial"].nunique().to_dict() == {"same": 8, "other": 8}
    assert not list(tmp_path.rglob("*.tmp"))


@pytest.mark.parametrize("damage", [b"", b"[]", b"{}", b"\0" * 50])
def test_damaged_files_are_made_again(tmp_path, damage):
    full = run(toy_study(), tmp_path, trials=2, jobs=1)
    for name in ("00000.json", "settings.json", "toy.json"):
        next(tmp_path.rglob(name)).write_bytes(damage)
    again = run(toy_study(), tmp_path, trials=2, jobs=1)
    assert without_times(full).equals(without_times(again))


def test_a_study_is_checked_when_it_is_made():
    with pytest.raises(ValueError, match="letters, digits"):
        toy_study("../elsewhere")
    with pytest.raises(ValueError, match="at least one noise level"):
        toy_study(noise=())
    for noise in ([0.5, 0.5], [np.nan], [-1.0]):
        with pytest.raises(
            ValueError, match="noise levels of study 'toy' must be different finite numbers"
        ):
            toy_study(noise=noise)
    with pytest.raises(
        ValueError, match="views of method 'm' must be 'all', 'concat', or the name or number"
    ):
        Method("m", Failing(), -1)
    with pytest.raises(TypeError, match="noise of study 'toy' must be a list"):
        toy_study(noise=0.5)
    with pytest.raises(TypeError, match=r"must be Method\(name, estimator\)"):
        toy_study(methods=[Failing()])
    with pytest.raises(ValueError, match="name of a setting"):
        Method("m", Failing(), setting="a/b")
    with pytest.raises(ValueError, match="must not be 'tuned'"):
        Method("m", Failing(), setting="tuned")
    with pytest.raises(ValueError, match="printable"):
        Method("two\nlines", Failing())
    with pytest.raises(TypeError, match="fit_predict and get_params"):
        Method("m", StandardScaler())
    twice = [Method("same", Failing()), Method("same", Failing())]
    with pytest.raises(ValueError, match="'same' twice in the setting 'main'"):
        Study("toy", make_blobs, (0.0,), twice)
    with pytest.raises(ValueError, match="different names"):
        run([toy_study(), toy_study()], "unused", trials=1)
    for name, value in (("trials", 0), ("seed", -1), ("jobs", 0)):
        with pytest.raises(ValueError, match=name):
            run(toy_study(), "unused", **{name: value})


def test_numbers_of_numpy_are_numbers(tmp_path):
    study = toy_study(noise=np.linspace(0, 1, 2), methods=[Method("m", LRR(3), np.int64(0))])
    assert len(run(study, tmp_path, trials=np.int64(1), seed=np.int64(3), jobs=1)) == 2
