"""Section loads: what one part of a body exerts on the other across a plane, over length and time.

Of the part of a body beyond a plane all loads, gravity and inertia are known. What the part before exerts on
it keeps the balance; the opposite is what the part beyond exerts. The body's accelerations are those that all
its loads give it, so that both parts lead to the same result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.body import Body
from bellcrank.mechanism.checking import Check, Vec3
from bellcrank.mechanism.contents import numbers_in, with_numbers
from bellcrank.mechanism.mass import total
from bellcrank.mechanism.rotation_arrays import conjugate, rotate
from bellcrank.mechanism.slicing import MassBeyond
from bellcrank.slips import answering
from bellcrank.trajectory.loads import Load, loads_on
from bellcrank.trajectory.store import FloatArray, read_only

if TYPE_CHECKING:
    from bellcrank.trajectory.trajectory import Trajectory

MASSES: Final = ("shapes", "bar", "lump")
LOADS: Final = ("axial", "tension", "compression", "shear", "torsion", "bending")
"""What the worst case may be sought of."""

_Distribution: TypeAlias = Callable[[FloatArray, FloatArray, FloatArray], MassBeyond]
_ALIKE: Final = 1e-6  # relative, of mass properties
_SLENDER: Final = 0.05  # of a bar's inertia, by which that of a body may differ
_AT: Final = 1e-9  # of a member's length: two places this near to each other are one
_ACROSS: Final = 0.45  # of a line: a body whose centre of mass is farther beside it is not along it
_MOST: Final = 2_000_000  # numbers that are computed at once


@dataclass(frozen=True)
class WorstLoad:
    """The largest of a load: value, N or N m, at a time, s, and a distance from the member's start, m.

    >>> section = bc.simulate(arm, 0.1).section("upper arm", (0, 0, 0), (1, 0, 0), mass="bar")
    >>> worst = section.worst("shear")
    >>> print(f"{worst.value:.2f} N at {worst.distance} m")    # both rods hang on the shoulder
    19.62 N at 0.0 m
    """

    value: float
    time: float
    distance: float


@answering
@dataclass(frozen=True, eq=False, repr=False)
class SectionHistory:
    """Loads at S cuts of a member in a run of T frames.

    What the part beyond a cut, towards the end, exerts on the part before it, about the cut's centre on the
    member's line. Axes: x along the member from start to end, z towards `up`, y = z x x; fixed to the body.

    body: name. start, end: of the member, m, in the body's frame. axes: (3, 3), columns in body axes.
    distance: (S,), m, of the cuts from the start. Where a load enters, there may be two cuts at one distance:
        before and after it.
    time: (T,), s. moment: (T, S, 3), N m. force: (T, S, 3), N.
    moment_unique, force_unique: (T, S), whether the equations of motion determine them; otherwise they follow
        from reactions of least norm.

    >>> cuts = [0.0, 0.5, 1.0]    # m
    >>> section = bc.simulate(arm, 0.1).section("forearm", (0, 0, 0), (1, 0, 0), cuts, mass="bar")
    >>> print(np.abs(section.bending[-1, :, 1]).round(3))    # N m: rho g (L - x)^2 / 2
    [4.905 1.226 0.   ]
    """

    body: str
    start: Vec3
    end: Vec3
    axes: FloatArray
    distance: FloatArray
    time: FloatArray
    moment: FloatArray
    force: FloatArray
    moment_unique: np.ndarray
    force_unique: np.ndarray

    def __repr__(self) -> str:
        count, frames = len(self.distance), len(self.time)
        return f"<section loads of body {self.body!r}: {count} cuts, {frames} frames>"

    @property
    def axial(self) -> FloatArray:
        """(T, S), N: positive is tension."""
        return self.force[..., 0]

    @property
    def shear(self) -> FloatArray:
        """(T, S, 2), N: along y and z."""
        return self.force[..., 1:]

    @property
    def torsion(self) -> FloatArray:
        """(T, S), N m: about the member."""
        return self.moment[..., 0]

    @property
    def bending(self) -> FloatArray:
        """(T, S, 2), N m: about y and z."""
        return self.moment[..., 1:]

    def size(self, load: str) -> FloatArray:
        """(T, S): the magnitude of "axial", "shear", "torsion" or "bending"; of "tension" or "compression".

        Raises MechanismError for another load.

        >>> cuts = [0.0, 0.5, 1.0]    # m
        >>> section = bc.simulate(arm, 0.1).section("forearm", (0, 0, 0), (1, 0, 0), cuts, mass="bar")
        >>> print(section.size("shear")[-1].round(4))    # N: the weight beyond each cut
        [9.81  4.905 0.   ]
        """
        with Check("section loads") as check:
            check.choice("the load", load, LOADS)
        if load in ("tension", "compression"):
            return np.maximum(self.axial if load == "tension" else -self.axial, 0.0)
        values = getattr(self, load)
        return np.asarray(np.linalg.norm(values, axis=2) if values.ndim == 3 else np.abs(values))

    def worst(self, load: str = "bending") -> WorstLoad:
        """The largest of a load over all frames and cuts; see `size`.

        >>> section = bc.simulate(arm, 0.1).section("forearm", (0, 0, 0), (1, 0, 0), mass="bar")
        >>> worst = section.worst("bending")
        >>> print(f"{worst.value:.4f} N m at {worst.distance:.1f} m")    # at the elbow
        4.9050 N m at 0.0 m
        """
        sizes = self.size(load)
        if not sizes.size:
            raise MechanismError(Fault("section loads", "there are no frames or cuts to compare"))
        frame, cut = np.unravel_index(int(np.argmax(sizes)), sizes.shape)
        value = float(sizes[frame, cut])
        return WorstLoad(value, float(self.time[frame]), float(self.distance[cut]))


def section(
    run: Trajectory,
    body: str,
    start: Any = None,
    end: Any = None,
    cuts: Any = 51,
    up: Any = None,
    mass: str | None = None,
) -> SectionHistory:
    """See `Trajectory.section`."""
    number = run.layout.body_number[run.body(body).name]
    model = run.origin.model
    if model.bodies != run.layout.bodies:
        raise MechanismError(Fault(f"body {body!r}", "the mechanism kept with the run is another one"))
    loads = loads_on(body, model, run.layout, run.store)
    first, last = (
        _ends(body, loads)
        if start is None and end is None
        else (None if one is None else numbers_in(run.origin.mechanism, one) for one in (start, end))
    )
    member = _Member.of(body, first, last, up)
    whole = with_numbers(run.origin.mechanism).bodies[body]
    if mass is None:
        member.check_runs_along(body, np.asarray(whole.com, dtype=float))
    beyond = distribution(whole, member.start, member.end, mass)
    distance, after = member.cuts(cuts, loads)
    offsets = distance + np.asarray(member.start) @ member.axes[:, 0]
    masses = beyond(member.axes[:, 0], offsets, np.where(after, 1.0, -1.0) * _AT * member.length)
    motion = _Motion.of(run, number, loads)
    frames = len(run)
    force, moment = (np.empty((frames, len(distance), 3)) for _ in range(2))
    step = max(1, _MOST // (6 * max(len(distance), 1)))
    wrench = _entering(loads, member, distance, after, frames)
    for k in range(0, frames, step):
        rows = slice(k, k + step)
        pulled, turned = motion.inertia(rows, masses)
        centre = np.asarray(member.start) + distance[:, None] * member.axes[:, 0]
        own_force = wrench[rows, :, 3:] - pulled
        own_moment = wrench[rows, :, :3] - turned - np.cross(centre, own_force)
        force[rows], moment[rows] = own_force @ member.axes, own_moment @ member.axes
    unique = (_unique(loads, part, member, distance, after, frames) for part in (0, 1))
    parts = map(read_only, (member.axes, distance, run.time, moment, force, *unique))
    return SectionHistory(body, member.start, member.end, *parts)


def _ends(body: str, loads: Sequence[Load]) -> tuple[FloatArray, FloatArray]:
    """The two places of loads that are farthest from each other, in the order of the loads."""
    places = np.array([load.place for load in loads if load.place.ndim == 1]).reshape(-1, 3)
    gaps = np.linalg.norm(places[:, None] - places, axis=2)
    if not np.max(gaps, initial=0.0) > 0.0:
        rule = "loads take hold of it at fewer than two places, so that its line is not known"
        raise MechanismError(Fault(f"body {body!r}", rule, None, "give start and end"))
    first, last = sorted(np.unravel_index(int(np.argmax(gaps)), gaps.shape))
    return places[first], places[last]


@dataclass(frozen=True, eq=False)
class _Member:
    """A line on a body, with axes: x from start to end."""

    start: Vec3
    end: Vec3
    length: float
    axes: FloatArray

    def check_runs_along(self, body: str, com: FloatArray) -> None:
        """Raise MechanismError if the line leads across the body, whose mass then lies beside all cuts."""
        aside = com - np.asarray(self.start)
        aside = aside - (aside @ self.axes[:, 0]) * self.axes[:, 0]
        if (off := float(np.linalg.norm(aside))) > _ACROSS * self.length:
            rule = f"its centre of mass is {off:.3g} m beside the line, which is {self.length:.3g} m long"
            advice = (
                "give start and end along the body, in its own frame; or say by mass= that it is meant so"
            )
            raise MechanismError(Fault(f"section loads of body {body!r}", rule, None, advice))

    @staticmethod
    def of(body: str, start: Any, end: Any, up: Any) -> _Member:
        with Check(f"section loads of body {body!r}") as check:
            first, last = check.vector("start", start, "m"), check.vector("end", end, "m")
            along = np.subtract(last, first)
            length = float(np.linalg.norm(along))
            if len(check.faults) == 0 and length == 0.0:
                check.fault("start and end are the same point", first, "give two points on the body's line")
            wanted = None if up is None else np.asarray(check.axis("up", up))
            x = along / (length or 1.0)
            upward = np.eye(3)[2 if abs(x[2]) < 0.9 else 0] if wanted is None else wanted
            z = upward - (upward @ x) * x
            if len(check.faults) == 0 and np.linalg.norm(z) < 1e-9:
                check.fault("up must not be along the member", up)
                z = np.eye(3)[2]
            z = z / (np.linalg.norm(z) or 1.0)
        return _Member(first, last, length, np.column_stack([x, np.cross(z, x), z]))

    def along(self, place: FloatArray) -> FloatArray:
        """Distances from the start of places (..., 3) in the body's frame."""
        return np.asarray((place - np.asarray(self.start)) @ self.axes[:, 0])

    def cuts(self, given: Any, loads: Sequence[Load]) -> tuple[FloatArray, np.ndarray]:
        """Distances of cuts, and whether each lies after what enters there.

        Of a number of cuts, with one more on either side of each place inside where a load enters.
        """
        with Check("section loads") as check:
            if not isinstance(given, (int, np.integer)) or isinstance(given, bool):
                listed = [given] if isinstance(given, (float, str)) else given
                distance = check.array("cuts", listed, (None,), "m")
                return distance, distance <= _AT * self.length
            count = check.integer("cuts", given, 2)
        fixed = [float(self.along(load.place)) for load in loads if load.place.ndim == 1]
        inside = np.unique([s for s in fixed if _AT < s / self.length < 1.0 - _AT])
        inside = inside[np.diff(inside, prepend=-np.inf) > _AT * self.length]
        even = np.linspace(0.0, self.length, count)
        even = even[[not np.any(np.abs(inside - s) <= _AT * self.length) for s in even]]
        distance = np.concatenate([even, inside, inside])
        after = np.concatenate([even <= 0.0, np.zeros(len(inside), bool), np.ones(len(inside), bool)])
        order = np.lexsort([after, distance])
        return distance[order], after[order]

    def is_beyond(self, place: FloatArray, distance: FloatArray, after: np.ndarray) -> np.ndarray:
        """Whether places (..., 3) are beyond cuts (..., S); at a cut itself, where that lies before them."""
        gap = self.along(place)[..., None] - distance
        return np.asarray(np.where(after, gap > _AT * self.length, gap >= -_AT * self.length))


