"""Runs: each trial is run once, stored when it is finished, and never mixed with others."""

import errno
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from tests.studies.toys import Fragile, make_blobs, toy_study
from viewspan import LRR
from viewspan._utils import files as _files
from viewspan.datasets import make_subspaces
from viewspan.studies import Method, Study, run
from viewspan.studies.trial import TrialError, trial_seed

ROOT = Path(__file__).parents[2]


class RecordingObserver:
    """Observer that records the trials that start and finish."""

    def __init__(self):
        self.counts, self.log = None, []

    def begin(self, total, done):
        self.counts = (total, done)

    def started(self, study, trial):
        self.log.append(("started", study, trial))

    def finished(self, study, trial):
        self.log.append(("finished", study, trial))

    def finished_trials(self):
        return sorted(entry[1:] for entry in self.log if entry[0] == "finished")


def without_timings(table):
    return table.drop(columns="seconds")


def test_the_table_has_a_row_per_trial_noise_and_method(tmp_path):
    table = run(toy_study(), tmp_path, trials=3, jobs=1)
    assert len(table) == 3 * 2 * 2
    assert not table.duplicated(["trial", "noise", "method"]).any()
    assert table["seed"].nunique() == 3


def test_parallel_trials_give_the_same_table(tmp_path):
    serial = run(toy_study(), tmp_path / "one", trials=4, jobs=1)
    parallel = run(toy_study(), tmp_path / "two", trials=4, jobs=2)
    assert without_timings(serial).equals(without_timings(parallel))


def test_finished_trials_are_not_run_again(tmp_path):
    full = run(toy_study(), tmp_path, trials=4, jobs=1)
    next(tmp_path.rglob("00002.json")).unlink()
    observer = RecordingObserver()
    again = run(toy_study(), tmp_path, trials=4, jobs=1, observer=observer)
    assert observer.counts == (4, 3)
    assert observer.finished_trials() == [("toy", 2)]
    assert without_timings(full).equals(without_timings(again))


def test_a_larger_number_of_trials_runs_only_the_new_ones(tmp_path):
    run(toy_study(), tmp_path, trials=2, jobs=1)
    observer = RecordingObserver()
    assert run(toy_study(), tmp_path, trials=3, jobs=1, observer=observer)["trial"].nunique() == 3
    assert observer.finished_trials() == [("toy", 2)]
    assert run(toy_study(), tmp_path, trials=2, jobs=1)["trial"].nunique() == 2


def test_trials_of_other_settings_are_kept_apart(tmp_path):
    first = run(toy_study(), tmp_path, trials=2, jobs=1)
    observer = RecordingObserver()
    changed = run(toy_study(noise=(0.0, 5.0)), tmp_path, trials=2, jobs=1, observer=observer)
    assert observer.counts == (2, 0)
    assert set(changed["noise"]) == {0.0, 5.0}
    back = run(toy_study(), tmp_path, trials=2, jobs=1, observer=observer)
    assert observer.counts == (2, 2)  # the first trials are still there
    assert first.equals(back)


def test_trials_are_found_after_an_edit_of_viewspans_own_code(tmp_path):
    """A new docstring of a viewspan generator gives another key, but the version is the same."""
    study = Study("toy", make_subspaces, (0.2,), [Method("LRR", LRR(5))])
    first = run(study, tmp_path, trials=2, jobs=1)
    (description,) = tmp_path.rglob("settings.json")
    settings = json.loads(description.read_text(encoding="utf-8"))
    settings["generate"]["code"] = "0123456789ab"
    description.write_text(json.dumps(settings), encoding="utf-8")
    description.parent.rename(description.parent.with_name("toy-abc123"))
    observer = RecordingObserver()
    again = run(study, tmp_path, trials=2, jobs=1, observer=observer)
    assert observer.counts == (2, 2)
    assert first.equals(again)
    other_seed = run(study, tmp_path, trials=2, seed=1, jobs=1, observer=observer)
    assert observer.counts == (2, 0)
    assert not first.equals(other_seed)


def test_the_table_has_all_studies_of_the_folder(tmp_path):
    run(toy_study("first"), tmp_path, trials=2, jobs=1)
    table = run(toy_study("second"), tmp_path, trials=1, jobs=1)
    assert table.groupby("study")["trial"].nunique().to_dict() == {"first": 2, "second": 1}
    both = run([toy_study("first"), toy_study("second")], tmp_path / "both", trials=2, jobs=1)
    assert both.groupby("study")["trial"].nunique().to_dict() == {"first": 2, "second": 2}


def test_only_the_failed_trial_is_lost(tmp_path):
    study = toy_study(
        noise=[0.0], methods=[Method("fragile", Fragile())], generate=noisy_in_trial_two
    )
    with pytest.raises(TrialError, match="trial 2"):
        run(study, tmp_path, trials=4, jobs=1)
    kept = sorted(path.name for path in tmp_path.rglob("0*.json"))
    assert kept == ["00000.json", "00001.json"]


def noisy_in_trial_two(*, noise, random_state):
    views, labels = make_blobs(noise=noise, random_state=random_state)
    return [view * (100 if random_state == trial_seed(0, 2) else 0.1) for view in views], labels


