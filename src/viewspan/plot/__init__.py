"""Pictures of a fitted model.

Every function takes a fitted estimator and draws on the axes that it is given, or on new ones, and returns them. What
each picture means is told in ``HOW_TO_READ``; ``STYLE`` is how new figures look.
"""

from viewspan._utils.optional import require

require("matplotlib", "plot", purpose="viewspan.plot")

from viewspan.plot.clusters import confidence, exemplars, sizes  # noqa: E402
from viewspan.plot.colours import cluster_colours  # noqa: E402
from viewspan.plot.embedding import embedding  # noqa: E402
from viewspan.plot.graphs import affinity, eigenvalues  # noqa: E402
from viewspan.plot.reading import HOW_TO_READ  # noqa: E402
from viewspan.plot.references import drawn_rows  # noqa: E402
from viewspan.plot.solver import convergence  # noqa: E402
from viewspan.plot.style import STYLE  # noqa: E402
from viewspan.plot.ties import ties  # noqa: E402
from viewspan.plot.views import subspace_dimensions, view_contributions, view_similarity  # noqa: E402

__all__ = [
    "HOW_TO_READ",
    "STYLE",
    "affinity",
    "cluster_colours",
    "confidence",
    "convergence",
    "drawn_rows",
    "eigenvalues",
    "embedding",
    "exemplars",
    "sizes",
    "subspace_dimensions",
    "ties",
    "view_contributions",
    "view_similarity",
]
