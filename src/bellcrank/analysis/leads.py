"""Coordinates that are driven in place of the drives of a mechanism, so that no degree of freedom is left.

Each follows a cubic of time,  c0 + c1 s + c2 s^2 + c3 s^3  with s = t - t0,  whose coefficients are inputs.
So one preparation serves all motions, and the efforts of the drives are ordinary results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bellcrank.analysis.freedoms import leading_coordinates
from bellcrank.assembly.model import Model
from bellcrank.assembly.state import State
from bellcrank.errors import Fault, MechanismError
from bellcrank.expression.expression import t
from bellcrank.mechanism.coordinate import MIRRORED, coordinate_kind, unit_of
from bellcrank.mechanism.drive import Drive
from bellcrank.mechanism.input import Input
from bellcrank.mechanism.mechanism import Mechanism

BEGIN: Final = "lead_time"
"""The input that is the time t0 of all cubics."""

_UNITS: Final = ("", "/s", "/s^2", "/s^3")


@dataclass(frozen=True)
class Lead:
    """A joint's coordinate that is driven in place of the mechanism's drives.

    name: of its drive. which: its number in the joint, or its name if it is none of the joint's free ones.
    unit: m or rad. number: among leads.
    """

    name: str
    joint: str
    which: int | str
    unit: str
    number: int

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the inputs of its cubic."""
        return tuple(f"lead_{self.number}_{power}" for power in range(4))

    def coordinate(self, model: Model) -> int:
        """Its number in a model that has this lead's drive."""
        if isinstance(self.which, int):
            return model.joint(self.joint).coordinates[self.which]
        return next(
            one.coordinate for one in model.multipliers if one.kind == "drive" and one.element == self.name
        )

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
    places = _places(model)
    found = leading_coordinates(
        model, state, tuple(_driven(model)), _with_motors(model, places), tuple(places)
    )
    if found is None:
        rule = "its joints do not determine where all its bodies are, so nothing can lead it"
        raise MechanismError(Fault(f"mechanism {model.name!r}", rule, None, "hold what is free by joints"))
    return _numbered(places, found)


def suppliers(model: Model, state: State) -> tuple[Lead, ...]:
    """The coordinates that supply the efforts of a motion: all that have drives, then what lacks one.

    That is what motors drive, or joints that turn or slide along axes of their own, those with fewest
    coordinates first. Raises MechanismError with the coordinates that nothing drives if that is not enough.
    """
    places, drives = _places(model), tuple(_driven(model))
    turning = [joint for joint in model.joints if all(_along_axes(name) for name in joint.coordinate_names)]
    turning.sort(key=lambda joint: len(joint.coordinates))
    axes = tuple(coordinate for joint in turning for coordinate in joint.coordinates)
    found = leading_coordinates(model, state, drives, _with_motors(model, places), axes, tuple(places))
    able = {*drives, *_with_motors(model, places), *axes}
    if found is None or not able.issuperset(found):
        lacking = [places[one].text for one in found or () if one not in able]
        rule = "its drives and motors do not supply all efforts of the motion"
        advice = f"add drives: nothing moves {', '.join(lacking)}" if lacking else "add drives to its joints"
        raise MechanismError(Fault(f"mechanism {model.name!r}", rule, None, advice))
    return _numbered(places, tuple(dict.fromkeys((*drives, *found))))


@dataclass(frozen=True)
class _Place:
    """A coordinate of the model among those of joints, and what messages and drives call it."""

    name: str
    joint: str
    which: int | str
    unit: str
    text: str


def _driven(model: Model) -> dict[int, str]:
    """The coordinates of joints that have drives, and the drives' names."""
    known = model.source.drives if model.source is not None else {}
    return {
        one.coordinate: one.element
        for one in model.multipliers
        if one.kind == "drive" and isinstance(known.get(one.element), Drive)
    }


def _places(model: Model) -> dict[int, _Place]:
    """Driven coordinates, which need not be free ones of their joints, and all free ones."""
    places, drives = dict[int, _Place](), _driven(model)
    for joint in model.joints:
        for which, (coordinate, own, unit) in enumerate(
            zip(joint.coordinates, joint.coordinate_names, joint.units, strict=True)
        ):
            several = f" {own}" if len(joint.coordinates) > 1 else ""
            name = drives.get(coordinate, joint.name + several)
            places[coordinate] = _Place(name, joint.name, which, unit, joint.coordinate_text(which))
    for coordinate, name in drives.items():
        if coordinate in places or model.source is None:
            continue
        drive = model.source.drives[name]
        if isinstance(drive, Drive):
            of = model.source.joints[drive.coordinate.joint]
            own = of.coordinate_name(drive.coordinate.coordinate)
            text = f"joint {of.name!r} ({own})"
            places[coordinate] = _Place(name, of.name, own, unit_of(of.kind, own), text)
    return places


def _with_motors(model: Model, places: Mapping[int, _Place]) -> tuple[int, ...]:
    """The coordinates of joints that motors drive."""
    motors = [one.coordinate for one in model.multipliers if one.kind == "motor"]
    motors += [
        int(model.arrays["law_coordinate"][law])
        for force in model.forces
        for law in force.laws
        if model.arrays["law_kind"][law] == "motor"
    ]
    return tuple(one for one in motors if one in places)


def _along_axes(name: str) -> bool:
    """Whether a coordinate turns or slides along an axis of a joint; those of formulas may."""
    base = name.removeprefix(MIRRORED)
    return (
        base in ("x", "y", "z") or base.startswith(("theta_", "universal_")) or coordinate_kind(name) is None
    )


def _numbered(places: Mapping[int, _Place], found: Sequence[int]) -> tuple[Lead, ...]:
    chosen = [places[coordinate] for coordinate in found]
    return tuple(Lead(one.name, one.joint, one.which, one.unit, k) for k, one in enumerate(chosen, start=1))
