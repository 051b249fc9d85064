"""Beams in results: where they are, and what one part exerts on the other across a section.

The strain of a segment follows from the poses of its two nodes, and from it what it exerts on them. Along
the segment the loads are in balance with a load per length q, of weight and inertia, which is that of the
nodes next to it: a node with the mass of a length w h takes w h q of the difference between its segments. At
nodes on which joints and forces act q is continued from their neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.mechanism.beams import Beam, flexibility_matrix, gregory
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.contact import Contact
from bellcrank.mechanism.contents import with_numbers
from bellcrank.mechanism.fibres import Fibres
from bellcrank.mechanism.references import Element, markers_of
from bellcrank.mechanism.rotation_arrays import (
    between,
    conjugate,
    cross,
    exponential,
    left_jacobian,
    product,
    relative_logarithm,
    rotate,
)
from bellcrank.slips import answering
from bellcrank.trajectory.histories import named
from bellcrank.trajectory.store import FloatArray

if TYPE_CHECKING:
    from collections.abc import Callable

    from bellcrank.mechanism.mechanism import Mechanism

_SAME = 1e-9  # of the length: a station so near to an end is at the end
_BESIDE = 1e-9  # of a segment: so near to a node loads are those before it


_SERIES = (1 / 2, 1 / 12, 0.0, -1 / 720, 0.0, 1 / 30240, 0.0, -1 / 1209600, 0.0, 1 / 47900160)
"""Of x/(1 - exp(-x)) beyond 1: at 1 rad the next term is 1e-8, at 0.3 rad 1e-14."""


@dataclass(frozen=True)
class _Loads:
    """Loads of segments (T, N - 1, 3) at their starts and ends, in the axes of their middles.

    slope: of moments, by the part of the segment that is before.
    """

    force: tuple[FloatArray, FloatArray]
    moment: tuple[FloatArray, FloatArray]
    slope: tuple[FloatArray, FloatArray]


@dataclass(frozen=True)
class WorstStress:
    """The largest stress of a beam in a run, and the fibre whose normal stress changes most.

    value: the largest equivalent stress by von Mises, Pa. station, time: where and when, m, s.
    bounds: the least and the largest normal stress of the fibre where they are farthest apart, Pa.
    at: its station, m. fibre: its place in the section, y and z, m. Round sections have 72 fibres: with other
    directions of bending the bounds may be 0.1 % farther apart.

    >>> mech = bc.Mechanism("boom")
    >>> bar = bc.Section.rectangle(0.02, 0.03, E=210e9, nu=0.3, density=7850)
    >>> boom = mech.add_beam("boom", bar, start="ground", end=(2, 0, 0))
    >>> found = bc.simulate(mech, 0.5).beam("boom").worst()    # let go without sag, it swings about it
    >>> found.at, f"mean {1e-6 * abs(found.mean):.0f} MPa"
    (0.0, 'mean 30 MPa')
    """

    value: float
    station: float
    time: float
    bounds: tuple[float, float]
    at: float
    fibre: tuple[float, float]

    @property
    def amplitude(self) -> float:
        """Half the range of the normal stress of the fibre, Pa."""
        return 0.5 * (self.bounds[1] - self.bounds[0])

    @property
    def mean(self) -> float:
        """The middle of the range of the normal stress of the fibre, Pa."""
        return 0.5 * (self.bounds[0] + self.bounds[1])


def _looked_at(stations: FloatArray) -> FloatArray:
    """Nodes, where loads may jump from both sides, and three places between neighbours."""
    parts = np.array([0.0, 0.25, 0.5, 0.75, 1.0 - _BESIDE])
    inner = stations[:-1, None] + parts * np.diff(stations)[:, None]
    return np.append(inner.ravel(), stations[-1])


@answering
class BeamHistory:
    """A beam in a run of T frames.

    Its methods take stations: a distance from the start along the unloaded beam, m, or S of them; by default
    those of its N nodes. What they give has the shape (T, ...) for one station and (T, S, ...) for several.

    name, section: of the beam. length: m. stations: of its nodes, (N,), m. time: (T,), s.

    Loads are what the part beyond a section exerts on the part before it, in the axes of the section: x along
    the beam, y and z as in `Section`. They are the elastic ones, without those of damping.

    >>> mech = bc.Mechanism("boom")
    >>> bar = bc.Section.circle(0.02, E=210e9, nu=0.3, density=7850)
    >>> boom = mech.add_beam("boom", bar, start="ground", end=(2, 0, 0))
    >>> beam = bc.statics(mech).beam("boom")
    >>> weight = 9.81 * bar.mass_per_length
    >>> print(f"{beam.moment(0.0)[0, 1]:.3f} N m, for small deflections {weight * 2**2 / 2:.3f} N m")
    48.382 N m, for small deflections 48.386 N m
    >>> print(f"{beam.force(1.0)[0, 2]:.3f} N, half the weight is {weight:.3f} N")
    -24.189 N, half the weight is 24.193 N
    """

    def __init__(
        self, beam: Beam, loaded: np.ndarray, time: FloatArray, position: FloatArray, rotation: FloatArray
    ) -> None:
        grid = beam.grid
        self.name, self.length, self.time = beam.name, float(beam.length), time
        self.section = beam.section
        self.stations = np.array(grid.stations, dtype=float)
        self._beam, self._grid, self._loaded = beam, grid, loaded
        self._position, self._rotation = position, rotation

    def __repr__(self) -> str:
        return f"<beam {self.name!r}: {len(self.stations)} nodes, {len(self.time)} frames>"

    def position(self, station: Any = None) -> FloatArray:
        """Points on the axis of the beam, (T, 3) or (T, S, 3), m, in the world.

        >>> mech = bc.Mechanism("boom", gravity=(0, 0, 0))
        >>> bar = bc.Section.circle(0.02, E=210e9, nu=0.3, density=7850)
        >>> boom = mech.add_beam("boom", bar, start="ground", end=(2, 0, 0))
        >>> bc.simulate(mech, 0.1).beam("boom").position(0.6)[-1].round(9).tolist()
        [0.6, 0.0, 0.0]
        """

        def at(k: np.ndarray, part: FloatArray) -> FloatArray:
            return between(self._position, self._rotation, self._strain, k, part)[0]

        return self._at(station, at)

    def deflection(self, station: Any = None) -> FloatArray:
        """How far points are from the unloaded beam along the first node, (T, 3) or (T, S, 3), m.

        In the axes of that node: along the beam, along y, along z.

        >>> mech = bc.Mechanism("boom")
        >>> bar = bc.Section.circle(0.02, E=210e9, nu=0.3, density=7850)
        >>> boom = mech.add_beam("boom", bar, start="ground", end=(2, 0, 0))
        >>> sag = bc.statics(mech).beam("boom").deflection(2.0)[0, 2]
        >>> small = 9.81 * bar.mass_per_length * 2**4 / (8 * bar.EI[0])
        >>> print(f"{1e3 * sag:.2f} mm, for small deflections {-1e3 * small:.2f} mm")
        -29.33 mm, for small deflections -29.34 mm
        """
        where, several = self._given(station)
        there = rotate(conjugate(self._rotation[:, :1]), self.position(where) - self._position[:, :1])
        found = there - self._as_described(where)
        return found if several else found[:, 0]

    def _as_described(self, where: FloatArray) -> FloatArray:
        """Places of stations on the unloaded beam, (S, 3), in the axes of its first node."""
        place, turn = (np.array(part, dtype=float) for part in zip(*self._beam.frames(), strict=True))
        still = BeamHistory(self._beam, self._loaded, np.zeros(1), place[None], turn[None])
        return rotate(conjugate(turn[:1]), still.position(where)[0] - place[0])

    def force(self, station: Any = None) -> FloatArray:
        """Tension and the shear forces along y and z, (T, 3) or (T, S, 3), N.

        >>> mech = bc.Mechanism("rod")
        >>> bar = bc.Section.circle(0.02, E=210e9, nu=0.3, density=7850)
        >>> rod = mech.add_beam("rod", bar, start="ground", end=(0, 0, -2))
        >>> bc.statics(mech).beam("rod").force([0.0, 1.0, 2.0])[0, :, 0].round(3).tolist()
        [48.386, 24.193, 0.0]
        """

        def at(k: np.ndarray, part: FloatArray) -> FloatArray:
            first, last = self._loads.force
            return self._turned(k, part, (1.0 - part) * first[:, k] + part * last[:, k])

        return self._at(station, at)

    def moment(self, station: Any = None) -> FloatArray:
        """Torsion and the bending moments about y and z, (T, 3) or (T, S, 3), N m.

        >>> mech = bc.Mechanism("boom", gravity=(0, 0, 0))
        >>> bar = bc.Section.circle(0.02, E=210e9, nu=0.3, density=7850)
        >>> boom = mech.add_beam("boom", bar, start="ground", end=(2, 0, 0))
        >>> twist = mech.add_force("twist", bc.Wrench(moment=(30.0, 0, 0)), boom.marker(2.0))
        >>> bc.statics(mech).beam("boom").moment(0.7)[0].round(6).tolist()
        [30.0, 0.0, 0.0]
        """

        def at(k: np.ndarray, part: FloatArray) -> FloatArray:
            (first, last), (rise, fall) = self._loads.moment, self._loads.slope
            begin, end = 1.0 - part, part
            before = begin**2 * ((1.0 + 2.0 * end) * first[:, k] + end * rise[:, k])
            beyond = end**2 * ((1.0 + 2.0 * begin) * last[:, k] - begin * fall[:, k])
            return self._turned(k, part, before + beyond)

        return self._at(station, at)

    def curvature(self, station: Any = None) -> FloatArray:
        """Twist and curvature about y and z, (T, 3) or (T, S, 3), rad/m.

        >>> mech = bc.Mechanism("boom", gravity=(0, 0, 0))
        >>> bar = bc.Section.circle(0.02, E=210e9, nu=0.3, density=7850)
        >>> boom = mech.add_beam("boom", bar, start="ground", end=(2, 0, 0))
        >>> bend = mech.add_force("bend", bc.Wrench(moment=(0, 0, 100.0)), boom.marker(2.0))
        >>> curvature = bc.statics(mech).beam("boom").curvature(1.0)[0, 2]
        >>> print(f"{curvature:.6f} 1/m, by hand {100 / bar.EI[1]:.6f} 1/m")
        0.060630 1/m, by hand 0.060630 1/m
        """
        where, several = self._given(station)
        k, _ = self._place(where)
        found = self._section_loads(where) @ self._flexibility[:, 3:] + self._unloaded[k, 3:]
        return np.asarray(found if several else found[:, 0])

    def stress(self, station: Any = None) -> FloatArray:
        """The largest normal stress |N|/A + |M|/W in sections, (T,) or (T, S), Pa.

        Raises Unsupported for sections without sizes.

        >>> mech = bc.Mechanism("boom")
        >>> bar = bc.Section.rectangle(0.02, 0.03, E=210e9, nu=0.3, density=7850)
        >>> boom = mech.add_beam("boom", bar, start="ground", end=(2, 0, 0))
        >>> stress = bc.statics(mech).beam("boom").stress(0.0)[0]
        >>> print(f"{1e-6 * stress:.2f} MPa, by hand {1e-6 * 9.81 * 7850 * 2**2 / 2 * 6 / 0.03:.2f} MPa")
        30.80 MPa, by hand 30.80 MPa
        """
        force, moment = self.force(station), self.moment(station)
        found = self._beam.section.largest_stress(force[..., 0], moment[..., 1], moment[..., 2])
        return np.asarray(found)

    def von_mises(self, station: Any = None) -> FloatArray:
        """The largest equivalent stress by von Mises in sections, (T,) or (T, S), Pa.

        Of normal stress and of the shear stress by torsion and shear forces at the fibres of the section
        (`Fibres`). Raises Unsupported for sections without sizes.

        >>> mech = bc.Mechanism("boom", gravity=(0, 0, 0))
        >>> bar = bc.Section.circle(0.02, E=210e9, nu=0.3, density=7850)
        >>> boom = mech.add_beam("boom", bar, start="ground", end=(2, 0, 0))
        >>> load = mech.add_force("load", bc.Wrench(moment=(30.0, 40.0, 0)), boom.marker(2.0))
        >>> stress = bc.statics(mech).beam("boom").von_mises(0.5)[0]
        >>> by_hand = 16 / (np.pi * 0.02**3) * np.sqrt(4 * 40.0**2 + 3 * 30.0**2)
        >>> print(f"{1e-6 * stress:.3f} MPa, by hand {1e-6 * by_hand:.3f} MPa")
        60.730 MPa, by hand 60.730 MPa
        """
        where, several = self._given(station)
        loads = self._section_loads(where)
        pairs = enumerate(self._fibres(where))
        found = np.stack([fibres.equivalent(loads[:, k]) for k, fibres in pairs], axis=1)
        return found if several else found[:, 0]

    def worst(self, station: Any = None) -> WorstStress:
        """The largest stress of the run, where and when, and what a fibre goes through, for its fatigue.

        station: where to look, by default at nodes and in between. Raises Unsupported for sections without
        sizes.

        >>> mech = bc.Mechanism("boom")
        >>> bar = bc.Section.rectangle(0.02, 0.03, E=210e9, nu=0.3, density=7850)
        >>> boom = mech.add_beam("boom", bar, start="ground", end=(2, 0, 0))
        >>> found = bc.statics(mech).beam("boom").worst()
        >>> print(f"{1e-6 * found.value:.2f} MPa at {found.station:g} m")    # at the weld
        30.80 MPa at 0 m
        >>> print(f"amplitude {1e-6 * found.amplitude:.2f} MPa")    # nothing moves
        amplitude 0.00 MPa
        """
        where = _looked_at(self.stations) if station is None else self._given(station)[0]
        fibres, loads = self._fibres(where), self._section_loads(where)
        value = self.von_mises(where)
        frame, place = np.unravel_index(int(np.argmax(value)), value.shape)
        normal = (one.normal(loads[:, k]) for k, one in enumerate(fibres))
        bounds = [(one.min(axis=0), one.max(axis=0)) for one in normal]
        swung = int(np.argmax([np.max(high - low) for low, high in bounds]))
        low, high = bounds[swung]
        fibre = int(np.argmax(high - low))
        return WorstStress(
            float(value[frame, place]), float(where[place]), float(self.time[frame]),
            (float(low[fibre]), float(high[fibre])), float(where[swung]),
            (float(fibres[swung].y[fibre]), float(fibres[swung].z[fibre])),
        )  # fmt: skip

    def _fibres(self, where: FloatArray) -> list[Fibres]:
        """The fibres of the sections at stations (S,)."""
        return [self._beam.section.fibres] * len(where)

    def _section_loads(self, station: Any) -> FloatArray:
        """Forces and moments of sections, (..., 6)."""
        return np.concatenate([self.force(station), self.moment(station)], axis=-1)

    @property
    def mass(self) -> float:
        """The mass of all nodes, kg."""
        return float(sum(body.mass for body in self._beam.bodies()))

    @property
    def strain_energy(self) -> FloatArray:
        """(T,), J."""
        return np.asarray(0.5 * np.einsum("tki,tki->t", self._elongation, self._carried))

    @property
    def largest_turn(self) -> FloatArray:
        """The largest turn from one node to the next, (T,), rad; results hold where it is well below 1."""
        return np.asarray(np.max(np.linalg.norm(self._strain[..., 3:], axis=2), axis=1))

    @cached_property
    def _strain(self) -> FloatArray:
        """log(g₁⁻¹ g₂) of the nodes of each segment, (T, N - 1, 6)."""
        return relative_logarithm(self._position, self._rotation)

    @cached_property
    def _elongation(self) -> FloatArray:
        """The strains of segments, less the unloaded ones, times their lengths, (T, N - 1, 6)."""
        return np.asarray(self._strain - self._lengths[:, None] * self._unloaded)

    @cached_property
    def _unloaded(self) -> FloatArray:
        """The strains of segments without loads, (N - 1, 6)."""
        kinds: list[Any] = [force.kind for force in self._beam.forces()]
        return np.array([kind.unloaded for kind in kinds], dtype=float)

    @cached_property
    def _carried(self) -> FloatArray:
        """What segments carry in their middles: F = f⁻¹ d,  f = h C + (h³/12) Aᵀ C A,  (T, N - 1, 6)."""
        h, A, C = self._lengths[:, None, None], self._along, self._flexibility
        f = h * C + h**3 / 12.0 * np.swapaxes(A, 2, 3) @ C @ A
        return np.asarray(np.linalg.solve(f, self._elongation[..., None])[..., 0])

    @cached_property
    def _load(self) -> FloatArray:
        """By which the energy of segments grows with their strains, (T, N - 1, 6), N and N m.

        F + h²/12 (n × w_m, n × w_n + m × w_m)  with  F = (n, m),  (w_n, w_m) = C A F.
        """
        found, h = self._carried.copy(), self._lengths[:, None]
        w = (self._flexibility @ (self._along @ found[..., None]))[..., 0]
        n, m, of_n, of_m = (x for both in (found.copy(), w) for x in (both[..., :3], both[..., 3:]))
        found[..., :3] += h**2 / 12.0 * cross(n, of_m)
        found[..., 3:] += h**2 / 12.0 * (cross(n, of_n) + cross(m, of_m))
        return found

    @cached_property
    def _flexibility(self) -> FloatArray:
        """C of a unit of length, (6, 6)."""
        return flexibility_matrix(self._beam.section.flexibility)

    @cached_property
    def _along(self) -> FloatArray:
        """A of  F' = A F,  which is  n' = -κ × n,  m' = -κ × m - Γ × n,  (T, N - 1, 6, 6)."""
        strain = self._strain / self._lengths[:, None]
        stretch, bend = (cross(np.eye(3), part[..., None, :]) for part in (strain[..., :3], strain[..., 3:]))
        return np.concatenate(
            [np.concatenate([-bend, np.zeros_like(bend)], axis=3), np.concatenate([-stretch, -bend], axis=3)],
            axis=2,
        )

    @property
    def _lengths(self) -> FloatArray:
        return np.diff(self.stations)

    @cached_property
    def _loads(self) -> _Loads:
        """Loads at the ends of segments: what these exert on nodes, and what the load per length adds."""
        turn, way, h = self._strain[..., 3:], self._strain[..., :3], self._lengths[:, None]
        arm_first, arm_last = (left_jacobian(half * turn, half * way) for half in (-0.5, 0.5))
        n, m = (rotate(exponential(0.5 * turn), load) for load in _on_the_second(way, turn, self._load))
        m = m + cross(arm_last, n)
        middle = product(self._rotation[:, :-1], exponential(0.5 * turn))
        spread = self._spread(rotate(middle, n))
        back = conjugate(middle)
        begun, over, bent = (number[:, None] for number in self._shares())
        q_first, q_last = rotate(back, spread[:, :-1]), rotate(back, spread[:, 1:])
        first, last = n + begun * h * q_first, n - over * h * q_last
        x = way / h
        sagging = bent[:-1] * h**2 * cross(x, q_first), bent[1:] * h**2 * cross(x, q_last)
        moment = m - cross(arm_first, n) + sagging[0], m - cross(arm_last, n) + sagging[1]
        along = (rotate(exponential(half * turn), way) for half in (-0.5, 0.5))
        slopes = [-cross(t, force) for t, force in zip(along, (first, last), strict=True)]
        return _Loads((first, last), moment, (slopes[0], slopes[1]))

    def _spread(self, force: FloatArray) -> FloatArray:
        """The load per length at nodes (T, N, 3), N/m, in the world, from the forces of segments there."""
        masses = np.array(self._grid.masses(), dtype=float)
        found = np.zeros((len(force), len(masses), 3))
        found[:, 1:-1] = (force[:, :-1] - force[:, 1:]) / masses[1:-1, None]
        free = np.flatnonzero(~self._loaded[1:-1]) + 1
        if len(free) == 0:
            return np.zeros_like(found)
        if len(free) == 1:
            return np.repeat(found[:, free], len(masses), axis=1)
        right = np.clip(np.searchsorted(free, np.arange(len(masses))), 1, len(free) - 1)
        one, two = free[right - 1], free[right]
        part = (self.stations - self.stations[one]) / (self.stations[two] - self.stations[one])
        return np.asarray(found[:, one] + part[:, None] * (found[:, two] - found[:, one]))

    def _shares(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """By which lengths, in h, nodes have taken more or less load than the beam up to them.

        At the start and at the end of segments (N - 1,), of forces; of moments, in h², at nodes (N,), where
        spans meet zero.
        """
        begun: list[float] = []
        over: list[float] = []
        bent = [0.0]
        for count in self._grid.spans:
            weights, k = np.array(gregory(count)), np.arange(count + 1)
            taken = np.cumsum(weights)
            begun += (taken - k)[:-1].tolist()
            over += (k[1:] - taken[:-1]).tolist()
            arms = np.array([weights[: i + 1] @ (i - k[: i + 1]) for i in k])
            bent += (0.5 * k**2 - arms)[1:].tolist()
        return np.array(begun), np.array(over), np.array(bent)

    def _turned(self, k: np.ndarray, part: FloatArray, loads: FloatArray) -> FloatArray:
        """Loads in axes of the middles of segments in those of the sections there."""
        return rotate(exponential((0.5 - part) * self._strain[:, k, 3:]), loads)

    def _given(self, station: Any) -> tuple[FloatArray, bool]:
        """Stations as an array, and whether several were given."""
        if station is None:
            return self.stations, True
        with Check(f"beam {self.name!r}") as check:
            single = isinstance(station, (int, float, str))
            where = check.array("station", [station] if single else station, (None,), "m")
            slack = _SAME * self.length
            if len(check.faults) == 0 and not np.all((where >= -slack) & (where <= self.length + slack)):
                rule = f"station must lie on the beam, which is {self.length:.6g} m long"
                check.fault(rule, station, "give a distance from its start")
        return np.clip(where, 0.0, self.length), not single

    def _at(self, station: Any, found: Callable[[np.ndarray, FloatArray], FloatArray]) -> FloatArray:
        """What `found` gives for segments by number, and for the part of them that is before a station."""
        where, several = self._given(station)
        values = found(*self._place(where))
        return np.asarray(values if several else values[:, 0])

    def _place(self, where: FloatArray) -> tuple[np.ndarray, FloatArray]:
        """The segments on which stations lie, and which part of them is before (S, 1)."""
        k = np.clip(np.searchsorted(self.stations, where, "right") - 1, 0, len(self._lengths) - 1)
        return k, ((where - self.stations[k]) / self._lengths[k])[:, None]


def _on_the_second(way: FloatArray, turn: FloatArray, load: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The force and moment at the second node, in its axes, of a load along the logarithm (way, turn).

    They are the transpose of  x/(1 - exp(-x)) = 1 + x/2 + x²/12 - ...  of  x = ad(way, turn)  times the load.
    """
    force, moment = load[..., :3], load[..., 3:]
    found, power = [force.copy(), moment.copy()], (force, moment)
    for factor in _SERIES:
        power = -cross(turn, power[0]), -cross(way, power[0]) - cross(turn, power[1])
        for total, term in zip(found, power, strict=True):
            total += factor * term
    return found[0], found[1]


def beam_history(
    mechanism: Mechanism, name: str, time: FloatArray, poses: Callable[[str], tuple[FloatArray, FloatArray]]
) -> BeamHistory:
    """A beam of a mechanism; poses: of a body by its name, position (T, 3) and rotation (T, 4).

    Raises MechanismError with close matches for an unknown name.
    """
    name = named("beam", name, tuple(mechanism.beams))
    beam = with_numbers(mechanism).beams[name]
    position, rotation = (np.stack(one, axis=1) for one in zip(*map(poses, beam.nodes), strict=True))
    return BeamHistory(beam, loaded_nodes(mechanism, beam), time, position, rotation)


def loaded_nodes(mechanism: Mechanism, beam: Beam) -> np.ndarray:
    """Whether other elements than its segments act on the nodes of a beam, (N,).

    Not so contacts, which push its pieces somewhere along them, as its weight does.
    """
    segments = frozenset(beam.pieces)
    forces = (
        one
        for one in mechanism.forces.values()
        if one.name not in segments and not isinstance(one.kind, Contact)
    )
    others = (mechanism.joints, mechanism.constraints, mechanism.drives)
    acting: list[Element] = [*forces, *(one for table in others for one in table.values())]
    held = {marker.body for one in acting for marker in markers_of(one)}
    return np.array([node in held for node in beam.nodes])
