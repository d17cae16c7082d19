"""Draw the pictures in this folder: ``PATH=.venv/bin:$PATH python docs/screens/draw.py``.

The script writes the digits of ``viewspan demo`` to files and clusters them in a terminal. It saves
a picture of the terminal, and pictures of the report on a desktop in light and dark mode and on a
phone. It needs chromium, chromium-driver and tmux.
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

TERMINAL_WIDTH = 110
HERE = Path(__file__).parent.resolve()
COMMAND = (
    "viewspan cluster left.csv right.csv broken.csv --id digit -k 10 --labels truth.csv "
    "--image-shape 8x4 -o out"
)
BROWSER_OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
)
TERMINAL_PAGE = """<!DOCTYPE html>
<meta charset="utf-8">
<style>
{stylesheet}
body {{ margin: 0; background: #292929; color: #c5c8c6 }}
pre {{
  margin: 0; padding: 18px 22px; display: inline-block;
  font: 14px/1.35 "DejaVu Sans Mono", monospace;
}}
</style>
<body><pre><code>{code}</code></pre></body>
"""


def main() -> None:
    """Draw all pictures."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        subprocess.run(["viewspan", "demo", "--out", "demo"], check=True, capture_output=True)
        os.chdir("demo/files")
        Path("terminal.html").write_text(record_terminal(), encoding="utf-8")
        browser = open_browser()
        try:
            save_picture(browser, "terminal.html", "terminal.png", 1000)
            save_picture(browser, "out/report.html", "report.png", 1180, height=1560)
            save_picture(
                browser, "out/report.html", "report-dark.png", 1180, height=1560, dark=True
            )
            save_picture(browser, "out/report.html", "report-phone.png", 390, height=1500)
        finally:
            browser.quit()
            os.chdir(HERE)


def record_terminal() -> str:
    """Run the command in a terminal and return the screen as HTML."""
    size = ("-x", str(TERMINAL_WIDTH), "-y", "40")
    shell = ("env", "PS1=$ ", "bash", "--norc")
    subprocess.run(["tmux", "new-session", "-d", "-s", "screen", *size, *shell], check=True)
    subprocess.run(["tmux", "send-keys", "-t", "screen", COMMAND, "Enter"], check=True)
    while not Path("out/run.json").exists():
        time.sleep(0.5)
    time.sleep(1.0)
    screen = subprocess.run(
        ["tmux", "capture-pane", "-e", "-p", "-t", "screen"],
        capture_output=True,
        text=True,
        check=True,
    )
    subprocess.run(["tmux", "kill-session", "-t", "screen"], check=True)
    console = Console(record=True, force_terminal=True, width=TERMINAL_WIDTH, file=io.StringIO())
    console.print(Text.from_ansi(screen.stdout.rstrip().removesuffix("$").rstrip()))
    return console.export_html(theme=SVG_EXPORT_THEME, code_format=TERMINAL_PAGE)


def open_browser() -> webdriver.Chrome:
    """Start a headless browser."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for option in BROWSER_OPTIONS:
        options.add_argument(option)
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    return webdriver.Chrome(options=options, service=service)


def save_picture(
    browser: webdriver.Chrome,
    page: str,
    picture: str,
    width: int,
    height: int | None = None,
    *,
    dark: bool = False,
) -> None:
    """Save a picture of the top of a page, or of the whole page if no height is given."""
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
