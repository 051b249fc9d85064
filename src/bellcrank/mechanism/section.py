"""Cross-sections of beams: stiffness, mass and stress, from sizes or from numbers.

The axis x runs along the beam through the centroid; y and z are axes of symmetry of the section, so that its
shear centre is in the middle. Widths are along y, heights along z.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from dataclasses import dataclass
from math import pi, tanh
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from bellcrank.errors import Unsupported
from bellcrank.expression import functions
from bellcrank.mechanism import given
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.fibres import Fibres, i_fibres, rectangle_fibres, ring_fibres
from bellcrank.mechanism.fields import Description, array, checked, declarations, described, quantity
from bellcrank.mechanism.given import (
    FloatField,
    FloatsField,
    OptionalFloatField,
    OptionalFloatsField,
    TableField,
)
from bellcrank.mechanism.parameters import is_expression, present
from bellcrank.mechanism.rotation import from_matrix
from bellcrank.mechanism.shape import Box, Capsule, Shape
from bellcrank.slips import answering

SECTION_KINDS: dict[str, type[Section]] = {}
"""Every kind of section by name, as files refer to it. All are frozen dataclasses."""

_ZETA_5: Final = 1.0369277551433699
"""The sum of 1/n^5."""
_ALONG: Final = from_matrix(np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]))
"""It carries the axis z of a capsule to x."""


def capsule(radius: Any, length: Any) -> Capsule:
    """A capsule along x about the origin."""
    return Capsule(radius, length, rotation=_ALONG)


@answering
@dataclass(frozen=True)
class Section(Description, ABC):
    """A cross-section of a beam, made by `tube`, `circle`, `rectangle`, `i_beam`, `general`, `composite`.

    `tapered` makes one that changes along the beam.

    x is along the beam; y and z are the section's axes of symmetry. Widths are along y, heights along z.

    Sections with sizes take E, Young's modulus, Pa; either nu, Poisson's ratio, or G, the shear modulus, Pa;
    and density, kg/m^3. Numbers may be texts with units and expressions of parameters.

    EA, GA (along y, along z), GJ, EI (about y, about z): stiffness, N and N m^2. GA is less than G times the
        area, for shear is not spread evenly (G. R. Cowper, The shear coefficient in Timoshenko's beam theory,
        J. Appl. Mech. 33, 1966). GJ is that of free torsion: nothing holds the warping of the section.
    mass_per_length: kg/m.

    >>> tube = bc.Section.tube("40 mm", "2 mm", E="210 GPa", nu=0.3, density=7850)
    >>> print(f"{tube.EI[0]:.1f} N m^2, by hand {210e9 * np.pi / 64 * (0.04**4 - 0.036**4):.1f} N m^2")
    9075.3 N m^2, by hand 9075.3 N m^2
    >>> print(f"{tube.mass_per_length:.3f} kg/m")
    1.874 kg/m
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not cls.__name__.startswith("_"):
            SECTION_KINDS[cls.__name__] = cls

    def _element(self) -> str:
        return f"section {type(self).__name__}"

    if TYPE_CHECKING:  # fields of General, computed by the others

        @property
        def EA(self) -> Any:  # noqa: N802
            """N."""

        @property
        def GA(self) -> Any:  # noqa: N802
            """N, along y and z."""

        @property
        def GJ(self) -> Any:  # noqa: N802
            """N m^2."""

        @property
        def EI(self) -> Any:  # noqa: N802
            """N m^2, about y and z."""

        @property
        def mass_per_length(self) -> Any:
            """kg/m."""

    @property
    def rotary(self) -> tuple[Any, Any, Any]:
        """The inertia per length about x, y and z, kg m.

        >>> bar = bc.Section.rectangle(0.1, 0.2, E=210e9, nu=0.3, density=1200)
        >>> np.round(bar.rotary, 6).tolist()    # density times second moments of area
        [0.1, 0.08, 0.02]
        """
        raise NotImplementedError

    @property
    def flexibility(self) -> tuple[Any, ...]:
        """1/EA, 1/GA_y, 1/GA_z, 1/GJ, 1/EI_y, 1/EI_z: strain per load, 1/N and 1/(N m^2).

        Of a composite section the upper triangle of the whole matrix, by rows.

        >>> bc.Section.general(EA=100.0, GA=50.0, GJ=4.0, EI=(2.0, 8.0), mass_per_length=1.0).flexibility
        (0.01, 0.02, 0.02, 0.25, 0.5, 0.125)
        """
        return tuple(1.0 / one for one in (self.EA, *self.GA, self.GJ, *self.EI))

    def at(self, _station: Any) -> Section:
        """The section at a distance from the start of its beam, m: the same everywhere if it is not tapered.

        >>> root, tip = (bc.Section.circle(d, E=210e9, nu=0.3, density=7850) for d in (0.04, 0.02))
        >>> bc.Section.tapered([0.0, 2.0], [root, tip]).at(0.5).diameter
        0.035
        """
        return self

    @property
    def largest_size(self) -> Any:
        """The largest size of the section, m; None if its sizes are not known.

        >>> bc.Section.circle(0.01, E=210e9, nu=0.3, density=7850).largest_size
        0.01
        """
        return None

    def largest_stress(self, _force: Any, _bending_y: Any, _bending_z: Any) -> Any:
        """The largest normal stress |N|/A + |M|/W in the section, Pa.

        _force: along the beam, N. _bending_y, _bending_z: moments about y and z, N m.
        Raises Unsupported if the sizes of the section are not known.

        >>> bar = bc.Section.rectangle(0.01, 0.02, E=210e9, nu=0.3, density=7850)
        >>> print(f"{bar.largest_stress(0.0, 100.0, 0.0):.4g} Pa")    # M / (b h^2 / 6)
        1.5e+08 Pa
        """
        raise Unsupported(f"the stress of {self._element()} is not known: give a section with sizes")

    @property
    def fibres(self) -> Fibres:
        """Points at which stress is evaluated, with the stress there by the loads of the section.

        Of round sections 72 at the surface, and of a bar that in the middle; of a rectangle nine on each
        side, with its corners and its middle, and that of the whole; of an I the surfaces of its flanges at
        tips, quarters and beside the web, and those of the web. Raises Unsupported without sizes.

        >>> beam = bc.Section.i_beam(0.1, 0.2, 0.0085, 0.0056, E=210e9, nu=0.3, density=7850)
        >>> shear = beam.fibres.stress[:, 2, 2].max()    # in the middle of the web, by Q_z
        >>> print(f"{shear * (0.2 - 0.0085) * 0.0056:.3f} of Q_z by the area of the web")
        1.074 of Q_z by the area of the web
        """
        raise Unsupported(f"the fibres of {self._element()} are not known: give a section with sizes")

    def touching(self, _length: Any) -> tuple[Shape, ...]:
        """The shapes by which a piece of a beam of a length, m, touches, about the middle of the piece.

        Round sections are capsules, with half balls beyond the ends of the piece.

        >>> bc.Section.circle(0.01, E=210e9, nu=0.3, density=7850).touching(0.5)[0].length
        0.5
        """
        return ()

    @staticmethod
    def tube(
        diameter: given.Number,
        wall: given.Number,
        *,
        E: given.Number,
        nu: given.Number | None = None,
        G: given.Number | None = None,
        density: given.Number | None = None,
    ) -> Section:
        """A round tube. diameter: outside, m. wall: its thickness, m.

        >>> tube = bc.Section.tube(0.04, 0.002, E=210e9, nu=0.3, density=7850)
        >>> print(f"{tube.GJ / tube.EI[0]:.4f}")    # 2 G / E
        0.7692
        """
        return Tube(diameter, wall, E=E, nu=nu, G=G, density=density)

    @staticmethod
    def circle(
        diameter: given.Number,
        *,
        E: given.Number,
        nu: given.Number | None = None,
        G: given.Number | None = None,
        density: given.Number | None = None,
    ) -> Section:
        """A round bar. diameter: m.

        >>> bar = bc.Section.circle("10 mm", E="71.7 GPa", nu=0.31, density=2810)
        >>> print(f"{bar.EA:.4g} N")    # E pi d^2 / 4
        5.631e+06 N
        """
        return Circle(diameter, E=E, nu=nu, G=G, density=density)

    @staticmethod
    def rectangle(
        width: given.Number,
        height: given.Number,
        *,
        E: given.Number,
        nu: given.Number | None = None,
        G: given.Number | None = None,
        density: given.Number | None = None,
    ) -> Section:
        """A solid rectangle. width: along y, m. height: along z, m.

        >>> bar = bc.Section.rectangle(1.0, 1.0, E=1.0, nu=0.0, density=1.0)
        >>> print(f"{2 * bar.GJ:.4f}")    # G = E/2; Saint-Venant's constant of a square
        0.1406
        """
        return Rectangle(width, height, E=E, nu=nu, G=G, density=density)

    @staticmethod
    def i_beam(
        width: given.Number,
        height: given.Number,
        flange: given.Number,
        web: given.Number,
        *,
        E: given.Number,
        nu: given.Number | None = None,
        G: given.Number | None = None,
        density: given.Number | None = None,
    ) -> Section:
        """A symmetric I: two flanges across z, the web along z.

        width: of the flanges, m. height: over all, m. flange, web: thicknesses, m.

        >>> beam = bc.Section.i_beam(0.1, 0.2, 0.0085, 0.0056, E=210e9, nu=0.3, density=7850)
        >>> print(f"{beam.EI[0] / 210e9 * 1e8:.0f} cm^4")    # IPE 200 without its fillets
        1846 cm^4
        """
        return IBeam(width, height, flange, web, E=E, nu=nu, G=G, density=density)

    @staticmethod
    def general(
        *,
        EA: given.Number,
        GA: given.Number | given.Numbers,
        GJ: given.Number,
        EI: given.Number | given.Numbers,
        mass_per_length: given.Number,
        inertia_per_length: given.Numbers | None = None,
    ) -> Section:
        """A section by its stiffness and its mass.

        EA: N. GA, EI: one number, or two: along y and z, N; about y and z, N m^2. GJ: N m^2.
        mass_per_length: kg/m. inertia_per_length: about x, y, z, kg m; by default of mass that is
            spread as the stiffness in tension is.

        >>> cable = bc.Section.general(EA=1e4, GA=1e4, GJ=500.0, EI=500.0, mass_per_length=1.0)
        >>> cable.rotary    # mass_per_length EI / EA
        (0.1, 0.05, 0.05)
        """
        pairs: Any = [two if isinstance(two, (tuple, list, np.ndarray)) else (two, two) for two in (GA, EI)]
        return General(EA, pairs[0], GJ, pairs[1], mass_per_length, inertia_per_length)

    @staticmethod
    def composite(
        stiffness: given.Rows, *, mass_per_length: given.Number, inertia_per_length: given.Numbers
    ) -> Section:
        """A section in which loads couple: by its whole stiffness, as section analyses of laminates give it.

        stiffness: (6, 6), symmetric and positive definite: loads N, Q_y, Q_z, M_x, M_y, M_z by stretch,
            shear along y and z, twist and curvature about y and z; N, N m and N m^2.
        mass_per_length: kg/m. inertia_per_length: about x, y, z, kg m.

        >>> coupled = np.diag([1e6, 4e5, 4e5, 200.0, 300.0, 300.0])
        >>> coupled[0, 3] = coupled[3, 0] = 2000.0    # stretching twists it
        >>> spar = bc.Section.composite(coupled, mass_per_length=1.0, inertia_per_length=(2e-4, 1e-4, 1e-4))
        >>> print(f"{spar.EI[0]:.1f} N m^2, {spar.EA:.1f} N")    # free to twist it is softer
        300.0 N m^2, 980000.0 N
        """
        return Composite(stiffness, mass_per_length, inertia_per_length)

    @staticmethod
    def tapered(stations: given.Numbers, sections: Sequence[Section]) -> Section:
        """A section that changes along the beam.

        stations: distances from the start, m, ascending: the first is 0, the last the beam's length.
        sections: those there, all of one kind; between them sizes and numbers change linearly.

        >>> root, tip = (bc.Section.tube(d, 0.002, E=210e9, nu=0.3, density=7850) for d in (0.06, 0.03))
        >>> mast = bc.Section.tapered([0.0, 4.0], [root, tip])
        >>> print(f"{1e3 * mast.at(1.0).diameter:.1f} mm, {mast.at(1.0).mass_per_length:.3f} kg/m")
        52.5 mm, 2.491 kg/m
        """
        listed: Any = sections
        return Tapered(stations, listed)


