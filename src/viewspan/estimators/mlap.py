"""Multi-task low-rank affinity pursuit, the paper's rival."""

from viewspan._utils.typing import Array
from viewspan.estimators.coupled import CoupledClusterer
from viewspan.objective.reduction import Reduction
from viewspan.objective.selection import automatic_lam, automatic_tau_l12, lam_for_l12
from viewspan.solvers.solve import Axes, check_lam


class MLAP(CoupledClusterer):
    r"""Multi-task Low-rank Affinity Pursuit.

    .. math:: \min_{Z_1,\dots,Z_c}\ \sum_i \|X_i - X_i Z_i\|_{1,2} + \lambda_i \|Z_i\|_* + \tau \|A\|_{1,2}

    The coupling sums, over all entries, the length of that entry across views: it makes the supports agree and
    shrinks magnitudes. It looks at single entries, so nothing can be reduced and every iteration handles N × N
    matrices.

    Parameters
    ----------
    n_clusters : int, optional
        Read from the graph's eigenvalues if not given.
    lam : "auto", float or array-like (n_views,)
    tau : "auto" or float
    affinity, n_neighbors, scale_features, affine, normalize, view_weights
        As in :class:`CLRSC`.
    solver, assign_labels, tol, max_iter, random_state, verbose, callback
        As in :class:`CLRSC`.

    Attributes
    ----------
    labels_, confidence_, n_clusters_, coefficients_, basis_, cores_, affinity_matrix_, eigenvalues_
        As in :class:`CLRSC`.
    view_weights_, objective_, dual_gap_, n_iter_, lam_, tau_, view_similarity_, history_
        As in :class:`CLRSC`.
    n_views_in_, n_features_in_
        As in :class:`CLRSC`.

    References
    ----------
    B. Cheng, G. Liu, J. Wang, Z. Huang, S. Yan, "Multi-task low-rank affinity pursuit for image segmentation", ICCV
    2011.
    """

    @property
    def _axes(self) -> Axes:
        return Axes.named("l12", "nuclear", "l12")

    def _weights(self, reduction: Reduction, multiple: float = 1.0) -> tuple[Array, float]:
        spectra = reduction.singular_values()
        if isinstance(self.lam, str):
            lam = lam_for_l12(
                spectra,
                automatic_lam(spectra, reduction.counts, reduction.n_features_used),
                reduction.counts,
            )
        else:
            lam = check_lam(self.lam, reduction, self._axes)
        return lam, automatic_tau_l12(spectra, reduction.n_samples) if isinstance(
            self.tau, str
        ) else float(self.tau)
