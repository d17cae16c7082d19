"""Pictures show the numbers that they are made of."""

from dataclasses import replace
from itertools import permutations

import matplotlib as mpl

mpl.use("agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
import scipy.sparse
from sklearn.exceptions import NotFittedError

import viewspan
from tests.cli.test_main import run_without
from viewspan import plot
from viewspan.datasets import make_subspaces
from viewspan.plot.colours import TEN
from viewspan.plot.graphs import block_means, blocks_of, opacity
from viewspan.plot.references import drawn_labels, links, round_tour

PICTURES = sorted(set(plot.HOW_TO_READ) - {"exemplars"})


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def views():
    return dict(zip("ab", make_subspaces(noise=0.3, n_features=48, random_state=0)[0], strict=True))


@pytest.fixture(scope="module")
def model(views):
    return viewspan.CLRSC(5, random_state=0).fit(views)


@pytest.fixture(scope="module")
def landmarks(views):
    return viewspan.CLRSC(5, graph="landmarks", n_landmarks=60, random_state=0).fit(views)


@pytest.fixture(scope="module")
def single(views):
    return viewspan.LRR(2, random_state=0).fit(views["a"])


def points_of(draw, model):
    """What is drawn, and whose it is."""
    (points,) = [
        collection for collection in draw(model).collections if collection.get_gid() == "points"
    ]
    return np.asarray(points.get_offsets()), plot.drawn_rows(model)


def with_graph(model, graph, labels):
    """The model as if it had cut this graph so."""
    other = viewspan.CLRSC(**model.get_params())
    vars(other).update(vars(model))
    other._fit = replace(model._fit, united=model._fit.united._replace(graph=graph, labels=labels))
    other.labels_, other.n_clusters_ = labels, int(labels.max()) + 1
    return other


def with_history(model, gaps):
    other = viewspan.CLRSC(**model.get_params())
    vars(other).update(vars(model))
    checks = [
        model.history_[0]._replace(n_iter=10 * step, gap=gap)
        for step, gap in enumerate(gaps, start=1)
    ]
    other.result_ = replace(model.result_, history=checks)
    return other


@pytest.mark.parametrize("name", PICTURES)
@pytest.mark.parametrize("fitted", ["model", "landmarks", "single"])
def test_drawn_where_asked_and_nothing_else_is_changed(name, fitted, request):
    fitted, draw = request.getfixturevalue(fitted), getattr(plot, name)
    figure, ax = plt.subplots()
    before, edges = dict(mpl.rcParams), ax.spines["top"].get_visible()
    assert draw(fitted, ax=ax) is ax
    figure.canvas.draw()
    fresh = draw(fitted)
    assert fresh.figure is not figure
    assert fresh.figure.get_layout_engine() is not None
    fresh.figure.canvas.draw()
    assert dict(mpl.rcParams) == before and edges
    assert "How to read it: " in draw.__doc__


@pytest.mark.parametrize("name", PICTURES)
def test_nothing_is_written_in_a_colour_of_its_own(name, model):
    """Texts take the colour that is set, so that they are seen on any background."""
    named = set(TEN)
    with plt.rc_context(
        dict.fromkeys(
            ("text.color", "axes.labelcolor", "axes.titlecolor", "xtick.color", "ytick.color"),
            "#12ab34",
        )
    ):
        ax = getattr(plot, name)(model)
        ax.figure.canvas.draw()
        written = [text for text in ax.findobj(mpl.text.Text) if text.get_text()]
        assert written
        assert {mpl.colors.to_hex(text.get_color()) for text in written} - named == {"#12ab34"}


def test_bars_are_as_long_as_clusters_are_large(model):
    ax = plot.sizes(model)
    assert [bar.get_width() for bar in ax.patches] == list(np.bincount(model.labels_))
    assert [text.get_text() for text in ax.texts] == [
        str(count) for count in np.bincount(model.labels_)
    ]


def test_sizes_of_many_clusters_are_told_apart(model):
    """Where not all numbers have room, those of the largest and the smallest clusters are written."""
    counts = np.full(90, 3)
    counts[20], counts[60] = 9, 1
    many = with_graph(model, np.eye(counts.sum()), np.repeat(np.arange(90), counts))
    _, ax = plt.subplots(figsize=(5, 4))
    texts = [text.get_text() for text in plot.sizes(many, ax=ax).texts]
    assert {"cluster 20: 9", "cluster 60: 1"} <= set(texts) and len(texts) < 10


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("most", [10, 33, 1000])
def test_blocks_of_the_graph_are_means(form, most):
    rng = np.random.default_rng(0)
    graph = rng.random((60, 60)) * (rng.random((60, 60)) < 0.2)
    graph, labels = graph + graph.T, rng.integers(0, 4, 60)
    blocks = blocks_of(form(graph), labels, 4, most)
    means, sizes = block_means(form(graph), blocks)
    assert len(blocks) <= most and sorted(np.concatenate(blocks)) == list(range(60))
    assert all(len(set(labels[block])) == 1 for block in blocks)
    assert list(sizes) == [len(block) for block in blocks]
    direct = [[graph[np.ix_(rows, columns)].mean() for columns in blocks] for rows in blocks]
    np.testing.assert_allclose(means, direct, atol=1e-15)


def test_the_image_of_the_graph_is_ink_of_that_strength(model):
    graph, labels = model.affinity_matrix_, model.labels_
    image = plot.affinity(model, max_size=40).images[0].get_array()
    means, _ = block_means(graph, blocks_of(graph, labels, 5, 40))
    np.testing.assert_allclose(image[..., 3], opacity(means))
    assert len(np.unique(image[..., :3].reshape(-1, 3), axis=0)) == 1
    assert ((image[..., 3] > 0) == (means > 0)).all()


def test_neighbours_stand_side_by_side_inside_a_cluster():
    """A chain in disorder is found again."""
    order = np.random.default_rng(0).permutation(30)
    graph = np.zeros((30, 30))
    graph[order[:-1], order[1:]] = graph[order[1:], order[:-1]] = 1.0
    found = np.concatenate(blocks_of(graph, np.zeros(30, dtype=np.int64), 1, 30))
    assert list(found) in (list(order), list(order[::-1]))


def test_samples_stand_between_the_clusters_they_are_tied_to(model):
    """Eight samples of cluster 0 to 3 in pairs; the last is also tied to cluster 0."""
    graph = np.kron(np.eye(4), 1.0 - np.eye(2))
    graph[7, 0] = graph[0, 7] = 3.0
    graph[7, 7] = 5.0  # a tie with itself says nothing
    positions, rows = points_of(plot.ties, with_graph(model, graph, np.repeat(np.arange(4), 2)))
    assert list(rows) == list(range(8))
    places = positions[[1, 2, 4, 6]]
    np.testing.assert_allclose(np.linalg.norm(places, axis=1), 1.0)
    np.testing.assert_allclose(positions[7], 0.75 * places[0] + 0.25 * places[3])
    assert np.linalg.norm(places[0] - places[3]) == pytest.approx(
        np.sqrt(2)
    )  # linked, so side by side


@pytest.mark.parametrize("fitted", ["model", "landmarks", "single"])
def test_all_points_are_one_collection_in_the_order_that_is_told(fitted, request):
    fitted = request.getfixturevalue(fitted)
    ax = plot.ties(fitted, max_points=37)
    (points,) = [collection for collection in ax.collections if collection.get_gid() == "points"]
    rows = plot.drawn_rows(fitted, max_points=37)
    np.testing.assert_array_equal(drawn_labels(fitted, max_points=37), fitted.labels_[rows])
    assert len(set(rows)) == 37 and ax.get_title(loc="left").startswith("37 of ")
    colours = np.array(plot.cluster_colours(fitted.n_clusters_))[fitted.labels_[rows]]
    np.testing.assert_allclose(
        points.get_facecolors()[:, :3], mpl.colors.to_rgba_array(colours)[:, :3]
    )


def test_the_surer_the_nearer_to_the_place_of_the_cluster(model):
    """Places are on a circle of radius 1, where the numbers are, so ties elsewhere draw a sample away by 2 at most."""
    numbers = np.array([text.get_position() for text in plot.ties(model).texts])
    places = numbers / np.linalg.norm(numbers, axis=1, keepdims=True)
    positions, rows = points_of(plot.ties, model)
    away = np.linalg.norm(positions - places[model.labels_[rows]], axis=1)
    assert (away <= 2 * (1 - model.confidence_[rows]) + 1e-12).all()
    assert (away[model.confidence_[rows] < 0.9] > 0).all()


def test_landmarks_of_a_part_of_the_samples_are_not_called_by_row(landmarks):
    reduction = replace(landmarks._fit.reduction, n_samples=1000)
    other = with_graph(landmarks, landmarks.affinity_matrix_, landmarks._fit.united.labels)
    other._fit = replace(landmarks._fit, reduction=reduction)
    assert (plot.drawn_rows(other) == -1).all()
    assert not plot.ties(other, ids=range(1000)).texts[5:]  # the numbers of the clusters alone


def test_the_least_sure_are_named(model):
    names = [f"sample {row}" for row in range(100)]
    written = [text.get_text() for text in plot.ties(model, ids=names).texts[5:]]
    assert (
        written
        == [names[row] for row in np.argsort(model.confidence_, kind="stable")[: len(written)]]
        != []
    )


def test_too_few_names(model):
    with pytest.raises(ValueError, match="ids must be names of all samples"):
        plot.ties(model, ids=["a", "b", "c"])


def test_two_clusters_lie_at_the_ends_of_their_shares(single):
    positions, rows = points_of(plot.ties, single)
    own = np.where(single.labels_[rows] == 1, positions[:, 0], 1 - positions[:, 0])
    np.testing.assert_allclose(own, single.confidence_[rows])
    assert np.ptp(positions[:, 1]) > 0


def test_linked_clusters_are_neighbours():
    """A ring in disorder, few enough for all orders and too many for that."""
    for count in (7, 12):
        order = np.random.default_rng(count).permutation(count)
        strengths = np.zeros((count, count))
        strengths[order, np.roll(order, 1)] = strengths[np.roll(order, 1), order] = 1.0
        tour = round_tour(strengths)
        assert sorted(tour) == list(range(count))
        assert strengths[tour, np.roll(tour, 1)].sum() == count


def test_a_tour_of_many_is_nearly_the_best():
    rng = np.random.default_rng(0)
    strengths = np.triu(rng.random((9, 9)), 1)
    strengths += strengths.T
    tours = np.array([(0, *rest) for rest in permutations(range(1, 9))])
    best = strengths[tours, np.roll(tours, 1, axis=1)].sum(axis=1).max()
    tour = round_tour(strengths)
    assert best * 0.95 <= strengths[tour, np.roll(tour, 1)].sum() <= best + 1e-12


def test_links_are_shares_of_ties():
    graph = np.array([[0, 2, 0], [2, 0, 2], [0, 2, 0.0]])
    np.testing.assert_allclose(
        links(graph, np.array([0, 0, 1]), 2), [[0, 2 / np.sqrt(12)], [2 / np.sqrt(12), 0]]
    )


@pytest.mark.filterwarnings("ignore:The graph is in 5 separate pieces")
@pytest.mark.parametrize("n_clusters", [5, 3, None])
def test_the_gap_is_marked_after_the_clusters(n_clusters):
    clean = make_subspaces(random_state=0)[0]
    fitted = viewspan.CLRSC(n_clusters, random_state=0).fit(clean)
    k = n_clusters or 5
    ax = plot.eigenvalues(fitted)
    inside, outside = (line.get_ydata() for line in ax.lines[:2])
    assert len(inside) == k and len(outside) >= 6
    (band,) = [patch for patch in ax.patches if patch.get_gid() == "gap"]
    low, high = band.get_y(), band.get_y() + band.get_height()
    np.testing.assert_allclose([low, high], [outside[0], inside[-1]])
    text = ax.texts[0].get_text()
    assert text.startswith(f"k = {k} was given" if n_clusters else f"k = {k}, gap")
    assert ("is at k = 5" in text) == (n_clusters == 3)


def test_eigenvalues_of_landmarks_are_those_of_one_step(landmarks):
    ax = plot.eigenvalues(landmarks)
    drawn = np.concatenate([line.get_ydata() for line in ax.lines[:2]])
    degree = np.sqrt(np.asarray(landmarks.affinity_matrix_.sum(axis=1)))
    expected = np.linalg.eigvalsh(
        np.asarray(full(landmarks.affinity_matrix_)) / degree / degree[:, None]
    )[::-1]
    np.testing.assert_allclose(drawn, np.sqrt(expected[: len(drawn)]))


def full(graph):
    return graph.toarray() if scipy.sparse.issparse(graph) else graph


def test_gaps_of_the_iteration(model):
    ax = plot.convergence(model)
    (line,) = [line for line in ax.lines if line.get_gid() == "gaps"]
    assert list(line.get_xdata()) == [check.n_iter for check in model.history_]
    assert list(line.get_ydata()) == [check.gap for check in model.history_]
    assert any(list(line.get_ydata()) == [model.tol] * 2 for line in ax.lines)


@pytest.mark.parametrize("gaps", [[np.inf, 0.5, 0.0], [np.nan, -1e-17], [0.0]])
@pytest.mark.filterwarnings("error", "default::DeprecationWarning")
def test_gaps_that_have_no_logarithm(model, gaps):
    ax = plot.convergence(with_history(model, gaps))
    ax.figure.canvas.draw()
    (line,) = [line for line in ax.lines if line.get_gid() == "gaps"]
    shown = [gap for gap in gaps if np.isfinite(gap) and gap > 0]
    assert [gap for gap in line.get_ydata() if np.isfinite(gap)] == shown


def test_sentences_where_there_is_nothing_to_draw(single):
    assert "closed form" in plot.convergence(single).texts[0].get_text()
    assert "one view" in plot.view_similarity(single).texts[0].get_text()


def test_numbers_about_views(model):
    texts = [text.get_text() for text in plot.view_similarity(model).texts]
    assert texts == [f"{cosine:.2f}" for cosine in model.view_similarity_.ravel()]
    ax = plot.view_contributions(model)
    widths = [bar.get_width() for bar in ax.patches]
    np.testing.assert_allclose(
        widths, [*(model.view_weights_ / model.view_weights_.max()), *model.view_scores_]
    )
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b"]
    table = [subspace.dimension for cluster in model.subspaces_ for subspace in cluster]
    assert [text.get_text() for text in plot.subspace_dimensions(model).texts] == [
        str(number) for number in table
    ]


def test_the_histogram_counts_every_sample(model):
    ax = plot.confidence(model)
    bars = [bar for bar in ax.patches if bar.get_width() < 0.1]
    assert sum(bar.get_height() for bar in bars) == 100
    uncertain = int((model.confidence_ < 0.5).sum())
    assert ax.texts[0].get_text() == f"{uncertain} of 100 uncertain"
    left = sum(bar.get_height() for bar in bars if bar.get_x() + bar.get_width() / 2 < 0.5)
    assert left == uncertain


@pytest.mark.parametrize("shape", [(6, 8), (4, 4)])
def test_exemplars_are_the_surest_samples(model, views, shape):
    """48 features are 6 × 8 grey pixels, or 4 × 4 in colour."""
    ax = plot.exemplars(model, views, view="b", image_shape=shape, n=3)
    sheet = ax.images[0].get_array()
    height, width = sheet.shape[0] // 5, sheet.shape[1] // 3
    for number in range(5):
        own = np.flatnonzero(model.labels_ == number)
        best = own[model.confidence_[own].argmax()]
        if (model.confidence_[own] == model.confidence_[best]).sum() > 1:
            continue  # the embedding decides
        picture = views["b"][best].reshape(*shape, -1)
        expected = np.broadcast_to((picture - picture.min()) / np.ptp(picture), (*shape, 3))
        part = sheet[number * height : number * height + shape[0], : shape[1]]
        np.testing.assert_allclose(part[..., :3], expected)
    assert height > shape[0] and width > shape[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"image_shape": (7, 7)},
            r"image_shape=\(7, 7\) needs 49 grey or 147 coloured features. Got 48",
        ),
        ({"view": "c"}, r"view must be one of \['a', 'b'\]"),
        ({"view": 2}, "a number below 2. Got 2"),
    ],
)
def test_exemplars_that_cannot_be_drawn(model, views, options, message):
    with pytest.raises(ValueError, match=message):
        plot.exemplars(model, views, **{"image_shape": (6, 8), **options})
    assert not plt.get_fignums()