@described
class General(Section):
    """A section by its stiffness and its mass: see `Section.general`."""

    EA: FloatField = quantity("N", "positive")
    GA: FloatsField = array("N", 2, sign="positive")
    GJ: FloatField = quantity("N m^2", "positive")
    EI: FloatsField = array("N m^2", 2, sign="positive")
    mass_per_length: FloatField = quantity("kg/m", "positive")
    inertia_per_length: OptionalFloatsField = array("kg m", 3, sign="positive", default=None)
    meaning: ClassVar[str] = "By stiffness, `GA` along y and z, `EI` about y and z, and mass."

    @property
    def rotary(self) -> tuple[Any, Any, Any]:
        """The inertia per length about x, y and z, kg m."""
        if self.inertia_per_length is not None:
            about_x, about_y, about_z = self.inertia_per_length
            return about_x, about_y, about_z
        about_y, about_z = (self.mass_per_length * one / self.EA for one in self.EI)
        return about_y + about_z, about_y, about_z


@described
class Composite(Section):
    """A section in which loads couple: see `Section.composite`."""

    stiffness: TableField = array("", 6, 6)
    mass_per_length: FloatField = quantity("kg/m", "positive")
    inertia_per_length: FloatsField = array("kg m", 3, sign="positive")
    meaning: ClassVar[str] = "By its whole stiffness (6, 6): stretch, shears, twist, curvatures; and mass."

    def _judge(self, check: Check) -> None:
        if len(check.faults) > 0:
            return
        given_ = np.array(self.stiffness, dtype=float)
        if not np.allclose(given_, given_.T, rtol=1e-9, atol=1e-12 * np.abs(given_).max()):
            check.fault("stiffness must be symmetric", None)
        elif np.linalg.eigvalsh(given_).min() <= 0.0:
            check.fault("stiffness must be positive definite", None)

    @property
    def _compliance(self) -> Any:
        found = np.linalg.inv(np.array(self.stiffness, dtype=float))
        return 0.5 * (found + found.T)

    @property
    def flexibility(self) -> tuple[Any, ...]:
        """The upper triangle of the matrix of strain per load, by rows, 21 numbers."""
        return tuple(self._compliance[np.triu_indices(6)].tolist())

    @property
    def EA(self) -> Any:  # noqa: N802
        """N, where it is free to twist and bend."""
        return float(1.0 / self._compliance[0, 0])

    @property
    def GA(self) -> tuple[Any, Any]:  # noqa: N802
        """N, along y and z, where it is free otherwise."""
        return float(1.0 / self._compliance[1, 1]), float(1.0 / self._compliance[2, 2])

    @property
    def GJ(self) -> Any:  # noqa: N802
        """N m^2, where it is free otherwise."""
        return float(1.0 / self._compliance[3, 3])

    @property
    def EI(self) -> tuple[Any, Any]:  # noqa: N802
        """N m^2, about y and z, where it is free otherwise."""
        return float(1.0 / self._compliance[4, 4]), float(1.0 / self._compliance[5, 5])

    @property
    def rotary(self) -> tuple[Any, Any, Any]:
        """The inertia per length about x, y and z, kg m."""
        about_x, about_y, about_z = self.inertia_per_length
        return about_x, about_y, about_z


