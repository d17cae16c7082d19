"""Tables: the summary, the best point of a grid, and the files."""

import numpy as np
import pandas as pd
import pytest

from tests.studies.toys import toy_study
from viewspan import LRR
from viewspan.studies import Method, run, summarize, write_tables
from viewspan.studies.study import GRID
from viewspan.studies.tables import markdown_table


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    methods = [Method("LRR", LRR(3))] + [
        Method("LRR", LRR(3, lam=lam), setting=GRID) for lam in (0.01, 1.0, 1e6)
    ]
    return run(
        toy_study(noise=(0.0, 1.0), methods=methods),
        tmp_path_factory.mktemp("run"),
        trials=4,
        jobs=1,
    )


def test_the_summary_has_the_statistics_of_the_accuracy(results):
    summary = summarize(results).query("setting == 'main' and noise == 1.0").iloc[0]
    accuracy = results.query("setting == 'main' and noise == 1.0")["sca"].to_numpy()
    names = ["mean", "median", "max", "min", "std", "quarter", "three_quarters"]
    quartiles = np.percentile(accuracy, [25, 75])
    expected = [
        accuracy.mean(),
        np.median(accuracy),
        accuracy.max(),
        accuracy.min(),
        accuracy.std(),
        *quartiles,
    ]
    np.testing.assert_allclose(summary[names].astype(float), expected)
    assert summary["trials"] == 4


def test_the_best_point_of_a_grid_is_chosen_per_study(results):
    """The best point has the highest mean over all noise levels; a failed point counts as zero."""
    tuned = summarize(results).query("setting == 'tuned'")
    grid = results.query("setting == 'grid'").assign(sca=lambda table: table["sca"].fillna(0))
    means = grid.groupby("estimator")["sca"].mean()
    assert means["LRR(lam=1000000.0, n_clusters=3)"] == 0
    assert set(tuned["estimator"]) == {means.idxmax()}
    assert tuned["mean"].mean() == pytest.approx(means.max())
    assert "grid" not in set(summarize(results)["setting"])


def test_the_files_hold_the_results(results, tmp_path):
    summary = write_tables(results, tmp_path)
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "results.parquet"), results)
    read = pd.read_csv(tmp_path / "results.csv")
    assert list(read.columns) == list(results.columns)
    np.testing.assert_allclose(read["objective"], results["objective"], rtol=1e-5)
    assert len(pd.read_csv(tmp_path / "summary.csv")) == len(summary)


def test_markdown_has_the_rounded_statistics(results, tmp_path):
    write_tables(results, tmp_path)
    text = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert "## toy, main (4 trials)" in text
    assert "σ = 0, no noise" in text
    assert "Chosen: LRR `LRR(lam=" in text
    row = next(line for line in text.splitlines() if line.startswith("| LRR"))
    assert row.split("|")[2].strip().startswith("100.0 / 100 / 100 / 100")


def result_rows(*accuracies, point, setting=GRID):
    """Return rows of a results table, one for each accuracy."""
    context = {
        "study": "s",
        "setting": setting,
        "method": "m",
        "noise": 1.0,
        "point": point,
        "psnr": 1.0,
        "psnr_ln": 2.3,
    }
    measures = {
        "coefficient_difference": 2.0,
        "coefficient_norm": 4.0,
        "seconds": 1.0,
        "estimator": "same text",
    }
    return [
        context | measures | {"sca": accuracy, "gap": 0.1 * trial}
        for trial, accuracy in enumerate(accuracies)
    ]


def test_points_of_a_grid_are_identified_by_number_and_failures_count_as_zero():
    table = pd.DataFrame(
        result_rows(60, 60, 60, point=0)
        + result_rows(100, 100, np.nan, point=1)
        + result_rows(10, 10, 10, point=2)
    )
    (summary,) = summarize(table).itertuples()
    assert (summary.setting, summary.trials, summary.min) == ("tuned", 3, 0)
    assert summary.mean == pytest.approx(200 / 3)


def test_differences_and_gaps_are_summarised():
    table = pd.DataFrame(result_rows(1, 2, 3, point=0, setting="auto"))
    (summary,) = summarize(table).itertuples()
    assert summary.relative_difference == 0.5
    assert summary.coefficient_difference_std == 0
    assert summary.largest_gap == pytest.approx(0.2)


def test_a_vertical_bar_in_a_name_is_escaped():
    assert markdown_table([["a|b"], ["c"]]).splitlines()[0] == "| a\\|b |"
