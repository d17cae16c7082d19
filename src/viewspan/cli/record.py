"""``run.json``: what was run, with what, on what, and what came of it."""

import hashlib
import json
import platform
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from viewspan._version import __version__

if TYPE_CHECKING:
    from viewspan.cli.job import Job, Outcome

PACKAGES = ("numpy", "scipy", "scikit-learn", "joblib", "threadpoolctl")
LARGEST_HASHED = 2**30
"""Bytes; larger files are named and measured, not read again."""
NOT_PARAMETERS = {"callback", "verbose"}


def record_of(job: "Job", outcome: "Outcome", written: Mapping[Path, bytes]) -> bytes:
    """As JSON. It names the checksums of what is written with it: files of one run can be told from others."""
    model, aligned = outcome.model, outcome.aligned
    parameters = {
        name: value for name, value in model.get_params().items() if name not in NOT_PARAMETERS
    }
    content = {
        "command": list(job.command),
        "folder": str(Path.cwd()),
        "versions": {"viewspan": __version__, "python": platform.python_version()}
        | {name: version(name) for name in PACKAGES},
        "method": type(model).__name__,
        "parameters": parameters,
        "views": [
            {"name": table.name, "source": table.source, "features": table.shape[1], **facts}
            for table, facts in zip(aligned.tables, outcome.files, strict=True)
        ],
        "samples": aligned.n_samples,
        "clusters": np.bincount(model.labels_, minlength=model.n_clusters_),
        "certificate": certificate_of(model),
        "chosen": {"lam": model.lam_, "tau": model.tau_, "view_weights": model.view_weights_},
        "view_scores": model.view_scores_,
        "scores": outcome.scores,
        "seconds": {name: round(value, 3) for name, value in outcome.seconds.items()},
        "notes": outcome.notes,
        "written": {
            path.name: hashlib.sha256(content).hexdigest() for path, content in written.items()
        },
    }
    return json.dumps(content, indent=2, ensure_ascii=False, default=plain).encode(
        "utf-8", "replace"
    )


def certificate_of(model: Any) -> dict[str, Any]:
    """What was proven."""
    result = model.result_
    return {
        "objective": result.objective,
        "lower_bound": result.dual_bound,
        "relative_gap": model.dual_gap_,
        "tolerance": model.tol,
        "status": result.status,
        "iterations": model.n_iter_,
    }


def file_facts(path: Path) -> dict[str, Any]:
    size = path.stat().st_size
    if size > LARGEST_HASHED:
        return {"bytes": size}
    with path.open("rb") as file:
        return {"bytes": size, "sha256": hashlib.file_digest(file, "sha256").hexdigest()}


def plain(value: Any) -> Any:
    """numpy's numbers as JSON's."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    return str(value)
