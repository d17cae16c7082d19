import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import viewspan
from tests.problems import two_subspaces
from viewspan.graph.quality import cut_value


@pytest.fixture(scope="module")
def found():
    views, _ = two_subspaces(noise=0.2)
    return viewspan.path(views, 2, random_state=0)


def test_every_point_is_certified_and_scored(found):
    assert len(found.points) + len(found.empty) == 6
    for point in found.points:
        assert 0 <= point.dual_gap <= 1e-4
        assert 0 <= point.cut_value <= 2
        assert -1 <= point.agreement <= 1
        assert point.labels.shape == (30,)
    ranks = [point.rank for point in found.points]
    assert ranks == sorted(ranks)  # λ falls


def test_a_point_is_what_the_estimator_gives_at_its_weights(found):
    views, _ = two_subspaces(noise=0.2)
    point = found.points[1]
    model = viewspan.CLRSC(
        2, lam=point.lam, tau=point.tau, affinity="patterns", random_state=0
    ).fit(views)
    assert model.objective_ == pytest.approx(point.objective, rel=1e-3)
    assert adjusted_rand_score(model.labels_, point.labels) == 1.0
    assert cut_value(model.affinity_matrix_, model.labels_) == pytest.approx(
        point.cut_value, rel=1e-2
    )


def test_together_they_find_the_clusters_and_their_number():
    views, labels = two_subspaces()
    found = viewspan.path(views, random_state=0)
    assert found.n_clusters == 2
    assert adjusted_rand_score(labels, found.labels) == 1.0


def test_given_weights_are_combined():
    views, _ = two_subspaces()
    found = viewspan.path(views, 2, lam=[0.1, 0.5], tau=[0.0, 1.0, 1e6], affinity="coefficients")
    assert [(point.lam[0], point.tau) for point in found.points] == [
        (0.1, 0.0),
        (0.1, 1.0),
        (0.5, 0.0),
        (0.5, 1.0),
    ]
    assert [tau for _, tau in found.empty] == [1e6, 1e6]


def test_the_table_has_a_row_per_point(found):
    rows = found.table()
    assert len(rows) == len(found.points)
    assert set(rows[0]) == {
        *(
            "lam",
            "tau",
            "objective",
            "dual_gap",
            "n_iter",
            "rank",
            "eigengap",
            "cut_value",
            "agreement",
        )
    }


@pytest.mark.parametrize(
    ("weights", "n_lines"),
    [({}, 1), ({"lam": [0.1, 0.2], "tau": [0.1, 1.0]}, 2), ({"lam": [0.1], "tau": [0, 0.1, 1]}, 3)],
)
def test_the_plot_shows_three_scores(weights, n_lines):
    figure = viewspan.path(two_subspaces()[0], 2, **weights).plot()
    assert [axes.get_ylabel().split()[0] for axes in figure.axes] == [
        "eigengap",
        "agreement",
        "rank",
    ]
    assert len(figure.axes[0].lines) == n_lines


def test_weights_may_differ_between_views():
    found = viewspan.path(two_subspaces()[0], 2, lam=[0.1, [0.1, 0.2]])
    assert [point.lam.tolist() for point in found.points] == [[0.1, 0.1], [0.1, 0.2]]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"lam": 0.1}, "'lam' parameter of path must be a str among {'auto'} or an array-like"),
        ({"lam": "best"}, "'lam' parameter of path must be a str among {'auto'}"),
        ({"tau": []}, 'tau must be "auto" or a sequence'),
        ({"tau": [None]}, "tau must be finite and at least 0. Got None"),
        ({"n_clusters": 0}, "'n_clusters' parameter of path must be an int in the range"),
        ({"n_clusters": 31}, "n_clusters must be an int from 1 to the number of samples, 30"),
        ({"assign_labels": "best"}, "'assign_labels' parameter of path must be a str among"),
        ({"scale_features": "some"}, "'scale_features' parameter of path"),
        ({"lam": [-1.0]}, "lam must be finite and at least 0"),
        ({"lam": [1e9]}, "All coefficients are zero at every lam and tau"),
        ({"affinity": "knn"}, "'affinity' parameter of path must be a str among"),
        ({"tol": 0}, "'tol' parameter of path must be a float in the range"),
    ],
)
def test_a_bad_request_is_one_clear_sentence(wrong, message):
    with pytest.raises(ValueError, match=message):
        viewspan.path(two_subspaces()[0], **({"n_clusters": 2} | wrong))


def test_cut_value_of_two_blocks():
    graph = np.kron(np.eye(2), np.ones((3, 3))) + 0.1
    # each block keeps 3·3·1.1 of 3·(3·1.1 + 3·0.1)
    assert cut_value(graph, np.repeat([0, 1], 3)) == pytest.approx(2 * (1 - 9.9 / 10.8))
