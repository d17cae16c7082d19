"""The ``viewspan`` command."""
