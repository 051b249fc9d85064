"""The forces of the thesis on one body: gravity, motor, damping, support, brake; as elements of a mechanism.

The type of an element follows from its kind, so that nothing is lost when a mechanism is saved and loaded.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.attachment import Force
from bellcrank.mechanism.checking import nearest
from bellcrank.mechanism.contents import with_numbers
from bellcrank.mechanism.friction import BodyDamping
from bellcrank.mechanism.marker import Marker
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.mechanism.motors import Wrench
from bellcrank.mechanism.springs import SupportPoint

if TYPE_CHECKING:
    from bellcrank.shell.session import Session

TYPES: Final = ("gravity", "motor", "damping", "support", "brake")
OPTIONS: Final = {
    "gravity": ("-g",),
    "motor": ("-f", "-t", "-E"),
    "damping": ("-d",),
    "support": ("-d", "-k", "-s"),
    "brake": ("-d", "-t", "-E"),
}
"""The options of `sf` that each type takes."""

_GRAVITY = 9.81  # m/s²
_STIFFNESS = 1000.0  # N/m of a new support


def kind_of(force: Force) -> str | None:
    """The thesis's type of a force, or None."""
    kind = force.kind
    if isinstance(kind, SupportPoint):
        return "support"
    if isinstance(kind, BodyDamping):
        return "damping" if _any(kind.rotational_damping) or is_idle(kind) else "brake"
    if isinstance(kind, Wrench):
        if kind.axes == "marker":
            return "motor"
        plain = all(isinstance(c, (int, float)) for c in (*kind.force, *kind.moment))
        if plain and not any((*kind.force[:2], *kind.moment)):
            return "gravity"
    return None


def is_idle(kind: object) -> bool:
    """Whether this is a damping of zero, whose values do not show whether it is a brake."""
    return isinstance(kind, BodyDamping) and not (_any(kind.damping) or _any(kind.rotational_damping))


def _any(values: Any) -> bool:
    """Whether any of the numbers is nonzero or any of the values is an expression."""
    listed = values if isinstance(values, tuple) else (values,)
    return any(not isinstance(v, (int, float)) or v != 0.0 for v in listed)


def bodies_of(force: Force) -> tuple[str, ...]:
    """The bodies of a force's markers."""
    return tuple(marker.body for marker in force.markers)


@contextmanager
def weights_following(session: Session) -> Iterator[None]:
    """Within this context, keep the thesis's gravity of each body, on or off, in proportion to its mass."""
    before = _masses(session.mechanism)
    yield
    after = _masses(session.mechanism)
    factors = {name: after[name] / before[name] for name in before if after.get(name) != before[name]}

    def weighed(force: Force) -> Force:
        made: Any = force.kind
        factor = factors.get(force.markers[0].body, 1.0) if kind_of(force) == "gravity" else 1.0
        if factor == 1.0:
            return force
        return replace(force, kind=replace(made, force=tuple(factor * component for component in made.force)))

    def change(mechanism: Mechanism) -> None:
        for force in list(mechanism.forces.values()):
            if (heavier := weighed(force)) is not force:
                mechanism.replace(force, kind=heavier.kind)

    if factors:
        session.edit(change, structure=False)
        session.set(off={name: weighed(force) for name, force in session.now.off.items()})


def _masses(mechanism: Mechanism) -> dict[str, float]:
    return {name: float(body.mass) for name, body in with_numbers(mechanism).bodies.items()}


def instance(mechanism: Mechanism, body: str, kind: str, name: str) -> None:
    """Add a force of a type, with plain values."""
    numbers = with_numbers(mechanism).bodies[body]
    com = Marker(body, numbers.com)
    origin = Marker(body)
    made: dict[str, tuple[Any, Marker]] = {
        "gravity": (Wrench(force=(0.0, 0.0, -numbers.mass * _GRAVITY)), com),
        "motor": (Wrench(axes="marker"), origin),
        "damping": (BodyDamping(1.0, 1.0), com),
        "support": (SupportPoint(_STIFFNESS), origin),
        "brake": (BodyDamping(1.0), origin),
    }
    mechanism.add_force(f"{body}.{name}", *made[kind])


