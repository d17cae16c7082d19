"""If LAPACK or ARPACK fails, a fallback gives the same result, or an error says what to do."""

from itertools import chain

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse.linalg
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

import viewspan
from tests.faults.models import MODELS
from tests.problems import many_subspaces, two_subspaces
from viewspan._utils import linalg as _linalg
from viewspan._utils.linalg import NumericalError
from viewspan.graph import spectrum

VIEWS, TRUTH = two_subspaces()
all_models = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())
pytestmark = pytest.mark.filterwarnings("ignore:The solver reached max_iter")


def failing(*args, **kwargs):
    raise np.linalg.LinAlgError("did not converge")


def break_fast_drivers(monkeypatch):
    for name in ("svd", "eigh", "eigvalsh", "svdvals"):
        monkeypatch.setattr(np.linalg, name, failing)


def break_all_drivers(monkeypatch):
    break_fast_drivers(monkeypatch)
    for name in ("svd", "eigh", "eigvalsh", "svdvals"):
        monkeypatch.setattr(scipy.linalg, name, failing)


@all_models
def test_the_slow_drivers_give_the_same_answer(model, monkeypatch):
    """Compare a fit and all results that are computed when needed."""
    expected = clone(model).fit(VIEWS)
    rows, scores, subspaces = expected.transform(VIEWS), expected.view_scores_, expected.subspaces_
    break_fast_drivers(monkeypatch)
    found = clone(model).fit(VIEWS)
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    np.testing.assert_allclose(found.objective_, expected.objective_, rtol=1e-3)
    np.testing.assert_array_equal(found.predict(VIEWS), expected.predict(VIEWS))
    np.testing.assert_allclose(found.view_scores_, scores, atol=1e-6)
    np.testing.assert_allclose(found.transform(VIEWS), rows, atol=1e-4)
    for first, second in zip(chain(*found.subspaces_), chain(*subspaces), strict=True):
        np.testing.assert_allclose(
            first.basis @ first.basis.T, second.basis @ second.basis.T, atol=1e-8
        )


@all_models
def test_if_no_driver_converges_the_error_names_the_step_and_what_to_do(model, monkeypatch):
    break_all_drivers(monkeypatch)
    unfitted = clone(model)
    with pytest.raises(
        NumericalError, match=rf"{type(model).__name__} failed while (reading|solving|comparing)"
    ) as error:
        unfitted.fit(VIEWS)
    assert isinstance(error.value, ValueError)  # the command line prints it without a traceback
    assert "another build of NumPy" in str(error.value) or "Rescale" in str(error.value)
    assert not hasattr(unfitted, "labels_")


def test_errors_in_batches_name_the_step(monkeypatch):
    model = viewspan.CLRSC(2, random_state=0).partial_fit(VIEWS)
    break_all_drivers(monkeypatch)
    with pytest.raises(NumericalError, match="CLRSC failed while"):
        model.partial_fit()
    monkeypatch.undo()
    assert adjusted_rand_score(TRUTH, model.partial_fit().labels_) == 1.0


@pytest.mark.parametrize(
    "name", ["svd", "singular_values", "eigh", "spectrum_of_gram", "leading_eigh"]
)
@pytest.mark.parametrize("size", [5, 60])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_decompositions_of_non_finite_matrices_raise(name, size, bad, capfd):
    """LAPACK itself raises, returns NaN or writes to standard error, depending on its version."""
    matrix = np.eye(size)
    matrix[1, 2] = matrix[2, 1] = bad
    count = [2] if name == "leading_eigh" else []
    with pytest.raises(NumericalError, match=rf"not finite came up in a matrix of {size} × {size}"):
        getattr(_linalg, name)(matrix, *count)


