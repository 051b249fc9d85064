"""Numbers that forces integrate, such as the length of a belt between two wheels: speeds of flywheels.

A mechanism has no states but those of its bodies. A number z with the rate f is therefore the speed of a body
of its own, which turns about an axis through its centre of mass and about nothing else: under the moment J f
it has the acceleration f. All formulations and methods take it for what it is. It exerts nothing on anything,
and its mass and its energy J z^2 / 2 are far below those of any machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from bellcrank.mechanism.coordinate import JointCoordinate
from bellcrank.mechanism.joint_kinds import Revolute
from bellcrank.mechanism.marker import GROUND, Marker
from bellcrank.mechanism.parameters import present
from bellcrank.mechanism.rotation import multiply, rotate

if TYPE_CHECKING:
    from bellcrank.mechanism.attachment import Force
    from bellcrank.mechanism.mechanism import Mechanism

INERTIA: Final = 1e-9
"""Of each flywheel, kg m^2: the moment along its angle is so many times the rate of its speed."""
_MASS: Final = 1e-6  # kg


def add_flywheels(mechanism: Mechanism, force: Force, count: int) -> tuple[JointCoordinate, ...]:
    """Add flywheels for a force, and return their angles.

    Their bodies and joints are called after the force: "belt/1", "belt/2". They stand where its first end is,
    with its z axis, so that mechanisms in a plane remain so.
    """
    first = next(end for end in force.ends if isinstance(end, Marker))
    place, axis = _in_world(mechanism, first)
    found = []
    for number in range(1, count + 1):
        name = f"{force.name}/{number}"
        body = mechanism.add_body(name, _MASS, (INERTIA,) * 3, position=place)
        ends = mechanism.ground.marker(place, z_axis=axis), body.marker(z_axis=axis)
        joint = mechanism.add_joint(name, Revolute(), *ends)
        found.append(joint.coordinate())
    return tuple(found)


def flywheels_in(mechanism: Mechanism) -> set[str]:
    """The names of all flywheels of forces, bodies and joints alike."""
    own = (force for force in mechanism.forces.values() if force.kind.missing_states(force.markers))
    return {body.name for force in own for body in flywheels_of(mechanism, force)}


def flywheels_of(mechanism: Mechanism, force: Force) -> list[Any]:
    """The bodies of the flywheels that were added for a force."""
    joints = (mechanism.joints.get(end.joint) for end in force.joint_coordinates)
    named = [
        joint.marker_2.body for joint in joints if joint is not None and joint.name == joint.marker_2.body
    ]
    return [mechanism.bodies[name] for name in named if name.startswith(f"{force.name}/")]


def _in_world(mechanism: Mechanism, marker: Marker) -> Any:
    """Place and z axis of a marker as it is described, for present values of parameters."""
    at: Any = present(marker.position)
    turn: Any = present(marker.rotation)
    if marker.body != GROUND and marker.body in mechanism.bodies:
        body = mechanism.bodies[marker.body]
        carried = present(body.rotation)
        at = tuple(x + arm for x, arm in zip(present(body.position), rotate(carried, at), strict=True))
        turn = multiply(carried, turn)
    return at, rotate(turn, (0.0, 0.0, 1.0))
