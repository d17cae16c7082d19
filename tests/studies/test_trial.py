"""One trial: the same data for all, and a row that says everything."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_info

from tests.studies.toys import Failing, Reader, make_blobs, toy_study
from viewspan import CLRSC
from viewspan.datasets import make_subspaces
from viewspan.metrics import coefficient_difference, subspace_clustering_accuracy
from viewspan.studies import Method, Study
from viewspan.studies.study import GRID
from viewspan.studies.trial import TrialError, run_trial, seed_of


def test_a_row_holds_what_the_fit_gave():
    study = Study("one", make_subspaces, [0.2], [Method("cLRSC", CLRSC(5, lam=0.2, tau=8.0))])
    (row,) = run_trial(study, 3, seed=0)
    views, labels = make_subspaces(noise=0.2, random_state=row["seed"])
    model = CLRSC(5, lam=0.2, tau=8.0, random_state=row["seed"]).fit(views)
    assert row["sca"] == subspace_clustering_accuracy(labels, model.labels_)
    assert row["objective"] == pytest.approx(model.objective_, rel=1e-9)
    assert row["coefficient_difference"] == pytest.approx(
        coefficient_difference(*model.coefficients_), rel=1e-6
    )
    assert 0 <= row["gap"] <= 1e-4
    assert (row["study"], row["trial"], row["noise"], row["lam"], row["tau"]) == (
        "one",
        3,
        0.2,
        0.2,
        8.0,
    )
    assert "viewspan" in row["versions"]


def test_both_kinds_of_psnr():
    """σ = .2 is 14 dB by the paper's formula, and what the paper calls 32."""
    study = Study("one", make_subspaces, [0.0, 0.2], [Method("cLRSC", CLRSC(5))])
    clean, noisy = run_trial(study, 0, seed=0)
    assert clean["psnr"] == clean["psnr_ln"] == float("inf")
    assert noisy["psnr"] == pytest.approx(13.98, abs=0.1)
    assert noisy["psnr_ln"] == pytest.approx(32.2, abs=0.2)


def test_all_methods_see_the_same_data_and_the_trials_seed():
    Reader.seen.clear()
    study = toy_study(
        methods=[Method("a", Reader()), Method("b", Reader()), Method("c", Reader(random_state=7))]
    )
    run_trial(study, 0, seed=5)
    digests, seeds = zip(*Reader.seen, strict=True)
    assert digests[:3] == (digests[0],) * 3
    assert digests[0] != digests[3]  # the next noise level
    assert seeds == (seed_of(5, 0), seed_of(5, 0), 7) * 2


def test_trials_of_different_seeds_have_nothing_in_common():
    first, second = ({seed_of(seed, trial) for trial in range(500)} for seed in (0, 1))
    assert len(first) == 500
    assert not first & second


def test_a_foreign_estimator_has_no_certificate():
    _, kmeans = run_trial(toy_study(noise=[0.0]), 0, seed=0)
    assert kmeans["sca"] == 100
    assert np.isnan([kmeans["gap"], kmeans["coefficient_difference"], kmeans["objective"]]).all()


def test_one_view_alone():
    Reader.seen.clear()
    study = toy_study(noise=[0.0], methods=[Method("second", Reader(), 1)])
    run_trial(study, 0, seed=0)
    views, _ = make_blobs(noise=0.0, random_state=seed_of(0, 0))
    Reader().fit(views[1])
    assert Reader.seen[0][0] == Reader.seen[1][0]


def test_a_view_by_its_name():
    Reader.seen.clear()
    methods = [Method("number", Reader(), 1), Method("name", Reader(), "second")]
    run_trial(toy_study(noise=[0.0], methods=methods, generate=named_blobs), 0, seed=0)
    assert Reader.seen[0] == Reader.seen[1]
    for wrong in (7, "third"):
        study = toy_study(methods=[Method("lost", Reader(), wrong)], generate=named_blobs)
        with pytest.raises(
            TrialError,
            match=f"lost .main. failed in study toy.*there is no view {wrong!r}, only 0, 1",
        ):
            run_trial(study, 0, seed=0)


