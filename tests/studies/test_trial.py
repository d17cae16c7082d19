"""One trial: all methods get the same data, and every fit gives one complete row."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_info

from tests.studies.toys import Fragile, Recorder, make_blobs, toy_study
from viewspan import CLRSC
from viewspan.datasets import make_subspaces
from viewspan.metrics import coefficient_difference, subspace_clustering_accuracy
from viewspan.studies import Method, Study
from viewspan.studies.study import GRID
from viewspan.studies.trial import TrialError, run_trial, trial_seed


def test_a_row_has_the_results_of_the_fit():
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


def test_psnr_by_both_logarithms():
    """σ = 0.2 is 14 dB by the paper's formula; the paper's figures, which use ln, call it 32."""
    study = Study("one", make_subspaces, [0.0, 0.2], [Method("cLRSC", CLRSC(5))])
    clean, noisy = run_trial(study, 0, seed=0)
    assert clean["psnr"] == clean["psnr_ln"] == float("inf")
    assert noisy["psnr"] == pytest.approx(13.98, abs=0.1)
    assert noisy["psnr_ln"] == pytest.approx(32.2, abs=0.2)


def test_all_methods_get_the_same_data_and_the_trials_seed():
    Recorder.records.clear()
    study = toy_study(
        methods=[
            Method("a", Recorder()),
            Method("b", Recorder()),
            Method("c", Recorder(random_state=7)),
        ]
    )
    run_trial(study, 0, seed=5)
    digests, seeds = zip(*Recorder.records, strict=True)
    assert digests[:3] == (digests[0],) * 3
    assert digests[0] != digests[3]  # another noise level
    assert seeds == (trial_seed(5, 0), trial_seed(5, 0), 7) * 2


def test_runs_with_different_seeds_share_no_trial_seed():
    first, second = ({trial_seed(seed, trial) for trial in range(500)} for seed in (0, 1))
    assert len(first) == 500
    assert not first & second


def test_other_estimators_have_no_certificate():
    _, kmeans = run_trial(toy_study(noise=[0.0]), 0, seed=0)
    assert kmeans["sca"] == 100
    assert np.isnan([kmeans["gap"], kmeans["coefficient_difference"], kmeans["objective"]]).all()


def test_a_method_can_get_a_single_view():
    Recorder.records.clear()
    study = toy_study(noise=[0.0], methods=[Method("second", Recorder(), 1)])
    run_trial(study, 0, seed=0)
    views, _ = make_blobs(noise=0.0, random_state=trial_seed(0, 0))
    Recorder().fit(views[1])
    assert Recorder.records[0][0] == Recorder.records[1][0]


def test_a_view_can_be_chosen_by_name():
    Recorder.records.clear()
    methods = [Method("number", Recorder(), 1), Method("name", Recorder(), "second")]
    run_trial(toy_study(noise=[0.0], methods=methods, generate=named_blobs), 0, seed=0)
    assert Recorder.records[0] == Recorder.records[1]
    for wrong in (7, "third"):
        study = toy_study(methods=[Method("lost", Recorder(), wrong)], generate=named_blobs)
        with pytest.raises(
            TrialError,
            match=f"lost .main. failed in study toy.*there is no view {wrong!r}, only 0, 1",
        ):
            run_trial(study, 0, seed=0)


def named_blobs(*, noise, random_state):
    views, labels = make_blobs(noise=noise, random_state=random_state)
    return dict(zip(("first", "second"), views, strict=True)), labels


def test_the_error_of_a_clusterer_for_one_array_suggests_concat():
    study = toy_study(methods=[Method("k-means", KMeans(3))], generate=named_blobs)
    with pytest.raises(TrialError, match="needs views='concat'"):
        run_trial(study, 0, seed=0)


def test_a_failure_names_study_trial_and_noise():
    study = toy_study(noise=[0.0, 9.0], methods=[Method("fragile", Fragile())])
    with pytest.raises(
        TrialError, match=r"fragile \(main\) failed in study toy, trial 2, noise 9.*too noisy"
    ):
        run_trial(study, 2, seed=0)


def test_a_point_of_a_grid_may_fail():
    study = toy_study(noise=[0.0, 9.0], methods=[Method("fragile", Fragile(), setting=GRID)])
    first, second = run_trial(study, 0, seed=0)
    assert first["sca"] > 0
    assert np.isnan(second["sca"])
    assert second["warning"] == "too noisy"


def test_every_step_of_a_pipeline_gets_the_trials_seed():
    """One iteration of k-means from a random start depends on the seed; two runs must agree."""
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


def test_a_method_that_changes_its_input_does_not_affect_the_next():
    Recorder.records.clear()
    study = toy_study(
        noise=[0.5],
        methods=[
            Method("a", Recorder()),
            Method("overwriting", Overwriting()),
            Method("b", Recorder()),
        ],
    )
    run_trial(study, 0, seed=0)
    assert Recorder.records[0][0] == Recorder.records[1][0]


class Overwriting(Fragile):
    """Clusterer that changes its input."""

    def fit(self, X, y=None):
        for view in X:
            view *= 100.0
        self.labels_ = np.zeros(len(X[0]), dtype=int)
        return self


class SameAttributes(Fragile):
    """Clusterer whose attributes have viewspan's names and other content."""

    def fit(self, X, y=None):
        self.coefficients_, self.objective_, self.n_iter_ = np.eye(3), None, [1, 2]
        return super().fit(X)


def test_attributes_of_other_estimators_are_ignored():
    study = toy_study(noise=[0.0], methods=[Method("same attributes", SameAttributes())])
    (row,) = run_trial(study, 0, seed=0)
    assert np.isnan(row["objective"])


def noisy_first_view(*, noise, random_state):
    views, labels = make_blobs(noise=noise, random_state=random_state)
    clean, _ = make_blobs(noise=0.0, random_state=random_state)
    return [views[0], clean[1]], labels


def test_psnr_is_taken_over_all_views():
    (row,) = run_trial(toy_study(noise=[0.5], generate=noisy_first_view), 0, seed=0)[:1]
    assert row["psnr"] == pytest.approx(10 * np.log10(2 / 0.25), abs=1)


@pytest.mark.parametrize(
    "wrong", [lambda noise, random_state: {}["no"], lambda noise, random_state: (np.eye(3), [1])]
)
def test_an_error_of_the_generator_names_study_trial_and_noise(wrong):
    with pytest.raises(
        TrialError,
        match=r"could not be generated in study toy, trial 1, noise 0, seed \d+: \w+Error",
    ):
        run_trial(toy_study(generate=wrong), 1, seed=0)


def test_warnings_of_a_fit_are_in_the_row():
    study = toy_study(noise=[0.0], methods=[Method("k-means", KMeans(17, n_init=1), "concat")])
    (row,) = run_trial(study, 0, seed=0)
    assert "distinct clusters" in row["warning"]


def test_blas_uses_one_thread():
    run_trial(toy_study(noise=[0.0], methods=[Method("counter", ThreadCounter())]), 0, seed=0)
    assert ThreadCounter.threads == {1}


class ThreadCounter(Fragile):
    """Clusterer that records the number of BLAS threads."""

    threads: set = set()  # noqa: RUF012 (shared on purpose)

    def fit(self, X, y=None):
        ThreadCounter.threads |= {library["num_threads"] for library in threadpool_info()}
        return super().fit(X)
