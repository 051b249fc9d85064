"""Commands on beams: beam adds one, pbeam prints what it carries now."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final

import numpy as np

from bellcrank.errors import Fault, MechanismError, Unsupported
from bellcrank.io.fields import parameters
from bellcrank.mechanism.checking import nearest
from bellcrank.mechanism.section import SECTION_KINDS
from bellcrank.shell.description import KIND, NAME, added, entries_of, fields_of, node_of
from bellcrank.shell.language import Argument, Command, Given, Reply
from bellcrank.shell.session import Session
from bellcrank.trajectory.beam_values import QUANTITIES
from bellcrank.trajectory.beams import BeamHistory, beam_history

GROUP: Final = "Beams"


def _beam(session: Session, given: Given) -> Reply:
    kind, fields = given["kind"], fields_of(given)
    if kind not in SECTION_KINDS:
        rule = "there is no section of this kind"
        raise MechanismError(Fault(f"beam {given['name']!r}", rule, kind, nearest(kind, SECTION_KINDS)))
    own = parameters(SECTION_KINDS[kind])
    section = {"type": node_of(kind), **{name: node for name, node in fields.items() if name in own}}
    more = {name: node for name, node in fields.items() if name not in own}
    return added(session, "beam", given["name"], {"section": entries_of(section), **more})


def _print(session: Session, given: Given) -> Reply:
    beams = session.mechanism.beams
    wanted = given.get("beam")
    if wanted is not None and wanted not in beams:
        rule = "there is no beam of this name"
        raise MechanismError(Fault("pbeam", rule, wanted, nearest(wanted, beams)))
    found: dict[str, Any] = {}
    lines: list[str] = []
    for name in [wanted] if wanted is not None else beams:
        found[name] = _numbers(_now(session, name))
        own = found[name]
        lines.append(f"{name}, {own['length']:.6g} m, {own['mass']:.6g} kg")
        for place, station in enumerate(own["station"]):
            deflection, force, moment = (own[key][place] for key in ("deflection", "force", "moment"))
            stress = f"   stress {own['von_mises'][place]:.4g}" if "von_mises" in own else ""
            lines.append(
                f"    {station:<8.4g} deflection {_row(deflection)}   force {_row(force)}   "
                f"moment {_row(moment)}{stress}"
            )
    return Reply("\n".join(lines) or "no beams yet", {"time": session.now.time, "beams": found})


def _now(session: Session, name: str) -> BeamHistory:
    """A beam where it is now."""
    state, known = session.state(), {body: number for number, body in enumerate(session.mechanism.bodies)}

    def poses(body: str) -> tuple[Any, Any]:
        return state.position[known[body]][None], state.rotation[known[body]][None]

    return beam_history(session.mechanism, name, np.array([session.now.time]), poses)


def _numbers(beam: BeamHistory) -> dict[str, Any]:
    """What it carries at its nodes, in SI units, in the axes of its sections."""
    found = {
        "length": beam.length,
        "mass": beam.mass,
        "station": beam.stations.tolist(),
        "deflection": beam.deflection()[0].tolist(),
        "force": beam.force()[0].tolist(),
        "moment": beam.moment()[0].tolist(),
    }
    with suppress(Unsupported):
        found["von_mises"] = QUANTITIES["von_mises"].values(beam, beam.stations)[0].tolist()
    return found


def _row(values: Any) -> str:
    return " ".join(f"{value:.4g}" for value in values)


COMMANDS: Final = (
    Command(
        "beam",
        "Add an elastic beam with a section of a kind, Tube, Circle, Rectangle, IBeam, General or Composite. "
        "An end at a body or marker is welded there, or joined by start_joint, end_joint; at a place it is "
        "free. `edit [beams, name, segments] 16` changes what it is made of.",
        _beam,
        (NAME, KIND),
        fields="start=... end=[...] segments=... diameter=... wall=... E=... nu=... density=... ...",
        example='beam boom Tube start=stick0 end=[2, 0, 9] diameter="60 mm" wall="3 mm" E="210 GPa" nu=0.3 '
        "density=7850",
    ),
    Command(
        "pbeam",
        "Print a beam, or all of them: at its nodes the deflection, force and moment in the axes of the "
        "section, now, and the stress by von Mises where the section has sizes.",
        _print,
        (Argument("beam", "text", optional=True),),
        example="pbeam",
        keeps=True,
    ),
)
