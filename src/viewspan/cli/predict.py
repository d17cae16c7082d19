"""``viewspan predict``: the clusters of new samples."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from viewspan._utils.typing import AnyArray
from viewspan.cli import options as o
from viewspan.cli.terminal import Terminal, one_sentence
from viewspan.io.readers import InputError, Reading
from viewspan.io.readers.table import Table, listed


def predict(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="The model that `viewspan cluster` wrote.")
    ],
    views: Annotated[
        list[str],
        typer.Argument(
            metavar="VIEW...",
            help="The same views of new samples, in the same order, or NAME=FILE.",
        ),
    ],
    out: Annotated[
        Path | None,
        o.option("Options", "The file for id, label, confidence.", "--out", "-o", metavar="CSV"),
    ] = None,
    force: Annotated[
        bool, o.option("Options", "Replace the file if it is there.", "--force")
    ] = False,
    id_column: o.IdColumn = None,
    missing: o.WhatIsMissing = None,
    ignore: o.Ignored = None,
    header: o.Header = None,
    decimal: o.Decimal = ".",
) -> None:
    """Tell the clusters of samples that were not there when the model was made.

    The features must be those of then; columns with names are found by them. Samples that were there get the label
    that they had. Without `--out`, the table goes to standard output.

    - `viewspan predict out/model radar_new.csv optical_new.csv -o new_labels.csv`
    """
    with one_sentence("predict"):
        from viewspan import load
        from viewspan._utils.files import folder_for
        from viewspan.cli.folder import check_no_input, write_all
        from viewspan.cli.job import collected_warnings, read_all
        from viewspan.io.readers import align
        from viewspan.io.readers.labels import labels_csv
        from viewspan.io.readers.read import Source

        if out is not None:
            check_file(out, force=force)
            check_no_input(
                [out] if out.is_file() else [],
                [model_file(model), *(Source.parse(v).path for v in views)],
            )
        fitted = load(model_file(model))
        reading = Reading(id_column, ignore or [], header, decimal)
        tables = read_all(views, reading)
        if missing == "allow" and fitted.missing != "allow":
            raise InputError("--missing allow needs a model that was made with it.")
        aligned = align(in_order(tables, fitted, reading), reading, missing or fitted.missing)
        with collected_warnings(reading):
            labels, confidence = predicted(fitted, aligned.views, model)
        Terminal().notes(reading.notes)
        content = labels_csv(aligned.sample_ids, labels, confidence)
        if out is None:
            typer.echo(content, nl=False)
            return
        with folder_for(out.parent):
            write_all({out: content})
        typer.echo(out)


def check_file(out: Path, *, force: bool) -> None:
    """Before the work, not after it. A device or a pipe, such as /dev/stdout, has nothing that could be lost."""
    if out.is_dir():
        raise InputError(f"{out} is a folder; --out names a file.")
    if out.is_file() and not force:
        raise InputError(
            f"{out} is there already; name another file, or give --force to replace it."
        )


def model_file(path: Path) -> Path:
    """The file, also if its folder is meant."""
    if path.is_dir() and (path / "model").is_file():
        return path / "model"
    if not path.is_file():
        raise InputError(
            f"{path} is no model; give the file that `viewspan cluster` wrote, FOLDER/model."
        )
    return path


def in_order(tables: list[Table], fitted: Any, reading: Reading) -> list[Table]:
    """By the names of views if they are given, else as they stand; columns by their names if they have them."""
    names = getattr(fitted, "view_names_in_", None) or [tables[0].name]
    if len(tables) != len(names):
        raise InputError(
            f"The model has {len(names)} views ({listed(names)}), and {len(tables)} were given."
        )
    given = {table.name: table for table in tables}
    named = [table.name for table in tables if table.named]
    if named and set(given) != set(names):
        raise InputError(
            f"The model's views are {listed(names)}, and {listed(named)} was given; name all of them so."
        )
    ordered = [given[name] for name in names] if set(given) == set(names) else tables
    features = getattr(fitted, "feature_names_in_", (None,) * len(names))
    features = features if isinstance(features, tuple) else (features,)
    return [
        replace(table, name=name, values=by_columns(table, wanted, reading))
        for table, name, wanted in zip(ordered, names, features, strict=True)
    ]


def by_columns(table: Table, wanted: AnyArray | None, reading: Reading) -> Any:
    """The features that the model knows, in its order, where both have names for them."""
    if wanted is None or table.columns is None:
        return table.values
    known = {str(name): place for place, name in enumerate(table.columns)}
    lost = [str(name) for name in wanted if str(name) not in known]
    if lost:
        raise InputError(
            f"{table.source} lacks columns that the model was made with: {listed(lost)}."
        )
    extra = [name for name in known if name not in set(map(str, wanted))]
    if extra:
        reading.note(
            f"{table.source}: columns that the model does not know are not used: {listed(extra)}."
        )
    places = [known[str(name)] for name in wanted]
    return (
        table.values.iloc[:, places] if hasattr(table.values, "iloc") else table.values[:, places]
    )


def predicted(fitted: Any, views: dict[str, Any], path: Path) -> tuple[Any, Any]:
    """A model whose parts do not fit together was not written by us."""
    try:
        return fitted.predict(views), fitted.predict_confidence(views)
    except (IndexError, KeyError, AttributeError) as error:
        raise InputError(f"{path} is damaged: {error}.") from error
