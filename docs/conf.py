"""Settings of Sphinx for ``make docs``.

Nothing is downloaded, neither during the build nor by the pages.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

import viewspan

project = "viewspan"
author = "The viewspan developers"
copyright = f"2026, {author}"  # noqa: A001 (Sphinx's name)
version = release = viewspan.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "sphinx_copybutton",
    "mathml",
    "links",
]
exclude_patterns = ["_build", "_extensions", "examples"]
templates_path = ["_templates"]
highlight_language = "none"  # every code block names its language
nitpicky = False

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings describe the types
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # the templates list the methods

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "gallery.BasicExamplesFirst",
    "doc_module": ("viewspan",),
    "backreferences_dir": "gallery/backreferences",
    "remove_config_comments": True,
    "write_computation_times": False,
    "show_memory": False,
    "show_signature": False,
    "image_srcset": ["2x"],
    "download_all_examples": False,
    "abort_on_example_error": True,
    "reset_modules": ("matplotlib", "gallery.raise_on_warnings"),
}

html_theme = "pydata_sphinx_theme"
html_title = "viewspan"
html_favicon = "_static/icon.svg"
html_static_path = ["_static"]
html_css_files = ["viewspan.css"]
html_copy_source = False
html_show_sourcelink = False
html_math_renderer = "mathml"
html_theme_options = {
    "navbar_align": "left",
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "header_links_before_dropdown": 7,
}
# These pages belong to no section, so they have no section navigation.
html_sidebars = {page: [] for page in ("index", "quick-start", "theory")}
html_context = {"default_mode": "auto"}
