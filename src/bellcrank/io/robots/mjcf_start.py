"""The key frame at which a mechanism starts: the one that is asked for, or that is written here.

MuJoCo's `qpos` and `qvel` have the joints' numbers in the order of the bodies: of a free joint the pose of
its body in the world, the velocity of the body's frame in the world's axes and the angular velocity in the
body's; of a ball its quaternion, and its angular velocity in the axes of the body.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from bellcrank.io.robots.builder import Builder
from bellcrank.io.robots.mjcf_document import Document
from bellcrank.io.robots.skeleton import GROUND, HERE, ORIGIN, Connection, Pose, added, moved, scaled
from bellcrank.io.robots.xml_tree import Element
from bellcrank.mechanism.checking import Vec3
from bellcrank.mechanism.rotation import conjugate, multiply, unit

KEY: Final = "start"
"""The name of the key frame."""

_SIZES: Final = {"free": (7, 6), "ball": (4, 3)}  # of a joint in qpos and in qvel; others have one number
_BRANCH: Final = 3.0  # rad: what turned less is known from the poses


@dataclass(frozen=True)
class _Twist:
    """The motion of a body: its angular velocity, and the velocity of its point at the world's origin."""

    spin: Vec3 = ORIGIN
    velocity: Vec3 = ORIGIN

    def about(self, axis: Vec3, point: Vec3) -> _Twist:
        """With a turn about an axis through a point; its length is the rate."""
        return _Twist(added(self.spin, axis), added(self.velocity, _cross(point, axis)))

    def at(self, point: Vec3) -> Vec3:
        """The velocity of the body's point there."""
        return added(self.velocity, _cross(self.spin, point))


def start_of(document: Document) -> Element | None:
    """The key frame of the start: that of the wanted name, else that which is written here."""
    wanted = document.source.start or KEY
    return next((at for at in document.items("keyframe") if at.name == wanted), None)


def check_start(document: Document) -> None:
    """Note a fault if the file has no key frame of the wanted name."""
    wanted = document.source.start
    if wanted is not None and start_of(document) is None:
        names = ", ".join(repr(at.name) for at in document.items("keyframe") if at.name)
        advice = f"it has {names}" if names else "it has none with a name"
        document.source.fault(document.root, "it has no key frame of this name", wanted, advice)


def controls_of(document: Document) -> list[float]:
    """The inputs of the actuators at the start, in their order; empty if it has none."""
    count = sum(1 for _ in document.items("actuator"))
    at = start_of(document)
    return [] if at is None else _numbers(document, at, "ctrl", count) or []


def add_start(builder: Builder, document: Document) -> None:
    """Place the bodies as the key frame of the start does, moving as they do there."""
    at = start_of(document)
    ways = builder.skeleton.connections
    sizes = [_SIZES.get(motion.kind, (1, 1)) for way in ways for motion in way.motions]
    if at is None or not sizes:
        return
    places, rates = (
        _numbers(document, at, key, sum(size[k] for size in sizes)) for k, key in enumerate(("qpos", "qvel"))
    )
    if places is None and rates is None:
        return
    found = _Walk(builder, places, rates or [0.0] * sum(size for _, size in sizes))
    for way in ways:
        found.follow(way)
    found.place()


def _numbers(document: Document, at: Element, key: str, count: int) -> list[float] | None:
    """The numbers of an attribute; None if it is missing, or is not about the joints that were read."""
    if key not in at.attributes:
        return None
    if len(at.get(key).split()) != count:
        rule = f"its {key} is not about what was read, which has {count} numbers"
        document.source.leave(at, str(at), rule, len(at.get(key).split()))
        return None
    found = document.source.numbers(at, key, at.get(key), count)
    return None if found is None else list(found)


