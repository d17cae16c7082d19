"""The colours of clusters and of ink, readable on white and on near-black alike."""

import numpy as np

from viewspan._utils.typing import Array

TEN = (
    "#206ce7",
    "#e9a44e",
    "#1b735b",
    "#c52012",
    "#47c3f7",
    "#b139ab",
    "#de6907",
    "#8688fe",
    "#b97897",
    "#acb8ae",
)
"""Found by a search in Oklab for ten that are far apart, seen with each of the three kinds of colour blindness and
without, among colours with a contrast of at least 2 to white and 3 to #111418.
"""
INK = "#3f7fbf"
"""Of what belongs to no cluster: a contrast of 4.2 to white and 4.4 to #111418."""
ACCENT = TEN[1]
"""Of a second thing beside the ink."""
ALERT = TEN[6]
"""Of limits and opposites."""
LIGHTNESS = (0.72, 0.50, 0.61)
"""Of colours after the tenth, in turn, in Oklab."""
CHROMA = (0.12, 0.15)
GOLDEN = np.pi * (3.0 - np.sqrt(5.0))
"""Hues that are this far apart never come back to where they were."""

# Oklab (Ottosson 2020): lightness and two opponent colours to roots of cone responses, their cubes to linear RGB.
TO_ROOTS = np.array(
    [
        [1.0, 0.3963377774, 0.2158037573],
        [1.0, -0.1055613458, -0.0638541728],
        [1.0, -0.0894841775, -1.2914855480],
    ]
)
TO_LINEAR = np.array(
    [
        [4.0767416621, -3.3077115913, 0.2309699292],
        [-1.2684380046, 2.6097574011, -0.3413193965],
        [-0.0041960863, -0.7034186147, 1.7076147010],
    ]
)


def cluster_colours(count: int) -> list[str]:
    """So many colours as "#rrggbb", always the same ones for the same cluster.

    The first ten are told apart by everyone. Later ones go round the hues at three lightnesses, and numbers must help.
    """
    return [*TEN[:count], *(generated(position) for position in range(count - len(TEN)))]


def generated(position: int) -> str:
    lightness, chroma = LIGHTNESS[position % len(LIGHTNESS)], CHROMA[position % len(CHROMA)]
    return from_oklch(lightness, chroma, 0.4 + position * GOLDEN)


def from_oklch(lightness: float, chroma: float, hue: float) -> str:
    """The colour, or the most colourful one of its lightness and hue that a screen can show."""
    for share in np.linspace(1.0, 0.0, 21):
        roots = TO_ROOTS @ [lightness, share * chroma * np.cos(hue), share * chroma * np.sin(hue)]
        linear = TO_LINEAR @ roots**3
        if linear.min() >= 0.0 and linear.max() <= 1.0:
            break
    parts = np.round(255 * encoded(np.clip(linear, 0.0, 1.0))).astype(int)
    return "#" + "".join(f"{part:02x}" for part in parts)


def encoded(linear: Array) -> Array:
    """As a screen takes it (sRGB)."""
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
