"""Quantities of a run by name, for studies: the columns of tables, and magnitudes of vectors."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.naming import nearest
from bellcrank.trajectory.columns import columns
from bellcrank.trajectory.store import FloatArray

if TYPE_CHECKING:
    from bellcrank.trajectory.trajectory import Trajectory

_WITH_UNIT: Final = re.compile(r"^(?P<name>.*?)(?: \[(?P<unit>[^\]]*)\])?$")
_MAGNITUDES: Final = {
    "force": ("joint", ("Fx", "Fy", "Fz")),
    "moment": ("joint", ("Mx", "My", "Mz")),
    "speed": ("body", ("vx", "vy", "vz")),
}
"""Names of magnitudes, the kind of element that has them, and the components."""


class Quantity(NamedTuple):
    """A recorded quantity: its name without the unit, its unit ("" for none), and its values (T,)."""

    name: str
    unit: str
    values: FloatArray


class UnknownQuantity(MechanismError):
    """A run records nothing of this name."""


def quantity(run: Trajectory, name: str) -> Quantity:
    """A quantity that a run recorded.

    name: of a column of `Trajectory.to_dict`, with or without its unit, such as "joint.pivot.theta_z"; or
        "energy.total"; or a magnitude: "joint.pivot.force", "joint.pivot.moment", "body.crank.speed". For an
            element with one effort, or only one quantity, its name is enough: "drive.motor".

        Raises UnknownQuantity, a MechanismError, with close matches for quantities that were not recorded.
    """
    text, unit = _parted(name)
    table = {_parted(column): values for column, values in columns(run, text).items()}
    table = {key: values for key, values in table.items() if not key[0].endswith(" unique")}
    _add_magnitude(table, text)
    if text == "energy.total":
        table[text, "J"] = run.energy.total
    found = [key for key in table if key[0] == text] or _of_element(list(table), text)
    if unit is not None:
        found = [key for key in found if key[1] == unit]
    if len(found) != 1:
        raise _unknown(run, name, [key[0] for key in found])
    return Quantity(found[0][0], found[0][1] or "", table[found[0]])


def _parted(column: str) -> tuple[str, str | None]:
    matched = _WITH_UNIT.match(column)
    assert matched is not None
    return matched["name"].strip(), matched["unit"]


def _add_magnitude(table: dict[tuple[str, str | None], FloatArray], name: str) -> None:
    element, _, last = name.rpartition(".")
    kind, components = _MAGNITUDES.get(last, ("", ()))
    if not element.startswith(f"{kind}.") or not kind:
        return
    parts = [
        (key, values) for key, values in table.items() if key[0] in [f"{element}.{c}" for c in components]
    ]
    if len(parts) == len(components):
        table[name, parts[0][0][1]] = np.linalg.norm([values for _, values in parts], axis=0)


def _of_element(known: list[tuple[str, str | None]], name: str) -> list[tuple[str, str | None]]:
    """The quantities of an element: only the efforts if there are others too."""
    of_it = [key for key in known if key[0].startswith(f"{name}.")]
    efforts = [key for key in of_it if key[0].endswith(".effort") or ".effort." in key[0]]
    return of_it if len(of_it) == 1 else efforts or of_it


def _unknown(run: Trajectory, name: str, several: list[str]) -> UnknownQuantity:
    if several:
        rule, advice = "this may be several quantities", f"name one of {', '.join(several[:8])}"
    else:
        known = [_parted(column)[0] for column in columns(run) if not column.endswith(" unique")]
        rule, advice = "the run records no quantity of this name", nearest(name, known)
    return UnknownQuantity(Fault(f"quantity {name!r}", rule, None, advice))
