"""The quantities that a run of a model records, and the layout of its frames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bellcrank import _core
from bellcrank.compile.contacts import ContactRecord
from bellcrank.compile.model import EFFORT_UNITS, CustomRecord, ElementRecord, Model
from bellcrank.compile.state import owners_of
from bellcrank.mechanism.coordinate import COORDINATE_KINDS, TURNED
from bellcrank.mechanism.marker import GROUND
from bellcrank.trajectory.energy_balance import accounts
from bellcrank.trajectory.layout import (
    CoordinateColumn,
    ForceColumn,
    FrameLayout,
    InputColumn,
    MultiplierColumn,
)

_WRENCH = tuple(f"{what}_{axis}" for what in ("moment", "force") for axis in "xyz")
_AT_MARKER = (*_WRENCH[3:], *_WRENCH[:3])
_POTENTIALS = {kind for kind, has_potential in _core.law_kinds().items() if has_potential}


@dataclass(frozen=True)
class Observation:
    """The layout of frames, and what the core must observe to fill them.

    coordinates: of the model, behind each of `FrameLayout.every_coordinate`.
    """

    layout: FrameLayout
    core: _core.Observation
    coordinates: tuple[int, ...]


def observation(
    model: Model, reactions: bool = True, accelerations: bool = False, ledger: bool = False
) -> Observation:
    """The observation of a model: joint coordinates, efforts of joints and forces, accelerations, work."""
    of_joints = _joint_coordinates(model)
    coordinates = [index for index, _ in of_joints]
    numbers = {index: place for place, index in reversed(list(enumerate(coordinates)))}
    efforts = tuple(
        MultiplierColumn(m.element, m.kind, m.unit, m.sign, numbers.get(m.coordinate), m.coordinate_name)
        for m in model.multipliers
    )
    others = [c for c in model.angular.tolist() if c not in numbers]
    exerted = force_efforts(model) if reactions or ledger else {}
    listed_efforts = [effort for found in exerted.values() for effort in found]
    along = dict.fromkeys(e.coordinate for e in listed_efforts if e.coordinate >= 0)
    unlisted = [c for c in along if c not in numbers and c not in others]
    places = numbers | {c: len(coordinates) + place for place, c in enumerate((*others, *unlisted))}
    potentials = [(name, e) for name, found in exerted.items() for e in found if e.has_potential]
    owners = owners_of(model) if others or unlisted else {}
    listed = model.reactions if reactions else ()
    works, booked = accounts(model) if ledger else ((), [])
    layout = FrameLayout(
        mechanism=model.name,
        bodies=model.bodies,
        coordinates=tuple(column for _, column in of_joints),
        multipliers=efforts,
        reactions=tuple(name for name, _, _ in listed),
        accelerations=accelerations,
        com=tuple(map(tuple, model.com.tolist())) if model.com.any() else (),
        angles=tuple(
            CoordinateColumn(owners.get(c, ""), model.arrays["coordinate_kind"][c], "rad") for c in others
        ),
        turning=tuple(places[c] for c in model.angular.tolist()),
        forces=tuple(exerted),
        force_columns=tuple(
            ForceColumn(name, e.name, e.unit, places.get(e.coordinate))
            for name, found in exerted.items()
            for e in found
        ),
        force_coordinates=tuple(CoordinateColumn(owners.get(c, ""), *_kind(model, c)) for c in unlisted),
        force_potentials=tuple(name for name, _ in potentials),
        inputs=tuple(InputColumn(one.name, one.unit) for one in model.inputs),
        contacts=tuple(contact.name for contact in model.contacts),
        contact_shapes=tuple([*model.bodies, GROUND][body] for body in model.contact_shapes),
        works=works,
    )
    listed_coordinates = [*coordinates, *others, *unlisted]
    core = _core.Observation(
        coordinates=listed_coordinates,
        angles=len(others),
        force_coordinates=len(unlisted),
        rows=[m.row for m in model.multipliers],
        reactions=[(blocks, pair) for _, blocks, pair in listed],
        efforts=[e.core for e in listed_efforts],
        potentials=[e.core for _, e in potentials],
        accelerations=accelerations,
        inputs=len(model.inputs),
        contacts=bool(model.contacts),
        accounts=booked,
        works=len(works),
    )
    return Observation(layout, core, tuple(listed_coordinates))


class ForceEffort(NamedTuple):
    """An effort of a force. coordinate: index in the model; -1 for a component at a marker.

    core: as the core takes it. has_potential: whether it is the first effort that a potential belongs to.
    """

    name: str
    unit: str
    coordinate: int
    core: tuple[str, int, int]
    has_potential: bool = False


class _Forces:
    """The efforts of a model's forces."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._named = dict(reversed(_joint_coordinates(model)))
        written = [r for r in model.custom if r.category == "force" and r.lowered.custom is not None]
        self._written = {record.name: (number, record) for number, record in enumerate(written)}
        self._contacts = {record.name: (number, record) for number, record in enumerate(model.contacts)}

    def efforts(self, force: ElementRecord) -> list[ForceEffort]:
        """Those of a force in the order of its columns; components that are always zero are left out."""
        arrays, found = self._model.arrays, []
        for law, label in zip(force.laws, force.labels, strict=True):
            coordinate = int(arrays["law_coordinate"][law])
            name, unit, _ = self._about(coordinate)
            has_potential = arrays["law_kind"][law] in _POTENTIALS
            found.append(
                ForceEffort(label or name, EFFORT_UNITS[unit], coordinate, ("law", law, 0), has_potential)
            )
        for wrench in force.wrenches:
            acts = (arrays["wrench_constant"][wrench] != 0.0) | (arrays["wrench_function"][wrench] >= 0)
            found += [
                ForceEffort(_WRENCH[k], "N" if k >= 3 else "N m", -1, ("wrench", wrench, k))
                for k in np.flatnonzero(acts).tolist()
            ]
        if force.name in self._written:
            found += self._of_formulas(*self._written[force.name])
        if force.name in self._contacts:
            found += self._of_contact(*self._contacts[force.name])
        return found

    def _of_contact(self, number: int, record: ContactRecord) -> list[ForceEffort]:
        """Force and moment on each body at the origin of its frame, world axes."""
        names = [*self._model.bodies, GROUND]
        found = []
        for place, body in enumerate(record.bodies):
            for k, name in enumerate(_AT_MARKER):
                core, unit = ("contact", number, 6 * place + k), "N" if k < 3 else "N m"
                found.append(ForceEffort(f"{names[body]}.{name}", unit, -1, core, place == k == 0))
        return found

    def _of_formulas(self, number: int, record: CustomRecord) -> list[ForceEffort]:
        """Components at markers, then efforts along coordinates."""
        kind: Any = record.lowered.custom
        ends = list(zip(kind.ends, record.ends, strict=True))
        markers = [end.name for end, held in ends if not isinstance(held, int)]
        coordinates = [held for _, held in ends if isinstance(held, int)]
        about = [self._about(coordinate) for coordinate in coordinates]
        alike = len({name for name, _, _ in about}) < len(about)
        listed = [
            (name if len(markers) == 1 else f"{marker}.{name}", "N" if k < 3 else "N m", -1)
            for marker in markers
            for k, name in enumerate(_AT_MARKER)
        ]
        listed += [
            (f"{owner}.{name}" if alike else name, EFFORT_UNITS[unit], coordinate)
            for coordinate, (name, unit, owner) in zip(coordinates, about, strict=True)
        ]
        return [
            ForceEffort(*effort, ("formula", number, place), place == 0 and kind.potential is not None)
            for place, effort in enumerate(listed)
        ]

    def _about(self, coordinate: int) -> tuple[str, str, str]:
        """Name, unit and joint of a coordinate; of one that is no joint's the name of its kind."""
        if column := self._named.get(coordinate):
            return column.name, column.unit, column.joint
        return (*_kind(self._model, coordinate), "")


def force_efforts(model: Model) -> dict[str, list[ForceEffort]]:
    """The efforts of each force, by its name."""
    forces = _Forces(model)
    return {force.name: forces.efforts(force) for force in model.forces}


def _joint_coordinates(model: Model) -> list[tuple[int, CoordinateColumn]]:
    """The coordinates that joints report, with their index in the model."""
    return [
        (index, CoordinateColumn(joint.name, name, unit))
        for joint in model.joints
        for index, name, unit in zip(joint.coordinates, joint.coordinate_names, joint.units, strict=True)
    ]


def _kind(model: Model, coordinate: int) -> tuple[str, str]:
    kind = model.arrays["coordinate_kind"][coordinate]
    return kind.replace(TURNED, "rot_"), COORDINATE_KINDS[kind].unit
