"""bellcrank: multibody dynamics of mechanisms. Describe, assemble, simulate, look.

The public names are listed in the stub ``__init__.pyi`` and loaded when first used, so that
``import bellcrank`` stays quick.
"""

from importlib import import_module as _import_module

from bellcrank.publishing import publish

__version__ = "0.1.0"
__all__ = ["__version__", *publish(__name__)]  # noqa: PLE0604  (all strings, by the annotation)
_import_module("bellcrank.facade")  # by its name: it lies above rooms that use this package as a user does
