"""What a run of a model records, and the layout of its frames."""

from __future__ import annotations

from dataclasses import dataclass

from bellcrank.assembly.model import Model
from bellcrank.trajectory.layout import CoordinateColumn, FrameLayout, MultiplierColumn


@dataclass(frozen=True)
class Observation:
    """The layout of frames, and what the core must observe to fill them, by index in the model."""

    layout: FrameLayout
    coordinates: tuple[int, ...]
    rows: tuple[int, ...]
    reactions: tuple[tuple[list[int], int], ...]


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
    )
    return Observation(
        layout,
        tuple(coordinates),
        tuple(m.row for m in model.multipliers),
        tuple((blocks, pair) for _, blocks, pair in listed),
    )
