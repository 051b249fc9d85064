"""Contacts of a mechanism as the core takes them: shapes of bodies, groups that touch, and laws."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from math import log
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bellcrank import _core
from bellcrank.compile.state import Points
from bellcrank.errors import Fault, FaultList, MechanismError, Unsupported
from bellcrank.mechanism.beams import Beam
from bellcrank.mechanism.body import Body, Ground
from bellcrank.mechanism.contact import Contact
from bellcrank.mechanism.marker import GROUND
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.mechanism.mesh import Mesh
from bellcrank.mechanism.parameters import present
from bellcrank.mechanism.rows import ContactLaw, WheelSlices
from bellcrank.mechanism.shape import Box, Capsule, Cone, Cylinder, Ellipsoid, Plane, Prism, Shape, Sphere
from bellcrank.mechanism.terrain import Terrain
from bellcrank.mechanism.tyre import Tyre

if TYPE_CHECKING:
    from bellcrank.compile.model import Model

CONTACT_NUMBERS: Final = tuple(name for name, *_ in _core.ContactLaw.fields())
"""Numbers of a law, as the core lists them."""
_LEAST_RESTITUTION: Final = 0.05  # that a force k dⁿ (1 + c v) can leave
_DAMPING: Final = 0.3  # of tangential motion, of its critical value
_BESIDE: Final = 2.0  # thicknesses of a beam, between pieces of it that do not touch each other
_DEEP: Final = 0.5  # depth at the start, by the size of the smaller shape, that is a mistake
_WITHOUT_BOUNDS: Final = (Plane, Terrain)  # shapes that do not touch each other


def collision_shape(shape: Shape) -> Any:
    """The collision shape of a shape, in its own axes. Raises MechanismError for an unreadable mesh."""
    made = _core.CollisionShape
    if isinstance(shape, Sphere):
        return made.sphere(shape.radius)
    if isinstance(shape, Box):
        return made.box([0.5 * size for size in shape.size])
    if isinstance(shape, Capsule):
        return made.capsule(shape.radius, 0.5 * shape.length)
    if isinstance(shape, Cylinder):
        return made.cylinder(shape.radius, 0.5 * shape.length)
    if isinstance(shape, Cone):
        return made.cone(shape.radius, 0.5 * shape.height)
    if isinstance(shape, Ellipsoid):
        return made.ellipsoid(list(shape.radii))
    if isinstance(shape, Prism):
        vertices, triangles = shape.surface()
        return made.hull(vertices, triangles.tolist())
    if isinstance(shape, Plane):
        return made.plane()
    if isinstance(shape, Terrain):
        return made.height_field(np.ascontiguousarray(shape.samples), shape.origin, shape.spacing)
    if isinstance(shape, Mesh):
        vertices, triangles = shape.surface()
        try:
            return made.mesh(vertices, triangles.tolist())
        except ValueError as error:
            rule = f"it cannot touch: {error}"
            raise MechanismError(Fault(f"Mesh {shape.file!r}", rule, None, "repair it")) from None
    raise TypeError(f"a {type(shape).__name__} cannot touch")


@dataclass(frozen=True)
class ContactRecord:
    """A contact in the model: its bodies by their indices, the ground's among them.

    of_tyre: whether the first body has a tyre, which the others touch.
    resists: whether it resists rolling or spinning.
    """

    name: str
    bodies: tuple[int, ...]
    of_tyre: bool
    resists: bool


def refuse_contacts(model: Model, who: str) -> None:
    """Raise Unsupported for a contact, naming it: its friction depends on how it came to where it is."""
    for contact in model.contacts[:1]:
        raise Unsupported(f"{who} cannot take contacts: force {contact.name!r}")


def holding(model: Model) -> list[str]:
    """Names of forces with friction that holds what rests."""
    return [force.name for force in model.forces if not model.friction_rows.keys().isdisjoint(force.laws)]


def refuse_holding(model: Model, who: str) -> None:
    """Raise Unsupported for friction that holds what rests, naming it: it may hold, or not."""
    for name in holding(model)[:1]:
        raise Unsupported(
            f"{who} cannot take friction that holds: force {name!r}; give it a regularisation_velocity"
        )


def refuse_tyres(model: Model, who: str) -> None:
    """Raise Unsupported for a tyre, naming it: it is not rigid."""
    for contact in model.contacts:
        if contact.of_tyre:
            raise Unsupported(f"{who} takes contacts as rigid, and cannot take tyres: force {contact.name!r}")


def refuse_resistances(model: Model, who: str) -> None:
    """Raise Unsupported for a contact that resists rolling or spinning, naming it: compliant ones do not."""
    for contact in model.contacts:
        if contact.resists:
            raise Unsupported(
                f"{who} takes contacts as compliant, which resist no rolling or spinning: force "
                f"{contact.name!r}; use method='moreau'"
            )


def refuse_deep_starts(model: Model, points: Points) -> None:
    """Raise MechanismError for bodies that overlap at the start by half of the smaller one's size and more.

    points: (n,), those that touch there, as the core lists them.
    """
    if not len(points):
        return
    core, faults = model.arrays["contacts"], FaultList()
    names, sizes = [*model.bodies, GROUND], np.array(core.sizes)
    tyres = {contact.name for contact in model.contacts if contact.of_tyre}
    worst: dict[tuple[str, str, str], float] = {}
    for point in points:
        (a, b), depth = point["shapes"].astype(int), -float(point["gap"])
        if depth > _DEEP * min(sizes[a], sizes[b]):
            pair = (model.contacts[int(point["contact"])].name, names[core.bodies[a]], names[core.bodies[b]])
            worst[pair] = max(depth, worst.get(pair, 0.0))
    for (name, one, two), depth in worst.items():
        rule = f"bodies {one!r} and {two!r} overlap at the start, in m"
        advice = "put them side by side, or leave one out of the contact"
        if name in tyres:
            advice = "raise the wheel, or the tyre's pressure if it is its load"
        faults.add(f"force {name!r}", rule, depth, advice)
    faults.raise_any()


def dissipation_of(restitution: Any, speed: Any, value: Callable[[Any], float] = float) -> Any:
    """The c of the force k d^n (1 + c v) that returns an impact at a speed, m/s, with a restitution; s/m.

    With v₁ = e v₀ the motions in and out give c (v₀ + v₁) = ln((1 + c v₀) / (1 − c v₁)), by integrals of
    v dv / (1 + c v), whatever k, n and the mass. value: of expressions; c is one then, right to first order
    about their values.
    """
    if value(restitution) >= 1.0:
        return 0.0
    e = max(value(restitution), _LEAST_RESTITUTION)
    low, high = 0.0, 1.0 / e  # of c v₀: the right side is larger from the root on, up to its pole
    for _ in range(200):
        middle = 0.5 * (low + high)
        if middle * (1.0 + e) > log((1.0 + middle) / (1.0 - e * middle)):
            low = middle
        else:
            high = middle
    if e > value(restitution):
        return high / speed
    slope = high * (1.0 / (1.0 - e * high) - 1.0) / (1.0 + e - 1.0 / (1.0 + high) - e / (1.0 - e * high))
    return (high + slope * (restitution - e)) / speed


def law_numbers(
    mechanism: Mechanism, law: ContactLaw, value: Callable[[Any], float] = float
) -> dict[str, Any]:
    """All numbers of a contact's law by name. value: of expressions, which some of them are then."""
    numbers = dict(law.numbers)
    if numbers["dissipation"] is None:
        numbers["dissipation"] = dissipation_of(numbers["restitution"], law.impact_speed, value)
    if numbers["shear_time"] is None:
        numbers["shear_time"] = _shear_time(mechanism, law, value)
    return numbers


