"""What a fitted estimator tells about its solution, found when asked for."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from viewspan._utils.linalg import ratio
from viewspan._utils.typing import Array
from viewspan.fit.fitting import Fitted
from viewspan.inference.explanation import Explanation
from viewspan.inference.fitted_graph import FittedGraph
from viewspan.inference.subspaces import Subspace
from viewspan.solvers.result import Result


class FittedAttributes:
    """Of estimators that keep their solution in ``result_`` and all that led to it in ``_fit``."""

    result_: Result
    _fit: Fitted

    @property
    def coefficients_(self) -> list[Array]:
        """Z_i (n_samples × n_samples) for every view, built when asked for: column j rebuilds sample j from all
        samples.
        """
        return self._fitted.coefficients

    @property
    def basis_(self) -> Array:
        """V (n_samples × r), with Z_i = V · cores_[i] · Vᵀ; the identity for methods that allow no reduction."""
        return self._fitted.basis

    @property
    def cores_(self) -> Array:
        """W_i (r × r) for every view; r × n_samples, without the Vᵀ, where only the left half can be reduced
        (ℓ1,2 fits).
        """
        return self._fitted.cores

    @property
    def objective_(self) -> float:
        """The objective reached."""
        return self._fitted.objective

    @property
    def dual_gap_(self) -> float:
        """The proven relative distance of the objective from the optimum; with ``coupling="rank_one"``, from that of
        views without coupling.
        """
        return self._fitted.gap

    @property
    def n_iter_(self) -> int:
        """Iterations of the solver; 1 for a closed form."""
        return self._fitted.n_iter

    @property
    def history_(self) -> list[Any]:
        """Objective, dual bound, gap and residuals at every check; ``pandas.DataFrame(model.history_)`` makes a
        table of it.
        """
        return self._fitted.history

    @property
    def lam_(self) -> Array:
        """λ_i per view; for SSC per view and sample."""
        return self._fitted.lam

    @property
    def tau_(self) -> float:
        """The weight of the coupling; 0 for methods without one."""
        return self._fitted.tau

    @property
    def fitted_graph_(self) -> FittedGraph:
        """The graph that was cut, with the labels, rows and embedding of its nodes."""
        check_is_fitted(self, "result_")
        return self._fit.graph

    @property
    def subspaces_(self) -> list[list[Subspace]]:
        """``subspaces_[cluster][view]``: its ``dimension`` and orthonormal ``basis`` (n_features × dimension), and
        ``project(samples)``; found when first asked for.
        """
        return self._explanation.subspaces

    @property
    def view_scores_(self) -> Array:
        """How far the clusters can be seen in every view alone: how much more often than by chance a sample's
        neighbours there are of its own cluster; 1 for always, about 0 for chance.
        """
        return self._explanation.view_scores

    @property
    def outlier_scores_(self) -> Array:
        """(n_views × n_samples) The share of a sample's length that the other samples do not explain; NaN where a view
        does not have it.
        """
        explanation = self._explanation
        if explanation.references is not None:
            raise AttributeError(
                "outlier_scores_ needs a graph of all samples, and this one has landmarks; look at "
                "model.reconstruct(views).residuals, or take graph='dense'."
            )
        return explanation.outlier_scores

    @property
    def _explanation(self) -> Explanation:
        check_is_fitted(self, "result_")
        return self._fit.explanation

    @property
    def view_similarity_(self) -> Array:
        """Cosines between the Z_i, (c × c): 1 where two views have the same pattern."""
        if self._fitted.scales is not None:
            signs = np.sign(self._fitted.scales)
            return np.asarray(np.outer(signs, signs))
        flat = self._fitted.cores.reshape(len(self._fitted.cores), -1).astype(float)
        unit = flat * ratio(1.0, np.linalg.norm(flat, axis=1, keepdims=True))
        return unit @ unit.T

    @property
    def _fitted(self) -> Result:
        check_is_fitted(self, "result_")
        return self.result_
