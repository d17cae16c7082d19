"""The work of ``viewspan predict``: read a model and views, and assign the samples."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from viewspan._utils.text import listed
from viewspan._utils.typing import AnyArray
from viewspan.cli.inputs import read_all, warnings_as_notes
from viewspan.inputs.fitted_inputs import per_view, view_names
from viewspan.io.models import load
from viewspan.io.readers.align import align
from viewspan.io.readers.labels import labels_csv
from viewspan.io.readers.table import InputError, Missing, Reading, Table


def table_of_predictions(
    path: Path, views: Sequence[str], reading: Reading, missing: Missing | None
) -> bytes:
    """Return the clusters of new samples as a .csv file."""
    fitted = load(path)
    tables = match_views(read_all(views, reading), fitted, reading)
    if missing == "allow" and fitted.missing != "allow":
        raise InputError("--missing allow needs a model that was fitted with --missing allow.")
    aligned = align(tables, reading, missing or fitted.missing)
    with warnings_as_notes(reading):
        labels, confidence = predict_labels(fitted, aligned.views, path)
    return labels_csv(aligned.sample_ids, labels, confidence)


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
