"""`bellcrank info`: the contents of a mechanism or a run, and how this bellcrank was built."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from bellcrank.cli.options import EXISTING, reading_options
from bellcrank.cli.output import balance_of, facts, heading, show, show_balance, show_json, table
from bellcrank.trajectory.own_file import is_run

if TYPE_CHECKING:
    from bellcrank.analysis.info import MechanismInfo
    from bellcrank.mechanism.mechanism import Mechanism


_ROWS: Final = 30  # of a table, unless all are asked for
_LISTED: Final = 12  # names in a list


@click.command("info")
@click.argument("file", type=EXISTING, required=False)
@click.option("--build", is_flag=True, help="Show how this bellcrank was built, and what it includes.")
@click.option("--all", "everything", is_flag=True, help="Show long tables in full.")
@click.option("--json", "as_json", is_flag=True, help="Print the same as JSON.")
@reading_options
def info_command(
    file: str | None, build: bool, everything: bool, as_json: bool, reading: dict[str, Any]
) -> None:
    """Show the contents of FILE: a mechanism (YAML, URDF, MJCF, SDF, PDB, STL) or a recorded run (HDF5)."""
    if file is None and not build:
        raise click.UsageError("give a FILE, or --build")
    if as_json:
        shown = {"build": dict(_build())} if build else {}
        show_json(shown | (_content(file, reading) if file is not None else {}))
        return
    if build:
        show(facts(_build()))
    if file is None:
        return
    if is_run(file):
        from bellcrank.trajectory.trajectory import Trajectory

        run = Trajectory.load(file)
        click.echo(run.summary())
        show_balance(run)
        return
    from bellcrank.analysis.info import info
    from bellcrank.io import load

    mechanism = load(file, **reading)
    _tables(mechanism, None if everything else _ROWS)
    _left_out(mechanism, None if everything else _LISTED)
    if mechanism.bodies:
        _mobility(info(mechanism))


def _content(file: str, reading: dict[str, Any]) -> dict[str, Any]:
    """The contents of a file, as an object."""
    if is_run(file):
        from bellcrank.trajectory.trajectory import Trajectory

        run = Trajectory.load(file)
        kinds = ("bodies", "joints", "constraints", "forces", "drives", "sensors", "inputs", "limits")
        return {
            "run": run.name,
            "status": str(run.status),
            "message": run.status.message,
            "frames": len(run),
            "start": run.time[0] if len(run) else None,
            "end": run.time[-1] if len(run) else None,
            **{kind: getattr(run, kind) for kind in kinds},
            "statistics": run.statistics,
            **balance_of(run),
        }
    from dataclasses import fields

    from bellcrank.analysis.info import info
    from bellcrank.io import load

    mechanism = load(file, **reading)
    left_out = [str(item) for item in mechanism.left_out]
    if not mechanism.bodies:
        return {"bodies": 0, "left_out": left_out}
    found = info(mechanism)
    values = {item.name: getattr(found, item.name) for item in fields(found)}
    return {**values, "redundancies": found.redundant_texts, "left_out": left_out}


def _build() -> list[tuple[str, str]]:
    import platform

    from bellcrank import __version__, build_info
    from bellcrank.formulations.preparing import FORMULATIONS
    from bellcrank.run.plan import METHODS

    rows = [("bellcrank", __version__), ("python", platform.python_version())]
    rows += [("machine", platform.platform())]
    rows += [(name, str(value)) for name, value in build_info().items()]
    rows += [(name, _version(name)) for name in ("numpy", "h5py", "matplotlib", "trimesh")]
    rows += [("formulations", ", ".join(FORMULATIONS)), ("methods", ", ".join(METHODS))]
    return rows


def _version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _tables(mechanism: Mechanism, most: int | None) -> None:
    """Parameters, beams in the place of their nodes and segments, bodies, joints and the other elements.

    most: of each.
    """
    from bellcrank.mechanism.contents import with_numbers

    parameters = [
        (p.name, f"{p.value:.6g}", p.unit, _bounds(p.low, p.high), p.doc)
        for p in list(mechanism.parameters.values())[:most]
    ]
    _show("Parameters", ("parameter", "value", "unit", "bounds", ""), parameters, len(mechanism.parameters))
    mechanism = with_numbers(mechanism)
    beams = [
        (b.name, type(b.section).__name__, f"{b.length:.6g}", f"{sum(body.mass for body in b.bodies()):.6g}",
         str(len(b.pieces)))
        for b in list(mechanism.beams.values())[:most]
    ]  # fmt: skip
    columns: tuple[str, ...] = ("beam", "section", "length (m)", "mass (kg)", "segments")
    _show("Beams", columns, beams, len(mechanism.beams))
    made = {name for beam in mechanism.beams.values() for name in (*beam.nodes, *beam.pieces)}
    own = [body for body in mechanism.bodies.values() if body.name not in made]
    bodies = [
        (body.name, f"{body.mass:.6g}", _vector(body.com), _vector(_principal(body.inertia)))
        if body.mass_known
        else (body.name, "not known", "", "")
        for body in own[:most]
    ]
    columns = ("body", "mass (kg)", "com (m)", "principal inertia (kg m²)")
    _show("Bodies", columns, bodies, len(own))
    joints = [
        (joint.name, joint.kind.name, _between(joint.marker_1, joint.marker_2), _free(joint))
        for joint in list(mechanism.joints.values())[:most]
    ]
    _show("Joints", ("joint", "kind", "between", "free coordinates"), joints, len(mechanism.joints))
    forces = [force for force in mechanism.forces.values() if force.name not in made]
    attached = [*mechanism.constraints.values(), *forces]
    others = [(e.name, e.category, e.kind.name, _between(*e.ends)) for e in attached]
    others += [(s.name, "sensor", s.kind.name, s.text) for s in mechanism.sensors.values()]
    others += [(c.name, "change", c.kind.name, c.text) for c in mechanism.changes.values()]
    others += [(drive.name, "drive", *_driven(drive)) for drive in mechanism.drives.values()]
    columns = ("element", "is a", "kind", "of")
    _show("Constraints, forces, sensors, changes, drives", columns, others[:most], len(others))


def _show(title: str, names: tuple[str, ...], rows: list[Any], count: int) -> None:

    if count == 0:
        return
    columns = [(name, "right" if name.startswith("mass") else "left") for name in names]
    show(heading(f"{title} ({count})"), table(columns, rows))
    if len(rows) < count:
        click.echo(f"and {count - len(rows)} more (--all shows them)\n")


def _left_out(mechanism: Mechanism, most: int | None) -> None:
    """What the file contains and the mechanism does not: each rule with `most` of the elements concerned."""
    if not mechanism.left_out:
        return
    rules: dict[str, list[str]] = {}
    for fault in mechanism.left_out:
        line = (
            "" if fault.location is None or fault.location.line is None else f" (line {fault.location.line})"
        )
        value = "" if fault.value is None else f" {fault.value}"
        rule = f"{fault.rule} (it moves or weighs)" if fault.moves else fault.rule
        rules.setdefault(rule, []).append(f"{fault.element}{line}{value}")
    show(heading(f"Left out of the file ({len(mechanism.left_out)})"))
    for rule, elements in rules.items():
        more = len(elements) - len(elements[:most])
        rest = f" and {more} more (--all shows them)" if more else ""
        click.echo(f"{rule}: {', '.join(elements[:most])}{rest}")
    click.echo()


def _mobility(found: MechanismInfo) -> None:

    rows = [
        ("bodies", f"{found.bodies}, together {found.weight}"),
        ("joints", f"{found.joints}" + _counted(found.joint_kinds)),
        ("constraint rows", f"{found.rows}" + (", those of drives among them" if found.drives else "")),
        ("mobility by Grübler", f"{found.grubler} = 6 · {found.bodies} - {found.rows}"),
        ("mobility by rank", f"{found.freedom}"),
        *(("hint", hint) for hint in found.hints),
        *_listed("redundant rows", found.redundant_texts),
        *_listed("independent", found.independent),
        *_listed("closed loops", tuple(" - ".join(loop) for loop in found.loop_elements), found.loops),
        ("parts", f"{len(found.components)}" + _floating(found.floating)),
        ("formulation", found.choice),
        *([("accuracy", found.accuracy)] if found.accuracy else []),
        ("assembly", str(found.assembly).removeprefix(f"{found.name!r} ")),
    ]
    show(heading(f"Mobility of {found.name}"), facts(rows))


def _listed(what: str, names: tuple[str, ...], count: int | None = None) -> list[tuple[str, str]]:
    """Facts: how many there are, then the first of them, each on its line."""
    count = len(names) if count is None else count
    shown = [("", name) for name in names[:_LISTED]]
    more = [("", f"and {count - len(shown)} more")] if count > len(shown) else []
    return [(what, f"{count}" if count else "none"), *shown, *more]


def _floating(count: int) -> str:
    return f", {count} not held to the ground" if count else ""


def _counted(kinds: dict[str, int]) -> str:
    return f" ({', '.join(f'{count} {kind}' for kind, count in kinds.items())})" if kinds else ""


def _between(*ends: Any) -> str:
    """The bodies of the markers, and the joint coordinates, to which an element is attached."""
    return " – ".join(str(getattr(end, "body", end)) for end in ends)


def _driven(drive: Any) -> tuple[str, str]:
    """Kind of a drive, and what it drives."""
    if hasattr(drive, "marker"):
        return "path", _between(drive.marker)
    return "position" if drive.position is not None else "velocity", str(drive.coordinate)


def _free(joint: Any) -> str:
    limited = dict(joint.limits)
    texts = []
    for name in joint.kind.free:
        limit = limited.get(name)
        texts.append(name if limit is None else f"{name} [{_bound(limit.lower)}, {_bound(limit.upper)}]")
    return ", ".join(texts) or "none"


def _bounds(low: float | None, high: float | None) -> str:
    return "" if low is None and high is None else f"[{_bound(low)}, {_bound(high)}]"


def _bound(value: float | None) -> str:
    return "free" if value is None else f"{value:.4g}"


def _vector(values: Any) -> str:
    return ", ".join(f"{value:.4g}" for value in values)


def _principal(inertia: Any) -> Any:
    import numpy as np

    return np.linalg.eigvalsh(np.asarray(inertia))
