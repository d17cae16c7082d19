"""Colours of clusters and lines, readable on white and on near-black backgrounds."""

import numpy as np

from viewspan._utils.typing import Array

DISTINCT_COLOURS = (
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
"""Ten colours that readers with any kind of colour blindness can tell apart.

A search in Oklab maximised their distances, with normal vision and with each of the three kinds of
colour blindness. All have a contrast of at least 2 to white and 3 to #111418.
"""
INK = "#3f7fbf"
"""Colour of marks that belong to no cluster, with contrast 4.2 to white and 4.4 to #111418."""
ACCENT = DISTINCT_COLOURS[1]
"""Colour of a second kind of mark."""
ALERT = DISTINCT_COLOURS[6]
"""Colour of limits and negative values."""
LIGHTNESSES = (0.72, 0.50, 0.61)
"""Oklab lightnesses that the generated colours cycle through."""
CHROMAS = (0.12, 0.15)
"""Oklab chromas that the generated colours cycle through."""
GOLDEN_ANGLE = np.pi * (3.0 - np.sqrt(5.0))
"""Difference between successive hues. Its multiples never repeat."""

OKLAB_TO_CONE_ROOTS = np.array(
    [
        [1.0, 0.3963377774, 0.2158037573],
        [1.0, -0.1055613458, -0.0638541728],
        [1.0, -0.0894841775, -1.2914855480],
    ]
)
"""Matrix from Oklab coordinates to cube roots of cone responses (Ottosson 2020)."""
CONES_TO_LINEAR_RGB = np.array(
    [
        [4.0767416621, -3.3077115913, 0.2309699292],
        [-1.2684380046, 2.6097574011, -0.3413193965],
        [-0.0041960863, -0.7034186147, 1.7076147010],
    ]
)
"""Matrix from cone responses to linear RGB (Ottosson 2020)."""


def cluster_colors(count: int) -> list[str]:
    """Return the colours of the first ``count`` clusters.

    The first ten are easy to distinguish, also for colour-blind readers. Further colours vary hue
    and lightness; plots with so many clusters label them with their numbers as well.

    Parameters
    ----------
    count : int
        Number of clusters.

    Returns
    -------
    list of str
        Colours as "#rrggbb". A cluster has the same colour for every ``count``.
    """
    n_generated = count - len(DISTINCT_COLOURS)
    return [*DISTINCT_COLOURS[:count], *map(generate_color, range(n_generated))]


def generate_color(position: int) -> str:
    lightness = LIGHTNESSES[position % len(LIGHTNESSES)]
    chroma = CHROMAS[position % len(CHROMAS)]
    return oklch_to_hex(lightness, chroma, 0.4 + position * GOLDEN_ANGLE)


def oklch_to_hex(lightness: float, chroma: float, hue: float) -> str:
    """Return an Oklch colour as "#rrggbb".

    If sRGB does not contain the colour, its chroma is reduced until it does.
    """
    for share in np.linspace(1.0, 0.0, 21):
        oklab = [lightness, share * chroma * np.cos(hue), share * chroma * np.sin(hue)]
        linear = CONES_TO_LINEAR_RGB @ (OKLAB_TO_CONE_ROOTS @ oklab) ** 3
        if linear.min() >= 0.0 and linear.max() <= 1.0:
            break
    channels = np.round(255 * linear_to_srgb(np.clip(linear, 0.0, 1.0))).astype(int)
    return "#" + "".join(f"{channel:02x}" for channel in channels)


def linear_to_srgb(linear: Array) -> Array:
    """Apply the sRGB transfer function."""
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
