"""From rows to tables: the best of a grid, the summary, and files of them."""

import io
from pathlib import Path

import pandas as pd

from viewspan._utils.files import write_together
from viewspan.studies.study import GRID, TUNED

CELL = ["study", "setting", "method", "noise"]
SIX_DIGITS = "%.6g"


def with_tuned(results: pd.DataFrame) -> pd.DataFrame:
    """The results with every method's grid replaced by its best point, as the setting "tuned".

    Best is the highest mean SCA over all noise levels and trials of a study: one choice per study, as the paper's
    authors made theirs, and with the labels, as nobody can who has none. The first of equals wins. Where a point has no
    answer its SCA is 0.
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


def summarise(results: pd.DataFrame) -> pd.DataFrame:
    """Mean, median, maximum, minimum and spread of the SCA for every study, setting, method and noise level."""
    table = with_tuned(results)
    share = table["coefficient_difference"] / table["coefficient_norm"]
    groups = table.assign(relative_difference=share).groupby(CELL, sort=False)
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


def markdown(summary: pd.DataFrame) -> str:
    """The summary for people: per study and setting the SCA, and how far the coefficients are apart."""
    parts = ["# Results"]
    for (study, setting), part in summary.groupby(["study", "setting"], sort=False):
        accuracy = [
            f"{r.mean:.1f} / {r.median:.4g} / {r.max:.4g} / {r.min:.4g}" for r in part.itertuples()
        ]
        parts.append(f"## {study}, {setting} ({count_trials(part)})")
        parts.append("SCA in percent: mean / median / maximum / minimum.")
        parts.append(_pivot(part, accuracy))
        if setting == TUNED:
            chosen = part.drop_duplicates("method")
            pairs = zip(chosen["method"], chosen["estimator"], strict=True)
            parts.append(
                "Chosen: "
                + "; ".join(f"{method} `{estimator}`" for method, estimator in pairs)
                + "."
            )
        coupled = part[part["coefficient_difference"].notna()]
        if not coupled.empty:
            distance = [
                f"{r.coefficient_difference:.3g} ({r.coefficient_norm:.3g})"
                for r in coupled.itertuples()
            ]
            parts.append("Mean ‖Z_1 − Z_2‖_F, and in brackets the mean ‖Z_i‖_F.")
            parts.append(_pivot(coupled, distance))
    return "\n\n".join(parts) + "\n"


def _pivot(part: pd.DataFrame, cells: list[str]) -> str:
    """One row per method, one column per noise level."""
    levels = part.drop_duplicates("noise")
    pairs = zip(levels["noise"], levels["psnr"], strict=True)
    header = ["method", *(f"σ = {noise:g}, {decibels(psnr)}" for noise, psnr in pairs)]
    table = part.assign(cell=cells).pivot(index="method", columns="noise", values="cell")
    order = list(dict.fromkeys(part["method"]))
    rows = [[name, *table.loc[name, list(levels["noise"])]] for name in order]
    return markdown_table([header, *rows])


def markdown_table(rows: list[list[str]]) -> str:
    """Aligned columns, the first row as header."""
    rows = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    widths = [max(len(row[j]) for row in rows) for j in range(len(rows[0]))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in rows
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def decibels(psnr: float) -> str:
    return (
        "no noise"
        if psnr == float("inf")
        else f"{psnr:z.1f} dB"
        if psnr == psnr
        else "PSNR unknown"
    )


def count_trials(part: pd.DataFrame) -> str:
    trials = int(part["trials"].max())
    return f"{trials} trial{'s' if trials != 1 else ''}"


def write_tables(results: pd.DataFrame, out: str | Path) -> pd.DataFrame:
    """Write ``results.parquet``, ``results.csv``, ``summary.csv`` and ``summary.md``; return the summary."""
    summary = summarise(results)
    write_together(tables_in_files(results, summary, Path(out)))
    return summary


def tables_in_files(
    results: pd.DataFrame, summary: pd.DataFrame, folder: Path
) -> dict[Path, bytes]:
    """What is to be written where."""
    parquet = io.BytesIO()
    results.to_parquet(parquet, index=False, compression="zstd")
    contents = {folder / "results.parquet": parquet.getvalue()}
    for name, table in (("results", results), ("summary", summary)):
        contents[folder / f"{name}.csv"] = table.to_csv(
            index=False, float_format=SIX_DIGITS
        ).encode()
    return contents | {folder / "summary.md": markdown(summary).encode()}
