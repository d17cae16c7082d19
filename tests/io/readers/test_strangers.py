"""Files from strangers: nothing in them is executed, no other file is read, and neither memory nor time is lost."""

import gzip
import io
import os
import random
import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse

from tests.strangers import LOADERS, VALUES, whole_trials
from viewspan._utils import memory
from viewspan.io.readers import InputError, Reading, contents, limits, matlab, read
from viewspan.io.readers.labels import read_labels
from viewspan.studies.manifest import Manifest
from viewspan.studies.store import read_json

SEEDS = Path(__file__).parents[1] / "seeds"
BY_PROCESS = {"mat73", "h5ad", "h5mu"}
"""Read by another process first, which takes its time."""


def refused(path, message, key=""):
    """By a sentence, whether it is looked into or read."""
    with pytest.raises(InputError, match=message) as caught:
        read(f"{path}{key}", Reading())
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


def header(shape, kind="<f8"):
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        buffer, {"descr": kind, "fortran_order": False, "shape": shape}
    )
    return buffer.getvalue()


@pytest.fixture
def small_limit(monkeypatch):
    """A megabyte, so that the tests need not unpack much more."""
    monkeypatch.setattr(limits, "SMALL", 1_000_000)
    monkeypatch.setattr(limits, "TIMES", 100)


@pytest.mark.parametrize("name", LOADERS)
def test_damaged_files_are_read_or_refused_by_a_sentence(name, tmp_path):
    """Mutants of whole files, the same ones every time; ``benchmarks/fuzz.py`` tries more."""
    loader, rng = LOADERS[name], random.Random(7)
    (tmp_path / "whole").mkdir()
    files = sorted(loader.files(tmp_path / "whole").items())
    assert "read" in {loader.outcome(tmp_path / "whole" / file_name) for file_name, _ in files}
    for _ in range(6 if name in BY_PROCESS else 250):
        file_name, content = rng.choice(files)
        path = tmp_path / file_name
        path.write_bytes(loader.mutant(file_name, content, rng))
        assert loader.outcome(path)


@pytest.mark.parametrize(
    "seed", [path.relative_to(SEEDS) for path in sorted(SEEDS.glob("*/*"))], ids=str
)
def test_files_that_showed_a_defect(seed, tmp_path):
    """Each ended a process, never came to an end, or was answered by no sentence."""
    path = tmp_path / seed.name
    path.write_bytes((SEEDS / seed).read_bytes())
    assert LOADERS[seed.parent.name].outcome(path)


def test_an_array_that_is_longer_than_its_file(tmp_path):
    for shape in [(10**12, 3), (2**32, 2**32), (5, 3)]:
        (tmp_path / "a.npy").write_bytes(header(shape) + bytes(100))
        refused(tmp_path / "a.npy", "cut short or damaged: it says that its array has")


def test_archives_that_fill_the_memory(tmp_path, small_limit):
    np.savez_compressed(tmp_path / "a.npz", X=np.zeros((1000, 1000)))
    refused(tmp_path / "a.npz", r"would take 8\.0 MB of memory, more than 100 times as much")
    assert [part.shape for part in contents(tmp_path / "a.npz")] == [(1000, 1000)]
    with zipfile.ZipFile(tmp_path / "head.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", b"\x93NUMPY\x02\x00" + struct.pack("<I", 10**7) + b" " * 10**7)
    refused(tmp_path / "head.npz", "what describes its array is longer")
    scipy.io.savemat(tmp_path / "a.mat", {"X": np.zeros((1000, 1000))}, do_compression=True)
    refused(tmp_path / "a.mat", "more than 100 times as much", "::X")
    with gzip.open(tmp_path / "a.csv.gz", "wb") as file:
        file.write(b"a,b\n" + b"1,2\n" * 500_000)
    refused(tmp_path / "a.csv.gz", "more than 100 times as much")


