"""Rules that choose λ and τ from the data.

This subpackage imports the solvers, because the rule for ℓ1 penalties solves a problem.
"""