def _entering(
    loads: Sequence[Load], member: _Member, distance: FloatArray, after: np.ndarray, frames: int
) -> FloatArray:
    """Sums (T, S, 6) of the loads beyond cuts: moment about the origin of the body's frame, force."""
    found = np.zeros((frames, len(distance), 6))
    for load in loads:
        beyond = member.is_beyond(load.place, distance, after)
        if load.place.ndim == 1:
            found[:, beyond] += load.wrench[:, None]
        else:
            load.add_to(found, beyond[..., None])
    return found


def _unique(
    loads: Sequence[Load], part: int, member: _Member, distance: FloatArray, after: np.ndarray, frames: int
) -> np.ndarray:
    """Whether all loads on one side of cuts are determined (T, S): those on the other side follow.

    part: 1 of the force alone, 0 of the moment, which forces contribute to.
    """
    unsure = np.zeros((2, frames, len(distance)), dtype=bool)
    for load in loads:
        sure = np.all(load.unique[:, part:], axis=1)
        if load.frames is None and not np.all(sure):
            beyond = np.broadcast_to(member.is_beyond(load.place, distance, after), unsure.shape[1:])
            unsure |= np.stack([beyond, ~beyond]) & ~sure[:, None]
    return np.asarray(~np.all(unsure, axis=0))


