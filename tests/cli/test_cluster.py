"""From people's files to labels, a model, a report and a record; and what is said when something is wrong."""

import io
import json

import numpy as np
import pandas as pd
import pytest
import scipy.io
from rich.console import Console
from sklearn.metrics import adjusted_rand_score
from typer.testing import CliRunner

import viewspan
from tests.problems import many_subspaces
from viewspan.cli import terminal
from viewspan.cli.app import app
from viewspan.cli.options import METHODS

WRITTEN = {"labels.csv", "model", "report.html", "run.json"}


def run(*arguments, report=False):
    """The report takes seconds, and few tests look at it."""
    words = [str(argument) for argument in arguments]
    if words[0] == "cluster" and not report:
        words.append("--no-report")
    return CliRunner().invoke(app, words)


@pytest.fixture(scope="module")
def samples():
    return many_subspaces(150)


@pytest.fixture
def folder(samples, tmp_path, monkeypatch):
    """Two tables with ids, each in an order of its own; and the same as arrays."""
    views, labels = samples
    ids = [f"s{position:03d}" for position in range(len(labels))]
    for seed, (name, view) in enumerate(zip("ab", views, strict=True)):
        order = np.random.default_rng(seed).permutation(len(ids))
        frame = pd.DataFrame(view, index=pd.Index(ids, name="who")).add_prefix("f").iloc[order]
        frame.to_csv(tmp_path / f"{name}.csv")
        np.save(tmp_path / f"{name}.npy", view)
    scipy.io.savemat(tmp_path / "both.mat", {"A": views[0], "B": views[1].T, "truth": labels})
    pd.DataFrame({"who": ids, "kind": [f"kind {label}" for label in labels]}).to_csv(
        tmp_path / "truth.csv", index=False
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def agreement(table, labels):
    rows = table["id"].astype(str).str.removeprefix("s").astype(int)
    return adjusted_rand_score(np.asarray(labels)[rows], table["label"])


def test_tables_are_matched_by_id_and_everything_is_written(folder, samples):
    result = run(
        "cluster",
        "a.csv",
        "b.csv",
        "--id",
        "who",
        "--n-clusters",
        5,
        "--out",
        "out",
        "--labels",
        "truth.csv",
        report=True,
    )
    assert result.exit_code == 0, result.output
    assert {path.name for path in (folder / "out").iterdir()} == WRITTEN
    assert {line.removeprefix("out/") for line in result.stdout.split()} == WRITTEN
    table = pd.read_csv(folder / "out/labels.csv")
    assert list(table.columns) == ["id", "label", "confidence"] and len(table) == 150
    assert agreement(table, samples[1]) > 0.99
    assert table["confidence"].between(0, 1).all()
    record = json.loads((folder / "out/run.json").read_text())
    assert record["certificate"]["relative_gap"] <= record["certificate"]["tolerance"] == 1e-4
    assert record["certificate"]["lower_bound"] <= record["certificate"]["objective"]
    assert record["scores"]["accuracy"] == pytest.approx(100.0, abs=0.7)
    assert record["versions"]["viewspan"] == viewspan.__version__
    assert (
        record["parameters"]["n_clusters"] == 5
        and record["samples"] == sum(record["clusters"]) == 150
    )
    assert [view["name"] for view in record["views"]] == ["a", "b"]
    assert set(record["seconds"]) == {"reading", "clustering", "drawing"}


def test_the_same_as_in_python(folder, samples):
    run(
        "cluster",
        "a.npy",
        "b.npy",
        "-k",
        5,
        "-o",
        "out",
        "--tau",
        3,
        "--lam",
        "0.3,0.4",
        "--seed",
        7,
    )
    expected = viewspan.CLRSC(5, lam=[0.3, 0.4], tau=3, random_state=7).fit(samples[0])
    table = pd.read_csv(folder / "out/labels.csv")
    np.testing.assert_array_equal(table["label"], expected.labels_)
    np.testing.assert_allclose(table["confidence"], expected.confidence_, atol=5e-5)
    assert list(table["id"]) == list(range(150))


def test_kinds_of_files_may_be_mixed(folder, samples):
    result = run(
        "cluster",
        "a.npy",
        "first=both.mat::A",
        "both.mat::B.T",
        "-k",
        5,
        "-o",
        "out",
        "--labels",
        "both.mat::truth",
    )
    assert result.exit_code == 0, result.output
    assert json.loads((folder / "out/run.json").read_text())["scores"]["accuracy"] > 99
    assert [
        view["name"] for view in json.loads((folder / "out/run.json").read_text())["views"]
    ] == [
        "a",
        "first",
        "both::B",
    ]


@pytest.mark.parametrize("method", METHODS)
def test_every_method(method, folder):
    options = ["--tol", "0.1", "--max-iter", "30"] if method != "lrr" else []
    result = run("cluster", "a.npy", "b.npy", "-k", 5, "-o", "out", "--method", method, *options)
    assert result.exit_code == 0, result.output
    assert json.loads((folder / "out/run.json").read_text())["method"] == METHODS[method].__name__


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--method", "lrr", "--fusion", "concat"),
        ("--coupling", "rank_one"),
        ("--labels", "truth.csv::kind"),
    ],
)
def test_one_screen_of_what_was_found(options, folder, monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr(
        terminal, "Words", lambda: Console(file=screen, force_terminal=True, width=100)
    )
    result = run("cluster", "a.npy", "b.npy", "-k", 5, "-o", "out", *options)
    assert result.exit_code == 0, result.output + screen.getvalue()
    shown = screen.getvalue()
    for words in (
        "150 samples, 2 views, 5 clusters",
        "shows the clusters",
        "comparing",
        "of 150 samples have less",
    ):
        assert words in shown
    assert ("accuracy" in shown) == ("--labels" in options)


def test_the_number_of_clusters_is_found(folder, samples):
    assert run("cluster", "a.npy", "b.npy", "--n-clusters", "auto", "-o", "out").exit_code == 0
    assert pd.read_csv(folder / "out/labels.csv")["label"].nunique() == 5


def test_every_parameter_is_an_option():
    help_text = run("cluster", "--help").output
    parameters = {name for method in METHODS.values() for name in method().get_params()}
    for name in parameters - {"random_state", "callback"}:
        assert f"--{name.replace('_', '-')}"[:18] in help_text, name


def test_ids_that_some_files_lack(folder):
    lines = (folder / "b.csv").read_text().splitlines()
    lost = lines.pop().split(",")[0]
    (folder / "b.csv").write_text("\n".join(lines) + "\n")
    arguments = ("cluster", "a.csv", "b.csv", "--id", "who", "-k", 5, "-o", "out")
    result = run(*arguments)
    assert result.exit_code == 2
    assert f"1 of 150 ids are not in every file: b.csv has no {lost}." in result.stderr
    result = run(*arguments, "--missing", "drop")
    assert (
        result.exit_code == 0
        and f"Left out: 1 of 150 ids are not in every file: b.csv has no {lost}." in result.stderr
    )
    assert len(pd.read_csv(folder / "out/labels.csv")) == 149
    assert run(*arguments, "--missing", "allow", "--force").exit_code == 0
    assert lost in set(pd.read_csv(folder / "out/labels.csv")["id"])


def text_column(folder):
    frame = pd.read_csv(folder / "b.csv")
    frame.assign(note="good").to_csv(folder / "b.csv", index=False)


WRONG = {
    "a wrong file name": (None, ["a.csv", "bb.csv"], "bb.csv does not exist. Did you mean b.csv?"),
    "a wrong key": (
        None,
        ["a.csv", "both.mat::C"],
        "both.mat has no 'C'; it holds A (150 × 20), B (20 × 150)",
    ),
    "unequal counts": (
        lambda folder: np.save(folder / "b.npy", np.ones((7, 2))),
        ["a.npy", "b.npy"],
        "a.npy has 150, b.npy has 7 rows",
    ),
    "a text column": (text_column, ["a.csv", "b.csv"], "b.csv: column 'note' holds text ('good')"),
    "an id that is missing": (
        None,
        ["a.csv", "b.csv", "--id", "whom"],
        "a.csv has no column 'whom'",
    ),
    "gaps": (
        lambda folder: np.save(folder / "b.npy", np.full((150, 2), np.nan)),
        ["a.npy", "b.npy"],
        "b contains NaN in 300 of its 300 values",
    ),
    "a gap": (
        lambda folder: (folder / "b.csv").write_text("who,x,y\ns000,1,2\ns001,,3\n"),
        ["a.csv", "b.csv"],
        "b.csv: column 'x' has no value in row 2; fill them in",
    ),
    "no such column to ignore": (
        None,
        ["a.csv", "b.csv", "--ignore", "f99"],
        "No file has a column 'f99' for --ignore",
    ),
    "ids of arrays": (None, ["a.npy", "--id", "who"], "there is no 'who' for --id"),
    "a label among the features": (
        lambda folder: pd.read_csv(folder / "a.csv").to_csv(folder / "a.csv", index=False),
        ["a.csv", "--labels", "a.csv::f3"],
        "a.csv::f3 is also a feature of a.csv; leave it out of the view with --ignore 'f3'",
    ),
    "a decimal sign": (None, ["a.npy", "--decimal", ";"], "--decimal must be '.' or ','"),
    "too many clusters": (None, ["a.npy", "-k", 151], "n_clusters=151 must not exceed"),
    "no number": (
        None,
        ["a.npy", "-k", "five"],
        "--n-clusters must be a whole number from 1, or auto. Got 'five'",
    ),
    "a parameter out of range": (
        None,
        ["a.npy", "--tol", "-1"],
        "The 'tol' parameter of CLRSC must be",
    ),
    "a parameter of another method": (
        None,
        ["a.npy", "--method", "lrr", "--tau", "1"],
        "--tau is not an option of",
    ),
    "a word for a weight": (None, ["a.npy", "--lam", "much"], "--lam must be auto, or numbers"),
    "a picture's shape": (
        None,
        ["a.npy", "--image-shape", "4by4"],
        "--image-shape must be like 8x8",
    ),
    "no such pictures": (
        None,
        ["a.npy", "--image-shape", "9x9"],
        "needs 81 columns in a view: a.npy has 20",
    ),
    "labels of others": (None, ["a.npy", "--labels", "b.npy"], "is not one label per sample"),
    "no such labels": (None, ["a.npy", "--labels", "both.mat::Y"], "both.mat has no 'Y'"),
    "which labels": (None, ["a.npy", "--labels", "truth.csv"], "say which with truth.csv::COLUMN"),
}


@pytest.mark.parametrize("case", WRONG)
def test_one_sentence_exit_code_two_and_nothing_written(case, folder):
    spoil, arguments, message = WRONG[case]
    if spoil:
        spoil(folder)
    if "-k" not in arguments:
        arguments = [*arguments, "-k", 5]
    if any(argument == "a.csv" for argument in arguments) and "--id" not in arguments:
        arguments = [*arguments, "--id", "who"]
    result = run("cluster", *arguments, "-o", "out")
    assert result.exit_code == 2
    assert message in result.stderr and result.stderr.startswith("viewspan cluster: ")
    assert "Traceback" not in result.output and result.stderr.count("\n") == 1
    assert not (folder / "out").exists()


def test_what_was_written_is_not_replaced_unless_asked(folder):
    arguments = ("cluster", "a.npy", "-k", 5, "-o", "out")
    assert run(*arguments).exit_code == 0
    before = (folder / "out/labels.csv").stat().st_mtime_ns
    result = run(*arguments)
    assert result.exit_code == 2 and "already has labels.csv" in result.stderr
    assert (folder / "out/labels.csv").stat().st_mtime_ns == before
    assert run(*arguments, "--force").exit_code == 0
    assert "is a file; --out names a folder" in " ".join(
        run(*arguments[:-1], "a.npy").stderr.replace("│", " ").split()
    )


def test_an_old_report_does_not_stay_beside_new_labels(folder):
    run("cluster", "a.npy", "-k", 5, "-o", "out", report=True)
    run("cluster", "a.npy", "-k", 4, "-o", "out", "--force")
    assert not (folder / "out/report.html").exists()


def test_names_of_samples_that_break_lines(folder, samples):
    ids = [f"a\rb {row}" for row in range(150)]
    pd.DataFrame(samples[0][0], index=pd.Index(ids, name="who")).add_prefix("f").to_parquet(
        folder / "odd.parquet"
    )
    assert run("cluster", "odd.parquet", "--id", "who", "-k", 5, "-o", "out").exit_code == 0
    assert list(pd.read_csv(folder / "out/labels.csv", lineterminator="\n")["id"]) == ids


def test_true_labels_of_a_parquet_table_are_matched_by_its_index(folder):
    truth = pd.read_csv(folder / "truth.csv").set_index("who").sample(frac=1.0, random_state=0)
    truth.to_parquet(folder / "truth.parquet")
    run(
        "cluster",
        "a.csv",
        "b.csv",
        "--id",
        "who",
        "-k",
        5,
        "-o",
        "out",
        "--labels",
        "truth.parquet",
    )
    assert json.loads((folder / "out/run.json").read_text())["scores"]["accuracy"] > 99


def test_in_a_pipe_there_is_nothing_but_paths(folder):
    result = run("cluster", "a.npy", "b.npy", "-k", 5, "-o", "out")
    assert result.stderr == ""


def test_warnings_are_said_recorded_and_shown(folder):
    result = run(
        "cluster",
        "a.npy",
        "b.npy",
        "-k",
        5,
        "-o",
        "out",
        "--max-iter",
        1,
        "--tol",
        "1e-9",
        report=True,
    )
    assert result.exit_code == 0
    (sentence,) = json.loads((folder / "out/run.json").read_text())["notes"]
    assert "1e-09" in sentence or "max_iter" in sentence
    assert f"note: {sentence}" in result.stderr.replace("\n", "") or sentence[:40] in result.stderr
    assert sentence[:30] in (folder / "out/report.html").read_text()


def test_new_samples_get_their_clusters(folder, samples):
    run("cluster", "a.csv", "b.csv", "--id", "who", "-k", 5, "-o", "out")
    known = pd.read_csv(folder / "out/labels.csv").set_index("id")
    for name in "ab":  # another order of rows and of columns
        frame = pd.read_csv(folder / f"{name}.csv", float_precision="round_trip").set_index("who")
        third = frame.loc[[who for who in frame.index if int(who[1:]) % 3 == 0]]
        third.iloc[::-1, ::-1].to_csv(folder / f"{name}_new.csv")
    result = run("predict", "out/model", "a_new.csv", "b_new.csv", "--id", "who", "-o", "new.csv")
    assert result.exit_code == 0, result.output
    found = pd.read_csv(folder / "new.csv").set_index("id")
    pd.testing.assert_frame_equal(found, known.loc[found.index], atol=1e-4)
    assert len(found) < len(known)
    to_stdout = run("predict", "out/model", "a_new.csv", "b_new.csv", "--id", "who")
    assert to_stdout.stdout == (folder / "new.csv").read_text()
    swapped = run("predict", "out/model", "b=b_new.csv", "a=a_new.csv", "--id", "who")
    assert swapped.exit_code == 0 and sorted(swapped.stdout.split()) == sorted(
        to_stdout.stdout.split()
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["nothing", "a.csv", "b.csv"],
            "nothing is no model; give the file that `viewspan cluster` wrote",
        ),
        (["a.csv", "a.csv", "b.csv"], "a.csv is not a model that viewspan saved"),
        (["out/model", "a.csv"], "The model has 2 views (a, b), and 1 were given"),
        (["out/model", "a.npy", "b.csv"], "a.npy has no ids|features"),
        (
            ["out/model", "b=b.csv", "c=a.csv"],
            "The model's views are a, b, and b, c was given; name all of them so",
        ),
        (
            ["out/model", "a.csv", "fewer.csv"],
            "fewer.csv lacks columns that the model was made with: f0",
        ),
    ],
)
def test_wrong_new_samples(arguments, message, folder):
    run("cluster", "a.csv", "b.csv", "--id", "who", "-k", 5, "-o", "out")
    pd.read_csv(folder / "b.csv").drop(columns="f0").to_csv(folder / "fewer.csv", index=False)
    result = run("predict", *arguments, "--id", "who", "-o", "new.csv")
    if "|" in message:  # an array has no names, and as many columns
        assert result.exit_code == 0
        return
    assert result.exit_code == 2 and message in result.stderr and "Traceback" not in result.output
    assert not (folder / "new.csv").exists()