def _sections(check: Check, name: str, value: Any) -> tuple[Section, ...]:
    found = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    for one in found:
        check.instance(name, one, Section, "such as [bc.Section.circle(...), bc.Section.circle(...)]")
    return found


@described
class Tapered(Section):
    """A section that changes along the beam: see `Section.tapered`."""

    stations: FloatsField = array("m", None)
    sections: tuple[Section, ...] = checked(_sections)
    meaning: ClassVar[str] = "By sections of one kind at `stations` along the beam; linear between."

    def _judge(self, check: Check) -> None:
        if len(check.faults) > 0:
            return
        if len(self.stations) < 2 or len(self.sections) != len(self.stations):
            rule = (
                f"there must be a section for each of two stations or more: {len(self.sections)} were given"
            )
            check.fault(rule, self.stations)
        elif self.stations[0] != 0.0 or np.diff(self.stations).min() <= 0.0:
            check.fault("stations must ascend from 0", self.stations)
        elif len(kinds := {type(one) for one in self.sections}) > 1 or Tapered in kinds:
            names = ", ".join(sorted(one.__name__ for one in kinds))
            check.fault(
                f"sections must be of one kind: they are {names}", None, "take General for all of them"
            )
        elif len({_given(one) for one in self.sections}) > 1:
            check.fault("sections must give the same numbers: all nu, or all G", None)

    def at(self, station: Any) -> Section:
        """The section at a distance from the start, m."""
        if isinstance(station, str):
            with Check(self._element()) as check:
                station = check.number("station", station, "m")
        known = [present(one) for one in self.stations]
        k = int(np.clip(np.searchsorted(known, present(station), "right") - 1, 0, len(known) - 2))
        first, last = self.sections[k : k + 2]
        part = (station - self.stations[k]) / (self.stations[k + 1] - self.stations[k])

        def between(a: Any, b: Any) -> Any:
            if isinstance(a, tuple):
                return tuple(map(between, a, b))
            return None if a is None else a + part * (b - a)

        names = declarations(type(first))
        return type(first)(**{name: between(getattr(first, name), getattr(last, name)) for name in names})

    @property
    def largest_size(self) -> Any:
        """The largest size of the sections, m."""
        sizes = [one.largest_size for one in self.sections]
        return None if None in sizes else max(sizes, key=present)

    @property
    def flexibility(self) -> tuple[Any, ...]:
        """Of no one section: see `at`."""
        raise self._asked_as_a_whole("flexibility")

    @property
    def fibres(self) -> Fibres:
        """Of no one section: see `at`."""
        raise self._asked_as_a_whole("fibres")

    def _asked_as_a_whole(self, what: str) -> Unsupported:
        return Unsupported(f"{self._element()} changes along the beam: ask section.at(station).{what}")


