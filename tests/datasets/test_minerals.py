"""The mineral library and mixtures of its spectra."""

import numpy as np
import pytest

from viewspan.datasets import fetch_minerals, make_mineral_mixtures


def test_the_library_has_120_spectra(minerals):
    spectra, wavelengths = fetch_minerals()
    assert spectra.shape == (120, 321)
    assert wavelengths.shape == (321,)
    assert np.isfinite(spectra).all()


def test_mixtures_are_convex_combinations_of_pure_spectra():
    """If the pure spectra are unit vectors, a mixture equals its weights."""
    views, labels = make_mineral_mixtures(
        library=np.eye(12), n_copies=4, n_spectra=5, random_state=0
    )
    assert np.bincount(labels).tolist() == [4] * 5
    for view in views:
        assert view.shape == (20, 12)
        assert len(np.unique(view, axis=0)) == 5
        np.testing.assert_allclose(view.sum(axis=1), 1)
        assert ((view > 0).sum(axis=1) == 5).all()
    assert not np.allclose(*views)


def test_the_defaults_give_the_papers_data(minerals):
    views, _ = make_mineral_mixtures(noise=0.1, random_state=0)
    assert [view.shape for view in views] == [(50, 321), (50, 321)]
    clean, _ = make_mineral_mixtures(random_state=0)
    assert (views[0] - clean[0]).std() == pytest.approx(0.1, rel=0.05)


def test_more_spectra_than_the_library_has_raise_an_error():
    with pytest.raises(ValueError, match="n_spectra"):
        make_mineral_mixtures(library=np.eye(3), n_spectra=5)


def test_weights_are_uniform_before_they_are_normalised():
    """The larger of two uniform numbers is at least 2/3 of their sum with probability 1/2."""
    views, _ = make_mineral_mixtures(
        library=np.eye(2), n_clusters=3000, n_spectra=2, n_copies=1, random_state=0
    )
    assert (views[0].max(axis=1) > 2 / 3).mean() == pytest.approx(0.5, abs=0.03)
