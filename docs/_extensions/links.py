"""Replace links to files of the repository by links to the pages that are built from them.

The Markdown pages are also read in the repository, so they link to files such as
``../CHANGELOG.md``. In the built documentation, these links lead to pages.
"""

import re

from sphinx.application import Sphinx

PAGE_OF_FILE = {
    r"\]\(\.\./examples/(\w+)\.py\)": r"](gallery/\1.rst)",
    r"\]\(\.\./examples/?\)": "](gallery/index.rst)",
    r"\]\(\.\./CHANGELOG\.md\)": "](changelog.md)",
    r"\]\(\.\./CONTRIBUTING\.md\)": "](contributing.md)",
    r"\]\(\.\./SECURITY\.md\)": "](security.md)",
}


def replace_links(_app: Sphinx, _page: str, source: list[str]) -> None:
    """Replace the links in the source of one page."""
    for file, page in PAGE_OF_FILE.items():
        source[0] = re.sub(file, page, source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.connect("source-read", replace_links)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
