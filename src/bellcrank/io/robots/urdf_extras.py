"""URDF elements other than links and joints: friction, mimics, transmissions, joints that close loops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import inf, isfinite, nan
from typing import Final

from bellcrank.io.robots.bounded import clamped
from bellcrank.io.robots.building import Builder
from bellcrank.io.robots.names import symbol_name
from bellcrank.io.robots.pose import Pose, of_rpy
from bellcrank.io.robots.source import Source
from bellcrank.io.robots.xml_tree import Element
from bellcrank.mechanism.friction import JointFriction
from bellcrank.mechanism.joint_kinds import Fixed, Prismatic, Revolute, Spherical
from bellcrank.mechanism.motors import GearedMotor
from bellcrank.mechanism.parameters import Input
from bellcrank.mechanism.rotation import between
from bellcrank.mechanism.springs import TorsionSpring
from bellcrank.mechanism.transmissions import Coupling

_Z: Final = (0.0, 0.0, 1.0)
_CLOSING: Final = {
    "fixed": Fixed,
    "revolute": Revolute,
    "continuous": Revolute,
    "hinge": Revolute,
    "prismatic": Prismatic,
    "spherical": Spherical,
    "ball": Spherical,
}


def add_extras(builder: Builder, root: Element, joints: Mapping[str, Element]) -> None:
    """Add forces, constraints and closing joints to the builder's mechanism; note what cannot be imported."""
    for name, at in joints.items():
        _dynamics(builder, name, at)
    for name, at in joints.items():
        if (mimic := at.first("mimic")) is not None and not mimic.dropped:
            _mimic(builder, name, mimic, joints)
    moved = Counter(one.name for at in root.all("transmission") for one in at.all("joint"))
    bounded: set[str] = set()
    for at in root.all("transmission", "loop_joint", "gazebo"):
        if at.tag == "transmission":
            bounded |= _transmission(builder, at, joints, moved)
        elif at.tag == "loop_joint":
            _loop_joint(builder, at)
        else:
            _gazebo(builder, at)
    for name, at in joints.items():
        _list_limits(builder.source, name, at.first("limit"), name in bounded)


def _list_limits(source: Source, name: str, at: Element | None, bounded: bool) -> None:
    """Note limits of effort and speed. bounded: whether that of the effort holds the input of a motor."""
    if at is None:
        return
    effort, speed = (source.bound(at, key, at.get(key)) for key in ("effort", "velocity"))
    if bounded and speed:
        source.leave(at, f"joint {name!r}", "its limit of speed is not kept")
    elif (effort or speed) and not bounded:
        source.leave(at, f"joint {name!r}", "limits of effort and speed are not kept")


def _dynamics(builder: Builder, name: str, at: Element) -> None:
    source, coordinate = builder.source, builder.coordinates.get(name)
    dynamics = at.first("dynamics")
    if dynamics is None or dynamics.dropped:
        return
    damping, friction = (source.number(dynamics, key) or 0.0 for key in ("damping", "friction"))
    for key, value in (("damping", damping), ("friction", friction)):
        if value < 0.0:
            source.fault(dynamics, "must not be negative", value, of=key)
    if (damping <= 0.0 and friction <= 0.0) or min(damping, friction) < 0.0:
        return
    if coordinate is None:
        moves = name in builder.joints
        rule = "damping and friction need a joint with one coordinate"
        source.leave(dynamics, f"joint {name!r}", rule, moves=moves)
    elif friction > 0.0:
        builder.force(dynamics, f"{name} friction", lambda: JointFriction(damping, friction), coordinate)
    else:
        builder.force(dynamics, f"{name} damping", lambda: TorsionSpring(0.0, damping), coordinate)


def _mimic(builder: Builder, name: str, at: Element, joints: Mapping[str, Element]) -> None:
    """Q = multiplier q_other + offset."""
    source, other = builder.source, at.get("joint")
    if other not in joints or other == name:
        moves = builder.coordinates.get(name) is not None
        rule = "it follows a joint that the robot does not have"
        source.drop(at, f"joint {name!r}", rule, other, moves)
        return
    factor, offset = source.number(at, "multiplier", 1.0), source.number(at, "offset", 0.0)
    ends = [builder.coordinates.get(one) for one in (name, other)]
    if None in ends or factor is None or offset is None:
        moves = ends[0] is not None
        source.leave(at, f"joint {name!r}", "it follows a joint without a coordinate", other, moves)
    elif factor == 0.0:
        builder.constraint(at, f"{name} mimic", lambda: Coupling((1.0,), offset), ends[0])
    else:
        builder.constraint(at, f"{name} mimic", lambda: Coupling((1.0, -factor), offset), *ends)


