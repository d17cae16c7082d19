"""Readers of data files: read views, list the contents of a file, and align samples by id."""

from viewspan.io.readers.align import Aligned, align
from viewspan.io.readers.read import contents, read
from viewspan.io.readers.table import InputError, Part, Reading, Table

__all__ = ["Aligned", "InputError", "Part", "Reading", "Table", "align", "contents", "read"]
