"""Untrusted files: nothing is executed, no other file is read, memory and time are limited."""

import gzip
import io
import os
import random
import struct
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse

from tests.untrusted_files import LOADERS, VALUES, valid_trials
from viewspan._utils import memory
from viewspan.io.readers import limits, matlab
from viewspan.io.readers.labels import read_labels
from viewspan.io.readers.read import contents, read
from viewspan.io.readers.table import InputError, Reading
from viewspan.studies.manifest import Manifest
from viewspan.studies.store import read_json

SEEDS = Path(__file__).parents[2] / "seeds"
N_DAMAGED = {"mat": 8, "labels": 40, "mat73": 4, "h5ad": 4, "h5mu": 4}
"""Number of damaged files for readers that start a child process, which takes time."""


def assert_refused(path, message, key=""):
    """Check that reading the file raises InputError with one sentence that names the file."""
    with pytest.raises(InputError, match=message) as caught:
        read(f"{path}{key}", Reading())
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


def cell_of(value):
    cell = np.empty((1, 1), dtype=object)
    cell[0, 0] = value
    return cell


def header(shape, kind="<f8"):
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        buffer, {"descr": kind, "fortran_order": False, "shape": shape}
    )
    return buffer.getvalue()


@pytest.fixture
def small_limit(monkeypatch):
    """Limit files to a megabyte of memory, so that the tests can use small files."""
    monkeypatch.setattr(limits, "MIN_MEMORY_LIMIT", 1_000_000)
    monkeypatch.setattr(limits, "MAX_EXPANSION", 100)


@pytest.mark.parametrize("name", LOADERS)
def test_damaged_files_are_read_or_refused_with_one_sentence(name, tmp_path):
    """Damage valid files, in the same way in every run. ``benchmarks/fuzz.py`` tries more."""
    loader, rng = LOADERS[name], random.Random(7)
    (tmp_path / "valid").mkdir()
    files = sorted(loader.files(tmp_path / "valid").items())
    assert any(loader.outcome(tmp_path / "valid" / name) == "read" for name, _ in files)
    for _ in range(N_DAMAGED.get(name, 250)):
        file_name, content = rng.choice(files)
        path = tmp_path / file_name
        path.write_bytes(loader.damaged(file_name, content, rng))
        assert loader.outcome(path)


@pytest.mark.parametrize(
    "seed", [path.relative_to(SEEDS) for path in sorted(SEEDS.glob("*/*"))], ids=str
)
def test_files_that_caused_a_defect(seed, tmp_path):
    """Each file once caused a crash, a hang, or an error without a clear sentence."""
    path = tmp_path / seed.name
    path.write_bytes((SEEDS / seed).read_bytes())
    assert LOADERS[seed.parent.name].outcome(path)


def test_arrays_longer_than_their_file_raise(tmp_path):
    for shape in [(10**12, 3), (2**32, 2**32), (5, 3)]:
        (tmp_path / "a.npy").write_bytes(header(shape) + bytes(100))
        assert_refused(tmp_path / "a.npy", "truncated or damaged: its array should have")


def test_decompression_bombs_raise(tmp_path, small_limit):
    np.savez_compressed(tmp_path / "a.npz", X=np.zeros((1000, 1000)))
    assert_refused(
        tmp_path / "a.npz", r"would need 8\.0 MB of memory, which is more than 100 times its size"
    )
    assert [part.shape for part in contents(tmp_path / "a.npz")] == [(1000, 1000)]
    with zipfile.ZipFile(tmp_path / "head.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", b"\x93NUMPY\x02\x00" + struct.pack("<I", 10**7) + b" " * 10**7)
    assert_refused(tmp_path / "head.npz", "the header of its array is longer")
    scipy.io.savemat(tmp_path / "a.mat", {"X": np.zeros((1000, 1000))}, do_compression=True)
    assert_refused(tmp_path / "a.mat", "more than 100 times its size", "::X")
    with gzip.open(tmp_path / "a.csv.gz", "wb") as file:
        file.write(b"a,b\n" + b"1,2\n" * 500_000)
    assert_refused(tmp_path / "a.csv.gz", "more than 100 times its size")


def test_small_files_that_expand_to_large_tables_raise(tmp_path, small_limit):
    """Short lines are filled up, Parquet stores a text once, sparse files store no empty rows."""
    (tmp_path / "a.csv").write_text(
        ",".join(f"c{place}" for place in range(9000)) + "\n" + "1\n" * 900
    )
    assert_refused(tmp_path / "a.csv", "more than 100 times its size")
    pd.DataFrame({"x": np.zeros(10**6)}).to_parquet(tmp_path / "a.parquet")
    assert_refused(tmp_path / "a.parquet", "more than 100 times its size")
    pd.DataFrame({"x": np.arange(900.0), "w": ["w" * 10_000] * 900}).to_parquet(
        tmp_path / "b.parquet"
    )
    assert_refused(tmp_path / "b.parquet", "more than 100 times its size")
    np.savez(tmp_path / "a.npz", data=[1.0], row=[0], col=[0], shape=[10**11, 3], format=b"coo")
    assert_refused(tmp_path / "a.npz", "more than 100 times its size")


