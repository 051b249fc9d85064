"""Elastic beams: a row of nodes, which are bodies, with an elastic segment between neighbours.

A segment of length h acts on the logarithm of the pose of its second node seen from the first,
ε = log(g₁⁻¹ g₂), less h times the unloaded strain (1, 0, 0, 0, 0, 0): d. Its energy is ½ dᵀ f⁻¹ d, with a
flexibility f in which the loads are in balance along the segment (`cpp/joints/beam_strain.cpp`, docs/theory/
beams.md), so that the error is one of fourth order in h.

The mass of a node is that of a length w h of the beam, with the weights of Gregory's rule, by which
distributed loads and inertia are integrated to the same order. It is a slice, with the moments of inertia of
the section.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise, repeat
from typing import Any, ClassVar, Final

import numpy as np

from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.attachment import End, Force, ForceKind, markers
from bellcrank.mechanism.bent_axis import bent_axis
from bellcrank.mechanism.body import Body
from bellcrank.mechanism.checking import Check, Quat, Vec3, check_name
from bellcrank.mechanism.coordinate import Coordinate
from bellcrank.mechanism.fields import (
    Description,
    array,
    as_tuple,
    checked,
    described,
    function,
    quantity,
    vector,
    whole,
)
from bellcrank.mechanism.functions import Constant
from bellcrank.mechanism.given import (
    FloatField,
    FloatsField,
    Number,
    OptionalFloatField,
    OptionalVectorField,
    PointsField,
    VectorField,
)
from bellcrank.mechanism.marker import Marker
from bellcrank.mechanism.parameters import holds_expressions, present
from bellcrank.mechanism.rotation import direction, from_matrix, named_axis
from bellcrank.mechanism.rotation_arrays import cross, relative_logarithm
from bellcrank.mechanism.rows import Law, Lowered
from bellcrank.mechanism.section import Section, Tapered, capsule
from bellcrank.mechanism.shape import Shape
from bellcrank.slips import answering

_UPPER: Final = np.triu_indices(6)
_DIAGONAL: Final = (0, 6, 11, 15, 18, 20)
"""Where the diagonal of a matrix (6, 6) is in its upper triangle by rows."""
_GAUSS: Final = tuple(each.tolist() for each in np.polynomial.legendre.leggauss(3))
_GREGORY: Final = (-5.0 / 8.0, 1.0 / 6.0, -1.0 / 24.0)
"""What the ends of a row change of the weights 1."""
_AT: Final = 1e-9  # of a beam's length: stations nearer to each other are one


def _numbers(check: Check, name: str, value: Any, unit: str = "") -> tuple[float, ...]:
    """Numbers in a row, or none."""
    if isinstance(value, (tuple, list)) and not value:
        return ()
    return tuple(check.array(name, value, (None,), unit).tolist())


@described
class BeamSegment(ForceKind):
    """A piece of an elastic beam between two nodes: markers whose x axes run along the beam.

    length: unloaded, m. flexibility: 1/EA, 1/GA_y, 1/GA_z, 1/GJ, 1/EI_y, 1/EI_z of its section, 1/N and
        1/(N m^2); or the whole matrix, its upper triangle by rows, 21 numbers.
    damping: its loads are stiffness times the strain and its rate times this, s.
    unloaded: stretch, shear along y and z, twist and curvature about y and z without loads, 1 and 1/m.
    flexibility_slope, unloaded_slope: by how much both grow with each metre of the length; what is given
        above is then their mean. As many numbers as in the flexibility, or none.

    `mech.add_beam` makes beams of them. A segment bends and twists by no more than 1 rad.

    >>> mech = bc.Mechanism("bar", gravity=(0, 0, 0))
    >>> bar = mech.add_body("bar", mass=1.0, inertia=(1, 1, 1), position=(0.5, 0, 0))
    >>> kind = bc.BeamSegment(0.5, (1e-6, 1e-6, 1e-6, 0.1, 0.1, 0.1))
    >>> segment = mech.add_force("segment", kind, mech.ground.marker(), bar)
    >>> push = mech.add_force("push", bc.Wrench(force=(100.0, 0, 0)), bar)
    >>> report = bc.find_equilibrium(mech)
    >>> stretch = mech.bodies["bar"].position[0] - 0.5
    >>> print(f"{stretch:.3g} m, by hand {100 * 0.5 * 1e-6:.3g} m")
    5e-05 m, by hand 5e-05 m
    """

    length: FloatField = quantity("m", "positive")
    flexibility: FloatsField = array("", None)
    damping: FloatField = quantity("s", "not negative", default=0.0)
    unloaded: FloatsField = array("", 6, default=(1.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    flexibility_slope: FloatsField = checked(_numbers, default=(), parametric=True)
    unloaded_slope: FloatsField = array("", 6, default=(0.0,) * 6)
    pattern: ClassVar[str] = "MM"
    ends_text: ClassVar[str] = "two markers"
    meaning: ClassVar[str] = "A piece of an elastic beam between two nodes."

    def _judge(self, check: Check) -> None:
        if len(check.faults) > 0:
            return
        if len(self.flexibility) not in (6, 21):
            check.fault("flexibility must have 6 numbers, or the 21 of a triangle", len(self.flexibility))
        elif np.linalg.eigvalsh(flexibility_matrix(self.flexibility)).min() <= 0.0:
            check.fault("flexibility must be positive definite", self.flexibility)
        elif len(self.flexibility_slope) not in (0, len(self.flexibility)):
            rule = f"flexibility_slope must have {len(self.flexibility)} numbers, or none"
            check.fault(rule, len(self.flexibility_slope))
        elif not self.is_uniform and _least(self) <= 0.0:
            rule = f"a segment of {self.length:.4g} m must not vary so much from one end to the other"
            check.fault(rule, None, "give the beam more segments")

    @property
    def is_uniform(self) -> bool:
        """Whether flexibility and unloaded strain are the same along the segment, whatever parameters are."""
        return not self.flexibility_slope and not any(present(one) != 0.0 for one in self.unloaded_slope)

    def compliance(self, strain: np.ndarray) -> np.ndarray:
        """The flexibility f (..., 6, 6) of the segment, m/N and more, at strains ε = log(g₁⁻¹ g₂), (..., 6).

        f = h (C - W) + (h³/12) (Aᵀ C A + C₁ A + Aᵀ C₁),  A = -[[κ^, 0], [Γ^, κ^]],  (Γ, κ) = ε/h.

        >>> kind = bc.BeamSegment(0.5, (1e-6, 1e-6, 1e-6, 0.1, 0.1, 0.1))
        >>> f = kind.compliance(np.array([0.5, 0, 0, 0, 0, 0]))
        >>> f[0, 0] == 0.5 * 1e-6, f[1, 1] == 0.5 * 1e-6 + 0.5**3 / 12 * 0.1    # shear and bending
        (True, True)
        """
        h, C, slope = self.length, flexibility_matrix(self.flexibility), _slope(self)
        A = transport(strain / h)
        turned = np.swapaxes(A, -1, -2)
        tilted = slope @ A
        found = turned @ C @ A + tilted + np.swapaxes(tilted, -1, -2)
        return np.asarray(h * (C - _change(self)) + h**3 / 12.0 * found)

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """Six linear laws of stiffness 1, along strains half the square of which is energy."""
        first, second = markers(ends)
        numbers = (self.length, *_triangle(self.flexibility), *self.unloaded)
        if not self.is_uniform:
            numbers += (*_slope(self)[_UPPER].tolist(), *_change(self)[_UPPER].tolist())
        laws = (
            Law.of(
                self, "linear", Coordinate(f"beam_{k}", first, second, numbers),
                stiffness=1.0, damping=self.damping, rest=0.0, preload=0.0,
            )
            for k in range(1, 7)
        )  # fmt: skip
        return Lowered(laws=tuple(laws))


def _triangle(flexibility: Any) -> tuple[Any, ...]:
    """The upper triangle by rows, 21 numbers."""
    if len(flexibility) == 21:
        return tuple(flexibility)
    place = dict(zip(_DIAGONAL, flexibility, strict=True))
    return tuple(place.get(k, 0.0) for k in range(21))


def flexibility_matrix(flexibility: Any) -> np.ndarray[Any, Any]:
    """The matrix (6, 6) of 6 numbers on its diagonal, or of the 21 of its upper triangle by rows.

    Of expressions it has their present values.
    """
    return _symmetric(present(tuple(flexibility))).astype(float)


def _symmetric(flexibility: Any) -> np.ndarray[Any, Any]:
    """The same, with expressions as they are."""
    given = _triangle(flexibility)
    matrix = np.zeros((6, 6), dtype=object if holds_expressions(given) else float)
    for k, (i, j) in enumerate(zip(*_UPPER, strict=True)):
        matrix[i, j] = matrix[j, i] = given[k]
    return matrix


def transport(strain: np.ndarray) -> np.ndarray:
    """A (..., 6, 6) of  F' = A F,  n' = -κ × n,  m' = -κ × m - Γ × n,  at strains (Γ, κ), (..., 6)."""
    stretch, bend = (cross(np.eye(3), part[..., None, :]) for part in (strain[..., :3], strain[..., 3:]))
    upper = np.concatenate([-bend, np.zeros_like(bend)], axis=-1)
    return np.concatenate([upper, np.concatenate([-stretch, -bend], axis=-1)], axis=-2)


