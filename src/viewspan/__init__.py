"""viewspan clusters samples that were observed in several ways, by collaborative low-rank subspace clustering."""

from importlib import import_module
from typing import Any

from viewspan import metrics
from viewspan._progress import Progress
from viewspan._version import __version__ as __version__
from viewspan.estimators import CLRSC, LRR, MLAP, SSC
from viewspan.graph.affinity import affinity
from viewspan.graph.ncut import ncut
from viewspan.graph.patterns import pattern_graph
from viewspan.persistence import load, save
from viewspan.pipeline import solve
from viewspan.regularization_path import Path, path
from viewspan.solvers.result import Check, Result
from viewspan.subspaces import Reconstruction, Subspace
from viewspan.view_splitter import ViewSplitter

LATER = ("datasets", "experiments", "plot", "report")
"""Modules of extras, imported when they are first asked for."""


def __getattr__(name: str) -> Any:
    if name in LATER:
        return import_module(f"viewspan.{name}")
    raise AttributeError(f"module 'viewspan' has no attribute {name!r}")


__all__ = [
    "CLRSC",
    "LRR",
    "MLAP",
    "SSC",
    "Check",
    "Path",
    "Progress",
    "Reconstruction",
    "Result",
    "Subspace",
    "ViewSplitter",
    "affinity",
    "load",
    "metrics",
    "ncut",
    "path",
    "pattern_graph",
    "save",
    "solve",
]
