"""``viewspan predict``: assign new samples to the clusters of a model."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from viewspan._utils.signals import immediate_exit
from viewspan.cli import options
from viewspan.cli.folder import (
    RECORD_NAME,
    check_not_a_file,
    check_not_inputs,
    recorded_checksums,
    write_files,
)
from viewspan.cli.models import model_path
from viewspan.cli.parameters import parse_decimal
from viewspan.cli.terminal import Terminal, exit_on_error
from viewspan.io.readers.source import Source, extension_of
from viewspan.io.readers.table import InputError, Missing, Reading


def predict(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="Model that `viewspan cluster` wrote.")
    ],
    views: Annotated[
        list[str],
        typer.Argument(
            metavar="VIEW",
            help="New samples: one file per view, in the order of the model's views, or NAME=FILE.",
        ),
    ],
    out: Annotated[
        Path | None, options.out_path("CSV", "Output file for id, label and confidence.")
    ] = None,
    force: Annotated[
        bool, options.general(None, "Replace the output file if it exists.", "--force")
    ] = False,
    id_column: options.IdColumn = None,
    missing: Annotated[
        Missing | None,
        options.files(
            "RULE",
            "Samples missing from some files: forbid, allow or drop (default: as in the fit).",
        ),
    ] = None,
    ignore: options.Ignore = None,
    header: options.Header = None,
    decimal: options.Decimal = ".",
) -> None:
    """Assign new samples to the clusters of a model.

    The views must have the same features as those of the model; named columns may be in any order.
    Samples that the model was fitted to keep their labels. Without `--out`, the table goes to
    standard output.

    - `viewspan predict results/model radar_new.csv optical_new.csv -o new_labels.csv`
    """
    with exit_on_error("predict"):
        paths = [Source.parse(view).path for view in views]
        if out is not None:
            check_out_file(out, [model, model / "model", *paths], force=force)
        path = model_path(model)
        for view in paths:
            extension_of(view)
        reading = Reading(id_column, ignore or [], header, parse_decimal(decimal))
        with immediate_exit():
            from viewspan.cli.prediction import table_of_predictions  # it needs scikit-learn
        content = table_of_predictions(path, views, reading, missing)
        Terminal().print_notes(reading.notes)
        if out is None:
            typer.echo(content, nl=False)
        else:
            write_files(out.parent, {out.name: content})
            typer.echo(out)


def check_out_file(out: Path, inputs: Sequence[Path], *, force: bool) -> None:
    """Raise InputError if --out is a folder or a file that must not be replaced.

    ``--force`` replaces files with the header of a table of labels, unless they belong to a run.
    """
    if out.is_dir():
        raise InputError(f"{out} is a folder, but --out needs a file.")
    if not out.is_file():
        check_not_a_file(out.parent)
        return
    check_not_inputs([out], inputs)
    if not force:
        raise InputError(f"{out} already exists; choose another --out, or add --force.")
    if out.name in recorded_checksums(out.parent / RECORD_NAME):
        raise InputError(
            f"{out} belongs to a run of viewspan cluster, so --force does not replace it; choose "
            "another --out."
        )
    from viewspan.io.readers.labels import is_labels_csv  # here, because it needs numpy

    if not is_labels_csv(out):
        raise InputError(
            f"{out} is not a table of labels that viewspan predict wrote, so --force does not "
            "replace it; choose another --out."
        )