def _slope(kind: BeamSegment) -> np.ndarray[Any, Any]:
    """C₁, (6, 6)."""
    return _symmetric(kind.flexibility_slope) if kind.flexibility_slope else np.zeros((6, 6))


def _change(kind: BeamSegment) -> np.ndarray[Any, Any]:
    """W = (h²/12) (C N + Nᵀ C),  N x = A(x)ᵀ ξ⁰₁, (6, 6)."""
    N = np.column_stack([one.T @ np.array(kind.unloaded_slope) for one in transport(np.eye(6))])
    CN = _symmetric(kind.flexibility) @ N
    return np.asarray(kind.length**2 / 12.0 * (CN + CN.T))


def _least(kind: BeamSegment) -> float:
    """The least eigenvalue of the matrix of C, (h/√12) C₁ and C - W: positive, f is so for all strains."""
    C, slope = _symmetric(kind.flexibility), kind.length / 12.0**0.5 * _slope(kind)
    return float(np.linalg.eigvalsh(np.block([[C, slope], [slope, C - _change(kind)]])).min())


def _section(check: Check, name: str, value: Any) -> Any:
    return check.instance(
        name, value, Section, "such as bc.Section.tube(0.04, 0.002, E=..., nu=..., density=...)"
    )


def _up(check: Check, name: str, value: Any) -> Vec3:
    return check.axis(name, named_axis(value))


