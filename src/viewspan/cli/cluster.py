"""``viewspan cluster``: cluster the samples in the user's files."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from viewspan.cli import options
from viewspan.cli.job import Job
from viewspan.cli.parameters import (
    AUTO,
    PARAMETERS,
    parse_decimal,
    parse_image_shape,
    parse_n_clusters,
    parse_parameters,
)
from viewspan.cli.run import run
from viewspan.cli.terminal import Terminal, exit_on_error
from viewspan.io.readers.table import Reading


def cluster(
    views: Annotated[
        list[str],
        typer.Argument(
            metavar="VIEW",
            help="One file per view, samples in rows: FILE, FILE::KEY or NAME=FILE.",
        ),
    ],
    out: Annotated[Path, options.out_path("FOLDER", "Output folder.")],
    n_clusters: options.NClusters = AUTO,
    method: options.MethodName = "clrsc",
    seed: options.Seed = 0,
    labels: Annotated[
        str | None,
        options.general("FILE", "True labels, for scores: FILE, FILE::COLUMN or FILE::KEY."),
    ] = None,
    image_shape: Annotated[
        list[str] | None,
        options.general(
            "SHAPE", "Shape of samples that are images: 8x8, or 8x8x3 for colour. Repeatable."
        ),
    ] = None,
    report: Annotated[
        bool, options.general(None, "Write report.html (default).", "--report/--no-report")
    ] = True,
    force: options.Force = False,
    quiet: options.Quiet = False,
    id_column: options.IdColumn = None,
    missing: options.MissingIds = None,
    ignore: options.Ignore = None,
    header: options.Header = None,
    decimal: options.Decimal = ".",
    lam: options.Lam = None,
    tau: options.Tau = None,
    datafit: options.Datafit = None,
    penalty: options.Penalty = None,
    coupling: options.Coupling = None,
    fusion: options.Fusion = None,
    read_as: options.ReadAs = None,
    scale_features: options.ScaleFeatures = None,
    affine: options.Affine = None,
    normalize: options.Normalize = None,
    view_weights: options.ViewWeights = None,
    affinity: options.Affinity = None,
    n_neighbors: options.NNeighbors = None,
    graph: options.GraphKind = None,
    n_landmarks: options.NLandmarks = None,
    assign_labels: options.AssignLabels = None,
    solver: options.Solver = None,
    tol: options.Tol = None,
    max_iter: options.MaxIter = None,
    verbose: options.Verbose = False,
) -> None:
    """Cluster samples that are described by several files.

    The output folder gets **labels.csv** (id, label, confidence), **report.html** to open in a
    browser, **model** for `viewspan predict`, and **run.json** (parameters, versions, scores).

    Files may be .csv, .tsv, .txt, .parquet, .npy, .npz::KEY, .mat::KEY, .h5ad or .h5mu. FILE::KEY.T
    reads samples from columns. With `--id`, rows are matched by that column; without it, all files
    must have the same rows in the same order. A .npy file may be larger than memory.

    - `viewspan cluster radar.csv optical.csv --n-clusters 5 --out results`
    - `viewspan cluster genes.csv images.parquet --id patient -o results --labels truth.csv`
    - `viewspan cluster left=a.npz::left right=a.npz::right -k 10 -o results`
    """
    given: dict[str, Any] = {name: value for name, value in locals().items() if name in PARAMETERS}
    with exit_on_error("cluster"):
        given["missing"] = "allow" if missing == "allow" else None
        parameters = parse_parameters(method, given)
        job = Job(
            sources=views,
            out=out,
            method=method,
            parameters=parameters
            | {
                "n_clusters": parse_n_clusters(n_clusters),
                "random_state": seed,
                "verbose": verbose,
            },
            reading=Reading(id_column, ignore or [], header, parse_decimal(decimal)),
            missing=missing or "forbid",
            truth=labels,
            image_shapes=[parse_image_shape(text) for text in image_shape or []],
            report=report,
            force=force,
            command=["viewspan", *sys.argv[1:]],
        )
        for path in run(job, Terminal(quiet=quiet)):
            typer.echo(path)
