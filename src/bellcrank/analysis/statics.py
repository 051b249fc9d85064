"""Statics: the equilibrium of a mechanism, the efforts that its drives must hold, and its joint reactions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bellcrank import _core
from bellcrank.analysis.equilibrium import EquilibriumReport, find_equilibrium, standing_still
from bellcrank.assembly.compile import compile_mechanism
from bellcrank.assembly.initial import assembled
from bellcrank.assembly.model import Model
from bellcrank.assembly.state import Floats, State
from bellcrank.formulations.accelerations import Accelerations, DriveEffort, JointReaction
from bellcrank.formulations.preparing import prepare
from bellcrank.formulations.system import System
from bellcrank.mechanism.body import Body
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.trajectory.observation import observation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NOTHING: Final = 1e-12  # of the largest force: less is rounding, and shown as zero


@dataclass(frozen=True, eq=False)
class Statics:
    """A mechanism at rest.

    equilibrium: the search, its energy and stability; see `EquilibriumReport`.
    state: of the bodies there, all velocities zero. position: by joint, its coordinates there.
    drives: by name, the effort that a drive must hold, along each coordinate that it drives. joints: by name,
        the reaction that the joint exerts on its second body: moment about marker 2, force, world axes.
        limits, constraints: efforts by the name of the joint, and of the gear, belt or cable. forces: by
        name, the efforts of springs and motors, by the coordinate or component that they act along.
    at: a copy of the mechanism in equilibrium; the given mechanism is not changed.
    """

    mechanism: str
    equilibrium: EquilibriumReport
    state: State
    position: Mapping[str, Floats]
    drives: Mapping[str, DriveEffort]
    joints: Mapping[str, JointReaction]
    limits: Mapping[str, DriveEffort]
    constraints: Mapping[str, DriveEffort]
    forces: Mapping[str, Mapping[str, float]]
    at: Mechanism = field(repr=False)

    def draw(self, path: str | Path | None = None, **options: Any) -> Figure:
        """Draw the mechanism at rest, with joint forces on second bodies and the efforts that drives hold.

        path: file to write the picture into (PNG, PDF or SVG). options: of `Mechanism.draw`.
        """
        from bellcrank.analysis.statics_pictures import draw_statics

        return draw_statics(self, path, options)

    def to_dict(self) -> dict[str, Any]:
        """The results as plain values, as `bellcrank statics --json` prints them."""
        rest = self.equilibrium
        listed = {
            kind: {
                name: {"effort": e.effort if np.isscalar(e.effort) else np.asarray(e.effort).tolist(),
                       "units": list(e.units), "determined": e.unique}
                for name, e in getattr(self, kind).items()
            }
            for kind in ("drives", "limits", "constraints")
        }  # fmt: skip
        return {
            "mechanism": self.mechanism,
            "stability": rest.stability,
            "least_eigenvalue": rest.least_eigenvalue,
            "uncertainty": rest.uncertainty,
            "degrees_of_freedom": rest.freedoms,
            "energy": rest.energy,
            "force_left": rest.force,
            "largest_force": rest.scale,
            "bodies": {
                name: {"position": p.tolist(), "rotation": q.tolist()}
                for name, p, q in zip(self.at.bodies, self.state.position, self.state.rotation, strict=True)
            },
            "position": {name: value.tolist() for name, value in self.position.items()},
            **listed,
            "joints": {
                name: {
                    "moment": r.moment.tolist(),
                    "force": r.force.tolist(),
                    "determined": r.reaction_unique,
                }
                for name, r in self.joints.items()
            },
            "forces": {name: dict(found) for name, found in self.forces.items()},
            "notes": list(rest.notes),
        }

    def __str__(self) -> str:
        rest = self.equilibrium
        lines = [f"{self.mechanism!r} at rest: {rest.state_text}", f"  potential energy {rest.energy:.6g} J"]
        efforts = [
            (f"{noun} {name}", _numbers(e.efforts, self._zero), " ".join(dict.fromkeys(e.units)), e.unique)
            for noun, found in (
                ("drive", self.drives),
                ("limit", self.limits),
                ("constraint", self.constraints),
            )
            for name, e in found.items()
        ]
        lines += _table("holds", efforts)
        forces = [
            (f"force {name}", _numbers([value], self._zero), what, True)
            for name, found in self.forces.items()
            for what, value in found.items()
        ]
        lines += _table("exerts", forces)
        wide = max(map(len, self.joints), default=0)
        if self.joints:
            lines.append("  reactions on the second body, moment (N m) and force (N), world axes:")
        for name, reaction in self.joints.items():
            parts = f"{_numbers(reaction.moment, self._zero)}  {_numbers(reaction.force, self._zero)}"
            shared = "" if reaction.reaction_unique else "  shared with redundant constraints"
            lines.append(f"    {name:<{wide}} {parts}{shared}")
        return "\n".join([*lines, *(f"  note: {note}" for note in rest.notes)])

    @property
    def _zero(self) -> float:
        return _NOTHING * self.equilibrium.scale


def statics(
    mechanism: Mechanism,
    time: float = 0.0,
    *,
    pinned: str | Body | Iterable[str | Body] = (),
    tolerance: float = 1e-12,
    iterations: int = 1000,
    leave_unstable: bool = True,
) -> Statics:
    """Find the static equilibrium of a mechanism, the efforts that drives must hold, and joint reactions.

    Drives are held where they are at `time`. Arguments and errors are those of `bc.find_equilibrium`; the
    mechanism itself is not changed.
    """
    twin = mechanism.copy() if isinstance(mechanism, Mechanism) else mechanism
    found = find_equilibrium(
        twin,
        time,
        pinned=pinned,
        tolerance=tolerance,
        iterations=iterations,
        leave_unstable=leave_unstable,
    )
    model, _ = assembled(compile_mechanism(twin, time))
    rest = model.initial
    still = np.zeros_like(rest.velocity)
    at_rest = State(rest.time, rest.position, rest.rotation, still, still, rest.angles)
    held = standing_still(model)
    system = prepare(held, "lagrange")
    acting = system.accelerate(at_rest)
    values = model.coordinate_values(at_rest)
    return Statics(
        mechanism=model.name,
        equilibrium=found,
        state=at_rest,
        position={j.name: values[list(j.coordinates)] for j in model.joints if j.coordinates},
        drives=_efforts(model, acting, "drive"),
        joints={name: acting.joint(name) for name, _, _ in model.reactions},
        limits=_efforts(model, acting, "limit"),
        constraints=_efforts(model, acting, "constraint"),
        forces=_forces(held, system),
        at=twin,
    )


def _efforts(model: Model, acting: Accelerations, kind: str) -> Mapping[str, DriveEffort]:
    names = dict.fromkeys(m.element for m in model.multipliers if m.kind == kind)
    return {name: getattr(acting, kind)(name) for name in names}


def _forces(model: Model, system: System) -> Mapping[str, Mapping[str, float]]:
    """Efforts by name of the force, and by the coordinate or component that they act along."""
    what = observation(model)
    frame = _core.observe(system.core, what.core)[0]
    values = frame[what.layout.columns["force_efforts"]]
    found: dict[str, Mapping[str, float]] = {}
    for name, places in what.layout.force_numbers.items():
        columns = what.layout.force_columns[places]
        pairs = zip(columns, values[places].tolist(), strict=True)
        found[name] = {f"{c.name} [{c.unit}]": value for c, value in pairs}
    return {name: one for name, one in found.items() if one}


def _numbers(values: Any, zero: float) -> str:
    return " ".join(f"{0.0 if abs(v) <= zero else v:11.5g}" for v in np.ravel(values).tolist())


def _table(verb: str, rows: list[tuple[str, str, str, bool]]) -> list[str]:
    wide = max((len(name) for name, _, _, _ in rows), default=0)
    return [
        f"  {name:<{wide}} {verb} {numbers} {unit}"
        + ("" if unique else "  shared with redundant constraints")
        for name, numbers, unit, unique in rows
    ]
