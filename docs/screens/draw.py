"""Draw the pictures in this folder: ``python docs/screens/draw.py``, given chromium, chromium-driver and tmux.

The digits of ``viewspan demo`` are clustered from files in a terminal, whose screen is kept, and the report is opened
in a browser: on a desktop, on a phone, and in the dark.
"""

import io
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import SVG_EXPORT_THEME
from rich.text import Text
from selenium import webdriver

from viewspan.cli.demo import write_files

WIDTH = 110
HERE = Path(__file__).parent.resolve()
COMMAND = "viewspan cluster left.csv right.csv broken.csv --id digit -k 10 --labels truth.csv --image-shape 8x4 -o out"
PAGE = (
    "<!DOCTYPE html><meta charset='utf-8'><style>{stylesheet} body{{margin:0;background:#292929;color:#c5c8c6}}\
pre{{margin:0;padding:18px 22px;font:14px/1.35 'DejaVu Sans Mono',monospace;display:inline-block}}</style>\
<body><pre><code>{code}</code></pre></body>"
)


def main() -> None:
    """All of them."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write_files(Path())
        Path("terminal.html").write_text(recorded_run(), encoding="utf-8")
        browser = open_browser()
        shoot(browser, "terminal.html", "terminal.png", 1000)
        shoot(browser, "out/report.html", "report.png", 1180, height=1560)
        shoot(browser, "out/report.html", "report-dark.png", 1180, height=1560, dark=True)
        shoot(browser, "out/report.html", "report-phone.png", 390, height=1500)
        browser.quit()


def recorded_run() -> str:
    """What stands on the screen of a terminal after the command."""
    size = ("-x", str(WIDTH), "-y", "40")
    subprocess.run(
        ["tmux", "new-session", "-d", "-s", "screen", *size, "env", "PS1=$ ", "bash", "--norc"],
        check=True,
    )
    subprocess.run(["tmux", "send-keys", "-t", "screen", COMMAND, "Enter"], check=True)
    while not Path("out/run.json").exists():
        time.sleep(0.5)
    time.sleep(1.0)
    shown = subprocess.run(
        ["tmux", "capture-pane", "-e", "-p", "-t", "screen"],
        capture_output=True,
        text=True,
        check=True,
    )
    subprocess.run(["tmux", "kill-session", "-t", "screen"], check=True)
    console = Console(record=True, force_terminal=True, width=WIDTH, file=io.StringIO())
    console.print(Text.from_ansi(shown.stdout.rstrip().removesuffix("$").rstrip()))
    return console.export_html(theme=SVG_EXPORT_THEME, code_format=PAGE)


def open_browser() -> webdriver.Chrome:
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-dev-shm-usage",
        "--hide-scrollbars",
    ):
        options.add_argument(argument)
    return webdriver.Chrome(
        options=options, service=webdriver.ChromeService(shutil.which("chromedriver"))
    )


def shoot(
    browser: webdriver.Chrome,
    page: str,
    picture: str,
    width: int,
    height: int | None = None,
    *,
    dark: bool = False,
) -> None:
    """A picture of a page, whole or its top."""
    metrics = {
        "width": width,
        "height": height or 400,
        "deviceScaleFactor": 1,
        "mobile": width < 500,
    }
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    browser.get(Path(page).resolve().as_uri())
    if height is None:
        metrics["height"] = browser.execute_script("return document.documentElement.scrollHeight")
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    browser.save_screenshot(str(HERE / picture))


if __name__ == "__main__":
    main()
