"""Views from people's files: read, told what is in them, and brought into the same order."""

from viewspan.tables.align import Aligned, align
from viewspan.tables.read import contents, read
from viewspan.tables.table import InputError, Part, Reading, Table

__all__ = ["Aligned", "InputError", "Part", "Reading", "Table", "align", "contents", "read"]
