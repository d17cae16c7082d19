"""Measures of the paper: clustering accuracy, signal-to-noise ratio, distance of coefficients."""

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.cluster import contingency_matrix


def subspace_clustering_accuracy(labels_true: npt.ArrayLike, labels_pred: npt.ArrayLike) -> float:
    """Return the percentage of correctly clustered samples (SCA).

    SCA = 100 − 100 · (misclassified samples) / (samples), under the best one-to-one matching of
    clusters to classes, which the Hungarian method finds. The number of clusters may differ from
    the number of classes; samples of unmatched clusters count as misclassified.

    Parameters
    ----------
    labels_true, labels_pred : array-like (n_samples,)
        True class and cluster of every sample.

    Returns
    -------
    float
        Accuracy in percent.
    """
    truth, predicted = np.asarray(labels_true), np.asarray(labels_pred)
    if truth.ndim != 1 or truth.shape != predicted.shape:
        raise ValueError(
            "labels_true and labels_pred must have one label per sample and the same length. "
            f"Got shapes {truth.shape} and {predicted.shape} instead."
        )
    if len(truth) == 0:
        raise ValueError("labels_true and labels_pred must have at least one sample. Got none.")
    counts = contingency_matrix(truth, predicted)
    rows, columns = linear_sum_assignment(counts, maximize=True)
    return 100.0 * float(counts[rows, columns].sum()) / len(truth)


def psnr(clean: npt.ArrayLike, noisy: npt.ArrayLike, *, peak: float = 1.0) -> float:
    """Return the peak signal-to-noise ratio in decibels.

    It is 10·log₁₀(peak² / mean squared error), and infinite without noise. The authors' program
    prints 10·ln(peak² / MSE) instead, so that the paper's "PSNR 32" is 13.9 dB here.

    Parameters
    ----------
    clean, noisy : array-like of the same shape
        Data without and with noise.
    peak : float
        Largest value that an entry of ``clean`` can have.
    """
    reference, observed = np.asarray(clean, dtype=float), np.asarray(noisy, dtype=float)
    if reference.shape != observed.shape:
        raise ValueError(
            "clean and noisy must have the same shape. "
            f"Got {reference.shape} and {observed.shape} instead."
        )
    if not peak > 0:
        raise ValueError(f"peak must be positive. Got {peak!r} instead.")
    error = float(np.mean((reference - observed) ** 2))
    return float("inf") if error == 0 else float(10.0 * np.log10(peak**2 / error))


def coefficient_difference(Z_1: npt.ArrayLike, Z_2: npt.ArrayLike) -> float:
    """Return ‖Z_1 − Z_2‖_F, the distance between the coefficients of two views."""
    first, second = np.asarray(Z_1, dtype=float), np.asarray(Z_2, dtype=float)
    if first.shape != second.shape:
        raise ValueError(
            f"Z_1 and Z_2 must have the same shape. Got {first.shape} and {second.shape} instead."
        )
    return float(np.linalg.norm(first - second))
