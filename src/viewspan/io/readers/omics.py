"""AnnData's and MuData's files: one modality, or several, with the names of cells and genes."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from viewspan._utils.optional import require
from viewspan.io.readers import hdf5
from viewspan.io.readers.arrays import check_kind, no_key
from viewspan.io.readers.sparse import dense_or_by_rows
from viewspan.io.readers.table import InputError, Part, Reading, Table

if TYPE_CHECKING:
    from viewspan.io.readers.read import Source


def anndata() -> Any:
    return require("anndata", "omics", purpose="Reading .h5ad files")


def mudata() -> Any:
    return require("mudata", "omics", purpose="Reading .h5mu files")


def read_h5ad(source: "Source", reading: Reading) -> list[Table]:
    """X, or the layer or embedding (obsm) with the key; cells are the samples."""
    reader = anndata()
    hdf5.check_all(source.path)
    data = reader.read_h5ad(source.path)
    return [table_of(source, data, source.key or "X", reading)]


def read_h5mu(source: "Source", reading: Reading) -> list[Table]:
    """Every modality as a view; ``::rna`` for one of them, ``::rna/X_pca`` for something in it."""
    reader = mudata()
    hdf5.check_all(source.path)
    data = reader.read_h5mu(source.path)
    if source.key is None:
        return [table_of(source, data.mod[name], "X", reading, part=name) for name in data.mod]
    name, _, key = source.key.partition("/")
    if name not in data.mod:
        parts = {part.key: part for part in contents_of_h5mu(source.path)}
        raise InputError(no_key(source.path, name, parts))
    return [table_of(source, data.mod[name], key or "X", reading)]


def table_of(
    source: "Source", data: Any, key: str, reading: Reading, part: str | None = None
) -> Table:
    found = tables_in(data)
    if key not in found:
        parts = {name: Part(name, np.shape(values), "") for name, values in found.items()}
        raise InputError(no_key(source.path, key, parts))
    if reading.id_column is not None and reading.id_column not in data.obs:
        raise InputError(
            f"{source.path} has no {reading.id_column!r} among what it says of its samples (obs) for --id."
        )
    ids = data.obs_names if reading.id_column is None else data.obs[reading.id_column]
    if ids.isna().any():
        raise InputError(
            f"{source.path}: {int(ids.isna().sum())} of its samples have no id in {reading.id_column!r}."
        )
    values = dense_or_by_rows(source.path, found[key])
    columns = data.var_names if values.shape[1] == data.n_vars and key not in data.obsm else None
    return source.table(
        check_kind(values, source.text), ids.astype(str), part=part, columns=columns
    )


def tables_in(data: Any) -> dict[str, Any]:
    """X, layers and embeddings, by name."""
    found = {} if data.X is None else {"X": data.X}
    layers = {
        name: values for name, values in data.layers.items() if name is not None
    }  # None is X, from 0.13 on
    return {**dict(data.obsm), **layers, **found}


def contents_of_h5ad(path: Path) -> list[Part]:
    """What can be a view."""
    reader = anndata()
    hdf5.check_some(path)
    return parts_of(reader.read_h5ad(path, backed="r"))


def contents_of_h5mu(path: Path) -> list[Part]:
    """What can be a view, in every modality."""
    reader = mudata()
    hdf5.check_some(path)
    data = reader.read_h5mu(path, backed="r")
    return [
        Part(name if part.key == "X" else f"{name}/{part.key}", part.shape, part.kind)
        for name in data.mod
        for part in parts_of(data.mod[name])
    ]


def parts_of(data: Any) -> list[Part]:
    return [
        Part(key, np.shape(values), str(getattr(values, "dtype", "table")))
        for key, values in tables_in(data).items()
    ]