@dataclass(frozen=True, eq=False)
class _Motion:
    """Accelerations of a body's points less gravity, body axes: origin + field r at the point r of its frame.

    origin: (T, 3), m/s^2. field: (T, 3, 3), 1/s^2.
    """

    origin: FloatArray
    field: FloatArray

    @staticmethod
    def of(run: Trajectory, number: int, loads: Sequence[Load]) -> _Motion:
        """By Newton's and Euler's equations from all loads on the body."""
        model, frames = run.origin.model, len(run)
        total_wrench = np.zeros((frames, 6))
        for load in loads:
            load.add_to(total_wrench)
        back = conjugate(run.store.read("rotation", number))
        spin = rotate(back, run.store.read("angular_velocity", number))
        com, inertia = model.com[number], model.inertia[number]
        force = total_wrench[:, 3:]
        moment = total_wrench[:, :3] - np.cross(com, force) - np.cross(spin, spin @ inertia)
        turned = np.linalg.solve(inertia, moment.T).T if np.any(inertia) else np.zeros_like(moment)
        field = _tilde(turned) + _tilde(spin) @ _tilde(spin)
        return _Motion(force / model.mass[number] - field @ com, field)

    def inertia(self, rows: slice, masses: MassBeyond) -> tuple[FloatArray, FloatArray]:
        """Forces and moments about the frame's origin (n, S, 3) that masses take, less their weight."""
        origin, field = self.origin[rows], self.field[rows]
        force = masses.mass[:, None] * origin[:, None] + np.einsum("tij,sj->tsi", field, masses.first)
        moment = np.cross(masses.first, origin[:, None])
        across = np.einsum("sjl,tkl->tsjk", masses.second, field)  # of r and its acceleration
        for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
            moment[..., i] += across[..., j, k] - across[..., k, j]
        return force, moment


