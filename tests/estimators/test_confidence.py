"""Confidence: the share of a sample's edge weight that stays in its own cluster."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

import viewspan
from tests.estimators.test_incremental import ALL_MODELS
from tests.problems import many_subspaces


@pytest.mark.parametrize("model", ALL_MODELS, ids=repr)
def test_confidence_is_a_share_and_known_samples_keep_it(model):
    views, _ = many_subspaces(300)
    fitted = clone(model).fit(views)
    assert fitted.confidence_.shape == (300,)
    assert fitted.confidence_.min() >= 0 and fitted.confidence_.max() <= 1
    assert np.median(fitted.confidence_) > 1.5 / 5  # by chance, it would be 1/5
    np.testing.assert_allclose(fitted.predict_confidence(views), fitted.confidence_)


@pytest.mark.parametrize("graph", ["dense", "landmarks"])
def test_a_sample_between_two_clusters_has_low_confidence(graph):
    """This holds for a training sample and for an unseen sample."""
    views, labels = many_subspaces(300)
    between = [np.vstack([view, view[labels == 0][:1] + view[labels == 1][:1]]) for view in views]
    model = viewspan.CLRSC(5, graph=graph, n_landmarks=200, random_state=0)
    fitted = clone(model).fit(between)
    assert fitted.confidence_[-1] < np.quantile(fitted.confidence_[:-1], 0.02)
    apart = clone(model).fit(views)
    assert apart.predict_confidence([view[-1:] for view in between])[0] < np.quantile(
        apart.confidence_, 0.05
    )


def test_confidence_of_batches_is_that_of_the_last_batch():
    views, _ = many_subspaces(300)
    model = viewspan.CLRSC(5, random_state=0)
    model.partial_fit([view[:200] for view in views]).partial_fit([view[200:] for view in views])
    assert model.partial_fit().confidence_.shape == (100,)


def test_wrong_labels_have_low_confidence(load):
    """On real data, confidence separates right from wrong labels far better than chance."""
    data = load("multiview/handwritten.npz")
    views = [data[name][::4] for name in sorted(data) if name.startswith("view_")]
    model = viewspan.LRR(10, random_state=0).fit(views)
    digits = np.unique(data["labels"][::4], return_inverse=True)[1]
    table = np.zeros((10, 10))
    np.add.at(table, (model.labels_, digits), 1)
    right = table.argmax(axis=1)[model.labels_] == digits
    assert roc_auc_score(right, model.confidence_) > 0.9
