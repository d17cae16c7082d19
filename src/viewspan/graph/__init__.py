"""From coefficients to labels. The graph never sees the solver."""
