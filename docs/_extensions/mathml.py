"""Write formulas as MathML, which browsers draw without scripts and without extra fonts."""

from typing import Any
from xml.etree import ElementTree

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx

NAMESPACE = "http://www.w3.org/1998/Math/MathML"
ElementTree.register_namespace("", NAMESPACE)

VERTICAL_BARS = {"|", "\u2016", "\u2225"}
OPERATORS_WITH_LIMITS_BELOW = {"min", "max"}


def visit_inline(writer: Any, node: nodes.math) -> None:
    """Write a formula within a line."""
    writer.body.append(to_mathml(node.astext(), "inline"))
    raise nodes.SkipNode


def visit_block(writer: Any, node: nodes.math_block) -> None:
    """Write a formula on a line of its own, in a box that can scroll."""
    writer.body.append(f'<div class="formula">{to_mathml(node.astext(), "block")}</div>\n')
    raise nodes.SkipNode


def to_mathml(formula: str, display: str) -> str:
    """Return a LaTeX formula as MathML.

    The converter is corrected in two points: bars of norms have the same size on both sides, and
    the variables of min and max stand below the word in displayed formulas.
    """
    tree = ElementTree.fromstring(convert(formula, display=display))
    for element in tree.iter():
        if element.tag == f"{{{NAMESPACE}}}mo" and element.text in VERTICAL_BARS:
            element.attrib |= {"stretchy": "false", "lspace": "0", "rspace": "0"}
        if display == "block" and has_limits_below(element):
            element.tag = f"{{{NAMESPACE}}}munder"
    return ElementTree.tostring(tree, encoding="unicode")


def has_limits_below(element: ElementTree.Element) -> bool:
    """Whether the element is min or max with a subscript."""
    is_subscript = element.tag == f"{{{NAMESPACE}}}msub"
    return is_subscript and element[0].text in OPERATORS_WITH_LIMITS_BELOW


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
