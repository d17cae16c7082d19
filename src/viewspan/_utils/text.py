"""Safe display of text that comes from files."""

import re
from collections.abc import Iterable

UNSAFE_CHARACTERS = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Control characters, marks that change the direction of writing, and lone surrogates."""

REPLACEMENT = "\ufffd"
CONTROL_PICTURES = 0x2400
"""First code point of the Unicode block with one symbol for each ASCII control character."""
DELETE, DELETE_SYMBOL = 0x7F, "\u2421"
MAX_LISTED = 8
"""Number of names that a message lists."""


def visible(text: str, keep: str = "") -> str:
    """Return the text with every unsafe character except those in ``keep`` shown as a symbol."""
    return UNSAFE_CHARACTERS.sub(
        lambda found: found[0] if found[0] in keep else symbol_of(ord(found[0])), text
    )


def symbol_of(code: int) -> str:
    if code < 0x20:
        return chr(CONTROL_PICTURES + code)
    return DELETE_SYMBOL if code == DELETE else REPLACEMENT


def shortened(text: str, max_length: int) -> str:
    """Return the text with its middle cut out if it is too long, since names often end differently.

    The result may be one character longer than ``max_length``.
    """
    half = max_length // 2
    return text if len(text) <= max_length else f"{text[:half]}…{text[-half:]}"


def listed(names: Iterable[object], max_names: int = MAX_LISTED) -> str:
    """Return the first names as a comma-separated list, and the number of further names."""
    every = [str(name) for name in names]
    rest = len(every) - max_names
    return ", ".join(every[:max_names]) + (f" and {rest} more" if rest > 0 else "")
