"""Coordinates that are driven in place of the drives of a mechanism, so that no degree of freedom is left.

Each follows a cubic of time,  c0 + c1 s + c2 s^2 + c3 s^3  with s = t - t0,  whose coefficients are inputs.
So one preparation serves all motions, and the efforts of the drives are ordinary results.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bellcrank.analysis.freedoms import leading_coordinates
from bellcrank.assembly.model import Model
from bellcrank.assembly.state import State
from bellcrank.errors import Fault, MechanismError
from bellcrank.expression.expression import t
from bellcrank.mechanism.inputs import Input
from bellcrank.mechanism.mechanism import Mechanism

BEGIN: Final = "lead_time"
"""The input that is the time t0 of all cubics."""

_UNITS: Final = ("", "/s", "/s^2", "/s^3")


@dataclass(frozen=True)
class Lead:
    """A joint's coordinate that is driven in place of the mechanism's drives.

    name: of its drive. which: its number in the joint. unit: m or rad. number: among leads.
    """

    name: str
    joint: str
    which: int
    unit: str
    number: int

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the inputs of its cubic."""
        return tuple(f"lead_{self.number}_{power}" for power in range(4))

    def add_to(self, mechanism: Mechanism) -> None:
        """Give a mechanism its drive."""
        c = [Input(name, 0.0, self.unit + per) for name, per in zip(self.inputs, _UNITS, strict=True)]
        s = t - Input(BEGIN, 0.0, "s")
        place = c[0] + s * (c[1] + s * (c[2] + s * c[3]))
        mechanism.add_drive(self.name, joint=self.joint, coordinate=self.which, position=place)


def leads_of(model: Model, state: State) -> tuple[Lead, ...]:
    """The coordinates to drive so that nothing is free: those with drives and motors first.

    model: with its drives. Raises MechanismError where joint coordinates do not determine all motion.
    """
    drives = {one.coordinate: one.element for one in model.multipliers if one.kind == "drive"}
    motors = [one.coordinate for one in model.multipliers if one.kind == "motor"]
    motors += [
        int(model.arrays["law_coordinate"][law])
        for force in model.forces
        for law in force.laws
        if model.arrays["law_kind"][law] == "motor"
    ]
    found = leading_coordinates(model, state, (*drives, *motors))
    if found is None:
        rule = "its joints do not determine where all its bodies are, so nothing can lead it"
        raise MechanismError(Fault(f"mechanism {model.name!r}", rule, None, "hold what is free by joints"))
    leads: list[Lead] = []
    for number, coordinate in enumerate(found, start=1):
        joint = next(one for one in model.joints if coordinate in one.coordinates)
        which = joint.coordinates.index(coordinate)
        several = f" {joint.coordinate_names[which]}" if len(joint.coordinates) > 1 else ""
        name = drives.get(coordinate, joint.name + several)
        leads.append(Lead(name, joint.name, which, joint.units[which], number))
    return tuple(leads)
