"""viewspan clusters multi-view data: the same samples described by several feature tables."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from viewspan._version import __version__ as __version__

if TYPE_CHECKING:
    from viewspan import datasets, metrics, objective, plot, report, studies
    from viewspan.estimators import CLRSC, LRR, MLAP, SSC
    from viewspan.fit.progress import Progress
    from viewspan.fit.regularization_path import RegularizationPath, path
    from viewspan.graph.affinity import affinity
    from viewspan.graph.ncut import ncut
    from viewspan.graph.patterns import pattern_graph
    from viewspan.inference.fitted_graph import FittedGraph
    from viewspan.inference.subspaces import Reconstruction, Subspace
    from viewspan.inputs.view_splitter import ViewSplitter
    from viewspan.io.models import load, save
    from viewspan.solvers.result import Check, Result
    from viewspan.solvers.solve import solve

_MODULE_OF = {
    "CLRSC": "estimators",
    "LRR": "estimators",
    "MLAP": "estimators",
    "SSC": "estimators",
    "Check": "solvers.result",
    "FittedGraph": "inference.fitted_graph",
    "Progress": "fit.progress",
    "Reconstruction": "inference.subspaces",
    "RegularizationPath": "fit.regularization_path",
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
"""Module of every public name.

It is imported when the name is first used: numpy, scipy and scikit-learn take seconds to import, in
which the command could not react to Ctrl-C.
"""
_MODULES = ("datasets", "metrics", "objective", "plot", "report", "studies")


def __getattr__(name: str) -> Any:
    if name in _MODULE_OF:
        found = globals()[name] = getattr(import_module(f"viewspan.{_MODULE_OF[name]}"), name)
        return found
    if name in _MODULES:
        return import_module(f"viewspan.{name}")
    raise AttributeError(f"module 'viewspan' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


__all__ = [
    "CLRSC",
    "LRR",
    "MLAP",
    "SSC",
    "Check",
    "FittedGraph",
    "Progress",
    "Reconstruction",
    "RegularizationPath",
    "Result",
    "Subspace",
    "ViewSplitter",
    "__version__",
    "affinity",
    "datasets",
    "load",
    "metrics",
    "ncut",
    "objective",
    "path",
    "pattern_graph",
    "plot",
    "report",
    "save",
    "solve",
    "studies",
]
