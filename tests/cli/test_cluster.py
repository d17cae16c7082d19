"""``viewspan cluster``, ``predict`` and ``info``: their results and error messages."""

import io
import json

import numpy as np
import pandas as pd
import pytest
import scipy.io
from rich.console import Console
from sklearn.metrics import adjusted_rand_score

import viewspan
from tests.cli.running import run as run_command
from tests.problems import many_subspaces
from viewspan import CLRSC, LRR, MLAP, SSC
from viewspan.cli import terminal
from viewspan.cli.folder import OUTPUT_NAMES
from viewspan.cli.parameters import METHODS


def run(*arguments, report=False):
    """Run a command, without the report unless asked for, because drawing it takes seconds."""
    no_report = ["--no-report"] if arguments[0] == "cluster" and not report else []
    return run_command(*arguments, *no_report)


@pytest.fixture(scope="module")
def samples():
    return many_subspaces(150)


@pytest.fixture
def folder(samples, tmp_path, monkeypatch):
    """Write two tables with ids, each in another order, and the same data as arrays."""
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


def read_record(folder):
    return json.loads((folder / "out/run.json").read_text())


def test_tables_are_matched_by_id_and_all_outputs_are_written(folder, samples, monkeypatch):
    arguments = "cluster a.csv b.csv --id who --n-clusters 5 --out out --labels truth.csv"
    monkeypatch.setattr("sys.argv", ["viewspan", *arguments.split()])
    result = run(*arguments.split(), report=True)
    assert result.exit_code == 0, result.output
    assert {path.name for path in (folder / "out").iterdir()} == set(OUTPUT_NAMES)
    assert {line.removeprefix("out/") for line in result.stdout.split()} == set(OUTPUT_NAMES)
    table = pd.read_csv(folder / "out/labels.csv")
    assert list(table.columns) == ["id", "label", "confidence"] and len(table) == 150
    assert agreement(table, samples[1]) > 0.99
    assert table["confidence"].between(0, 1).all()
    record = read_record(folder)
    assert record["certificate"]["relative_gap"] <= record["certificate"]["tolerance"] == 1e-4
    assert record["certificate"]["lower_bound"] <= record["certificate"]["objective"]
    assert record["scores"]["accuracy"] == pytest.approx(100.0, abs=0.7)
    assert record["versions"]["viewspan"] == viewspan.__version__
    assert record["parameters"]["n_clusters"] == 5
    assert record["samples"] == sum(record["clusters"]) == 150
    again = run(*record["command"][1:], "--force")
    assert again.exit_code == 0, again.output
    assert read_record(folder)["clusters"] == record["clusters"]
    assert [view["name"] for view in record["views"]] == ["a", "b"]
    assert set(record["seconds"]) == {"reading", "clustering", "drawing"}


def test_labels_are_those_of_the_estimator(folder, samples):
    arguments = "cluster a.npy b.npy -k 5 -o out --tau 3 --lam 0.3,0.4 --seed 7"
    run(*arguments.split())
    expected = viewspan.CLRSC(5, lam=[0.3, 0.4], tau=3, random_state=7).fit(samples[0])
    table = pd.read_csv(folder / "out/labels.csv")
    np.testing.assert_array_equal(table["label"], expected.labels_)
    np.testing.assert_allclose(table["confidence"], expected.confidence_, atol=5e-5)
    assert list(table["id"]) == list(range(150))


def test_file_formats_may_be_mixed(folder, samples):
    views = ("a.npy", "first=both.mat::A", "both.mat::B.T")
    result = run("cluster", *views, "-k", 5, "-o", "out", "--labels", "both.mat::truth")
    assert result.exit_code == 0, result.output
    record = read_record(folder)
    assert record["scores"]["accuracy"] > 99
    assert [view["name"] for view in record["views"]] == ["a", "first", "both::B"]


@pytest.mark.parametrize("method", METHODS)
def test_every_method(method, folder):
    options = ["--tol", "0.1", "--max-iter", "30"] if method != "lrr" else []
    result = run("cluster", "a.npy", "b.npy", "-k", 5, "-o", "out", "--method", method, *options)
    assert result.exit_code == 0, result.output
    assert read_record(folder)["method"] == method.upper()


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--method", "lrr", "--fusion", "concat"),
        ("--coupling", "rank_one"),
        ("--labels", "truth.csv::kind"),
    ],
)
def test_a_summary_is_printed_on_a_terminal(options, folder, monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr(
        terminal, "StderrConsole", lambda: Console(file=screen, force_terminal=True, width=100)
    )
    result = run("cluster", "a.npy", "b.npy", "-k", 5, "-o", "out", *options)
    assert result.exit_code == 0, result.output + screen.getvalue()
    shown = screen.getvalue()
    for words in (
        "150 samples, 2 views, 5 clusters",
        "view score",
        "comparing",
        "of 150 samples have less than half of their edge weight",
    ):
        assert words in shown
    assert ("accuracy" in shown) == ("--labels" in options)


def test_the_report_has_a_progress_bar_on_a_terminal(folder, monkeypatch):
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=100)
    monkeypatch.setattr(terminal, "StderrConsole", lambda: console)
    result = run("cluster", "a.npy", "b.npy", "-k", 5, "-o", "out", report=True)
    assert result.exit_code == 0, result.output + screen.getvalue()
    assert "drawing the report" in screen.getvalue()
    report = (folder / "out/report.html").read_text()
    assert "CLRSC(n_clusters=5, random_state=0)" in report and "callback" not in report


