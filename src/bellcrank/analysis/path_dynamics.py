"""Inverse dynamics of markers on paths: the efforts of drives by which they follow them.

First the motion, by constraints alone: the markers are driven along their paths, and the drives of joints
are released. Then the efforts: at each instant the released coordinates are driven again,
with the values, rates and accelerations that they have in that motion, and the paths are gone. Both are exact
to the solver's tolerance; nothing is interpolated between instants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path as FilePath
from typing import Any, Final

import numpy as np

from bellcrank import _core
from bellcrank.analysis.freedoms import freedoms
from bellcrank.analysis.leads import BEGIN, Lead, leads_of
from bellcrank.assembly.compile import compile_mechanism
from bellcrank.assembly.initial import assembled
from bellcrank.assembly.model import Model
from bellcrank.errors import Fault, FaultList, MechanismError
from bellcrank.formulations.preparing import prepare
from bellcrank.mechanism.arguments import required_names
from bellcrank.mechanism.drive import Drive
from bellcrank.mechanism.functions.path import Path
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.mechanism.naming import nearest
from bellcrank.trajectory.observation import observation
from bellcrank.trajectory.origin import Origin
from bellcrank.trajectory.recorder import Recorder
from bellcrank.trajectory.trajectory import Trajectory

_ARGUMENTS: Final = ("path", "orientation", "reference")
_BLOCK: Final = 256  # frames that are passed on together


def on_paths(
    mechanism: Mechanism | Model, along: Mapping[Any, Any], kept: Iterable[str], start: float
) -> tuple[Model, Model, tuple[Lead, ...]]:
    """The model driven along the paths, assembled; the same driven by its own coordinates; and these.

    kept: names of drives that go on as they are. Raises MechanismError for all that is wrong with the paths,
    and where paths and drives leave degrees of freedom open.
    """
    if not isinstance(mechanism, Mechanism):
        raise MechanismError(Fault("inverse_dynamics", "paths need a Mechanism, not its Model"))
    held = required_names("keep", kept)
    faults = FaultList()
    for name in held:
        if name not in mechanism.drives:
            rule = "there is no drive of this name"
            faults.add(f"keep {name!r}", rule, None, nearest(str(name), mechanism.drives))
        elif not isinstance(mechanism.drives[name], Drive):
            faults.add(f"keep {name!r}", "only drives of joints can go on", None, "give its path in along=")
    bare = mechanism.copy()
    for name, drive in mechanism.drives.items():
        if name not in held:
            bare.remove(drive)
    driven = bare.copy()
    if not isinstance(along, Mapping) or not along:
        faults.add("along", "it must name markers and their paths", along, "such as {'hand': bc.Path(...)}")
    else:
        for number, (marker, given) in enumerate(along.items(), start=1):
            with faults.collect():
                _add_path(driven, marker, given, number)
    faults.raise_any()
    own, _ = assembled(compile_mechanism(mechanism, start))
    leads = tuple(lead for lead in leads_of(own, own.initial) if lead.name not in held)
    for lead in leads:
        lead.add_to(bare)
    # What joints were given to start with has placed them; paths and leads may take them elsewhere.
    there, _ = assembled(compile_mechanism(driven, start).started(own.initial))
    found = freedoms(there)
    if found.count > 0:
        names = ", ".join(found.independent[:8])
        rule = f"its paths and drives leave {found.count} degrees of freedom open"
        advice = f"give an orientation, another path, or keep=[...] drives of what is free: {names}"
        raise MechanismError(Fault(f"mechanism {mechanism.name!r}", rule, None, advice))
    return there, compile_mechanism(bare, start).started(own.initial), leads


def _add_path(driven: Mechanism, marker: Any, given: Any, number: int) -> None:
    """A drive along a path. given: a Path, three functions of time, or arguments of `add_drive` by name."""
    arguments: dict[str, Any] = dict(given) if isinstance(given, Mapping) else {"path": given}
    if unknown := [name for name in arguments if name not in _ARGUMENTS]:
        rule = f"a path takes {', '.join(_ARGUMENTS)}"
        raise MechanismError(Fault(f"along {marker!r}", rule, ", ".join(map(str, unknown))))
    path: Any = arguments.get("path")
    if not isinstance(path, Path):
        arguments["path"] = Path(path)
    name = f"path {number}"
    while name in driven.drives:
        name += "'"
    driven.add_drive(name, marker=marker, **arguments)


def efforts_along(
    motion: Trajectory,
    bare: Model,
    leads: tuple[Lead, ...],
    formulation: str,
    options: Mapping[str, Any],
    path: str | FilePath | None,
    progress: Callable[[float], None],
) -> Trajectory:
    """The run with the efforts that a motion takes. bare: driven by the leads."""
    system = prepare(bare, formulation, **options)
    what = observation(bare, accelerations=True)
    columns = [_column(motion, lead) for lead in leads]
    values, rates, accelerations = (
        motion.store.read(section)[:, columns]
        for section in ("coordinates", "rates", "coordinate_accelerations")
    )
    recorder = Recorder(what.layout, path, description=Origin.of_model(bare))
    with recorder:
        block: list[Any] = []
        for number, time in enumerate(motion.time.tolist()):
            steered = {BEGIN: time}
            for k, lead in enumerate(leads):
                numbers = (values[number, k], rates[number, k], 0.5 * accelerations[number, k], 0.0)
                steered.update(zip(lead.inputs, map(float, numbers), strict=True))
            system.set_state(motion.at(time))
            system.inputs.update(steered)
            system.core.project()
            system.core.accelerate()
            block.append(_core.observe(system.core, what.core))
            if len(block) == _BLOCK or number + 1 == len(motion.time):
                recorder.on_block(np.concatenate(block))
                block.clear()
                progress(time)
    statistics = {**motion.statistics, "formulation": system.formulation, "method": "inverse dynamics"}
    return recorder.finish({"status": "finished", **statistics})


def _column(motion: Trajectory, lead: Lead) -> int:
    """The place of the coordinate of a lead among those of a run."""
    first: int = motion.layout.joint_coordinates[lead.joint].start
    return first + lead.which