def _given(section: Section) -> tuple[str, ...]:
    """The fields of a section that are not None."""
    return tuple(name for name in declarations(type(section)) if getattr(section, name) is not None)


@dataclass(frozen=True)
class _Area:
    """What a section is by its sizes alone.

    area: m^2. second: its second moments about y and z, m^4. torsion: the torsion constant, m^4.
    shear: factors of the area in shear along y and z. far: of the outermost fibres, in z and in y, m.
    """

    area: Any
    second: tuple[Any, Any]
    torsion: Any
    shear: tuple[Any, Any]
    far: tuple[Any, Any]


@dataclass(frozen=True, kw_only=True)
class _Solid(Section):
    """A section of one isotropic material by its sizes."""

    E: FloatField = quantity("Pa", "positive")  # noqa: RUF009  (a declaration)
    nu: OptionalFloatField = quantity("1", default=None)  # noqa: RUF009
    G: OptionalFloatField = quantity("Pa", "positive", default=None)  # noqa: RUF009
    density: OptionalFloatField = quantity("kg/m^3", "positive", default=None)  # noqa: RUF009

    def _sizes(self) -> _Area:
        raise NotImplementedError

    def _judge(self, check: Check) -> None:
        if len(check.faults) > 0:
            return
        if (self.nu is None) == (self.G is None):
            rule = "one of nu, Poisson's ratio, and G, the shear modulus, must be given"
            check.fault(rule, None if self.nu is None else (self.nu, self.G), "such as nu=0.3")
        elif not -1.0 < self.poisson <= 0.5:
            what = f"nu must lie between -1 and 0.5: it is {self.poisson:.4g}"
            check.fault(what, None, "of other than isotropic materials give bc.Section.general(...)")
        if self.density is None:
            check.fault("the density is missing", None, "give density= in kg/m^3")

    @property
    def poisson(self) -> Any:
        """Poisson's ratio."""
        own: Any = self
        return own.E / (2.0 * own.G) - 1.0 if self.nu is None else self.nu

    @property
    def shear_modulus(self) -> Any:
        """Pa."""
        own: Any = self
        return own.E / (2.0 * (1.0 + own.nu)) if self.G is None else self.G

    @property
    def EA(self) -> Any:  # noqa: N802
        """Stiffness in tension, N."""
        return self.E * self._sizes().area

    @property
    def GA(self) -> tuple[Any, Any]:  # noqa: N802
        """Stiffness in shear along y and z, N."""
        sizes = self._sizes()
        along_y, along_z = (self.shear_modulus * sizes.area * factor for factor in sizes.shear)
        return along_y, along_z

    @property
    def GJ(self) -> Any:  # noqa: N802
        """Stiffness in torsion, N m^2."""
        return self.shear_modulus * self._sizes().torsion

    @property
    def EI(self) -> tuple[Any, Any]:  # noqa: N802
        """Stiffness in bending about y and z, N m^2."""
        about_y, about_z = self._sizes().second
        return self.E * about_y, self.E * about_z

    @property
    def mass_per_length(self) -> Any:
        """kg/m."""
        density: Any = self.density
        return density * self._sizes().area

    @property
    def rotary(self) -> tuple[Any, Any, Any]:
        """The inertia per length about x, y and z, kg m."""
        density: Any = self.density
        about_y, about_z = (density * one for one in self._sizes().second)
        return about_y + about_z, about_y, about_z

    @property
    def largest_size(self) -> Any:
        """The largest size of the section, m."""
        z, y = (2.0 * one for one in self._sizes().far)
        return z if present(z) >= present(y) else y

    def largest_stress(self, force: Any, bending_y: Any, bending_z: Any) -> Any:
        """At a corner of the section."""
        sizes = self._sizes()
        bent = (
            np.abs(m) * far / i
            for m, far, i in zip((bending_y, bending_z), sizes.far, sizes.second, strict=True)
        )
        return np.abs(force) / sizes.area + sum(bent)


