"""Hostile names in a browser: nothing runs, nothing is asked for, and the words are there, within the page."""

import json

import numpy as np
import pytest

import viewspan
from tests.hostile_names import NAMES
from tests.problems import many_subspaces
from tests.report.test_browser import DESKTOP, PHONE, shown_at
from viewspan._utils.text import visible
from viewspan.report import html_report

WIDER = """
const wide = [...document.querySelectorAll("h1, h2, p, li, pre, figure, section, dl")];
const beyond = wide.filter((one) => one.getBoundingClientRect().right > window.innerWidth + 1);
return beyond.map((one) => one.outerHTML.slice(0, 200));
"""
POINT = """
const svg = document.querySelector("figure.embedding svg");
const data = JSON.parse(document.getElementById("points").textContent);
const [x, y] = data.places.embedding[arguments[0]];
const place = new DOMPoint(x, y).matrixTransform(svg.getScreenCTM());
svg.dispatchEvent(new PointerEvent("pointermove", {clientX: place.x, clientY: place.y}));
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
def test_nothing_runs_and_nothing_is_asked_for(browser, page, size):
    browser.get_log("performance")
    browser.get_log("browser")
    shown_at(browser, page, size)
    for number in range(len(page[2])):
        browser.execute_script(POINT, number)
    assert browser.get_log("browser") == []
    assert browser.title == "50 samples, 25 views, 5 clusters · viewspan"
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    ]
    assert [url for url in asked if not url.startswith("data:")] == [page[0].as_uri()]


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_nothing_leaves_the_page(browser, page, size):
    shown_at(browser, page, size)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= size[0]
    assert browser.execute_script(WIDER) == []
    across = "const list = document.querySelector('.notes ul'); return list.scrollWidth - list.clientWidth"
    assert browser.execute_script(across) <= 0  # a long word is broken, not hidden


def test_names_are_there_as_words(browser, page):
    shown_at(browser, page, DESKTOP)
    notes = browser.execute_script(
        "return [...document.querySelectorAll('.notes li')].map((one) => one.textContent)"
    )
    assert notes == [visible(name, keep="\n\t") for name in NAMES.values()]
    views = browser.execute_script(
        "return [...document.querySelectorAll('td bdi')].map((one) => one.textContent)"
    )
    assert set(notes) <= set(views)


def test_pointing_tells_a_hostile_name(browser, page):
    shown_at(browser, page, DESKTOP)
    told = [browser.execute_script(POINT, number) for number in range(len(page[2]))]
    names = {name for _, name in told}
    assert visible(f"{NAMES['script']}1")[:30] in {name[:30] for name in names}
    assert all(text.startswith(name) and " · cluster " in text[len(name) :] for text, name in told)