def _transmission(
    builder: Builder, at: Element, joints: Mapping[str, Element], moved: Mapping[str, int]
) -> set[str]:
    """Add a geared motor for each actuator of a transmission with one joint; its torque is an input.

    moved: how many transmissions name a joint. If it is one, the input is held within what the joint may
    exert; the joints of which this is so are returned.
    """
    source = builder.source
    held, actuators = list(at.all("joint")), list(at.all("actuator"))
    if any(one.name not in joints for one in held):
        source.drop(at, str(at), "it names a joint that the robot does not have")
        return set()
    if len(held) != 1 or len(actuators) != 1:
        rule = f"a transmission of {len(held)} joints and {len(actuators)} actuators is not available"
        source.drop(at, str(at), rule)
        return set()
    coordinate = builder.coordinates.get(held[0].name)
    if coordinate is None:
        source.drop(at, str(at), "its joint has no coordinate that could be driven")
        return set()
    ratio = _said(
        (at, held[0], actuators[0]), ("mechanicalReduction", "mechanical_reduction", "gear_ratio"), 1.0
    )
    inertia = _said((actuators[0], at), ("rotorInertia", "rotor_inertia", "motorInertia"), 0.0)
    if not (abs(ratio) > 0.0 and inertia >= 0.0 and isfinite(ratio) and isfinite(inertia)):
        rule = "its reduction must be a number but zero, and its inertia one that is not negative"
        source.leave(at, str(at), rule, (ratio, inertia))
        return set()
    for one in (held[0], actuators[0]):
        one.use()  # all else in them configures the robot's controller
    name = symbol_name(actuators[0].name or at.name)
    label = actuators[0].name or at.name or f"{held[0].name} motor"

    limit = joints[held[0].name].first("limit")
    effort = None if limit is None else source.bound(limit, "effort", limit.get("effort"))
    alone = effort is not None and effort > 0.0 and moved[held[0].name] == 1
    most = effort / abs(ratio) if effort is not None and alone else inf

    def motor() -> GearedMotor:
        return GearedMotor(ratio, inertia, clamped(Input(name, 0.0, "N m"), (-most, most)))

    builder.force(at, label, motor, coordinate)
    return {held[0].name} if alone else set()


def _said(places: tuple[Element, ...], tags: tuple[str, ...], default: float) -> float:
    """The number in the first of these elements that exists, in its text or its `value`; nan for none."""
    for place in places:
        for one in place.children:
            if one.tag.rpartition(":")[2] in tags:
                try:
                    return float(one.get("value") or one.words)
                except ValueError:
                    return nan
    return default


def _loop_joint(builder: Builder, at: Element) -> None:
    """Add the joint of a <loop_joint> with <link1> and <link2>, between frames of two links of the tree."""
    source = builder.source
    ends: list[tuple[str, Pose]] = []
    for tag in ("link1", "link2"):
        end = at.first(tag)
        link = "" if end is None else end.get("link")
        if end is None or link not in builder.skeleton.links or not link:
            source.fault(at, f"its {tag} is no link of the robot", link or None)
            return
        ends.append((link, Pose(source.vector(end, "xyz"), of_rpy(*source.vector(end, "rpy")))))
    kind = source.word(at, "type", tuple(_CLOSING), "spherical")
    axis_at = at.first("axis")
    axis = source.direction(
        at, "axis", None if axis_at is None else source.vector(axis_at, "xyz"), (1.0, 0.0, 0.0)
    )
    turned = Pose((0.0, 0.0, 0.0), between(_Z, axis))
    one, two = ((link, pose @ turned) for link, pose in ends)
    builder.close(at.name or "loop", _CLOSING[kind](), one, two, at)


def _gazebo(builder: Builder, at: Element) -> None:
    """Read the joints in <gazebo>, which close loops; the rest configures the simulator."""
    source = builder.source
    for one in at.children:
        if one.tag != "joint":
            of = f"gazebo of {at.get('reference')!r}" if at.get("reference") else "gazebo"
            source.drop(one, of, f"<{one.tag}> has no counterpart")
            continue
        parent, child = (_text(one, tag) for tag in ("parent", "child"))
        if not {parent, child} <= set(builder.skeleton.links) - {""}:
            source.fault(one, "its parent or child is no link of the robot", (parent, child))
            continue
        pose = source.numbers(one, "pose", _text(one, "pose") or "0 0 0 0 0 0", 6) or (0.0,) * 6
        local = Pose((pose[0], pose[1], pose[2]), of_rpy(*pose[3:]))
        kind = one.get("type", "revolute")
        if kind not in _CLOSING:
            source.drop(one, str(one), f"a closing joint of type {kind!r} is not available", moves=True)
            continue
        given = None
        if (axis_at := one.first("axis")) is not None:
            numbers = source.numbers(one, "axis", _text(axis_at, "xyz") or "0 0 1", 3)
            given = None if numbers is None else (numbers[0], numbers[1], numbers[2])
        axis = source.direction(one, "axis", given, _Z)
        frame = builder.skeleton.links[child].pose @ local @ Pose((0.0, 0.0, 0.0), between(_Z, axis))
        ends = [(link, builder.skeleton.links[link].pose.inverse() @ frame) for link in (parent, child)]
        builder.close(one.name or "loop", _CLOSING[kind](), ends[0], ends[1], one)


def _text(at: Element, tag: str) -> str:
    found = at.first(tag)
    return "" if found is None else found.words
