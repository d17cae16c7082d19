"""The report in a browser: errors, network requests, layout, tooltips and printing."""

import json

import numpy as np
import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By

import viewspan
from tests.problems import many_subspaces
from viewspan.report import html_report

DESKTOP, PHONE = (1280, 900), (390, 844)
CENTRE_SCRIPT = """
const box = arguments[0].getBoundingClientRect();
return [box.x + box.width / 2, box.y + box.height / 2];
"""
SCROLL_SCRIPT = """
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


def open_page(browser, page, size, scheme="light"):
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


def requested_urls(browser):
    """Return the URLs that were requested since the last call, without inline data."""
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    urls = [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    ]
    return [url for url in urls if not url.startswith("data:")]


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_page_has_no_errors_and_makes_no_requests(browser, page, size):
    browser.get_log("performance")
    browser.get_log("browser")
    open_page(browser, page, size)
    assert browser.get_log("browser") == []
    assert requested_urls(browser) == [page[0].as_uri()]


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_page_and_tables_are_not_wider_than_the_screen(browser, page, size):
    open_page(browser, page, size)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= size[0]
    cut = (
        "return [...document.querySelectorAll('.scroll')].map((x) => x.scrollWidth - x.clientWidth)"
    )
    assert max(browser.execute_script(cut)) <= 0


@pytest.mark.parametrize("plot", ["embedding", "edge_shares"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_tooltip_shows_the_sample_of_a_dot(browser, page, plot, size):
    """Use isolated dots, for which only one sample can be shown."""
    _, model, ids = page
    open_page(browser, page, size)
    dots = browser.find_elements(By.CSS_SELECTOR, f"figure.{plot} g[id$='points'] use")
    centres = np.array([browser.execute_script(CENTRE_SCRIPT, dot) for dot in dots])
    assert len(centres) == 60
    distances = np.linalg.norm(centres[:, None] - centres[None], axis=2) + 1e9 * np.eye(60)
    isolated = np.argsort(-distances.min(axis=1))[:3]
    assert distances[isolated].min() > 2
    tip = browser.find_element(By.ID, "tip")
    assert not tip.is_displayed()
    for row in isolated:
        browser.execute_async_script(SCROLL_SCRIPT, dots[row])
        ActionChains(browser).move_to_element(dots[row]).perform()
        confidence = f"{model.confidence_[row]:.2f}"
        assert tip.text == f"{ids[row]} · cluster {model.labels_[row]} · confidence {confidence}"


def test_background_is_dark_in_dark_mode_and_white_in_print(browser, page):
    open_page(browser, page, DESKTOP, "dark")
    background = "return getComputedStyle(document.body).backgroundColor"
    assert browser.execute_script(background) == "rgb(17, 20, 24)"
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": []})
    assert browser.execute_script(background) == "rgb(255, 255, 255)"


def test_page_can_be_printed(browser, page):
    open_page(browser, page, DESKTOP)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
    printed = browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
    assert len(printed["data"]) > 50_000
