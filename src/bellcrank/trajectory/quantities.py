"""Quantities of a run by name, for studies: the columns of tables, and magnitudes of vectors."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.checking import nearest
from bellcrank.trajectory.columns import Quantity, recorded

if TYPE_CHECKING:
    from bellcrank.trajectory.trajectory import Trajectory

_WITH_UNIT: Final = re.compile(r"^(?P<name>.*?)(?: \[(?P<unit>[^\]]*)\])?$")
_MAGNITUDES: Final = {
    "force": ("joint", ("Fx", "Fy", "Fz")),
    "moment": ("joint", ("Mx", "My", "Mz")),
    "speed": ("body", ("vx", "vy", "vz")),
}
"""Names of magnitudes, the kind of element that has them, and the components."""


class UnknownQuantity(MechanismError):
    """A run records nothing of this name."""


def quantity(run: Trajectory, name: str) -> Quantity:
    """A quantity that a run recorded.

    name: of a column of `Trajectory.to_dict`, with or without its unit, such as "joint.pivot.theta_z"; or
        "energy.total"; or a magnitude: "joint.pivot.force", "joint.pivot.moment", "body.crank.speed". For an
            element with one effort, or only one quantity, its name is enough: "drive.motor".

        Raises UnknownQuantity, a MechanismError, with close matches for quantities that were not recorded.
    """
    asked = _WITH_UNIT.match(name)
    assert asked is not None
    text, unit = asked["name"].strip(), asked["unit"]
    table = list({one.title: one for one in recorded(run, text) if not one.flags}.values())
    table += _magnitude(table, text)
    if text == "energy.total":
        table.append(Quantity(text, "J", run.energy.total))
    found = [one for one in table if one.name == text] or _of_element(table, text)
    if unit is not None:
        found = [one for one in found if one.unit == unit]
    if len(found) != 1:
        raise _unknown(run, name, [one.name for one in found])
    return found[0]


def _magnitude(table: list[Quantity], name: str) -> list[Quantity]:
    """The magnitude of this name, if its components are in the table."""
    element, _, last = name.rpartition(".")
    kind, components = _MAGNITUDES.get(last, ("", ()))
    if not element.startswith(f"{kind}.") or not kind:
        return []
    parts = [one for one in table if one.name in [f"{element}.{c}" for c in components]]
    if len(parts) != len(components):
        return []
    return [Quantity(name, parts[0].unit, np.linalg.norm([one.values for one in parts], axis=0))]


def _of_element(table: list[Quantity], name: str) -> list[Quantity]:
    """The quantities of an element: only the efforts if there are others too."""
    of_it = [one for one in table if one.name.startswith(f"{name}.")]
    efforts = [one for one in of_it if one.name.endswith(".effort") or ".effort." in one.name]
    return of_it if len(of_it) == 1 else efforts or of_it


def _unknown(run: Trajectory, name: str, several: list[str]) -> UnknownQuantity:
    if several:
        rule, advice = "this may be several quantities", f"name one of {', '.join(several[:8])}"
    else:
        known = [one.name for one in recorded(run) if not one.flags]
        rule, advice = "the run records no quantity of this name", nearest(name, known)
    return UnknownQuantity(Fault(f"quantity {name!r}", rule, None, advice))
