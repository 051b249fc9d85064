"""How the load of a timing belt is shared by the teeth in the arc of a wheel."""

from __future__ import annotations

from math import pi
from typing import TYPE_CHECKING

import numpy as np

from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.contents import with_numbers
from bellcrank.mechanism.timing_belts import TimingBelt
from bellcrank.slips import answered
from bellcrank.trajectory.store import FloatArray

if TYPE_CHECKING:
    from bellcrank.trajectory.trajectory import Trajectory


@answered
def tooth_loads(run: Trajectory, name: str, wheel: int) -> FloatArray:
    """The loads (T, n) on the teeth of a timing belt in the arc of one wheel, N, positive along the belt.

    name: of a force of kind TimingBelt. wheel: its place among the ends, from 1. The teeth are counted from
    where the belt arrives, half a pitch from there; those beyond where it leaves are NaN. The load at a
    distance s from there, of an arc of the length b, is  (F0 sinh a(b-s) + F1 sinh as)/sinh ab,  a the root
    of the teeth's stiffness by length over E A.

    Raises MechanismError for another force, and for an end without teeth.

    >>> kind = bc.TimingBelt((20, 40), 0.005, 2e5, 4e5, pretension=300.0, damping=2e4)
    >>> belt = shafts.add_force("belt", kind, "input shaft", "output shaft")
    >>> drive = shafts.add_drive("drive", "input", velocity=6.0)
    >>> load = shafts.add_force("load", bc.JointMotor(-3.0), "output")
    >>> run = bc.simulate(shafts, 30.0)
    >>> print(bc.tooth_loads(run, "belt", 1)[-1].round(1))
    [-10.3  -9.9  -9.6  -9.5  -9.4  -9.4  -9.5  -9.7 -10.  -10.4]
    """
    history = run.force(name)
    mechanism = with_numbers(history.origin.mechanism)
    kind = mechanism.forces[name].kind if name in mechanism.forces else None
    if not isinstance(kind, TimingBelt):
        raise MechanismError(Fault(f"force {name!r}", "only a TimingBelt has teeth", type(kind).__name__))
    toothed = [k + 1 for k, n in enumerate(kind.teeth) if n]
    if wheel not in toothed:
        rule, advice = "there is no wheel with teeth at this end", f"such as {toothed[0]}"
        raise MechanismError(Fault(f"force {name!r}", rule, wheel, advice))
    pitch = float(kind.pitch)
    arc = history.quantity(f"wrap {wheel}") * abs(kind.teeth[wheel - 1]) * pitch / (2.0 * pi)
    first, last = (history.quantity(f"{which} {wheel}")[:, None] for which in ("arriving", "leaving"))
    count = int(np.floor(np.max(arc, initial=0.0) / pitch + 0.5))
    along = np.where((s := pitch * (np.arange(count) + 0.5)) <= arc[:, None], s, np.nan)
    left, rate = arc[:, None] - along, np.sqrt(kind.tooth_stiffness / pitch / kind.stiffness)

    def share(here: FloatArray, beyond: FloatArray) -> FloatArray:
        """sinh(a beyond)/sinh(a arc), where `here` is what is left of the arc."""
        whole = np.expm1(-2.0 * rate * arc[:, None])
        found: FloatArray = np.exp(-rate * here) * np.expm1(-2.0 * rate * beyond) / whole
        return found

    loads: FloatArray = first * share(along, left) + last * share(left, along)
    return loads
