"""Which elements of a mechanism are in force: at its start, and from one change to the next."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bellcrank.errors import Fault, FaultList, MechanismError, Unsupported
from bellcrank.mechanism.changes import SWITCHED, Change, Engagement
from bellcrank.mechanism.checking import Check, nearest
from bellcrank.mechanism.coordinate import Coordinate
from bellcrank.mechanism.joint import STARTS, Joint, JointKind
from bellcrank.mechanism.lowering import resolve_ends
from bellcrank.mechanism.marker import GROUND, Marker
from bellcrank.mechanism.references import joints_of
from bellcrank.mechanism.rotation import IDENTITY, conjugate, multiply, rotate, unit

if TYPE_CHECKING:
    from bellcrank.compile.state import State
    from bellcrank.mechanism.mechanism import Mechanism

_RELEASED: Final = "released"
_TAKEN: Final = "taken"
_WAITING: Final = "waiting"
_SPENT: Final = "spent"
_ALONG: Final = {"x", "y", "z"}
_ABOUT: Final = {"e1", "e2", "e3"}
_AXES: Final = ({"e2", "e3"}, {"e1", "e3"}, {"e1", "e2"})
"""What is locked where a turn about x, y or z is free."""


@dataclass(frozen=True)
class Standing:
    """What is in force, and how.

    released: noun and name of the elements that are not.
    taken: by name of a joint that has taken a pose at which it engaged, position and rotation of its first
        marker.
    waiting: names of the changes after whose predecessor they may happen, once.
    spent: names of the engagements whose condition has to fail before it counts.
    """

    released: frozenset[tuple[str, str]] = frozenset()
    taken: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    waiting: frozenset[str] = frozenset()
    spent: frozenset[str] = frozenset()

    @property
    def values(self) -> dict[str, float]:
        """It as numbers by texts, as states carry them beside what elements took from their start."""
        found = {json.dumps([_RELEASED, *one]): 1.0 for one in sorted(self.released)}
        for name, pose in self.taken.items():
            found |= {json.dumps([_TAKEN, name, k]): number for k, number in enumerate(pose)}
        found |= {json.dumps([_WAITING, name]): 1.0 for name in sorted(self.waiting)}
        return found | {json.dumps([_SPENT, name]): 1.0 for name in sorted(self.spent)}

    @staticmethod
    def of(values: Mapping[str, float]) -> Standing:
        """From such numbers, among others."""
        listed: dict[str, list[Any]] = {word: [] for word in (_RELEASED, _TAKEN, _WAITING, _SPENT)}
        for text, number in values.items():
            word, *names = json.loads(text)
            if word in listed:
                listed[word].append((*names, number))
        taken: dict[str, list[float]] = {}
        for name, k, number in listed[_TAKEN]:
            taken.setdefault(name, [0.0] * 7)[k] = number
        return Standing(
            frozenset((noun, name) for noun, name, _ in listed[_RELEASED]),
            {name: tuple(pose) for name, pose in taken.items()},
            *(frozenset(name for name, _ in listed[word]) for word in (_WAITING, _SPENT)),
        )


EVERYTHING: Final = Standing()
"""All elements are in force."""


def switched_by(mechanism: Mechanism, change: Change) -> list[tuple[str, str]]:
    """Noun and name of the elements of a change."""
    tables = {noun: getattr(mechanism, table) for noun, table in SWITCHED.items()}
    return [(noun, name) for name in change.kind.of for noun, table in tables.items() if name in table]


def at_start(mechanism: Mechanism) -> Standing:
    """What is in force at the start: all but what has yet to take hold."""
    engagements = [one for one in mechanism.changes.values() if isinstance(one.kind, Engagement)]
    absent = [one for one in engagements if not one.kind.engaged]  # type: ignore[attr-defined]
    return Standing(
        frozenset(element for one in absent for element in switched_by(mechanism, one)),
        spent=frozenset(one.name for one in engagements if one not in absent),
    )


@dataclass(frozen=True)
class Loose(JointKind):
    """A joint that has let go: its coordinates are measured, and nothing is held."""

    kind: JointKind

    def _judge(self, _check: Check) -> None:
        self._store(free=self.kind.free)

    def coordinate(self, name: str, marker_1: Marker, marker_2: Marker) -> Coordinate:
        """That of the joint."""
        return self.kind.coordinate(name, marker_1, marker_2)


def in_force(mechanism: Mechanism, standing: Standing) -> Mechanism:
    """The mechanism with the elements in force, without sensors: what it is between two changes."""
    twin: Any = mechanism.copy()
    twin._sensors.clear()  # noqa: SLF001
    for name, pose in standing.taken.items():
        joint = mechanism.joints[name]
        marker = replace(joint.marker_1, position=pose[:3], rotation=pose[3:])
        twin._joints[name] = replace(joint, marker_1=marker)  # noqa: SLF001
    for noun, name in standing.released:
        table = getattr(twin, f"_{SWITCHED[noun]}")
        if noun != "joint":
            table.pop(name, None)
            continue
        joint = mechanism.joints[name]
        table[name] = Joint(name, Loose(joint.kind), joint.marker_1, joint.marker_2)
        for others in (twin._constraints, twin._forces, twin._drives):  # noqa: SLF001
            for other in [one for one in others.values() if name in joints_of(one)]:
                del others[other.name]
    return twin  # type: ignore[no-any-return]


def absent(mechanism: Mechanism, standing: Standing) -> frozenset[str]:
    """What is not in force, such as "force 'spring'", with what acts on joints that are not."""
    twin = in_force(mechanism, standing)
    return frozenset(
        f"{noun} {name!r}"
        for noun, table in SWITCHED.items()
        for name in getattr(mechanism, table)
        if (noun, name) in standing.released or name not in getattr(twin, table)
    )


def absent_at(mechanism: Mechanism, state: State) -> frozenset[str]:
    """The same at a state of a mechanism; at the start, if the state does not say it."""
    if not mechanism.changes:
        return frozenset()
    known = None if state.source is None else state.source.values
    return absent(mechanism, at_start(mechanism) if known is None else Standing.of(known))


def changed(mechanism: Mechanism, standing: Standing, change: Change, state: State) -> Standing:
    """What is in force after a change at a state; the mechanism has numbers."""
    elements, taken = switched_by(mechanism, change), dict(standing.taken)
    others = mechanism.changes.values()
    waiting = standing.waiting - {change.name} | {one.name for one in others if one.kind.after == change.name}
    spent = standing.spent | {one.name for one in others if _takes_hold_of(mechanism, one, elements)}
    if not isinstance(change.kind, Engagement):
        return Standing(standing.released | set(elements), taken, waiting, spent)
    for noun, name in elements:
        if noun != "joint":
            continue
        taken.pop(name, None)
        if change.kind.pose == "taken":
            taken[name] = _pose_taken(mechanism.joints[name], state)
    return Standing(standing.released - set(elements), taken, waiting, spent)


def _takes_hold_of(mechanism: Mechanism, change: Change, elements: list[tuple[str, str]]) -> bool:
    return isinstance(change.kind, Engagement) and not set(elements).isdisjoint(
        switched_by(mechanism, change)
    )


def _pose_taken(joint: Joint, state: State) -> tuple[float, ...]:
    """The pose of marker 1 on its body, with which what the joint locks is at zero, and all else as it is."""
    one, two = (_in_world(marker, state) for marker in (joint.marker_1, joint.marker_2))
    turn = multiply(conjugate(one[1]), two[1])
    place = rotate(conjugate(one[1]), tuple(np.subtract(two[0], one[0]).tolist()))
    locked = set(joint.kind.locked)
    kept: Any = tuple(0.0 if axis in locked else place[k] for k, axis in enumerate("xyz"))
    turned: Any = turn
    if locked >= _ABOUT:
        turned = IDENTITY
    elif free := [k for k, held in enumerate(_AXES, start=1) if locked >= held]:
        about: Any = tuple(number if k in (0, free[0]) else 0.0 for k, number in enumerate(turn))
        turned = unit(about) if any(about) else IDENTITY
    # marker 2 = marker 1 · (kept, turned):  what marker 1 has to be
    axes = multiply(two[1], conjugate(turned))
    origin = np.subtract(two[0], rotate(axes, kept))
    body_place, body_turn = _frame(joint.marker_1.body, state)
    local = rotate(conjugate(body_turn), tuple(np.subtract(origin, body_place).tolist()))
    return (*local, *unit(multiply(conjugate(body_turn), axes)))


def _frame(body: str, state: State) -> tuple[Any, Any]:
    if body == GROUND:
        return (0.0, 0.0, 0.0), IDENTITY
    assert state.source is not None
    number = state.source.bodies.index(body)
    return tuple(state.position[number].tolist()), tuple(state.rotation[number].tolist())


def _in_world(marker: Marker, state: State) -> tuple[Any, Any]:
    place, turn = _frame(marker.body, state)
    origin = tuple(np.add(place, rotate(turn, marker.position)).tolist())
    return origin, multiply(turn, marker.rotation)


def check_changes(mechanism: Mechanism, faults: FaultList) -> None:
    """Note what is wrong with the changes of a mechanism: their elements, and which follows which."""
    starts: dict[tuple[str, str], bool] = {}
    for change in mechanism.changes.values():
        element, kind = f"change {change.name!r}", change.kind
        found = switched_by(mechanism, change)
        _check_names(mechanism, change, found, faults)
        for noun, name in found:
            if noun == "joint":
                _check_joint(mechanism.joints[name], kind, element, faults)
            elif noun == "force" and isinstance(kind, Engagement) and _has_rotor(mechanism, name):
                rule = f"force {name!r} has a rotor, whose speed where it takes hold is not known"
                faults.add(element, rule, None, "make the rotor a body, on a joint with the motor")
        for noun, name in found if isinstance(kind, Engagement) else ():
            if starts.setdefault((noun, name), kind.engaged) != kind.engaged:  # type: ignore[attr-defined]
                rule = f"another change says of {noun} {name!r} that it starts otherwise"
                faults.add(element, rule, None, "give both the same engaged=")
        if _is_endless(mechanism, change):
            rule = "it follows itself in the same moment"
            faults.add(element, rule, kind.after, "give one of them a condition with when=")


def _check_names(
    mechanism: Mechanism, change: Change, found: list[tuple[str, str]], faults: FaultList
) -> None:
    """Note names that nothing has, or more than one element."""
    element = f"change {change.name!r}"
    for name in change.kind.of:
        nouns = [noun for noun, known in found if known == name]
        if not nouns:
            known = [name for table in SWITCHED.values() for name in getattr(mechanism, table)]
            rule = "there is no joint, constraint, force or drive of this name"
            faults.add(element, rule, name, nearest(name, known))
        elif len(nouns) > 1:
            rule = f"a {' and a '.join(nouns)} have this name"
            faults.add(element, rule, name, "rename one of them")
    after = change.kind.after
    if after is not None and after not in mechanism.changes:
        faults.add(element, "there is no change of this name", after, nearest(after, mechanism.changes))


def _has_rotor(mechanism: Mechanism, force: str) -> bool:
    """Whether a force has rows with compliance; False where its ends are at fault."""
    attached = mechanism.forces[force]
    if any(end.joint not in mechanism.joints for end in attached.joint_coordinates):
        return False
    lowered = attached.kind.lowered(resolve_ends(mechanism, attached))
    return any(block.compliance != 0.0 for block in lowered.blocks)


def _check_joint(joint: Joint, kind: Any, element: str, faults: FaultList) -> None:
    if joint.kind.custom is not None:
        rule = f"joint {joint.name!r} is given by formulas, which cannot let go or take hold"
        faults.add(element, rule, None, "use a joint of a plain kind")
    if not isinstance(kind, Engagement):
        return
    given = [which for which in STARTS if getattr(joint, which)]
    if given and not kind.engaged:
        rule = f"joint {joint.name!r} holds nothing at the start, and is given an initial {given[0]}"
        faults.add(element, rule, None, "leave it out, and place the bodies")
    locked = set(joint.kind.locked)
    about = locked & {"e0", *_ABOUT}
    rod = joint.kind.massless_rod and getattr(joint.kind, "length", 0.0) is None
    known = about in (set(), *_AXES, _ABOUT) and locked <= _ALONG | _ABOUT
    plain = (joint.kind.only_locks() or rod) and known
    if kind.pose == "taken" and not plain:
        rule = f"joint {joint.name!r}, a {joint.kind.name}, cannot take the pose at which it engages"
        faults.add(element, rule, None, "give pose='fits', and let it engage where it fits")


def _is_endless(mechanism: Mechanism, change: Change) -> bool:
    """Whether a change without a condition comes back to itself by changes without conditions."""
    seen, now = set[str](), change
    while now.kind.when is None and now.kind.after in mechanism.changes:
        if now.name in seen:
            return now.name == change.name
        seen.add(now.name)
        now = mechanism.changes[now.kind.after]  # type: ignore[index]
    return False


def refuse_changes(mechanism: Mechanism | None, what: str) -> None:
    """Raise Unsupported, naming them, where a mechanism has changes. what: cannot take them, in words."""
    if mechanism is not None and mechanism.changes:
        named = ", ".join(map(repr, mechanism.changes))
        raise Unsupported(
            f"{what} cannot take mechanisms that change, which this one does by {named}: remove these from a "
            "copy, and what is not in force"
        )


def misfit_at(change: Change, names: Iterable[str], error: float, time: float) -> MechanismError:
    """The error of elements that do not fit where they take hold. error: m or rad."""
    kind: Any = change.kind
    held = ", ".join(map(repr, names))
    rule = f"it takes hold of {held} at t = {time:.6g} s, which is off by {error:.3g} there"
    advice = f"allowed is {kind.tolerance:g}; give pose='taken', a larger tolerance, or another condition"
    return MechanismError(Fault(f"change {change.name!r}", rule, None, advice))
