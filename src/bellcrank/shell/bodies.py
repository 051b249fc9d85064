"""Commands on bodies and markers: ib, pb, pm, sb."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import numpy as np

from bellcrank.mechanism.contents import numbers_in, with_numbers
from bellcrank.mechanism.marker import GROUND
from bellcrank.shell import forces
from bellcrank.shell.language import BODY, QUATERNION, Argument, Command, Given, Option, Reply, vector
from bellcrank.shell.parsing import unit_quaternion
from bellcrank.shell.session import Session, pose_in

GROUP: Final = "Bodies, in the words of the Virtual Erector Set"


def _instance(session: Session, given: Given) -> Reply:
    name = given["localname"]
    session.edit(lambda m: m.add_body(name, mass=1.0, inertia=(1.0, 1.0, 1.0)))
    return Reply(data={"body": name})


def _set(session: Session, given: Given) -> Reply:
    name = given["body"]
    pose = {
        field: given.option(word)
        for word, field in (("-vl", "velocity"), ("-vr", "angular_velocity"), ("-t", "position"))
        if given.option(word) is not None
    }
    if (turn := given.option("-E")) is not None:
        pose["rotation"] = unit_quaternion("sb -E", turn)
    if pose:
        session.edit(lambda m: m.replace(m.bodies[name], **pose))
    matter = {
        field: given.option(word)
        for word, field in (("-in", "inertia"), ("-m", "mass"))
        if word in given.options
    }
    if matter:
        if "inertia" in matter:
            low, middle, high = sorted(matter["inertia"])
            # The thesis accepts any principal moments, including those that no distribution of mass has.
            matter["check_inertia"] = low + middle >= high
        with forces.weights_following(session):
            session.edit(lambda m: m.replace(m.bodies[name], **matter), structure=False)
    for kind, force in given.options.get("-if", ()):
        session.edit(partial(forces.instance, body=name, kind=kind, name=force), structure=False)
    states = {}
    for (force,) in given.options.get("-f", ()):
        states[force] = "on" if forces.toggle(session, name, force) else "off"
    text = ", ".join(f"{force} is {state}" for force, state in states.items())
    return Reply(text, {"body": name, **({"forces": states} if states else {})})


def _print(session: Session, given: Given) -> Reply:
    named = given.get("localname")
    state, numbers = session.state(), with_numbers(session.mechanism)
    found, lines = {}, []
    for number, body in enumerate(numbers.bodies.values()):
        if named not in (None, body.name):
            continue
        now: dict[str, Any] = pose_in(state, number)
        held = [force.name for force in numbers.forces.values() if body.name in forces.bodies_of(force)]
        principal = np.linalg.eigvalsh(np.asarray(body.inertia)).tolist()
        found[body.name] = {**now, "mass": body.mass, "principal_inertia": principal, "forces": held}
        lines += [
            body.name,
            f"    -t  {_row(now['position'])}   -E  {_row(now['rotation'])}",
            f"    -vl {_row(now['velocity'])}   -vr {_row(now['angular_velocity'])}",
            f"    -m  {body.mass:.6g}   -in {_row(principal)}",
            *([f"    forces: {', '.join(held)}"] if held else []),
        ]
    return Reply("\n".join(lines) or "no bodies yet", {"time": session.now.time, "bodies": found})


def _print_markers(session: Session, given: Given) -> Reply:
    wanted, state, mechanism = given.get("name"), session.state(), session.mechanism
    if wanted is not None:
        mechanism.marker(wanted)  # raises if there is none
    index = list(mechanism.bodies)
    found, lines = {}, []
    for name in [wanted] if wanted is not None else mechanism.markers:
        marker = numbers_in(mechanism, mechanism.marker(name))
        place, velocity = np.array(mechanism.position_in_world(marker, state)), np.zeros(3)
        if marker.body != GROUND:
            number = index.index(marker.body)
            arm = place - state.position[number]
            velocity = state.velocity[number] + np.cross(state.angular_velocity[number], arm)
        found[name] = {"position": place.tolist(), "velocity": velocity.tolist()}
        lines += [name, f"    -t  {_row(place)}   -vl {_row(velocity)}"]
    return Reply("\n".join(lines) or "no markers yet", {"time": session.now.time, "markers": found})


def _row(values: Any) -> str:
    return " ".join(f"{value:.6g}" for value in values)


COMMANDS: Final = (
    Command(
        "ib",
        "Instance a body: mass 1 kg, inertia 1 kg m², at the origin, without forces.",
        _instance,
        (Argument("localname", "name"),),
        example="ib stick5",
    ),
    Command(
        "pb",
        "Print a body, or all of them: where it is now and how it moves, its mass and its forces.",
        _print,
        (Argument("localname", "body", optional=True),),
        example="pb stick0",
        keeps=True,
    ),
    Command(
        "pm",
        "Print a marker, or all named ones: where it is in the world now, and its velocity.",
        _print_markers,
        (Argument("name", "element", optional=True),),
        example="pm stick0",
        keeps=True,
    ),
    Command(
        "sb",
        "Set parameters of a body; vectors in world axes, lengths in m, times in s.",
        _set,
        (BODY,),
        (
            Option("-vl", "Linear velocity.", (vector("velocity", "m/s"),)),
            Option("-vr", "Rotational velocity.", (vector("angular_velocity", "rad/s"),)),
            Option("-t", "Translation: where its frame, the centre of mass, is.", (vector("position", "m"),)),
            Option("-E", "Orientation, a quaternion w x y z; its length does not matter.", (QUATERNION,)),
            Option(
                "-in",
                "Inertia along the principal axes; all three zero make a particle.",
                (vector("inertia", "kg m^2"),),
            ),
            Option("-m", "Mass.", (Argument("mass", "number", unit="kg"),)),
            Option(
                "-if",
                "Instance a force on it.",
                (Argument("type", "choice", choices=forces.TYPES), Argument("name", "name")),
            ),
            Option("-f", "Toggle a force on it, off and on again.", (Argument("name", "force"),)),
        ),
        example="sb stick0 -in 0.104167 8.35417 8.41667 -E .5 0 .5 0 -t 6 -15 10",
    ),
)
