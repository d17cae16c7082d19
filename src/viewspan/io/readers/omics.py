"""Readers of AnnData and MuData files: one modality or several, with cell and gene names."""

from pathlib import Path
from typing import Any

import numpy as np

from viewspan._utils.optional import require
from viewspan.io.readers import hdf5
from viewspan.io.readers.arrays import check_kind, missing_key
from viewspan.io.readers.source import Source
from viewspan.io.readers.sparse import dense_or_csr
from viewspan.io.readers.table import InputError, Part, Reading, Table
from viewspan.io.readers.views import view_of


def anndata() -> Any:
    return require("anndata", "omics", purpose="Reading .h5ad files")


def mudata() -> Any:
    return require("mudata", "omics", purpose="Reading .h5mu files")


def read_h5ad(source: Source, reading: Reading) -> list[Table]:
    """Return X, or the layer or embedding (obsm) with the key. The samples are the cells."""
    reader = anndata()
    hdf5.check_whole_file(source.path)
    data = reader.read_h5ad(source.path)
    return [table_of(source, data, source.key or "X", reading)]


def read_h5mu(source: Source, reading: Reading) -> list[Table]:
    """Return every modality as a view, or with ``::rna`` or ``::rna/X_pca`` one array."""
    reader = mudata()
    hdf5.check_whole_file(source.path)
    data = reader.read_h5mu(source.path)
    if source.key is None:
        return [table_of(source, data.mod[name], "X", reading, part=name) for name in data.mod]
    name, _, key = source.key.partition("/")
    if name not in data.mod:
        parts = {part.key: part for part in contents_of_h5mu(source.path)}
        raise InputError(missing_key(source.path, name, parts))
    return [table_of(source, data.mod[name], key or "X", reading)]


def table_of(
    source: Source, data: Any, key: str, reading: Reading, part: str | None = None
) -> Table:
    """Return one array of a modality as a view, with the ids of its cells."""
    arrays = arrays_in(data)
    if key not in arrays:
        parts = {name: Part(name, np.shape(values), "") for name, values in arrays.items()}
        raise InputError(missing_key(source.path, key, parts))
    if reading.id_column is not None and reading.id_column not in data.obs:
        raise InputError(f"{source.path} has no column {reading.id_column!r} in obs for --id.")
    ids = data.obs_names if reading.id_column is None else data.obs[reading.id_column]
    if ids.isna().any():
        raise InputError(
            f"{source.path}: column {reading.id_column!r} in obs has no id for "
            f"{int(ids.isna().sum())} of {len(ids)} samples."
        )
    values = dense_or_csr(source.path, arrays[key])
    columns = data.var_names if values.shape[1] == data.n_vars and key not in data.obsm else None
    return view_of(
        source, check_kind(values, source.text), ids.astype(str), part=part, columns=columns
    )


def arrays_in(data: Any) -> dict[str, Any]:
    """Return X, layers and embeddings by name."""
    x = {} if data.X is None else {"X": data.X}
    # From anndata 0.13 on, the layer None is X.
    layers = {name: values for name, values in data.layers.items() if name is not None}
    return {**dict(data.obsm), **layers, **x}


def contents_of_h5ad(path: Path) -> list[Part]:
    """Return the arrays that can be a view."""
    reader = anndata()
    hdf5.check_structure(path)
    return parts_of(reader.read_h5ad(path, backed="r"))


def contents_of_h5mu(path: Path) -> list[Part]:
    """Return the arrays of all modalities that can be a view."""
    reader = mudata()
    hdf5.check_structure(path)
    data = reader.read_h5mu(path, backed="r")
    return [
        Part(name if part.key == "X" else f"{name}/{part.key}", part.shape, part.kind)
        for name in data.mod
        for part in parts_of(data.mod[name])
    ]


def parts_of(data: Any) -> list[Part]:
    return [
        Part(key, np.shape(values), str(getattr(values, "dtype", "table")))
        for key, values in arrays_in(data).items()
    ]
