"""The noise level of a view, and λ and τ of quadratic fits that follow from it."""

import numpy as np
import pytest
from sklearn.preprocessing import normalize

from tests.problems import random_views
from viewspan.objective.couplings import NuclearCoupling
from viewspan.objective.datafits import L12, Frobenius
from viewspan.objective.reduction import reduce_views
from viewspan.weights.noise import (
    LAM_FLOOR,
    NoiseRule,
    automatic_lam,
    marchenko_pastur_median,
    noise_level,
)


def automatic_weights(views, datafit=None):
    """Return λ and τ of the nuclear coupling by the rule for quadratic fits."""
    rule, datafit, reduction = NoiseRule(), datafit or Frobenius(), reduce_views(views)
    lam = rule.lam(reduction, datafit)
    strength = rule.strength(reduction, datafit, lam)
    return lam, NuclearCoupling().automatic_tau(reduction, lam, strength)


@pytest.mark.parametrize("shape", [(100, 100), (500, 60), (80, 1000)])
@pytest.mark.parametrize("noise", [0.05, 0.5])
def test_noise_level_is_estimated_beside_a_signal(shape, noise):
    rng = np.random.default_rng(0)
    signal = rng.normal(size=(shape[0], 5)) @ rng.normal(size=(5, shape[1]))
    singular = np.linalg.svd(signal + noise * rng.normal(size=shape), compute_uv=False)
    assert noise_level(singular, *shape) == pytest.approx(noise, rel=0.12)


@pytest.mark.parametrize("rank", [3, 20])
def test_low_rank_data_is_free_of_noise(rank):
    rng = np.random.default_rng(2)
    view = rng.normal(size=(100, rank)) @ rng.normal(size=(rank, 60))
    singular = np.linalg.svd(view, compute_uv=False)
    assert noise_level(singular, 100, 60) == 0.0
    lam = automatic_lam([singular], [100], (60,))
    assert lam == pytest.approx(LAM_FLOOR * singular[0] ** 2)


@pytest.mark.parametrize("shape", [(200, 200), (60, 600), (900, 90)])
def test_automatic_lam_shrinks_as_the_wiener_filter(shape):
    """LRR keeps 1 − λ/2s² of a direction with the energy s², of which x² is the signal's."""
    rng = np.random.default_rng(0)
    n_samples, n_features = shape
    strengths = np.array([40.0, 36.0, 33.0])
    left, right = (np.linalg.qr(rng.normal(size=(size, 3)))[0] for size in shape)
    noisy = (left * strengths) @ right.T + 0.5 * rng.normal(size=shape)
    singular = np.linalg.svd(noisy, compute_uv=False)
    (lam,) = automatic_lam([singular], [n_samples], (n_features,))
    observed = np.linalg.norm(noisy.T @ left, axis=0) ** 2
    expected = strengths**2 + 0.25 * n_features  # mean over many draws of the noise
    np.testing.assert_allclose(1 - lam / (2 * expected), strengths**2 / expected, atol=0.01)
    np.testing.assert_allclose(observed, expected, rtol=0.1)


def test_noise_does_not_exceed_the_energy_of_the_view():
    rng = np.random.default_rng(1)
    spectra = [np.linalg.svd(normalize(rng.normal(size=(40, 4000))), compute_uv=False)]
    assert automatic_lam(spectra, [40], (4000,))[0] <= 2.0 + 1e-9


def test_automatic_tau_pulls_half_as_hard_as_the_penalty():
    """The slopes of τ‖A‖_* and λ‖Z‖_* for two equal views, by finite differences.

    The stack A = (Z, Z) has the length √2·√6 and the force of the coupling is τ. Z has the length
    √6 and the force of the penalty is λ√6.
    """
    view = random_views(5, (30, 30), 40, rank=6)[0]
    lam, tau = automatic_weights([view, view])
    basis = np.linalg.svd(view)[0][:, :6]
    coefficients = basis @ basis.T

    def values(step):
        scaled = coefficients * (1 + step)
        stack = np.stack([scaled.ravel()] * 2)
        return tau * np.linalg.norm(stack, "nuc"), lam[0] * np.linalg.norm(scaled, "nuc")

    coupling, penalty = ((b - a) / 1e-6 for a, b in zip(values(0.0), values(1e-6), strict=True))
    assert coupling / np.sqrt(12) == pytest.approx(0.5 * penalty / np.sqrt(6), rel=0.02)


def test_marchenko_pastur_median_is_that_of_random_matrices():
    rng = np.random.default_rng(3)
    for short, long in ((300, 300), (100, 1000)):
        squares = np.linalg.svd(rng.normal(size=(short, long)), compute_uv=False) ** 2 / long
        assert marchenko_pastur_median(short / long) == pytest.approx(np.median(squares), rel=0.03)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_weights_are_proportional_to_the_square_of_the_data(scale):
    views = random_views(0, (20, 30), 40)
    lam, tau = automatic_weights(views)
    scaled_lam, scaled_tau = automatic_weights([scale * view for view in views])
    np.testing.assert_allclose(scaled_lam, scale**2 * lam)
    assert scaled_tau == pytest.approx(scale**2 * tau)


def test_weights_are_proportional_to_the_curvature_of_the_fit():
    views = random_views(0, (20, 30), 40)
    lam, tau = automatic_weights(views, Frobenius(2.0))
    half_lam, half_tau = automatic_weights(views, Frobenius(1.0))
    np.testing.assert_allclose(half_lam, 0.5 * lam)
    assert half_tau == pytest.approx(0.5 * tau)


def test_weights_leave_coefficients_even_if_everything_looks_like_noise():
    """All singular values of both views are 2, and all of λ, τ above these limits give zero."""
    view = 2.0 * np.linalg.qr(np.random.default_rng(0).normal(size=(40, 20)))[0]
    lam, tau = automatic_weights([view, view])
    assert (lam < 2 * 4.0).all()
    assert tau < np.linalg.norm(np.maximum(2 * 4.0 - lam[0], 0) * np.ones(20))


def test_zero_views_do_not_change_tau():
    views = random_views(0, (20, 30), 40)
    _, tau = automatic_weights(views)
    lam, with_zero = automatic_weights([*views, np.zeros((40, 5))])
    assert with_zero == pytest.approx(tau)
    assert lam[2] == 0.0
    assert automatic_weights([np.zeros((40, 5))]) == (0.0, 0.0)


def test_a_fit_that_is_not_quadratic_is_an_error():
    with pytest.raises(TypeError, match=r"L12\(\) is not quadratic"):
        NoiseRule().lam(reduce_views(random_views(0)), L12())
