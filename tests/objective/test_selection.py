import numpy as np
import pytest
from sklearn.preprocessing import normalize

from tests.problems import optimum, random_views
from viewspan import LRR, MLAP, solve
from viewspan.metrics import subspace_clustering_accuracy
from viewspan.objective import selection
from viewspan.objective.penalties import ZeroDiagonalL1
from viewspan.solvers.ssc_weights import data_driven_lam, distance_to_others


@pytest.mark.parametrize("shape", [(100, 100), (500, 60), (80, 1000)])
@pytest.mark.parametrize("noise", [0.05, 0.5])
def test_the_noise_level_is_found_under_a_signal(shape, noise):
    rng = np.random.default_rng(0)
    signal = rng.normal(size=(shape[0], 5)) @ rng.normal(size=(5, shape[1]))
    singular = np.linalg.svd(signal + noise * rng.normal(size=shape), compute_uv=False)
    assert selection.noise_level(singular, *shape) == pytest.approx(noise, rel=0.12)


@pytest.mark.parametrize("rank", [3, 20])
def test_low_rank_data_is_noise_free(rank):
    rng = np.random.default_rng(2)
    singular = np.linalg.svd(
        rng.normal(size=(100, rank)) @ rng.normal(size=(rank, 60)), compute_uv=False
    )
    assert selection.noise_level(singular, 100, 60) == 0.0
    assert selection.automatic_lam([singular], [100], (60,)) == pytest.approx(
        selection.FLOOR * singular[0] ** 2
    )


@pytest.mark.parametrize("shape", [(200, 200), (60, 600), (900, 90)])
def test_the_automatic_lam_shrinks_as_wiener_would(shape):
    """LRR keeps 1 − λ/2s² of a direction; of the energy s² in a known direction, x² is the signal's."""
    rng = np.random.default_rng(0)
    n_samples, n_features = shape
    strengths = np.array([40.0, 36.0, 33.0])
    left, right = (np.linalg.qr(rng.normal(size=(size, 3)))[0] for size in shape)
    noisy = (left * strengths) @ right.T + 0.5 * rng.normal(size=shape)
    (lam,) = selection.automatic_lam(
        [np.linalg.svd(noisy, compute_uv=False)], [n_samples], (n_features,)
    )
    seen = np.linalg.norm(noisy.T @ left, axis=0) ** 2
    expected = (
        strengths**2 + 0.25 * n_features
    )  # the mean of what is seen over many draws of the noise
    np.testing.assert_allclose(1 - lam / (2 * expected), strengths**2 / expected, atol=0.01)
    np.testing.assert_allclose(seen, expected, rtol=0.1)


def test_noise_is_not_more_than_all_there_is():
    rng = np.random.default_rng(1)
    spectra = [np.linalg.svd(normalize(rng.normal(size=(40, 4000))), compute_uv=False)]
    assert selection.automatic_lam(spectra, [40], (4000,))[0] <= 2.0 + 1e-9


def test_the_automatic_coupling_pulls_half_as_hard_as_the_penalty():
    """Where two views agree: the slope of τ‖A‖_* against that of λ‖Z‖_*, by finite differences."""
    views = random_views(5, (30, 30), 40, rank=6)
    spectra = [np.linalg.svd(view, compute_uv=False) for view in (views[0], views[0])]
    lam = selection.automatic_lam(spectra, [40, 40], (30, 30))
    tau = selection.automatic_tau(spectra, lam)
    basis = np.linalg.svd(views[0])[0][:, :6]
    coefficients = basis @ basis.T

    def pulls(step):
        stack = np.stack([(coefficients * (1 + step)).ravel()] * 2)
        return tau * np.linalg.norm(stack, "nuc"), lam[0] * np.linalg.norm(
            coefficients * (1 + step), "nuc"
        )

    coupling, penalty = ((b - a) / 1e-6 for a, b in zip(pulls(0.0), pulls(1e-6), strict=True))
    # along the stack A = (Z, Z) of length √2·√6 the coupling's force is τ; along Z of length √6 the penalty's is λ√6
    assert coupling / np.sqrt(12) == pytest.approx(0.5 * penalty / np.sqrt(6), rel=0.02)


def test_marchenko_pastur_median_against_random_matrices():
    rng = np.random.default_rng(3)
    for short, long in ((300, 300), (100, 1000)):
        squares = np.linalg.svd(rng.normal(size=(short, long)), compute_uv=False) ** 2 / long
        assert selection.marchenko_pastur_median(short / long) == pytest.approx(
            np.median(squares), rel=0.03
        )


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_weights_follow_the_scale_of_the_data(scale):
    spectra = [np.linalg.svd(view, compute_uv=False) for view in random_views(0, (20, 30), 40)]
    reference = selection.automatic_lam(spectra, [40, 40], (20, 30))
    scaled = selection.automatic_lam([scale * values for values in spectra], [40, 40], (20, 30))
    np.testing.assert_allclose(scaled, scale**2 * reference)


