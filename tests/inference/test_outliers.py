"""Outlier scores of samples that the others do not represent."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import viewspan
from tests.problems import two_subspaces
from viewspan.datasets import make_subspaces

DATAFITS = ("frobenius", "l12", "l1")


@pytest.mark.parametrize(
    "parameters",
    [{}, {"datafit": "l12"}, {"datafit": "l1"}, {"penalty": "l1"}, {"coupling": "rank_one"}],
    ids=str,
)
def test_scores_agree_with_the_formula(parameters):
    views, _ = two_subspaces(noise=0.2)
    unit = [view / np.linalg.norm(view, axis=1, keepdims=True) for view in views]
    model = viewspan.CLRSC(2, random_state=0, **parameters).fit(views)
    for samples, coefficients, scores in zip(
        unit, model.coefficients_, model.outlier_scores_, strict=True
    ):
        others = coefficients - np.diag(np.diag(coefficients))
        np.testing.assert_allclose(
            scores, np.linalg.norm(samples - others.T @ samples, axis=1), atol=1e-6
        )


@pytest.mark.parametrize("datafit", DATAFITS)
@pytest.mark.parametrize("share", [0.1, 0.2])
def test_corrupted_samples_score_high_in_the_corrupted_view_only(datafit, share):
    views, _ = make_subspaces(noise=0.1, random_state=0)
    rng = np.random.default_rng(0)
    wrong = rng.permutation(100) < 100 * share
    views[0][wrong] = 5 * rng.normal(size=(int(wrong.sum()), 100))
    model = viewspan.CLRSC(5, datafit=datafit, random_state=0).fit(views)
    assert roc_auc_score(wrong, model.outlier_scores_[0]) > 0.98
    assert roc_auc_score(wrong, model.outlier_scores_[1]) < 0.8
