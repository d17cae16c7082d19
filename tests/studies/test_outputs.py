"""Files of a folder of studies are replaced only if an earlier run wrote them."""

import pytest

from viewspan._utils import files
from viewspan.io.readers.table import InputError
from viewspan.studies.outputs import RECORD_NAME, check_replaceable, write_outputs


def test_own_files_are_replaced_and_others_are_kept(tmp_path):
    table = tmp_path / "results.csv"
    write_outputs(tmp_path, {table: b"1"})
    write_outputs(tmp_path, {table: b"2"})
    assert table.read_bytes() == b"2"
    table.write_bytes(b"changed")
    for call in (
        lambda: write_outputs(tmp_path, {table: b"3"}),
        lambda: check_replaceable(tmp_path, ["results.csv"]),
    ):
        with pytest.raises(InputError, match=r"results\.csv was not written by viewspan, or has"):
            call()
    assert table.read_bytes() == b"changed"


def test_files_of_another_study_stay_recorded(tmp_path):
    write_outputs(tmp_path, {tmp_path / "first.png": b"1"})
    write_outputs(tmp_path, {tmp_path / "second.png": b"2"})
    write_outputs(tmp_path, {tmp_path / "first.png": b"3"})
    assert (tmp_path / "first.png").read_bytes() == b"3"


def test_a_run_that_was_killed_between_two_files_continues(tmp_path, monkeypatch):
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    write_outputs(tmp_path, {one: b"old", two: b"old"})

    def stop(temporaries, removed):
        for path, temporary in list(temporaries.items())[:1]:
            temporary.replace(path)
        if RECORD_NAME not in {path.name for path in temporaries}:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(files, "replace_all", stop)
        with pytest.raises(KeyboardInterrupt):
            write_outputs(tmp_path, {one: b"new", two: b"new"})
    assert {one.read_bytes(), two.read_bytes()} == {b"old", b"new"}
    write_outputs(tmp_path, {one: b"new", two: b"new"})
    assert {one.read_bytes(), two.read_bytes()} == {b"new"}


@pytest.mark.parametrize("content", ["", "[1]", '{"written": 3}'])
def test_a_damaged_record_protects_all_files(tmp_path, content):
    (tmp_path / RECORD_NAME).write_text(content)
    (tmp_path / "results.csv").write_text("mine")
    with pytest.raises(InputError, match="was not written by viewspan"):
        write_outputs(tmp_path, {tmp_path / "results.csv": b"1"})
