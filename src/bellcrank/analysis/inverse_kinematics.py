"""Inverse kinematics: the configuration of a mechanism in which markers have given poses.

All constraints and limits are satisfied on the way and at the end; bodies go to a configuration near to where
they were. A mechanism that was prepared once can be used repeatedly, each time from its current state.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple, NoReturn, TypeAlias

import numpy as np

from bellcrank import _core
from bellcrank.compile.compile import compile_mechanism
from bellcrank.compile.initial import assembled
from bellcrank.compile.model import Model
from bellcrank.compile.state import Floats, State, by_coordinate
from bellcrank.errors import AssemblyError, Fault, MechanismError, Unreachable, Unsupported
from bellcrank.mechanism.body import Body, Ground
from bellcrank.mechanism.checking import Check, Quat, Vec3, nearest
from bellcrank.mechanism.contents import numbers_in, point_in
from bellcrank.mechanism.marker import GROUND, Marker
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.mechanism.references import as_marker
from bellcrank.mechanism.rotation import IDENTITY
from bellcrank.slips import answered, answering
from bellcrank.turns import Turn, in_turn

Targets: TypeAlias = Mapping[Any, Any]
"""What is to be brought where: "body.marker", a marker, a body, or (body, point (3,), m, in its frame), to
a position (3,), m, a pose (position, rotation), or a rotation alone, (None, rotation); rotations are unit
quaternions or matrices; all in world axes."""

_NOWHERE: Final = (0.0, 0.0, 0.0)
_MET: Final = 1e-8  # largest error of a constraint that counts as met
_KEPT: Final = 8  # sets of targets that stay prepared


class _Frame(NamedTuple):
    """What the core moves: a frame on a body, and whether position and rotation are asked for."""

    body: int
    position: Vec3
    rotation: Quat
    placed: bool
    turned: bool


Frames: TypeAlias = tuple[_Frame, ...]


@answering
@dataclass(frozen=True, eq=False)
class Reached:
    """The result of inverse kinematics.

    state: at rest. reached: whether the targets are met. misses: per target, in the order given, the errors
    of position, m, and rotation, rad; zero for what was not specified. coordinates: all of the model's.

    >>> reached = bc.inverse_kinematics(arm, {"forearm.hand": (1, 1, 0)})
    >>> reached.reached, list(reached.drives)
    (True, ['shoulder', 'elbow'])
    >>> print(abs(np.degrees(reached.joint("elbow"))).round(3))    # the elbow is square
    [90.]
    """

    model: Model = field(repr=False)
    state: State = field(repr=False)
    reached: bool
    misses: tuple[tuple[float, float], ...]
    coordinates: Floats = field(repr=False)

    def joint(self, name: str) -> Floats:
        """The free coordinates (n,) of a joint, m or rad, with whole turns. Raises MechanismError.

        >>> reached = bc.inverse_kinematics(arm, {"forearm.hand": (1, 1, 0)})
        >>> print(abs(np.degrees(reached.joint("elbow"))).round(3))
        [90.]
        """
        found: Floats = self.coordinates[list(self.model.joint(name).coordinates)]
        return found

    @property
    def joints(self) -> dict[str, Floats]:
        """The free coordinates of all joints by name, m or rad."""
        return {joint.name: self.coordinates[list(joint.coordinates)] for joint in self.model.joints}

    @property
    def drives(self) -> dict[str, float]:
        """The positions that drives of one coordinate would have to prescribe, m or rad."""
        driven = (one for one in self.model.multipliers if one.kind == "drive" and one.coordinate >= 0)
        return {one.element: float(self.coordinates[one.coordinate]) for one in driven}


@in_turn
class InverseKinematics:
    """A mechanism prepared for inverse kinematics; it serves one thread at a time.

    model: of the mechanism. state: the current one, from which the next search starts.

    time: s, of drives that are held. held: drives that stay active; other drives leave their coordinates
        free.
    tolerance: m, and rad for a body of 1 m: what counts as reached. steps: the most towards a target.
    restarts: from elsewhere within the limits, at most, if the search gets stuck; fewer if most of them end
        at the same nearest configuration.

    Raises the errors of `bc.assemble` if the mechanism cannot be assembled, MechanismError for unknown
    drives.

    >>> solver = bc.InverseKinematics(arm)
    >>> solver.nearest({"forearm.hand": (1, 1, 0)}).reached
    True
    >>> elbow = abs(solver.nearest({"forearm.hand": (0.5, 1, 0)}).joint("elbow"))
    >>> print(np.degrees(elbow).round(3), np.degrees(np.arccos(1.25 / 2 - 1)).round(3))    # law of cosines
    [112.024] 112.024
    """

    def __init__(
        self,
        mechanism: Mechanism | Model,
        *,
        time: float = 0.0,
        held: str | Iterable[str] = (),
        tolerance: float = 1e-9,
        steps: int = 500,
        restarts: int = 100,
    ) -> None:
        with Check("inverse_kinematics") as check:
            time = check.number("time", time, "s")
            self._tolerance = check.positive("tolerance", tolerance, "m")
            self._steps = check.integer("steps", steps, 1)
            self._restarts = check.integer("restarts", restarts, 0)
        if isinstance(mechanism, Model):
            self.model = mechanism
        else:
            self.model, _ = assembled(compile_mechanism(mechanism, time))
        self._mechanism = self.model.source if isinstance(mechanism, Model) else mechanism
        named = [held] if isinstance(held, str) else held
        leading = {self.model.drive(name).name for name in named}
        drives = (drive for drive in self.model.drives if drive.name not in leading)
        self._open = [block for drive in drives for block in drive.blocks]
        self._searches: dict[Frames, _core.InverseKinematics] = {}
        self._holder: _core.Bodies | None = None
        self.state = self.model.initial
        self._turn = Turn("an InverseKinematics serves one thread at a time: prepare one for each")

    def __reduce__(self) -> NoReturn:
        raise Unsupported(
            "an InverseKinematics is tied to this process and cannot be copied or pickled: send the "
            "Mechanism, and prepare it there"
        )

    def __repr__(self) -> str:
        return f"<InverseKinematics of {self.model.name!r}>"

    def __call__(self, targets: Targets, start: State | None = None) -> Reached:
        """As `nearest`, but raises Unreachable, which contains the nearest result, if targets are not met."""
        found = self.nearest(targets, start)
        if not found.reached:
            raise Unreachable(self._failure(targets, found), found)
        return found

    def nearest(self, targets: Targets, start: State | None = None) -> Reached:
        """The state in which the mechanism meets the targets or, if it cannot, comes nearest to them.

        start: the state to start from; by default the current one.
        Raises MechanismError for invalid targets, AssemblyError if the constraints cannot be satisfied.

        >>> far = bc.InverseKinematics(arm).nearest({"forearm.hand": (3, 0, 0)})
        >>> print(far.reached, round(far.misses[0][0], 6))    # m: the arm is 2 m long
        False 1.0
        """
        frames, poses = self._asked(targets)
        search = self._search(frames)
        self._place(search, self.state if start is None else start)
        reached = search.find(poses, self._tolerance, self._steps, self._restarts)
        if not search.violation() <= _MET:
            raise AssemblyError(
                f"mechanism {self.model.name!r}: its constraints cannot be met from where it starts; "
                "begin at a state that satisfies them"
            )
        values = np.asarray(search.coordinates())
        self.state = replace(State(*search.state()), angles=values[self.model.angular])
        misses = tuple((distance, angle) for distance, angle in search.misses().tolist())
        return Reached(self.model, self.state, reached, misses, values)

    def set_inputs(self, values: Mapping[str, float]) -> None:
        """Give inputs of the model other values; those that are not named have their initial values.

        The model must not be shared with another system.

        >>> lift = bc.Input("lift", 0.5, unit="m")
        >>> drive = block.add_drive("lift", "guide", position=lift)
        >>> solver = bc.InverseKinematics(block, held="lift")
        >>> solver.set_inputs({"lift": 0.8})
        >>> print(solver.nearest({"block": (0, 0, 0.8)}).reached)
        True
        """
        if not self.model.inputs:
            return
        if self._holder is None:
            self._holder = _core.Bodies(self.model.core)
            self._holder.set_state(*self.model.initial.arrays)
        self._holder.set_inputs(
            self.model.core, [values.get(one.name, one.value) for one in self.model.inputs]
        )

    def _search(self, frames: Frames) -> _core.InverseKinematics:
        """What moves these frames; the last few are kept."""
        if frames not in self._searches:
            if len(self._searches) >= _KEPT:
                del self._searches[next(iter(self._searches))]
            targets = [_core.Target(**frame._asdict()) for frame in frames]
            self._searches[frames] = _core.InverseKinematics(self.model.core, targets, self._open)
        return self._searches[frames]

    def _place(self, search: _core.InverseKinematics, state: State) -> None:
        model = self.model
        known = state.angles is not None and len(state.angles) == len(model.angular)
        angles = by_coordinate(model, state.angles) if known else None
        search.place(state.time, state.position, state.rotation, angles)

    def _asked(self, targets: Targets) -> tuple[Frames, Floats]:
        """The frames of targets, and where they are to go, as the core takes them."""
        if not isinstance(targets, Mapping) or not targets:
            rule = "targets are a mapping of markers to where they go"
            advice = "such as {'hand.wrist': (0.3, 0.0, -0.2)}"
            raise MechanismError(Fault("inverse_kinematics", rule, targets, advice))
        known = self._mechanism
        frames, poses = [], []
        for key, value in targets.items():
            marker, name = self._marker(key)
            position, rotation = _aim(name, value if known is None else numbers_in(known, value))
            placed, turned = position is not None, rotation is not None
            body = self.model.body_number(marker.body)
            frames.append(_Frame(body, marker.position, marker.rotation, placed, turned))
            poses.append([*(position if position is not None else _NOWHERE), *(rotation or IDENTITY)])
        return tuple(frames), np.array(poses)

    def _marker(self, key: Any) -> tuple[Marker, str]:
        """The frame that a target names, and its name in words."""
        element = f"target {key!r}"
        if isinstance(key, tuple) and len(key) == 2:
            point = point_in(self._mechanism, element, key[1])
            body = key[0].name if isinstance(key[0], (Body, Ground)) else key[0]
            marker = Marker(self._body(element, body), point)
        elif isinstance(key, str) and key in self.model.bodies:
            marker = Marker(key)
        elif isinstance(key, str) and "." not in key:
            marker = Marker(self._body(element, key))
        else:
            if self._mechanism is None:
                rule = "the mechanism of the model is not known"
                raise MechanismError(Fault(element, rule, None, "name a body"))
            marker = as_marker(self._mechanism, element, key)
            self._body(element, marker.body)
            marker = numbers_in(self._mechanism, marker)
        return marker, element if isinstance(key, str) else f"target on {marker.body!r}"

    def _body(self, element: str, name: Any) -> str:
        if name == GROUND:
            raise MechanismError(Fault(element, "the ground goes nowhere", None, "name a marker of a body"))
        if not isinstance(name, str) or name not in self.model.bodies:
            rule = "there is no body or marker of this name"
            raise MechanismError(Fault(element, rule, None, nearest(str(name), self.model.bodies)))
        return name

    def _failure(self, targets: Targets, found: Reached) -> str:
        missed = []
        for key, (distance, angle) in zip(targets, found.misses, strict=True):
            parts = [f"{distance:.3g} m"] if distance > 0.0 else []
            parts += [f"{angle:.3g} rad"] if angle > 0.0 else []
            missed.append(f"{self._marker(key)[1]} by {' and '.join(parts) or 'nothing'}")
        return (
            f"mechanism {self.model.name!r} does not reach its targets: what comes nearest misses "
            f"{', '.join(missed)}; ask for what lies within its reach and limits, or start nearer to it"
        )


@answered
def inverse_kinematics(
    mechanism: Mechanism | Model, targets: Targets, start: State | None = None, **options: Any
) -> Reached:
    """Find a configuration in which markers have given poses and all constraints and limits are satisfied.

    targets: a mapping from "body.marker", a marker, a body or (body, point) to a position (3,), m, a pose
        (position, rotation), or (None, rotation); see `Targets`. start: state to start from; by default the
        assembled one.
    options: of `InverseKinematics`, which solves many tasks for one mechanism without preparing it again.

    The result has the state, the joints' coordinates with their whole turns, and the positions for drives.
    Raises Unreachable if the targets are not met, and the errors of `InverseKinematics` and its `nearest`.

    >>> reached = bc.inverse_kinematics(arm, {"forearm.hand": (1, 1, 0)})
    >>> print(abs(np.degrees(reached.joint("elbow"))).round(3))    # two rods of 1 m to a corner at 1 m, 1 m
    [90.]
    >>> np.round(arm.position_in_world("forearm.hand", reached.state), 6).tolist()
    [1.0, 1.0, 0.0]
    """
    return InverseKinematics(mechanism, **options)(targets, start)


def _aim(element: str, value: Any) -> tuple[Floats | None, Quat | None]:
    """Position and rotation that a target specifies."""
    pose = isinstance(value, (tuple, list)) and len(value) == 2
    position, rotation = value if pose else (value, None)
    if position is None and rotation is None:
        raise MechanismError(Fault(element, "it asks for nothing", None, "give a position, m"))
    with Check(element) as check:
        at = None if position is None else check.array("the position", position, (3,), "m")
        turn = None if rotation is None else check.quaternion("the rotation", rotation)
    return at, turn
