"""Fitted models on disk, by joblib."""

import joblib
import numpy as np
import pytest

import viewspan
from tests.problems import two_subspaces

VIEWS, _ = two_subspaces()
UNSEEN, _ = two_subspaces(noise=0.2)
ESTIMATORS = [viewspan.CLRSC, viewspan.LRR, viewspan.SSC, viewspan.MLAP]


def again(model, folder):
    joblib.dump(model, folder / "model.joblib", compress=3)
    return joblib.load(folder / "model.joblib")


@pytest.mark.parametrize("build", ESTIMATORS, ids=lambda build: build.__name__)
def test_a_model_from_disk_is_the_same(build, tmp_path):
    model = build(2, random_state=0).fit({"a": VIEWS[0], "b": VIEWS[1]})
    loaded = again(model, tmp_path)
    np.testing.assert_array_equal(loaded.labels_, model.labels_)
    np.testing.assert_array_equal(loaded.predict(UNSEEN), model.predict(UNSEEN))
    np.testing.assert_array_equal(loaded.transform(UNSEEN), model.transform(UNSEEN))


@pytest.mark.parametrize("solved", [False, True])
def test_a_model_fitted_in_batches_can_be_loaded_and_continued(solved, tmp_path):
    model = viewspan.CLRSC(2, random_state=0).partial_fit([view[::2] for view in VIEWS])
    if solved:
        assert len(model.partial_fit().labels_) == 15
    loaded = again(model, tmp_path)
    for either in (model, loaded):
        either.partial_fit([view[1::2] for view in VIEWS])
    np.testing.assert_array_equal(loaded.predict(UNSEEN), model.predict(UNSEEN))
