"""Units of texts along a coordinate: "30 deg" fits a hinge and "30 mm" a slide, not the other way round.

Fields such as the position of a drive accept lengths as well as angles. Which of them fits is known only once
the element is attached to a joint.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bellcrank.mechanism.attachment import Attached
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.coordinate import unit_of
from bellcrank.mechanism.drive import Drive
from bellcrank.mechanism.fields import declarations
from bellcrank.mechanism.joint import Joint
from bellcrank.mechanism.joint_coordinate import JointCoordinate
from bellcrank.mechanism.quantities import in_si, unit_along, units_of


def check_units(joints: Mapping[str, Joint], element: Any) -> None:
    """Refuse texts of an element, and of the limits of a joint, that do not fit its coordinate.

    Raises MechanismError.
    """
    if isinstance(element, Joint):
        if element.limits:
            with Check(f"joint {element.name!r}") as check:
                for name, limit in element.limits:
                    _check(check, limit, unit_of(element.kind, name), f"limit of {name!r}: ")
    elif isinstance(element, Drive):
        if element.texts:
            with Check(f"drive {element.name!r}") as check:
                _check(check, element, _unit(joints, element.coordinate))
    elif isinstance(element, Attached) and element.kind.texts:
        ends = [end for end in element.ends if isinstance(end, JointCoordinate)]
        with Check(f"{element.category} {element.name!r}") as check:
            _check(check, element.kind, _unit(joints, ends[0]) if ends else "m")


def _unit(joints: Mapping[str, Joint], reference: JointCoordinate) -> str:
    """The unit of a joint's coordinate; "" for a joint that does not exist yet."""
    joint = joints.get(reference.joint)
    return "" if joint is None else unit_of(joint.kind, joint.coordinate_name(reference.coordinate))


def _check(check: Check, description: Any, unit: str, prefix: str = "") -> None:
    """Note the texts of a description that do not fit a coordinate in this unit."""
    own: type = type(description)
    declared = declarations(own)
    for name, value in description.texts.items():
        units = units_of(unit_along(declared[name].unit, unit))
        in_si(check, f"{prefix}{name}", value, units, formulas=True)