def _tilde(vectors: FloatArray) -> FloatArray:
    """Matrices (n, 3, 3) of the cross products with vectors (n, 3)."""
    return np.asarray(np.cross(np.eye(3), vectors[:, None]))


def distribution(body: Body, start: Vec3, end: Vec3, mass: str | None) -> _Distribution:
    """Where the mass of a body is: a function of planes across the line from start to end.

    It takes their normal, their offsets, and by how much more to offset them where a lump lies on them.
    mass: one of `MASSES`; None takes the first that has the mass, centre and inertia of the body.

    Raises MechanismError if that is not known.
    """
    element = f"body {body.name!r}"
    with Check(element) as check:
        if mass is not None:
            check.choice("mass", mass, MASSES)
        elif not body.mass_known:
            check.fault("its mass is not known", None, "give it a mass and an inertia")
    made = {"shapes": _of_shapes, "bar": lambda body: _of_bar(body, start, end), "lump": _of_lump}
    wanted = mass or ("shapes" if np.any(body.inertia) else "lump")
    reasons = []
    for name in (wanted,) if mass else (wanted, *(("bar",) if wanted == "shapes" else ())):
        found = made[name](body)
        if not isinstance(found, str):
            return found
        reasons.append(found)
    rule = f"it is not known where along it its mass is: {'; '.join(reasons)}"
    advice = (
        "give it shapes with densities, or the ends of a uniform bar as start and end, "
        'or mass="lump" for a mass that is concentrated about its centre'
    )
    raise MechanismError(Fault(element, rule, None, advice))


