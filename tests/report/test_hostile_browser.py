"""Hostile names in a browser: they are shown as text, run no code and fit on the page."""

import numpy as np
import pytest

import viewspan
from tests.hostile_names import NAMES
from tests.problems import many_subspaces
from tests.report.test_browser import DESKTOP, PHONE, open_page, requested_urls
from viewspan._utils.text import visible
from viewspan.report import html_report

TOO_WIDE_SCRIPT = """
const elements = [...document.querySelectorAll("h1, h2, p, li, pre, figure, section, dl")];
const wide = elements.filter((one) => one.getBoundingClientRect().right > window.innerWidth + 1);
return wide.map((one) => one.outerHTML.slice(0, 200));
"""
HOVER_SCRIPT = """
const svg = document.querySelector("figure.embedding svg");
const data = JSON.parse(document.getElementById("points").textContent);
const [x, y] = data.positions.embedding[arguments[0]];
const pointer = new DOMPoint(x, y).matrixTransform(svg.getScreenCTM());
svg.dispatchEvent(new PointerEvent("pointermove", {clientX: pointer.x, clientY: pointer.y}));
return [document.getElementById("tip").textContent, document.querySelector("#tip bdi").textContent];
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    views, _ = many_subspaces(2 * len(NAMES))
    rng = np.random.default_rng(0)
    names = list(NAMES.values())
    named = {name: views[0] + 0.4 * rng.normal(size=views[0].shape) for name in names}
    model = viewspan.LRR(5, random_state=0).fit(named)
    ids = [f"{name}{row}" for row in (1, 2) for name in names]
    shapes = {NAMES["long"]: (4, 5), NAMES["script"]: (4, 5)}
    text = html_report(
        model,
        ids=ids,
        views=named,
        image_shapes=shapes,
        notes=names,
        command=" ".join(names),
        scores={names[0]: 0.5},
    )
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(text, encoding="utf-8")
    return path, model, ids


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_names_run_no_code_and_make_no_requests(browser, page, size):
    browser.get_log("performance")
    browser.get_log("browser")
    open_page(browser, page, size)
    for number in range(len(page[2])):
        browser.execute_script(HOVER_SCRIPT, number)
    assert browser.get_log("browser") == []
    assert browser.title == "50 samples, 25 views, 5 clusters · viewspan"
    assert requested_urls(browser) == [page[0].as_uri()]


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_long_names_fit_on_the_page(browser, page, size):
    open_page(browser, page, size)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= size[0]
    assert browser.execute_script(TOO_WIDE_SCRIPT) == []
    # long words are broken, not cut off
    cut = "const ul = document.querySelector('.notes ul'); return ul.scrollWidth - ul.clientWidth"
    assert browser.execute_script(cut) <= 0


def test_names_are_shown_as_text(browser, page):
    open_page(browser, page, DESKTOP)
    notes = browser.execute_script(
        "return [...document.querySelectorAll('.notes li')].map((one) => one.textContent)"
    )
    assert notes == [visible(name, keep="\n\t") for name in NAMES.values()]
    views = browser.execute_script(
        "return [...document.querySelectorAll('td bdi')].map((one) => one.textContent)"
    )
    assert set(notes) <= set(views)


def test_tooltips_show_hostile_names(browser, page):
    open_page(browser, page, DESKTOP)
    tips = [browser.execute_script(HOVER_SCRIPT, number) for number in range(len(page[2]))]
    names = {name for _, name in tips}
    assert visible(f"{NAMES['script']}1")[:30] in {name[:30] for name in names}
    assert all(text.startswith(name) and " · cluster " in text[len(name) :] for text, name in tips)
