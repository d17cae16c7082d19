"""Names from strangers' files, so that they are seen and do nothing else."""

import re

ACTING = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, which terminals obey; those that turn the direction of what follows; halves of letters."""
UNKNOWN = "\ufffd"
PICTURES, DELETE = 0x2400, 0x7F
"""Unicode has a picture of every control character of ASCII."""


def visible(text: str, keep: str = "") -> str:
    """The text with a sign for every character that would act instead of being seen."""
    return ACTING.sub(lambda found: found[0] if found[0] in keep else sign_of(ord(found[0])), text)


def sign_of(code: int) -> str:
    if code < 0x20:
        return chr(PICTURES + code)
    return "\u2421" if code == DELETE else UNKNOWN


def shortened(text: str, most: int) -> str:
    """Cut in the middle, since names often differ at their ends."""
    half = most // 2
    return text if len(text) <= most else f"{text[:half]}…{text[-half:]}"
