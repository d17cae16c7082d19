"""Algorithms that minimise a :class:`~viewspan.objective.problem.Problem`.

They work on matrices in a basis, never on the samples themselves.
"""
