"""The page in a browser: no error, no request, and pointing at a dot tells whose it is."""

import json

import numpy as np
import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By

import viewspan
from tests.problems import many_subspaces
from viewspan.report import html_report

DESKTOP, PHONE = (1280, 900), (390, 844)
CENTRE = "const box = arguments[0].getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]"
SCROLL = """
const done = arguments[1];
arguments[0].scrollIntoView({block: "center"});
requestAnimationFrame(() => requestAnimationFrame(done));
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    views, _ = many_subspaces(60)
    model = viewspan.CLRSC(5, random_state=0).fit({"radar <b>": views[0], "optical": views[1]})
    path = tmp_path_factory.mktemp("page") / "report.html"
    ids = [f"<i>sample</i> {row}" for row in range(60)]
    path.write_text(
        html_report(model, ids=ids, command="viewspan cluster a.csv b.csv"), encoding="utf-8"
    )
    return path, model, ids


def shown_at(browser, page, size, scheme="light"):
    width, height = size
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": size == PHONE},
    )
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"features": [{"name": "prefers-color-scheme", "value": scheme}]},
    )
    browser.get(page[0].as_uri())


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_no_error_and_no_request(browser, page, size):
    browser.get_log("performance")
    browser.get_log("browser")
    shown_at(browser, page, size)
    assert browser.get_log("browser") == []
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    ]
    assert [url for url in asked if not url.startswith("data:")] == [page[0].as_uri()]


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_nothing_is_wider_than_the_screen(browser, page, size):
    shown_at(browser, page, size)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= size[0]


@pytest.mark.parametrize("picture", ["embedding", "ties"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_pointing_at_a_dot_tells_whose_it_is(browser, page, picture, size):
    """At dots with no other near them, so that there is one right answer."""
    _, model, ids = page
    shown_at(browser, page, size)
    dots = browser.find_elements(By.CSS_SELECTOR, f"figure.{picture} g[id$='points'] use")
    centres = np.array([browser.execute_script(CENTRE, dot) for dot in dots])
    assert len(centres) == 60
    distances = np.linalg.norm(centres[:, None] - centres[None], axis=2) + 1e9 * np.eye(60)
    alone = np.argsort(-distances.min(axis=1))[:3]
    assert distances[alone].min() > 2
    tip = browser.find_element(By.ID, "tip")
    assert not tip.is_displayed()
    for row in alone:
        browser.execute_async_script(SCROLL, dots[row])
        ActionChains(browser).move_to_element(dots[row]).perform()
        sure = f"{model.confidence_[row]:.2f}"
        assert tip.text == f"{ids[row]} · cluster {model.labels_[row]} · confidence {sure}"


def test_dark_is_dark_and_paper_is_white(browser, page):
    shown_at(browser, page, DESKTOP, "dark")
    background = "return getComputedStyle(document.body).backgroundColor"
    assert browser.execute_script(background) == "rgb(17, 20, 24)"
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": []})
    assert browser.execute_script(background) == "rgb(255, 255, 255)"


def test_it_prints(browser, page):
    shown_at(browser, page, DESKTOP)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
    printed = browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
    assert len(printed["data"]) > 50_000
