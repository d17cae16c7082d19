"""Accuracy on data of the paper's studies, with the authors' parameters and with defaults."""

import numpy as np
import pytest

from viewspan import CLRSC, LRR, MLAP, SSC
from viewspan.datasets import make_face_appearances, make_mineral_mixtures
from viewspan.metrics import coefficient_difference, subspace_clustering_accuracy


@pytest.fixture(scope="module")
def trials(load):
    archive = load("reference/synthetic_trials.npz")

    def views_of(sigma):
        level = int(np.flatnonzero(np.isclose(archive["noise"], sigma))[0])
        return [[archive[name][level, trial].T for name in ("X1", "X2")] for trial in range(10)]

    return views_of, archive["labels"]


def accuracies(model, trials, sigma):
    views_of, labels = trials
    return np.array(
        [
            subspace_clustering_accuracy(labels, model.fit_predict(views))
            for views in views_of(sigma)
        ]
    )


def test_authors_parameters_at_sigma_point_two(trials):
    percentages = accuracies(CLRSC(5, lam=0.2, tau=8.0, random_state=0), trials, 0.2)
    assert percentages.mean() >= 97
    assert percentages.min() >= 94


@pytest.mark.parametrize(("sigma", "mean"), [(0.0, 100), (0.1, 100), (0.2, 99.5), (0.3, 93.7)])
def test_default_parameters_reach_the_accuracy(trials, sigma, mean):
    assert accuracies(CLRSC(5, random_state=0), trials, sigma).mean() >= mean


@pytest.mark.parametrize("sigma", [0.0, 0.1, 0.2])
def test_the_number_of_clusters_is_found(trials, sigma):
    views_of, _ = trials
    found = [CLRSC(random_state=0).fit(views).n_clusters_ for views in views_of(sigma)[:3]]
    assert found == [5] * 3


@pytest.mark.parametrize(
    "baseline", [LRR(5, random_state=0), SSC(5, random_state=0), MLAP(5, random_state=0)], ids=repr
)
def test_the_baselines_work_untuned_too(trials, baseline):
    """Baselines must not be weak: at least 95 at σ = 0.2, where LRR with the authors' λ has 45."""
    assert accuracies(baseline, trials, 0.2).mean() >= 95


def test_the_coupling_brings_the_coefficients_together(trials):
    views_of, _ = trials
    views = views_of(0.2)[0]
    alone = LRR(5, lam=0.2).fit(views).coefficients_
    together = CLRSC(5, lam=0.2, tau=8.0).fit(views)
    assert coefficient_difference(*together.coefficients_) < 0.2 * coefficient_difference(*alone)
    assert together.view_similarity_[0, 1] > 0.95


@pytest.mark.parametrize(
    ("data", "make", "noise", "authors", "mean"),
    [
        ("minerals", make_mineral_mixtures, 0.2, (0.2, 8.0), 99),
        ("minerals", make_mineral_mixtures, 0.3, (0.2, 8.0), 94),
        ("faces", make_face_appearances, 0.1, (2.0, 0.2), 99),
        ("faces", make_face_appearances, 0.15, (2.0, 0.2), 90),
    ],
)
def test_untuned_is_not_below_the_authors_parameters(request, data, make, noise, authors, mean):
    """Constants that suit one study fail on another. Automatic weights are good on all of them."""
    request.getfixturevalue(data)
    ours, theirs = [], []
    for trial in range(4):
        appearances, labels = make(noise=noise, random_state=trial)
        for scores, model in (
            (ours, CLRSC(5, random_state=0)),
            (theirs, CLRSC(5, lam=authors[0], tau=authors[1], random_state=0)),
        ):
            scores.append(subspace_clustering_accuracy(labels, model.fit_predict(appearances)))
    assert np.mean(ours) >= max(mean, np.mean(theirs))
