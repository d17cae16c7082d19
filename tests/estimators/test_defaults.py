"""Default choices of graph, path, feature scaling and view weights."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

import viewspan
import viewspan.datasets
from tests.problems import two_subspaces
from viewspan.fit.steps import GRAPH_TOLERANCE
from viewspan.graph import ncut
from viewspan.metrics import subspace_clustering_accuracy


def three_groups(noise=0.3, seed=0):
    """Return views of samples near three directions, which nearest neighbours also separate."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(3), 20)
    return [
        rng.normal(size=(3, 15))[labels] + noise * rng.normal(size=(60, 15)) for _ in range(2)
    ], labels


def test_automatic_weights_are_averaged_along_a_path():
    model = viewspan.CLRSC(2, random_state=0).fit(two_subspaces()[0])
    assert model.path_[0] is model.result_
    assert model.readings_ == [("directions", "positions")] * 2
    first, doubled, second, halved = (result.lam for result in model.path_)
    np.testing.assert_allclose(doubled, 2 * first)
    np.testing.assert_allclose(halved, second / 2)
    assert model.dual_gap_ <= 1e-4
    assert all(result.gap <= GRAPH_TOLERANCE for result in model.path_)
    assert [result.tau > 0 for result in model.path_] == [True, True, False, False]


def test_one_reading_has_a_path_of_four_weights():
    model = viewspan.CLRSC(2, read_as="directions", random_state=0).fit(two_subspaces()[0])
    shares = [result.lam / model.lam_ for result in model.path_]
    np.testing.assert_allclose(shares, np.outer([1, 2, 0.5, 0.25], [1, 1]))
    assert [result.tau > 0 for result in model.path_] == [True, True, False, False]


def test_a_given_tau_holds_along_the_path():
    model = viewspan.CLRSC(2, tau=0.3, read_as="directions", random_state=0)
    assert [result.tau for result in model.fit(two_subspaces()[0]).path_] == [0.3] * 4


@pytest.mark.parametrize("graph", ["auto", "patterns", "coefficients"])
def test_given_weights_need_one_solve(graph):
    model = viewspan.CLRSC(2, lam=0.1, tau=0.5, affinity=graph, random_state=0).fit(
        two_subspaces()[0]
    )
    assert len(model.path_) == 1


def test_given_weights_use_the_graph_of_the_paper():
    model = viewspan.CLRSC(2, lam=0.1, tau=0.5, random_state=0).fit(two_subspaces()[0])
    np.testing.assert_allclose(model.affinity_matrix_, viewspan.affinity(model.coefficients_))


@pytest.mark.parametrize("build", [two_subspaces, three_groups])
def test_a_view_of_noise_does_not_hurt(build):
    views, labels = build()
    noise = np.random.default_rng(7).normal(size=(len(labels), 40))
    predicted = viewspan.CLRSC(labels.max() + 1, random_state=0).fit_predict([*views, noise])
    assert adjusted_rand_score(labels, predicted) == 1.0


def test_features_with_other_units_are_scaled():
    """One uninformative feature has values of 10¹³, and the others have values of 1."""
    views, labels = three_groups()
    changed = [
        np.hstack([view, 1e13 * np.random.default_rng(3).uniform(size=(60, 1))]) for view in views
    ]
    assert (
        adjusted_rand_score(labels, viewspan.CLRSC(3, random_state=0).fit_predict(changed)) == 1.0
    )
    untouched = viewspan.CLRSC(3, scale_features=False, random_state=0).fit_predict(changed)
    assert adjusted_rand_score(labels, untouched) < 0.5


def test_centred_views_keep_both_sides_of_their_mean_apart():
    """After z-scoring, one group is the other mirrored at the origin."""
    rng = np.random.default_rng(2)
    labels = np.repeat([0, 1], 30)
    views = [rng.normal(size=(60, 8)) + 2.0 * labels[:, None] for _ in range(2)]
    views = [(view - view.mean(axis=0)) / view.std(axis=0) for view in views]
    model = viewspan.CLRSC(2, random_state=0).fit(views)
    assert model.affine_ == [True, True]
    assert adjusted_rand_score(labels, model.labels_) == 1.0
    linear = viewspan.CLRSC(2, affine=False, random_state=0).fit_predict(views)
    assert adjusted_rand_score(labels, linear) < 0.5


@pytest.mark.parametrize(
    ("graph", "method"), [("patterns", "modularity"), ("coefficients", "discretize")]
)
def test_every_graph_has_its_way_to_assign_labels(graph, method, monkeypatch):
    methods = []

    def assign(affinity, spectrum, n_clusters, assign_labels, random_state, weights):
        methods.append(assign_labels)
        return np.arange(affinity.shape[0]) % n_clusters

    monkeypatch.setattr(ncut, "assign", assign)
    viewspan.CLRSC(2, affinity=graph, random_state=0).fit(two_subspaces()[0])
    viewspan.path(two_subspaces()[0], 2, affinity=graph, lam=[0.1])
    assert methods == [method] * 3