def test_rows_that_nobody_stored(tmp_path, small_limit):
    """Short lines are as wide as the first one, words of Parquet are stored once, and empty rows of sparse matrices
    not at all.
    """
    (tmp_path / "a.csv").write_text(
        ",".join(f"c{place}" for place in range(9000)) + "\n" + "1\n" * 900
    )
    refused(tmp_path / "a.csv", "more than 100 times as much")
    pd.DataFrame({"x": np.zeros(10**6)}).to_parquet(tmp_path / "a.parquet")
    refused(tmp_path / "a.parquet", "more than 100 times as much")
    pd.DataFrame({"x": np.arange(900.0), "w": ["w" * 10_000] * 900}).to_parquet(
        tmp_path / "b.parquet"
    )
    refused(tmp_path / "b.parquet", "more than 100 times as much")
    np.savez(tmp_path / "a.npz", data=[1.0], row=[0], col=[0], shape=[10**11, 3], format=b"coo")
    refused(tmp_path / "a.npz", "more than 100 times as much")


def test_half_of_the_memory_that_is_free(tmp_path, monkeypatch):
    np.savez(tmp_path / "a.npz", X=VALUES)
    np.save(tmp_path / "a.npy", VALUES)
    monkeypatch.setattr(memory, "available", lambda: 2 * VALUES.nbytes)
    assert read(str(tmp_path / "a.npz"), Reading())
    monkeypatch.setattr(memory, "available", lambda: 2 * VALUES.nbytes - 2)
    refused(tmp_path / "a.npz", r"may take half of the .* that are free; save it as \.npy")
    assert read(str(tmp_path / "a.npy"), Reading())  # stays on disk


@pytest.mark.parametrize("name", ["../X.npy", "/X.npy", "a/../../X.npy", "..\\X.npy"])
def test_parts_whose_names_lead_away(name, tmp_path):
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr(name, header((1, 1)) + bytes(8))
    refused(tmp_path / "a.npz", "leads out of the file")


def test_archives_of_another_kind_and_too_many_parts(tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("X.npy", header((1, 1)) + bytes(8))
    refused(tmp_path / "a.npz", "packed in a way that numpy does not use")
    monkeypatch.setattr(limits, "MOST_PARTS", 2)
    np.savez(tmp_path / "b.npz", a=VALUES, b=VALUES, c=VALUES)
    refused(tmp_path / "b.npz", "holds 3 arrays")


@pytest.mark.parametrize("kind", ["csr", "csc", "bsr"])
def test_sparse_matrices_that_point_outside(kind, tmp_path):
    """scipy would go there."""
    whole = scipy.sparse.csr_array(VALUES).asformat(kind)
    parts = {"data": whole.data, "shape": whole.shape, "format": kind.encode()}
    for change in [
        {"indices": whole.indices + 9},
        {"indices": whole.indices - 9},
        {"indptr": whole.indptr[::-1]},
    ]:
        np.savez(
            tmp_path / "a.npz",
            **({"indices": whole.indices, "indptr": whole.indptr} | parts | change),
        )
        refused(tmp_path / "a.npz", "points outside of itself|index pointer")
    np.savez(tmp_path / "b.npz", data=VALUES, offsets=[2**40, 0, 1, 2], shape=[4, 3], format=b"dia")
    refused(tmp_path / "b.npz", "points outside of itself")


def test_matlab_is_read_as_scipy_reads_it(tmp_path):
    cells = np.array(["a", "bc", ""], dtype=object)
    rows = {
        "names": np.array(["ab", "c", "déf"]),
        "one": "héllo",
        "cells": cells,
        "none": np.zeros((0, 3)),
    }
    numbers = {
        "deep": np.arange(24, dtype=">i2").reshape(2, 3, 4),
        "yes": np.eye(3) > 0,
        "waves": np.eye(2) * 1j,
    }
    content = rows | numbers | {"sparse": scipy.sparse.csc_array(VALUES)}
    for packed in (False, True):
        scipy.io.savemat(tmp_path / "a.mat", content, do_compression=packed)
        whole = scipy.io.loadmat(tmp_path / "a.mat")
        assert [part.key for part in contents(tmp_path / "a.mat")] == list(content)
        for key in content:
            found, known = matlab.load(tmp_path / "a.mat", key), whole[key]
            if key == "sparse":
                found, known = found.toarray(), known.toarray()
            assert found.dtype == known.dtype and found.shape == known.shape
            if key == "cells":
                found, known = (
                    [(str(one.dtype), str(one)) for one in every.ravel()]
                    for every in (found, known)
                )
            assert np.asarray(found).tolist() == np.asarray(known).tolist()


def test_variables_that_are_not_what_they_say(tmp_path):
    scipy.io.savemat(tmp_path / "a.mat", {"X": VALUES})
    content = (tmp_path / "a.mat").read_bytes()
    (tmp_path / "b.mat").write_bytes(
        content.replace(struct.pack("<2i", 4, 3), struct.pack("<2i", 2**30, 2**30))
    )
    refused(tmp_path / "b.mat", "a matrix of 1152921504606846976 values has 12", "::X")
    (tmp_path / "c.mat").write_bytes(content[:-8])
    refused(tmp_path / "c.mat", "cut short or damaged", "::X")
    body = zlib.compress(struct.pack("<II", 14, 2**31) + content[136:])
    (tmp_path / "d.mat").write_bytes(content[:128] + struct.pack("<II", 15, len(body)) + body)
    refused(tmp_path / "d.mat", "more than 1000 times as much|may take half", "::X")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a,b\n" + b"1,2\n" * 10 + b"," * (2**24 + 2**21), "a line of more than 16777216 letters"),
        (b"1" * (2**24 + 1), "a line of more than 16777216 letters"),
        (b"a,b\n" + b"1,2\n" * 100 + b"\x00", "is not text"),
        (b"a,b\n" + b"nan,nan\n" * 9, "column 'a' is empty"),
        (os.urandom(99_999), "not text"),
        (
            b",".join(b"c%d" % place for place in range(100_001))
            + b"\n"
            + b"1," * 100_000
            + b"1\n",
            "100001 columns",
        ),
    ],
    ids=["commas", "endless", "zero", "nan", "random", "wide"],
)
def test_text_that_is_no_table(content, message, tmp_path):
    (tmp_path / "a.csv").write_bytes(content)
    refused(tmp_path / "a.csv", message)


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".npy", ".npz", ".mat", ".h5ad", ".h5mu"])
def test_what_is_no_file_is_not_waited_for(ending, tmp_path):
    path = tmp_path / f"a{ending}"
    os.mkfifo(path)
    refused(path, "not a file that can be read twice")
    path.unlink()
    path.symlink_to(path)
    refused(path, "a link that leads nowhere")
    path.unlink()
    path.symlink_to("/dev/zero")
    refused(path, "not a file that can be read twice")
    path.unlink()
    path.touch()
    refused(path, "empty|cannot be read as its name says")
    refused(tmp_path / f"{'a' * 300}{ending}", "does not exist")


