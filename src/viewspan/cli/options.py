"""Command-line options, among them all parameters of the estimators."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import typer

from viewspan import CLRSC, LRR, MLAP, SSC
from viewspan.fit.settings import DEFAULT_N_LANDMARKS
from viewspan.graph import discretisation
from viewspan.graph.patterns import DEFAULT_N_NEIGHBORS
from viewspan.io.readers.table import InputError, Missing
from viewspan.objective.couplings import COUPLINGS
from viewspan.objective.datafits import DATAFITS
from viewspan.objective.penalties import PENALTIES
from viewspan.solvers.result import DEFAULT_TOL

Method = Literal["clrsc", "lrr", "ssc", "mlap"]
METHODS: dict[str, Any] = {"clrsc": CLRSC, "lrr": LRR, "ssc": SSC, "mlap": MLAP}
AUTO = "auto"


def option(panel: str, metavar: str | None, text: str, *names: str, **settings: Any) -> Any:
    """Return a typer option; a panel is a heading of the help page, and flags have no metavar."""
    settings |= {"metavar": metavar, "rich_help_panel": panel, "show_default": False}
    return typer.Option(*names, help=text, **settings)


def one_of(names: Sequence[str]) -> str:
    """Return names as "a, b or c"."""
    return f"{', '.join(names[:-1])} or {names[-1]}"


def with_purposes(known: Mapping[str, Any]) -> str:
    """Return the default and the other names, each with its purpose.

    Names whose objects have the class of an earlier one, such as "half_frobenius", are left out.
    """
    first_names: dict[type[Any], str] = {}
    for name, item in known.items():
        first_names.setdefault(type(item), f"{name} for {item.purpose}")
    default, *others = first_names.values()
    return one_of([f"{default} (default)", *others])


general = partial(option, "Options")
files = partial(option, "Files")
objective = partial(option, "Objective")
graph = partial(option, "Graph")
solver = partial(option, "Solver")


def nonempty_path(text: str) -> Path:
    """Parse a path; raise BadParameter if it is empty, because that would be the current folder."""
    if not text:
        raise typer.BadParameter("The path is empty; check that the shell variable is set.")
    return Path(text)


def out_path(metavar: str, text: str) -> Any:
    return general(metavar, text, "--out", "-o", parser=nonempty_path)


def parse_n_clusters(text: str) -> int | None:
    """Return the number of clusters, or None for "auto"."""
    if text == AUTO:
        return None
    if not text.isdecimal() or int(text) == 0:
        raise InputError(
            f"--n-clusters must be a whole number from 1, or auto. Got {text!r} instead."
        )
    return int(text)


def parse_numbers(name: str, text: str, words: tuple[str, ...]) -> Any:
    """Return one of the words, a number, or a list of numbers."""
    if text in words:
        return text
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(
            f"--{name} must be {', '.join(words)}, or numbers separated by commas, one per view. "
            f"Got {text!r} instead."
        ) from None
    return values[0] if len(values) == 1 else values


def parse_switch(name: str, text: str) -> bool | str:
    """Return True, False or "auto"."""
    values: dict[str, bool | str] = {"yes": True, "true": True, "no": False, "false": False}
    values[AUTO] = AUTO
    if text.lower() not in values:
        raise InputError(f"--{name} must be auto, yes or no. Got {text!r} instead.")
    return values[text.lower()]


PARSERS: dict[str, Callable[[str], Any]] = {
    "lam": lambda text: parse_numbers("lam", text, (AUTO,)),
    "tau": lambda text: parse_numbers("tau", text, (AUTO,)),
    "view_weights": lambda text: parse_numbers("view-weights", text, (AUTO, "equal")),
    "scale_features": lambda text: parse_switch("scale-features", text),
    "affine": lambda text: parse_switch("affine", text),
}

NClusters = Annotated[
    str, general("K", "Number of clusters; auto (default) estimates it.", "--n-clusters", "-k")
]
MethodName = Annotated[Method, general("NAME", "Method: clrsc (default), lrr, ssc or mlap.")]
Seed = Annotated[int, general("N", "Random seed (default: 0).", min=0)]
Force = Annotated[bool, general(None, "Replace the files of an earlier run.", "--force")]
Quiet = Annotated[
    bool, general(None, "Print only written paths, notes and errors.", "--quiet", "-q")
]

IdColumn = Annotated[str | None, files("COLUMN", "Match rows by the ids in this column.", "--id")]
MissingIds = Annotated[
    Missing | None,
    files("RULE", "Samples missing from some files: forbid (default), allow or drop."),
]
Ignore = Annotated[list[str] | None, files("COLUMN", "Ignore this column. Repeatable.")]
Header = Annotated[
    bool | None,
    files(
        None,
        "Column names in the first line of text tables (default: detect).",
        "--header/--no-header",
    ),
]
Decimal = Annotated[str, files("SIGN", "Decimal sign in text tables: '.' (default) or ','.")]

Lam = Annotated[
    str | None,
    objective("λ", "λ, penalty weight: auto (default), a number, or one per view (0.2,0.3)."),
]
Tau = Annotated[str | None, objective("τ", "τ, coupling weight: auto (default) or a number.")]
Datafit = Annotated[
    str | None,
    objective("NAME", f"Data fit: {with_purposes(DATAFITS)}."),
]
Penalty = Annotated[str | None, objective("NAME", f"Penalty: {with_purposes(PENALTIES)}.")]
Coupling = Annotated[
    str | None,
    objective("NAME", f"Coupling: {with_purposes(COUPLINGS)}."),
]
Fusion = Annotated[
    str | None,
    objective("NAME", "How lrr and ssc combine views: late (unite graphs, default) or concat."),
]

ScaleFeatures = Annotated[
    str | None, graph("WHEN", "Scale features to mean square 1: auto (default), yes or no.")
]
Affine = Annotated[str | None, graph("WHEN", "Allow affine subspaces: auto (default), yes or no.")]
Normalize = Annotated[
    bool | None,
    graph(None, "Scale samples to unit length (default).", "--normalize/--no-normalize"),
]
ViewWeights = Annotated[
    str | None,
    graph("WEIGHTS", "View weights: auto (default), equal, or one number per view (1,0.5)."),
]
Affinity = Annotated[
    str | None,
    graph("NAME", "Edge weights: auto (default), patterns, or coefficients as in the paper."),
]
NNeighbors = Annotated[
    int | None,
    graph("N", f"Number of nearest neighbours of a sample (default: {DEFAULT_N_NEIGHBORS})."),
]
GraphKind = Annotated[
    str | None, graph("NAME", "Nodes: auto (default), dense for all samples, or landmarks.")
]
NLandmarks = Annotated[
    int | None, graph("N", f"Number of landmarks (default: {DEFAULT_N_LANDMARKS}).")
]
AssignLabels = Annotated[
    str | None,
    graph(
        "NAME",
        f"Label assignment: auto (default), {one_of(get_args(discretisation.AssignLabels))}.",
    ),
]

Solver = Annotated[
    str | None,
    solver("NAME", "Solver: admm (default), or the paper's ladmpsap (lrr: ladmap)."),
]
Tol = Annotated[
    float | None, solver("GAP", f"Relative optimality gap to reach (default: {DEFAULT_TOL:g}).")
]
MaxIter = Annotated[int | None, solver("N", "Maximum number of iterations.")]
Verbose = Annotated[bool, solver(None, "Log the solver's iterations.", "--verbose", "-v")]


def make_estimator(method: Method, given: dict[str, Any]) -> Any:
    """Return an estimator with the parameters from the command line.

    Parameters
    ----------
    method : {"clrsc", "lrr", "ssc", "mlap"}
    given : dict
        Values of parameters as text, number or bool; None keeps the default.
    """
    values = {name: value for name, value in given.items() if value is not None}
    known = METHODS[method]().get_params()
    for name in values:
        if name not in known:
            others = [other for other, kind in METHODS.items() if name in kind().get_params()]
            raise InputError(
                f"--{name.replace('_', '-')} is not an option of --method {method}, only of "
                f"{', '.join(others)}."
            )
    return METHODS[method](
        **{
            name: PARSERS[name](value) if name in PARSERS else value
            for name, value in values.items()
        }
    )
