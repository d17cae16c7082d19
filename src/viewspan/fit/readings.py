"""Choose how every view is read and its smallest λ, by the evidence that it shows clusters.

The evidence of a view at one λ is the excess of its cohesion over that of noise with the same
singular values: how much better its graph can be cut than a graph of noise. It needs no labels. The
position of a sample matters in tables with units, and its direction in texts, spectra and images;
the evidence tells them apart, and so it tells how many directions of a view carry neighbours.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from sklearn.utils.random import sample_without_replacement

from viewspan._utils.linalg import Spectrum, ratio
from viewspan._utils.sparse import stack_features
from viewspan._utils.typing import AnyArray, Array, Block
from viewspan.fit.agreement import compare_views
from viewspan.fit.settings import FitSettings
from viewspan.graph.patterns import Patterns, unit_columns
from viewspan.graph.view_weights import cohesion, noise_patterns
from viewspan.inputs.column_statistics import ColumnStatistics
from viewspan.inputs.preparation import Preparation, Reading
from viewspan.inputs.views import Views
from viewspan.objective.reduction import above_rounding, gram_spectrum, n_features_used
from viewspan.weights.noise import LAM_FLOOR, automatic_lam

N_COMPARED_SAMPLES = 400
"""Number of samples on which readings are compared."""
N_ALIGNED_SAMPLES = 200
"""Number of samples on which views are compared with one another."""
DEFAULT_N_GROUPS = 10
"""Number of leading eigenvalues that are compared if the number of clusters is not given."""
SAMPLES_PER_GROUP = 3
"""Smallest number of compared samples per group."""
FLOORS = (LAM_FLOOR, 1e-3, 1e-2, 1e-1)
"""Smallest λ that are tried, as shares of ‖X_i‖₂²: about one per decade."""
FLOOR_MARGIN = 1.2
"""A higher λ needs this multiple of the evidence at the lowest one.

Evidence on few samples is uncertain, and a high λ loses directions of subspaces for good.
"""
READING_MARGIN = 1.1
"""Positions lead if they have this multiple of the evidence of directions."""
NO_EVIDENCE = -1.0
"""Evidence of a reading of which only one direction is left: all samples look alike."""
SECOND_SHARE = 0.5
"""A second reading is used if it has this share of the evidence of the leading one."""
MAX_PLAIN_SHARE = 1 / 3
"""Largest number of directions, as a share of the samples, of views that are compared as they are.

