"""Bad files and options on the command line: a clear message, exit code 2 and no output."""

import re

import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse
from sklearn.metrics import adjusted_rand_score
from typer.testing import CliRunner

from tests.problems import two_subspaces
from viewspan._utils import memory
from viewspan.cli.app import app
from viewspan.cli.parameters import METHODS

VIEWS, LABELS = two_subspaces(size=10)
GOOD = VIEWS[0]
every_method = pytest.mark.parametrize("method", sorted(METHODS))


def cluster(*arguments):
    return CliRunner().invoke(app, ["cluster", *map(str, arguments), "--no-report", "--out", "out"])


def table(view, **columns):
    names = pd.Index([f"s{position:02d}" for position in range(len(view))], name="id")
    return pd.DataFrame(view, index=names).add_prefix("f").assign(**columns)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, view in zip("ab", VIEWS, strict=True):
        np.save(f"{name}.npy", view)
        table(view).to_csv(f"{name}.csv")
    return tmp_path


def with_value(value):
    view = VIEWS[1].copy()
    view[3, 2] = value
    return view


def as_csv(frame):
    return lambda path: frame.to_csv(path)


def as_npy(array):
    return lambda path: np.save(path, array, allow_pickle=array.dtype == object)


BAD_FILES = {
    "1 another number of samples": (
        "bad.npy",
        as_npy(VIEWS[1][:15]),
        r"a\.npy has 20, bad\.npy has 15",
    ),
    "5 NaN": ("bad.npy", as_npy(with_value(np.nan)), "bad contains NaN in 1 of its 240 values"),
    "5 an empty cell": ("bad.csv", as_csv(table(with_value(np.nan))), "bad"),
    "6 infinity": (
        "bad.npy",
        as_npy(with_value(np.inf)),
        "bad contains infinity in 1 of its 240 values",
    ),
    "7 no samples": ("bad.npy", as_npy(np.empty((0, 12))), "bad"),
    "8 no features": ("bad.npy", as_npy(np.empty((20, 0))), "bad"),
    "9 one sample": ("bad.npy", as_npy(GOOD[:1]), "bad"),
    "11 three dimensions": ("bad.npy", as_npy(np.zeros((20, 2, 2))), "bad"),
    "12 complex": ("bad.npy", as_npy(VIEWS[1] + 1j), "bad.*omplex"),
    "14 objects": ("bad.npy", as_npy(np.array([[{}]] * 20)), r"bad\.npy"),
    "15 texts": ("bad.csv", as_csv(table(VIEWS[1], sex="f")), "bad.*'sex'.*text"),
    "18 dates": ("bad.npy", as_npy(VIEWS[1].astype("datetime64[s]")), "bad.*date"),
    "40 a file that does not exist": ("bad.csv", lambda path: None, r"bad\.csv"),
    "40 an empty file": ("bad.csv", lambda path: path.write_bytes(b""), r"bad\.csv"),
    "40 another kind of file": ("bad.pdf", lambda path: path.write_bytes(b"%PDF"), r"bad\.pdf"),
    "40 a truncated file": (
        "bad.npy",
        lambda path: path.write_bytes(b"\x93NUMPY\x01\x00"),
        r"bad\.npy",
    ),
    "40 a pickle": ("bad.npy", as_npy(np.array([[print]], dtype=object)), r"bad\.npy"),
}


@pytest.mark.parametrize(("name", "write", "message"), BAD_FILES.values(), ids=BAD_FILES.keys())
def test_bad_files(name, write, message, folder):
    write(folder / name)
    ids = ["--id", "id"] if name.endswith(".csv") else []
    first = "a.csv" if ids else "a.npy"
    result = cluster(first, name, *ids, "-k", 2)
    assert result.exit_code == 2, result.output
    check_message(result, message)
    assert not (folder / "out").exists()


def check_message(result, message):
    lines = [line for line in result.stderr.strip().splitlines() if line.strip()]
    assert "Traceback" not in result.output
    assert re.search(message, " ".join(lines)), result.stderr
    assert len(lines) <= 4, result.stderr


BAD_OPTIONS = {
    "26": (["-k", 21], "n_clusters=21 must not exceed .*n_samples=20"),
    "27 zero": (["-k", 0], "0"),
    "27 negative": (["-k", -1], "-1"),
    "27 text": (["-k", "three"], "three"),
    "27 a fraction": (["-k", "3.0"], "3.0"),
    "37 lam negative": (["-k", 2, "--lam", -1], "lam.*-1"),
    "37 lam NaN": (["-k", 2, "--lam", "nan"], "lam.*nan"),
    "37 lam text": (["-k", 2, "--lam", "much"], "lam.*much"),
    "37 tol": (["-k", 2, "--tol", 0], "tol.*0"),
    "38 max_iter": (["-k", 2, "--max-iter", 0], "max.iter.*0"),
    "39 random_state": (["-k", 2, "--seed", "a"], "seed.*a"),
}