class _Walk:
    """Displacements of links from the pose of the file, their motion, and values of joints."""

    def __init__(self, builder: Builder, places: list[float] | None, rates: list[float]) -> None:
        self.builder = builder
        self.places = None if places is None else iter(places)
        self.rates = iter(rates)
        self.displaced: dict[str, Pose] = {GROUND: HERE}
        self.twists: dict[str, _Twist] = {GROUND: _Twist()}
        self.values: dict[str, float] = {}

    def follow(self, way: Connection) -> None:
        """Follow a connection from its parent to its child."""
        here, twist = self.displaced[way.parent], self.twists[way.parent]
        local = self.builder.skeleton.links[way.child].pose
        balls: list[tuple[Vec3, list[float]]] = []
        for motion in way.motions:
            size, count = _SIZES.get(motion.kind, (1, 1))
            place, rate = _taken(self.places, size), _taken(self.rates, count) or []
            axis, point = here.vector(motion.axis), here.point(motion.point)
            if motion.kind == "free":
                here, twist = _freed(place, rate, local)
            elif motion.kind == "ball":
                balls.append((point, rate))
                if place is not None:
                    turn = multiply(local.rotation, multiply(_unit(place), conjugate(local.rotation)))
                    about = added(motion.point, scaled(Pose(ORIGIN, turn).point(motion.point), -1.0))
                    here = here @ Pose(about, turn)
            else:
                slides = motion.kind == "slide"
                along = scaled(axis, rate[0])
                twist = (
                    replace(twist, velocity=added(twist.velocity, along))
                    if slides
                    else twist.about(along, point)
                )
                if place is not None:
                    self.values[motion.name] = place[0]
                    here = here @ moved(motion, place[0] - motion.start)
        for point, rate in balls:
            twist = twist.about((here @ local).vector(_three(rate)), point)
        self.displaced[way.child], self.twists[way.child] = here, twist

    def place(self) -> None:
        """Give the bodies their poses and velocities, and joints the values that poses do not determine."""
        mechanism = self.builder.mechanism
        bodies, joints = vars(mechanism)["_bodies"], vars(mechanism)["_joints"]
        for group, name in self.builder.names.items():
            if group.is_ground:
                continue
            link = group.main
            pose, twist = self.displaced[link.name] @ link.pose, self.twists[link.name]
            bodies[name] = replace(
                bodies[name],
                position=pose.position,
                rotation=pose.rotation,
                velocity=twist.at(pose.position),
                angular_velocity=twist.spin,
            )
        stated: dict[str, dict[str, float]] = {}
        guessed: dict[str, dict[str, float]] = {}  # in place of what limits suggest
        for motion, value in self.values.items():
            end = self.builder.coordinates.get(motion)
            if end is None:
                continue
            joint = joints[end.joint]
            guessed.setdefault(end.joint, {})[str(end.coordinate)] = value
            given = stated.setdefault(end.joint, dict(joint.position))
            if str(end.coordinate) in given or joint.kind.custom is not None or abs(value) > _BRANCH:
                given[str(end.coordinate)] = value
        for name, given in stated.items():
            guess = {key: value for key, value in dict(joints[name].guess).items() if key not in given}
            guess |= {key: value for key, value in guessed.get(name, {}).items() if key in guess}
            joints[name] = replace(joints[name], position=tuple(given.items()), guess=tuple(guess.items()))


def _freed(place: list[float] | None, rate: list[float], local: Pose) -> tuple[Pose, _Twist]:
    """Displacement and motion of a floating body."""
    pose = local if place is None else Pose(_three(place), _unit(place[3:]))
    spin = pose.vector(_three(rate[3:]))
    velocity = added(_three(rate), scaled(_cross(spin, pose.position), -1.0))
    return pose @ local.inverse(), _Twist(spin, velocity)


def _taken(numbers: Iterator[float] | None, count: int) -> list[float] | None:
    return None if numbers is None else [next(numbers) for _ in range(count)]


def _unit(numbers: list[float]) -> tuple[float, float, float, float]:
    w, x, y, z = numbers
    return unit((w, x, y, z)) if any(numbers) else (1.0, 0.0, 0.0, 0.0)


def _three(numbers: list[float]) -> Vec3:
    return (numbers[0], numbers[1], numbers[2])


def _cross(a: Vec3, b: Vec3) -> Vec3:
    x, y, z = np.cross(a, b).tolist()
    return (x, y, z)
