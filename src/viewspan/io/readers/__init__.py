"""Readers of data files: read views, list the contents of a file, and align samples by id.

This file imports nothing, because the command line checks the names of files before it imports
numpy: :mod:`~viewspan.io.readers.source` and :mod:`~viewspan.io.readers.table` do not need it.
"""
