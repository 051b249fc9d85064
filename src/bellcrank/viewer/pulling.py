"""Dragging without dynamics: the nearest configuration in which a point of a body is where it is pulled to.

The point's three equations  p + R a - target = 0  are added to the constraints, limits among them, and all
are solved together. Where they cannot all be met, for the target is out of reach, what comes closest is moved
onto the constraints alone: the mechanism never comes apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bellcrank import _core
from bellcrank.assembly.compile import compile_mechanism
from bellcrank.assembly.model import Model
from bellcrank.assembly.positions import Found, solve_positions
from bellcrank.assembly.state import Floats, State
from bellcrank.errors import AssemblyError
from bellcrank.expression.arrays import Vector
from bellcrank.mechanism.custom_elements import CustomConstraint
from bellcrank.mechanism.custom_ends import EndPose
from bellcrank.mechanism.inputs import Input
from bellcrank.viewer.twin import Twin

_PARTS = ("x", "y", "z", "at_x", "at_y", "at_z")
_NAMES = tuple(f"pointer_{part}" for part in _PARTS)


@dataclass(eq=False)
class Puller:
    """A twin with a pointer on one of its bodies, and alone."""

    led: Model
    alone: Model

    @staticmethod
    def of(twin: Twin, body: str, state: State) -> Puller:
        """The models of it, compiled."""
        mechanism = replace(twin, hands={}).mechanism()
        alone = compile_mechanism(mechanism, state.time).started(state)
        x, y, z, *at = (Input(name, 0.0, "m") for name in _NAMES)
        end = EndPose("body")
        equations = tuple(end.position + end.rotation @ Vector(at) - Vector(x, y, z))
        mechanism.add_constraint("pointer", CustomConstraint(end, equations), mechanism.bodies[body])
        return Puller(compile_mechanism(mechanism, state.time).started(state), alone)

    def pull(self, state: State, values: Mapping[str, float], point: Floats, target: Floats) -> State:
        """The configuration that is nearest to a state, at rest. Raises AssemblyError where none is found.

        values: of inputs. point: (3,), m, in the body's frame. target: (3,), m, world axes.
        """
        still = np.zeros_like(state.velocity)
        state = replace(state, velocity=still, angular_velocity=still)
        pointer = dict(zip(_NAMES, (*target.tolist(), *point.tolist()), strict=True))
        found = _solved(self.led, state, {**values, **pointer})
        if not found.met:
            found = _solved(self.alone, replace(found.state, angles=state.angles), values)
        if not found.met or not np.isfinite(found.state.position).all():
            raise AssemblyError("the mechanism cannot follow the pointer to there", [])
        return replace(found.state, angles=self._angles(found.state, state))

    def _angles(self, state: State, before: State) -> Floats | None:
        """The angles at a state, each within half a turn of what it was before."""
        if before.angles is None or len(before.angles) != len(self.alone.angular):
            return None
        turns = self.alone.coordinate_values(state)[self.alone.angular] - before.angles
        angles: Floats = before.angles + (turns + np.pi) % (2.0 * np.pi) - np.pi
        return angles


def _solved(model: Model, state: State, values: Mapping[str, float]) -> Found:
    model = (
        replace(model, core=model.core.copy(), initial=state)
        if model.inputs
        else replace(model, initial=state)
    )
    if model.inputs:
        listed = [values.get(one.name, one.value) for one in model.inputs]
        holder: Any = _core.Bodies(model.core)
        holder.set_inputs(model.core, listed)
    return solve_positions(model)
