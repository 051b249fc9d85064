"""What is written is read back and compared: nothing is lost in a file without a word.

A mechanism that is equal to what was written needs no more than that. Of others, degrees of freedom, masses,
gravity and the start are compared, of bodies by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from bellcrank.compile.compile import compile_mechanism
from bellcrank.compile.dependence import degrees_of_freedom, redundant_at
from bellcrank.compile.initial import assembled
from bellcrank.compile.state import Floats
from bellcrank.errors import AssemblyError, Fault, MechanismError
from bellcrank.mechanism import GROUND, Mechanism
from bellcrank.mechanism.contents import with_numbers

_NEAR: Final = 1e-6  # relative to the largest: what comes back may differ by from what was written
_ROUNDING: Final = 1e-9  # m, m/s, rad/s, relative for masses: smaller differences are none
_COLUMNS: Final = {"position": 3, "rotation": 4, "velocity": 3, "angular_velocity": 3, "com": 3}
_NAMED: Final = 5  # bodies in a message


@dataclass(frozen=True)
class Written:
    """What a text should contain.

    mechanism: without the parts that are known to be left out. bodies: names of bodies in the text, where
    they differ. merged: bodies that are one with another one there, with its name. lacks: what texts of the
    format do not have, of "gravity" and "start", with the words that say so.
    """

    mechanism: Mechanism
    bodies: Mapping[str, str] = field(default_factory=dict)
    merged: Mapping[str, str] = field(default_factory=dict)
    lacks: Mapping[str, str] = field(default_factory=dict)


def compared(written: Written, read: Callable[[], Mechanism]) -> list[Fault]:
    """What the format does not have, once the text was read back and compared with what was written.

    Raises MechanismError if it cannot be read, or if anything else differs, saying what.
    """
    try:
        again = read()
    except MechanismError as error:
        rule = "what would be written cannot be read back: nothing is written"
        raise MechanismError([Fault("mechanism file", rule), *error.faults]) from None
    if again == written.mechanism:
        return []
    found = list(_differences(_facts(written), _facts(Written(again))))
    lost = [fault for what, fault in found if what not in written.lacks]
    if lost:
        raise MechanismError(lost)
    return [Fault(what, written.lacks[what], fault.value) for what, fault in found]


@dataclass(frozen=True)
class _Facts:
    """Facts of a mechanism at its start; of bodies in the order of their names.

    freedom: None if the mechanism cannot be assembled; then bodies are where they are described. com,
    velocity: of centres of mass, (nb, 3). rotation: (nb, 4). spin: (nb, 3).
    """

    names: tuple[str, ...]
    gravity: Floats
    freedom: int | None
    mass: Floats
    com: Floats
    rotation: Floats
    velocity: Floats
    spin: Floats


def _facts(written: Written) -> _Facts:
    mechanism = with_numbers(written.mechanism)
    bodies = list(mechanism.bodies.values())
    position, rotation, velocity, spin, com = (
        np.array([getattr(body, key) for body in bodies], dtype=float).reshape(len(bodies), count)
        for key, count in _COLUMNS.items()
    )
    freedom: int | None = None if bodies else 0
    try:
        model, _ = assembled(compile_mechanism(mechanism))
        at, freedom = model.initial, degrees_of_freedom(model, redundant_at(model, model.initial))
        position, rotation, velocity, spin = at.position, at.rotation, at.velocity, at.angular_velocity
    except (AssemblyError, MechanismError):
        pass
    arms = _rotated(rotation, com) if bodies else com
    mass = np.array([body.mass if body.mass_known else 0.0 for body in bodies])
    name_of = {GROUND: GROUND, **{body.name: written.bodies.get(body.name, body.name) for body in bodies}}
    carriers = [name_of[_carrier(body.name, written.merged)] for body in bodies]
    names = sorted(set(carriers) - {GROUND})
    number = {name: k for k, name in enumerate(names)}
    moving = np.array([carrier != GROUND for carrier in carriers], dtype=bool)
    of = np.array([number[carrier] for carrier in carriers if carrier != GROUND], dtype=int)
    kept = np.array([body.name not in written.merged for body in bodies], dtype=bool)
    own = np.array([number[name_of[body.name]] for body in bodies if body.name not in written.merged], int)

    def summed(values: Floats) -> Floats:
        found = np.zeros((len(names), *values.shape[1:]))
        np.add.at(found, of, values[moving])
        return found

    def of_carriers(values: Floats) -> Floats:
        found = np.zeros((len(names), values.shape[1]))
        found[own] = values[kept]
        return found

    total = summed(mass)
    weighed = np.where(total > 0.0, total, 1.0)[:, None]  # where nobody stated a mass there is no centre
    return _Facts(
        tuple(names),
        np.array(mechanism.gravity, dtype=float),
        freedom,
        total,
        summed(mass[:, None] * (position + arms)) / weighed,
        of_carriers(rotation),
        summed(mass[:, None] * (velocity + np.cross(spin, arms))) / weighed,
        of_carriers(spin),
    )


def _carrier(name: str, merged: Mapping[str, str]) -> str:
    while name in merged:
        name = merged[name]
    return name


def _rotated(q: Floats, v: Floats) -> Floats:
    """Vectors (n, 3) turned by unit quaternions (n, 4)."""
    twice = 2.0 * np.cross(q[:, 1:], v)
    return np.asarray(v + q[:, :1] * twice + np.cross(q[:, 1:], twice))


def _differences(one: _Facts, two: _Facts) -> Iterator[tuple[str, Fault]]:
    """What differs of what was written and what came back: the kind of it, and the fault."""

    def fault(what: str, value: object) -> tuple[str, Fault]:
        rule = "it would come back from the file as another one: nothing is written"
        return what, Fault(what, rule, value, "save it in another format, such as YAML")

    if lost := sorted(set(one.names) ^ set(two.names)):
        yield fault("bodies", lost[:_NAMED])
        return
    if not np.array_equal(one.gravity, two.gravity):
        yield fault("gravity", (one.gravity.tolist(), two.gravity.tolist()))
    if one.freedom != two.freedom:
        yield fault("degrees of freedom", (one.freedom, two.freedom))
    if wrong := _far(one, np.abs(one.mass - two.mass), _ROUNDING * one.mass):
        yield fault("mass", wrong)
    reach = max(np.abs(one.com).max(initial=0.0), np.abs(two.com).max(initial=0.0))
    speeds = (
        np.abs([one.velocity, two.velocity]).max(initial=0.0),
        np.abs([one.spin, two.spin]).max(initial=0.0),
    )
    turns = np.minimum(*(np.abs(one.rotation + sign * two.rotation).max(axis=1) for sign in (1.0, -1.0)))
    far = np.maximum.reduce(
        [
            np.abs(one.com - two.com).max(axis=1) / (_NEAR * reach + _ROUNDING),
            turns / _NEAR,
            np.abs(one.velocity - two.velocity).max(axis=1) / (_NEAR * speeds[0] + _ROUNDING),
            np.abs(one.spin - two.spin).max(axis=1) / (_NEAR * speeds[1] + _ROUNDING),
        ]
    )
    if wrong := _far(one, far, np.ones(len(far))):
        yield fault("start", wrong)


def _far(facts: _Facts, errors: Floats, most: Floats) -> list[str]:
    """Names of the bodies whose errors are largest, if any is too large."""
    worst = np.argsort(most - errors)[:_NAMED]
    return [facts.names[k] for k in worst if errors[k] > most[k]]