def _second(body: Body) -> FloatArray:
    """The integral of r r^T dm about the centre of mass, (3, 3), kg m^2."""
    inertia = np.asarray(body.inertia)
    return np.asarray(0.5 * np.trace(inertia) * np.eye(3) - inertia)


def _of_lump(body: Body) -> _Distribution:
    com = np.asarray(body.com)
    second = _second(body) + body.mass * np.outer(com, com)

    def beyond(normal: FloatArray, offsets: FloatArray, nudge: FloatArray) -> MassBeyond:
        there = (com @ normal > offsets + nudge).astype(float)
        own = body.mass * there
        return MassBeyond(own, own[:, None] * com, there[:, None, None] * second)

    return beyond


def _of_shapes(body: Body) -> _Distribution | str:
    solids = [shape for shape in body.shapes if shape.density is not None]
    if not solids:
        return "none of its shapes has a density"
    known = total(shape.mass_properties() for shape in solids)
    factor = body.mass / known.mass
    inertia = factor * known.inertia
    size = float(np.trace(known.inertia) / known.mass) ** 0.5
    near = np.linalg.norm(known.com - np.asarray(body.com)) <= _ALIKE * size
    if not near or np.max(np.abs(inertia - np.asarray(body.inertia))) > _ALIKE * np.trace(inertia):
        return "centre and inertia of its shapes with densities are not those of the body"

    def beyond(normal: FloatArray, offsets: FloatArray, _: FloatArray) -> MassBeyond:
        found = solids[0].mass_beyond(normal, offsets)
        for shape in solids[1:]:
            found = found + shape.mass_beyond(normal, offsets)
        return found.scaled(factor)

    return beyond


def _of_bar(body: Body, start: Vec3, end: Vec3) -> _Distribution | str:
    """Of a uniform bar: mass per length and the second moments of its section follow from mass and inertia.

    Rods are often described by the inertia of a line with some small moment about it, which no section has
    exactly. What is left over is spread along the bar too, so that its parts add up to the body.
    """
    along = np.subtract(end, start)
    length = float(np.linalg.norm(along))
    centre = 0.5 * np.add(start, end)
    if np.linalg.norm(centre - np.asarray(body.com)) > _ALIKE * length:
        return "a uniform bar from start to end has its centre elsewhere than the body"
    axis = along / length
    line = body.mass * length**2 / 12.0
    aside = _second(body) - line * np.outer(axis, axis)
    if np.linalg.norm(aside @ axis) > _SLENDER * line or np.linalg.eigvalsh(aside)[0] < -_SLENDER * line:
        rule, has = (
            "a uniform bar from start to end has another inertia than the body",
            axis @ _second(body) @ axis,
        )
        return f"{rule}, whose second moment along the line is {has:.6g} kg m^2, not {line:.6g}"

    def beyond(_: FloatArray, offsets: FloatArray, __: FloatArray) -> MassBeyond:
        begin = np.clip(offsets - np.asarray(start) @ axis, 0.0, length)
        share = (length - begin) / length
        middle = np.asarray(start) + 0.5 * (begin + length)[:, None] * axis
        stretch = line * share**3
        second = share[:, None, None] * aside + stretch[:, None, None] * np.outer(axis, axis)
        own = MassBeyond(body.mass * share, np.zeros((len(share), 3)), second)
        return own.mapped(np.eye(3), middle)

    return beyond
