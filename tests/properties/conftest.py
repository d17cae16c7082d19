"""Profile of Hypothesis: the same examples in every run.

``VIEWSPAN_EXAMPLES=1000`` draws 1000 new examples for each property instead. Add an example that
fails to its test with ``@example``.
"""

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "viewspan",
    deadline=None,
    derandomize="VIEWSPAN_EXAMPLES" not in os.environ,
    max_examples=int(os.environ.get("VIEWSPAN_EXAMPLES", "25")),
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("viewspan")
