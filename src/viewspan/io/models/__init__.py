"""Save and load fitted models. Nothing in a model file can be executed.

A file holds plain arrays and JSON, with a format version and a checksum of every part
(:mod:`archive`). Loading creates only the objects listed in :mod:`schema`, whereas a pickle can run
any code.
"""

import os
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from viewspan._utils.files import write_atomically
from viewspan._utils.warnings import warn
from viewspan._version import __version__
from viewspan.estimators.base import SubspaceClusterer
from viewspan.fit.state import FittedState
from viewspan.io.models import archive, version_1
from viewspan.io.models.encoding import Decoder, Encoder
from viewspan.io.models.schema import ESTIMATORS, INPUT_ATTRIBUTES, RECORDS
from viewspan.objective.couplings import Coupling
from viewspan.objective.datafits import Datafit
from viewspan.objective.penalties import Penalty

__all__ = ["as_bytes", "load", "save"]

AXES = {"datafit": Datafit, "penalty": Penalty, "coupling": Coupling}
REQUIRED = ("n_views_in_", "n_features_in_")
PARTS = {"estimator", "parameters", "inputs", "output", "state"}
OUTPUT_CONFIG = "_sklearn_output_config"
"""Attribute in which scikit-learn stores the settings of ``set_output``."""


def save(model: SubspaceClusterer, path: str | os.PathLike[str]) -> None:
    """Save a fitted model to a file that :func:`load` can read.

    Callbacks and datafits, penalties and couplings of your own classes are not saved; a warning
    names the latter. The loaded model predicts as before, but needs them again for another fit. The
    summary of earlier batches is not saved either: after loading, ``partial_fit`` starts anew.

    Parameters
    ----------
    model : CLRSC, LRR, SSC or MLAP
    path : path
        An existing file is replaced.
    """
    write_atomically(Path(path), as_bytes(model))


def as_bytes(model: SubspaceClusterer) -> bytes:
    """Return the content of the model file."""
    check_is_fitted(model, "labels_")
    encoder = Encoder()
    tree = {
        "estimator": type(model).__name__,
        "parameters": {
            name: encoder.encode(value) for name, value in savable_parameters(model).items()
        },
        "inputs": {
            name: encoder.encode(getattr(model, name))
            for name in INPUT_ATTRIBUTES
            if hasattr(model, name)
        },
        "output": encoder.encode(dict(getattr(model, OUTPUT_CONFIG, {}))),
        "state": encoder.encode(model.fitted_state_),
    }
    return archive.pack(tree, encoder.arrays)


def savable_parameters(model: SubspaceClusterer) -> dict[str, Any]:
    """Return the parameters without callbacks and without objects of the user's own classes."""
    parameters: dict[str, Any] = model.get_params(deep=False) | {"callback": None}
    known = {item.kind for item in RECORDS.values()}
    for name, kind in AXES.items():
        value = parameters.get(name)
        if isinstance(value, kind) and type(value) not in known:
            warn(
                f"{name}={value!r} is saved without its class: the loaded model predicts as this "
                f"one, and set_params({name}=…) is needed before another fit."
            )
            parameters[name] = None
    return parameters


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that :func:`save` wrote, also one of viewspan 0.1. Nothing in it is executed.

    The checksums detect damage. They do not prove who wrote the file, so a file from somebody else
    may give any labels.

    Parameters
    ----------
    path : path

    Returns
    -------
    CLRSC, LRR, SSC or MLAP
        Fitted.
    """
    try:
        version, tree, arrays = archive.unpack(Path(path))
        model = read_version_1(tree, arrays) if version == 1 else read_version_2(tree, arrays)
        check_consistent(model)
    except archive.NotAModelError as error:
        raise ValueError(f"{path} {error}") from error
    except (MemoryError, OSError):
        raise
    except Exception as error:  # a damaged or hostile file can fail in any way
        what = str(error).strip().splitlines()[:1] or [type(error).__name__]
        raise ValueError(
            f"{path} is damaged or is not a model that viewspan {__version__} can read: "
            f"{what[0].rstrip('.')}."
        ) from error
    return model


def read_version_2(tree: Any, arrays: list[Any]) -> SubspaceClusterer:
    """Return the model of a file of the present version."""
    if not isinstance(tree, dict) or set(tree) != PARTS:
        raise TypeError("it holds no model")
    decoder = Decoder(arrays, RECORDS)
    kind = ESTIMATORS[tree["estimator"]]
    parameters = decoder.decode_fields(tree["parameters"])
    unknown = set(parameters) - set(kind().get_params())
    if unknown:
        raise ValueError(f"{kind.__name__} has no parameter {min(unknown)!r:.60}")
    inputs = decoder.decode_fields(tree["inputs"])
    if not set(REQUIRED) <= set(inputs) <= set(INPUT_ATTRIBUTES):
        raise ValueError("it does not say which views it was fitted to")
    output = decoder.decode(tree["output"])
    state = decoder.decode(tree["state"])
    model = kind(**parameters).restore_fit(state, inputs)
    return model.set_output(**output) if output else model


def read_version_1(tree: Any, arrays: list[Any]) -> SubspaceClusterer:
    """Return the model of a file that viewspan 0.1 wrote."""
    if not isinstance(tree, dict) or set(tree).isdisjoint(ESTIMATORS):
        raise TypeError("it holds no model")
    [(name, content)] = tree.items()
    decoder = Decoder(arrays, version_1.RECORDS)
    model: SubspaceClusterer = version_1.model_from(name, decoder.decode_fields(content))
    return model


def check_consistent(model: SubspaceClusterer) -> None:
    """Raise TypeError or ValueError unless the parts of a model belong together."""
    state = model.fitted_state_
    if not isinstance(state, FittedState):
        raise TypeError("it holds no model")
    n_nodes = state.partition.graph.shape[0]
    sizes_match = len(state.confidence) == len(state.labels)
    if not sizes_match or len(state.graph.labels) != n_nodes or state.assigner.width < 1:
        raise ValueError("its parts have different sizes")