def _points(check: Check, name: str, value: Any) -> tuple[Vec3, ...]:
    if isinstance(value, (tuple, list)) and not value:
        return ()
    return as_tuple(check.array(name, value, (None, 3), "m"))


@dataclass(frozen=True)
class Grid:
    """Where the nodes of a beam are.

    stations: of its N nodes, m from the start. lengths: of its N - 1 segments, m.
    spans: how many segments lie between one place at which a node was wanted and the next.
    """

    stations: tuple[Any, ...]
    lengths: tuple[Any, ...]
    spans: tuple[int, ...]

    def masses(self) -> list[Any]:
        """The lengths of beam whose mass the nodes have, m: those of several spans add up."""
        found: list[Any] = [0.0] * len(self.stations)
        first = 0
        for count in self.spans:
            for k, weight in enumerate(gregory(count)):
                found[first + k] = found[first + k] + weight * self.lengths[first]
            first += count
        return found


def gregory(count: int) -> list[float]:
    """The weights of the nodes of `count` equal segments: 3/8, 7/6, 23/24, 1, ..., exact for cubics."""
    weights = [1.0] * (count + 1)
    for k, change in enumerate(_GREGORY):
        if k <= count:
            weights[k] += change
            weights[count - k] += change
    return weights


@answering
@described
class Beam(Description):
    """An elastic beam of a mechanism, made by `mech.add_beam`.

    name: unique in its mechanism. section: made by `Section`.
    start, end: places of its ends as described, m, in the world.
    segments: how many, two or more.
    damping: its loads are stiffness times the strain and its rate times this, s; vibration at the circular
        frequency ω then decays with a damping ratio of damping * ω/2.
    up: direction near the z axis of the section, in the world; by default up, or x of a beam that stands.
    stations: distances from the start, m, at which there are nodes beside those at the ends.
    points: places of the world, m, in their order, through which the unloaded beam runs from start to end,
        along a cubic spline with continuous curvature; none of a straight beam.
    radius: of the capsules by which it touches, m; by default it does so by the shape of its section, if that
        has sizes. Sections without sizes are drawn with it, too.
    twist: angle of the section about the x axis, rad, beside `up`: a number, or a function of the distance
        from the start, m, as bc.Table([0, 2], [0, 0.3]).

    Its nodes are the bodies "name/0", "name/1", ... with the x axis along the beam, its segments the forces
    "name/e1", ... They follow from it: files hold the beam alone, and they go and change their names with it.

    >>> mech = bc.Mechanism("boom")
    >>> tube = bc.Section.tube(0.04, 0.002, E=210e9, nu=0.3, density=7850)
    >>> boom = mech.add_beam("boom", tube, start=mech.ground.marker(), end=(2, 0, 0), segments=4)
    >>> boom.nodes
    ('boom/0', 'boom/1', 'boom/2', 'boom/3', 'boom/4')
    >>> print(f"{bc.info(mech).mass:.4f} kg, by hand {2 * tube.mass_per_length:.4f} kg")
    3.7485 kg, by hand 3.7485 kg
    """

    name: str
    section: Section = checked(_section)
    start: VectorField = vector("m")
    end: VectorField = vector("m")
    segments: int = whole(2, default=8)
    damping: FloatField = quantity("s", "not negative", default=0.0)
    up: OptionalVectorField = checked(_up, "1", default=None)
    stations: FloatsField = checked(
        lambda check, name, value: _numbers(check, name, value, "m"), "m", default=(), parametric=True
    )
    points: PointsField = checked(_points, "m", default=())
    radius: OptionalFloatField = quantity("m", "positive", default=None)
    twist: Any = function("rad", default=Constant(0.0))

    def __post_init__(self) -> None:
        check_name("beam", self.name, forbidden=".")
        super().__post_init__()
        if self._is_shaped and holds_expressions((self.start, self.end, self.up, self.twist)):
            rule = "the places and the twist of a beam with points or twist must be numbers"
            raise MechanismError(Fault(self._element(), rule, None, "leave the parameters, or both, out"))

    @property
    def _is_shaped(self) -> bool:
        """Whether it is bent or twisted without loads."""
        return bool(self.points) or not isinstance(self.twist, Constant)

    def _element(self) -> str:
        return f"beam {self.name!r}"

    def _judge(self, check: Check) -> None:
        if len(check.faults) > 0:
            return
        path = np.array((self.start, *self.points, self.end))
        if len(same := np.flatnonzero(np.linalg.norm(np.diff(path, axis=0), axis=1) == 0.0)):
            rule = "neighbouring points must differ" if self.points else "start and end must be two places"
            check.fault(rule, path[same[0]].tolist())
            return
        length, tangents = self.length, self._axis(self.grid.stations)[1]
        if self.up is not None and np.linalg.norm(np.cross(self.up, tangents), axis=1).min() < 1e-9:
            check.fault("up must not be along the beam", self.up)
        given = sorted(self.stations)
        if given and not _AT * length < given[0] <= given[-1] < (1.0 - _AT) * length:
            rule = f"stations must lie between the ends, which are {length:.6g} m apart"
            check.fault(rule, self.stations, "at the ends there are nodes already")
        elif any(b - a <= _AT * length for a, b in pairwise(given)):
            check.fault("two stations are the same place", self.stations)
        elif isinstance(self.section, Tapered) and (
            abs(present(self.section.stations[-1]) - length) > _AT * length
        ):
            rule = f"the sections must reach its end, at {length:.6g} m"
            check.fault(rule, self.section.stations, "give the last station of the section there")

    @property
    def length(self) -> Any:
        """From end to end, unloaded, m.

        >>> tube = bc.Section.tube(0.04, 0.002, E=210e9, nu=0.3, density=7850)
        >>> bc.Beam("boom", tube, (0, 0, 0), (3, 0, 4)).length
        5.0
        """
        if self.points:
            return bent_axis((self.start, *self.points, self.end)).length
        return sum((b - a) ** 2 for a, b in zip(self.start, self.end, strict=True)) ** 0.5

    @property
    def mass(self) -> Any:
        """Of all its nodes as they are made, kg.

        >>> rod = bc.Section.general(EA=1e6, GA=4e5, GJ=200.0, EI=300.0, mass_per_length=2.0)
        >>> print(f"{bc.Beam('rod', rod, (0, 0, 0), (3, 0, 0)).mass:.9g} kg")
        6 kg
        """
        grid = self.grid
        pairs = zip(grid.stations, grid.masses(), strict=True)
        return sum(own * self.section.at(station).mass_per_length for station, own in pairs)

    def _axis(self, stations: Any) -> tuple[Any, Any]:
        """Places of the unloaded axis and unit tangents there, (N, 3)."""
        if self.points:
            return bent_axis((self.start, *self.points, self.end)).at(np.array(stations, dtype=float))
        along: Any = tuple(b - a for a, b in zip(self.start, self.end, strict=True))
        x: Any = np.array(direction(along))
        return np.array([self.start + s * x for s in stations]), np.array([x] * len(stations))

    def frames(self) -> list[tuple[Vec3, Quat]]:
        """The poses of its nodes as described: x along the beam, z towards `up`.

        >>> tube = bc.Section.tube(0.04, 0.002, E=210e9, nu=0.3, density=7850)
        >>> bc.Beam("boom", tube, (0, 0, 0), (2, 0, 0), segments=2).frames()[1]
        ((1.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0))
        """
        return self._frames(self.grid.stations)

    def _frames(self, stations: Any) -> list[tuple[Vec3, Quat]]:
        places, tangents = self._axis(stations)
        upright = all(abs(present(x[2])) < 0.9 for x in tangents)
        upward: Any = ((0.0, 0.0, 1.0) if upright else (1.0, 0.0, 0.0)) if self.up is None else self.up
        untwisted = self.twist == Constant(0.0)
        found = []
        for station, place, x in zip(stations, places, tangents, strict=True):
            z = np.array(direction(tuple(upward - (np.array(upward) @ x) * x)))
            y = np.cross(z, x)
            if not untwisted:
                angle = float(self.twist(present(station)))
                y, z = np.cos(angle) * y + np.sin(angle) * z, np.cos(angle) * z - np.sin(angle) * y
            found.append((tuple(place.tolist()), from_matrix(np.column_stack([x, y, z]))))
        return found

    @property
    def grid(self) -> Grid:
        """Its nodes: spans between stations have segments in proportion to their lengths, two at least."""
        places = (0.0, *sorted(self.stations, key=present), self.length)
        whole_length = present(self.length)
        stations: list[Any] = [0.0]
        lengths: list[Any] = []
        spans = []
        for begin, end in pairwise(places):
            count = max(2, round(self.segments * (present(end) - present(begin)) / whole_length))
            if len(places) == 2:
                count = self.segments
            h = (end - begin) / count
            stations += [*(begin + k * h for k in range(1, count)), end]
            lengths += [h] * count
            spans.append(count)
        return Grid(tuple(stations), tuple(lengths), tuple(spans))

    @property
    def nodes(self) -> tuple[str, ...]:
        """The names of its nodes, which are bodies, from start to end."""
        return tuple(f"{self.name}/{k}" for k in range(sum(self.grid.spans) + 1))

    @property
    def pieces(self) -> tuple[str, ...]:
        """The names of its segments, which are forces: "name/e1" is between the nodes 0 and 1."""
        return tuple(f"{self.name}/e{k}" for k in range(1, sum(self.grid.spans) + 1))

    def marker(self, station: Number = 0.0) -> Marker:
        """The frame of the node at a distance from the start, m: x along the beam, y and z of the section.

        Raises MechanismError if there is no node.

        >>> tube = bc.Section.tube(0.04, 0.002, E=210e9, nu=0.3, density=7850)
        >>> boom = bc.Beam("boom", tube, (0, 0, 0), (2, 0, 0), segments=8)
        >>> boom.marker(1.0).body, boom.marker(boom.length).body
        ('boom/4', 'boom/8')
        """
        with Check(self._element()) as check:
            wanted = check.number("station", present(station), "m")
        known = [present(one) for one in self.grid.stations]
        apart = np.abs(np.subtract(known, wanted))
        near = int(np.argmin(apart))
        if apart[near] > 1e3 * _AT * known[-1]:
            rule = f"there is no node at {wanted:.6g} m: the nearest is at {known[near]:.6g} m"
            advice = f"give the beam stations=({wanted:.6g},)"
            raise MechanismError(Fault(self._element(), rule, None, advice))
        return Marker(self.nodes[near])

    def bodies(self) -> Iterator[Body]:
        """Its nodes as they are made.

        >>> tube = bc.Section.tube(0.04, 0.002, E=210e9, nu=0.3, density=7850)
        >>> boom = bc.Beam("boom", tube, (0, 0, 0), (2, 0, 0), segments=8)
        >>> masses = [body.mass / (0.25 * tube.mass_per_length) for body in boom.bodies()]
        >>> print(*(f"{mass:.4f}" for mass in masses[:4]))    # 3/8, 7/6, 23/24, 1 of a segment
        0.3750 1.1667 0.9583 1.0000
        """
        grid = self.grid
        halves = [0.5 * h for h in grid.lengths]
        for name, station, (place, axes), own, before, after in zip(
            self.nodes,
            grid.stations,
            self.frames(),
            grid.masses(),
            [0.0, *halves],
            [*halves, 0.0],
            strict=True,
        ):
            section = self.section.at(station)
            inertia: Any = tuple(own * one for one in section.rotary)
            shapes = tuple(
                replace(shape, position=_aside(shape, 0.5 * (after - before)), shown=False)
                for shape in self._touching(section, before + after)
            )
            yield Body(
                name, own * section.mass_per_length, inertia, position=place, rotation=axes, shapes=shapes
            )

    def _touching(self, section: Section, length: Any) -> tuple[Shape, ...]:
        """The shapes of a piece of a length."""
        return section.touching(length) if self.radius is None else (capsule(self.radius, length),)

    def forces(self) -> Iterator[Force]:
        """Its segments as they are made.

        >>> tube = bc.Section.tube(0.04, 0.002, E=210e9, nu=0.3, density=7850)
        >>> boom = bc.Beam("boom", tube, (0, 0, 0), (2, 0, 0), segments=8)
        >>> first = next(boom.forces())
        >>> first.name, first.kind.length, [marker.body for marker in first.markers]
        ('boom/e1', 0.25, ['boom/0', 'boom/1'])
        """
        grid, straight = self.grid, ((1.0, 0.0, 0.0, 0.0, 0.0, 0.0), (0.0,) * 6)
        strains = self._unloaded() if self._is_shaped else repeat(straight, len(grid.lengths))
        pieces = zip(self.pieces, pairwise(self.nodes), grid.stations, grid.lengths, strains, strict=False)
        for name, (one, two), begin, h, (strain, bent) in pieces:
            mean, slope = self._flexibility(begin, h)
            kind = BeamSegment(h, mean, self.damping, strain, slope, bent)
            yield Force(name, kind, (Marker(one), Marker(two)))

    def _flexibility(self, begin: Any, h: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """The flexibility of a segment in the mean, and its slope: C₁ = 12/h³ ∫ s C ds, s from the middle."""
        if not isinstance(self.section, Tapered):
            return self.section.flexibility, ()
        parts, weights = _GAUSS
        there = [self.section.at(begin + 0.5 * (1.0 + x) * h).flexibility for x in parts]
        mean = tuple(
            sum(0.5 * w * c for w, c in zip(weights, row, strict=True)) for row in zip(*there, strict=True)
        )
        slope = tuple(
            sum(3.0 * w * x * c for w, x, c in zip(weights, parts, row, strict=True)) / h
            for row in zip(*there, strict=True)
        )
        return mean, slope

    def _unloaded(self) -> list[tuple[tuple[float, ...], tuple[float, ...]]]:
        """The strains of the segments of a bent or twisted beam as described, and how they grow along them.

        The latter are those between the halves of a segment.
        """
        stations = np.array(self.grid.stations, dtype=float)
        halves = np.sort(np.concatenate([stations, 0.5 * (stations[1:] + stations[:-1])]))
        place, turn = (np.array(part) for part in zip(*self._frames(halves.tolist()), strict=True))
        lengths = np.diff(stations)[:, None]
        way = relative_logarithm(place[::2], turn[::2]) / lengths
        half = relative_logarithm(place, turn) / (0.5 * lengths.repeat(2, axis=0))
        growing = (half[1::2] - half[::2]) / (0.5 * lengths)
        return [(tuple(one), tuple(two)) for one, two in zip(way.tolist(), growing.tolist(), strict=True)]

    def _repr_html_(self) -> str:
        from bellcrank.mechanism.html import element, short

        return element("beam", self.name, f"{sum(self.grid.spans)} segments", f"{short(self.length)} m")


def _aside(shape: Shape, by: Any) -> Any:
    x, y, z = shape.position
    return x + by, y, z
