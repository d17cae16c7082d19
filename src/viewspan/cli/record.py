"""The record of a run, ``run.json``: command, inputs, versions, parameters and results."""

import hashlib
import json
import platform
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from viewspan._version import __version__
from viewspan.cli.job import Job, Outcome

PACKAGES = ("numpy", "scipy", "scikit-learn", "joblib", "threadpoolctl")
MAX_HASHED_BYTES = 2**30
"""Size of the largest input file whose checksum is recorded."""
OMITTED_PARAMETERS = {"callback", "verbose"}


def make_record(job: Job, outcome: Outcome, written: Mapping[str, bytes]) -> bytes:
    """Return the record as JSON, with the checksums of the files that are written with it."""
    model, inputs = outcome.model, outcome.inputs
    parameters = {
        name: value for name, value in model.get_params().items() if name not in OMITTED_PARAMETERS
    }
    record = {
        "command": list(job.command),
        "folder": str(Path.cwd()),
        "versions": {"viewspan": __version__, "python": platform.python_version()}
        | {name: version(name) for name in PACKAGES},
        "method": type(model).__name__,
        "parameters": parameters,
        "views": [
            {"name": table.name, "source": table.source, "features": table.shape[1], **file}
            for table, file in zip(inputs.aligned.tables, inputs.files, strict=True)
        ],
        "samples": inputs.aligned.n_samples,
        "clusters": np.bincount(model.labels_, minlength=model.n_clusters_),
        "certificate": certificate_of(model),
        "chosen": {"lam": model.lam_, "tau": model.tau_, "view_weights": model.view_weights_},
        "view_scores": model.view_scores_,
        "scores": outcome.scores,
        "seconds": {stage: round(value, 3) for stage, value in outcome.seconds.items()},
        "notes": outcome.notes,
        "written": {name: hashlib.sha256(content).hexdigest() for name, content in written.items()},
    }
    text = json.dumps(record, indent=2, ensure_ascii=False, default=as_json_value)
    return text.encode("utf-8", "replace")


def certificate_of(model: Any) -> dict[str, Any]:
    """Return the objective, its lower bound and how the solver stopped."""
    result = model.result_
    return {
        "objective": result.objective,
        "lower_bound": result.dual_bound,
        "relative_gap": model.dual_gap_,
        "tolerance": model.tol,
        "status": result.status,
        "iterations": model.n_iter_,
    }


def describe_file(path: Path) -> dict[str, Any]:
    """Return the size of a file and, unless it is very large, its SHA-256."""
    size = path.stat().st_size
    if size > MAX_HASHED_BYTES:
        return {"bytes": size}
    with path.open("rb") as file:
        return {"bytes": size, "sha256": hashlib.file_digest(file, "sha256").hexdigest()}


def as_json_value(value: Any) -> Any:
    """Convert NumPy arrays and scalars for JSON, and anything else to text."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    return str(value)
