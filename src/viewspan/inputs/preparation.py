"""From views as they came to views whose samples can be compared: common units, an origin, unit length.

What is to be done follows from sums over samples (:class:`Columns`), and is done sample by sample; so it does not
matter whether all samples are seen at once or in parts.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from viewspan._utils.linalg import ratio
from viewspan._utils.sparse import full, is_sparse, over_columns, over_rows, side_by_side
from viewspan._utils.typing import Array, Block
from viewspan._utils.warnings import warn
from viewspan.inputs.views import Views, with_zeros

LARGEST = 1e60
ROUNDING = 4 * np.finfo(float).eps
DOMINANT = 0.5
"""A feature with a larger share of a view's energy outweighs all others together."""
MANY_TIMES = 3.0
"""Features whose sizes differ by more are scaled differently."""
BY_CHANCE = 0.01
"""A mean of independent values is zero up to 1/√N of their size; one a hundred times nearer was made so."""


@dataclass(frozen=True)
class Columns:
    """What is known of the features of one view.

    Attributes
    ----------
    n_samples, n_zero : int
        How many samples there are, and how many of them are zero.
    largest : array (n_features,)
        The largest absolute value of every feature.
    sums, squares : array (n_features,)
        Of values and their squares, relative to the largest, so that they neither overflow nor vanish.
    """

    n_samples: int
    n_zero: int
    largest: Array
    sums: Array
    squares: Array

    @classmethod
    def of(cls, block: Block) -> "Columns":
        if block.shape[0] == 0:  # a view that no sample has
            return cls(0, 0, *np.zeros((3, block.shape[1])))
        largest = vector(abs(block).max(axis=0))
        relative = over_columns(block, largest) if is_sparse(block) else ratio(block, largest)
        filled = vector(abs(block).max(axis=1)) > 0
        squares = vector((relative**2).sum(axis=0))
        return cls(
            block.shape[0], int((~filled).sum()), largest, vector(relative.sum(axis=0)), squares
        )

    def __add__(self, other: "Columns") -> "Columns":
        largest = np.maximum(self.largest, other.largest)
        mine, theirs = ratio(self.largest, largest), ratio(other.largest, largest)
        return Columns(
            self.n_samples + other.n_samples,
            self.n_zero + other.n_zero,
            largest,
            mine * self.sums + theirs * other.sums,
            mine**2 * self.squares + theirs**2 * other.squares,
        )

    def filled(self) -> "Columns":
        """With the typical size of a feature where nothing was seen of it."""
        seen = self.present > 0
        if seen.all() or not seen.any():
            return self
        largest, squares = (
            np.where(seen, values, np.median(values[seen]))
            for values in (self.largest, self.squares)
        )
        return replace(self, largest=largest, squares=squares)

    @property
    def overall(self) -> float:
        """The largest absolute value."""
        return float(self.largest.max(initial=0.0))

    @property
    def energy(self) -> Array:
        """Sums of squares, relative to the largest value of all."""
        return self.squares * ratio(self.largest, np.full_like(self.largest, self.overall)) ** 2

    @property
    def present(self) -> Array:
        """The largest values, 0 for features that are zero or rounding beside the largest."""
        return np.where(self.largest > ROUNDING * self.overall, self.largest, 0.0)

    @property
    def size(self) -> Array:
        """Root mean square of every feature, relative to its largest value; 0 for those that are not present."""
        return np.where(self.present > 0, np.sqrt(self.squares / max(self.n_samples, 1)), 0.0)

    @property
    def sizes(self) -> Array:
        """The same in the feature's own unit."""
        return self.size * self.largest

    @property
    def length(self) -> float:
        """Root mean square length of a sample."""
        return self.overall * float(np.sqrt(self.energy.sum() / max(self.n_samples, 1)))

    def is_dominated(self) -> bool:
        """Whether one feature has more than half of the energy; of few features, by as much as the even share more.

        Such a feature has another unit than the rest (an age in years beside scores from 0 to 3): samples of unit
        length would differ in little else. Features are scaled then and not centred, because clusters on both sides of
        a mean would look like one line through it.
        """
        energy, width = self.energy, len(self.largest)
        return width > 1 and bool(energy.max() > DOMINANT * (1 + 1 / width) * energy.sum())

    def is_centred(self) -> bool:
        """Whether all features have mean zero, nearer than chance would leave them: somebody made them so.

        Then the origin is where the mean was, and no subspace of the data has a reason to pass through it.
        """
        means = ratio(np.abs(self.sums) / max(self.n_samples, 1), self.size)
        return self.overall > 0 and bool((means <= BY_CHANCE / np.sqrt(self.n_samples)).all())


