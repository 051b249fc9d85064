"""Commands on forces: ir, sf, pf; and the forces of the thesis on one body as elements of a mechanism.

These are gravity, motor, damping, support and brake. The type of an element follows from its kind, so that
nothing is lost when a mechanism is saved and loaded.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

from bellcrank import _core
from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.attachment import Force
from bellcrank.mechanism.checking import nearest
from bellcrank.mechanism.contents import with_numbers
from bellcrank.mechanism.friction import BodyDamping
from bellcrank.mechanism.marker import Marker
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.mechanism.motors import Wrench
from bellcrank.mechanism.springs import RubberString, SupportPoint
from bellcrank.shell.language import BODY, QUATERNION, Argument, Command, Given, Option, Reply, vector
from bellcrank.shell.parsing import unit_quaternion
from bellcrank.shell.session import Session

GROUP: Final = "Forces, in the words of the Virtual Erector Set"
_APART: Final = ("type", "bodies", "on", "efforts", "energy")
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


def change_force(session: Session, body: str, name: str, given: dict[str, Any]) -> None:
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


def _number(name: str, unit: str = "") -> tuple[Argument]:
    return (Argument(name, "number", unit=unit),)


def _rubber(session: Session, given: Given) -> Reply:
    name = given["localname"]
    if name in session.now.off:
        raise MechanismError(Fault(f"force {name!r}", "this name is taken by a force that is off"))
    values = {
        field: given.option(word)
        for word, field in (("-e", "restitution"), ("-v", "closing_speed"))
        if given.option(word) is not None
    }
    stiffness, length = (1.0 if given.option(word) is None else given.option(word) for word in ("-k", "-l"))
    ends = [
        Marker(given[body], given.option(word) or (0.0, 0.0, 0.0))
        for body, word in (("body1", "-lone"), ("body2", "-ltwo"))
    ]
    kind = RubberString(stiffness, length, **values)
    session.edit(lambda m: m.add_force(name, kind, *ends), structure=False)
    return Reply(data={"force": name})


def _set(session: Session, given: Given) -> Reply:
    options: dict[str, Any] = {word: given.option(word) for word in given.options}
    if "-E" in options:
        options["-E"] = unit_quaternion("sf -E", options["-E"])
    if "-t" in options and "-s" in options:
        raise MechanismError(Fault("sf", "a force has one point", None, "give -t or -s"))
    change_force(session, given["body"], given["force"], options)
    return Reply(data={"body": given["body"], "force": given["force"]})


def _print(session: Session, given: Given) -> Reply:
    body, name = given.get("body"), given.get("force")
    active, off = session.mechanism.forces, session.now.off
    if name is not None:
        force, on = find(session, body, name)
        listed = [(force, on)]
    else:
        every = [*((f, True) for f in active.values()), *((f, False) for f in off.values())]
        listed = [(f, on) for f, on in every if body is None or body in bodies_of(f)]
    exerted = _exerted(session) if any(on for _, on in listed) else {}
    found = {f.name: described(f, on) | exerted.get(f.name, {}) for f, on in listed}
    return Reply("\n".join(_line(n, facts) for n, facts in found.items()) or "no forces", {"forces": found})


def _exerted(session: Session) -> dict[str, dict[str, Any]]:
    """The efforts of each force at the current state, by name with their units, and its energy."""
    from bellcrank.formulations.preparing import prepare
    from bellcrank.trajectory.observation import observation

    model, settings = session.model(), session.now.settings
    system = prepare(model, settings.formulation, **settings.options)
    if session.now.live is not None:
        system.set_state(session.now.live)
    what = observation(model)
    layout, frame = what.layout, _core.observe(system.core, what.core)[0]
    efforts, energies = (frame[layout.columns[name]] for name in ("force_efforts", "force_potentials"))
    found: dict[str, dict[str, Any]] = {name: {} for name in layout.forces}
    for column, effort in zip(layout.force_columns, efforts.tolist(), strict=True):
        found[column.force].setdefault("efforts", {})[f"{column.name} [{column.unit}]"] = effort
    for name, energy in zip(layout.force_potentials, energies.tolist(), strict=True):
        found[name]["energy"] = found[name].get("energy", 0.0) + energy
    return found


def _line(name: str, facts: dict[str, Any]) -> str:
    values = ", ".join(f"{key} {value}" for key, value in facts.items() if key not in _APART)
    exerts = "".join(f"; {along} {effort:.6g}" for along, effort in facts.get("efforts", {}).items())
    exerts += f"; energy {facts['energy']:.6g} J" if "energy" in facts else ""
    state = "" if facts["on"] else " (off)"
    return f"{name}{state}: {facts['type']} on {', '.join(facts['bodies'])}; {values}{exerts}"


COMMANDS: Final = (
    Command(
        "ir",
        "Instance a rubber string between two bodies: it pulls when longer than its rest length.",
        _rubber,
        (Argument("localname", "name"), Argument("body1", "carrier"), Argument("body2", "carrier")),
        (
            Option("-k", "Spring constant, 1 N/m.", _number("stiffness", "N/m")),
            Option("-l", "Rest length, 1 m.", _number("length", "m")),
            Option("-e", "Coefficient of restitution, 1.", _number("restitution", "1")),
            Option("-lone", "Attachment point in body one.", (vector("position", "m"),)),
            Option("-ltwo", "Attachment point in body two.", (vector("position", "m"),)),
            Option("-v", "Speed of approach at which the restitution holds, 0.1 m/s.", _number("v", "m/s")),
        ),
        example="ir string stick0 stick1 -lone -4 -.5 0 -ltwo -4 -.5 0 -k 20 -l 4 -e .1",
    ),
    Command(
        "sf",
        "Set a force acting on a body, by name; which options it takes depends on its type.",
        _set,
        (BODY, Argument("force", "force")),
        (
            Option("-g", "Gravity: gravitational constant.", _number("g", "m/s^2")),
            Option(
                "-f",
                "Motor: the spatial force in its frame, three of force, three of moment.",
                (Argument("f", "number", 6),),
            ),
            Option("-t", "Motor, brake: where it acts, in the body's frame.", (vector("position", "m"),)),
            Option("-E", "Motor, brake: orientation of its frame in the body.", (QUATERNION,)),
            Option("-d", "Damping, support, brake: damping constant.", _number("d", "N s/m or N m s/rad")),
            Option("-k", "Support: spring constant.", _number("k", "N/m or N m/rad")),
            Option("-s", "Support: point of support, in the body's frame.", (vector("position", "m"),)),
        ),
        example="sf stick0 damping -d 10",
    ),
    Command(
        "pf",
        "Print the forces, those on a body, or one of these, with what they exert where the bodies are.",
        _print,
        (Argument("body", "body", optional=True), Argument("force", "force", optional=True)),
        example="pf stick0 damping",
        keeps=True,
    ),
)
