"""Run studies: compare clustering methods on generated data over many trials and noise levels.

:mod:`viewspan.studies.paper` defines the three studies of the paper. ``docs/own-study.md`` shows
how to run a study of your own.
"""

from viewspan._utils.optional import require

for _package in ("pandas", "pyarrow"):
    require(_package, "studies", purpose="viewspan.studies")

from viewspan.studies.figures import plot_accuracy, plot_difference, write_figures  # noqa: E402
from viewspan.studies.run import run  # noqa: E402
from viewspan.studies.study import Method, Study  # noqa: E402
from viewspan.studies.tables import summarize, write_tables  # noqa: E402

__all__ = [
    "Method",
    "Study",
    "plot_accuracy",
    "plot_difference",
    "run",
    "summarize",
    "write_figures",
    "write_tables",
]
