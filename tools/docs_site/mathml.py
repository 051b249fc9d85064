"""Formulae as MathML, made when the site is built: pages need neither scripts nor fonts from elsewhere."""

from __future__ import annotations

import re
from typing import Any, Final

from docutils.nodes import SkipNode
from latex2mathml.converter import convert

_TAG: Final = re.compile(r"\s*\\tag\{([^}]*)\}")


def formula(latex: str, display: str) -> str:
    """The MathML of a formula."""
    return str(convert(latex, display=display))


def inline(translator: Any, node: Any) -> None:
    """Write a formula within a line."""
    translator.body.append(formula(node.astext(), "inline"))
    raise SkipNode


def block(translator: Any, node: Any) -> None:
    """Write a formula on a line of its own, with its number at the right."""
    latex = node.astext()
    numbers = " ".join(f"({number})" for number in _TAG.findall(latex))
    shown = formula(_TAG.sub("", latex), "block")
    translator.body.append(f'<div class="formula">{shown}<span class="number">{numbers}</span></div>\n')
    raise SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Make it known to Sphinx."""
    app.add_html_math_renderer("mathml", inline_renderers=(inline, None), block_renderers=(block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
