"""What a mechanism consists of and how it can move: the data behind `bellcrank info`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from bellcrank.analysis.mobility import mobility
from bellcrank.compile.compile import compile_mechanism
from bellcrank.compile.dependence import redundant_rows
from bellcrank.compile.hints import hints
from bellcrank.compile.initial import assembled
from bellcrank.compile.level import idle_weight
from bellcrank.compile.model import Model
from bellcrank.compile.report import AssemblyReport, Redundancy, limit_of_digits
from bellcrank.compile.stray_axes import stray_axes
from bellcrank.formulations.preparing import choice, prepare_positions
from bellcrank.mechanism.contents import with_numbers
from bellcrank.mechanism.html import displayed
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.slips import answered, answering

_BEAMS = 10  # how many beams are listed by name
_LOOPS = 20  # how many loops are listed element by element
_REDUNDANT = 10  # and for how many redundant rows the rows that they follow from are listed


@displayed()
@answering
@dataclass(frozen=True)
class MechanismInfo:
    """Facts about a mechanism in its assembled initial configuration.

    bodies, joints, constraints, forces, drives: counts. joint_kinds: how many joints of each kind.
    beams: by name, their mass, kg; their nodes and segments count among bodies and forces.
    mass: kg, of bodies whose masses are known. unweighed: the others.
    rows: constraint rows that are equations.
    grubler: 6 per body less rows.
    freedom: 6 per body less the rank of the rows, the degrees of freedom of velocities; it exceeds
        `grubler` by the number of redundant rows.
    position_freedom: the same without velocity constraints, as rolling wheels and blades have: the dimension
        of the configurations that the mechanism can reach.
    redundant: the redundant rows by name. Which of several dependent rows is called redundant is arbitrary.
    redundancies: the same rows with the rows that each follows from.
    independent: coordinates that determine the motion if they are driven (empty for very large mechanisms).
    loops: number of independent closed loops. loop_elements: joints and constraints round the first of them.
    components: groups of connected bodies (the ground does not connect), largest first.
    floating: how many of these are not connected to the ground.
    hints: what was perhaps not meant: why nothing can move, if the axis of a joint points another way than
        those around it, or weight acts along the axes; values that look like those in another unit.
    choice: the formulation that "auto" takes for it, and why.
    uncertainty: of the accelerations due to double precision, relative to the largest; mostly 0.
    assembly: the report of its assembly.

    >>> info = bc.info(slider_crank)
    >>> info.bodies, info.mass, info.joint_kinds
    (2, 3.0, {'Revolute': 1, 'ParallelLink': 1, 'Prismatic': 1})
    >>> info.freedom    # the drive takes the last one
    0
    """

    name: str
    bodies: int
    joints: int
    constraints: int
    forces: int
    drives: int
    beams: dict[str, float]
    joint_kinds: dict[str, int]
    mass: float
    unweighed: tuple[str, ...]
    rows: int
    grubler: int
    freedom: int
    position_freedom: int
    redundant: tuple[str, ...]
    redundancies: tuple[Redundancy, ...]
    independent: tuple[str, ...]
    loops: int
    loop_elements: tuple[tuple[str, ...], ...]
    components: tuple[tuple[str, ...], ...]
    floating: int
    hints: tuple[str, ...]
    choice: str
    uncertainty: float
    assembly: AssemblyReport

    @property
    def weight(self) -> str:
        """The mass of all bodies, in words."""
        if not self.unweighed:
            return f"{self.mass:.6g} kg"
        lacking = f"the masses of {len(self.unweighed)} are not known"
        return lacking if self.mass == 0.0 else f"{self.mass:.6g} kg, {lacking}"

    @property
    def beam_text(self) -> str:
        """The beams with their masses, in words."""
        listed = [f"{name} {mass:.6g} kg" for name, mass in list(self.beams.items())[:_BEAMS]]
        more = [f"{len(self.beams) - _BEAMS} more"] if len(self.beams) > _BEAMS else []
        return f"{len(self.beams)} ({', '.join([*listed, *more])})"

    @property
    def accuracy(self) -> str:
        """The uncertainty due to double precision, in words; empty if it is negligible."""
        return limit_of_digits(self.uncertainty)

    @property
    def redundant_texts(self) -> tuple[str, ...]:
        """What each redundant row follows from, in words."""
        return tuple(f"{row.name} {row.reason}" for row in self.redundancies)

    def __str__(self) -> str:
        kinds = ", ".join(f"{count} {kind}" for kind, count in self.joint_kinds.items())
        freedom = f"{self.freedom}"
        if self.position_freedom != self.freedom:
            freedom = f"{self.freedom} of velocities, {self.position_freedom} of positions"
        lines = [
            f"{self.name}",
            f"  bodies       {self.bodies} ({self.weight})",
            f"  joints       {self.joints}" + (f" ({kinds})" if kinds else ""),
            *([f"  beams        {self.beam_text}"] if self.beams else []),
            f"  constraints  {self.constraints}",
            f"  forces       {self.forces}",
            f"  drives       {self.drives}",
            f"  mobility     {freedom} ({self.rows} rows, Gruebler's count {self.grubler})",
        ]
        lines += [f"  hint         {hint}" for hint in self.hints]
        if self.independent:
            lines.append(f"  independent  {', '.join(self.independent)}")
        if self.redundant:
            lines.append(f"  redundant    {', '.join(self.redundant)}")
            lines += [f"               {text}" for text in self.redundant_texts[:_REDUNDANT]]
        lines.append(f"  loops        {self.loops}")
        lines += [f"               {' - '.join(loop)}" for loop in self.loop_elements]
        parts = len(self.components)
        lines.append(
            f"  parts        {parts}"
            + (f" ({self.floating} not held to the ground)" if self.floating else "")
        )
        if self.accuracy:
            lines.append(f"  accuracy     {self.accuracy}")
        lines.append(f"  assembly     {self.assembly}")
        return "\n".join(lines)


@answered
def info(mechanism: Mechanism | Model) -> MechanismInfo:
    """Facts about a mechanism. Raises MechanismError for faults, AssemblyError if it cannot be assembled.

    >>> info = bc.info(four_bar)
    >>> info.freedom, info.loops, len(info.redundant)    # a plane loop has three rows too many
    (0, 1, 3)
    >>> bc.info(pendulum).independent
    ("joint 'hinge'",)
    """
    described = mechanism if isinstance(mechanism, Model) else compile_mechanism(mechanism)
    model, report = assembled(described)
    found = mobility(model)
    redundancies = redundant_rows(model) if found.redundant else ()
    rows = int(np.count_nonzero(model.rigid_rows))
    graph, unweighed = model.graph, model.unweighed
    components = sorted(graph.components(), key=len, reverse=True)
    return MechanismInfo(
        name=model.name,
        bodies=len(model.bodies),
        joints=len(model.joints),
        constraints=len(model.constraints),
        forces=len(model.forces),
        drives=len(model.drives),
        beams=_beams(model),
        joint_kinds=dict(Counter(joint.kind for joint in model.joints).most_common()),
        mass=float(model.mass[[name not in unweighed for name in model.bodies]].sum()),
        unweighed=unweighed,
        rows=rows,
        grubler=6 * len(model.bodies) - rows,
        freedom=found.count,
        position_freedom=found.of_positions,
        redundant=tuple(row.name for row in redundancies),
        redundancies=redundancies,
        independent=found.independent,
        loops=len(graph.closures),
        loop_elements=tuple(tuple(graph.loop(closure)) for closure in graph.closures[:_LOOPS]),
        components=tuple(tuple(model.bodies[body] for body in bodies) for bodies in components),
        floating=sum(not grounded for grounded in graph.grounded),
        hints=_hints(model, found.count),
        choice=": ".join(choice(model)),
        uncertainty=_uncertainty(model),
        assembly=report,
    )


def _beams(model: Model) -> dict[str, float]:
    """The beams of a model by name, their mass, kg."""
    if model.source is None:
        return {}
    beams = with_numbers(model.source).beams.items()
    return {name: float(sum(body.mass for body in beam.bodies())) for name, beam in beams}


def _hints(model: Model, freedom: int) -> tuple[str, ...]:
    held = stray_axes(model, model.initial) if freedom == 0 else idle_weight(model, model.initial)
    return (*([held] if held else []), *hints(model))


def _uncertainty(model: Model) -> float:
    """Of the accelerations at the start due to double precision, relative to the largest."""
    system = prepare_positions(model, "lagrange")
    system.core.set_state(*model.initial.arrays)
    system.core.accelerate()
    return system.accuracy().accelerations
