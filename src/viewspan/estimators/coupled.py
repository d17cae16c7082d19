"""What the estimators with a coupling share: their parameters."""

from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from sklearn.utils._param_validation import StrOptions

from viewspan.estimators.base import WEIGHT, SubspaceClusterer
from viewspan.fit.progress import Progress
from viewspan.graph.discretisation import AskedLabels
from viewspan.graph.patterns import NEIGHBORS
from viewspan.graph.unite import AskedWeights
from viewspan.solvers.solve import SolverName


class CoupledClusterer(SubspaceClusterer):
    """Views that are solved together, by our solver or by the paper's."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SubspaceClusterer._parameter_constraints,
        "tau": [StrOptions({"auto"}), WEIGHT],
        "solver": [StrOptions({"admm", "ladmpsap"})],
    }

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        lam: str | float | npt.ArrayLike = "auto",
        tau: str | float = "auto",
        affinity: str = "auto",
        n_neighbors: int = NEIGHBORS,
        scale_features: bool | Literal["auto"] = "auto",
        affine: bool | Literal["auto"] = "auto",
        normalize: bool = True,
        view_weights: AskedWeights = "auto",
        solver: SolverName = "admm",
        assign_labels: AskedLabels = "auto",
        tol: float = 1e-4,
        max_iter: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool | int = False,
        callback: Callable[[Progress], None] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.lam = lam
        self.tau = tau
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.scale_features = scale_features
        self.affine = affine
        self.normalize = normalize
        self.view_weights = view_weights
        self.solver = solver
        self.assign_labels = assign_labels
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback
