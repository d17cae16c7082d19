"""Numeric parameters: conversion to arrays of floats, and view weights."""

from decimal import Decimal

import numpy as np
import pytest

from viewspan.inputs.parameters import as_numbers, check_view_weights


@pytest.mark.parametrize(
    "numbers", [1, True, [1, 2.5], np.array([1, 2.5], dtype=object), [Decimal(1)]]
)
def test_numbers_become_floats(numbers):
    np.testing.assert_array_equal(as_numbers(numbers, "lam"), np.array(numbers, dtype=float))


@pytest.mark.parametrize(
    "other",
    [
        "1",
        ["1"],
        np.array(["1"], dtype=object),
        1j,
        np.array([1j], dtype=object),
        None,
        [[1], [1, 2]],
    ],
)
def test_other_values_raise_even_if_they_look_like_numbers(other):
    with pytest.raises(ValueError, match="lam must be a number or an array of numbers"):
        as_numbers(other, "lam")


def test_view_weights_are_scaled_to_a_maximum_of_one():
    np.testing.assert_array_equal(check_view_weights(None, 3), np.ones(3))
    np.testing.assert_allclose(check_view_weights([1, 4], 2), [0.25, 1.0])


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 2, 3], r"one number per view, 2 in total\. Got shape \(3,\) instead"),
        (1.0, r"one number per view, 2 in total\. Got shape \(\) instead"),
        ([1, -1], r"finite and at least 0.*Got \[1\.0, -1\.0\] instead"),
        ([1, np.nan], "finite and at least 0"),
        ([0, 0], "one of them must be positive"),
    ],
)
def test_bad_view_weights_raise(weights, message):
    with pytest.raises(ValueError, match=message):
        check_view_weights(weights, 2)