def test_a_full_disk_loses_no_finished_trial(tmp_path, monkeypatch):
    run(toy_study(), tmp_path, trials=1, jobs=1)

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(_files.os, "fsync", full)
        with pytest.raises(OSError, match=r"No space left on device: .*00001.json"):
            run(toy_study(), tmp_path, trials=3, jobs=1)
    assert not list(tmp_path.rglob("*.tmp"))
    resumed = run(toy_study(), tmp_path, trials=3, jobs=1)
    assert without_timings(resumed).equals(
        without_timings(run(toy_study(), tmp_path / "other", trials=3, jobs=1))
    )


def test_a_trial_with_a_truncated_file_is_run_again(tmp_path):
    full = run(toy_study(), tmp_path, trials=2, jobs=1)
    (path,) = tmp_path.rglob("00001.json")
    path.write_bytes(path.read_bytes()[:100])
    again = run(toy_study(), tmp_path, trials=2, jobs=1)
    assert without_timings(full).equals(without_timings(again))


def test_temporary_files_of_killed_runs_are_removed(tmp_path):
    """Those of running processes, of other machines and of other programs are kept."""
    run(toy_study(), tmp_path, trials=1, jobs=1)
    code = (
        "import os, sys; sys.path.insert(0, '.')\n"
        "from tests.studies.toys import toy_study\nfrom viewspan.studies import run\n"
        "os.fsync = lambda file: os.kill(os.getpid(), 9)\n"
        "run(toy_study(), sys.argv[1], trials=2, jobs=1)"
    )
    killed = subprocess.Popen([sys.executable, "-c", code, tmp_path], cwd=ROOT)
    assert killed.wait(timeout=120) == -9
    (left,) = tmp_path.rglob("*.tmp")
    host = left.name.split(".")[-4]
    kept = [
        left.with_name(left.name.replace(f".{killed.pid}.", f".{os.getpid()}.")),
        left.with_name(left.name.replace(f".{host}.", ".elsewhere.")),
        tmp_path / "mine.tmp",
    ]
    for path in kept:
        path.write_bytes(b"[{")
    run(toy_study(), tmp_path, trials=2, jobs=1)
    assert not left.exists()
    assert all(path.exists() for path in kept)


def test_missing_trials_of_another_study_raise_an_error(tmp_path):
    run(toy_study("first"), tmp_path, trials=1, jobs=1)
    shutil.rmtree(next(tmp_path.rglob("00000.json")).parent)
    with pytest.raises(FileNotFoundError, match="Trial 0 of study 'first' is missing"):
        run(toy_study("second"), tmp_path, trials=1, jobs=1)


def test_a_trial_is_announced_when_it_starts(tmp_path):
    observer = RecordingObserver()
    run(toy_study(), tmp_path, trials=3, jobs=1, observer=observer)
    assert observer.log == [
        (event, "toy", trial) for trial in range(3) for event in ("started", "finished")
    ]


def test_parallel_runs_into_one_folder_all_finish(tmp_path):
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
def test_damaged_files_are_replaced(tmp_path, damage):
    full = run(toy_study(), tmp_path, trials=2, jobs=1)
    for name in ("00000.json", "settings.json", "toy.json"):
        next(tmp_path.rglob(name)).write_bytes(damage)
    again = run(toy_study(), tmp_path, trials=2, jobs=1)
    assert without_timings(full).equals(without_timings(again))


def test_invalid_studies_and_arguments_raise_errors():
    with pytest.raises(ValueError, match="letters, digits"):
        toy_study("../elsewhere")
    with pytest.raises(ValueError, match="at least one noise level"):
        toy_study(noise=())
    for noise in ([0.5, 0.5], [np.nan], [-1.0]):
        with pytest.raises(
            ValueError, match="noise levels of study 'toy' must be distinct finite numbers"
        ):
            toy_study(noise=noise)
    with pytest.raises(
        ValueError, match="views of method 'm' must be 'all', 'concat', or the name or position"
    ):
        Method("m", Fragile(), -1)
    with pytest.raises(TypeError, match="noise of study 'toy' must be a list"):
        toy_study(noise=0.5)
    with pytest.raises(TypeError, match=r"must be Method\(name, estimator\)"):
        toy_study(methods=[Fragile()])
    with pytest.raises(ValueError, match="name of a setting"):
        Method("m", Fragile(), setting="a/b")
    with pytest.raises(ValueError, match="must not be 'tuned'"):
        Method("m", Fragile(), setting="tuned")
    with pytest.raises(ValueError, match="printable"):
        Method("two\nlines", Fragile())
    with pytest.raises(TypeError, match="fit_predict and get_params"):
        Method("m", StandardScaler())
    duplicates = [Method("same", Fragile()), Method("same", Fragile())]
    with pytest.raises(ValueError, match="'same' twice in the setting 'main'"):
        Study("toy", make_blobs, (0.0,), duplicates)
    with pytest.raises(ValueError, match="different names"):
        run([toy_study(), toy_study()], "unused", trials=1)
    for name, value in (("trials", 0), ("seed", -1), ("jobs", 0)):
        with pytest.raises(ValueError, match=name):
            run(toy_study(), "unused", **{name: value})


def test_numpy_numbers_are_accepted(tmp_path):
    study = toy_study(noise=np.linspace(0, 1, 2), methods=[Method("m", LRR(3), np.int64(0))])
    assert len(run(study, tmp_path, trials=np.int64(1), seed=np.int64(3), jobs=1)) == 2
