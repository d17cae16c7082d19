"""Helpers without knowledge of clustering: linear algebra, sparse arrays, threads, files, signals, memory."""
