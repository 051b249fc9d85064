"""Mechanisms ready to use: linkages, parallel and serial robots, pendulums, tops, families of any size.

Every function returns a new `Mechanism`, which may be changed further; `catalogue()` lists them. The names
stand in the stub ``__init__.pyi`` and are loaded when first used.
"""

from bellcrank.publishing import publish

__all__ = publish(__name__)  # noqa: PLE0605  (all strings, by the annotation)