def find(session: Session, body: str, name: str) -> tuple[Force, bool]:
    """A force on a body, by its name there or its full name; and whether it is switched on.

    Raises MechanismError if the body has no force of this name.
    """
    active, off = session.mechanism.forces, session.now.off
    for key in (f"{body}.{name}", name):
        force = active.get(key) or off.get(key)
        if force is not None and body in bodies_of(force):
            return force, key in active
    held = [f.name for f in (*active.values(), *off.values()) if body in bodies_of(f)]
    known = [key.removeprefix(f"{body}.") for key in held]
    raise MechanismError(Fault(f"body {body!r}", "it has no force of this name", name, nearest(name, known)))


def toggle(session: Session, body: str, name: str) -> bool:
    """Switch a force off or on; return whether it is on now."""
    force, active = find(session, body, name)
    off = dict(session.now.off)
    if active:
        off[force.name] = force
        session.edit(lambda m: m.remove(m.forces[force.name]), structure=False)
    else:
        del off[force.name]
        session.edit(lambda m: m.add_force(force.name, force.kind, *force.ends), structure=False)
    session.set(off=off)
    return not active


def change(session: Session, body: str, name: str, given: dict[str, Any]) -> None:
    """Set values of a force from options of `sf`.

    Raises MechanismError for options that its type does not have.
    """
    force, active = find(session, body, name)
    kind = "brake" if force.name in session.now.idle_brakes and is_idle(force.kind) else kind_of(force)
    if kind is None:
        advice = "remove it and make it anew with force"
        raise MechanismError(Fault(f"force {name!r}", f"sf does not set a {force.kind.name}", None, advice))
    if wrong := [word for word in given if word not in OPTIONS[kind]]:
        advice = f"{kind} takes {', '.join(OPTIONS[kind])}"
        raise MechanismError(Fault(f"force {name!r}", f"a {kind} has no {wrong[0]}", None, advice))
    mass = with_numbers(session.mechanism).bodies[body].mass
    changed = _changed(force, kind, given, mass)
    if kind == "brake":
        session.set(idle_brakes=session.now.idle_brakes | {force.name})
    if active:
        session.edit(lambda m: m.replace(m.forces[force.name], kind=changed.kind, ends=changed.ends), False)
    else:
        session.set(off={**session.now.off, force.name: changed})


def _changed(force: Force, kind: str, given: dict[str, Any], mass: float) -> Force:
    """The force with changed values."""
    made: Any = force.kind
    marker = force.markers[0]
    point = given.get("-t", given.get("-s", marker.position))
    turn = given.get("-E", marker.rotation)
    if kind == "gravity" and "-g" in given:
        made = replace(made, force=(0.0, 0.0, -mass * given["-g"]))
    elif (
        kind == "motor" and "-f" in given
    ):  # a line in Plücker's order, force over moment (thesis, appendix A.1)
        made = replace(made, force=given["-f"][:3], moment=given["-f"][3:])
    elif kind in ("damping", "brake") and "-d" in given:
        turning = {"rotational_damping": given["-d"]} if kind == "damping" else {}
        made = BodyDamping(given["-d"], **turning)
    elif kind == "support":
        fields = {
            field: given[word] for word, field in (("-k", "stiffness"), ("-d", "damping")) if word in given
        }
        made = replace(made, **fields)
    return Force(force.name, made, (Marker(marker.body, point, turn),))


def described(force: Force, active: bool) -> dict[str, Any]:
    """A description of a force, in words and numbers."""
    kind = kind_of(force)
    numbers = {
        name: value for name, value in vars(force.kind).items() if name != "ends" and not name.startswith("_")
    }
    return {
        "type": kind or force.kind.name,
        "bodies": list(bodies_of(force)) or [str(end) for end in force.ends],
        "on": active,
        **{
            name: value if isinstance(value, (int, float, str)) else str(value)
            for name, value in numbers.items()
        },
        **({"at": list(force.markers[0].position)} if kind in ("motor", "support", "brake") else {}),
    }
