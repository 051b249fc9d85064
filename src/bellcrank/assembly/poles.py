"""What to say of a row that is not defined where it is, for an angle in it has no direction there."""

from __future__ import annotations

from typing import Final

from bellcrank.assembly.model import Model

_WHERE: Final = {
    "azimuth": "the origin of one marker lies on the z axis of the other: their line has no direction",
    "azimuth_axis": "the z axes of its markers are parallel",
    "theta": "the axes of its markers point against each other",
    "universal": "the axes of a cross are in line",
}
_ADVICE: Final = {
    "azimuth": "place the wheels apart, let joints hold their axes, or couple the angles of joints",
    "azimuth_axis": "place the axes at an angle, or couple the angles of joints",
}


def pole_text(model: Model, row: int) -> str:
    """The row by name, where it is not defined, and what to do."""
    starts = model.arrays["row_term_start"]
    terms = model.arrays["term_coordinate"][starts[row] : starts[row + 1]].tolist()
    kinds = dict.fromkeys(model.arrays["coordinate_kind"][c] for c in terms)
    name = next((name for kind in kinds for name in (kind, kind.split("_")[0]) if name in _WHERE), "")
    where = _WHERE.get(name, "an angle in it has no direction")
    advice = _ADVICE.get(name, "describe the motion there by other coordinates")
    return f"{model.row_text(row)} says nothing where {where}; {advice}"