def test_absent_samples_are_no_exemplars(views):
    given = {name: view.copy() for name, view in views.items()}
    given["a"][::3] = np.nan
    fitted = viewspan.CLRSC(5, missing="allow", random_state=0).fit(given)
    sheet = plot.exemplars(fitted, given, view="a", image_shape=(6, 8), n=20).images[0].get_array()
    shown = sheet[..., 3].sum() / 48
    assert np.isfinite(sheet).all() and 60 < shown <= 66


def test_colours_are_distinct_and_stay():
    many = plot.cluster_colours(120)
    assert len(set(many)) == 120 and many[:7] == plot.cluster_colours(7)
    luminance = np.array([mpl.colors.to_rgb(colour) for colour in many])
    luminance = np.where(
        luminance <= 0.04045, luminance / 12.92, ((luminance + 0.055) / 1.055) ** 2.4
    )
    luminance = luminance @ [0.2126, 0.7152, 0.0722] + 0.05
    assert (1.05 / luminance[:10] >= 2).all() and (luminance[:10] / 0.0568 >= 3).all()
    assert (1.05 / luminance > 1.9).all()  # on white
    assert (luminance / 0.0568 > 2.2).all()  # on #111418


def test_without_matplotlib_it_says_what_to_install():
    code = (
        "import viewspan, sys\n"
        "assert 'viewspan.plot' not in sys.modules\n"
        "try:\n    import viewspan.plot\n"
        "except ModuleNotFoundError as error:\n    print(error)\n"
    )
    result = run_without(["matplotlib"], code)
    assert "viewspan.plot needs the package 'matplotlib'" in result.stdout, result.stderr
    assert "pip install 'viewspan[plot]'" in result.stdout


