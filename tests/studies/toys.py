"""Small studies and clusterers for the tests; a trial takes milliseconds."""

import hashlib
import time

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans

from viewspan import LRR
from viewspan.studies import Method, Study


def make_blobs(*, noise, random_state, n_clusters=3):
    """Return two views of points around a few centres."""
    rng = np.random.default_rng(random_state)
    labels = np.repeat(np.arange(n_clusters), 6)
    clean = [rng.normal(size=(n_clusters, 8))[labels] for _ in range(2)]
    return [view + noise * rng.normal(size=view.shape) for view in clean], labels


def make_slow_blobs(*, noise, random_state):
    """Return the views of ``make_blobs`` after a while, so that a test can stop a run meanwhile."""
    time.sleep(0.2)
    return make_blobs(noise=noise, random_state=random_state)


class Recorder(ClusterMixin, BaseEstimator):
    """Clusterer that records a hash of its input and its random state."""

    records: list = []  # noqa: RUF012 (shared on purpose)

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y=None):
        views = [X] if isinstance(X, np.ndarray) else X
        content = b"".join(np.ascontiguousarray(view).tobytes() for view in views)
        Recorder.records.append((hashlib.sha256(content).hexdigest(), self.random_state))
        self.labels_ = np.zeros(len(views[0]), dtype=int)
        return self


class Fragile(ClusterMixin, BaseEstimator):
    """Clusterer that raises ValueError if the input is very noisy."""

    def fit(self, X, y=None):
        if np.std(X[0]) > 1.5:
            raise ValueError("too noisy")
        self.labels_ = np.zeros(len(X[0]), dtype=int)
        return self


def toy_study(name="toy", noise=(0.0, 0.2), methods=None, generate=make_blobs):
    methods = methods or [Method("LRR", LRR(3)), Method("k-means", KMeans(3, n_init=2), "concat")]
    return Study(name, generate, noise, methods)
