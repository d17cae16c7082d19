"""Column statistics: dominant features, centred features, and sums of blocks."""

import numpy as np
import pytest
import scipy.sparse

from viewspan.inputs.column_statistics import ColumnStatistics


@pytest.mark.parametrize(
    ("scales", "dominant"),
    [
        ([1, 1, 1], False),
        ([100, 1, 1], True),
        ([3, 2.9, 2], False),
        ([1, 0, 0], True),
        ([0, 0, 0], False),
    ],
)
def test_a_feature_in_another_unit_is_dominant(scales, dominant):
    array = np.random.default_rng(0).uniform(1, 2, (20, 3)) * np.array(scales, dtype=float)
    assert ColumnStatistics.of(array).has_dominant_feature() == dominant


def test_a_single_feature_is_not_dominant():
    assert not ColumnStatistics.of(np.ones((5, 1))).has_dominant_feature()


def groups(n_samples=100):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n_samples, 3)) + rng.choice([-2.0, 5.0], size=(n_samples, 1))


def z_scores(array):
    return (array - array.mean(axis=0)) / array.std(axis=0)


@pytest.mark.parametrize(
    ("array", "centred"),
    [
        (groups() - groups().mean(axis=0), True),
        (z_scores(groups()).round(2), True),
        (z_scores(groups()).astype(np.float32).astype(float), True),
        (1e300 * z_scores(groups()), True),
        (np.hstack([z_scores(groups()), np.zeros((100, 1))]), True),
        (np.hstack([z_scores(groups()), groups()]), False),
        (groups(), False),
        (np.random.default_rng(0).normal(size=(100_000, 2)), False),
        (np.zeros((10, 2)), False),
        (np.zeros((0, 2)), False),
    ],
    ids=[
        "subtracted means",
        "rounded z-scores",
        "z-scores in single precision",
        "huge z-scores",
        "z-scores and zeros",
        "z-scores and other features",
        "not centred",
        "centred by chance",
        "zeros",
        "no samples",
    ],
)
def test_centred_features_are_recognised(array, centred):
    assert ColumnStatistics.of(array).is_centered() == centred


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_statistics_of_blocks_add_up(scale):
    array = scale * np.random.default_rng(0).normal(size=(30, 4)) * [1.0, 10.0, 0.0, 0.1]
    full = ColumnStatistics.of(array)
    parts = ColumnStatistics.of(array[:7]) + ColumnStatistics.of(array[7:])
    for name in ("n_samples", "n_zero", "largest", "sums", "squares"):
        np.testing.assert_allclose(getattr(parts, name), getattr(full, name), atol=1e-12 * scale)
    np.testing.assert_allclose(full.rms / scale, np.sqrt(((array / scale) ** 2).mean(axis=0)))
    lengths = np.linalg.norm(array / scale, axis=1)
    assert full.rms_sample_length / scale == pytest.approx(np.sqrt((lengths**2).mean()))


def test_zero_features_get_the_median_scale_of_the_others():
    array = np.array([[1.0, 0.0, 2.0, 8.0], [0.5, 0.0, 2.0, 8.0]])
    imputed = ColumnStatistics.of(array).impute_zero_features()
    np.testing.assert_array_equal(imputed.largest, [1.0, 2.0, 2.0, 8.0])
    zeros = ColumnStatistics.of(np.zeros((2, 3)))
    assert zeros.impute_zero_features() is zeros


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("offset", [0.0, 1.0, 1e6])
def test_means_and_deviations_of_blocks_add_up_to_those_of_all(form, offset):
    array = groups() + offset
    blocks = [ColumnStatistics.of(form(part)) for part in np.array_split(array, 7)]
    found = sum(blocks[1:], blocks[0])
    np.testing.assert_allclose(found.relative_mean * found.largest, array.mean(axis=0), rtol=1e-12)
    # sparse values are not shifted before they are squared, which costs digits
    digits = 1e-9 if form is np.asarray else 1e-3
    np.testing.assert_allclose(found.relative_std * found.largest, array.std(axis=0), rtol=digits)


def test_a_constant_feature_has_no_deviation():
    array = np.column_stack([np.full(50, 0.1), np.arange(50.0)])
    assert (ColumnStatistics.of(array).relative_std > 0).tolist() == [False, True]


@pytest.mark.parametrize(("share", "sparse"), [(0.05, True), (0.1, True), (0.2, False)])
def test_a_view_of_few_nonzero_values_is_sparse(share, sparse):
    array = np.zeros((10, 20))
    array.flat[: int(200 * share)] = 1.0
    assert ColumnStatistics.of(array).is_sparse() == sparse
    assert ColumnStatistics.of(scipy.sparse.csr_array(array)).is_sparse() == sparse
