"""One trial: the same data for all, and a row that says everything."""

import numpy as np
import pytest

from tests.experiments.toys import Failing, Reader, make_blobs, toy_study
from viewspan import CLRSC
from viewspan.datasets import make_subspaces
from viewspan.experiments import Method, Study
from viewspan.experiments.study import GRID
from viewspan.experiments.trial import TrialError, run_trial, seed_of
from viewspan.metrics import coefficient_difference, subspace_clustering_accuracy


def test_a_row_holds_what_the_fit_gave():
    study = Study("one", make_subspaces, [0.2], [Method("cLRSC", CLRSC(5, lam=0.2, tau=8.0))])
    (row,) = run_trial(study, 3, seed=0)
    views, labels = make_subspaces(noise=0.2, random_state=row["seed"])
    model = CLRSC(5, lam=0.2, tau=8.0, random_state=row["seed"]).fit(views)
    assert row["sca"] == subspace_clustering_accuracy(labels, model.labels_)
    assert row["objective"] == pytest.approx(model.objective_, rel=1e-9)
    assert row["coefficient_difference"] == pytest.approx(coefficient_difference(*model.coefficients_), rel=1e-6)
    assert 0 <= row["gap"] <= 1e-4
    assert (row["study"], row["trial"], row["noise"], row["lam"], row["tau"]) == ("one", 3, 0.2, 0.2, 8.0)
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
    study = toy_study(methods=[Method("a", Reader()), Method("b", Reader()), Method("c", Reader(random_state=7))])
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


def test_a_failure_says_where():
    study = toy_study(noise=[0.0, 9.0], methods=[Method("fragile", Failing())])
    with pytest.raises(TrialError, match=r"fragile \(auto\) failed in study toy, trial 2, noise 9.*too loud"):
        run_trial(study, 2, seed=0)


def test_a_point_of_a_grid_may_have_no_answer():
    study = toy_study(noise=[0.0, 9.0], methods=[Method("fragile", Failing(), setting=GRID)])
    first, second = run_trial(study, 0, seed=0)
    assert first["sca"] > 0
    assert np.isnan(second["sca"])
    assert second["warning"] == "too loud"
