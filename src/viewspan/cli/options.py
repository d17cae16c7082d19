"""The parameters of the estimators as options."""

from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Any

import typer

from viewspan import CLRSC, LRR, MLAP, SSC
from viewspan.io.readers import InputError
from viewspan.io.readers.align import Missing

METHODS: dict[str, Any] = {"clrsc": CLRSC, "lrr": LRR, "ssc": SSC, "mlap": MLAP}
AUTO = "auto"
OBJECTIVE, GRAPH, SOLVING, FILES = "Objective", "Preparation and graph", "Solving", "Files"


class Method(StrEnum):
    """Of clustering."""

    CLRSC = "clrsc"
    LRR = "lrr"
    SSC = "ssc"
    MLAP = "mlap"


def option(panel: str, text: str, *names: str, **more: Any) -> Any:
    return typer.Option(*names, help=text, rich_help_panel=panel, show_default=False, **more)


def number_or_auto(text: str) -> int | None:
    """None for what the data shall tell."""
    if text == AUTO:
        return None
    if not text.isdecimal() or int(text) == 0:
        raise InputError(
            f"--n-clusters must be a whole number from 1, or auto. Got {text!r} instead."
        )
    return int(text)


def numbers(name: str, text: str, words: tuple[str, ...]) -> Any:
    """A word, a number, or one number per view, separated by commas."""
    if text in words:
        return text
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        choices = ", ".join(words)
        raise InputError(
            f"--{name} must be {choices}, or numbers separated by commas, one per view. Got {text!r} instead."
        ) from None
    return values[0] if len(values) == 1 else values


def truth_or_auto(name: str, text: str) -> bool | str:
    known: dict[str, bool | str] = {
        AUTO: AUTO,
        "yes": True,
        "true": True,
        "no": False,
        "false": False,
    }
    if text.lower() not in known:
        raise InputError(f"--{name} must be auto, yes or no. Got {text!r} instead.")
    return known[text.lower()]


PARSERS: dict[str, Callable[[str], Any]] = {
    "lam": lambda text: numbers("lam", text, (AUTO,)),
    "tau": lambda text: numbers("tau", text, (AUTO,)),
    "view_weights": lambda text: numbers("view-weights", text, (AUTO, "equal")),
    "scale_features": lambda text: truth_or_auto("scale-features", text),
    "affine": lambda text: truth_or_auto("affine", text),
}

Clusters = Annotated[
    str, option("Options", "How many clusters, or auto.", "--n-clusters", "-k", metavar="K|auto")
]
Chosen = Annotated[Method, option("Options", "The method: clrsc (default), lrr, ssc or mlap.")]
Seed = Annotated[int, option("Options", "Of what is random; 0 if not given.", min=0)]
Lam = Annotated[
    str | None,
    option(OBJECTIVE, "λ, the weight of low rank: auto, a number, or one per view: 0.2,0.3."),
]
Tau = Annotated[
    str | None, option(OBJECTIVE, "τ, the weight of agreement between views: auto or a number.")
]
Datafit = Annotated[
    str | None, option(OBJECTIVE, "frobenius; l12 for wrong samples; l1 for wrong entries.")
]
Penalty = Annotated[str | None, option(OBJECTIVE, "nuclear, or l1 for a collaborative SSC.")]
Coupling = Annotated[
    str | None, option(OBJECTIVE, "nuclear, or rank_one for one matrix for all views.")
]
Fusion = Annotated[
    str | None, option(OBJECTIVE, "lrr and ssc: late, or concat for all features side by side.")
]
ScaleFeatures = Annotated[
    str | None, option(GRAPH, "Bring all features to one size: auto, yes or no.")
]
Affine = Annotated[str | None, option(GRAPH, "Let subspaces miss the origin: auto, yes or no.")]
Normalize = Annotated[
    bool | None,
    option(GRAPH, "Make all samples unit length (default).", "--normalize/--no-normalize"),
]
ViewWeights = Annotated[
    str | None, option(GRAPH, "How much views count: auto, equal, or numbers: 1,0.5.")
]
Affinity = Annotated[
    str | None, option(GRAPH, "auto, patterns, or coefficients (the paper's graph).")
]
Neighbors = Annotated[int | None, option(GRAPH, "Neighbours of a sample in the graph.")]
GraphKind = Annotated[str | None, option(GRAPH, "auto, dense, or landmarks for many samples.")]
Landmarks = Annotated[int | None, option(GRAPH, "How many landmarks.")]
AssignLabels = Annotated[
    str | None, option(GRAPH, "How the graph's eigenvectors become labels: auto, discretize, …")
]
Solver = Annotated[
    str | None, option(SOLVING, "admm, or the paper's: ladmpsap (clrsc, mlap), ladmap (lrr).")
]
Tolerance = Annotated[
    float | None, option(SOLVING, "The certified gap to stop at; 1e-4 if not given.")
]
Iterations = Annotated[int | None, option(SOLVING, "The most iterations.")]
Verbose = Annotated[bool, option(SOLVING, "Show the solver's iterations.", "--verbose", "-v")]
Quiet = Annotated[
    bool, option("Options", "Print paths and what is wrong, no more.", "--quiet", "-q")
]
IdColumn = Annotated[
    str | None, option(FILES, "The column that names the samples; rows are matched by it.", "--id")
]
Ignored = Annotated[
    list[str] | None, option(FILES, "A column to leave out; may be given again.", "--ignore")
]
Header = Annotated[
    bool | None,
    option(
        FILES,
        "Tables begin with names of columns; looked for if not given.",
        "--header/--no-header",
    ),
]
WhatIsMissing = Annotated[
    Missing | None,
    option(FILES, "Ids that some files lack: forbid (default), allow, or drop them.", "--missing"),
]
Decimal = Annotated[str, option(FILES, "The decimal sign of tables, '.' if not given.")]


def make_estimator(method: Method, given: dict[str, Any]) -> Any:
    """The estimator with the parameters that were given on the command line.

    Parameters
    ----------
    method : Method
    given : dict
        Values by parameter; None for those that were not given.
    """
    kind = METHODS[method.value]
    asked = {name: value for name, value in given.items() if value is not None}
    known = kind().get_params()
    for name in asked:
        if name not in known:
            fitting = [other for other, cls in METHODS.items() if name in cls().get_params()]
            raise InputError(
                f"--{name.replace('_', '-')} is not an option of --method {method}; it is one of {', '.join(fitting)}."
            )
    parsed = {
        name: PARSERS[name](value) if name in PARSERS else value for name, value in asked.items()
    }
    estimator: Any = kind(**parsed)
    return estimator
