"""The records that a model file is made of, with the names that they have in the file.

Names in a file belong to the format and never change within a version. Names in the code may: then
only this table changes. If a class gets more fields, its record says which values files without
them mean.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from viewspan._utils.linalg import Spectrum
from viewspan.estimators.base import SubspaceClusterer
from viewspan.estimators.clrsc import CLRSC
from viewspan.estimators.lrr import LRR
from viewspan.estimators.mlap import MLAP
from viewspan.estimators.ssc import SSC
from viewspan.fit.state import FittedState
from viewspan.graph.partition import GraphSettings, Partition
from viewspan.inference.known_samples import KnownSamples
from viewspan.inputs.column_statistics import ColumnStatistics
from viewspan.inputs.preparation import Preparation, Treatment
from viewspan.objective.coordinates import ByFeatures, BySamples
from viewspan.objective.couplings import COUPLINGS
from viewspan.objective.datafits import DATAFITS
from viewspan.objective.penalties import PENALTIES
from viewspan.objective.reduction import Reduction
from viewspan.solvers.result import Check, Result

ESTIMATORS: dict[str, type[SubspaceClusterer]] = {
    "CLRSC": CLRSC,
    "LRR": LRR,
    "MLAP": MLAP,
    "SSC": SSC,
}
INPUT_ATTRIBUTES = ("n_views_in_", "n_features_in_", "feature_names_in_", "view_names_in_")
"""Attributes that describe the views of the fit; the last two exist only if there were names."""


@dataclass(frozen=True)
class Record:
    """Storage format of one class of objects.

    Attributes
    ----------
    kind : type
    fields : dict of str
        Attribute of the object for every name in the file.
    make : callable
        Function that makes the object from its fields, by the names in the file.
    added : dict
        Fields that files of this version may lack because they were added later, with the values
        that such files mean.
    """

    kind: type[Any]
    fields: Mapping[str, str]
    make: Callable[..., Any]
    added: Mapping[str, Any] = field(default_factory=dict)


def record(kind: type[Any], *names: str, **added: Any) -> Record:
    """Return the record of a class whose fields have the same names in the file."""
    return Record(kind, {name: name for name in (*names, *added)}, kind, added)


def axis_records(axis: str, known: Mapping[str, Any]) -> dict[str, Record]:
    """Return one record for every class of an axis, under the first name of its objects.

    Files also contain these names as values of parameters, so they belong to the format.
    """
    found: dict[type[Any], str] = {}
    for name, item in known.items():
        found.setdefault(type(item), name)
    return {
        f"{axis} {name}": record(kind, *(item.name for item in fields(kind)))
        for kind, name in found.items()
    }


RESULT_FIELDS = (
    *("cores", "left", "right", "directions", "objective", "dual_bound", "status", "n_iter"),
    *("history", "lam", "tau", "scales", "observed"),
)
CHECK_FIELDS = (
    *("n_iter", "objective", "dual_bound", "gap"),
    *("primal_residual", "dual_residual", "n_directions"),
)
REDUCTION_FIELDS = (
    *("left", "right", "spectra", "factors", "targets", "n_samples", "n_features_used"),
    *("coordinates", "observed"),
)
COLUMNS_FIELDS = (
    *("n_samples", "n_zero", "largest", "sums", "squares", "deviations", "n_nonzero"),
)


def columns_from(deviations: Any = None, **known: Any) -> ColumnStatistics:
    """Return column statistics; those of earlier files lack deviations, which they do not need."""
    found = np.zeros_like(known["largest"]) if deviations is None else deviations
    return ColumnStatistics(**{"n_nonzero": 0, **known}, deviations=found)


RECORDS: dict[str, Record] = {
    "state": record(
        FittedState,
        *("preparation", "reduction", "results", "partition", "graph_settings", "labels"),
        *("confidence", "view_weights", "concatenated", "landmarks", "known", "lengths"),
        readings=None,
    ),
    "preparation": record(Preparation, "treatments"),
    "treatment": record(
        Treatment,
        *("columns", "scaled", "affine", "normalize"),
        centered=False,
        ignores_zeros=False,
    ),
    "columns": Record(
        ColumnStatistics,
        {name: name for name in COLUMNS_FIELDS},
        columns_from,
        {"deviations": None, "n_nonzero": 0},
    ),
    "reduction": record(Reduction, *REDUCTION_FIELDS),
    "spectrum": record(Spectrum, "values", "right"),
    "coordinates by features": record(ByFeatures, "matrix", "loadings"),
    "coordinates by samples": record(BySamples, "views", "basis"),
    "result": record(Result, *RESULT_FIELDS),
    "check": record(Check, *CHECK_FIELDS),
    "partition": record(Partition, "labels", "eigenvalues", "graph", "graphs", "view_weights"),
    "graph settings": record(
        GraphSettings,
        *("by_patterns", "view_weights", "assign_labels", "n_neighbors", "mutual"),
        copies=(),
    ),
    "known samples": record(KnownSamples, "digests", "positions"),
    **axis_records("datafit", DATAFITS),
    **axis_records("penalty", PENALTIES),
    **axis_records("coupling", COUPLINGS),
}
"""All objects that a file of version 2 may contain. No others are created."""
