"""Ordinary tables: the defaults are at least as good as k-means or nearest neighbours, or warn."""

import warnings

import numpy as np
import pytest
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

import viewspan

THREE = np.repeat(np.arange(3), 50)


def lengths(rng):
    """Return clusters on one ray, at three distances from the origin."""
    views = []
    for width in (6, 8):
        ray = np.abs(rng.normal(size=width)) + 0.5
        directions = ray / np.linalg.norm(ray) + 0.15 * rng.normal(size=(150, width))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        distances = np.array([1.0, 3.0, 6.0])[THREE] * np.exp(0.08 * rng.normal(size=150))
        views.append(distances[:, None] * directions)
    return views, THREE


def levels(rng):
    """Return time series that differ in level alone."""
    views = []
    for width in (30, 40):
        waves = np.sin(2 * np.pi * (np.linspace(0, 1, width) + rng.random((150, 1))))
        views.append(2.0 * THREE[:, None] + waves + 0.2 * rng.normal(size=(150, width)))
    return views, THREE


def offsets(rng):
    """Return compact clusters far from the origin."""
    return [
        100 + 3 * rng.normal(size=(3, width))[THREE] + 0.5 * rng.normal(size=(150, width))
        for width in (5, 8)
    ], THREE


def antipodal(rng, n_clusters=2):
    labels, views = np.repeat(np.arange(n_clusters), 160 // n_clusters), []
    for width in (6, 8):
        centres = 3 * rng.normal(size=(n_clusters // 2, width))
        views.append(np.vstack([centres, -centres])[labels] + 0.6 * rng.normal(size=(160, width)))
    return views, labels


def copied_noise(rng):
    noise = rng.normal(size=(150, 8))
    good = 2 * rng.normal(size=(3, 8))[THREE] + 0.7 * rng.normal(size=(150, 8))
    return [good, *[noise] * 5], THREE


def near_duplicates(rng, difference=1e-3):
    """Return ten almost equal copies of every sample."""
    labels, views = np.repeat(np.arange(4), 5), []
    for width in (10, 12):
        samples = 2 * rng.normal(size=(4, width))[labels] + rng.normal(size=(20, width))
        copies = np.repeat(samples, 10, axis=0)
        views.append(copies + difference * rng.normal(size=copies.shape))
    return views, np.repeat(labels, 10)


def misaligned(rng):
    views = [3 * rng.normal(size=(3, w))[THREE] + 0.7 * rng.normal(size=(150, w)) for w in (8, 10)]
    return [views[0], views[1][rng.permutation(150)]], THREE


KINDS = {
    "lengths": lengths,
    "levels": levels,
    "offsets": offsets,
    "two antipodal clusters": antipodal,
    "four antipodal clusters": lambda rng: antipodal(rng, 4),
    "five copies of one view of noise": copied_noise,
    "copies of samples, different by 1e-3": near_duplicates,
    "copies of samples, different by 1e-9": lambda rng: near_duplicates(rng, 1e-9),
    "misaligned rows": misaligned,
}


@pytest.mark.filterwarnings("ignore:Graph is not fully connected")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", KINDS)
def test_defaults_are_as_good_as_simple_methods_or_warn(kind, seed):
    views, labels = KINDS[kind](np.random.default_rng(seed))
    n_clusters = int(labels.max()) + 1
    features = np.hstack([StandardScaler().fit_transform(view) for view in views])
    simple = max(
        adjusted_rand_score(labels, method.fit_predict(features))
        for method in (
            KMeans(n_clusters, n_init=10, random_state=0),
            SpectralClustering(n_clusters, affinity="nearest_neighbors", random_state=0),
        )
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = viewspan.CLRSC(n_clusters, random_state=0).fit_predict(views)
    assert adjusted_rand_score(labels, found) >= simple - 0.05 or caught
