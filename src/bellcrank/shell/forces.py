"""Commands on forces: ir, sf, pf."""

from __future__ import annotations

from typing import Any, Final

from bellcrank import _core
from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.marker import Marker
from bellcrank.mechanism.springs import RubberString
from bellcrank.shell import thesis_forces
from bellcrank.shell.bodies import BODY, QUATERNION, unit, vector
from bellcrank.shell.language import Argument, Command, Given, Option
from bellcrank.shell.reply import Reply
from bellcrank.shell.session import Session

GROUP: Final = "Forces, in the words of the Virtual Erector Set"
_APART: Final = ("type", "bodies", "on", "efforts", "energy")


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
        options["-E"] = unit("sf -E", options["-E"])
    if "-t" in options and "-s" in options:
        raise MechanismError(Fault("sf", "a force has one point", None, "give -t or -s"))
    thesis_forces.change(session, given["body"], given["force"], options)
    return Reply(data={"body": given["body"], "force": given["force"]})


def _print(session: Session, given: Given) -> Reply:
    body, name = given.get("body"), given.get("force")
    active, off = session.mechanism.forces, session.now.off
    if name is not None:
        force, on = thesis_forces.find(session, body, name)
        listed = [(force, on)]
    else:
        every = [*((f, True) for f in active.values()), *((f, False) for f in off.values())]
        listed = [(f, on) for f, on in every if body is None or body in thesis_forces.bodies_of(f)]
    exerted = _exerted(session) if any(on for _, on in listed) else {}
    found = {f.name: thesis_forces.described(f, on) | exerted.get(f.name, {}) for f, on in listed}
    return Reply("\n".join(_line(n, told) for n, told in found.items()) or "no forces", {"forces": found})


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


def _line(name: str, told: dict[str, Any]) -> str:
    values = ", ".join(f"{key} {value}" for key, value in told.items() if key not in _APART)
    exerts = "".join(f"; {along} {effort:.6g}" for along, effort in told.get("efforts", {}).items())
    exerts += f"; energy {told['energy']:.6g} J" if "energy" in told else ""
    state = "" if told["on"] else " (off)"
    return f"{name}{state}: {told['type']} on {', '.join(told['bodies'])}; {values}{exerts}"


COMMANDS: Final = (
    Command(
        "ir",
        GROUP,
        "Instance a rubber string between two bodies: it pulls when longer than its rest length.",
        _rubber,
        (Argument("localname", "name"), Argument("body1", "carrier"), Argument("body2", "carrier")),
        (
            Option("-k", "Spring constant, 1 N/m.", _number("stiffness", "N/m")),
            Option("-l", "Rest length, 1 m.", _number("length", "m")),
            Option("-e", "Coefficient of restitution, 1.", _number("restitution", "1")),
            Option("-lone", "Attachment point in body one.", (vector("position", "m"),)),
            Option("-ltwo", "Attachment point in body two.", (vector("position", "m"),)),
            Option(
                "-v",
                "Speed of approach at which the restitution holds, 0.1 m/s.",
                _number("v", "m/s"),
            ),
        ),
        example="ir string stick0 stick1 -lone -4 -.5 0 -ltwo -4 -.5 0 -k 20 -l 4 -e .1",
    ),
    Command(
        "sf",
        GROUP,
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
        GROUP,
        "Print the forces, those on a body, or one of these, with what they exert where the bodies are.",
        _print,
        (Argument("body", "body", optional=True), Argument("force", "force", optional=True)),
        example="pf stick0 damping",
        keeps=True,
    ),
)
