"""Inverse dynamics of markers on paths: the efforts of drives that make markers follow paths.

First the motion, by constraints alone: the markers are driven along their paths, and the drives of joints
are released. Then the efforts: the released coordinates are driven again, by functions that match their
values, rates and accelerations at every frame, and the paths are removed. At frames both are exact to the
solver's tolerance.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from bellcrank.analysis.freedoms import freedoms
from bellcrank.analysis.leads import Lead, suppliers
from bellcrank.assembly.compile import compile_mechanism
from bellcrank.assembly.initial import assembled
from bellcrank.assembly.model import Model
from bellcrank.assembly.state import Floats
from bellcrank.errors import Fault, FaultList, MechanismError
from bellcrank.mechanism.arguments import required_names
from bellcrank.mechanism.coordinate import Coordinate
from bellcrank.mechanism.drive import Drive, PathDrive
from bellcrank.mechanism.functions.path import Path
from bellcrank.mechanism.functions.piecewise import Piecewise
from bellcrank.mechanism.joint import JointKind
from bellcrank.mechanism.marker import Marker
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.mechanism.naming import nearest
from bellcrank.mechanism.references import as_marker
from bellcrank.trajectory.trajectory import Trajectory

_ARGUMENTS: Final = ("path", "orientation", "reference")


def on_paths(
    mechanism: Mechanism | Model, along: Mapping[Any, Any], kept: Iterable[str], start: float
) -> tuple[Model, Mechanism, tuple[Lead, ...]]:
    """The model driven along the paths, assembled; the mechanism without its drives; what is to drive it.

    kept: names of drives that stay as they are. Raises MechanismError for all faults of the paths, and if
    paths and drives leave degrees of freedom open.
    """
    if not isinstance(mechanism, Mechanism):
        raise MechanismError(Fault("inverse_dynamics", "paths need a Mechanism, not its Model"))
    held = required_names("keep", kept)
    faults = FaultList()
    for name in held:
        if name not in mechanism.drives:
            rule = "there is no drive of this name"
            faults.add(f"keep {name!r}", rule, None, nearest(str(name), mechanism.drives))
        elif not isinstance(mechanism.drives[name], Drive):
            faults.add(f"keep {name!r}", "only drives of joints can go on", None, "give its path in along=")
    bare = mechanism.copy()
    for name, drive in mechanism.drives.items():
        if name not in held:
            bare.remove(drive)
    driven = bare.copy()
    if not isinstance(along, Mapping) or not along:
        faults.add("along", "it must name markers and their paths", along, "such as {'hand': bc.Path(...)}")
    else:
        for number, (marker, given) in enumerate(along.items(), start=1):
            with faults.collect():
                _add_path(driven, marker, given, number)
    faults.raise_any()
    _check_paths_go_on(mechanism, along, held, faults)
    faults.raise_any()
    own, _ = assembled(compile_mechanism(mechanism, start))
    leads = tuple(lead for lead in suppliers(own, own.initial) if lead.name not in held)
    for lead in leads:
        _measure(driven, lead)
    # What joints were given to start with has placed them; paths and leads may take them elsewhere.
    there, _ = assembled(compile_mechanism(driven, start).started(own.initial))
    found = freedoms(there)
    if found.count > 0:
        names = ", ".join(found.independent[:8])
        rule = f"its paths and drives leave {found.count} degrees of freedom open"
        advice = f"give an orientation, another path, or keep=[...] drives of what is free: {names}"
        raise MechanismError(Fault(f"mechanism {mechanism.name!r}", rule, None, advice))
    return there, bare, leads


def _check_paths_go_on(
    mechanism: Mechanism, along: Mapping[Any, Any], held: Iterable[str], faults: FaultList
) -> None:
    """Faults of drives along paths that another path does not replace: the motion would lack them."""
    given = [as_marker(mechanism, f"along {marker!r}", marker) for marker in along]
    for name, drive in mechanism.drives.items():
        if isinstance(drive, PathDrive) and name not in held and drive.marker not in given:
            rule = "it moves a marker that has no path in along="
            faults.add(f"drive {name!r}", rule, None, "give its path there as well, or remove it")


def _measure(driven: Mechanism, lead: Lead) -> None:
    """A joint without rows that shows the coordinate of a lead, where no joint does."""
    if isinstance(lead.which, int):
        return
    joint = driven.joints[lead.joint]
    shown = type("Measured", (_Measured,), {"free": (lead.which,), "__module__": __name__})
    driven.add_joint(_measuring(lead), shown(joint.kind), joint.marker_1, joint.marker_2)


@dataclass(frozen=True)
class _Measured(JointKind):
    """A joint that holds nothing and shows a coordinate of another one's markers."""

    of: JointKind

    def coordinate(self, name: str, marker_1: Marker, marker_2: Marker) -> Coordinate:
        """As the other joint has it."""
        return self.of.coordinate(name, marker_1, marker_2)


