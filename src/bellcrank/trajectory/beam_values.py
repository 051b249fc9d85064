"""What beams are coloured by in pictures, in films and on the page: a number at each station."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from bellcrank.errors import Fault, MechanismError, Unsupported
from bellcrank.mechanism.checking import nearest
from bellcrank.scene.color_scale import ColorBar, scaled
from bellcrank.scene.scene import Scene
from bellcrank.scene.sweeps import Sweep
from bellcrank.trajectory.beams import BeamHistory
from bellcrank.trajectory.store import FloatArray

Values = Callable[[BeamHistory, FloatArray], FloatArray]


@dataclass(frozen=True)
class Quantity:
    """A number of a section. label: in words. unit: such as "N m". values: at stations, (T, S)."""

    label: str
    unit: str
    values: Values


def _size(vectors: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.norm(vectors, axis=-1))


QUANTITIES: Final[Mapping[str, Quantity]] = {
    "moment": Quantity("bending moment", "N m", lambda beam, at: _size(beam.moment(at)[..., 1:])),
    "torsion": Quantity("torsion", "N m", lambda beam, at: beam.moment(at)[..., 0]),
    "force": Quantity("tension", "N", lambda beam, at: beam.force(at)[..., 0]),
    "shear": Quantity("shear force", "N", lambda beam, at: _size(beam.force(at)[..., 1:])),
    "stress": Quantity("normal stress", "Pa", lambda beam, at: beam.stress(at)),
    "von_mises": Quantity("von Mises stress", "Pa", lambda beam, at: beam.von_mises(at)),
    "curvature": Quantity("curvature", "1/m", lambda beam, at: _size(beam.curvature(at)[..., 1:])),
    "deflection": Quantity("deflection", "m", lambda beam, at: _size(beam.deflection(at))),
}
"""What can be shown, by name."""


def quantity(name: Any) -> Quantity:
    """The quantity of this name. Raises MechanismError with close matches for another name."""
    if not isinstance(name, str) or name not in QUANTITIES:
        advice = nearest(name, QUANTITIES) if isinstance(name, str) else f"one of {', '.join(QUANTITIES)}"
        raise MechanismError(Fault("beams", "there is no quantity of this name", name, advice))
    return QUANTITIES[name]


_ROUNDING: Final = 1e-12
"""A strain that poses in double precision do not tell from none."""


def _rounding(unit: str, beam: BeamHistory) -> float:
    """The size of a number that is none: that of a strain by rounding of poses."""
    section = beam.section.at(0.0)
    stiff, length, modulus = float(section.EA), beam.length, float(getattr(section, "E", 0.0))
    return _ROUNDING * {"N": stiff, "N m": stiff * length, "Pa": modulus, "1/m": 1.0 / length}.get(
        unit, length
    )


def at_rings(what: Quantity, beam: BeamHistory, sweep: Sweep) -> FloatArray:
    """The values at the rings of a beam that is drawn, (T, R); zero where they are rounding alone."""
    stations = np.interp(sweep.rings, np.arange(len(beam.stations)), beam.stations)
    values = what.values(beam, stations)
    return np.where(np.abs(values) < _rounding(what.unit, beam), 0.0, values)


@dataclass(frozen=True, eq=False)
class Coloring:
    """Colours of beams at instants. bar: of all of them. values: by beam, (instants, rings)."""

    bar: ColorBar
    values: Mapping[str, FloatArray]

    def tints(self, number: int) -> dict[str, FloatArray]:
        """The colours of the rings at an instant, by beam, (rings, 3)."""
        return {name: self.bar.colors(values[number]) for name, values in self.values.items()}


def coloring(
    name: Any, scene: Scene, histories: Callable[[str], BeamHistory], only: Iterable[str] | None = None
) -> Coloring | None:
    """How beams are coloured by a quantity; None for no quantity.

    histories: of beams by name, of as many frames as there are instants. only: the bodies that are drawn.
    Beams on which the quantity is not defined, as stress of sections without sizes, keep their colour.
    Raises MechanismError where there is no beam, Unsupported where it is defined on none.
    """
    if name is None:
        return None
    what = quantity(name)
    shown = None if only is None else set([only] if isinstance(only, str) else only)
    kept = {
        beam: sweep
        for beam, sweep in scene.sweeps.items()
        if shown is None or any(scene.carriers[k] in shown for k in sweep.carriers)
    }
    if not kept:
        advice = "add one by add_beam, or leave beams= out"
        raise MechanismError(Fault("beams", "there is no beam to be coloured", name, advice))
    values: dict[str, FloatArray] = {}
    refused: list[Unsupported] = []
    for beam, sweep in kept.items():
        try:
            values[beam] = at_rings(what, histories(beam), sweep)
        except Unsupported as error:
            refused.append(error)
    if not values:
        raise refused[0]
    numbers: Sequence[Any] = [one[np.isfinite(one)] for one in values.values()]
    return Coloring(scaled(what.label, what.unit, [one for one in numbers if one.size]), values)
