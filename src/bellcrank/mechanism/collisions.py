"""What the file of a robot says of contacts: the contacts that it states, and what of it is left out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Final, cast

from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.attachment import Force
from bellcrank.mechanism.contact import Contact
from bellcrank.mechanism.contents import Contents
from bellcrank.mechanism.marker import GROUND
from bellcrank.mechanism.shape import Plane, Shape
from bellcrank.mechanism.terrain import Terrain

NOTE: Final = "bodies pass through each other until contacts_from_file() adds the contacts that it states"
"""The rule of the fault that stands in `left_out` as long as contacts are not added."""
_LISTED: Final = 5  # pairs of bodies that are named


@dataclass(frozen=True)
class Surface:
    """Shapes of a body that collide alike.

    body: its name in the mechanism; link: in the file. kinds, meets: bits; two surfaces collide if one has a
    kind that the other meets. family: surfaces of one family do not collide with each other; "" is none.
    friction: None where the file states none. rubs: whether it rubs on others that do not.
    priority: of two surfaces that with the higher one decides alone how they rub.
    name: of a surface that the file pairs with others.
    """

    body: str
    link: str
    kinds: int = 1
    meets: int = 1
    family: str = ""
    friction: float | None = None
    rubs: bool = True
    priority: int = 0
    name: str = ""

    def collides(self, other: Surface) -> bool:
        """Whether two surfaces collide by their bits and families."""
        if self.family and self.family == other.family:
            return False
        return bool(self.kinds & other.meets or other.kinds & self.meets)


@dataclass(frozen=True)
class Collisions:
    """The surfaces of a file, and its rules.

    apart: pairs of bodies that do not collide. excluded: pairs of links that do not. joined: whether bodies
    that a joint joins collide if nothing else keeps them apart. paired: friction of pairs of surfaces, by
    names, that collide whatever the other rules say; None for that of the surfaces. least: whether the
    smaller friction of two surfaces counts, not the larger one. unlike: what contacts here do not have.
    """

    surfaces: tuple[Surface, ...]
    apart: frozenset[frozenset[str]] = frozenset()
    excluded: frozenset[frozenset[str]] = frozenset()
    joined: bool = False
    paired: tuple[tuple[frozenset[str], float | None], ...] = ()
    least: bool = False
    unlike: tuple[Fault, ...] = ()

    def placed(self, body: Callable[[str], str]) -> Collisions:
        """The same for bodies that have other names."""
        return replace(
            self,
            surfaces=tuple(replace(surface, body=body(surface.body)) for surface in self.surfaces),
            apart=frozenset(frozenset(map(body, pair)) for pair in self.apart),
        )

    def pairs(self, bodies: Iterable[str]) -> tuple[dict[tuple[str, str], float | None], list[Fault]]:
        """Friction of each pair of these bodies that collides, and what cannot be as in the file."""
        of: dict[str, list[Surface]] = {body: [] for body in bodies}
        for surface in dict.fromkeys(self.surfaces):
            if surface.body in of:
                of[surface.body].append(surface)
        paired = dict(self.paired)
        found: dict[tuple[str, str], float | None] = {}
        partial: list[tuple[str, str]] = []
        uneven: list[tuple[str, str]] = []
        for pair in combinations([body for body, surfaces in of.items() if surfaces], 2):
            rubs = [self._friction(a, b, paired, frozenset(pair)) for a in of[pair[0]] for b in of[pair[1]]]
            colliding = [one for one in rubs if one is not False]
            if not colliding:
                continue
            found[pair] = max(colliding, key=lambda one: one or 0.0)
            if len(colliding) < len(rubs):
                partial.append(pair)
            if len(set(colliding)) > 1:
                uneven.append(pair)
        faults = _listed("only some of their shapes collide in the file, here all do", partial)
        return found, faults + _listed("their shapes rub unevenly in the file, here by the largest", uneven)

    def _friction(
        self, a: Surface, b: Surface, paired: Mapping[frozenset[str], float | None], bodies: frozenset[str]
    ) -> float | bool | None:
        """The friction of two surfaces; False if they do not collide."""
        names = frozenset((a.name, b.name))
        if a.name and b.name and names in paired:
            given = paired[names]
            return self._rubbing(a, b) if given is None else given
        if bodies in self.apart or frozenset((a.link, b.link)) in self.excluded or not a.collides(b):
            return False
        return self._rubbing(a, b)

    def _rubbing(self, a: Surface, b: Surface) -> float | None:
        if a.priority != b.priority:
            decides = a if a.priority > b.priority else b
            return decides.friction if decides.rubs else 0.0
        if not (a.rubs or b.rubs):
            return 0.0
        known = [one.friction for one in (a, b) if one.friction is not None]
        return (min if self.least else max)(known) if known else None


def _listed(rule: str, pairs: list[tuple[str, str]]) -> list[Fault]:
    if not pairs:
        return []
    more = f" and {len(pairs) - _LISTED} more pairs" if len(pairs) > _LISTED else ""
    named = ", ".join(f"{one!r} and {two!r}" for one, two in pairs[:_LISTED])
    return [Fault("contacts", f"{rule}: {named}{more}")]


Pair = frozenset[str]


def cliques(pairs: Iterable[Pair], free: Collection[Pair]) -> list[list[str]]:
    """Sets of bodies, so that each pair lies in exactly one set, and every other pair in a set is free.

    Greedy: a set takes the body that adds most pairs, as long as there is one. The first body of each pair
    comes first.
    """
    left = dict.fromkeys(pairs)
    order = list(dict.fromkeys(body for pair in left for body in sorted(pair)))
    wanted: dict[str, set[str]] = {body: set() for body in order}
    loose: dict[str, set[str]] = {body: set() for body in order}
    for table, given in ((wanted, left), (loose, free)):
        for one, two in map(tuple, given):
            if one in table and two in table:
                table[one].add(two)
                table[two].add(one)
    found = []
    while any(wanted.values()):
        first = max(order, key=lambda body: len(wanted[body]))
        members, gains = [first], dict.fromkeys(wanted[first] | loose[first], 0)
        last = first
        while True:
            gains = {
                body: gain + (body in wanted[last])
                for body, gain in gains.items()
                if body in wanted[last] or body in loose[last]
            }
            last = max(gains, key=gains.__getitem__, default="")
            if not last or gains[last] == 0:
                break
            members.append(last)
            del gains[last]
        for body in members:
            wanted[body].difference_update(members)
        found.append([body for body in order if body in members])
    return found


ALLOW: Final = "allow"
_SETTINGS: Final = ("refuse", ALLOW)
_ADVICE: Final = "it moves or weighs: left_out='allow' (bellcrank run --allow-left-out) runs without it"
_AGAIN: Final = "the file that is written does not say that this is missing, and runs without it"
_CONTACTS: Final = (
    "the file that is written does not state them: call contacts_from_file() before it is saved"
)


def not_written(mechanism: Contents) -> list[Fault]:
    """What only this mechanism says of the file that it was read from, and no file that is written."""
    lost = [replace(fault, advice=_AGAIN) for fault in mechanism.left_out if fault.moves]
    return lost + [replace(fault, advice=_CONTACTS) for fault in mechanism.left_out if fault.rule == NOTE]


def refuse_left_out(mechanism: Contents, left_out: object) -> None:
    """Raise MechanismError with all that moves or weighs and was left out, unless left_out is "allow"."""
    if left_out not in _SETTINGS:
        raise MechanismError.of("simulate", "left_out must be 'refuse' or 'allow'", left_out)
    lost = [replace(fault, advice=_ADVICE) for fault in mechanism.left_out if fault.moves]
    if lost and left_out != ALLOW:
        raise MechanismError(lost)


_SINKING: Final = 1e-3
"""How far, m, its weight presses a mechanism into what it lies on at one point, by the default stiffness."""
_EARTH: Final = 9.81
_ENDLESS: Final = (Plane, Terrain)


class Colliding(Contents):
    """A mechanism that may have been read from a file that states what collides."""

    def contacts_from_file(
        self,
        name: str = "contacts",
        *,
        stiffness: float | None = None,
        restitution: float = 0.3,
        friction: float = 1.0,
        **fields: Any,
    ) -> list[Force]:
        """Add the contacts that the file of a robot states, and return them; an empty list if it states none.

        The bodies that collide are those of the file: in MJCF by contype, conaffinity, <exclude> and <pair>;
        in SDF by self_collide and collide_bitmask; in URDF all that no joint joins. There are as few contacts
        as have these pairs: one where all bodies may touch each other and the ground with one friction.

        name: of the first one; others have a number after it. stiffness: N/m, by default such that the
        weight of all bodies on one point presses it in by 1 mm. restitution, **fields: those of `Contact`.
        friction: where the file states none, as URDF; else it is that of the file.

        `left_out` names what contacts here do not have, such as pairs of single shapes of two bodies.
        Raises MechanismError if the mechanism was not read from a URDF, MJCF or SDF file.

        >>> from pathlib import Path
        >>> ball = '<body name="ball"><freejoint/><geom type="sphere" size="0.1" density="1000"/></body>'
        >>> scene = f'<mujoco><worldbody><geom type="plane" size="1 1 1"/>{ball}</worldbody></mujoco>'
        >>> _ = Path("ball.xml").write_text(scene)
        >>> robot = bc.load("ball.xml")
        >>> touch = robot.contacts_from_file(stiffness=1e6)
        >>> [sorted(end.body for end in force.ends) for force in touch]
        [['ball', 'ground']]
        """
        if not self.collisions:
            advice = "add bc.Contact(...) with add_force"
            rule = "it was not read from a URDF, MJCF or SDF file, which says what collides"
            raise MechanismError.of(f"mechanism {self.name!r}", rule, advice=advice)
        if stiffness is None:
            stiffness = _stiffness(self)
        pairs: dict[Pair, float | None] = {}
        faults: list[Fault] = []
        for known in self.collisions:
            found, lost = self._collisions(known)
            pairs |= found
            faults += [*known.unlike, *lost]
        tied = _tied(self)
        order = {body: number for number, body in enumerate((GROUND, *self.bodies))}
        added: list[Force] = []
        by_friction: dict[float, list[Pair]] = {}
        for pair, value in pairs.items():
            by_friction.setdefault(friction if value is None else value, []).append(pair)
        for value, wanted in by_friction.items():
            for joined, bodies in _sets(wanted, tied):
                kind = Contact(
                    stiffness=stiffness, restitution=restitution, friction=value, joined=joined, **fields
                )
                added.append(
                    cast(Any, self).add_force(_free(self, name), kind, *sorted(bodies, key=order.__getitem__))
                )
        noted = tuple(fault for fault in self.left_out if fault.rule != NOTE)
        self.left_out = (*noted, *faults)
        return added

    def _collisions(self, known: Collisions) -> tuple[dict[Pair, float | None], list[Fault]]:
        """Friction of the pairs of bodies that collide."""
        carriers: dict[str, Any] = {GROUND: self.ground, **self.bodies}
        solid = {name: [s for s in one.shapes if s.touches] for name, one in carriers.items()}
        found, faults = known.pairs(body for body, shapes in solid.items() if shapes)
        tied = frozenset() if known.joined else _tied(self)
        kept = {}
        for (one, two), friction in found.items():
            if frozenset((one, two)) in tied:
                continue
            if _endless(solid[one]) and _endless(solid[two]):
                rule = f"{one!r} and {two!r} have shapes without end, which do not touch each other"
                faults.append(Fault("contacts", rule))
                continue
            kept[frozenset((one, two))] = friction
        return kept, faults


def _sets(wanted: list[Pair], tied: frozenset[Pair]) -> list[tuple[bool, list[str]]]:
    """Sets of bodies for contacts that have these pairs, and whether joined bodies are to touch in them."""
    apart = [(False, one) for one in cliques([pair for pair in wanted if pair not in tied], tied)]
    joined = [(True, one) for one in cliques([pair for pair in wanted if pair in tied], ())]
    together = [(True, one) for one in cliques(wanted, ())] if joined else []
    return together if joined and len(together) < len(apart) + len(joined) else [*apart, *joined]


def _endless(shapes: list[Shape]) -> bool:
    return any(isinstance(shape, _ENDLESS) for shape in shapes)


def _tied(mechanism: Colliding) -> frozenset[Pair]:
    """The pairs of bodies that a joint joins."""
    joints = [joint for joint in mechanism.joints.values() if joint.kind.locked]
    return frozenset(frozenset((joint.marker_1.body, joint.marker_2.body)) for joint in joints)


def _stiffness(mechanism: Colliding) -> float:
    """The stiffness at which the weight of all bodies presses a point in by a millimetre, N/m."""
    mass = sum(float(body.mass) for body in mechanism.bodies.values() if body.mass_known) or 1.0
    gravity = sum(float(part) ** 2 for part in mechanism.gravity) ** 0.5
    return float(mass * max(gravity, _EARTH) / _SINKING)


def _free(mechanism: Colliding, name: str) -> str:
    """The name, or the first that is free with a number after it."""
    number, found = 1, name
    while found in mechanism.forces:
        number += 1
        found = f"{name} {number}"
    return found
