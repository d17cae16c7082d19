"""Tables of results: the best point of every grid, the summary, and the files that hold them."""

import io
from pathlib import Path

import numpy as np
import pandas as pd

from viewspan._utils.files import write_all_atomically
from viewspan.studies.study import GRID, TUNED

GROUP_COLUMNS = ["study", "setting", "method", "noise"]
"""Columns that identify a row of the summary."""
FLOAT_FORMAT = "%.6g"


def replace_grids(results: pd.DataFrame) -> pd.DataFrame:
    """Return the results with every grid replaced by its best point, in the setting "tuned".

    The best point has the highest mean SCA over all noise levels and trials of the study; the first
    one wins a tie. This uses the true labels, as the paper's authors did, and is impossible without
    them. A point without a result counts as an SCA of 0.
    """
    grid = results[results["setting"] == GRID].fillna({"sca": 0.0})
    if grid.empty:
        return results
    scores = grid.groupby(["study", "method", "point"], sort=False)["sca"].mean()
    best = list(scores.groupby(level=["study", "method"], sort=False).idxmax())
    chosen = (
        grid.set_index(["study", "method", "point"]).loc[best].reset_index().assign(setting=TUNED)
    )
    return pd.concat(
        [results[results["setting"] != GRID], chosen[results.columns]], ignore_index=True
    )


def summarize(results: pd.DataFrame) -> pd.DataFrame:
    """Return the statistics of the SCA for every study, setting, method and noise level.

    Parameters
    ----------
    results : DataFrame
        Table of :func:`run`.

    Returns
    -------
    DataFrame
        Mean, median, maximum, minimum, standard deviation and quartiles of the SCA in percent, the
        mean distance between the coefficients of the first two views, the largest certified gap and
        the mean time. Every grid is replaced by its best point, in the setting "tuned".
    """
    table = replace_grids(results)
    relative = table["coefficient_difference"] / table["coefficient_norm"]
    groups = table.assign(relative_difference=relative).groupby(GROUP_COLUMNS, sort=False)
    accuracy = groups["sca"]
    summary = pd.DataFrame(
        {
            "psnr": groups["psnr"].mean(),
            "psnr_ln": groups["psnr_ln"].mean(),
            "trials": groups.size(),
            "mean": accuracy.mean(),
            "median": accuracy.median(),
            "max": accuracy.max(),
            "min": accuracy.min(),
            "std": accuracy.std(ddof=0),
            "quarter": accuracy.quantile(0.25),
            "three_quarters": accuracy.quantile(0.75),
            "coefficient_difference": groups["coefficient_difference"].mean(),
            "coefficient_difference_std": groups["coefficient_difference"].std(ddof=0),
            "coefficient_norm": groups["coefficient_norm"].mean(),
            "relative_difference": groups["relative_difference"].mean(),
            "largest_gap": groups["gap"].max(),
            "seconds": groups["seconds"].mean(),
            "estimator": groups["estimator"].first(),
        }
    )
    return summary.reset_index()


TABLE_NAMES = ("results.parquet", "results.csv", "summary.csv", "summary.md")
"""Names of the files of :func:`table_files`."""


def write_tables(results: pd.DataFrame, out: str | Path) -> pd.DataFrame:
    """Write the results and their summary into a folder, and return the summary.

    The files are ``results.parquet``, ``results.csv``, ``summary.csv`` and ``summary.md``.

    Parameters
    ----------
    results : DataFrame
        Table of :func:`run`.
    out : path
        Folder for the files.

    Returns
    -------
    DataFrame
        Table of :func:`summarize`.
    """
    summary = summarize(results)
    write_all_atomically(table_files(results, summary, Path(out)))
    return summary


def table_files(results: pd.DataFrame, summary: pd.DataFrame, folder: Path) -> dict[Path, bytes]:
    """Return the content of every table file, by path."""
    parquet = io.BytesIO()
    results.to_parquet(parquet, index=False, compression="zstd")
    contents = {folder / "results.parquet": parquet.getvalue()}
    for name, table in (("results", results), ("summary", summary)):
        text = table.to_csv(index=False, float_format=FLOAT_FORMAT)
        contents[folder / f"{name}.csv"] = text.encode()
    return contents | {folder / "summary.md": summary_markdown(summary).encode()}


def summary_markdown(summary: pd.DataFrame) -> str:
    """Return the summary as Markdown, with one section for every study and setting."""
    parts = ["# Results"]
    for (study, setting), part in summary.groupby(["study", "setting"], sort=False):
        accuracy = [
            f"{r.mean:.1f} / {r.median:.4g} / {r.max:.4g} / {r.min:.4g}" for r in part.itertuples()
        ]
        parts.append(f"## {study}, {setting} ({format_trials(part)})")
        parts.append("SCA in percent: mean / median / maximum / minimum.")
        parts.append(_noise_table(part, accuracy))
        if setting == TUNED:
            chosen = part.drop_duplicates("method")
            pairs = zip(chosen["method"], chosen["estimator"], strict=True)
            points = "; ".join(f"{method} `{estimator}`" for method, estimator in pairs)
            parts.append(f"Chosen: {points}.")
        coupled = part[part["coefficient_difference"].notna()]
        if not coupled.empty:
            distances = [
                f"{r.coefficient_difference:.3g} ({r.coefficient_norm:.3g})"
                for r in coupled.itertuples()
            ]
            parts.append("Mean ‖Z_1 − Z_2‖_F, and in brackets the mean ‖Z_i‖_F.")
            parts.append(_noise_table(coupled, distances))
    return "\n\n".join(parts) + "\n"


def _noise_table(part: pd.DataFrame, cells: list[str]) -> str:
    """Return a Markdown table with one row per method and one column per noise level."""
    levels = part.drop_duplicates("noise")
    pairs = zip(levels["noise"], levels["psnr"], strict=True)
    header = ["method", *(f"σ = {noise:g}, {format_psnr(psnr)}" for noise, psnr in pairs)]
    table = part.assign(cell=cells).pivot(index="method", columns="noise", values="cell")
    methods = list(dict.fromkeys(part["method"]))
    rows = [[name, *table.loc[name, list(levels["noise"])]] for name in methods]
    return markdown_table([header, *rows])


def markdown_table(rows: list[list[str]]) -> str:
    """Return a Markdown table with aligned columns; the first row is the header."""
    rows = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    widths = [max(len(row[j]) for row in rows) for j in range(len(rows[0]))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in rows
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def format_psnr(psnr: float) -> str:
    if np.isnan(psnr):
        return "PSNR unknown"
    return "no noise" if psnr == np.inf else f"{psnr:z.1f} dB"


def format_trials(part: pd.DataFrame) -> str:
    trials = int(part["trials"].max())
    return f"{trials} trial{'s' if trials != 1 else ''}"