def blocks(sizes, between, seed=0):
    """Return a graph of groups without self-loops, and the group of every node."""
    labels = np.repeat(np.arange(len(sizes)), sizes)
    graph = np.where(labels[:, None] == labels, 1.0, between)
    noise = np.random.default_rng(seed).uniform(0.5, 1.0, graph.shape)
    graph = graph * (noise + noise.T)
    np.fill_diagonal(graph, 0.0)
    return graph, labels


GRAPH, GROUPS = blocks((250, 200), 0.1)
LEADING = np.linalg.eigvalsh(spectrum.scaled(GRAPH, 1 / np.sqrt(GRAPH.sum(axis=1))))[::-1]


@pytest.mark.parametrize("error", ["ArpackNoConvergence", "ArpackError", "LinAlgError"])
@pytest.mark.parametrize("dense_fails", [False, True], ids=["dense solver", "dense solver fails"])
def test_without_arpack_the_cut_is_the_same(error, dense_fails, monkeypatch):
    errors = {
        "ArpackNoConvergence": scipy.sparse.linalg.ArpackNoConvergence(
            "no", np.array([]), np.array([])
        ),
        "ArpackError": scipy.sparse.linalg.ArpackError(-9999),
        "LinAlgError": np.linalg.LinAlgError("no"),
    }

    def arpack(*args, **kwargs):
        raise errors[error]

    expected = viewspan.ncut(GRAPH, 2, random_state=0)
    monkeypatch.setattr(scipy.sparse.linalg, "eigsh", arpack)
    if dense_fails:
        monkeypatch.setattr(scipy.linalg, "eigh", failing)
    values, vectors = spectrum.symmetric_eigenpairs(
        spectrum.scaled(GRAPH, 1 / np.sqrt(GRAPH.sum(axis=1))), 3, np.random.RandomState(0)
    )
    np.testing.assert_allclose(values, LEADING[:3], atol=1e-12)
    assert vectors.shape == (450, 3)
    np.testing.assert_array_equal(viewspan.ncut(GRAPH, 2, random_state=0), expected)
    assert adjusted_rand_score(GROUPS, expected) == 1.0


@pytest.mark.parametrize(
    "model", [viewspan.CLRSC(5, random_state=0), viewspan.LRR(5, random_state=0)], ids=repr
)
def test_without_arpack_the_labels_are_the_same(model, monkeypatch):
    views, truth = many_subspaces(500)
    expected = model.fit_predict(views)
    monkeypatch.setattr(scipy.sparse.linalg, "eigsh", failing)
    np.testing.assert_array_equal(model.fit_predict(views), expected)
    assert adjusted_rand_score(truth, expected) > 0.9


@pytest.mark.parametrize("n_groups", [1, 3])
def test_negative_eigenvalues_are_not_taken_for_zero(n_groups):
    """In complete groups without self-loops, all but the first are equal and negative."""
    size = 450 // n_groups
    graph = np.kron(np.eye(n_groups), np.ones((size, size)) - np.eye(size))
    found = spectrum.leading_eigenvectors(graph, n_groups + 3, np.random.RandomState(0))
    expected = [1.0] * n_groups + [-1 / (size - 1)] * 3
    np.testing.assert_allclose(found.eigenvalues, expected, atol=1e-9)
    np.testing.assert_allclose(
        found.embedding.T @ found.embedding * (size - 1), np.eye(n_groups + 3), atol=1e-6
    )


def test_a_search_for_missed_eigenvalues_ends(monkeypatch):
    """If every iteration finds a larger eigenvalue, the dense solver is the fallback."""
    calls = []

    def eigsh(matrix, k, **options):
        calls.append(k)
        assert len(calls) < 50
        return np.full(k, float(len(calls))), np.eye(450, k)

    monkeypatch.setattr(scipy.sparse.linalg, "eigsh", eigsh)
    found = spectrum.leading_eigenvectors(GRAPH, 3, np.random.RandomState(0))
    np.testing.assert_allclose(found.eigenvalues, LEADING[:3], atol=1e-12)
    assert len(calls) == 4
