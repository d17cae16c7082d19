"""viewspan clusters samples that were observed in several ways, by collaborative low-rank subspace clustering."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from viewspan._version import __version__ as __version__

if TYPE_CHECKING:
    from viewspan import metrics
    from viewspan.estimators import CLRSC, LRR, MLAP, SSC
    from viewspan.fit.progress import Progress
    from viewspan.fit.regularization_path import RegularizationPath, path
    from viewspan.graph.affinity import affinity
    from viewspan.graph.ncut import ncut
    from viewspan.graph.patterns import pattern_graph
    from viewspan.inference.subspaces import Reconstruction, Subspace
    from viewspan.inputs.view_splitter import ViewSplitter
    from viewspan.io.models import load, save
    from viewspan.solvers.result import Check, Result
    from viewspan.solvers.solve import solve

HOME = {
    "CLRSC": "estimators",
    "LRR": "estimators",
    "MLAP": "estimators",
    "SSC": "estimators",
    "Check": "solvers.result",
    "RegularizationPath": "fit.regularization_path",
    "Progress": "fit.progress",
    "Reconstruction": "inference.subspaces",
    "Result": "solvers.result",
    "Subspace": "inference.subspaces",
    "ViewSplitter": "inputs.view_splitter",
    "affinity": "graph.affinity",
    "load": "io.models",
    "ncut": "graph.ncut",
    "path": "fit.regularization_path",
    "pattern_graph": "graph.patterns",
    "save": "io.models",
    "solve": "solvers.solve",
}
"""The module of every name. It is imported when the name is first asked for, not with the package: numpy, scipy and
scikit-learn take seconds, in which the command would be deaf to Ctrl-C.
"""
MODULES = ("datasets", "estimators", "studies", "metrics", "plot", "report")


def __getattr__(name: str) -> Any:
    if name in HOME:
        found = globals()[name] = getattr(import_module(f"viewspan.{HOME[name]}"), name)
        return found
    if name in MODULES:
        return import_module(f"viewspan.{name}")
    raise AttributeError(f"module 'viewspan' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *HOME, *MODULES})


__all__ = [
    "CLRSC",
    "LRR",
    "MLAP",
    "SSC",
    "Check",
    "Progress",
    "Reconstruction",
    "RegularizationPath",
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
