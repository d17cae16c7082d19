"""HTML report of a fitted model."""

from viewspan._utils.optional import require

require("matplotlib", "cli", purpose="viewspan.report")
require("jinja2", "cli", purpose="viewspan.report")

from viewspan.report.page import html_report  # noqa: E402

__all__ = ["html_report"]
