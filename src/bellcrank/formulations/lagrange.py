"""The lagrange formulation: Lagrange multipliers in maximal coordinates, sparse LDL^T, projections.

Source: A. Tasora, An optimized Lagrangian-multiplier approach for interactive multibody simulation (2000).
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from bellcrank import _core
from bellcrank.compile.model import Model
from bellcrank.formulations.contract import ALL, option, options_of
from bellcrank.formulations.system import System

NAME = "lagrange"
CUSTOM = ALL


OPTIONS = options_of(
    __name__,
    _core.RefinedClosingOptions.fields(),
    planar=option(
        False, "Leave out the rows that hold a planar motion in its plane; refused if it is not planar."
    ),
)
SYSTEM = System


def refusals(_model: Model) -> list[str]:
    """The reasons why the formulation cannot take a model: there are none."""
    return []


def reduced(model: Model, options: Any) -> Model:
    """The model that is solved. Raises Unsupported if planar motion is requested and there is none."""
    if not options.planar:
        return model
    from bellcrank.compile.planar import planar_model

    return planar_model(model)


def create(model: Model, options: Any) -> _core.Lagrange:
    """The core's system of a model. Formulas run in the interpreter until their native code is ready."""
    if model.core.programs:
        from bellcrank.expression.native import attach_soon

        attach_soon(model.core.programs)
    settings = asdict(options)
    del settings["planar"]
    return _core.Lagrange(model.core, _core.RefinedClosingOptions(**settings))
