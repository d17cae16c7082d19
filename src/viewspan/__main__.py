"""``python -m viewspan`` is the ``viewspan`` command."""

from viewspan.cli.main import main

main()
