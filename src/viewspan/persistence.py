"""Fitted models in files from which nothing can be executed.

The format is skops', a zip archive of arrays and a description in JSON, and of the types that it may name only those
listed here are accepted. A pickle would run whatever its writer wanted.
"""

import os
import zipfile
from copy import copy
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from viewspan._files import write_whole
from viewspan._optional import require
from viewspan._version import __version__
from viewspan.estimators.base import SubspaceClusterer

TRUSTED = {
    "scipy.sparse._csr.csr_array",
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
"""What a fitted model is made of."""
NOT_KEPT = ("_arrived", "_skl_callbacks")
"""Batches, and scikit-learn's callbacks."""
FOUND_AGAIN = ("assigner", "explanation")
"""Parts of a fit that are made when they are asked for."""

UNREADABLE = (ValueError, KeyError, TypeError, AttributeError, ImportError, EOFError, zipfile.BadZipFile)


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
    skops = require("skops.io", "cli", purpose="Saving models")
    check_is_fitted(model, "labels_")
    slim = copy(model)
    slim.callback = None
    for name in NOT_KEPT:
        slim.__dict__.pop(name, None)
    slim._fit = copy(model._fit)
    for name in FOUND_AGAIN:
        slim._fit.__dict__.pop(name, None)
    content = skops.dumps({"viewspan": __version__, "model": slim}, compression=zipfile.ZIP_DEFLATED, compresslevel=1)
    write_whole(Path(path), content)


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
        foreign = set(skops.get_untrusted_types(file=path)) - TRUSTED
        model = None if foreign else skops.load(path, trusted=sorted(TRUSTED))["model"]
    except UNREADABLE as error:
        raise ValueError(f"{path} is damaged, or not a model that viewspan {__version__} can read: {error}.") from error
    if foreign:
        raise ValueError(f"{path} is not loaded: it asks for {min(foreign)}, which no model of viewspan needs.")
    if not isinstance(model, SubspaceClusterer):
        raise ValueError(f"{path} holds a {type(model).__name__}, not a fitted estimator of viewspan.")
    return model
