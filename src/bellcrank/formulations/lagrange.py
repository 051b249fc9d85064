"""The lagrange formulation: Lagrange multipliers in maximal coordinates, sparse LDL^T, projections.

Source: A. Tasora, An optimized Lagrangian-multiplier approach for interactive multibody simulation (2000).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from bellcrank import _core
from bellcrank.compile.model import Model
from bellcrank.formulations.options import ALL, option
from bellcrank.formulations.system import System

NAME = "lagrange"
CUSTOM = ALL


@dataclass(frozen=True)
class LagrangeOptions:
    """Options of the lagrange formulation; the metadata of each field hold its meaning and unit."""

    rank_tolerance: float = option(
        1e-10, "A row whose pivot falls below this part of its own diagonal entry is redundant."
    )
    position_tolerance: float = option(1e-13, "Largest constraint error after a projection.", "m or rad/2")
    stage_pivot: float = option(
        1e-2, "Smallest relative pivot below which the stages of a step are projected."
    )
    doubt: float = option(
        10.0, "Angle between rows, in rotations of a correction, beyond which they are not compared."
    )
    contact_tolerance: float = option(1e-8, "Gap of a stop that counts as closed.", "m or rad")
    rest_speed: float = option(
        1e-3, "Approach speed below which a stop does not bounce.", "m/s or rad/s", 0.0
    )
    max_corrections: int = option(25, "Position corrections before a projection gives up.", least=1)
    refinements: int = option(
        -1, "Steps of iterative refinement in a solve; -1: by the mass ratio.", least=-1
    )
    planar: bool = option(
        False, "Leave out the rows that hold a planar motion in its plane; refused if it is not planar."
    )


OPTIONS = LagrangeOptions
SYSTEM = System


def refusals(_model: Model) -> list[str]:
    """The reasons why the formulation cannot take a model: there are none."""
    return []


def reduced(model: Model, options: LagrangeOptions) -> Model:
    """The model that is solved. Raises Unsupported if planar motion is requested and there is none."""
    if not options.planar:
        return model
    from bellcrank.compile.planar import planar_model

    return planar_model(model)


def create(model: Model, options: LagrangeOptions) -> _core.Lagrange:
    """The core's system of a model. Formulas run in the interpreter until their native code is ready."""
    if model.core.programs:
        from bellcrank.expression.native import attach_soon

        attach_soon(model.core.programs)
    settings = asdict(options)
    del settings["planar"]
    return _core.Lagrange(model.core, **settings)
