"""Rigidly joined links are merged into one; links without mass become parts of joints.

A body has a mass (docs/decisions/0002-descriptions-and-units.md). In most files, links without mass are
rigidly attached to others, which makes them frames. The rest are intermediate links of joints with several
degrees of freedom, whose motions are put in series: the pose of such a joint is exactly the product of their
poses. Where nothing that a link carries has a mass either, its motion is undetermined, and nobody stated its
mass: such links become bodies whose masses are not known, as many as the file has, since kinematics needs no
more.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from bellcrank.errors import MechanismError
from bellcrank.io.robots.skeleton import (
    GROUND,
    Connection,
    Forest,
    Link,
    Motion,
    Pose,
    Skeleton,
    added,
    scaled,
    summed,
    symbol_name,
)
from bellcrank.io.robots.source import Source
from bellcrank.mechanism.checking import Vec3
from bellcrank.mechanism.custom_joints import CustomJoint
from bellcrank.mechanism.joint import JointKind
from bellcrank.mechanism.joint_kinds import Free, PointOnLine, PointOnPlane
from bellcrank.mechanism.mass import MassProperties
from bellcrank.mechanism.rotation import between, from_matrix, matrix

if TYPE_CHECKING:
    from bellcrank.expression import Expression, Transform


_LIGHT: Final = 1e-7
"""The mass, relative to that of the whole, of a link that has none and whose joints are not made one."""
_ROTOR: Final = 1e-12
"""The mass, relative to that of the whole, of a link with an inertia only."""
_SINGLE: Final = ("ball", "free", "planar", "screw")  # motions that are not merged with others
MOST: Final = 6
"""Motions of one joint."""


@dataclass(eq=False)
class Group:
    """Links that move as one. The first that has a mass gives name and frame; `mass` is given in it."""

    links: list[Link]
    main: Link = field(init=False)
    mass: MassProperties | None = field(init=False)

    def __post_init__(self) -> None:
        massive = [link for link in self.links if sum(part.mass for part in link.masses) > 0.0]
        grounded = [link for link in self.links if link.name == GROUND]
        self.main = (grounded or massive or self.links)[0]
        self.mass = summed((part, self.pose_of(link)) for link in self.links for part in link.masses)

    def pose_of(self, link: Link) -> Pose:
        """The pose of a link in the frame of the group."""
        return Pose() if link is self.main else self.main.pose.inverse() @ link.pose

    @property
    def is_ground(self) -> bool:
        """Whether the group is fixed to the ground."""
        return self.main.name == GROUND

    @property
    def is_body(self) -> bool:
        """Whether the group is the ground, or has a mass or one that is not known."""
        return self.is_ground or self.mass is not None or any(link.unweighed for link in self.links)


@dataclass(eq=False)
class Reduced:
    """Groups, each a body, and their connections; `of`: the group of a link, None if it was eliminated."""

    groups: list[Group]
    connections: list[tuple[Connection, Group, Group]]
    of: dict[str, Group | None]


def reduced(source: Source, skeleton: Skeleton) -> Reduced:
    """The skeleton with bodies only; changes are noted in the source."""
    connections = [part for one in skeleton.connections for part in _parted(skeleton, one)]
    if source.density is not None:
        for group in _bare(skeleton, connections):
            _weigh(source, group, source.density)
    for group in _bare(skeleton, connections):
        group.main.unweighed = True
    while True:
        of = {link.name: group for group in _groups(skeleton, connections) for link in group.links}
        changed = _without_one(source, connections, of)
        if changed is None:
            break
        connections = changed
    edges = [(one, of[one.parent], of[one.child]) for one in connections if one.motions or one.kept]
    bodies = [group for group in dict.fromkeys(of.values()) if group.is_body]
    return Reduced(bodies, edges, {name: group if group.is_body else None for name, group in of.items()})


def _bare(skeleton: Skeleton, connections: list[Connection]) -> list[Group]:
    """The groups that move and neither have a mass nor carry one, so that their masses are not stated.

    Where other bodies have masses, what has no shape is a frame, and what is said to have no mass has none.
    """
    groups = _groups(skeleton, connections)
    of = {link.name: group for group in groups for link in group.links}
    above = {of[one.child]: one for one in connections if one.motions or one.kept}
    laden = {group for group in groups if group.is_body}
    shown = {group for group in groups if any(link.shapes and not link.massless for link in group.links)}
    for kinds in (laden, shown):
        for group in list(kinds):
            while group in above and (group := of[above[group].parent]) not in kinds:
                kinds.add(group)
    weightless = all(group.is_ground for group in laden)
    return [
        group
        for group in groups
        if group in above and above[group].motions and group not in laden and (weightless or group in shown)
    ]


def _weigh(source: Source, group: Group, density: float) -> None:
    """Give the links of a group the masses of their shapes. density: kg/m^3."""
    for link in group.links:
        for shape in [one for one in link.shapes if one.shown]:
            try:
                link.masses.append(replace(shape, density=density).mass_properties())
            except MechanismError as error:
                source.leave(link.at, f"link {link.name!r}", f"a shape has no mass: {error}")


def _parted(skeleton: Skeleton, one: Connection) -> Iterable[Connection]:
    """Split a connection with a ball among other motions in two, with a massless link between them."""
    single = next((k for k, motion in enumerate(one.motions) if motion.kind in _SINGLE), None)
    guided = any(guided_ball(motions) is not None for motions in (one.motions, backwards(one.motions)))
    if single is None or len(one.motions) == 1 or guided:
        yield one
        return
    cut = single or 1
    link = skeleton.links[one.child]
    name = f"{one.child} {one.motions[cut].name}"
    skeleton.links[name] = Link(name, link.pose, link.at)
    yield Connection(f"{one.name} {one.motions[0].name}", one.parent, name, one.at, one.motions[:cut])
    yield from _parted(skeleton, Connection(one.name, name, one.child, one.at, one.motions[cut:]))


def _groups(skeleton: Skeleton, connections: list[Connection]) -> list[Group]:
    rigid = Forest(skeleton.links)
    for one in connections:
        if not one.motions and not one.kept:
            rigid.join(one.child, one.parent)
    found: dict[str, list[Link]] = {}
    for name, link in skeleton.links.items():
        found.setdefault(rigid.top(name), []).append(link)
    return [Group(links) for links in found.values()]


def _without_one(
    source: Source, connections: list[Connection], of: dict[str, Group]
) -> list[Connection] | None:
    """The connections with one massless link fewer; None if there is none."""
    ways: dict[Group, list[Connection]] = {group: [] for group in of.values()}
    for one in connections:
        if one.motions or one.kept:
            ways[of[one.parent]].append(one)
            ways[of[one.child]].append(one)
    for group, held in ways.items():
        if group.is_body:
            continue
        above = [one for one in held if of[one.child] is group]
        spins = any(np.any(part.inertia) for link in group.links for part in link.masses)
        if spins and any(one.motions for one in above):
            _weighed(source, group, ways)
            return connections
        below = [one for one in held if of[one.parent] is group]
        if not above:  # a massless root that nothing constrains
            if not below:
                continue
            source.leave(
                group.main.at,
                f"link {group.main.name!r}",
                "it has no mass and is held by nothing: it is the ground",
            )
            return [*connections, Connection(group.main.name, GROUND, group.main.name)]
        (way,) = above
        if not below or way.kept:
            return _held(source, connections, way)
        if len(below) == 1 and (joined := _joined(way, below[0])) is not None:
            names = f"{way.name!r} and {below[0].name!r}"
            source.leave(
                group.main.at,
                f"link {group.main.name!r}",
                f"it has no mass: it is part of the joint of {names}",
            )
            at = min(connections.index(way), connections.index(below[0]))
            kept = [one for one in connections if one is not way and one is not below[0]]
            return [*kept[:at], joined, *kept[at:]]
        mass = _LIGHT * (sum(g.mass.mass for g in ways if g.mass is not None) or 1.0)
        arm = 0.1 * max(
            [
                1e-3,
                *(
                    float(np.linalg.norm(np.subtract(one.motions[0].point, group.main.pose.position)))
                    for one in below
                    if one.motions
                ),
            ]
        )
        source.leave(
            group.main.at,
            f"link {group.main.name!r}",
            "it has no mass, and its joints are not made one: it is given one",
            mass,
        )
        group.main.masses.append(MassProperties(mass, np.zeros(3), mass * arm**2 * np.eye(3)))
        return connections
    return None


def _weighed(source: Source, group: Group, groups: Iterable[Group]) -> None:
    """Give a group that has an inertia but no mass, as rotors do, a mass where the inertia is."""
    mass = _ROTOR * (sum(one.mass.mass for one in groups if one.mass is not None) or 1.0)
    link = next(link for link in group.links if any(np.any(part.inertia) for part in link.masses))
    rule = "it has an inertia and no mass: it is given one"
    source.leave(link.at, f"link {link.name!r}", rule, mass)
    link.masses.append(MassProperties(mass, link.masses[0].com, np.zeros((3, 3))))


def _held(source: Source, connections: list[Connection], way: Connection) -> list[Connection]:
    """The connections with a massless tip fixed to its parent."""
    for motion in way.motions:
        source.leave(motion.at, f"joint {motion.name!r}", "it moves nothing that has a mass: it is held")
    rigid = Connection(way.name, way.parent, way.child, way.at)
    return [rigid if one is way else one for one in connections]


def _joined(first: Connection, second: Connection) -> Connection | None:
    """Two connections merged at a massless link into one; None if the result is not a joint."""
    motions = [*first.motions, *second.motions]
    if len(motions) > MOST or any(motion.kind in _SINGLE for motion in motions):
        return None
    return Connection(second.name, first.parent, second.child, second.at, motions)


_EXACT: Final = 1e-12  # how close an axis must be to an axis of the frame to count as equal
_Z: Final = (0.0, 0.0, 1.0)


def chain_joint(
    motions: Sequence[Motion], child: Pose, taken: Collection[str]
) -> tuple[CustomJoint, Pose, list[str]]:
    """The joint, its frame (of both markers, in the world), and the names of its coordinates.

    taken: names that the coordinates must not have.

    The relative pose is the product of the motions about fixed lines,
    T = exp(ξ₁ (q₁ − s₁)) ... exp(ξₙ (qₙ − sₙ)), in a frame at the last line. Its axes are those of the child
    if the lines lie along these, else such that as many lines as possible lie along them.
    """
    from bellcrank.expression import symbol

    axes = [motion.axis for motion in motions]
    frame = Pose(motions[-1].point, _orientation(axes, child))
    back = frame.inverse()
    names: list[str] = []
    for motion in motions:
        name = symbol_name(motion.name)
        names.append(symbol_name(f"q_{name}" if name in taken else name, [*names, *taken]))
    coordinates = tuple(symbol(name) for name in names)
    pose: Transform | None = None
    for motion, coordinate in zip(motions, coordinates, strict=True):
        amount = coordinate - motion.start if motion.start else coordinate
        factor = _factor(motion, back.vector(motion.axis), back.point(motion.point), amount)
        pose = factor if pose is None else pose @ factor
    units = tuple("rad" if motion.kind == "turn" else "m" for motion in motions)
    return CustomJoint(coordinates, pose, units), frame, names


def guided_ball(motions: Sequence[Motion]) -> tuple[JointKind, Pose, list[str]] | None:
    """Perpendicular slides followed by a ball: a point guided along a line, in a plane, or free.

    The joint, the frame of its first marker in the world, and the names of the slides' coordinates in it;
    None for other motions.
    """
    if not motions:
        return None
    *slides, ball = motions
    axes = np.array([motion.axis for motion in slides])
    if ball.kind != "ball" or not 1 <= len(slides) <= 3 or any(one.kind != "slide" for one in slides):
        return None
    if np.abs(axes @ axes.T - np.eye(len(axes))).max() > _EXACT:
        return None
    names = (["z"], ["x", "y"], ["x", "y", "z"])[len(slides) - 1]
    if len(slides) == 3 and np.linalg.det(axes) < 0.0:
        names = ["y", "x", "z"]
    if len(slides) == 1:
        rotation = between(_Z, slides[0].axis)
    else:
        x, y = (axes[names.index(name)] for name in ("x", "y"))
        rotation = from_matrix(np.column_stack([x, y, np.cross(x, y)]))
    back = -np.array([motion.start for motion in slides]) @ axes
    a, b, c = back.tolist()
    kind = (PointOnLine, PointOnPlane, Free)[len(slides) - 1]()
    return kind, Pose(added(ball.point, (a, b, c)), rotation), names


def backwards(motions: Sequence[Motion]) -> list[Motion]:
    """The motions of a parent relative to its child; their coordinates are the same."""
    return [replace(motion, axis=scaled(motion.axis, -1.0)) for motion in reversed(motions)]


def _orientation(axes: Sequence[Vec3], child: Pose) -> tuple[float, float, float, float]:
    """The orientation of a frame aligned with as many of these axes as possible, preferably the child's."""
    turn = matrix(child.rotation)
    if all(np.max(np.abs(turn.T @ np.asarray(axis))) > 1.0 - _EXACT for axis in axes):
        return child.rotation
    first = np.asarray(axes[0])
    for axis in axes[1:]:
        other = np.asarray(axis)
        if abs(float(first @ other)) < _EXACT:
            return from_matrix(np.column_stack([first, other, np.cross(first, other)]))
    return between(_Z, axes[0])


def _factor(motion: Motion, axis: Vec3, point: Vec3, amount: Expression) -> Transform:
    """A rotation about, or a translation along, a line given in the frame."""
    from bellcrank.expression import Transform, rotation_x, rotation_y, rotation_z, translation

    if motion.kind == "slide":
        return translation(*(_clean(component) * amount for component in axis))
    index = int(np.argmax(np.abs(axis)))
    if abs(axis[index]) > 1.0 - _EXACT:
        turn = (rotation_x, rotation_y, rotation_z)[index](amount if axis[index] > 0.0 else -amount)
    else:
        rows = matrix(between(_Z, axis))
        turn = Transform(rows.tolist()) @ rotation_z(amount) @ Transform(rows.T.tolist())
    if max(map(abs, point)) < _EXACT:
        return turn
    return translation(*point) @ turn @ translation(*scaled(point, -1.0))


def _clean(component: float) -> float:
    nearest = round(component)
    return float(nearest) if abs(component - nearest) < _EXACT else component
