"""The page: everything that was asked for is on it, once, and whatever comes from the user is only text."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import viewspan
from tests.problems import many_subspaces
from viewspan import plot
from viewspan.report import html_report
from viewspan.report.facts import certificate_sentence, percent

SPITEFUL = '<script>alert("x")</script> & </script> {{ 7 * 7 }} "\'> $x$ 例 😀'


class Tags(HTMLParser):
    """Names and attributes of all tags."""

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


@pytest.fixture(scope="module")
def fitted():
    views, _ = many_subspaces(120)
    return viewspan.CLRSC(5, random_state=0).fit(
        dict(zip((SPITEFUL, "plain"), views, strict=True))
    ), views


@pytest.fixture(scope="module")
def page(fitted):
    model, views = fitted
    return html_report(
        model,
        ids=[f"{SPITEFUL} {row}" for row in range(120)],
        views=dict(zip((SPITEFUL, "plain"), views, strict=True)),
        image_shapes={SPITEFUL: (4, 5)},
        scores={"accuracy": 98.2, "adjusted Rand index": 0.9},
        notes=[SPITEFUL],
        command=f"viewspan cluster '{SPITEFUL}'",
    )


def test_words_from_files_are_words(page):
    tags = Tags(page).found
    assert [tag for tag, _ in tags].count("script") == 2  # the points and the hover
    assert "49" not in [part.strip() for part in re.findall(r"<li>(.*?)</li>", page)]
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page


def test_nothing_is_asked_of_the_network(page):
    for _, attributes in Tags(page).found:
        for name in ("src", "href", "xlink:href", "action", "data"):
            value = attributes.get(name, "#")
            assert value.startswith(("#", "data:image/png")), value
    assert "@import" not in page and "url(http" not in page
    assert "default-src 'none'" in page


def test_ids_of_elements_are_unique_and_references_are_there(page):
    ids = [attributes["id"] for _, attributes in Tags(page).found if "id" in attributes]
    assert len(ids) == len(set(ids))
    references = {
        attributes["xlink:href"] for _, attributes in Tags(page).found if "xlink:href" in attributes
    }
    assert {name[1:] for name in references if name.startswith("#")} <= set(ids)
    assert set(re.findall(r"url\(#([^)]*)\)", page)) <= set(ids)


def test_every_picture_is_there_with_how_to_read_it(page):
    drawn = [attributes["class"] for tag, attributes in Tags(page).found if tag == "figure"]
    assert set(drawn) == set(plot.HOW_TO_READ)
    for sentence in plot.HOW_TO_READ.values():
        assert sentence.replace("'", "&#39;") in page


def test_it_is_small_also_for_many_clusters_and_large_pictures():
    rng = np.random.default_rng(0)
    blocks = [rng.normal(size=(20, 2)) @ rng.normal(size=(2, 4800)) for _ in range(50)]
    views = {"a": np.vstack(blocks), "b": np.vstack(blocks)[:, :80]}
    model = viewspan.LRR(50, random_state=0).fit(views)
    ids = [f"a rather long name of sample {row}" for row in range(1000)]
    page = html_report(model, ids=ids, views=views, image_shapes={"a": (40, 40)})
    assert len(page.encode()) < 3_000_000


@pytest.mark.parametrize(
    "model",
    [
        viewspan.CLRSC(1),
        viewspan.CLRSC(2, coupling="rank_one"),
        viewspan.CLRSC(5, graph="landmarks", n_landmarks=60),
        viewspan.LRR(3, fusion="concat"),
        viewspan.SSC(3, tol=0.1),
        viewspan.MLAP(3, tol=0.1),
    ],
    ids=repr,
)
def test_every_kind_of_model(model):
    views, _ = many_subspaces(80)
    assert "How sure the clusters are" in html_report(model.set_params(random_state=0).fit(views))


def test_one_view_has_nothing_to_compare(fitted):
    model = viewspan.LRR(5, random_state=0).fit(fitted[1][0])
    page = html_report(model)
    assert "How alike the views are" not in page and "1 view," in page


def test_too_few_names(fitted):
    with pytest.raises(ValueError, match="ids must be names of all 120 samples"):
        html_report(fitted[0], ids=["a"])


def test_what_is_proven_is_said(fitted):
    assert f"within {percent(fitted[0].dual_gap_)} of the best possible" in certificate_sentence(
        fitted[0]
    )
    strict = viewspan.CLRSC(5, coupling="rank_one", random_state=0).fit(fitted[1])
    assert "not convex" in certificate_sentence(strict)
    early = viewspan.CLRSC(5, max_iter=1, tol=1e-9, random_state=0)
    with pytest.warns(ConvergenceWarning):
        early.fit(fitted[1])
    assert "more than was asked for" in certificate_sentence(early)


@pytest.mark.parametrize(
    ("share", "text"), [(3.2e-5, "0.0032 %"), (0.5, "50 %"), (0.0, "0 %"), (0.0123, "1.2 %")]
)
def test_percent(share, text):
    assert percent(share) == text
