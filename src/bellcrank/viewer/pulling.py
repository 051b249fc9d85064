"""Dragging without dynamics: the nearest configuration in which points of bodies are where they are pulled.

Inverse kinematics with the drives of the mechanism held and those of a jog free. Constraints and limits are
satisfied, so the mechanism never comes apart; if a target is out of reach, the point comes as near as it can.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from bellcrank.analysis.inverse_kinematics import InverseKinematics
from bellcrank.assembly.compile import compile_mechanism
from bellcrank.assembly.state import Floats, State
from bellcrank.viewer.twin import Twin

_TOLERANCE: Final = 1e-8  # m
_STEPS: Final = 40


@dataclass(eq=False)
class Puller:
    """A twin without hands, prepared for inverse kinematics."""

    search: InverseKinematics

    @staticmethod
    def of(twin: Twin, state: State) -> Puller:
        """Of a twin, from a state on."""
        model = compile_mechanism(replace(twin, hands={}).mechanism(), state.time).started(state)
        if model.inputs:
            model = replace(model, core=model.core.copy())
        jogged = {lead.name for lead in twin.leads}  # which go where the bodies are dragged
        held = [drive.name for drive in model.drives if drive.name not in jogged]
        return Puller(InverseKinematics(model, held=held, tolerance=_TOLERANCE, steps=_STEPS, restarts=0))

    def pull(
        self, state: State, values: Mapping[str, float], targets: Mapping[str, tuple[Floats, Floats]]
    ) -> State:
        """The configuration near to a state, at rest, in which points come nearest to their targets.

        values: of inputs. targets: by body, a point (3,), m, in its frame, and a target (3,), m, world axes.
        Raises AssemblyError where the constraints cannot be met.
        """
        self.search.set_inputs(values)
        places = {(body, tuple(point.tolist())): target for body, (point, target) in targets.items()}
        if state.angles is not None and len(state.angles) != len(self.search.model.angular):
            state = replace(state, angles=None)
        return self.search.nearest(places, state).state
