"""Algorithms for a :class:`~viewspan.objective.problem.Problem`. They see matrices in a basis, never the samples."""