def _measuring(lead: Lead) -> str:
    return f"{lead.joint} {lead.which} of {lead.name}"


def _add_path(driven: Mechanism, marker: Any, given: Any, number: int) -> None:
    """A drive along a path. given: a Path, three functions of time, or arguments of `add_drive` by name."""
    arguments: dict[str, Any] = dict(given) if isinstance(given, Mapping) else {"path": given}
    if unknown := [name for name in arguments if name not in _ARGUMENTS]:
        rule = f"a path takes {', '.join(_ARGUMENTS)}"
        raise MechanismError(Fault(f"along {marker!r}", rule, ", ".join(map(str, unknown))))
    path: Any = arguments.get("path")
    if not isinstance(path, Path):
        arguments["path"] = Path(path)
    name = f"path {number}"
    while name in driven.drives:
        name += "'"
    driven.add_drive(name, marker=marker, **arguments)


def driven_along(bare: Mechanism, motion: Trajectory, leads: tuple[Lead, ...]) -> Model:
    """The mechanism whose own coordinates follow a motion, where that motion begins.

    At every frame a drive has the value, rate and acceleration that its coordinate has there; between two
    frames the polynomial of degree five that meets both.
    """
    columns = [_column(motion, lead) for lead in leads]
    values, rates, accelerations = (
        motion.store.read(section)[:, columns]
        for section in ("coordinates", "rates", "coordinate_accelerations")
    )
    driven = bare.copy()
    for k, lead in enumerate(leads):
        place = _meeting(motion.time, values[:, k], rates[:, k], accelerations[:, k])
        driven.add_drive(lead.name, joint=lead.joint, coordinate=lead.which, position=place)
    begin = float(motion.time[0])
    return compile_mechanism(driven, begin).started(motion.at(begin))


def _meeting(time: Floats, value: Floats, rate: Floats, acceleration: Floats) -> Piecewise:
    """Quintic Hermite pieces; a last one begins at the last frame, so that all frames are beginnings.

    With d = p(h) - (value + rate h + acceleration h^2/2) and its two derivatives d' and d'' at the end of a
    piece, the coefficients of s^3, s^4, s^5 are

        (10 d - 4 d' h + d'' h^2/2)/h^3,  (-15 d + 7 d' h - d'' h^2)/h^4,  (6 d - 3 d' h + d'' h^2/2)/h^5 .
    """
    h = np.diff(time)
    taylor = value[:-1] + h * (rate[:-1] + 0.5 * h * acceleration[:-1])
    d = value[1:] - taylor
    d1 = (rate[1:] - rate[:-1] - h * acceleration[:-1]) * h
    d2 = (acceleration[1:] - acceleration[:-1]) * h * h
    rest = np.stack(
        [(10 * d - 4 * d1 + d2 / 2) / h**3, (-15 * d + 7 * d1 - d2) / h**4, (6 * d - 3 * d1 + d2 / 2) / h**5]
    )
    rest = np.concatenate([rest, np.zeros((3, 1))], axis=1)
    rows = np.stack([value, rate, 0.5 * acceleration, *rest], axis=1)
    breaks = [*time.tolist(), float(time[-1] + h[-1])]
    return Piecewise(tuple(breaks), tuple(map(tuple, rows.tolist())), "linear")


def _column(motion: Trajectory, lead: Lead) -> int:
    """The place of the coordinate of a lead among those of a run."""
    if isinstance(lead.which, str):
        return int(motion.layout.joint_coordinates[_measuring(lead)].start)
    first: int = motion.layout.joint_coordinates[lead.joint].start
    return first + lead.which