def test_files_may_use_half_of_the_free_memory(tmp_path, monkeypatch):
    np.savez(tmp_path / "a.npz", X=VALUES)
    np.save(tmp_path / "a.npy", VALUES)
    monkeypatch.setattr(memory, "available", lambda: 2 * VALUES.nbytes)
    assert read(str(tmp_path / "a.npz"), Reading())
    monkeypatch.setattr(memory, "available", lambda: 2 * VALUES.nbytes - 2)
    assert_refused(
        tmp_path / "a.npz", r"may use at most half of the .* that are free; save the data as \.npy"
    )
    assert read(str(tmp_path / "a.npy"), Reading())  # stays on disk


@pytest.mark.parametrize("name", ["../X.npy", "/X.npy", "a/../../X.npy", "..\\X.npy"])
def test_archive_members_outside_of_the_archive_raise(name, tmp_path):
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr(name, header((1, 1)) + bytes(8))
    assert_refused(tmp_path / "a.npz", "points outside of the file")


def test_other_compression_methods_and_too_many_arrays_raise(tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("X.npy", header((1, 1)) + bytes(8))
    assert_refused(tmp_path / "a.npz", "has a compression method that NumPy does not use")
    monkeypatch.setattr(limits, "MAX_ARRAYS", 2)
    np.savez(tmp_path / "b.npz", a=VALUES, b=VALUES, c=VALUES)
    assert_refused(tmp_path / "b.npz", "holds 3 arrays")


@pytest.mark.parametrize("kind", ["csr", "csc", "bsr"])
def test_sparse_indices_out_of_range_raise(kind, tmp_path):
    """scipy would read or write outside of its arrays."""
    matrix = scipy.sparse.csr_array(VALUES).asformat(kind)
    parts = {"data": matrix.data, "shape": matrix.shape, "format": kind.encode()}
    for change in [
        {"indices": matrix.indices + 9},
        {"indices": matrix.indices - 9},
        {"indptr": matrix.indptr[::-1]},
    ]:
        np.savez(
            tmp_path / "a.npz",
            **({"indices": matrix.indices, "indptr": matrix.indptr} | parts | change),
        )
        assert_refused(tmp_path / "a.npz", "indices out of range|index pointer")
    np.savez(tmp_path / "b.npz", data=VALUES, offsets=[2**40, 0, 1, 2], shape=[4, 3], format=b"dia")
    assert_refused(tmp_path / "b.npz", "indices out of range")


@pytest.mark.parametrize("options", [{}, {"do_compression": True}, {"format": "4"}])
def test_matlab_values_are_those_of_scipy(options, tmp_path):
    path = tmp_path / "a.mat"
    content = {
        "names": np.array(["ab", "c", "déf"]),
        "text": "héllo",
        "empty": np.zeros((0, 3)),
        "complex": np.eye(2) * 1j,
        "sparse": scipy.sparse.csc_array(VALUES),
    }
    if "format" not in options:
        content |= {
            "cell": np.array(["a", "bc", ""], dtype=object),
            "three_dimensions": np.arange(24, dtype=">i2").reshape(2, 3, 4),
            "boolean": np.eye(3) > 0,
        }
    scipy.io.savemat(path, content, **options)
    expected = scipy.io.loadmat(path)
    assert [part.key for part in contents(path)] == list(content)
    for key in content if options == {"do_compression": True} else ["names", "sparse"]:
        _, found = matlab.load(path, key)
        assert found.dtype == expected[key].dtype and found.shape == expected[key].shape
        assert as_list(found) == as_list(expected[key])


def as_list(values):
    if scipy.sparse.issparse(values):
        return values.toarray().tolist()
    if values.dtype == object:
        return [(str(cell.dtype), cell.tolist()) for cell in values.ravel()]
    return values.tolist()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"a": VALUES}, "has the MATLAB class 'struct', but a view must hold real numbers"),
        (cell_of({"a": VALUES}), "holds more than matrices and text in 'X'"),
        (cell_of(cell_of(VALUES)), "holds more than matrices and text in 'X'"),
        (cell_of("text"), r"X\{1\} holds text, but a view must hold real numbers"),
        ("text", "holds text, but a view must hold real numbers"),
        (1j * VALUES, "holds complex numbers, but a view must hold real numbers"),
    ],
    ids=["struct", "struct in a cell", "nested cells", "text in a cell", "text", "complex"],
)
def test_matlab_variables_that_are_not_matrices_raise(value, message, tmp_path):
    scipy.io.savemat(tmp_path / "a.mat", {"X": value})
    assert_refused(tmp_path / "a.mat", message, "::X")