def named_blobs(*, noise, random_state):
    views, labels = make_blobs(noise=noise, random_state=random_state)
    return dict(zip(("first", "second"), views, strict=True)), labels


def test_a_clusterer_for_one_array_is_told_what_to_do():
    study = toy_study(methods=[Method("k-means", KMeans(3))], generate=named_blobs)
    with pytest.raises(TrialError, match="needs views='concat'"):
        run_trial(study, 0, seed=0)


def test_a_failure_says_where():
    study = toy_study(noise=[0.0, 9.0], methods=[Method("fragile", Failing())])
    with pytest.raises(
        TrialError, match=r"fragile \(main\) failed in study toy, trial 2, noise 9.*too loud"
    ):
        run_trial(study, 2, seed=0)


def test_a_point_of_a_grid_may_have_no_answer():
    study = toy_study(noise=[0.0, 9.0], methods=[Method("fragile", Failing(), setting=GRID)])
    first, second = run_trial(study, 0, seed=0)
    assert first["sca"] > 0
    assert np.isnan(second["sca"])
    assert second["warning"] == "too loud"


def test_every_part_of_a_pipeline_gets_the_trials_seed():
    """With a poor start and few steps k-means depends on its seed, and must still give the same twice."""
    kmeans = KMeans(3, n_init=1, init="random", max_iter=1)
    study = toy_study(
        noise=[1.0, 2.0],
        methods=[Method("k-means", make_pipeline(StandardScaler(), kmeans), "concat")],
    )
    first, second = (
        [row["sca"] for trial in range(4) for row in run_trial(study, trial, seed=0)]
        for _ in range(2)
    )
    assert first == second


def test_a_method_that_writes_into_its_input_does_not_disturb_the_next():
    Reader.seen.clear()
    study = toy_study(
        noise=[0.5],
        methods=[Method("a", Reader()), Method("vandal", Vandal()), Method("b", Reader())],
    )
    run_trial(study, 0, seed=0)
    assert Reader.seen[0][0] == Reader.seen[1][0]


class Vandal(Failing):
    def fit(self, X, y=None):
        for view in X:
            view *= 100.0
        self.labels_ = np.zeros(len(X[0]), dtype=int)
        return self


class Boaster(Failing):
    """Has attributes of our names, and other things in them."""

    def fit(self, X, y=None):
        self.coefficients_, self.objective_, self.n_iter_ = np.eye(3), None, [1, 2]
        return super().fit(X)


def test_attributes_of_strangers_are_left_alone():
    (row,) = run_trial(toy_study(noise=[0.0], methods=[Method("boaster", Boaster())]), 0, seed=0)
    assert np.isnan(row["objective"])


def only_first_noisy(*, noise, random_state):
    views, labels = make_blobs(noise=noise, random_state=random_state)
    clean, _ = make_blobs(noise=0.0, random_state=random_state)
    return [views[0], clean[1]], labels


def test_noise_in_one_view_only_is_noise():
    (row,) = run_trial(toy_study(noise=[0.5], generate=only_first_noisy), 0, seed=0)[:1]
    assert row["psnr"] == pytest.approx(10 * np.log10(2 / 0.25), abs=1)


@pytest.mark.parametrize(
    "wrong", [lambda noise, random_state: {}["no"], lambda noise, random_state: (np.eye(3), [1])]
)
def test_data_that_cannot_be_had_is_said(wrong):
    with pytest.raises(
        TrialError,
        match=r"could not be generated in study toy, trial 1, noise 0, seed \d+: \w+Error",
    ):
        run_trial(toy_study(generate=wrong), 1, seed=0)


def test_warnings_are_kept():
    study = toy_study(noise=[0.0], methods=[Method("k-means", KMeans(17, n_init=1), "concat")])
    (row,) = run_trial(study, 0, seed=0)
    assert "distinct clusters" in row["warning"]


def test_blas_has_one_thread():
    run_trial(toy_study(noise=[0.0], methods=[Method("counter", Counter())]), 0, seed=0)
    assert Counter.threads == {1}


class Counter(Failing):
    threads: set = set()  # noqa: RUF012 (shared on purpose)

    def fit(self, X, y=None):
        Counter.threads |= {library["num_threads"] for library in threadpool_info()}
        return super().fit(X)
