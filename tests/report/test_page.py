"""The report page: content, self-containment, size, and names from users as text."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import viewspan
from tests.problems import many_subspaces
from viewspan import plot
from viewspan.report import html_report
from viewspan.report.facts import certificate_sentence, method_sentences, percent

HOSTILE_NAME = '<script>alert("x")</script> & </script> {{ 7 * 7 }} "\'> $x$ 例 😀'


class Tags(HTMLParser):
    """Parser that collects the names and attributes of all tags."""

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


@pytest.fixture(scope="module")
def fitted():
    views, _ = many_subspaces(120)
    named = {HOSTILE_NAME: views[0], "plain": views[1]}
    return viewspan.CLRSC(5, random_state=0).fit(named), named


@pytest.fixture(scope="module")
def page(fitted):
    model, views = fitted
    return html_report(
        model,
        ids=[f"{HOSTILE_NAME} {row}" for row in range(120)],
        views=views,
        image_shapes={HOSTILE_NAME: (4, 5), "plain": (5, 4)},
        scores={"accuracy": 98.2, "adjusted Rand index": 0.9},
        notes=[HOSTILE_NAME],
        command=f"viewspan cluster '{HOSTILE_NAME}'",
    )


def test_progress_is_reported_for_every_plot(fitted):
    model, views = fitted
    reports = []
    page = html_report(model, views=views, callback=reports.append)
    assert {report.stage for report in reports} == {"drawing the report"}
    shares = [report.share for report in reports]
    assert shares[0] == 0.0 and shares[-1] == 1.0 and shares == sorted(shares)
    assert page == html_report(model, views=views)


def test_names_are_text_and_not_markup(page):
    tags = Tags(page).found
    # the page has one script with the points and one with the code of the tooltips
    assert [tag for tag, _ in tags].count("script") == 2
    assert "49" not in [part.strip() for part in re.findall(r"<li>(.*?)</li>", page)]
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page


def test_page_refers_to_no_other_files(page):
    for _, attributes in Tags(page).found:
        for name in ("src", "href", "xlink:href", "action", "data"):
            value = attributes.get(name, "#")
            assert value.startswith(("#", "data:image/png")), value
    assert "@import" not in page and "url(http" not in page
    assert "default-src 'none'" in page


def test_element_ids_are_unique_and_references_exist(page):
    ids = [attributes["id"] for _, attributes in Tags(page).found if "id" in attributes]
    assert len(ids) == len(set(ids))
    references = {
        attributes["xlink:href"] for _, attributes in Tags(page).found if "xlink:href" in attributes
    }
    assert {name[1:] for name in references if name.startswith("#")} <= set(ids)
    assert set(re.findall(r"url\(#([^)]*)\)", page)) <= set(ids)


def test_page_shows_every_plot_with_its_explanation(page):
    drawn = [attributes["class"] for tag, attributes in Tags(page).found if tag == "figure"]
    assert set(drawn) == set(plot.HOW_TO_READ)
    for sentence in plot.HOW_TO_READ.values():
        assert sentence.replace("'", "&#39;") in page


def test_page_with_many_clusters_and_large_images_is_small():
    rng = np.random.default_rng(0)
    blocks = [rng.normal(size=(10, 2)) @ rng.normal(size=(2, 4800)) for _ in range(50)]
    views = {"a": np.vstack(blocks), "b": np.vstack(blocks)[:, :80]}
    model = viewspan.LRR(50, random_state=0).fit(views)
    ids = [f"a rather long name of sample {row}" for row in range(500)]
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
def test_page_of_every_kind_of_model(model):
    views, _ = many_subspaces(80)
    assert "Confidence of the labels" in html_report(model.set_params(random_state=0).fit(views))


def test_page_of_one_view_has_no_comparison_of_views(fitted):
    model = viewspan.LRR(5, random_state=0).fit(fitted[1]["plain"])
    page = html_report(model)
    assert "Similarity of the views" not in page and "1 view," in page


def test_too_few_names_raise(fitted):
    with pytest.raises(ValueError, match="ids must have one name for each of the 120 samples"):
        html_report(fitted[0], ids=["a"])


@pytest.mark.parametrize(
    ("model", "purpose"),
    [
        (viewspan.CLRSC(3), "noise in all values"),
        (viewspan.CLRSC(3, datafit="l1", tol=0.1), "outlying values"),
        (viewspan.MLAP(3, tol=0.1), "outlying samples"),
    ],
    ids=repr,
)
def test_the_method_is_described_by_its_data_fit(model, purpose):
    views, _ = many_subspaces(60)
    sentences = method_sentences(model.set_params(random_state=0).fit(views))
    assert f"with a data fit for {purpose}." in sentences


def test_an_object_that_was_not_saved_is_named():
    views, _ = many_subspaces(60)
    model = viewspan.CLRSC(3, random_state=0).fit(views)
    model.coupling = None  # as in a loaded model whose coupling had a foreign class
    assert "with a coupling of a class that was not saved." in method_sentences(model)


def test_certificate_names_the_gap(fitted):
    gap = percent(fitted[0].dual_gap_)
    assert f"proven to be within {gap} of its optimum" in certificate_sentence(fitted[0])


def test_certificate_of_a_closed_form(fitted):
    model = viewspan.LRR(5, random_state=0).fit(fitted[1])
    assert "(closed form)" in certificate_sentence(model)


def test_certificate_of_rank_one_coupling_is_not_convex(fitted):
    model = viewspan.CLRSC(5, coupling="rank_one", random_state=0).fit(fitted[1])
    assert "not convex" in certificate_sentence(model)


def test_certificate_of_an_early_stop_names_the_tolerance(fitted):
    model = viewspan.CLRSC(5, max_iter=1, tol=1e-3, random_state=0)
    with pytest.warns(ConvergenceWarning):
        model.fit(fitted[1])
    sentence = certificate_sentence(model)
    assert "(1 iteration)" in sentence
    assert "more than the requested tolerance of 0.10 %" in sentence


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (3.2e-5, "0.0032 %"),
        (0.5, "50 %"),
        (0.0, "0 %"),
        (0.0123, "1.2 %"),
        (4e-13, "0.00000001 %"),
    ],
)
def test_percent_has_two_significant_digits(share, text):
    assert percent(share) == text
