"""Helpers that know nothing of clustering: linear algebra, sparse arrays, threads, files."""
