"""Fitted models in files from which nothing can be executed.

The format is skops', a zip archive of arrays and a description in JSON, and of the types that it may name only those
listed here are accepted. A pickle would run whatever its writer wanted.
"""

import json
import os
import zipfile
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from viewspan._files import write_whole
from viewspan._optional import require
from viewspan._sparse import is_sparse
from viewspan._version import __version__
from viewspan.estimators.base import SubspaceClusterer

OURS = {
    "viewspan._linalg.Spectrum",
    "viewspan.coordinates.ByFeatures",
    "viewspan.coordinates.BySamples",
    "viewspan.estimators.clrsc.CLRSC",
    "viewspan.estimators.lrr.LRR",
    "viewspan.estimators.mlap.MLAP",
    "viewspan.estimators.ssc.SSC",
    "viewspan.fitting.Fitted",
    "viewspan.graph.unite.Unite",
    "viewspan.graph.unite.United",
    "viewspan.preparation.Columns",
    "viewspan.preparation.Preparation",
    "viewspan.preparation.Treatment",
    "viewspan.recognition.Known",
    "viewspan.reduction.Reduction",
    "viewspan.solvers.result.Check",
    "viewspan.solvers.result.Result",
}
OTHERS = {
    *(f"builtins.{name}" for name in ("dict", "list", "tuple", "str", "int", "float", "bool", "NoneType")),
    *(f"numpy.{name}" for name in ("ndarray", "bool", "bool_", "int32", "int64", "float32", "float64", "str_")),
    "numpy.random.mtrand.RandomState",
    "scipy.sparse._csr.csr_array",
}
LOADERS = {
    *("DictNode", "JsonNode", "ListNode", "NdArrayNode", "ObjectNode"),
    *("RandomStateNode", "SparseMatrixNode", "TupleNode", "TypeNode"),
}
"""What fitted models are made of, and what skops makes them with; it would trust all of scikit-learn."""
DENSEST = 200
"""Times that a model's content may be larger than its file: more is no model, but a file made to fill the memory."""
NOT_KEPT = ("_arrived", "_skl_callbacks")
"""Batches, and scikit-learn's callbacks."""
NEEDED = (
    "labels_",
    "_fit",
    "n_views_in_",
    "n_features_in_",
    "n_clusters_",
    "confidence_",
    "view_weights_",
    "_view_names",
    "result_",
)
"""What everything else that is told of a model is made of."""
FOUND_AGAIN = ("assigner", "explanation")
"""Parts of a fit that are made when they are asked for."""


def save(model: SubspaceClusterer, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a file, for :func:`load`.

    All that is known of it is kept, except callbacks. A model that was fitted in batches is kept as it is solved,
    and after loading batches start anew.

    Parameters
    ----------
    model : CLRSC, LRR, SSC or MLAP
    path : path
        A file that is there is replaced.
    """
    write_whole(Path(path), as_bytes(model))


def as_bytes(model: SubspaceClusterer) -> bytes:
    """The content of the file."""
    skops = require("skops.io", "cli", purpose="Saving models")
    check_is_fitted(model, "labels_")
    slim = copy(model)
    slim.callback = None
    for name in NOT_KEPT:
        slim.__dict__.pop(name, None)
    slim._fit = copy(model._fit)
    for name in FOUND_AGAIN:
        slim._fit.__dict__.pop(name, None)
    content = {"viewspan": __version__, "model": slim}
    return bytes(skops.dumps(content, compression=zipfile.ZIP_DEFLATED, compresslevel=1))


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that :func:`save` wrote. Nothing in the file is executed, whoever wrote it.

    Parameters
    ----------
    path : path

    Returns
    -------
    CLRSC, LRR, SSC or MLAP
        Fitted.
    """
    skops = require("skops.io", "cli", purpose="Loading models")
    if not zipfile.is_zipfile(path):
        with Path(path).open("rb"):  # a file that is not there says so itself
            raise ValueError(f"{path} is not a model that viewspan saved.")
    try:
        foreign = foreign_parts(Path(path))
        model = None if foreign else skops.load(path, trusted=sorted(OURS | OTHERS))["model"]
        if isinstance(model, SubspaceClusterer):
            check_whole(model)
    except (MemoryError, OSError):
        raise
    except Exception as error:  # a damaged archive fails in any way it likes
        what = str(error).strip().splitlines()[:1] or [type(error).__name__]
        raise ValueError(f"{path} is damaged, or no model that viewspan {__version__} can read: {what[0]}.") from error
    if foreign:
        raise ValueError(f"{path} is not loaded: it asks for {min(foreign)}, which no model of viewspan needs.")
    if not isinstance(model, SubspaceClusterer):
        raise ValueError(f"{path} holds no whole model of viewspan.")
    return model


def foreign_parts(path: Path) -> set[str]:
    """Types and ways of making them that are in the file and in no model."""
    with zipfile.ZipFile(path) as archive:
        size = sum(entry.file_size for entry in archive.infolist())
        if size > DENSEST * path.stat().st_size:
            raise ValueError("it would fill the memory")
        schema = json.loads(archive.read("schema.json"))
    found: set[str] = set()
    waiting: list[Any] = [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            if "__loader__" in node:
                found |= {f"{node.get('__module__')}.{node.get('__class__')}"} - OURS - OTHERS
                found |= {str(node["__loader__"])} - LOADERS
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)
    return found


def check_whole(model: SubspaceClusterer) -> None:
    """Its parts are there, and indices of sparse arrays lie within them, which nobody would look at later."""
    lacking = [name for name in NEEDED if not hasattr(model, name)]
    if lacking:
        raise ValueError(f"it has no {lacking[0]}")
    fit = model._fit
    graphs = [fit.united.graph, *fit.united.graphs, *getattr(fit.reduction.coordinates, "views", [])]
    if not all(is_within_bounds(graph) for graph in graphs if is_sparse(graph)):
        raise ValueError("a sparse array points outside of itself")
    if len(model.confidence_) != len(model.labels_) or len(fit.assigner.labels) != graphs[0].shape[0]:
        raise ValueError("its parts are not of one size")


def is_within_bounds(array: Any) -> bool:
    """Every place that a sparse array (CSR) names is in it; compiled code would read whatever is there."""
    starts, places = array.indptr, array.indices
    in_order = len(starts) == array.shape[0] + 1 and starts[0] == 0 and bool((np.diff(starts) >= 0).all())
    whole = in_order and int(starts[-1]) == len(places) == len(array.data)
    return whole and (len(places) == 0 or bool(places.min() >= 0 and places.max() < array.shape[1]))
