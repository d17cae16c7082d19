"""The claims of the paper, checked against a summary of results."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pandas as pd

from viewspan.studies.paper import STUDY_NAMES
from viewspan.studies.tables import markdown_table

LRR_SINGLE = ("LRR view 1", "LRR view 2")
"""LRR of one view, whose accuracy the paper compares."""
LRR_BOTH = "LRR late"
"""LRR of both views separately, whose two coefficient matrices the paper compares."""


@dataclass(frozen=True)
class Claim:
    """A claim of the paper and the numbers that decide whether it holds.

    Parameters
    ----------
    statement : str
        The claim in one sentence.
    numbers : str
        Description of the numbers that are compared.
    column : str
        Column of the summary that holds these numbers.
    methods : sequence of str
        Methods whose numbers are compared.
    holds : callable
        Function of these numbers, in the order of the methods, that returns whether the claim
        holds.
    studies, noise : sequence, optional
        Studies and noise levels that the claim is about; all by default.
    """

    statement: str
    numbers: str
    column: str
    methods: Sequence[str]
    holds: Callable[..., bool]
    studies: Sequence[str] = STUDY_NAMES
    noise: Sequence[float] | None = None


def first_is_largest(first: float, *others: float) -> bool:
    return first >= max(others)


def first_is_smallest(first: float, *others: float) -> bool:
    return first < min(others)


def reaches_the_papers_minimum(clrsc: float, mlap: float) -> bool:
    return clrsc >= 94 and mlap <= 40


CLAIMS = (
    Claim(
        "cLRSC outperforms both MLAP and LRR at all noise levels (the figures of all three "
        "studies).",
        "mean SCA of cLRSC / MLAP / LRR on appearance 1 / on appearance 2",
        "mean",
        ("cLRSC", "MLAP", *LRR_SINGLE),
        first_is_largest,
    ),
    Claim(
        "MLAP is second, before LRR (the figures of all three studies).",
        "mean SCA of MLAP / LRR on appearance 1 / on appearance 2",
        "mean",
        ("MLAP", *LRR_SINGLE),
        first_is_largest,
    ),
    Claim(
        "At PSNR 32 (σ = 0.2) the minimum SCA of cLRSC is 94 %, that of MLAP 40 %.",
        "minimum SCA of cLRSC / MLAP",
        "min",
        ("cLRSC", "MLAP"),
        reaches_the_papers_minimum,
        studies=("synthetic",),
        noise=(0.2,),
    ),
    Claim(
        "The coefficient matrices are much closer under cLRSC than under MLAP and LRR.",
        "mean ‖Z_1 − Z_2‖_F of cLRSC / MLAP / LRR",
        "coefficient_difference",
        ("cLRSC", "MLAP", LRR_BOTH),
        first_is_smallest,
    ),
    Claim(
        "The coefficient matrices are also closer under cLRSC relative to their norm (not claimed "
        "by the paper).",
        "mean ‖Z_1 − Z_2‖_F / mean ‖Z_i‖_F of cLRSC / MLAP / LRR",
        "relative_difference",
        ("cLRSC", "MLAP", LRR_BOTH),
        first_is_smallest,
    ),
    Claim(
        "In most cases MLAP's coefficient matrices are farther apart than LRR's.",
        "mean ‖Z_1 − Z_2‖_F of LRR / MLAP",
        "coefficient_difference",
        (LRR_BOTH, "MLAP"),
        first_is_smallest,
    ),
)


def check_claims(summary: pd.DataFrame) -> pd.DataFrame:
    """Return a table of every claim for every study, noise level and setting of the summary.

    The column ``numbers`` holds the numbers that are compared, and ``holds`` the verdict.
    """
    rows = []
    for number, claim in enumerate(CLAIMS, start=1):
        relevant = summary[summary["study"].isin(claim.studies)]
        if claim.noise is not None:
            relevant = relevant[relevant["noise"].isin(claim.noise)]
        groups = relevant.groupby(["study", "noise", "setting"], sort=False)
        for (study, noise, setting), part in groups:
            values = part.set_index("method")[claim.column]
            if set(claim.methods) <= set(values.index):
                compared = [float(values[method]) for method in claim.methods]
                text = " / ".join(f"{number:.3g}" for number in compared)
                rows.append((number, study, noise, setting, text, claim.holds(*compared)))
    return pd.DataFrame(rows, columns=["claim", "study", "noise", "setting", "numbers", "holds"])


def claims_markdown(summary: pd.DataFrame) -> str:
    """Return the claims as Markdown: one table for each claim, one column for each setting."""
    checked = check_claims(summary)
    settings = list(dict.fromkeys(checked["setting"]))
    parts = [
        "# The paper's claims",
        "Every cell has the numbers, and then whether the claim holds: yes or **no**. A tie for\n"
        "the highest accuracy counts as yes. Coefficient matrices are closer if their distance is\n"
        "smaller by any amount.",
    ]
    for number, claim in enumerate(CLAIMS, start=1):
        verdicts = checked[checked["claim"] == number]
        if verdicts.empty:
            continue
        rows = [["study", "noise", *settings]]
        for (study, noise), part in verdicts.groupby(["study", "noise"], sort=False):
            texts = part["numbers"] + part["holds"].map({True: ", yes", False: ", **no**"})
            cells = dict(zip(part["setting"], texts, strict=True))
            rows.append(
                [str(study), f"σ = {noise:g}", *(cells.get(setting, "") for setting in settings)]
            )
        parts += [
            f"## {number}. {claim.statement}",
            f"Numbers: {claim.numbers}.",
            markdown_table(rows),
        ]
    return "\n\n".join(parts) + "\n"
