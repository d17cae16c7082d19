"""Preprocessing of views: units, origin and length of samples."""

import warnings

import numpy as np
import pytest
import scipy.sparse

from tests.inputs.test_column_statistics import groups, z_scores
from viewspan.inputs.checks import check_views
from viewspan.inputs.column_statistics import ColumnStatistics
from viewspan.inputs.preparation import Preparation, Treatment, concatenate, prepare
from viewspan.inputs.scaling import equalize_features

GOOD = np.arange(12.0).reshape(4, 3)


def check(views):
    return check_views(views, caller="CLRSC").read()


def unit_samples(views):
    return prepare(views, False, False, normalize=True)[1].arrays


def test_the_input_is_not_changed():
    view = GOOD.copy()
    view.setflags(write=False)
    unit_samples(check([view]))
    np.testing.assert_array_equal(view, GOOD)


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_samples_of_any_magnitude_get_unit_length(scale):
    scaled = unit_samples(check([scale * (GOOD + 1)]))[0]
    np.testing.assert_allclose(np.linalg.norm(scaled, axis=1), 1.0)
    np.testing.assert_allclose(scaled, unit_samples(check([GOOD + 1]))[0])


def test_zeros_are_reported():
    with pytest.warns(UserWarning, match="view 1 is all zeros and is ignored"):
        unit_samples(check([GOOD, np.zeros((4, 2))]))
    with pytest.warns(UserWarning, match="view 0 is zero for 1 of 4 samples and is ignored for"):
        unit_samples(check([GOOD * [[0], [1], [1], [1]]]))
    with (
        pytest.raises(ValueError, match="Every value of every view is zero"),
        pytest.warns(UserWarning, match="is all zeros"),
    ):
        unit_samples(check([np.zeros((4, 2))]))


def test_features_as_small_as_rounding_errors_are_reported():
    view = GOOD + 1
    with pytest.warns(
        UserWarning, match="view 0: 1 of 3 features are as small as rounding errors of its largest"
    ):
        _, prepared = prepare(check([view * [1.0, 1e-17, 0.0]]), True, False, normalize=True)
    np.testing.assert_array_equal(prepared.arrays[0][:, 1:], 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        prepare(check([view * [1.0, 1e-14, 0.0]]), True, False, normalize=True)


def test_extreme_values_raise_without_normalisation():
    with pytest.raises(ValueError, match=r"view 0 has values around 1e.*set normalize=True"):
        prepare(check([1e200 * GOOD]), False, False, normalize=False)


def test_concatenated_views_have_joined_names():
    joined = concatenate(check({"a": GOOD, "b": GOOD}))
    assert joined.n_features == (6,)
    assert joined.names == ["a+b"]


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_equalized_features_have_mean_square_one(scale, kind):
    array = scale * np.random.default_rng(0).normal(size=(20, 3)) * np.array([1.0, 1e-5, 0.0])
    equalized = equalize_features(kind(array), ColumnStatistics.of(array)) @ np.eye(3)
    np.testing.assert_allclose((equalized**2).mean(axis=0), [1.0, 1.0, 0.0])


def with_constant(array):
    columns = ColumnStatistics.of(array)
    return Treatment(columns, scaled=False, affine=True, normalize=False)(array)


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_the_constant_feature_is_the_rms_length_of_samples(scale):
    added = with_constant(scale * GOOD) / scale
    np.testing.assert_allclose(added[:, :-1], GOOD)
    np.testing.assert_allclose(added[:, -1], np.sqrt((GOOD**2).sum(axis=1).mean()))


def test_parallel_lines_are_different_planes_with_a_constant():
    """Without a constant, both lines lie in one plane through the origin."""
    along = np.random.default_rng(0).normal(size=(20, 1)) * np.array([1.0, 0.0, 0.0])
    aside = np.array([0.0, 1.0, 0.0])
    lines = with_constant(np.vstack([along + aside, along - aside]))
    assert [np.linalg.matrix_rank(part) for part in (lines[:20], lines[20:], lines)] == [2, 2, 3]


@pytest.mark.parametrize(
    ("affine", "added"), [("auto", [True, False]), (True, [True, True]), (False, [False, False])]
)
def test_affine_adds_a_constant_to_centred_or_to_all_views(affine, added):
    views = check([z_scores(groups()), groups()])
    preparation, prepared = prepare(views, False, affine, normalize=True)
    assert preparation.affine == added
    widths = [array.shape[1] for array in prepared.arrays]
    assert widths == [3 + add for add in added]


def test_auto_changes_nothing_without_normalisation():
    views = check([z_scores(groups()), groups() * [1e9, 1, 1]])
    _, prepared = prepare(views, "auto", "auto", normalize=False)
    for array, given in zip(prepared.arrays, views.arrays, strict=True):
        np.testing.assert_array_equal(array, given)


def test_preparations_resemble_each_other_if_scales_differ_by_less_than_three():
    def prepared(scale):
        scales = np.array([1.0, scale, 1.0])
        return prepare(check([groups() * scales]), True, False, normalize=True)[0]

    assert prepared(1.0).resembles(prepared(2.5))
    assert not prepared(1.0).resembles(prepared(3.5))
    assert not prepared(1.0).resembles(prepare(check([groups()]), False, False, normalize=True)[0])


def positions_of(array):
    return Preparation.choose(
        [ColumnStatistics.of(array)], "auto", "auto", normalize=True, readings=["positions"]
    ).treatments[0]


def test_positions_are_standardised_features_with_a_constant_at_unit_length():
    array = groups() * [1.0, 100.0, 1e-3] + [5.0, -7.0, 1e4]
    expected = np.column_stack([z_scores(array), np.full(len(array), np.sqrt(3))])
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(positions_of(array)(array), expected, rtol=1e-6)


def test_positions_do_not_depend_on_units_and_origins():
    array = groups()
    other = array * [1e3, 1e-3, 7.0] + [1.0, 2.0, -3.0]
    np.testing.assert_allclose(positions_of(array)(array), positions_of(other)(other), atol=1e-9)


def test_constant_features_have_no_position():
    array = np.column_stack([groups(), np.full(100, 3.0)])
    treatment = positions_of(array)
    assert treatment.n_features_used == 4  # three features and the constant one
    np.testing.assert_array_equal(treatment(array)[:, 3], 0.0)


def test_positions_of_sparse_views_stay_sparse_and_equal_those_of_the_same_full_array():
    sparse = scipy.sparse.random_array((40, 60), density=0.05, random_state=0, format="csr")
    treatment = positions_of(sparse)
    prepared = treatment(sparse)
    assert scipy.sparse.issparse(prepared) and not treatment.centered
    full = sparse.toarray()
    np.testing.assert_allclose(positions_of(full)(full), prepared.toarray())
