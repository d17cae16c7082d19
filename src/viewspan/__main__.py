"""``python -m viewspan`` is the ``viewspan`` command."""

from viewspan.cli import main

main()
