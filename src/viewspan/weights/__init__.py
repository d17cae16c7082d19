"""Rules that choose λ and τ from the data.

The room stands above the solvers, because the rule for ℓ1 penalties solves a problem of its own.
"""
