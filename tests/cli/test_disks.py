"""Full disks, folders that cannot be written, vanished files, two runs at once: a clear error, and no lost result."""

import errno
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import numpy as np
import pytest

import viewspan
from tests.cli.running import Command, two_views
from tests.cli.test_interruption import belong_together, contents, run
from viewspan._utils import files as _files

CLUSTER = ("cluster", "a.npy", "b.npy", "-k", "3", "--no-report", "-o", "out")
PREDICT = ("predict", "out/model", "a.npy", "b.npy")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    two_views(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def rescue(tmp_path_factory, monkeypatch):
    """Where temporary files are."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path_factory.mktemp("temporary")))
    return Path(tempfile.tempdir)


@pytest.fixture
def earlier(folder):
    """An earlier result, and what is in its files."""
    assert run(*CLUSTER).exit_code == 0
    return contents(folder)


def break_writing(monkeypatch, code, times, *more):
    """The disk takes half of a file's content, then no more; another one is whole."""
    calls, write = [], _files.write_and_sync

    def broken(path, content):
        calls.append(path)
        if len(calls) in {times, *more}:
            write(path, content[: len(content) // 2])
            raise OSError(code, os.strerror(code))
        write(path, content)

    monkeypatch.setattr(_files, "write_and_sync", broken)


@pytest.mark.parametrize("times", [1, 2, 3])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EIO], ids=errno.errorcode.get)
def test_a_full_disk_keeps_the_earlier_result_and_the_new_one(
    code, times, folder, earlier, rescue, monkeypatch
):
    break_writing(monkeypatch, code, times)
    result = run(*CLUSTER, "--force", "--seed", 1)
    name = ["labels.csv", "model", "run.json"][times - 1]
    assert result.exit_code == 1
    [instead] = rescue.iterdir()
    assert result.stderr == (
        f"viewspan cluster: out/{name} could not be written: {os.strerror(code)}. What was there before is as it was; "
        f"the result is in {instead}, move it from there.\n"
    )
    assert contents(folder) == earlier
    assert belong_together(instead)
    assert json.loads((instead / "run.json").read_text())["parameters"]["random_state"] == 1


def test_a_full_disk_leaves_no_part_of_a_first_result(folder, rescue, monkeypatch):
    break_writing(monkeypatch, errno.ENOSPC, 2)
    assert run(*CLUSTER).exit_code == 1
    assert not (folder / "out").exists()
    [instead] = rescue.iterdir()
    assert belong_together(instead)


def test_where_every_disk_is_full_the_loss_is_told(folder, earlier, rescue, monkeypatch):
    break_writing(monkeypatch, errno.ENOSPC, 2, 3)
    result = run(*CLUSTER, "--force")
    assert (
        f"the result is lost, because {rescue} did not take it either (No space left on device)"
        in result.stderr
    )
    assert contents(folder) == earlier
    assert not list(rescue.iterdir())


@pytest.mark.parametrize("times", [1, 2, 3])
def test_a_file_that_cannot_be_replaced_brings_the_others_back(times, folder, earlier, monkeypatch):
    """As in a folder where everybody may write, and only owners may replace."""
    calls, replace = [], Path.replace

    def refused(path, target):
        calls.append(target)
        if len(calls) == times:
            raise PermissionError(
                errno.EPERM, os.strerror(errno.EPERM), str(path), None, str(target)
            )
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", refused)
    result = run(*CLUSTER, "--force", "--seed", 1)
    assert result.exit_code == 1 and "Operation not permitted" in result.stderr
    assert contents(folder) == earlier


def test_a_full_disk_keeps_a_saved_model(folder, monkeypatch):
    views = [np.load(folder / "a.npy"), np.load(folder / "b.npy")]
    viewspan.save(viewspan.LRR(3, random_state=0).fit(views), folder / "model")
    before = contents(folder)
    break_writing(monkeypatch, errno.ENOSPC, 1)
    with pytest.raises(OSError, match=r"No space left on device.*model") as caught:
        viewspan.save(viewspan.LRR(2, random_state=0).fit(views), folder / "model")
    assert caught.value.filename == str(folder / "model")
    assert contents(folder) == before


def test_a_device_without_room(folder, earlier):
    """/dev/full is a disk that is full."""
    result = run(*PREDICT, "-o", "/dev/full")
    assert (
        result.exit_code == 1
        and "/dev/full could not be written: No space left on device" in result.stderr
    )
    with Path("/dev/full").open("w") as full:
        process = subprocess.run(
            [sys.executable, "-m", "viewspan", *PREDICT],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert process.returncode == 1
    assert (
        process.stderr
        == "viewspan predict: standard output could not be written: No space left on device.\n"
    )


def test_a_pipe_is_written_to_and_stays_one(folder, earlier):
    """So /dev/null and /dev/stdout are not replaced by files, whoever may do so."""
    os.mkfifo(folder / "pipe")
    read = []
    reader = threading.Thread(target=lambda: read.append((folder / "pipe").read_text()))
    reader.start()
    assert run(*PREDICT, "-o", "pipe").exit_code == 0
    reader.join()
    assert read[0].startswith("id,label,confidence\n0,") and (folder / "pipe").is_fifo()


def test_a_link_stays_a_link(folder, earlier):
    (folder / "elsewhere").mkdir()
    for name in ("there.csv", "dangling.csv"):
        (folder / name).symlink_to(folder / "elsewhere" / name)
    (folder / "elsewhere/there.csv").write_text("old")
    (folder / "results").symlink_to("elsewhere")
    assert run(*PREDICT, "-o", "there.csv").exit_code == 2
    for name in ("there.csv", "dangling.csv"):
        assert run(*PREDICT, "-o", name, "--force").exit_code == 0
        assert (folder / name).is_symlink() and (
            folder / "elsewhere" / name
        ).read_text().startswith("id,label")
    assert run(*CLUSTER[:-1], "results").exit_code == 0
    assert belong_together(folder / "elsewhere")


def test_a_read_only_folder_is_noticed_before_the_work(folder, monkeypatch):
    def read_only(*given, **named):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr("viewspan.cli.job.fit", lambda *_: pytest.fail("it worked in vain"))
    with monkeypatch.context() as patch:
        patch.setattr(Path, "mkdir", read_only)
        result = run(*CLUSTER)
    assert result.exit_code == 2
    assert result.stderr == "viewspan cluster: out cannot be made: Read-only file system.\n"
    monkeypatch.setattr("viewspan.cli.folder.os.access", lambda *_: False)
    result = run(*CLUSTER)
    assert result.exit_code == 2 and "is no folder that you may write into" in result.stderr


def test_a_folder_where_a_file_belongs(folder, earlier):
    (folder / "out/model").unlink()
    (folder / "out/model").mkdir()
    assert "out/model is a folder" in run(*CLUSTER, "--force").stderr
    result = run("predict", "out", "a.npy", "-o", "out")
    assert result.exit_code == 2 and "out is a folder; --out names a file" in result.stderr
    with pytest.raises(IsADirectoryError):
        _files.write_together({folder / "new": b"", folder / "out/model": b""})
    assert not (folder / "new").exists() and not list(folder.rglob("*.tmp"))


def when_fitting(monkeypatch, act):
    from viewspan.cli import job

    fit = job.fit

    def fit_later(*given):
        act()
        return fit(*given)

    monkeypatch.setattr(job, "fit", fit_later)


def test_an_input_that_vanishes_after_it_was_read(folder, monkeypatch):
    """The result is not lost, and its record has the checksum of what was read."""
    for name in "ab":
        np.savetxt(folder / f"{name}.csv", np.load(folder / f"{name}.npy"), delimiter=",")
    when_fitting(monkeypatch, (folder / "a.csv").unlink)
    result = run("cluster", "a.csv", "b.csv", "-k", 3, "--no-report", "-o", "out")
    assert result.exit_code == 0, result.output
    assert len(json.loads((folder / "out/run.json").read_text())["views"][0]["sha256"]) == 64


@pytest.mark.parametrize("how", ["deleted", "cut"])
def test_an_array_that_changes_while_it_is_mapped(how, folder, monkeypatch):
    """One that is deleted is still there for those who have it open; one that is cut is not."""
    path = folder / "b.npy"
    when_fitting(monkeypatch, path.unlink if how == "deleted" else lambda: os.truncate(path, 1000))
    result = run(*CLUSTER)
    if how == "deleted":
        assert result.exit_code == 0, result.output
    else:
        assert (
            result.exit_code == 2 and "b.npy has become shorter while it was read" in result.stderr
        )
        assert not (folder / "out").exists()


def test_an_input_that_vanishes_before_it_is_read(folder, monkeypatch):
    monkeypatch.setattr("viewspan.cli.job.parse_shape", lambda _: (folder / "a.npy").unlink())
    monkeypatch.setattr("viewspan.cli.job.views_of_shape", lambda *_: {})
    result = run(*CLUSTER, "--image-shape", "3x3")
    assert result.exit_code == 2 and "a.npy" in result.stderr and result.stderr.count("\n") == 1
    assert not (folder / "out").exists()


def test_a_folder_that_vanishes_is_made_again(folder, monkeypatch):
    when_fitting(monkeypatch, lambda: shutil.rmtree(folder / "out"))
    assert run(*CLUSTER).exit_code == 0
    assert belong_together(folder / "out")


def test_what_a_killed_run_left_is_swept(folder, earlier):
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    left = (
        folder
        / "out"
        / _files.beside(folder / "out/model").name.replace(f".{os.getpid()}.", f".{process.pid}.")
    )
    mine = folder / "out" / _files.beside(folder / "out/model").name
    for path in (left, mine):
        path.write_bytes(b"half a mo")
    assert run(*CLUSTER, "--force").exit_code == 0
    assert not left.exists() and mine.exists()


def test_a_long_name_needs_no_longer_one(tmp_path):
    path = tmp_path / ("ä" * 127)  # 254 bytes
    _files.write_whole(path, b"whole")
    assert path.read_bytes() == b"whole" and list(tmp_path.iterdir()) == [path]


def test_who_comes_second_is_told(folder):
    first = Command(*CLUSTER, folder=folder, pause_in="viewspan.cli.job.fit")
    for more in ((), ("--force",)):
        result = run(*CLUSTER, *more)
        assert result.exit_code == 2
        assert result.stderr == (
            "viewspan cluster: Another viewspan is at work in out; wait for its end, or name another folder.\n"
        )
    first.go_on()
    assert first.end()[0] == 0
    assert belong_together(folder / "out")
    assert run(*CLUSTER, "--force").exit_code == 0


def test_two_runs_at_once_do_not_mix(folder):
    """Both are ready to write when they go on; each has the folder for itself, or says so."""
    commands = [Command(*CLUSTER, "--force", "--seed", seed, folder=folder) for seed in (1, 2)]
    ends = [command.end() for command in commands]
    assert {code for code, *_ in ends} <= {0, 2} and 0 in {code for code, *_ in ends}
    assert all(code == 0 or "Another viewspan is at work" in words for code, _, words in ends)
    finished = [seed for seed, (code, *_) in zip((1, 2), ends, strict=True) if code == 0]
    assert (
        json.loads((folder / "out/run.json").read_text())["parameters"]["random_state"] in finished
    )
    assert belong_together(folder / "out")