@dataclass(frozen=True)
class Treatment:
    """What is done to the samples of one view.

    Attributes
    ----------
    columns : Columns
    scaled, affine, normalize : bool
        Whether features are brought to one mean square, whether they get one more that is constant, and whether samples
        become unit length.
    """

    columns: Columns
    scaled: bool
    affine: bool
    normalize: bool

    def __call__(self, block: Block) -> Block:
        if self.scaled:
            block = equalized(block, self.columns)
        if self.affine:
            block = with_constant(block, self.constant)
        return unit_samples(block) if self.normalize else block

    def lengths(self, block: Block) -> Array:
        """Of samples before they become unit length, as shares of the longest."""
        whole = replace(self, normalize=False)(block)
        relative = whole / (abs(whole).max() or 1.0)  # so that squares neither overflow nor vanish
        found = np.sqrt(vector((relative**2).sum(axis=1)))
        return np.asarray(found / (found.max(initial=0.0) or 1.0))

    @property
    def constant(self) -> float:
        """As large as samples are long, in root mean square.

        An affine subspace, one that misses the origin, becomes a linear one with one more dimension.
        """
        return float(np.sqrt((self.columns.size > 0).sum())) if self.scaled else self.columns.length

    @property
    def scale(self) -> Array:
        """What features are divided by; 0 for those that are left out."""
        return self.columns.sizes if self.scaled else np.ones(len(self.columns.largest))

    @property
    def n_features(self) -> int:
        """Features afterwards."""
        return len(self.columns.largest) + self.affine

    @property
    def n_features_used(self) -> int:
        """Without those that are zero for every sample, which hold no noise either."""
        kept = self.columns.present if self.scaled else self.columns.largest
        return int((kept > 0).sum()) + (self.affine and self.constant > 0)


@dataclass(frozen=True)
class Preparation:
    """What is done to every view."""

    treatments: list[Treatment]

    @classmethod
    def choose(
        cls,
        columns: Sequence[Columns],
        scale_features: bool | Literal["auto"],
        affine: bool | Literal["auto"],
        normalize: bool,
    ) -> "Preparation":
        """As asked for, or by the look of every view.

        Where samples keep their lengths, their units and their origin are meant, and "auto" changes nothing.
        """

        def treatment(view: Columns) -> Treatment:
            scaled = (
                (normalize and view.is_dominated())
                if scale_features == "auto"
                else bool(scale_features)
            )
            off_origin = (normalize and view.is_centred()) if affine == "auto" else bool(affine)
            return Treatment(view, scaled, off_origin, normalize)

        return cls([treatment(view) for view in columns])

    @property
    def scaled(self) -> list[bool]:
        return [treatment.scaled for treatment in self.treatments]

    @property
    def affine(self) -> list[bool]:
        return [treatment.affine for treatment in self.treatments]

    def with_columns(self, columns: Sequence[Columns]) -> "Preparation":
        """The same choices for other columns."""
        pairs = zip(self.treatments, columns, strict=True)
        return Preparation([replace(treatment, columns=view) for treatment, view in pairs])

    def resembles(self, other: "Preparation") -> bool:
        """Whether the other one makes nearly the same of samples."""
        if (self.scaled, self.affine) != (other.scaled, other.affine):
            return False
        pairs = list(zip(self.treatments, other.treatments, strict=True))
        sizes = [
            (mine.columns.sizes, theirs.columns.sizes) for mine, theirs in pairs if mine.scaled
        ]
        sizes += [
            (np.array([mine.constant]), np.array([theirs.constant]))
            for mine, theirs in pairs
            if mine.affine
        ]
        return all(alike(*pair) for pair in sizes)

    @property
    def changes_features(self) -> bool:
        """Whether anything is done beyond unit lengths."""
        return any(self.scaled) or any(self.affine)

    @property
    def n_features_used(self) -> tuple[int, ...]:
        return tuple(treatment.n_features_used for treatment in self.treatments)

    def apply(self, views: Views) -> Views:
        """To views that have been read."""
        pairs = zip(self.treatments, views.arrays, strict=True)
        arrays = [treatment(array) for treatment, array in pairs]
        if views.observed is not None:  # a constant feature is absent, too
            arrays = [
                with_zeros(array, present)
                for array, present in zip(arrays, views.observed, strict=True)
            ]
        return replace(views, arrays=arrays)

    def lengths(self, views: Views) -> list[Array]:
        """Of samples before they become unit length, as shares of the longest in their view."""
        return [
            treatment.lengths(array)
            for treatment, array in zip(self.treatments, views.arrays, strict=True)
        ]

    def report(self, names: Sequence[str]) -> None:
        """Say what is zero, and refuse what cannot be computed with."""
        columns = [treatment.columns for treatment in self.treatments]
        for name, treatment in zip(names, self.treatments, strict=True):
            if not treatment.normalize:
                check_magnitude(name, treatment.columns.overall)
            elif not (treatment.affine and treatment.constant > 0):
                report_zeros(name, treatment.columns.n_zero, treatment.columns.n_samples)
            if treatment.scaled:
                report_tiny(name, treatment.columns)
        if self.treatments[0].normalize and not any(view.overall > 0 for view in columns):
            raise ValueError("Every value of every view is zero: there is nothing to cluster.")


