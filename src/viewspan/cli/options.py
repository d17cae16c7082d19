"""Command-line options, among them all parameters of the estimators."""

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from viewspan._utils.defaults import DEFAULT_N_LANDMARKS, DEFAULT_N_NEIGHBORS, DEFAULT_TOL
from viewspan.cli.parameters import WORDS, Method, one_of
from viewspan.io.readers.table import Missing


def option(panel: str, metavar: str | None, text: str, *names: str, **settings: Any) -> Any:
    """Return a typer option; a panel is a heading of the help page, and flags have no metavar."""
    settings |= {"metavar": metavar, "rich_help_panel": panel, "show_default": False}
    return typer.Option(*names, help=text, **settings)


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
    objective(
        "NAME",
        "Data fit: frobenius for noise in all values (default), l12 for outlying samples or l1 for "
        "outlying values.",
    ),
]
Penalty = Annotated[
    str | None,
    objective("NAME", "Penalty: nuclear for low rank (default) or l1 for sparse coefficients."),
]
Coupling = Annotated[
    str | None,
    objective(
        "NAME",
        "Coupling: nuclear for similar patterns (default), l12 for common entries, rank_one for "
        "one pattern in all views or none for separate views.",
    ),
]
Fusion = Annotated[
    str | None,
    objective("NAME", "How lrr and ssc combine views: late (unite graphs, default) or concat."),
]

ReadAs = Annotated[
    str | None,
    graph(
        "NAME",
        "What counts of a sample: auto (default), its direction, or its position in standard units "
        "(directions or positions, or one word per view with commas).",
    ),
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
        f"Label assignment: auto (default), {one_of(WORDS['assign_labels'][1:])}.",
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
