"""Defaults of parameters, which the command line shows without importing numpy."""

DEFAULT_TOL = 1e-4
"""Default relative gap at which a solver stops."""
DEFAULT_N_NEIGHBORS = 15
"""Default number of neighbours of a sample.

Edge weights fall linearly with the rank of a neighbour, so the graph averages over all
neighbourhoods up to this size.
"""
DEFAULT_N_LANDMARKS = 5000
"""Default number of landmarks."""
