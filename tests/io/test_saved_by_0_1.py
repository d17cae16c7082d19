"""Models that viewspan 0.1 saved are loaded and give the answers that they gave then."""

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

from viewspan import load

FOLDER = Path(__file__).parent / "saved_by_0_1"
MODELS = sorted(path.stem for path in FOLDER.glob("*.model"))


@pytest.fixture(scope="module")
def expected():
    with np.load(FOLDER / "expected.npz") as archive:
        return {key: archive[key] for key in archive.files}


def unseen(name, expected):
    """Return the samples of the stored prediction, in the form of the fitted data."""
    views = [expected[f"view_{position}"] for position in range(2)]
    if name == "clrsc_batches":
        return views
    views = [view[:20] + 0.01 for view in views]
    if name == "clrsc_missing":
        views[0][::8] = np.nan
        views[1][3::9] = np.nan
    if name == "clrsc_wide_sparse":
        wide = np.hstack([expected["view_0"][:20]] * 8)
        views[0] = scipy.sparse.csr_array(wide * (np.abs(wide) > 0.5))
    if name in {"clrsc_names", "lrr_concat"}:
        return dict(zip(("genes", "images"), views, strict=True))
    return views[0] if name == "clrsc_one_view" else views


@pytest.mark.parametrize("name", MODELS)
def test_loaded_models_give_the_stored_results(name, expected):
    model = load(FOLDER / f"{name}.model")
    np.testing.assert_array_equal(model.labels_, expected[f"{name}/labels"])
    samples = unseen(name, expected)
    np.testing.assert_array_equal(model.predict(samples), expected[f"{name}/predicted"])
    if name == "clrsc_batches":
        return
    # eigenvectors of equal eigenvalues have no order; inner products do not depend on it
    embedding, stored = model.transform(samples), expected[f"{name}/embedding"]
    np.testing.assert_allclose(embedding @ embedding.T, stored @ stored.T, atol=1e-5)
    np.testing.assert_allclose(model.view_scores_, expected[f"{name}/view_scores"], atol=1e-6)
    np.testing.assert_allclose(model.objective_, expected[f"{name}/objective"], rtol=1e-12)
    basis = expected[f"{name}/subspace"]
    np.testing.assert_allclose(
        model.subspaces_[1][0].basis @ model.subspaces_[1][0].basis.T, basis @ basis.T, atol=1e-6
    )


def test_every_kind_of_model_is_stored():
    assert len(MODELS) == 16