def alike(first: Array, second: Array) -> bool:
    """Whether no positive number is many times the other."""
    ratios = ratio(first, second)[first > 0]
    return bool(((ratios < MANY_TIMES) & (ratios > 1 / MANY_TIMES)).all())


def prepare(
    views: Views,
    scale_features: bool | Literal["auto"],
    affine: bool | Literal["auto"],
    normalize: bool,
) -> Any:
    """The preparation of views that have been read, and the prepared views."""
    columns = [Columns.of(array) for array in present_rows(views)]
    preparation = Preparation.choose(columns, scale_features, affine, normalize)
    preparation.report(views.names)
    return preparation, preparation.apply(views)


def present_rows(views: Views) -> list[Block]:
    """Of every view, the samples that it has."""
    if views.observed is None:
        return views.arrays
    return [array[present] for array, present in zip(views.arrays, views.observed, strict=True)]


def equalized(block: Block, columns: Columns) -> Block:
    """Mean square 1 in every feature, 0 in features that are zero or rounding beside the largest."""
    largest, sizes = columns.present, columns.size  # first relative, so that nothing overflows
    if is_sparse(block):
        return over_columns(over_columns(block, largest), sizes)
    return ratio(block, largest) * ratio(1.0, sizes)


def with_constant(block: Block, constant: float) -> Block:
    """One more feature, the same for all samples."""
    return side_by_side([block, np.full((block.shape[0], 1), constant)])


def unit_samples(block: Block) -> Block:
    """Every sample scaled to length 1, whatever its magnitude; what is zero stays zero."""
    largest = vector(abs(block).max(axis=1))[:, None]
    if is_sparse(block):
        relative: Any = over_rows(block, largest)
        return over_rows(relative, np.sqrt(vector((relative**2).sum(axis=1))))
    relative = ratio(
        block, largest
    )  # first to magnitude 1, so that squares neither overflow nor vanish
    lengths = np.sqrt(np.einsum("ij,ij->i", relative, relative))[:, None]
    return relative * ratio(1.0, lengths)


def vector(values: Any) -> Array:
    """Of what a reduction of a dense or sparse array gives."""
    return full(values).ravel()


def report_zeros(name: str, n_zero: int, n_samples: int) -> None:
    if n_zero == n_samples > 0:
        warn(f"{name} is zero everywhere and has no say in the result.")
    elif n_zero:
        warn(f"{name} is zero for {n_zero} of {n_samples} samples; it has no say about them.")


def report_tiny(name: str, columns: Columns) -> None:
    """What scaling leaves alone, since it would make data of the errors of something large."""
    n_tiny = int(((columns.largest > 0) & (columns.present == 0)).sum())
    if n_tiny:
        warn(
            f"{name}: {n_tiny} of {len(columns.largest)} features are as small as rounding of its largest values and "
            "have no say. If they are data, bring features to one unit, or into a view of their own."
        )


def check_magnitude(name: str, largest: float) -> None:
    """Unscaled views must have squares that are representable."""
    if not LARGEST**-1 < largest < LARGEST and largest > 0:
        raise ValueError(
            f"{name} has values around {largest:.0e}, too extreme to compute with unscaled; "
            "rescale it or use normalize=True."
        )


def concatenate(views: Views) -> Views:
    """One view with all features side by side."""
    return replace(views, arrays=[side_by_side(views.arrays)], names=["+".join(views.names)])
