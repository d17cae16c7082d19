"""Constraints of the parameters that all estimators and the regularisation path share."""

from numbers import Integral, Real
from typing import Any, get_args

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from viewspan.graph.discretisation import AskedLabels

POSITIVE = Interval(Real, 0, np.inf, closed="neither")
WEIGHT = Interval(Real, 0, np.inf, closed="left")
COUNT = Interval(Integral, 1, None, closed="left")
SHARED_CONSTRAINTS: dict[str, list[Any]] = {
    "n_clusters": [COUNT, None],
    "read_as": [StrOptions({"auto", "directions", "positions"}), list, tuple],
    "scale_features": ["boolean", StrOptions({"auto"})],
    "affine": ["boolean", StrOptions({"auto"})],
    "normalize": ["boolean"],
    "view_weights": [StrOptions({"auto", "equal"}), "array-like"],
    "assign_labels": [StrOptions(set(get_args(AskedLabels)))],
    "tol": [POSITIVE],
    "max_iter": [COUNT, None],
    "random_state": ["random_state"],
}
