"""What the ``viewspan`` command can do."""

from viewspan.commands.app import app

__all__ = ["app"]
