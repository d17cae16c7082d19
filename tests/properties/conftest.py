"""The same examples in every run; ``VIEWSPAN_EXAMPLES=1000`` makes as many new ones for each property instead.

A failing example belongs in the test as an ``@example``.
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
