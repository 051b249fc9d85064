"""The contacts that the file of a robot states, as elements of the mechanism that was read from it."""

from __future__ import annotations

from typing import Any, Final, cast

from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.cliques import Pair, cliques
from bellcrank.mechanism.collisions import NOTE, Collisions
from bellcrank.mechanism.contact import Contact
from bellcrank.mechanism.force import Force
from bellcrank.mechanism.marker import GROUND
from bellcrank.mechanism.shape import Plane, Shape
from bellcrank.mechanism.showing import Shown
from bellcrank.mechanism.terrain import Terrain

_SINKING: Final = 1e-3
"""How far, m, its weight presses a mechanism into what it lies on at one point, by the default stiffness."""
_EARTH: Final = 9.81
_ENDLESS: Final = (Plane, Terrain)


class Colliding(Shown):
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

            robot = bc.load("robot.xml")
            robot.contacts_from_file(stiffness=1e5)
        """
        if not self.collisions:
            advice = "add bc.Contact(...) with add_force"
            rule = "it was not read from a URDF, MJCF or SDF file, which says what collides"
            raise MechanismError(Fault(f"mechanism {self.name!r}", rule, advice=advice))
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
