"""Links that lead to a file where the pages are read as they are, and to a page of ours where they are built."""

import re

from sphinx.application import Sphinx

FILES = {
    r"\]\(\.\./examples/(\w+)\.py\)": r"](gallery/\1.rst)",
    r"\]\(\.\./examples/?\)": "](gallery/index.rst)",
    r"\]\(\.\./CHANGELOG\.md\)": "](changelog.md)",
    r"\]\(\.\./CONTRIBUTING\.md\)": "](contributing.md)",
    r"\]\(\.\./SECURITY\.md\)": "](security.md)",
}


def rewrite(_app: Sphinx, _page: str, source: list[str]) -> None:
    for file, built in FILES.items():
        source[0] = re.sub(file, built, source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", rewrite)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