A model averages over many directions. With few, it counts those of little variance too much.
"""


class Candidate(NamedTuple):
    """One reading of a view.

    Attributes
    ----------
    reading : {"directions", "positions"}
    floor : float
        Smallest λ as a share of ‖X_i‖₂².
    evidence : float
        Excess of cohesion over noise at this λ; 0 if it was not measured.
    """

    reading: Reading
    floor: float = LAM_FLOOR
    evidence: float = 0.0


@dataclass(frozen=True)
class Readings:
    """Readings of all views.

    Attributes
    ----------
    leading : list of Candidate
        The reading of every view that is solved, coupled and reported.
    second : list of Candidate, optional
        The readings of which a second graph is built. A view whose other reading shows too little
        has its leading one here, too. None if no view has a second reading.
    plain : tuple of bool
        Which views have positions that show clusters as they are, without a model. Empty if the
        views are joined, or share one matrix of coefficients.
    copies : tuple of int
        Number of views that are nearly equal to each view, itself included. Empty if it was not
        counted.
    """

    leading: list[Candidate]
    second: list[Candidate] | None = None
    plain: tuple[bool, ...] = ()
    copies: tuple[int, ...] = ()

    @property
    def names(self) -> list[tuple[Reading, ...]]:
        """Names of the readings of every view, the leading one first."""
        second = self.leading if self.second is None else self.second
        pairs = zip(self.leading, second, strict=True)
        return [tuple(dict.fromkeys((one.reading, two.reading))) for one, two in pairs]

    def without_second(self) -> "Readings":
        """Return the leading readings alone."""
        return replace(self, second=None, plain=())


def choose_readings(
    sample: Views, columns: Sequence[ColumnStatistics], settings: FitSettings
) -> Readings:
    """Choose the readings of all views.

    Parameters
    ----------
    sample : Views
        Some of the samples, in memory.
    columns : list of ColumnStatistics
        Statistics of all samples.
    settings : FitSettings
    """
    allowed = settings.readings_of_views(len(columns))
    if not settings.weighs_evidence:
        return Readings([Candidate(readings[0]) for readings in allowed])
    rows = random_rows(sample.n_samples, N_COMPARED_SAMPLES)
    blocks = [array[rows] for array in sample.arrays]
    ranked = [
        rank_readings(block, view, readings, settings)
        for block, view, readings in zip(blocks, columns, allowed, strict=True)
    ]
    leading = [candidates[0] for candidates in ranked]
    second = [candidates[-1] for candidates in ranked]
    chosen = Readings(leading, copies=compared(blocks, columns, leading, sample.names, settings))
    if settings.concatenated:
        leading, second = (
            with_common_floor(candidates, blocks, columns, settings)
            for candidates in (leading, second)
        )
    if not settings.reads_both:
        return chosen
    has_second = any(len(candidates) > 1 for candidates in ranked)
    triples = zip(blocks, columns, ranked, strict=True)
    plain = () if settings.concatenated else tuple(is_plain(*three, settings) for three in triples)
    return replace(chosen, leading=leading, second=second if has_second else None, plain=plain)


def compared(
    blocks: Sequence[Block],
    columns: Sequence[ColumnStatistics],
    leading: Sequence[Candidate],
    names: Sequence[str],
    settings: FitSettings,
) -> tuple[int, ...]:
    """Compare the views in their leading readings (see :func:`compare_views`)."""
    some = [block[:N_ALIGNED_SAMPLES] for block in in_random_order(blocks)]
    readings = [candidate.reading for candidate in leading]
    return compare_views(prepared(some, columns, leading, settings), readings, names)


def in_random_order(blocks: Sequence[Block]) -> list[Block]:
    """Return the same samples in a random order, always the same one."""
    order = np.random.RandomState(0).permutation(blocks[0].shape[0])
    return [block[order] for block in blocks]


def rank_readings(
    block: Block, columns: ColumnStatistics, allowed: Sequence[Reading], settings: FitSettings
) -> list[Candidate]:
    """Return the readings of one view that show clusters, the leading one first."""
    candidates = [Candidate(reading) for reading in allowed]
    found = [
        best_floor(prepared([block], [columns], [candidate], settings)[0], candidate, settings)
        for candidate in candidates
    ]
    if len(found) == 1:
        return found
    directions, positions = found
    margin = READING_MARGIN * max(directions.evidence, 0.0)
    leads, follows = (
        (positions, directions) if positions.evidence > margin else (directions, positions)
    )
    follows_closely = follows.evidence >= SECOND_SHARE * leads.evidence
    return [leads, follows] if follows_closely else [leads]


def is_plain(
    block: Block, columns: ColumnStatistics, ranked: Sequence[Candidate], settings: FitSettings
) -> bool:
    """Return whether the positions of a view show clusters as they are, without a model."""
    positions = [candidate for candidate in ranked if candidate.reading == "positions"]
    if not positions:
        return False
    if columns.is_sparse() or len(columns.largest) > MAX_PLAIN_SHARE * columns.n_samples:
        return False
    spectrum = gram_spectrum(prepared([block], [columns], positions, settings)[0])
    found = evidence(spectrum, spectrum.values, settings.n_clusters)
    return found > 0.0 and found >= SECOND_SHARE * ranked[0].evidence


def choose_preparation(
    columns: Sequence[ColumnStatistics], chosen: Sequence[Candidate], settings: FitSettings
) -> Preparation:
    """Return the preprocessing for chosen readings."""
    return Preparation.choose(
        columns,
        settings.scale_features,
        settings.affine,
        settings.normalize,
        [candidate.reading for candidate in chosen],
    )


def prepared(
    blocks: Sequence[Block],
    columns: Sequence[ColumnStatistics],
    chosen: Sequence[Candidate],
    settings: FitSettings,
) -> list[Block]:
    """Return samples after preprocessing."""
    treatments = choose_preparation(columns, chosen, settings).treatments
    return [treatment(block) for treatment, block in zip(treatments, blocks, strict=True)]


def choose_floors(readings: Readings, sample: Sequence[Block], settings: FitSettings) -> Readings:
    """Return the leading readings with the smallest λ chosen anew.

    Parameters
    ----------
    readings : Readings
    sample : list of arrays (n_samples, n_features_i)
        Preprocessed samples of every view.
    settings : FitSettings
    """
    if not settings.weighs_evidence:
        return readings
    rows = random_rows(sample[0].shape[0], N_COMPARED_SAMPLES)
    blocks = [block[rows] for block in sample]
    if settings.concatenated:
        blocks = [stack_features(blocks)] * len(blocks)
    pairs = zip(blocks, readings.leading, strict=True)
    return replace(readings, leading=[best_floor(*pair, settings) for pair in pairs])


def with_common_floor(
    chosen: Sequence[Candidate],
    blocks: Sequence[Block],
    columns: Sequence[ColumnStatistics],
    settings: FitSettings,
) -> list[Candidate]:
    """Return the readings with the smallest λ of the view that joins them."""
    joined = stack_features(prepared(blocks, columns, chosen, settings))
    floor = best_floor(joined, chosen[0], settings).floor
    return [candidate._replace(floor=floor) for candidate in chosen]


def best_floor(block: Block, candidate: Candidate, settings: FitSettings) -> Candidate:
    """Return a reading with the smallest λ at which it shows most of the clusters."""
    spectrum, width = gram_spectrum(block), n_features_used(block)
    n_samples = block.shape[0]
    best = candidate._replace(evidence=NO_EVIDENCE)
    last, lowest = 0.0, 0.0
    for floor in FLOORS:
        [lam] = automatic_lam([spectrum.values], [n_samples], [width], [floor])
        if lam == last:  # the noise is above this floor
            continue
        last = lam
        shares = np.maximum(1.0 - ratio(lam, 2.0 * spectrum.values**2), 0.0)
        found = evidence(spectrum, shares, settings.n_clusters)
        if floor == FLOORS[0]:
            best, lowest = best._replace(evidence=found), max(found, 0.0)
        elif found > max(FLOOR_MARGIN * lowest, best.evidence):
            best = best._replace(floor=floor, evidence=found)
    return best


def evidence(spectrum: Spectrum, shares: Array, n_clusters: int | None) -> float:
    """Return the excess of a view's cohesion over that of noise with the same singular values.

    Parameters
    ----------
    spectrum : Spectrum
        The view, with one column per sample.
    shares : array
        Singular values of the coefficients, or of the view itself.
    n_clusters : int or None
    """
    kept = (shares > 0.0) & above_rounding(spectrum)
    if kept.sum() < 2:
        return NO_EVIDENCE
    columns = unit_columns(shares[kept, None] * spectrum.right[kept])
    patterns = Patterns([columns], [shares[kept]])
    count = n_groups(n_clusters, columns.shape[1])
    return cohesion(patterns, count) - cohesion(noise_patterns(patterns, seed=0), count)


def n_groups(n_clusters: int | None, n_samples: int) -> int:
    """Return the number of leading eigenvalues that are compared."""
    wanted = DEFAULT_N_GROUPS if n_clusters is None else max(n_clusters, 2)
    return max(min(wanted, n_samples // SAMPLES_PER_GROUP), 1)


def random_rows(n_samples: int, count: int) -> AnyArray:
    """Return the positions of some random samples in ascending order, always the same ones."""
    if n_samples <= count:
        return np.arange(n_samples)
    return np.sort(sample_without_replacement(n_samples, count, random_state=0))


def sample_of(views: Views) -> Views:
    """Read the samples on which readings are compared."""
    rows = random_rows(views.n_samples, N_COMPARED_SAMPLES)
    return replace(views, arrays=[array[rows] for array in views.arrays]).read()
