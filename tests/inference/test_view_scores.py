"""View scores: how well each view alone shows the clusters."""

import numpy as np
import pytest

from tests.problems import two_subspaces
from viewspan._utils.linalg import Spectrum, spectrum
from viewspan.graph.patterns import Patterns, neighbor_graph, unit_columns
from viewspan.graph.quality import assortativity
from viewspan.inference.view_scores import score, uncoupled_patterns, view_scores

VIEWS, LABELS = two_subspaces(size=12, noise=0.05)
SPECTRA = [spectrum((view / np.linalg.norm(view, axis=1, keepdims=True)).T) for view in VIEWS]
SAMPLES = np.eye(24)


def score_of(view, lam, kept=slice(None)):
    """Return the score of one view from its definition."""
    columns = uncoupled_patterns(SPECTRA[view], SAMPLES, lam)[:, kept]
    graph = neighbor_graph(Patterns([columns], [SPECTRA[view].values]), np.ones(1))
    return assortativity(graph, LABELS[kept])


def test_patterns_of_a_single_view_are_those_of_its_low_rank_coefficients():
    view = SPECTRA[0]
    found = uncoupled_patterns(view, SAMPLES, 0.3)
    coefficients = (view.right.T * np.maximum(1 - 0.3 / (2 * view.values**2), 0)) @ view.right
    expected = np.abs(unit_columns(coefficients).T @ unit_columns(coefficients))
    np.testing.assert_allclose(np.abs(found.T @ found), expected, atol=1e-5)
    singular = Spectrum(np.array([2.0, 0.0]), np.eye(2, 24))
    assert np.isfinite(uncoupled_patterns(singular, SAMPLES, 0.3)).all()


def test_scores_are_high_for_views_with_clusters_and_low_for_noise():
    noise = spectrum(np.random.default_rng(0).normal(size=(12, 24)))
    found = view_scores([*SPECTRA, noise], SAMPLES, np.array([0.1, 0.2, 0.1]), LABELS)
    assert found[:2].min() > 0.8
    assert abs(found[2]) < 0.3
    np.testing.assert_allclose(found[:2], [score_of(0, 0.1), score_of(1, 0.2)], rtol=1e-6)


def test_missing_samples_are_ignored():
    observed = np.ones((2, 24), dtype=bool)
    observed[0, ::3] = False
    found = view_scores(SPECTRA, SAMPLES, np.array([0.1, 0.1]), LABELS, observed)
    assert found[0] == pytest.approx(score_of(0, 0.1, observed[0]), rel=1e-6)
    assert found[1] == pytest.approx(score_of(1, 0.1), rel=1e-6)


def test_a_view_of_one_sample_has_score_zero():
    observed = np.ones((2, 24), dtype=bool)
    observed[1] = False
    observed[1, 3] = True
    assert view_scores(SPECTRA, SAMPLES, np.array([0.1, 0.1]), LABELS, observed)[1] == 0.0


def test_two_samples_are_enough_for_a_score():
    columns = np.zeros((2, 5), dtype=np.float32)
    columns[:, [1, 3]] = [[1.0, 0.8], [0.0, 0.6]]
    found = score(Patterns([columns], [np.ones(2)]), np.array([0, 0, 1, 1, 1]))
    assert found == pytest.approx(-1.0)
