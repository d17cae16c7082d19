"""What the defaults decide: graph, path, units, views without information."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import viewspan
from tests.problems import two_subspaces


def three_groups(noise=0.3, seed=0):
    """Samples near three directions of every view: clusters a nearest-neighbour graph sees, too."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(3), 20)
    return [rng.normal(size=(3, 15))[labels] + noise * rng.normal(size=(60, 15)) for _ in range(2)], labels


def test_automatic_weights_are_averaged_along_a_path():
    model = viewspan.CLRSC(2, random_state=0).fit(two_subspaces()[0])
    assert model.path_[0] is model.result_
    shares = [result.lam / model.lam_ for result in model.path_]
    np.testing.assert_allclose(shares, np.outer([1, 2, 0.5, 0.25], [1, 1]))
    assert model.dual_gap_ <= 1e-4
    assert all(result.gap <= 1e-3 for result in model.path_)


@pytest.mark.parametrize("graph", ["auto", "patterns", "coefficients"])
def test_given_numbers_cost_one_solve(graph):
    model = viewspan.CLRSC(2, lam=0.1, tau=0.5, graph=graph, random_state=0).fit(two_subspaces()[0])
    assert len(model.path_) == 1


def test_given_numbers_go_with_the_graph_of_the_paper():
    model = viewspan.CLRSC(2, lam=0.1, tau=0.5, random_state=0).fit(two_subspaces()[0])
    np.testing.assert_allclose(model.affinity_matrix_, viewspan.affinity(model.coefficients_))


@pytest.mark.parametrize("build", [two_subspaces, three_groups])
def test_a_view_of_noise_does_not_hurt(build):
    views, labels = build()
    noise = np.random.default_rng(7).normal(size=(len(labels), 40))
    found = viewspan.CLRSC(labels.max() + 1, random_state=0).fit_predict([*views, noise])
    assert adjusted_rand_score(labels, found) == 1.0


def test_features_of_other_units_are_noticed():
    """An uninformative feature of 10¹³ beside features of 1."""
    views, labels = three_groups()
    spoilt = [np.hstack([view, 1e13 * np.random.default_rng(3).uniform(size=(60, 1))]) for view in views]
    assert adjusted_rand_score(labels, viewspan.CLRSC(3, random_state=0).fit_predict(spoilt)) == 1.0
    untouched = viewspan.CLRSC(3, scale_features=False, random_state=0).fit_predict(spoilt)
    assert adjusted_rand_score(labels, untouched) < 0.5


def test_the_scale_of_a_view_does_not_matter():
    views, _ = two_subspaces(noise=0.3)
    one = viewspan.CLRSC(2, random_state=0).fit_predict(views)
    other = viewspan.CLRSC(2, random_state=0).fit_predict([1e-6 * views[0], 1e5 * views[1]])
    np.testing.assert_array_equal(one, other)


def test_a_clear_number_of_clusters_is_found_silently(recwarn):
    views, _ = three_groups(noise=0.1)
    assert viewspan.CLRSC(random_state=0).fit(views).n_clusters_ == 3
    assert not recwarn.list


def test_no_clusters_are_said_to_be_unclear():
    rng = np.random.default_rng(4)
    with pytest.warns(UserWarning, match="number of clusters is not clear"):
        viewspan.CLRSC(random_state=0).fit([rng.normal(size=(80, 30)) for _ in range(2)])


def test_evidence_for_the_number_is_in_the_eigenvalues():
    views, _ = three_groups(noise=0.1)
    values = viewspan.CLRSC(random_state=0).fit(views).eigenvalues_
    assert int(np.argmax(values[1:-1] - values[2:])) + 2 == 3
