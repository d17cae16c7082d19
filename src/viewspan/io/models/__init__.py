"""Fitted models in files from which nothing can be executed.

A file holds plain arrays and JSON, with the version of its format and a checksum of every part (:mod:`archive`), and of
the things that the JSON may name only those are made that models consist of (:mod:`plain`). A pickle would run whatever
its writer wanted.
"""

import os
from copy import copy
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from viewspan._utils.files import write_whole
from viewspan._version import __version__
from viewspan.estimators.base import SubspaceClusterer
from viewspan.io.models import archive
from viewspan.io.models.plain import Decoder, Encoder

__all__ = ["as_bytes", "load", "save"]

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
    "result_",
)
"""What everything else that is told of a model is made of."""


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
    check_is_fitted(model, "labels_")
    slim = copy(model)
    slim.callback = None
    for name in NOT_KEPT:
        slim.__dict__.pop(name, None)
    encoder = Encoder()
    return archive.packed(encoder.encode(slim), encoder.arrays)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that :func:`save` wrote. Nothing in the file is executed, whoever wrote it.

    The checksums tell damage, not who wrote the file: a stranger's model may give any labels.

    Parameters
    ----------
    path : path

    Returns
    -------
    CLRSC, LRR, SSC or MLAP
        Fitted.
    """
    try:
        tree, arrays = archive.unpacked(Path(path))
        model = Decoder(arrays).decode(tree)
        check_whole(model)
    except archive.NotAModelError as error:
        raise ValueError(f"{path} {error}") from error
    except (MemoryError, OSError):
        raise
    except Exception as error:  # what a stranger wrote fails in any way it likes
        what = str(error).strip().splitlines()[:1] or [type(error).__name__]
        raise ValueError(
            f"{path} is damaged, or no model that viewspan {__version__} can read: {what[0].rstrip('.')}."
        ) from error
    return model


def check_whole(model: Any) -> None:
    """It is a model, its parts are there, and they belong together."""
    if not isinstance(model, SubspaceClusterer):
        raise TypeError("it holds no model")
    lacking = [name for name in NEEDED if not hasattr(model, name)]
    if lacking:
        raise ValueError(f"it has no {lacking[0]}")
    fit = model._fit
    if (
        len(model.confidence_) != len(model.labels_)
        or len(fit.united.labels) != fit.united.graph.shape[0]
    ):
        raise ValueError("its parts are not of one size")
