"""From views as they came to views whose samples can be compared: common units, an origin, unit length."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from viewspan._linalg import ratio
from viewspan._typing import Array
from viewspan._warnings import warn
from viewspan.views import Views

LARGEST = 1e60
ROUNDING = 4 * np.finfo(float).eps
DOMINANT = 0.5
"""A feature with a larger share of a view's energy outweighs all others together."""
BY_CHANCE = 0.01
"""A mean of independent values is zero up to 1/√N of their size; one a hundred times nearer was made so."""


class Preparation(NamedTuple):
    """What is done to every view.

    Attributes
    ----------
    scaled, affine : list of bool
        The views whose features are brought to one mean square, and those that get a constant feature.
    normalize : bool
        Whether samples become unit length.
    """

    scaled: list[bool]
    affine: list[bool]
    normalize: bool

    @classmethod
    def choose(
        cls, views: Views, scale_features: bool | Literal["auto"], affine: bool | Literal["auto"], normalize: bool
    ) -> "Preparation":
        """As asked for, or by the look of every view.

        Where samples keep their lengths, their units and their origin are meant, and "auto" changes nothing.
        """
        scaled = each(views, scale_features, [normalize and is_dominated(array) for array in views.arrays])
        off_origin = each(views, affine, [normalize and is_centred(array) for array in views.arrays])
        return cls(scaled, off_origin, normalize)

    def apply(self, views: Views) -> Views:
        arrays = [equalized(array) if scale else array for array, scale in zip(views.arrays, self.scaled, strict=True)]
        arrays = [with_constant(array) if add else array for array, add in zip(arrays, self.affine, strict=True)]
        common = replace(views, arrays=arrays)
        return replace(common, arrays=unit_samples(common) if self.normalize else check_magnitude(common))


def each(views: Views, asked: bool | Literal["auto"], automatic: Sequence[bool]) -> list[bool]:
    return list(automatic) if asked == "auto" else [bool(asked)] * len(views.arrays)


def is_dominated(array: Array) -> bool:
    """Whether one feature has more than half of the energy; of few features, by as much as the even share more.

    Such a feature has another unit than the rest (an age in years beside scores from 0 to 3): samples of unit length
    would differ in little else. Features are scaled then and not centred, because clusters on both sides of a mean
    would look like one line through it.
    """
    energy = (ratio(array, np.full_like(array, np.abs(array).max())) ** 2).sum(axis=0)
    width = array.shape[1]
    return width > 1 and bool(energy.max() > DOMINANT * (1 + 1 / width) * energy.sum())


def is_centred(array: Array) -> bool:
    """Whether all features have mean zero, nearer than chance would leave them: somebody made them so.

    Then the origin is where the mean was, and no subspace of the data has a reason to pass through it.
    """
    means = np.abs(equalized(array).mean(axis=0))
    return bool(array.any() and (means <= BY_CHANCE / np.sqrt(len(array))).all())


def with_constant(array: Array) -> Array:
    """One more feature, the same for all samples and as large as their root mean square length.

    An affine subspace, one that misses the origin, becomes a linear one with one more dimension.
    """
    largest = float(np.abs(array).max(initial=0.0))
    relative = ratio(array, np.full_like(array, largest))  # so that squares neither overflow nor vanish
    length = largest * float(np.sqrt((relative**2).sum(axis=1).mean()))
    return np.hstack([array, np.full((len(array), 1), length)])


def equalized(array: Array) -> Array:
    """Mean square 1 in every feature, 0 in features that are zero or rounding beside the largest."""
    largest = np.abs(array).max(axis=0)
    largest[largest <= ROUNDING * largest.max(initial=0.0)] = 0.0
    relative = ratio(array, np.broadcast_to(largest, array.shape))  # so that squares do not overflow
    scaled: Array = relative * ratio(1.0, np.sqrt((relative**2).mean(axis=0)))
    return scaled


def unit_samples(views: Views) -> list[Array]:
    """Every sample of every view scaled to length 1, whatever its magnitude; what is zero stays zero and is
    reported.
    """
    scaled = []
    for name, array in zip(views.names, views.arrays, strict=True):
        largest = np.abs(array).max(axis=1, keepdims=True)
        relative = ratio(array, largest)  # first to magnitude 1, so that squares neither overflow nor vanish
        scaled.append(relative * ratio(1.0, np.linalg.norm(relative, axis=1, keepdims=True)))
        report_zeros(name, int((largest == 0).sum()), len(array))
    if not any(array.any() for array in scaled):
        raise ValueError("Every value of every view is zero: there is nothing to cluster.")
    return scaled


def report_zeros(name: str, n_zero: int, n_samples: int) -> None:
    if n_zero == n_samples:
        warn(f"{name} is zero everywhere and has no say in the result.")
    elif n_zero:
        warn(f"{name} is zero for {n_zero} of {n_samples} samples; it has no say about them.")


def check_magnitude(views: Views) -> list[Array]:
    """Unscaled views must have squares that are representable."""
    for name, array in zip(views.names, views.arrays, strict=True):
        largest = float(np.abs(array).max())
        if not LARGEST**-1 < largest < LARGEST and largest > 0:
            raise ValueError(
                f"{name} has values around {largest:.0e}, too extreme to compute with unscaled; "
                "rescale it or use normalize=True."
            )
    return views.arrays


def concatenate(views: Views) -> Views:
    """One view with all features side by side."""
    return replace(views, arrays=[np.hstack(views.arrays)], names=["+".join(views.names)])
