"""Full disks, read-only folders, vanished files and two runs at once lose no result."""

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
import viewspan.cli.fitting as fitting_module
import viewspan.cli.run as run_module
from tests.cli.running import Command, contents, matches_its_record, run, two_views
from viewspan._utils import files

CLUSTER = ("cluster", "a.npy", "b.npy", "-k", "3", "--no-report", "-o", "out")
PREDICT = ("predict", "out/model", "a.npy", "b.npy")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    two_views(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def rescue(tmp_path_factory, monkeypatch):
    """Replace the folder of temporary files by an empty one, and return it."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path_factory.mktemp("temporary")))
    return Path(tempfile.tempdir)


@pytest.fixture
def earlier(folder):
    """Run once, and return the contents of all files."""
    assert run(*CLUSTER).exit_code == 0
    return contents(folder)


def break_writing(monkeypatch, code, *failing):
    """Let the writes with these numbers fail after half of the content."""
    calls, write = [], files.write_and_sync

    def broken(path, content):
        calls.append(path)
        if len(calls) in failing:
            write(path, content[: len(content) // 2])
            raise OSError(code, os.strerror(code))
        write(path, content)

    monkeypatch.setattr(files, "write_and_sync", broken)


@pytest.mark.parametrize("failing", [1, 2, 3])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EIO], ids=errno.errorcode.get)
def test_a_full_disk_keeps_the_earlier_result_and_the_new_one(
    code, failing, folder, earlier, rescue, monkeypatch
):
    break_writing(monkeypatch, code, failing)
    result = run(*CLUSTER, "--force", "--seed", 1)
    name = ["labels.csv", "model", "run.json"][failing - 1]
    assert result.exit_code == 1
    [saved] = rescue.iterdir()
    assert result.stderr == (
        f"viewspan cluster: out/{name} could not be written: {os.strerror(code)}. Earlier files "
        f"are unchanged. The result was saved to {saved}; move it from there.\n"
    )
    assert contents(folder) == earlier
    assert matches_its_record(saved)
    assert json.loads((saved / "run.json").read_text())["parameters"]["random_state"] == 1


def test_a_full_disk_leaves_no_part_of_a_first_result(folder, rescue, monkeypatch):
    break_writing(monkeypatch, errno.ENOSPC, 2)
    assert run(*CLUSTER).exit_code == 1
    assert not (folder / "out").exists()
    [saved] = rescue.iterdir()
    assert matches_its_record(saved)


def test_a_lost_result_is_reported_if_every_disk_is_full(folder, earlier, rescue, monkeypatch):
    break_writing(monkeypatch, errno.ENOSPC, 2, 3)
    result = run(*CLUSTER, "--force")
    assert (
        f"The result is lost, because it could not be written to {rescue} either: No space left "
        "on device." in result.stderr
    )
    assert contents(folder) == earlier
    assert not list(rescue.iterdir())


@pytest.mark.parametrize("failing", [1, 2, 3])
def test_a_file_that_cannot_be_replaced_restores_the_others(failing, folder, earlier, monkeypatch):
    """In a folder with the sticky bit, only the owner of a file may replace it."""
    calls, replace = [], Path.replace

    def refused(path, target):
        calls.append(target)
        if len(calls) == failing:
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM), str(path))
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


def test_a_full_device_is_reported(folder, earlier):
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
        == "viewspan predict: Standard output could not be written: No space left on device.\n"
    )


def test_a_pipe_is_written_to_and_not_replaced(folder, earlier):
    """The same holds for devices such as /dev/null, which only root could replace."""
    os.mkfifo(folder / "pipe")
    read = []
    reader = threading.Thread(target=lambda: read.append((folder / "pipe").read_text()))
    reader.start()
    assert run(*PREDICT, "-o", "pipe").exit_code == 0
    reader.join()
    assert read[0].startswith("id,label,confidence\n0,") and (folder / "pipe").is_fifo()


def test_a_symbolic_link_is_kept_and_its_target_replaced(folder, earlier):
    (folder / "elsewhere").mkdir()
    for name in ("there.csv", "dangling.csv"):
        (folder / name).symlink_to(folder / "elsewhere" / name)
    (folder / "elsewhere/there.csv").write_text("id,label,confidence\nold,0,1\n")
    (folder / "results").symlink_to("elsewhere")
    assert run(*PREDICT, "-o", "there.csv").exit_code == 2
    for name in ("there.csv", "dangling.csv"):
        assert run(*PREDICT, "-o", name, "--force").exit_code == 0
        assert (folder / name).is_symlink() and (
            folder / "elsewhere" / name
        ).read_text().startswith("id,label,confidence\n0,0,")
    assert run(*CLUSTER[:-1], "results").exit_code == 0
    assert matches_its_record(folder / "elsewhere")


def test_a_read_only_folder_is_noticed_before_the_fit(folder, monkeypatch):
    def read_only(*_, **__):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr("viewspan.cli.fitting.fit", lambda *_: pytest.fail("the fit has started"))
    with monkeypatch.context() as patch:
        patch.setattr(Path, "mkdir", read_only)
        result = run(*CLUSTER)
    assert result.exit_code == 2
    assert (
        result.stderr
        == "viewspan cluster: The folder out cannot be created: Read-only file system.\n"
    )
    monkeypatch.setattr("viewspan.cli.folder.os.access", lambda *_: False)
    result = run(*CLUSTER)
    assert result.exit_code == 2 and "You have no permission to write to out" in result.stderr
    assert not (folder / "out").exists()


def test_a_folder_in_place_of_an_output_file_is_kept(folder, earlier):
    (folder / "out/model").unlink()
    (folder / "out/model").mkdir()
    assert "out/model was not written by viewspan" in run(*CLUSTER, "--force").stderr
    result = run("predict", "out", "a.npy", "-o", "out")
    assert result.exit_code == 2 and "out is a folder, but --out needs a file" in result.stderr
    before = contents(folder)
    with pytest.raises(IsADirectoryError):
        files.write_all_atomically(
            {folder / "new": b"", folder / "a.npy": b"", folder / "out/model": b""}
        )
    assert contents(folder) == before


def when_fitting(monkeypatch, act):
    """Call a function at the start of the fit."""
    fit = fitting_module.fit

    def act_and_fit(*args):
        act()
        return fit(*args)

    monkeypatch.setattr(fitting_module, "fit", act_and_fit)


def test_an_input_that_vanishes_after_it_was_read(folder, monkeypatch):
    """The result is written, and its record has the checksum of the file that was read."""
    for name in "ab":
        np.savetxt(folder / f"{name}.csv", np.load(folder / f"{name}.npy"), delimiter=",")
    when_fitting(monkeypatch, (folder / "a.csv").unlink)
    result = run("cluster", "a.csv", "b.csv", "-k", 3, "--no-report", "-o", "out")
    assert result.exit_code == 0, result.output
    assert len(json.loads((folder / "out/run.json").read_text())["views"][0]["sha256"]) == 64


@pytest.mark.parametrize("how", ["deleted", "truncated"])
def test_an_array_that_changes_while_it_is_mapped(how, folder, monkeypatch):
    """A deleted file stays readable while it is open; a truncated file does not."""
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
    read = run_module.run_in_locked_folder

    def vanish_and_read(*arguments):
        (folder / "a.npy").unlink()
        return read(*arguments)

    monkeypatch.setattr(run_module, "run_in_locked_folder", vanish_and_read)
    result = run(*CLUSTER)
    assert result.exit_code == 2 and "a.npy" in result.stderr and result.stderr.count("\n") == 1
    assert not (folder / "out").exists()


def test_an_output_folder_that_vanishes_is_created_again(folder, monkeypatch):
    when_fitting(monkeypatch, lambda: shutil.rmtree(folder / "out"))
    assert run(*CLUSTER).exit_code == 0
    assert matches_its_record(folder / "out")


def test_temporary_files_of_a_killed_run_are_removed(folder, earlier):
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    own = files.temporary_path(folder / "out/model")
    left = own.with_name(own.name.replace(f".{os.getpid()}.", f".{process.pid}."))
    for path in (left, own):
        path.write_bytes(b"half a mo")
    assert run(*CLUSTER, "--force").exit_code == 0
    assert not left.exists() and own.exists()


def test_a_file_name_of_the_maximum_length_can_be_written(tmp_path):
    path = tmp_path / ("ä" * 127)  # 254 bytes
    files.write_atomically(path, b"whole")
    assert path.read_bytes() == b"whole" and list(tmp_path.iterdir()) == [path]


def test_a_second_run_into_the_same_folder_is_refused(folder):
    first = Command(*CLUSTER, folder=folder, pause_in="viewspan.cli.fitting.fit")
    for more in ((), ("--force",)):
        result = run(*CLUSTER, *more)
        assert result.exit_code == 2
        assert result.stderr == (
            "viewspan cluster: Another viewspan command is writing to out; wait until it ends, or "
            "choose another --out.\n"
        )
    first.resume()
    assert first.end()[0] == 0
    assert matches_its_record(folder / "out")
    assert run(*CLUSTER, "--force").exit_code == 0


def test_two_runs_at_once_do_not_mix(folder):
    """Each run either locks the folder or fails because the other run holds the lock."""
    commands = [Command(*CLUSTER, "--force", "--seed", seed, folder=folder) for seed in (1, 2)]
    ends = [command.end() for command in commands]
    assert {code for code, *_ in ends} <= {0, 2} and 0 in {code for code, *_ in ends}
    assert all(code == 0 or "Another viewspan command" in stderr for code, _, stderr in ends)
    finished = [seed for seed, (code, *_) in zip((1, 2), ends, strict=True) if code == 0]
    assert (
        json.loads((folder / "out/run.json").read_text())["parameters"]["random_state"] in finished
    )
    assert matches_its_record(folder / "out")
