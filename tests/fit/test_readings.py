"""How views are read, and their smallest λ, are chosen by the evidence for clusters."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.metrics import adjusted_rand_score

import viewspan
from tests.problems import two_subspaces
from viewspan.datasets import make_subspaces
from viewspan.fit.readings import (
    FLOOR_MARGIN,
    FLOORS,
    Candidate,
    best_floor,
    evidence,
    random_rows,
)
from viewspan.objective.reduction import gram_spectrum
from viewspan.weights.noise import LAM_FLOOR

LABELS = np.repeat(np.arange(3), 40)


def table(seed=0, scales=(1.0, 1000.0, 0.01, 30.0, 1.0)):
    """Return groups in features of different units, far from the origin."""
    rng = np.random.default_rng(seed)
    centres = 3.0 * rng.normal(size=(3, len(scales)))
    return (centres[LABELS] + rng.normal(size=(120, len(scales))) + 20.0) * np.array(scales)


def series_of_three_levels(seed=0):
    """Return series that differ in level alone; their other 30 directions tell nothing."""
    rng = np.random.default_rng(seed)
    phases, times = rng.random((120, 1)), np.linspace(0.0, 1.0, 30)
    waves = np.sin(2 * np.pi * (times + phases)) + 0.2 * rng.normal(size=(120, 30))
    return 2.0 * LABELS[:, None] + waves


def lrr(n_clusters=3, **options):
    return viewspan.LRR(n_clusters, random_state=0, **options)


def test_tables_with_units_are_read_as_positions_too():
    model = lrr().fit([table(0), table(1)])
    assert all("positions" in readings for readings in model.readings_)
    assert adjusted_rand_score(LABELS, model.labels_) > 0.9


def test_subspaces_are_read_as_directions():
    model = lrr(5).fit(make_subspaces(noise=0.1, random_state=0)[0])
    assert [readings[0] for readings in model.readings_] == ["directions", "directions"]


def test_labels_of_positions_do_not_depend_on_units():
    other = table(scales=(7.0, 0.1, 3.0, 1.0, 1e5))
    labels = [lrr(read_as="positions").fit_predict(view) for view in (table(), other)]
    assert adjusted_rand_score(*labels) == 1.0


def test_one_feature_is_read_as_positions():
    """Directions of one feature are its sign alone."""
    view = np.random.default_rng(0).normal(size=(120, 1)) + 10.0 * LABELS[:, None]
    model = lrr().fit(view)
    assert model.readings_ == [("positions",)]
    assert adjusted_rand_score(LABELS, model.labels_) == 1.0


def test_the_readings_of_every_view_can_be_given():
    views = [table(0), table(1)]
    model = lrr(read_as=["directions", "positions"]).fit(views)
    assert model.readings_ == [("directions",), ("positions",)]
    mixed = lrr(read_as=["auto", "directions"]).fit(views).readings_
    assert "positions" in mixed[0] and mixed[1] == ("directions",)


@pytest.mark.parametrize("read_as", ["position", ["positions"], ["positions", "z"]])
def test_unknown_or_too_few_readings_raise(read_as):
    with pytest.raises(ValueError, match="read_as"):
        lrr(read_as=read_as).fit([table(0), table(1)])


def test_positions_and_a_scaling_of_ones_own_contradict_each_other():
    with pytest.raises(ValueError, match="leave scale_features at 'auto'"):
        lrr(read_as="positions", scale_features=False).fit(table())


@pytest.mark.parametrize(
    "options", [{"scale_features": True}, {"affine": True}, {"normalize": False}, {"lam": 0.1}]
)
def test_views_are_read_as_directions_if_the_user_decides_the_rest(options):
    assert lrr(**options).fit([table(0), table(1)]).readings_ == [("directions",)] * 2


@pytest.mark.parametrize("fit", ["dense", "landmarks", "batches"])
def test_every_kind_of_fit_chooses_a_leading_reading(fit):
    views = [table(0), table(1)]
    if fit == "batches":
        model = lrr().partial_fit(views).partial_fit()
        labels = model.predict(views)
    else:
        model = lrr(graph=fit, n_landmarks=100).fit(views)
        labels = model.labels_
    assert len(model.readings_) == 2
    assert adjusted_rand_score(LABELS, labels) > 0.9


def test_sparse_and_full_arrays_have_the_same_readings_and_labels():
    rng = np.random.default_rng(0)
    full = (rng.random((120, 200)) < 0.03 + 0.1 * (np.arange(200) % 3 == LABELS[:, None])) * 1.0
    models = [lrr().fit(form(full)) for form in (np.asarray, scipy.sparse.csr_array)]
    assert models[0].readings_ == models[1].readings_
    assert adjusted_rand_score(models[0].labels_, models[1].labels_) == 1.0


def test_samples_of_zeros_are_ignored_in_both_readings():
    views = [view.copy() for view in two_subspaces()[0]]
    for view in views:
        view[:3] = 0.0
    with pytest.warns(UserWarning, match="3 of 30 samples are connected to no other"):
        model = viewspan.CLRSC(2, random_state=0).fit(views)
    assert model.readings_[0] == ("directions", "positions")


def settings():
    return lrr()._settings()


def test_lam_rises_where_only_strong_directions_tell_clusters_apart():
    model = lrr(read_as="positions")
    view = series_of_three_levels()
    assert best_floor(standardised(view), Candidate("positions"), settings()).floor > LAM_FLOOR
    assert adjusted_rand_score(LABELS, model.fit_predict(view)) == 1.0


def standardised(view):
    rows = np.column_stack([(view - view.mean(axis=0)) / view.std(axis=0), np.full(120, 30**0.5)])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.mark.parametrize("seed", range(5))
def test_a_higher_lam_needs_clearly_more_evidence(seed):
    block = standardised(np.random.default_rng(seed).normal(size=(120, 30)))
    spectrum = gram_spectrum(block)

    def at(floor):
        shares = np.maximum(1.0 - floor * spectrum.values[0] ** 2 / (2 * spectrum.values**2), 0.0)
        return evidence(spectrum, shares, 3)

    chosen = best_floor(block, Candidate("positions"), settings())
    if chosen.floor > FLOORS[0]:
        assert chosen.evidence == pytest.approx(at(chosen.floor))
        assert chosen.evidence > FLOOR_MARGIN * max(at(FLOORS[0]), 0.0)


def test_a_view_of_zeros_shows_no_evidence():
    assert evidence(gram_spectrum(np.zeros((30, 4))), np.ones(4), 2) < 0


def test_the_same_random_samples_are_compared_every_time():
    rows = random_rows(10_000, 400)
    assert len(set(rows)) == 400 and (np.diff(rows) > 0).all()
    np.testing.assert_array_equal(rows, random_rows(10_000, 400))
    np.testing.assert_array_equal(random_rows(5, 400), np.arange(5))


def test_given_tau_couples_the_leading_readings_alone():
    model = viewspan.CLRSC(2, tau=0.3, random_state=0).fit(two_subspaces()[0])
    assert model.readings_[0] == ("directions", "positions")
    assert [result.tau for result in model.path_] == [0.3, 0.3, 0.0, 0.0]


def test_subspaces_of_positions_are_in_the_units_of_the_features():
    view = table()
    model = lrr(read_as="positions").fit(view)
    subspace = model.subspaces_[0][0]
    np.testing.assert_allclose(subspace.center, view.mean(axis=0))
    np.testing.assert_allclose(subspace.scale, view.std(axis=0))
    left = np.linalg.norm(model.reconstruct(view).views - view, axis=0)
    assert (left < np.linalg.norm(view - view.mean(axis=0), axis=0)).all()
