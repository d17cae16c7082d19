"""``viewspan cluster``: files in, labels, a model, a report and a record out."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from viewspan.cli import options as o
from viewspan.cli.terminal import Terminal, one_sentence
from viewspan.io.readers import InputError, Reading

PARAMETERS = {name for method in o.METHODS.values() for name in method().get_params()}


def cluster(
    views: Annotated[
        list[str],
        typer.Argument(
            metavar="VIEW...",
            help="One file per view, samples in rows: FILE, FILE::KEY or NAME=FILE.",
        ),
    ],
    out: Annotated[
        Path,
        o.option("Options", "The folder for what is written.", "--out", "-o", metavar="FOLDER"),
    ],
    n_clusters: o.Clusters = o.AUTO,
    method: o.Chosen = o.Method.CLRSC,
    seed: o.Seed = 0,
    labels: Annotated[
        str | None,
        o.option("Options", "True labels to score against: FILE, FILE::COLUMN or FILE::KEY."),
    ] = None,
    image_shape: Annotated[
        list[str] | None,
        o.option("Options", "Samples are pictures of this shape: 8x8, or 8x8x3 for colour."),
    ] = None,
    report: Annotated[
        bool, o.option("Options", "Write report.html (default).", "--report/--no-report")
    ] = True,
    force: Annotated[
        bool, o.option("Options", "Replace what an earlier run wrote into the folder.", "--force")
    ] = False,
    quiet: o.Quiet = False,
    id_column: o.IdColumn = None,
    missing: o.WhatIsMissing = None,
    ignore: o.Ignored = None,
    header: o.Header = None,
    decimal: o.Decimal = ".",
    lam: o.Lam = None,
    tau: o.Tau = None,
    datafit: o.Datafit = None,
    penalty: o.Penalty = None,
    coupling: o.Coupling = None,
    fusion: o.Fusion = None,
    scale_features: o.ScaleFeatures = None,
    affine: o.Affine = None,
    normalize: o.Normalize = None,
    view_weights: o.ViewWeights = None,
    affinity: o.Affinity = None,
    n_neighbors: o.Neighbors = None,
    graph: o.GraphKind = None,
    n_landmarks: o.Landmarks = None,
    assign_labels: o.AssignLabels = None,
    solver: o.Solver = None,
    tol: o.Tolerance = None,
    max_iter: o.Iterations = None,
    verbose: o.Verbose = False,
) -> None:
    """Cluster samples that several files describe, and write why to believe it.

    Into the folder: **labels.csv** (id, label, confidence), **report.html** to look at, **model** for `viewspan
    predict`, **run.json** (versions, parameters, times, certificate).

    Files: .csv, .tsv, .parquet, .npy, .npz::key, .mat::key, .h5ad, .h5mu; `::key.T` for samples in columns. With
    `--id` rows are matched by a column, in any order; without, all files must have the same rows. Text, gaps and
    unequal counts are said, never guessed. Arrays (.npy) are read in parts and may be larger than memory.

    - `viewspan cluster radar.csv optical.csv --n-clusters 5 --out out/`
    - `viewspan cluster genes.csv images.parquet --id patient -k auto -o out/ --labels truth.csv`
    - `viewspan cluster left=digits.npz::left right=digits.npz::right -k 10 -o out/ --image-shape 8x4`
    """
    given: dict[str, Any] = {
        name: value for name, value in locals().items() if name in PARAMETERS - {"n_clusters"}
    }
    from viewspan.cli.job import Job, run

    with one_sentence("cluster"):
        if decimal not in {".", ","}:
            raise InputError(f"--decimal must be '.' or ','. Got {decimal!r} instead.")
        given |= {
            "random_state": seed,
            "verbose": verbose or None,
            "missing": "allow" if missing == "allow" else None,
        }
        given["n_clusters"] = o.number_or_auto(n_clusters)
        job = Job(
            sources=views,
            out=out,
            model=o.make_estimator(method, given),
            reading=Reading(id_column, ignore or [], header, decimal),
            missing=missing or "forbid",
            truth=labels,
            image_shapes=image_shape or [],
            report=report,
            force=force,
            command=["viewspan", *sys.argv[1:]],
        )
        for path in run(job, Terminal(quiet=quiet)):
            typer.echo(path)
