"""Fitted attributes that are computed when they are first read."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from viewspan._utils.linalg import ratio
from viewspan._utils.typing import Array
from viewspan.fit.state import FittedState
from viewspan.inference.fitted_graph import FittedGraph
from viewspan.inference.subspaces import Subspace
from viewspan.solvers.result import Result


class FittedAttributes:
    """Read-only attributes of an estimator that keeps its :class:`FittedState` in ``_state``."""

    _state: FittedState

    @property
    def fitted_state_(self) -> FittedState:
        """Everything that the fit produced: preparation, reduction, solutions, graph, labels."""
        check_is_fitted(self, "result_")
        return self._state

    @property
    def fitted_graph_(self) -> FittedGraph:
        """The graph that was cut, with the labels, rows and embedding of its nodes."""
        return self.fitted_state_.graph

    @property
    def coefficients_(self) -> Sequence[Array]:
        """Z_i (n_samples × n_samples) for every view, each built when it is read.

        Column j represents sample j by all samples.
        """
        return self._result.coefficients

    @property
    def basis_(self) -> Array:
        """V (n_samples × r), with Z_i = V · cores_[i] · Vᵀ; the identity without reduction."""
        return self._result.basis

    @property
    def cores_(self) -> Array:
        """W_i (r × r) for every view; r × n_samples, without Vᵀ, if only one side is reduced."""
        return self._result.cores

    @property
    def objective_(self) -> float:
        """Value of the objective."""
        return self._result.objective

    @property
    def dual_gap_(self) -> float:
        """Certified relative distance of the objective from the optimum.

        With ``coupling="rank_one"`` it is the distance from the optimum without coupling.
        """
        return self._result.gap

    @property
    def n_iter_(self) -> int:
        """Iterations of the solver; 1 for a closed form."""
        return self._result.n_iter

    @property
    def history_(self) -> list[Any]:
        """Objective, dual bound, gap and residuals at every check of the solver.

        ``pandas.DataFrame(model.history_)`` makes a table of it.
        """
        return self._result.history

    @property
    def lam_(self) -> Array:
        """λ_i per view, or per view and sample (ℓ1 penalties)."""
        return self._result.lam

    @property
    def tau_(self) -> float:
        """τ, the weight of the coupling; 0 without coupling."""
        return self._result.tau

    @property
    def subspaces_(self) -> list[list[Subspace]]:
        """Subspace of every cluster in every view, ``subspaces_[cluster][view]``.

        Each has a ``dimension``, an orthonormal ``basis`` (n_features × dimension) and
        ``project(samples)``.
        """
        return self.fitted_state_.explanation.subspaces

    @property
    def view_scores_(self) -> Array:
        """Visibility of the clusters in each view alone: 1 if full, about 0 for chance.

        It is how much more often than by chance a sample's nearest neighbours in that view belong
        to its own cluster.
        """
        return self.fitted_state_.explanation.view_scores

    @property
    def outlier_scores_(self) -> Array:
        """Share of a sample's length that the other samples do not represent.

        The array is (n_views, n_samples), with NaN where a sample is missing.
        """
        if self.fitted_graph_.landmarks:
            raise AttributeError(
                "outlier_scores_ needs a graph of all samples, and this one has landmarks; look at "
                "model.reconstruct(views).residuals, or take graph='dense'."
            )
        return self.fitted_state_.explanation.outlier_scores

    @property
    def view_similarity_(self) -> Array:
        """Cosines between the Z_i, (n_views × n_views): 1 where two views have the same pattern."""
        result = self._result
        if result.scales is not None:
            signs = np.sign(result.scales)
            return np.asarray(np.outer(signs, signs))
        flat = result.cores.reshape(len(result.cores), -1).astype(float)
        unit = flat * ratio(1.0, np.linalg.norm(flat, axis=1, keepdims=True))
        return unit @ unit.T

    @property
    def _result(self) -> Result:
        return self.fitted_state_.results[0]