class _Round(_Solid):
    """Sections of which every axis through the middle is one of symmetry."""

    def _inside(self) -> Any:
        """The radius of the hole, m."""
        return 0.0

    @property
    def fibres(self) -> Fibres:
        """At the surface; of a bar also in the middle."""
        area, second, _ = _numbers(self._sizes())
        return ring_fibres(0.5 * present(self.largest_size), present(self._inside()), area, second[0])

    def largest_stress(self, force: Any, bending_y: Any, bending_z: Any) -> Any:
        """At the fibre that is farthest in the direction of bending."""
        sizes = self._sizes()
        bending = np.hypot(bending_y, bending_z)
        return np.abs(force) / sizes.area + bending * sizes.far[0] / sizes.second[0]

    def touching(self, length: Any) -> tuple[Shape, ...]:
        """A capsule along x."""
        return (capsule(0.5 * self.largest_size, length),)


def _numbers(sizes: _Area) -> tuple[float, tuple[float, float], float]:
    """Area, second moments and torsion constant where expressions of parameters are now."""
    about_y, about_z = sizes.second
    return present(sizes.area), (present(about_y), present(about_z)), present(sizes.torsion)


def _ring(diameter: Any, inside: Any, nu: Any) -> _Area:
    """Of a circle with a concentric hole (Cowper 1966, table 1)."""
    second = pi / 64.0 * (diameter**4 - inside**4)
    ratio = (inside / diameter) ** 2
    grown = (1.0 + ratio) ** 2
    shear = 6.0 * (1.0 + nu) * grown / ((7.0 + 6.0 * nu) * grown + (20.0 + 12.0 * nu) * ratio)
    half = 0.5 * diameter
    return _Area(pi / 4.0 * (diameter**2 - inside**2), (second,) * 2, 2.0 * second, (shear,) * 2, (half,) * 2)