def test_columns_that_the_model_does_not_know_are_said(folder):
    run("cluster", "a.csv", "b.csv", "--id", "who", "-k", 5, "-o", "out")
    pd.read_csv(folder / "a.csv").assign(more=1).to_csv(folder / "a_new.csv", index=False)
    result = run("predict", "out/model", "a_new.csv", "b.csv", "--id", "who", "-o", "new.csv")
    assert result.exit_code == 0 and "do not use" not in result.stderr
    assert "a_new.csv: columns that the model does not know are not used: more." in result.stderr


def test_what_is_in_a_file(folder):
    run("cluster", "a.csv", "b.csv", "--id", "who", "-k", 5, "-o", "out")
    result = run("info", "both.mat", "a.csv", "a.npy", "out/model")
    assert result.exit_code == 0, result.output
    text = " ".join(result.stdout.split())
    for words in (
        "both.mat",
        "A 150 × 20",
        "150 rows, 21 columns",
        "who text, all different",
        "a 150 × 20 float64",
    ):
        assert words in text
    assert "view a: 20 features" in text and "150 samples in 5 clusters" in text
    assert run("info", "nothing.mat").exit_code == 2


def test_demo_writes_its_files_and_clusters_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run("demo", "-o", "demo")
    assert result.exit_code == 0, result.output
    assert {path.name for path in (tmp_path / "demo").iterdir()} == {*WRITTEN, "files"}
    record = json.loads((tmp_path / "demo/run.json").read_text())
    assert record["scores"]["accuracy"] > 90
    again = run(*record["command"][1:], "--force")
    assert again.exit_code == 0, again.output
    assert json.loads((tmp_path / "demo/run.json").read_text())["clusters"] == record["clusters"]