def test_weights_never_make_everything_zero():
    """Even where the spectrum is flat and all looks like noise."""
    spectra = [np.full(20, 2.0), np.full(20, 2.0)]
    lam = selection.automatic_lam(spectra, [40, 40], (20, 20))
    tau = selection.automatic_tau(spectra, lam)
    assert (lam < 2 * 4.0).all()
    assert tau < np.linalg.norm(np.maximum(2 * 4.0 - lam[0], 0) * np.ones(20))


@pytest.mark.parametrize(
    ("eigenvalues", "count"),
    [([1, 0.9, 0.85, 0.2, 0.1], 3), ([1, 0.5, 0.1, 0.05], 2), ([1, 0.3], 1), ([1.0], 1)],
)
def test_the_widest_gap_counts_clusters(eigenvalues, count):
    assert selection.count_clusters(np.array(eigenvalues, dtype=float)) == count


def test_an_unclear_number_of_clusters_is_said():
    with pytest.warns(UserWarning, match="not clear from the data: 3 is the best guess.*but 5 has"):
        assert (
            selection.count_clusters(
                np.array([1, 0.95, 0.9, 0.5, 0.48, 0.1, 0.09])[[0, 1, 2, 3, 4, 5, 6]]
            )
            == 3
        )


def test_ssc_weights_are_a_quarter_over_the_l1_length():
    """Noise-free samples of a plane: the first pass finds the shortest exact representation."""
    view = random_views(1, (6,), 9, rank=2)[0].T
    weights = data_driven_lam([view], [6])[0]
    for j in range(9):
        others = np.delete(view, j, axis=1)
        shortest = shortest_representation(others, view[:, j])
        largest = 0.5 * np.abs(others.T @ view[:, j]).max()
        assert weights[j] == pytest.approx(min(0.25 / shortest, largest), rel=0.02)


def shortest_representation(dictionary, target):
    import cvxpy as cp

    weights = cp.Variable(dictionary.shape[1])
    problem = cp.Problem(cp.Minimize(cp.norm1(weights)), [dictionary @ weights == target])
    return problem.solve(solver=cp.CLARABEL)


def test_ssc_weights_leave_no_sample_without_a_neighbour():
    view = random_views(2, (30,), 12)[0].T
    weights = data_driven_lam([view], [30])
    slack = ZeroDiagonalL1().polar(view.T @ view, weights[0])
    assert (slack >= 2 - 1e-9).all()
    assert optimum([view.T], weights, 0.0, "half_frobenius", "l1", "none") < 6.0


def test_distance_to_the_span_of_the_others():
    view = random_views(3, (12,), 5)[0].T
    for j, distance in enumerate(distance_to_others(view)):
        others, _ = np.linalg.qr(np.delete(view, j, axis=1))
        expected = np.linalg.norm(view[:, j] - others @ (others.T @ view[:, j]))
        assert distance == pytest.approx(expected, rel=1e-6)
    assert not distance_to_others(random_views(4, (3,), 9)[0].T).any()


def test_below_the_collapse_weight_every_sample_rebuilds_itself():
    """The ℓ1,2 fit then has Z = I, which says nothing about clusters; above it the samples rebuild one another."""
    rng = np.random.default_rng(0)
    view = normalize(rng.normal(size=(20, 60)))
    collapse = selection.collapse_weight(np.linalg.svd(view, compute_uv=False), 20)
    for share, identical in ((0.8, True), (1.3, False)):
        (coefficients,) = solve(
            [view], share * collapse, datafit="l12", coupling="none", tol=1e-8
        ).coefficients
        assert np.allclose(coefficients, np.eye(20), atol=1e-3) == identical


def test_dependent_samples_do_not_collapse():
    view = np.random.default_rng(0).normal(size=(20, 5))
    assert selection.collapse_weight(np.linalg.svd(view, compute_uv=False), 20) == 0


def test_many_noisy_features_do_not_collapse_the_rivals():
    """Copies of a few directions under strong noise, as in the paper's studies of minerals and faces."""
    rng = np.random.default_rng(0)
    clean = [np.repeat(normalize(rng.normal(size=(5, 600))), 10, axis=0) for _ in range(2)]
    views = [view + 0.04 * rng.normal(size=view.shape) for view in clean]
    truth = np.repeat(np.arange(5), 10)
    for model in (MLAP(5, random_state=0), LRR(5, datafit="l12", random_state=0)):
        assert subspace_clustering_accuracy(truth, model.fit_predict(views)) == 100