def test_the_number_of_clusters_is_estimated(folder, samples):
    assert run("cluster", "a.npy", "b.npy", "--n-clusters", "auto", "-o", "out").exit_code == 0
    assert pd.read_csv(folder / "out/labels.csv")["label"].nunique() == 5


def test_every_parameter_of_the_estimators_is_an_option():
    help_text = run("cluster", "--help").output
    parameters = {name for kind in (CLRSC, LRR, SSC, MLAP) for name in kind().get_params()}
    for name in parameters - {"random_state", "callback"}:
        assert f"--{name.replace('_', '-')}"[:18] in help_text, name


def test_ids_missing_from_a_file_raise_or_are_dropped_or_allowed(folder):
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


def add_text_column(folder):
    frame = pd.read_csv(folder / "b.csv")
    frame.assign(note="good").to_csv(folder / "b.csv", index=False)


BAD_ARGUMENTS = {
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
    "a text column": (
        add_text_column,
        ["a.csv", "b.csv"],
        "b.csv: column 'note' holds text ('good')",
    ),
    "an id that is missing": (
        None,
        ["a.csv", "b.csv", "--id", "whom"],
        "a.csv has no column 'whom'",
    ),
    "missing values of an array": (
        lambda folder: np.save(folder / "b.npy", np.full((150, 2), np.nan)),
        ["a.npy", "b.npy"],
        "b contains NaN in 300 of its 300 values",
    ),
    "a missing value of a table": (
        lambda folder: (folder / "b.csv").write_text("who,x,y\ns000,1,2\ns001,,3\n"),
        ["a.csv", "b.csv"],
        "b.csv: column 'x' has no value in row 2 (missing values in all: 1); fill them in",
    ),
    "no such column to ignore": (
        None,
        ["a.csv", "b.csv", "--ignore", "f99"],
        "No file has the column 'f99' given to --ignore",
    ),
    "ids of arrays": (None, ["a.npy", "--id", "who"], "there is no column 'who' for --id"),
    "a label among the features": (
        lambda folder: pd.read_csv(folder / "a.csv").to_csv(folder / "a.csv", index=False),
        ["a.csv", "--labels", "a.csv::f3"],
        "a.csv::f3 is also a feature of a.csv; remove it from the view with --ignore 'f3'",
    ),
    "a decimal sign": (None, ["a.npy", "--decimal", ";"], "--decimal must be '.' or ','"),
    "too many clusters": (None, ["a.npy", "-k", 151], "n_clusters=151 must not exceed"),
    "a word for the number of clusters": (
        None,
        ["a.npy", "-k", "five"],
        "--n-clusters must be a whole number from 1, or auto. Got 'five'",
    ),
    "a parameter out of range": (
        None,
        ["a.npy", "--tol", "-1"],
        "--tol must be a number above 0. Got -1.0 instead.",
    ),
    "a parameter of another method": (
        None,
        ["a.npy", "--method", "lrr", "--tau", "1"],
        "--tau is not an option of",
    ),
    "a word for a weight": (None, ["a.npy", "--lam", "much"], "--lam must be auto, or numbers"),
    "an invalid image shape": (
        None,
        ["a.npy", "--image-shape", "4by4"],
        "--image-shape must be like 8x8",
    ),
    "an image shape that fits no view": (
        None,
        ["a.npy", "--image-shape", "9x9"],
        "needs a view with 81 columns: a.npy has 20",
    ),
    "a matrix of labels": (
        None,
        ["a.npy", "--labels", "b.npy"],
        "does not hold one label per sample",
    ),
    "a wrong key of labels": (None, ["a.npy", "--labels", "both.mat::Y"], "both.mat has no 'Y'"),
    "an ambiguous column of labels": (
        None,
        ["a.npy", "--labels", "truth.csv"],
        "say which with truth.csv::COLUMN",
    ),
}


@pytest.mark.parametrize("case", BAD_ARGUMENTS)
def test_bad_arguments_give_one_message_exit_code_two_and_no_output(case, folder):
    spoil, arguments, message = BAD_ARGUMENTS[case]
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


def test_earlier_results_are_replaced_only_with_force(folder):
    arguments = ("cluster", "a.npy", "-k", 5, "-o", "out")
    assert run(*arguments).exit_code == 0
    before = (folder / "out/labels.csv").stat().st_mtime_ns
    result = run(*arguments)
    assert result.exit_code == 2 and "already contains labels.csv" in result.stderr
    assert (folder / "out/labels.csv").stat().st_mtime_ns == before
    assert run(*arguments, "--force").exit_code == 0
    assert "a.npy is a file, but --out needs a folder" in run(*arguments[:-1], "a.npy").stderr