def _shear_time(mechanism: Mechanism, law: ContactLaw, value: Callable[[Any], float]) -> Any:
    """Damping by stiffness: 2 ζ sqrt(m / kₜ) of the lightest body m, at the slope where it rests."""
    stiffness, exponent, ratio = (law.numbers[name] for name in ("stiffness", "exponent", "shear_ratio"))
    masses = [mechanism.bodies[name].mass for name in law.bodies if name != GROUND]
    mass = min(masses, key=value, default=1.0)
    square = sum(part * part for part in mechanism.gravity)
    weight = mass * (square**0.5 if value(square) > 1e-6 else 1e-3)
    slope = exponent * stiffness ** (1 / exponent) * weight ** (1 - 1 / exponent)
    return 2.0 * _DAMPING * (mass / (ratio * slope)) ** 0.5


def laws_of(mechanism: Mechanism) -> Iterator[tuple[str, ContactLaw]]:
    """The contacts of a mechanism by name."""
    for name, force in mechanism.forces.items():
        if isinstance(force.kind, (Contact, Tyre)):
            for law in force.kind.lowered(force.markers).contacts:
                yield name, law


def touching_sizes(mechanism: Mechanism) -> list[Any]:
    """What shapes that touch are made with, and where they are on their bodies."""
    bodies = dict.fromkeys(body for _, law in laws_of(mechanism) for body in law.bodies)
    shapes = [shape for body in bodies for shape in _touching(_carrier(mechanism, body))]
    return [replace(shape, density=None) for shape in shapes]


