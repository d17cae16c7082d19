"""Clustering accuracy, signal-to-noise ratio and distance of coefficients."""

import numpy as np
import pytest

from viewspan.metrics import coefficient_difference, psnr, subspace_clustering_accuracy


def test_accuracy_does_not_depend_on_the_names_of_clusters():
    truth = np.array([0, 0, 1, 1, 2, 2])
    assert subspace_clustering_accuracy(truth, ["b", "b", "c", "c", "a", "a"]) == 100.0


def test_accuracy_uses_the_best_matching_not_a_greedy_one():
    truth = [0] * 5 + [1] * 5
    predicted = [0, 0, 0, 1, 1, 0, 0, 0, 0, 1]
    assert subspace_clustering_accuracy(truth, predicted) == 60.0


@pytest.mark.parametrize(
    ("predicted", "expected"), [([0, 0, 0, 0], 50.0), ([0, 1, 2, 3], 50.0), ([0, 0, 1, 2], 75.0)]
)
def test_accuracy_with_another_number_of_clusters(predicted, expected):
    assert subspace_clustering_accuracy([0, 0, 1, 1], predicted) == expected


def test_accuracy_of_many_clusters_is_fast():
    truth = np.repeat(np.arange(200), 3)
    assert subspace_clustering_accuracy(truth, (truth * 7 + 3) % 200) == 100.0


@pytest.mark.parametrize(
    ("truth", "predicted"), [([0, 1], [0, 1, 2]), ([], []), ([[0, 1]], [[0, 1]])]
)
def test_accuracy_raises_if_there_is_not_one_label_per_sample(truth, predicted):
    with pytest.raises(ValueError, match="labels_true and labels_pred"):
        subspace_clustering_accuracy(truth, predicted)


def test_psnr_is_in_decibels():
    clean = np.zeros((10, 10))
    assert psnr(clean, clean + 0.1) == pytest.approx(20.0)
    assert psnr(clean, clean + 0.1, peak=10.0) == pytest.approx(40.0)
    assert psnr(clean, clean) == np.inf


def test_the_papers_psnr_of_32_is_a_noise_of_two_tenths():
    """The authors' program uses the natural logarithm."""
    noise = np.random.default_rng(0).normal(scale=0.2, size=(400, 400))
    decibels = psnr(np.zeros_like(noise), noise)
    assert decibels == pytest.approx(13.98, abs=0.05)
    assert decibels * np.log(10) == pytest.approx(32.2, abs=0.1)


@pytest.mark.parametrize("call", [psnr, coefficient_difference])
def test_different_shapes_raise_an_error(call):
    with pytest.raises(ValueError, match="same shape"):
        call(np.zeros((2, 2)), np.zeros((3, 2)))


def test_psnr_needs_a_positive_peak():
    with pytest.raises(ValueError, match="peak must be positive"):
        psnr([0.0], [1.0], peak=0.0)


def test_coefficient_difference_is_the_frobenius_norm():
    assert coefficient_difference([[3.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 4.0]]) == 5.0
