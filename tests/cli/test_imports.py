"""Help, and mistakes that need no data, are shown before scientific packages are imported."""

import json
import subprocess
import sys

import numpy as np
import pytest

from tests.cli.running import two_views

SCIENTIFIC = [
    "numpy",
    "scipy",
    "sklearn",
    "pandas",
    "pyarrow",
    "matplotlib",
    "joblib",
    "threadpoolctl",
    "psutil",
]
COMMANDS = ("cluster", "predict", "info", "demo", "reproduce")

COMMAND = """
import atexit, json, sys
atexit.register(lambda: print(json.dumps(list(sys.modules))))
from viewspan.cli.main import main
sys.argv[0] = "viewspan"
main()
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    two_views(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "300")
    (tmp_path / "used").mkdir()
    (tmp_path / "used/labels.csv").write_text("mine")
    (tmp_path / "new.csv").write_text("mine")
    (tmp_path / "text.csv").write_text("id,x,y\na,1,red\nb,2,blue\n")
    np.savez(tmp_path / "model", a=np.ones(3))  # a zip file, as models are
    (tmp_path / "model.npz").rename(tmp_path / "model")
    return tmp_path


def run_in_new_process(*arguments):
    """Run a command, and return the process and the scientific packages that it imported."""
    result = subprocess.run(
        [sys.executable, "-c", COMMAND, *arguments], capture_output=True, text=True, check=False
    )
    assert "Traceback" not in result.stderr
    modules = set(json.loads(result.stdout.splitlines()[-1]))
    return result, [name for name in SCIENTIFIC if name in modules]


@pytest.mark.parametrize(
    "arguments",
    [(), ("--help",), ("--version",), *((command, "--help") for command in COMMANDS)],
    ids=" ".join,
)
def test_help_imports_no_scientific_package(arguments):
    result, imported = run_in_new_process(*arguments)
    assert result.returncode == (0 if arguments else 2)
    assert "viewspan" in result.stdout
    assert imported == []


CLUSTER = "cluster a.npy b.npy -k 3 -o out"
MISTAKES = {
    "clutser": "No such command 'clutser'",
    "cluster a.npy": "Missing option '--out'",
    "cluster -o out": "Missing argument",
    f"{CLUSTER} --nope": "No such option: --nope",
    f"{CLUSTER} --seed -1": "'--seed'",
    f"{CLUSTER} --method svm": "'svm' is not one of",
    f"{CLUSTER} -k 0": "--n-clusters must be a whole number from 1, or auto. Got '0' instead.",
    f"{CLUSTER} --tol 0": "--tol must be a number above 0. Got 0.0 instead.",
    f"{CLUSTER} --max-iter 0": "--max-iter must be a whole number from 1. Got 0 instead.",
    f"{CLUSTER} --lam -1": "--lam must be auto, or numbers of at least 0",
    f"{CLUSTER} --tau 1,2": "--tau must be auto or one number",
    f"{CLUSTER} --affine maybe": "--affine must be auto, yes or no. Got 'maybe' instead.",
    f"{CLUSTER} --penalty l3": "--penalty must be nuclear or l1. Got 'l3' instead.",
    f"{CLUSTER} --method lrr --solver ladmpsap": "--method lrr must be admm or ladmap. Got 'ladmps",
    f"{CLUSTER} --method ssc --tau 1": "--tau is not an option of --method ssc, only of clrsc,",
    f"{CLUSTER} --decimal ;": "--decimal must be '.' or ','. Got ';' instead.",
    f"{CLUSTER} --image-shape 4by4": "--image-shape must be like 8x8",
    f"{CLUSTER} --labels truth.csv": "truth.csv does not exist.",
    "cluster aa.npy -o out": "aa.npy does not exist. Did you mean a.npy?",
    "cluster a.pdf -o out": "a.pdf does not exist.",
    "cluster model -o out": "model has none of the supported extensions: .csv, .tsv",
    "cluster used -o out": "used is a folder; give a file.",
    "cluster a.npy:: -o out": "a.npy:: has no key after ::",
    "cluster a.npy -o used": "used already contains labels.csv; choose another --out",
    "cluster a.npy -o used --force": "used/labels.csv was not written by viewspan",
    "cluster a.npy -o a.npy/out": "a.npy is a file, but --out needs a folder.",
    "predict nothing a.npy": "nothing is not a model; give the file FOLDER/model",
    "predict a.npy b.npy": "a.npy is not a model that viewspan saved; give the file FOLDER/model",
    "predict model c.npy": "c.npy does not exist.",
    "predict model a.npy -o new.csv": "new.csv already exists; choose another --out, or add",
    "predict model a.npy -o used": "used is a folder, but --out needs a file.",
    "predict model a.npy -o a.npy/new.csv": "a.npy is a file, but --out needs a folder.",
    "info c.npy": "c.npy does not exist.",
    "demo -o used": "used already contains labels.csv",
    "reproduce everything -o out": "'everything' is not one of",
    "reproduce all -o a.npy": "a.npy is a file, but --out needs a folder.",
    "reproduce all -o out --trials 0": "'--trials'",
    "reproduce all -o out --jobs 0": "--jobs must be a whole number other than 0.",
}


@pytest.mark.parametrize("line", MISTAKES)
def test_a_mistake_is_reported_before_scientific_packages_are_imported(line, folder):
    before = set(folder.rglob("*"))
    result, imported = run_in_new_process(*line.split())
    assert result.returncode == 2
    assert MISTAKES[line] in result.stderr
    assert imported == []
    assert set(folder.rglob("*")) == before


LATER_MISTAKES = {
    f"{CLUSTER} --coupling rank_one --datafit l1": "'l1' is not quadratic",
    f"{CLUSTER} --graph landmarks --penalty l1": "take graph='dense' or 'auto'",
    "cluster text.csv --id id -o out": "text.csv: column 'y' holds text",
    "cluster a.npy -o out --id who": "there is no column 'who' for --id",
    "cluster a.npy -o out --image-shape 4x4": "needs a view with 16 columns: a.npy has 9.",
    "info text.csv.gz": "text.csv.gz does not exist. Did you mean text.csv?",
}
"""Mistakes that need numpy, and pandas for tables, but neither the estimators nor plots."""


@pytest.mark.parametrize("line", LATER_MISTAKES)
def test_a_mistake_in_a_file_is_reported_before_the_estimators_are_imported(line, folder):
    result, imported = run_in_new_process(*line.split())
    assert result.returncode == 2
    assert LATER_MISTAKES[line] in result.stderr
    assert not {"sklearn", "matplotlib"} & set(imported)
    assert not (folder / "out").exists()


FIT = """
import sys
import viewspan
assert not {"numpy", "scipy", "sklearn"} & set(sys.modules)
import sklearn.cluster, sklearn.utils.fixes  # scikit-learn imports pandas if it is installed
before = set(sys.modules)
from viewspan import CLRSC
from viewspan.datasets import make_subspaces
CLRSC(5).fit(make_subspaces(noise=0.1)[0])
print(sorted({"jinja2", "matplotlib", "pandas", "pyarrow", "typer"} & (set(sys.modules) - before)))
"""


def test_a_fit_imports_neither_tables_nor_plots():
    result = subprocess.run([sys.executable, "-c", FIT], capture_output=True, text=True)
    assert (result.stdout, result.stderr) == ("[]\n", "")


def test_a_run_without_a_report_does_not_import_matplotlib(folder):
    result, imported = run_in_new_process(*CLUSTER.split(), "--no-report")
    assert result.returncode == 0, result.stderr
    assert "sklearn" in imported and "matplotlib" not in imported