def check_contacts(mechanism: Mechanism, faults: FaultList) -> None:
    """Note what is wrong with contacts: bodies without shapes, pairs that cannot touch or touch twice."""
    before = _Earlier()
    for name, law in laws_of(mechanism):
        element = f"force {name!r}"
        there = [body for body in law.bodies if body == GROUND or body in mechanism.bodies]
        carried = law.wheel.wheel.body if law.wheel is not None else None
        for body in there:
            if body == carried:
                continue
            if not _touching(_carrier(mechanism, body)):
                advice = "give it shapes=[bc.Box(...)], or leave it out"
                faults.add(element, "this body has no shape that could touch", body, advice)
            elif body != GROUND and not any(map(any, mechanism.bodies[body].inertia)):
                faults.add(element, "a particle has no orientation, and no shape", body, "give it an inertia")
        if carried:  # a tyre is beside what else touches
            continue
        if len(there) > 1 and (joints := _keeping_all_apart(mechanism, law, there)):
            rule = "it does nothing: joints join all its bodies to each other, and joined bodies do not touch"
            faults.add(element, rule, joints, "set joined=True to let them touch, or remove it")
        for (one, two), other in before.pairs_among(there):
            if not tied(mechanism, law, one, two) and not tied(mechanism, other[1], one, two):
                rule = f"bodies {one!r} and {two!r} touch in force {other[0]!r} already"
                faults.add(element, rule, None, "name them together in one contact only")
        kinds = {body: kind for body in there if (kind := _without_bounds(_carrier(mechanism, body)))}
        for one, two in combinations(kinds, 2):
            if not tied(mechanism, law, one, two):
                rule = f"{kinds[one]} of {one!r} and {kinds[two]} of {two!r} cannot touch each other"
                faults.add(element, rule, None, "give one of them shapes with bounds, such as boxes")
        before.add(name, law, there)


def _keeping_all_apart(mechanism: Mechanism, law: ContactLaw, bodies: list[str]) -> str:
    """The joints that keep all pairs of the bodies from touching; empty where one pair is left."""
    joints = []
    for one, two in combinations(dict.fromkeys(bodies), 2):
        joint = None if law.joined else _tie(mechanism, one, two)
        if joint is None:
            return ""
        joints.append(joint)
    return ", ".join(joints)


class _Earlier:
    """Contacts by their bodies, to look only at pairs of a heap that may touch twice, not at all of them."""

    def __init__(self) -> None:
        self._contacts: list[tuple[str, ContactLaw]] = []
        self._members: list[set[str]] = []
        self._of: dict[str, list[int]] = {}

    def add(self, name: str, law: ContactLaw, bodies: list[str]) -> None:
        for body in bodies:
            self._of.setdefault(body, []).append(len(self._contacts))
        self._contacts.append((name, law))
        self._members.append(set(bodies))

    def pairs_among(self, bodies: list[str]) -> Iterator[tuple[tuple[str, str], tuple[str, ContactLaw]]]:
        """Pairs that are in an earlier contact too, and that contact, its name and law."""
        shared: dict[int, list[str]] = {}
        for body in bodies:
            if body != GROUND:  # which is in nearly all
                for number in self._of.get(body, ()):
                    shared.setdefault(number, []).append(body)
        with_ground = GROUND in bodies
        for number, common in shared.items():
            if with_ground and GROUND in self._members[number]:
                common.append(GROUND)
            for pair in combinations(common, 2):
                yield pair, self._contacts[number]


def _without_bounds(carrier: Body | Ground) -> str:
    return next((type(s).__name__ for s in _touching(carrier) if isinstance(s, _WITHOUT_BOUNDS)), "")


def _carrier(mechanism: Mechanism, name: str) -> Body | Ground:
    return mechanism.ground if name == GROUND else mechanism.bodies[name]


def _touching(carrier: Body | Ground) -> list[Shape]:
    return [shape for shape in carrier.shapes if shape.touches]


def tied(mechanism: Mechanism, law: ContactLaw, one: str, two: str) -> bool:
    """Whether a joint, or a beam of which they are near pieces, keeps two bodies from touching each other."""
    near = _beside(mechanism, one, two)
    return near or (not law.joined and _tie(mechanism, one, two) is not None)