def test_the_scale_of_a_view_does_not_matter():
    views, _ = two_subspaces(noise=0.3)
    one = viewspan.CLRSC(2, random_state=0).fit_predict(views)
    other = viewspan.CLRSC(2, random_state=0).fit_predict([1e-6 * views[0], 1e5 * views[1]])
    np.testing.assert_array_equal(one, other)


def test_a_clear_number_of_clusters_is_found_silently(recwarn):
    views, _ = three_groups(noise=0.1)
    assert viewspan.CLRSC(random_state=0).fit(views).n_clusters_ == 3
    assert not recwarn.list


def test_noise_warns_that_the_number_of_clusters_is_unclear():
    rng = np.random.default_rng(4)
    with pytest.warns(UserWarning, match="number of clusters is not clear"):
        viewspan.CLRSC(random_state=0).fit([rng.normal(size=(80, 30)) for _ in range(2)])


def test_evidence_for_the_number_is_in_the_eigenvalues():
    views, _ = three_groups(noise=0.1)
    values = viewspan.CLRSC(random_state=0).fit(views).eigenvalues_
    assert int(np.argmax(values[1:-1] - values[2:])) + 2 == 3


def test_features_that_are_always_zero_change_nothing():
    views, _ = viewspan.datasets.make_subspaces(noise=0.2, random_state=3)
    views = [view[:, :40] for view in views]
    one = viewspan.CLRSC(5, random_state=0).fit(views)
    other = viewspan.CLRSC(5, random_state=0).fit(
        [np.hstack([view, np.zeros((100, 60))]) for view in views]
    )
    np.testing.assert_allclose(one.lam_, other.lam_)
    np.testing.assert_array_equal(one.labels_, other.labels_)


def test_rounding_is_not_scaled_up():
    views, labels = three_groups()
    rng = np.random.default_rng(0)
    changed = [
        np.hstack([view, np.full((60, 1), 50.0), 1e-17 * rng.normal(size=(60, 40))])
        for view in views
    ]
    model = viewspan.CLRSC(3, random_state=0).fit(changed)
    assert model.features_scaled_ == [True, True]
    assert adjusted_rand_score(labels, model.labels_) == 1.0


def test_features_are_not_scaled_if_samples_are_not_normalised():
    view = 100 * np.random.default_rng(0).normal(size=(30, 3)) * np.array([30.0, 1, 1])
    model = viewspan.CLRSC(2, lam=50.0, tau=50.0, normalize=False, random_state=0).fit(view)
    assert model.features_scaled_ == [False]
    assert model.objective_ == pytest.approx(viewspan.solve(view, 50.0, 50.0).objective, rel=1e-3)


@pytest.mark.parametrize("graph", ["patterns", "coefficients"])
def test_zero_samples_warn(graph):
    views = [view.copy() for view in two_subspaces()[0]]
    for view in views:
        view[:3] = 0.0
    with pytest.warns(UserWarning, match="3 of 30 samples are connected to no other") as caught:
        viewspan.CLRSC(2, affinity=graph, random_state=0).fit(views)
    assert {warning.filename for warning in caught} == {__file__}


def test_fewer_clusters_than_requested_warn():
    view = np.random.default_rng(0).normal(size=(60, 5))
    with pytest.warns(UserWarning, match=r"Only \d+ of 45 clusters got a sample"):
        viewspan.CLRSC(45, assign_labels="discretize", random_state=0).fit(view)


def test_equal_samples_are_one_cluster():
    assert viewspan.CLRSC(random_state=0).fit(np.ones((30, 4))).n_clusters_ == 1


def test_only_the_reported_solution_is_warned_about():
    with pytest.warns(ConvergenceWarning) as caught:
        viewspan.CLRSC(2, max_iter=1, random_state=0).fit(two_subspaces(noise=0.3)[0])
    assert len([warning for warning in caught if warning.category is ConvergenceWarning]) == 1


@pytest.mark.parametrize(
    ("name", "accuracy"), [("bbcsport", 95), ("msrc_v1_6v", 88), ("leaves100", 94)]
)
def test_real_sets_untuned(load, name, accuracy):
    """The sets are texts, image features with different units, and a hundred plant species."""
    archive = load(f"multiview/{name}.npz")
    views = [archive[f"view_{position}"] for position in range(len(archive) - 1)]
    labels = archive["labels"]
    predicted = viewspan.CLRSC(int(labels.max()) + 1, random_state=0).fit_predict(views)
    assert subspace_clustering_accuracy(labels, predicted) >= accuracy
