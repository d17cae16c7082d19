"""The paper's claims, each held against a summary of results."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pandas as pd

from viewspan.studies.tables import markdown_table

ONE_VIEW = ("LRR view 1", "LRR view 2")
UNITED = "LRR late"
"""LRR of each appearance: its coefficient matrices are the two that the paper compares."""


ALL = ("synthetic", "minerals", "faces")


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, the figures it is about, and when it holds for them."""

    words: str
    figures: str
    column: str
    methods: Sequence[str]
    holds: Callable[..., bool]
    studies: Sequence[str] = ALL
    noise: Sequence[float] | None = None


def first_is_largest(first: float, *others: float) -> bool:
    return first >= max(others)


def first_is_smallest(first: float, *others: float) -> bool:
    return first < min(others)


def worst_trial_as_in_the_paper(clrsc: float, mlap: float) -> bool:
    return clrsc >= 94 and mlap <= 40


CLAIMS = (
    Claim(
        "cLRSC outperforms both MLAP and LRR at all noise levels (the figures of all three studies).",
        "mean SCA of cLRSC / MLAP / LRR on appearance 1 / on appearance 2",
        "mean",
        ("cLRSC", "MLAP", *ONE_VIEW),
        first_is_largest,
    ),
    Claim(
        "MLAP is second, before LRR (the same figures).",
        "mean SCA of MLAP / LRR on appearance 1 / on appearance 2",
        "mean",
        ("MLAP", *ONE_VIEW),
        first_is_largest,
    ),
    Claim(
        "At PSNR 32 (σ = 0.2) the minimum SCA of cLRSC is 94 %, that of MLAP 40 %.",
        "minimum SCA of cLRSC / MLAP",
        "min",
        ("cLRSC", "MLAP"),
        worst_trial_as_in_the_paper,
        studies=("synthetic",),
        noise=(0.2,),
    ),
    Claim(
        "The coefficient matrices are much closer under cLRSC than under MLAP and LRR.",
        "mean ‖Z_1 − Z_2‖_F of cLRSC / MLAP / LRR",
        "coefficient_difference",
        ("cLRSC", "MLAP", UNITED),
        first_is_smallest,
    ),
    Claim(
        "The same in proportion to their size, which the paper does not ask: smaller matrices are closer anyway.",
        "mean ‖Z_1 − Z_2‖_F / mean ‖Z_i‖_F of cLRSC / MLAP / LRR",
        "relative_difference",
        ("cLRSC", "MLAP", UNITED),
        first_is_smallest,
    ),
    Claim(
        "In most cases MLAP's coefficient matrices are farther apart than LRR's.",
        "mean ‖Z_1 − Z_2‖_F of LRR / MLAP",
        "coefficient_difference",
        (UNITED, "MLAP"),
        first_is_smallest,
    ),
)


def check_claims(summary: pd.DataFrame) -> pd.DataFrame:
    """Every claim for every study, noise level and setting of the summary: its figures, and whether it holds."""
    rows = []
    for number, claim in enumerate(CLAIMS, start=1):
        concerned = summary[summary["study"].isin(claim.studies)]
        if claim.noise is not None:
            concerned = concerned[concerned["noise"].isin(claim.noise)]
        for (study, noise, setting), part in concerned.groupby(
            ["study", "noise", "setting"], sort=False
        ):
            values = part.set_index("method")[claim.column]
            if set(claim.methods) <= set(values.index):
                figures = [float(values[method]) for method in claim.methods]
                shown = " / ".join(f"{figure:.3g}" for figure in figures)
                rows.append((number, study, noise, setting, shown, claim.holds(*figures)))
    return pd.DataFrame(rows, columns=["claim", "study", "noise", "setting", "figures", "holds"])


def claims_markdown(summary: pd.DataFrame) -> str:
    """The claims for people: a table each, settings side by side."""
    checked = check_claims(summary)
    settings = list(dict.fromkeys(checked["setting"]))
    parts = [
        "# The paper's claims",
        "Does the claim hold? Figures first, then yes or **no**. A tie counts as yes, and closer is anything smaller.",
    ]
    for number, claim in enumerate(CLAIMS, start=1):
        mine = checked[checked["claim"] == number]
        if mine.empty:
            continue
        rows = [["study", "noise", *settings]]
        for (study, noise), part in mine.groupby(["study", "noise"], sort=False):
            verdicts = part["figures"] + part["holds"].map({True: ", yes", False: ", **no**"})
            found = dict(zip(part["setting"], verdicts, strict=True))
            rows.append(
                [str(study), f"σ = {noise:g}", *(found.get(setting, "") for setting in settings)]
            )
        parts += [f"## {number}. {claim.words}", f"Figures: {claim.figures}.", markdown_table(rows)]
    return "\n\n".join(parts) + "\n"
