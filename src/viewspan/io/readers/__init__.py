"""Views from people's files: read, told what is in them, and brought into the same order."""

from viewspan.io.readers.align import Aligned, align
from viewspan.io.readers.read import contents, read
from viewspan.io.readers.table import InputError, Part, Reading, Table

__all__ = ["Aligned", "InputError", "Part", "Reading", "Table", "align", "contents", "read"]