def test_the_core_does_not_import_it():
    result = run_without([], "import viewspan, sys; print('matplotlib' in sys.modules)")
    assert result.stdout.strip() == "False"


@pytest.mark.parametrize("name", PICTURES)
def test_a_model_that_is_not_fitted(name):
    with pytest.raises(NotFittedError):
        getattr(plot, name)(viewspan.CLRSC(3))
    assert not plt.get_fignums()


def test_every_picture_can_be_read():
    others = {"HOW_TO_READ", "STYLE", "cluster_colours", "drawn_rows"}
    assert set(plot.HOW_TO_READ) == set(plot.__all__) - others


@pytest.mark.parametrize("fitted", ["model", "landmarks", "single"])
def test_neighbours_in_the_graph_are_neighbours_on_the_map(fitted, request):
    fitted = request.getfixturevalue(fitted)
    positions, rows = points_of(plot.embedding, fitted)
    labels = fitted.labels_[rows]
    distances = np.linalg.norm(positions[:, None] - positions[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    assert (labels[distances.argmin(axis=1)] == labels).mean() > 0.8


def test_an_even_part_of_a_map_is_drawn_and_said(model):
    ax = plot.embedding(model, max_points=50)
    assert len(ax.collections[0].get_offsets()) == len(plot.drawn_rows(model, max_points=50)) == 50
    assert "50 of" in ax.get_title(loc="left")