@described
class Tube(_Round):
    """A round tube by its outer diameter and its wall."""

    diameter: FloatField = quantity("m", "positive")
    wall: FloatField = quantity("m", "positive")
    meaning: ClassVar[str] = "A round tube by its outer diameter and its wall."

    def _judge(self, check: Check) -> None:
        super()._judge(check)
        if len(check.faults) == 0 and 2.0 * self.wall >= self.diameter:
            check.fault("wall must be less than half the diameter", self.wall, "or take bc.Section.circle")

    def _inside(self) -> Any:
        return 0.5 * self.diameter - self.wall

    def _sizes(self) -> _Area:
        return _ring(self.diameter, self.diameter - 2.0 * self.wall, self.poisson)


@described
class Circle(_Round):
    """A round bar by its diameter."""

    diameter: FloatField = quantity("m", "positive")
    meaning: ClassVar[str] = "A round bar by its diameter."

    def _sizes(self) -> _Area:
        return _ring(self.diameter, 0.0, self.poisson)


def _tanh(x: Any) -> Any:
    return functions.tanh(x) if is_expression(x) else tanh(x)


def _rectangle_shear(nu: Any) -> Any:
    """The shear factor of a rectangle (Cowper 1966, table 1)."""
    return 10.0 * (1.0 + nu) / (12.0 + 11.0 * nu)


