"""How long ropes and belts are, and how far they go around their wheels."""

from __future__ import annotations

from bellcrank.compile.compile import compile_mechanism
from bellcrank.compile.initial import assembled
from bellcrank.compile.rope_ends import ends_at, ways_of
from bellcrank.compile.state import State, adopted
from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.checking import nearest
from bellcrank.mechanism.contents import required_mechanism, with_numbers
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.mechanism.rope_path import RopePath
from bellcrank.mechanism.rope_path import rope_path as path_over
from bellcrank.mechanism.ropes import Way
from bellcrank.slips import answered


@answered
def rope_path(mechanism: Mechanism, name: str, state: State | None = None) -> RopePath:
    """The way of a rope or belt: its length, m, and the angles by which it goes around its wheels, rad.

    name: of a constraint or force such as Rope, ElasticRope, BeltLoop. state: by default the assembled
    initial configuration. What is on drums does not count.

    Raises MechanismError for another name, AssemblyError if the mechanism cannot be assembled.

    >>> belt = shafts.add_constraint("belt", bc.BeltLoop((0.05, 0.05)), "input shaft", "output shaft")
    >>> path = bc.rope_path(shafts, "belt")
    >>> print(f"{path.length:.6f} m, by hand {2 * 0.3 + 2 * np.pi * 0.05:.6f} m")
    0.914159 m, by hand 0.914159 m
    """
    required_mechanism("mechanism", mechanism)
    ways = ways_of(mechanism)
    if name not in ways:
        rule = "there is no rope or belt of this name"
        raise MechanismError(Fault(f"mechanism {mechanism.name!r}", rule, name, nearest(str(name), ways)))
    model = compile_mechanism(mechanism)
    at = assembled(model)[0].initial if state is None else adopted(model, state)
    numeric = with_numbers(mechanism)
    element = {**numeric.constraints, **numeric.forces}[name]
    kind = element.kind
    assert isinstance(kind, Way)
    points, axes = ends_at(model, element, at)
    return path_over(kind.drawn_radii, kind.closed, points, axes, lifting=kind.lifting)
