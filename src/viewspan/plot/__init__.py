"""Plots of a fitted model.

Every function takes a fitted estimator, draws on the given axes or on new ones, and returns the
axes. ``HOW_TO_READ`` explains every plot, and ``STYLE`` is the matplotlib style of new figures.
"""

from viewspan._utils.optional import require

require("matplotlib", "plot", purpose="viewspan.plot")

from viewspan.plot.clusters import confidence, sizes  # noqa: E402
from viewspan.plot.colors import cluster_colors  # noqa: E402
from viewspan.plot.edge_shares import edge_shares  # noqa: E402
from viewspan.plot.embedding import embedding  # noqa: E402
from viewspan.plot.exemplar_images import exemplars  # noqa: E402
from viewspan.plot.explanations import HOW_TO_READ  # noqa: E402
from viewspan.plot.graphs import affinity, eigenvalues  # noqa: E402
from viewspan.plot.nodes import drawn_rows  # noqa: E402
from viewspan.plot.solver import convergence  # noqa: E402
from viewspan.plot.style import STYLE  # noqa: E402
from viewspan.plot.views import (  # noqa: E402
    subspace_dimensions,
    view_contributions,
    view_similarity,
)

__all__ = [
    "HOW_TO_READ",
    "STYLE",
    "affinity",
    "cluster_colors",
    "confidence",
    "convergence",
    "drawn_rows",
    "edge_shares",
    "eigenvalues",
    "embedding",
    "exemplars",
    "sizes",
    "subspace_dimensions",
    "view_contributions",
    "view_similarity",
]