@described
class Rectangle(_Solid):
    """A solid rectangle by its width along y and its height along z."""

    width: FloatField = quantity("m", "positive")
    height: FloatField = quantity("m", "positive")
    meaning: ClassVar[str] = "A solid rectangle by its width along y and its height along z."

    def _sizes(self) -> _Area:
        """The torsion constant by Saint-Venant's series; its sum holds for either side as the longer one."""
        b, h = self.width, self.height
        short, long = (b, h) if present(b) <= present(h) else (h, b)
        terms = ((1.0 - _tanh(0.5 * n * pi * long / short)) / n**5 for n in (1, 3, 5, 7, 9))
        series: Any = 31.0 / 32.0 * _ZETA_5 - sum(terms)  # of tanh(n pi long / (2 short)) / n^5, n odd
        torsion = long * short**3 / 3.0 * (1.0 - 192.0 / pi**5 * short / long * series)
        second = (b * h**3 / 12.0, h * b**3 / 12.0)
        return _Area(b * h, second, torsion, (_rectangle_shear(self.poisson),) * 2, (0.5 * h, 0.5 * b))

    @property
    def fibres(self) -> Fibres:
        """On its sides and in its middle."""
        _, second, torsion = _numbers(self._sizes())
        return rectangle_fibres(present(self.width), present(self.height), second, torsion)

    def touching(self, length: Any) -> tuple[Shape, ...]:
        """A box."""
        return (Box((length, self.width, self.height)),)


@described
class IBeam(_Solid):
    """A symmetric I by its width along y, its height along z, and the thicknesses of flanges and web."""

    width: FloatField = quantity("m", "positive")
    height: FloatField = quantity("m", "positive")
    flange: FloatField = quantity("m", "positive")
    web: FloatField = quantity("m", "positive")
    meaning: ClassVar[str] = (
        "A symmetric I by its width along y, its height along z, and the thicknesses of flanges and web."
    )

    def _judge(self, check: Check) -> None:
        super()._judge(check)
        if len(check.faults) > 0:
            return
        if 2.0 * self.flange >= self.height:
            check.fault("flange must be less than half the height", self.flange)
        if self.web >= self.width:
            check.fault("web must be thinner than the flanges are wide", self.web)

    def _sizes(self) -> _Area:
        """Shear along the web by Cowper, across it by the two flanges; torsion by Roark, table 10.7."""
        b, h, flange, web, nu = self.width, self.height, self.flange, self.web, self.poisson
        clear, lines = h - 2.0 * flange, h - flange
        area = 2.0 * b * flange + clear * web
        about_y = (b * h**3 - (b - web) * clear**3) / 12.0
        about_z = (2.0 * flange * b**3 + clear * web**3) / 12.0
        m, n = 2.0 * b * flange / (lines * web), b / lines
        along_z = (
            10.0
            * (1.0 + nu)
            * (1.0 + 3.0 * m) ** 2
            / (
                12.0 + 72.0 * m + 150.0 * m**2 + 90.0 * m**3
                + nu * (11.0 + 66.0 * m + 135.0 * m**2 + 90.0 * m**3)
                + 30.0 * n**2 * (m + m**2)
                + 5.0 * nu * n**2 * (8.0 * m + 9.0 * m**2)
            )
        )  # fmt: skip
        along_y = _rectangle_shear(nu) * 2.0 * b * flange / area
        plates = 2.0 * _plate(b, flange) + clear * web**3 / 3.0
        thin, thick = (web, flange) if present(web) <= present(flange) else (flange, web)
        circle = flange + web**2 / (4.0 * flange)  # the diameter of what fits where flange and web meet
        torsion = plates + 2.0 * 0.15 * thin / thick * circle**4
        return _Area(area, (about_y, about_z), torsion, (along_y, along_z), (0.5 * h, 0.5 * b))

    @property
    def fibres(self) -> Fibres:
        """On the surfaces of flanges and web."""
        width, height = present(self.width), present(self.height)
        return i_fibres(width, height, present(self.flange), present(self.web), *_numbers(self._sizes()))

    def touching(self, length: Any) -> tuple[Shape, ...]:
        """Two flanges and the web."""
        aside = 0.5 * (self.height - self.flange)
        flanges = (Box((length, self.width, self.flange), position=(0.0, 0.0, z)) for z in (aside, -aside))
        return (*flanges, Box((length, self.web, self.height - 2.0 * self.flange)))


def _plate(width: Any, thickness: Any) -> Any:
    """The torsion constant of a flange, which is wider than it is thick."""
    slim = thickness / width
    return width * thickness**3 * (1.0 / 3.0 - 0.21 * slim * (1.0 - slim**4 / 12.0))
