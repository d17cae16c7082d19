"""Model files of version 1, which viewspan 0.1 wrote.

They name classes of that release and hold all attributes of the estimator.
"""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from viewspan._utils.linalg import Spectrum
from viewspan.fit.state import FittedState
from viewspan.graph.partition import GraphSettings, Partition
from viewspan.inference.known_samples import KnownSamples
from viewspan.inputs.column_statistics import ColumnStatistics
from viewspan.inputs.preparation import Preparation, Treatment
from viewspan.io.models.schema import (
    CHECK_FIELDS,
    ESTIMATORS,
    INPUT_ATTRIBUTES,
    REDUCTION_FIELDS,
    RESULT_FIELDS,
    Record,
    columns_from,
    record,
)
from viewspan.objective.coordinates import ByFeatures, BySamples
from viewspan.objective.reduction import Reduction
from viewspan.solvers.result import Check, Result

FITTED_FIELDS = (
    *("preparation", "reduction", "results", "united", "unite", "concatenated"),
    *("references", "known", "lengths"),
)
RECORDS: dict[str, Record] = {
    "ByFeatures": record(ByFeatures, "matrix", "loadings"),
    "BySamples": record(BySamples, "views", "basis"),
    "Check": record(Check, *CHECK_FIELDS),
    "Columns": Record(
        ColumnStatistics,
        {name: name for name in ("n_samples", "n_zero", "largest", "sums", "squares")},
        columns_from,
    ),
    "Known": record(KnownSamples, "digests", "positions"),
    "Preparation": record(Preparation, "treatments"),
    "Reduction": record(Reduction, *REDUCTION_FIELDS),
    "Result": record(Result, *RESULT_FIELDS),
    "Spectrum": record(Spectrum, "values", "right"),
    "Treatment": record(Treatment, "columns", "scaled", "affine", "normalize"),
    "Unite": record(
        GraphSettings, "by_patterns", "view_weights", "assign_labels", "n_neighbors", "mutual"
    ),
    "United": record(Partition, "labels", "eigenvalues", "graph", "graphs", "view_weights"),
    "Fitted": Record(
        SimpleNamespace, {field: field for field in FITTED_FIELDS}, lambda **f: SimpleNamespace(**f)
    ),
}


def model_from(name: str, attributes: Mapping[str, Any]) -> Any:
    """Return the estimator of a given class with the attributes that version 1 stored."""
    kind = ESTIMATORS[name]
    known = kind().get_params()
    parameters = {key: value for key, value in attributes.items() if key in known}
    old = attributes["_fit"]
    state = FittedState(
        preparation=old.preparation,
        reduction=old.reduction,
        results=old.results,
        partition=old.united,
        graph_settings=old.unite,
        labels=attributes["labels_"],
        confidence=attributes["confidence_"],
        view_weights=attributes["view_weights_"],
        concatenated=old.concatenated,
        landmarks=old.references,
        known=old.known,
        lengths=old.lengths,
    )
    inputs = {key: attributes[key] for key in INPUT_ATTRIBUTES if key in attributes}
    if attributes.get("_view_names") is not None:
        inputs["view_names_in_"] = attributes["_view_names"]
    return kind(**parameters).restore_fit(state, inputs)