@every_method
@pytest.mark.parametrize(("options", "message"), BAD_OPTIONS.values(), ids=BAD_OPTIONS.keys())
def test_bad_options(method, options, message, folder):
    result = cluster("a.npy", "b.npy", "--method", method, *options)
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output
    assert re.search(message, " ".join(result.stderr.split())), result.stderr
    assert not (folder / "out").exists()


ACCEPTED = {
    "16 sparse": lambda: scipy.io.savemat("s.mat", {"X": scipy.sparse.csc_matrix(VIEWS[1])}),
    "17 float16": lambda: np.save("s.npy", VIEWS[1].astype(np.float16)),
    "17 integers": lambda: np.save("s.npy", np.rint(1e4 * VIEWS[1]).astype(int)),
    "22 Fortran order": lambda: np.save("s.npy", np.asfortranarray(VIEWS[1])),
    "22 byte-swapped": lambda: np.save("s.npy", VIEWS[1].astype(">f8")),
    "31 a constant feature": lambda: np.save("s.npy", np.column_stack([VIEWS[1], np.ones(20)])),
    "33 tiny": lambda: np.save("s.npy", 1e-300 * VIEWS[1]),
    "33 huge": lambda: np.save("s.npy", 1e300 * VIEWS[1] / np.abs(VIEWS[1]).max()),
    "34 other scales": lambda: np.save("s.npy", 1e12 * VIEWS[1]),
}


@every_method
@pytest.mark.parametrize("write", ACCEPTED.values(), ids=ACCEPTED.keys())
def test_accepted(method, write, folder):
    write()
    [name] = [path.name for path in folder.glob("s.*")]
    result = cluster("a.npy", name, "-k", 2, "--method", method, "--seed", 0)
    assert result.exit_code == 0, result.output
    assert adjusted_rand_score(LABELS, pd.read_csv("out/labels.csv")["label"]) == 1.0


def test_23_tables_in_another_order_are_matched_by_id(folder):
    table(VIEWS[1]).iloc[::-1].to_csv("b.csv")
    result = cluster("a.csv", "b.csv", "--id", "id", "-k", 2, "--seed", 0)
    assert result.exit_code == 0, result.output
    found = pd.read_csv("out/labels.csv").set_index("id").loc[table(GOOD).index, "label"]
    assert adjusted_rand_score(LABELS, found) == 1.0


def test_29_one_cluster(folder):
    assert cluster("a.npy", "b.npy", "-k", 1).exit_code == 0
    assert not pd.read_csv("out/labels.csv")["label"].any()


def test_32_zero_views(folder):
    np.save("zero.npy", np.zeros((20, 3)))
    result = cluster("a.npy", "zero.npy", "-k", 2, "--seed", 0)
    assert result.exit_code == 0, result.output
    assert "zero is all zeros and is ignored" in " ".join(result.stderr.split())
    assert adjusted_rand_score(LABELS, pd.read_csv("out/labels.csv")["label"]) == 1.0


def test_32_all_views_are_zero(folder):
    np.save("zero.npy", np.zeros((20, 3)))
    result = cluster("zero.npy", "-k", 2)
    assert result.exit_code == 2, result.output
    assert "Every value of every view is zero" in " ".join(result.stderr.split())
    assert not (folder / "out").exists()


def test_35_a_lam_that_leaves_no_graph(folder):
    result = cluster("a.npy", "b.npy", "-k", 2, "--lam", 1e9)
    assert result.exit_code == 2, result.output
    assert "too large" in " ".join(result.stderr.split())
    assert not (folder / "out").exists()


def test_39_predict_with_other_features(folder):
    assert cluster("a.npy", "b.npy", "-k", 2).exit_code == 0
    np.save("narrow.npy", VIEWS[1][:, :11])
    result = CliRunner().invoke(
        app, ["predict", "out/model", "a.npy", "narrow.npy", "--out", "new.csv"]
    )
    assert result.exit_code == 2, result.output
    assert re.search("11 features.* 12 ", " ".join(result.stderr.split()))
    assert not (folder / "new.csv").exists()


def test_40_a_fit_that_exceeds_the_memory(folder, monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 1000)
    result = cluster("a.npy", "b.npy", "-k", 2, "--graph", "dense")
    assert result.exit_code != 0
    assert "Traceback" not in result.output
    assert "would need about" in " ".join(result.stderr.split())
    assert not (folder / "out").exists()