def test_damaged_matlab_variables_raise(tmp_path):
    scipy.io.savemat(tmp_path / "a.mat", {"X": VALUES})
    content = (tmp_path / "a.mat").read_bytes()
    (tmp_path / "b.mat").write_bytes(
        content.replace(struct.pack("<2i", 4, 3), struct.pack("<2i", 2**30, 2**30))
    )
    assert_refused(tmp_path / "b.mat", "more than 1000 times its size", "::X")
    (tmp_path / "c.mat").write_bytes(content[:-8])
    assert_refused(tmp_path / "c.mat", "cannot be read as a .mat file", "::X")
    wrong_size = struct.pack("<II", 9, 2**31)
    (tmp_path / "d.mat").write_bytes(content.replace(struct.pack("<II", 9, 96), wrong_size))
    assert_refused(tmp_path / "d.mat", "cannot be read as a .mat file|needs more memory", "::X")
    scipy.io.savemat(tmp_path / "e.mat", {"X": VALUES}, format="4")
    unknown_type = struct.pack("<i", 90) + (tmp_path / "e.mat").read_bytes()[4:]
    (tmp_path / "e.mat").write_bytes(unknown_type)
    assert_refused(tmp_path / "e.mat", r"as a \.mat file: unexpected value 9\.", "::X")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b"a,b\n" + b"1,2\n" * 10 + b"," * (2**24 + 2**21),
            "a line of more than 16777216 characters",
        ),
        (b"1" * (2**24 + 1), "a line of more than 16777216 characters"),
        (b"a,b\n" + b"1,2\n" * 100 + b"\x00", "is not a text file"),
        (b"a,b\n" + b"nan,nan\n" * 9, "column 'a' is empty"),
        (os.urandom(99_999), "not a text file|not text in UTF-8"),
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
def test_invalid_text_files_raise(content, message, tmp_path):
    (tmp_path / "a.csv").write_bytes(content)
    assert_refused(tmp_path / "a.csv", message)


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".npy", ".npz", ".mat", ".h5ad", ".h5mu"])
def test_pipes_links_and_devices_raise(ending, tmp_path):
    path = tmp_path / f"a{ending}"
    os.mkfifo(path)
    assert_refused(path, "is not a regular file")
    path.unlink()
    path.symlink_to(path)
    assert_refused(path, "is a broken symbolic link")
    path.unlink()
    path.symlink_to("/dev/zero")
    assert_refused(path, "is not a regular file")
    path.unlink()
    path.touch()
    assert_refused(path, "empty|cannot be read as a")
    assert_refused(tmp_path / f"{'a' * 300}{ending}", "does not exist")


def test_nested_parquet_columns_raise(tmp_path):
    pd.DataFrame({"x": [1.0, 2.0], "l": [[1], [2, 3]]}).to_parquet(tmp_path / "a.parquet")
    assert_refused(
        tmp_path / "a.parquet", r"column 'l' holds list<.*leave it out with --ignore 'l'"
    )
    (table,) = read(str(tmp_path / "a.parquet"), Reading(ignored=["l"]))
    assert table.shape == (2, 1)
    assert [part.key for part in contents(tmp_path / "a.parquet")] == ["x", "l"]


def test_matlab_cells_of_text_are_labels(tmp_path):
    scipy.io.savemat(
        tmp_path / "y.mat", {"y": np.array(["a", "b", "a", ""], dtype=object), "z": np.eye(4)}
    )
    assert list(read_labels(f"{tmp_path / 'y.mat'}::y", Reading(), None, 4)) == ["a", "b", "a", ""]
    with pytest.raises(InputError, match="does not hold one label per sample"):
        read_labels(f"{tmp_path / 'y.mat'}::z", Reading(), None, 4)


def test_manifests_cannot_name_another_folder(tmp_path):
    (tmp_path / "trials" / "toy-abc").mkdir(parents=True)
    (tmp_path / "trials" / "toy-abc" / "00000.json").write_bytes(valid_trials()["00000.json"])
    manifest = tmp_path / "trials" / "toy.json"
    manifest.write_bytes(valid_trials()["toy.json"])
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


def test_pipes_among_trials_are_not_read(tmp_path):
    os.mkfifo(tmp_path / "settings.json")
    assert read_json(tmp_path / "settings.json") is None
