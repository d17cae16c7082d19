"""Units, origins and lengths: what is done to views before anything is solved."""

import warnings

import numpy as np
import pytest

from viewspan.inputs import preparation as module
from viewspan.inputs.preparation import Columns, concatenate, prepare
from viewspan.inputs.views import check_views

GOOD = np.arange(12.0).reshape(4, 3)


def check(views):
    return check_views(views, caller="CLRSC").read()


def unit_samples(views):
    return prepare(views, False, False, normalize=True)[1].arrays


def test_input_is_never_touched():
    view = GOOD.copy()
    view.setflags(write=False)
    unit_samples(check([view]))
    np.testing.assert_array_equal(view, GOOD)


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_samples_become_unit_length_whatever_their_magnitude(scale):
    scaled = unit_samples(check([scale * (GOOD + 1)]))[0]
    np.testing.assert_allclose(np.linalg.norm(scaled, axis=1), 1.0)
    np.testing.assert_allclose(scaled, unit_samples(check([GOOD + 1]))[0])


def test_zeros_are_reported():
    with pytest.warns(UserWarning, match="view 1 is zero everywhere"):
        unit_samples(check([GOOD, np.zeros((4, 2))]))
    with pytest.warns(UserWarning, match="view 0 is zero for 1 of 4 samples"):
        unit_samples(check([GOOD * [[0], [1], [1], [1]]]))
    with (
        pytest.raises(ValueError, match="Every value of every view is zero"),
        pytest.warns(UserWarning, match="zero"),
    ):
        unit_samples(check([np.zeros((4, 2))]))


def test_features_that_scaling_takes_for_rounding_are_told():
    view = GOOD + 1
    with pytest.warns(
        UserWarning, match="view 0: 1 of 3 features are as small as rounding of its largest values"
    ):
        _, prepared = prepare(check([view * [1.0, 1e-17, 0.0]]), True, False, normalize=True)
    np.testing.assert_array_equal(prepared.arrays[0][:, 1:], 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        prepare(check([view * [1.0, 1e-14, 0.0]]), True, False, normalize=True)


def test_extreme_values_cannot_stay_unscaled():
    with pytest.raises(ValueError, match="normalize=True"):
        prepare(check([1e200 * GOOD]), False, False, normalize=False)


def test_concatenation_keeps_names():
    joined = concatenate(check({"a": GOOD, "b": GOOD}))
    assert joined.n_features == (6,)
    assert joined.names == ["a+b"]


@pytest.mark.parametrize(
    ("scales", "dominated"),
    [
        ([1, 1, 1], False),
        ([100, 1, 1], True),
        ([3, 2.9, 2], False),
        ([1, 0, 0], True),
        ([0, 0, 0], False),
    ],
)
def test_a_feature_of_another_unit_is_noticed(scales, dominated):
    array = np.random.default_rng(0).uniform(1, 2, (20, 3)) * np.array(scales, dtype=float)
    assert Columns.of(array).is_dominated() == dominated


def test_one_feature_cannot_outweigh_others():
    assert not Columns.of(np.ones((5, 1))).is_dominated()


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_equalized_features_have_mean_square_one(scale):
    array = scale * np.random.default_rng(0).normal(size=(20, 3)) * np.array([1.0, 1e-5, 0.0])
    np.testing.assert_allclose(
        (module.equalized(array, Columns.of(array)) ** 2).mean(axis=0), [1.0, 1.0, 0.0]
    )


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
    ],
)
def test_centred_features_are_noticed_and_chance_is_not(array, centred):
    assert Columns.of(array).is_centred() == centred


def with_constant(array):
    return module.Treatment(Columns.of(array), scaled=False, affine=True, normalize=False)(array)


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_a_constant_is_as_long_as_samples_are(scale):
    added = with_constant(scale * GOOD) / scale
    np.testing.assert_allclose(added[:, :-1], GOOD)
    np.testing.assert_allclose(added[:, -1], np.sqrt((GOOD**2).sum(axis=1).mean()))


def test_two_parallel_lines_are_two_planes_with_a_constant():
    """Through the origin, both lines lie in one plane."""
    along = np.random.default_rng(0).normal(size=(20, 1)) * np.array([1.0, 0.0, 0.0])
    aside = np.array([0.0, 1.0, 0.0])
    lines = with_constant(np.vstack([along + aside, along - aside]))
    assert [np.linalg.matrix_rank(part) for part in (lines[:20], lines[20:], lines)] == [2, 2, 3]


@pytest.mark.parametrize(
    ("asked", "added"), [("auto", [True, False]), (True, [True, True]), (False, [False, False])]
)
def test_who_gets_a_constant(asked, added):
    views = check([z_scores(groups()), groups()])
    chosen, prepared = prepare(views, False, asked, normalize=True)
    assert chosen.affine == added
    widths = [array.shape[1] for array in prepared.arrays]
    assert widths == [3 + add for add in added]


def test_what_keeps_its_lengths_keeps_its_units_and_origin():
    views = check([z_scores(groups()), groups() * [1e9, 1, 1]])
    _, prepared = prepare(views, "auto", "auto", normalize=False)
    for array, given in zip(prepared.arrays, views.arrays, strict=True):
        np.testing.assert_array_equal(array, given)