def test_lists_in_columns(tmp_path):
    pd.DataFrame({"x": [1.0, 2.0], "l": [[1], [2, 3]]}).to_parquet(tmp_path / "a.parquet")
    refused(tmp_path / "a.parquet", r"column 'l' holds list<.*leave it out with --ignore 'l'")
    (table,) = read(str(tmp_path / "a.parquet"), Reading(ignored=["l"]))
    assert table.shape == (2, 1)
    assert [part.key for part in contents(tmp_path / "a.parquet")] == ["x", "l"]


def test_words_of_matlab_are_labels(tmp_path):
    scipy.io.savemat(
        tmp_path / "y.mat", {"y": np.array(["a", "b", "a", ""], dtype=object), "z": np.eye(4)}
    )
    assert list(read_labels(f"{tmp_path / 'y.mat'}::y", Reading(), None, 4)) == ["a", "b", "a", ""]
    with pytest.raises(InputError, match="is not one label per sample"):
        read_labels(f"{tmp_path / 'y.mat'}::z", Reading(), None, 4)


def test_a_manifest_cannot_name_another_folder(tmp_path):
    (tmp_path / "trials" / "toy-abc").mkdir(parents=True)
    (tmp_path / "trials" / "toy-abc" / "00000.json").write_bytes(whole_trials()["00000.json"])
    manifest = tmp_path / "trials" / "toy.json"
    manifest.write_bytes(whole_trials()["toy.json"])
    assert len(Manifest(tmp_path).results()) == 3
    for content in (
        '{"folder": "../trials/toy-abc", "trials": 1}',
        '{"trials": 1}',
        "[]",
        "[" * 99_999,
        "",
        '{"a": 1',
    ):
        manifest.write_text(content)
        with pytest.raises(
            ValueError, match=r"toy\.json is damaged: run the study again, or remove it"
        ):
            Manifest(tmp_path).results()


def test_a_pipe_among_trials_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "settings.json")
    assert read_json(tmp_path / "settings.json") is None