def _beside(mechanism: Mechanism, one: str, two: str) -> bool:
    """Whether two bodies are pieces of one beam that lie nearer along it than twice its thickness."""
    (name, _, first), (other, _, second) = one.rpartition("/"), two.rpartition("/")
    if name != other or name not in mechanism.beams or not (first.isdigit() and second.isdigit()):
        return False
    return (int(first), int(second)) in _near(*_pieces(mechanism.beams[name]))


def _pieces(beam: Beam) -> tuple[tuple[float, ...], float]:
    """The stations of the nodes of a beam, and its thickness, m."""
    size = beam.section.largest_size if beam.radius is None else 2.0 * beam.radius
    return tuple(present(one) for one in beam.grid.stations), 0.0 if size is None else float(present(size))


@lru_cache(64)
def _near(stations: tuple[float, ...], thick: float) -> frozenset[tuple[int, int]]:
    """Pairs of nodes, in either order, whose pieces are neighbours, or nearly."""
    at = np.array(stations)
    middle = 0.5 * (at[1:] + at[:-1])
    first, last = np.concatenate([at[:1], middle]), np.concatenate([middle, at[-1:]])
    gap = first[None, :] - last[:, None]  # from the end of a piece to the start of another
    pairs = np.argwhere(np.triu(gap < _BESIDE * thick + 1e-9 * at[-1], 1)).tolist()
    return frozenset([*((i, j) for i, j in pairs), *((j, i) for i, j in pairs)])


def _tie(mechanism: Mechanism, one: str, two: str) -> str | None:
    """The first joint that locks something between two bodies."""
    for name, joint in mechanism.joints.items():
        if joint.kind.locked and {joint.marker_1.body, joint.marker_2.body} == {one, two}:
            return name
    return None


class ContactBuilder:
    """Collects contacts for the core. body_index: with the ground."""

    def __init__(self, mechanism: Mechanism, body_index: Mapping[str, int]) -> None:
        self.mechanism = mechanism
        self.index = body_index
        self.core = _core.ContactSet()
        self._shapes: dict[str, list[int]] = {}

    def add(self, name: str, law: ContactLaw) -> ContactRecord:
        """Add a contact; its record."""
        tyre = [] if law.wheel is None else [self._tyre(law.wheel)]
        touched = law.bodies[len(tyre) :]
        shapes = [*tyre, *(number for body in touched for number in self._shapes_of(body))]
        pairs = self._pairs_with_joints(law) | self._pairs_of_beams(law)
        apart = [
            (self.index[one], self.index[two])
            for one, two in sorted(pairs)
            if tied(self.mechanism, law, one, two)
        ]
        bodies = [self.index[body] for body in law.bodies]
        made = _core.ContactLaw(**law_numbers(self.mechanism, law))
        self.core.add_group(law=made, bodies=bodies, shapes=shapes, apart=apart, of_tyre=bool(tyre))
        return ContactRecord(name, tuple(bodies), bool(tyre), made.rolling > 0.0 or made.spinning > 0.0)

    def _pairs_with_joints(self, law: ContactLaw) -> set[tuple[str, str]]:
        bodies = set(law.bodies)
        ends = ((j.marker_1.body, j.marker_2.body) for j in self.mechanism.joints.values())
        return {(min(pair), max(pair)) for pair in ends if bodies.issuperset(pair)}

    def _pairs_of_beams(self, law: ContactLaw) -> set[tuple[str, str]]:
        """Pairs of pieces of beams that lie near each other."""
        bodies, found = set(law.bodies), set[tuple[str, str]]()
        for beam in self.mechanism.beams.values():
            if not bodies.isdisjoint(beam.nodes):
                nodes = beam.nodes
                near = ((nodes[i], nodes[j]) for i, j in _near(*_pieces(beam)) if i < j)
                found.update(pair for pair in near if bodies.issuperset(pair))
        return found

    def _tyre(self, wheel: WheelSlices) -> int:
        shape = _core.CollisionShape.tyre(wheel.radius, wheel.width, wheel.height, wheel.slices, wheel.rim)
        marker = wheel.wheel
        return self.core.add_shape(
            shape, self.index[marker.body], list(marker.position), list(marker.rotation)
        )

    def _shapes_of(self, body: str) -> list[int]:
        if body not in self._shapes:
            self._shapes[body] = [
                self.core.add_shape(
                    collision_shape(shape), self.index[body], list(shape.position), list(shape.rotation)
                )
                for shape in _touching(_carrier(self.mechanism, body))
            ]
        return self._shapes[body]
