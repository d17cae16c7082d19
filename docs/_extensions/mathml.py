"""Formulas as MathML, which browsers draw themselves: no script and no font has to be loaded for them."""

from typing import Any
from xml.etree import ElementTree

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx

NAMESPACE = "http://www.w3.org/1998/Math/MathML"
ElementTree.register_namespace("", NAMESPACE)


BARS = {"|", "\u2016", "\u2225"}
BELOW = {"min", "max"}


def inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(drawn(node.astext(), "inline"))
    raise nodes.SkipNode


def block(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(f'<div class="formula">{drawn(node.astext(), "block")}</div>\n')
    raise nodes.SkipNode


def drawn(formula: str, display: str) -> str:
    """The converter's answer, with bars alike on both sides, and what is minimised over below the word."""
    tree = ElementTree.fromstring(convert(formula, display=display))
    for element in tree.iter():
        if element.tag == f"{{{NAMESPACE}}}mo" and element.text in BARS:
            element.attrib |= {"stretchy": "false", "lspace": "0", "rspace": "0"}
        if (
            element.tag == f"{{{NAMESPACE}}}msub"
            and element[0].text in BELOW
            and display == "block"
        ):
            element.tag = f"{{{NAMESPACE}}}munder"
    return ElementTree.tostring(tree, encoding="unicode")


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
