"""``viewspan predict``: assign new samples to the clusters of a model."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from viewspan._utils.text import listed
from viewspan._utils.typing import AnyArray
from viewspan.cli import options
from viewspan.cli.folder import (
    RECORD_NAME,
    check_not_inputs,
    recorded_checksums,
    write_files,
)
from viewspan.cli.inputs import read_all, warnings_as_notes
from viewspan.cli.models import model_path
from viewspan.cli.terminal import Terminal, exit_on_error
from viewspan.inputs.fitted_inputs import per_view, view_names
from viewspan.io.models import load
from viewspan.io.readers.align import align
from viewspan.io.readers.labels import is_labels_csv, labels_csv
from viewspan.io.readers.source import Source
from viewspan.io.readers.table import InputError, Missing, Reading, Table


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
        if out is not None:
            inputs = [model, model / "model", *(Source.parse(view).path for view in views)]
            check_out_file(out, inputs, force=force)
        path = model_path(model)
        fitted = load(path)
        reading = Reading(id_column, ignore or [], header, decimal)
        tables = match_views(read_all(views, reading), fitted, reading)
        if missing == "allow" and fitted.missing != "allow":
            raise InputError("--missing allow needs a model that was fitted with --missing allow.")
        aligned = align(tables, reading, missing or fitted.missing)
        with warnings_as_notes(reading):
            labels, confidence = predict_labels(fitted, aligned.views, path)
        Terminal().print_notes(reading.notes)
        content = labels_csv(aligned.sample_ids, labels, confidence)
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
        return
    check_not_inputs([out], inputs)
    if not force:
        raise InputError(f"{out} already exists; choose another --out, or add --force.")
    if out.name in recorded_checksums(out.parent / RECORD_NAME):
        raise InputError(
            f"{out} belongs to a run of viewspan cluster, so --force does not replace it; choose "
            "another --out."
        )
    if not is_labels_csv(out):
        raise InputError(
            f"{out} is not a table of labels that viewspan predict wrote, so --force does not "
            "replace it; choose another --out."
        )


def match_views(tables: list[Table], fitted: Any, reading: Reading) -> list[Table]:
    """Return the tables in the order of the model's views, with the model's features.

    Tables are matched by name if all of them have the names of views, else by position.
    """
    names = view_names(fitted)
    if len(tables) != len(names):
        raise InputError(
            f"The model has {len(names)} views ({listed(names)}), but {len(tables)} were given."
        )
    by_name = {table.name: table for table in tables}
    named = [table.name for table in tables if table.named]
    if named and set(by_name) != set(names):
        raise InputError(
            f"The model's views are {listed(names)}, but the names {listed(named)} were given; "
            "use the names of the model for all views."
        )
    ordered = [by_name[name] for name in names] if set(by_name) == set(names) else tables
    features = per_view(getattr(fitted, "feature_names_in_", (None,) * len(names)))
    return [
        replace(table, name=name, values=select_features(table, wanted, reading))
        for table, name, wanted in zip(ordered, names, features, strict=True)
    ]


def select_features(table: Table, wanted: AnyArray | None, reading: Reading) -> Any:
    """Return the columns that the model was fitted to, if both have named columns."""
    if wanted is None or table.columns is None:
        return table.values
    positions = {str(name): position for position, name in enumerate(table.columns)}
    names = [str(name) for name in wanted]
    lacking = [name for name in names if name not in positions]
    if lacking:
        raise InputError(
            f"{table.source} lacks columns that the model was fitted to: {listed(lacking)}."
        )
    extra = [name for name in positions if name not in set(names)]
    if extra:
        reading.note(
            f"{table.source}: columns that the model was not fitted to are ignored: "
            f"{listed(extra)}."
        )
    columns = [positions[name] for name in names]
    values = table.values
    return values.iloc[:, columns] if hasattr(values, "iloc") else values[:, columns]


def predict_labels(fitted: Any, views: dict[str, Any], path: Path) -> tuple[Any, Any]:
    """Return labels and confidence, or raise InputError if the parts of the model do not match."""
    try:
        return fitted.predict(views), fitted.predict_confidence(views)
    except (IndexError, KeyError, AttributeError) as error:
        raise InputError(f"{path} is damaged: {error}.") from error