def test_an_old_report_is_removed_if_no_new_one_is_written(folder):
    run("cluster", "a.npy", "-k", 5, "-o", "out", report=True)
    run("cluster", "a.npy", "-k", 4, "-o", "out", "--force")
    assert not (folder / "out/report.html").exists()


def test_ids_with_line_breaks(folder, samples):
    ids = [f"a\rb {row}" for row in range(150)]
    pd.DataFrame(samples[0][0], index=pd.Index(ids, name="who")).add_prefix("f").to_parquet(
        folder / "odd.parquet"
    )
    assert run("cluster", "odd.parquet", "--id", "who", "-k", 5, "-o", "out").exit_code == 0
    assert list(pd.read_csv(folder / "out/labels.csv", lineterminator="\n")["id"]) == ids


def test_true_labels_of_a_parquet_table_are_matched_by_its_index(folder):
    truth = pd.read_csv(folder / "truth.csv").set_index("who").sample(frac=1.0, random_state=0)
    truth.to_parquet(folder / "truth.parquet")
    arguments = "cluster a.csv b.csv --id who -k 5 -o out --labels truth.parquet"
    run(*arguments.split())
    assert read_record(folder)["scores"]["accuracy"] > 99


def test_standard_error_is_empty_in_a_pipe(folder):
    result = run("cluster", "a.npy", "b.npy", "-k", 5, "-o", "out")
    assert result.stderr == ""


def test_warnings_are_printed_recorded_and_in_the_report(folder):
    arguments = "cluster a.npy b.npy -k 5 -o out --max-iter 1 --tol 1e-9"
    result = run(*arguments.split(), report=True)
    assert result.exit_code == 0
    (sentence,) = read_record(folder)["notes"]
    assert "1e-09" in sentence or "max_iter" in sentence
    assert f"note: {sentence}" in result.stderr
    assert sentence[:30] in (folder / "out/report.html").read_text()


def test_new_samples_get_their_clusters(folder, samples):
    run("cluster", "a.csv", "b.csv", "--id", "who", "-k", 5, "-o", "out")
    known = pd.read_csv(folder / "out/labels.csv").set_index("id")
    for name in "ab":  # the rows and columns are in another order
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
            "nothing is not a model; give the file FOLDER/model that `viewspan cluster` wrote",
        ),
        (["a.csv", "a.csv", "b.csv"], "a.csv is not a model that viewspan saved"),
        (["out/model", "a.csv"], "The model has 2 views (a, b), but 1 were given"),
        (
            ["out/model", "b=b.csv", "c=a.csv"],
            "The model's views are a, b, but the names b, c were given; use the names",
        ),
        (
            ["out/model", "a.csv", "fewer.csv"],
            "fewer.csv lacks columns that the model was fitted to: f0",
        ),
    ],
)
def test_bad_arguments_of_predict(arguments, message, folder):
    run("cluster", "a.csv", "b.csv", "--id", "who", "-k", 5, "-o", "out")
    pd.read_csv(folder / "b.csv").drop(columns="f0").to_csv(folder / "fewer.csv", index=False)
    result = run("predict", *arguments, "--id", "who", "-o", "new.csv")
    assert result.exit_code == 2 and message in result.stderr and "Traceback" not in result.output
    assert not (folder / "new.csv").exists()


def test_predict_accepts_an_array_without_column_names(folder):
    run("cluster", "a.csv", "b.csv", "--id", "who", "-k", 5, "-o", "out")
    result = run("predict", "out/model", "a.npy", "b.csv", "--id", "who", "-o", "new.csv")
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("n_views", [1, 2])
def test_predict_and_info_accept_models_fitted_without_view_names(n_views, folder, samples):
    views = samples[0][:n_views]
    model = viewspan.LRR(5, random_state=0).fit(views if n_views > 1 else views[0])
    viewspan.save(model, "python.model")
    files = ["a.npy", "b.npy"][:n_views]
    result = run("predict", "python.model", *files, "-o", "new.csv")
    assert result.exit_code == 0, result.output
    np.testing.assert_array_equal(pd.read_csv("new.csv")["label"], model.labels_)
    result = run("info", "python.model")
    assert result.exit_code == 0, result.output
    assert result.stdout.count("20 features") == n_views


def test_columns_unknown_to_the_model_are_ignored_with_a_note(folder):
    run("cluster", "a.csv", "b.csv", "--id", "who", "-k", 5, "-o", "out")
    pd.read_csv(folder / "a.csv").assign(more=1).to_csv(folder / "a_new.csv", index=False)
    result = run("predict", "out/model", "a_new.csv", "b.csv", "--id", "who", "-o", "new.csv")
    assert result.exit_code == 0
    assert "a_new.csv: columns that the model was not fitted to are ignored: more." in result.stderr


def test_info_shows_arrays_tables_and_models(folder):
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
