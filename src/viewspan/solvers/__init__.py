"""Algorithms for a :class:`~viewspan.model.problem.Problem`. They see matrices in a basis, never the samples."""
