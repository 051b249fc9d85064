"""What a run of a model records, and the layout of its frames."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bellcrank import _core
from bellcrank.assembly.model import Model
from bellcrank.assembly.state import Floats
from bellcrank.trajectory.interpolate import STATE_SECTIONS
from bellcrank.trajectory.layout import CoordinateColumn, FrameLayout, MultiplierColumn


@dataclass(frozen=True)
class Observation:
    """The layout of frames, and what the core must observe to fill them, by index in the model."""

    layout: FrameLayout
    coordinates: tuple[int, ...]
    rows: tuple[int, ...]
    reactions: tuple[tuple[list[int], int], ...]

    def completed(self, model: Model, sink: Callable[[Floats], None]) -> Callable[[Floats], None]:
        """A sink for the core's frames: what the core does not record is added before `sink` takes them."""
        layout = self.layout
        if not layout.accelerations or not layout.coordinates:
            return sink
        core = _core.Lagrange(model.core)
        wanted, columns = list(self.coordinates[: len(layout.coordinates)]), layout.columns
        names = (*STATE_SECTIONS, "acceleration", "angular_acceleration")

        def take(frames: Floats) -> None:
            parts = [
                np.ascontiguousarray(frames[:, columns[name]]).reshape(len(frames), *layout.shapes[name])
                for name in names
            ]
            more = np.empty((len(frames), len(wanted)))
            for number, frame in enumerate(zip(*parts, strict=True)):
                core.set_state(float(frames[number, 0]), *frame[:4])
                more[number] = core.coordinate_accelerations(*frame[4:])[wanted]
            sink(np.concatenate([frames, more], axis=1))

        return take


def observation(model: Model, reactions: bool = True, accelerations: bool = False) -> Observation:
    """Joint coordinates and efforts of a model, with reactions and body accelerations if wanted."""
    columns: list[CoordinateColumn] = []
    coordinates: list[int] = []
    numbers: dict[int, int] = {}
    for joint in model.joints:
        for index, name, unit in zip(joint.coordinates, joint.coordinate_names, joint.units, strict=True):
            numbers.setdefault(index, len(coordinates))
            columns.append(CoordinateColumn(joint.name, name, unit))
            coordinates.append(index)
    others = [c for c in model.angular.tolist() if c not in numbers]
    owners = _owners(model) if others else {}
    angles = tuple(
        CoordinateColumn(owners.get(c, ""), model.arrays["coordinate_kind"][c], "rad") for c in others
    )
    places = numbers | {c: len(coordinates) + place for place, c in enumerate(others)}
    efforts = tuple(
        MultiplierColumn(m.element, m.kind, m.unit, m.sign, numbers.get(m.coordinate), m.coordinate_name)
        for m in model.multipliers
    )
    listed = model.reactions if reactions else ()
    layout = FrameLayout(
        mechanism=model.name,
        bodies=model.bodies,
        coordinates=tuple(columns),
        multipliers=efforts,
        reactions=tuple(name for name, _, _ in listed),
        accelerations=accelerations,
        com=tuple(map(tuple, model.com.tolist())) if model.com.any() else (),
        angles=angles,
        turning=tuple(places[c] for c in model.angular.tolist()),
        uniqueness=True,
    )
    return Observation(
        layout,
        (*coordinates, *others),
        tuple(m.row for m in model.multipliers),
        tuple((blocks, pair) for _, blocks, pair in listed),
    )


def _owners(model: Model) -> dict[int, str]:
    """What each coordinate in a row or law belongs to, such as "constraint 'gear'"."""
    arrays = model.arrays
    found: dict[int, str] = {}
    for force in model.forces:
        for law in force.laws:
            found[int(arrays["law_coordinate"][law])] = f"force {force.name!r}"
    spans = np.diff(arrays["row_term_start"])
    rows = np.repeat(np.arange(model.row_count), spans)
    for row, coordinate in zip(rows.tolist(), arrays["term_coordinate"].tolist(), strict=True):
        found[coordinate] = model.block_owner[model.row_block[row]]
    return found
