"""Constraints and forces given by formulas over poses of markers, coordinates of joints, and time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from bellcrank.errors import MechanismError
from bellcrank.expression import Rotation, Vector, derivative, symbol
from bellcrank.expression.expression import Expression
from bellcrank.expression.parser import is_name
from bellcrank.expression.reading import TIME, symbols_of
from bellcrank.mechanism.attachment import ConstraintKind, End, ForceKind
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.parameters import Evaluate, is_expression, is_input, is_parameter
from bellcrank.mechanism.rows import Lowered, Row

_NO_FORMULAS = (
    "values",
    "ends",
    "starts",
    "tensions",
    "pulls",
    "drum",
    "holds",
    "shown",
    "bends",
    "rim",
    "angles",
)
CUSTOM_KINDS: dict[str, type[Formulas]] = {}
"""Every kind of custom joint, constraint and force by name. All are frozen dataclasses."""


class Formulas:
    """Base of custom kinds: formulas over own symbols, parameters and inputs, and of time where `timed`.

    A subclass is a frozen dataclass with a field `values`: the numbers of the parameters that have them.
    Parameters stay symbols in the formulas, so that other values need no new code.
    """

    timed: ClassVar[bool] = False
    values: tuple[tuple[Any, float], ...]
    starts: Any = ()
    """Symbols of values in the assembled initial configuration, with the coordinates that have them."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not cls.__name__.startswith("_"):
            CUSTOM_KINDS[cls.__name__] = cls

    @property
    def own_symbols(self) -> tuple[Any, ...]:
        """The symbols that belong to this description."""
        raise NotImplementedError

    @property
    def formulas(self) -> tuple[Any, ...]:
        """All expressions in it."""
        held = [f.name for f in fields(self) if f.name not in _NO_FORMULAS]  # type: ignore[arg-type]
        return tuple(_expressions([getattr(self, name) for name in held]))

    @property
    def input_symbols(self) -> tuple[Any, ...]:
        """The inputs on which its formulas depend."""
        return tuple(filter(is_input, symbols_of(*self.formulas)))

    @property
    def known(self) -> dict[Any, float]:
        """Numbers of parameters that have them, and initial values of inputs."""
        return {**dict(self.values), **{symbol: symbol.value for symbol in self.input_symbols}}

    @property
    def open_parameters(self) -> tuple[Any, ...]:
        """The parameters in its formulas that have no numbers yet."""
        known = {*self.own_symbols, *self.known}
        every = symbols_of(*self.formulas)
        return tuple(symbol for symbol in every if symbol not in known and symbol != TIME)

    def with_numbers(self, number: Evaluate) -> Any:
        """The same with numbers for its parameters."""
        given = tuple((symbol, number(symbol)) for symbol in self.open_parameters)
        return replace(self, values=(*self.values, *given))  # type: ignore[type-var]

    def with_formulas(self, change: Callable[[Any], Any], symbols: bool = False) -> Any:
        """The same with each formula changed.

        symbols: whether formulas that are no more than an own symbol are changed as well.
        """
        own = set() if symbols else set(self.own_symbols)
        given = {
            f.name: _changed(getattr(self, f.name), lambda e: e if e in own else change(e))
            for f in fields(self)  # type: ignore[arg-type]
            if f.name not in _NO_FORMULAS
        }
        return replace(self, **given)  # type: ignore[type-var]

    def check_symbols(self, check: Check) -> None:
        """Note symbols that are neither its own nor parameters, and the time where it is not allowed."""
        if TIME in self.own_symbols:
            check.fault("the time cannot be a symbol of its own", "t", "take another name")
        elif not self.timed and TIME in symbols_of(*self.formulas):
            check.fault("its formulas must not depend on the time", None, "drive a coordinate of it")
        strangers = [str(symbol) for symbol in self.open_parameters if not is_parameter(symbol)]
        if strangers:
            own = list(map(str, self.own_symbols))
            rule = f"its formulas depend on {' and '.join(map(repr, strangers))}"
            advice = (
                f"its own symbols are {', '.join(own) or 'none'}; others must be inputs, or parameters of "
                "the mechanism"
            )
            check.fault(rule, None, _alike(own, strangers) or advice)


def _expressions(value: Any) -> Iterable[Any]:
    if is_expression(value):
        yield value
    elif isinstance(value, Mapping):
        yield from _expressions(list(value.values()))
    elif is_dataclass(value) and not isinstance(value, type):
        for f in fields(value):
            yield from _expressions(getattr(value, f.name))
    elif np.iterable(value) and not isinstance(value, str):
        for item in value:
            yield from _expressions(item)


def _changed(value: Any, change: Callable[[Any], Any]) -> Any:
    if is_expression(value):
        return change(value)
    if isinstance(value, (tuple, list)):
        return tuple(_changed(item, change) for item in value)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{f.name: _changed(getattr(value, f.name), change) for f in fields(value)})
    if np.iterable(value) and not isinstance(value, (str, Mapping)):
        return type(value)(_changed(item, change) for item in value)  # type: ignore[call-arg]
    return value


def check_dependence(
    check: Check, field: str, noun: str, symbols: Iterable[Any], formulas: Iterable[Any]
) -> None:
    """Note symbols on which formulas do not depend."""
    found = symbols_of(*formulas)
    for own in symbols:
        if own not in found:
            rule = f"the {field} does not depend on its {noun} {own.name!r}"
            check.fault(rule, None, _alike([own.name], [other.name for other in found]))


def _alike(own: Iterable[str], others: Iterable[str]) -> str:
    """Advice if another symbol has the name of an expected one."""
    names = sorted(set(own) & set(others))
    if not names:
        return ""
    return (
        f"another symbol is called {names[0]!r} too: a parameter, or one of other bounds; "
        "use the same symbol in both places"
    )


def as_formula(check: Check, field: str, value: Any) -> Any:
    """An expression from an expression or a number."""
    if is_expression(value):
        return value
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return Expression(check.number(field, value))
    check.fault(f"{field} must be an expression", value, "such as 2*u + 1, or a number")
    return Expression(0.0)


def as_formulas(check: Check, field: str, values: Any, count: int) -> tuple[Any, ...]:
    """A given number of expressions."""
    given = [] if isinstance(values, str) or not np.iterable(values) else list(values)
    if len(given) != count:
        check.fault(f"{field} must hold {count} expressions", values)
        given = [0.0] * count
    return tuple(
        as_formula(check, f"{field} {'xyz'[i] if count == 3 else i + 1}", v) for i, v in enumerate(given)
    )


def as_symbols(check: Check, field: str, values: Any, count: int | None = None) -> tuple[Any, ...]:
    """Symbols with different names; a single one need not be in a list."""
    if is_expression(values):
        values = (values,)
    given = tuple(values) if np.iterable(values) and not isinstance(values, str) else ()
    good = bool(given) and all(is_expression(s) and s.op == "symbol" and not s.negative for s in given)
    if not good or (count is not None and len(given) != count):
        wanted = "symbols" if count is None else f"{count} symbol{'s' * (count > 1)}"
        check.fault(f"{field} must be {wanted}", values, "make them by bc.symbol(name)")
        raise MechanismError(list(check.faults))
    names = [symbol.name for symbol in given]
    if len(set(names)) < len(names):
        check.fault(f"{field} must have different names", names)
    if any(map(is_parameter, given)):
        check.fault(f"{field} must not be parameters", names, "make symbols of their own by bc.symbol(name)")
    return given


def as_symbol(check: Check, field: str, value: Any) -> Any:
    """One symbol."""
    return as_symbols(check, field, value, 1)[0]


_AXES = "xyz"


class _End:
    """Common base of both kinds of ends."""

    letter: ClassVar[str]
    name: str

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not is_name(self.name):
            rule = "the name must be letters, digits and '_', as formulas use it"
            raise MechanismError.of(f"{type(self).__name__} {self.name!r}", rule)
        object.__setattr__(self, "symbols", tuple(symbol(f"{self.name}{part}") for part in self._parts()))

    def _parts(self) -> tuple[str, ...]:
        raise NotImplementedError


@dataclass(frozen=True)
class EndPose(_End):
    """The symbols for an end that is a marker: its pose and velocity in the world.

    Formulas may use position, rotation (a matrix, marker axes to world axes), x_axis, y_axis, z_axis, and in
    forces and velocity constraints also velocity and angular_velocity, all in world axes. In texts they are
    called name.x, name.y, name.z; name.x_axis.x and so on; name.vx, name.vy, name.vz; name.wx, name.wy,
    name.wz.

    >>> p = bc.EndPose("p")
    >>> floor = bc.CustomConstraint((p,), (p.position.z,))
    >>> held = cube.add_constraint("floor", floor, "cube")
    >>> bc.info(cube).freedom    # its centre stays in the plane z = 0
    5
    """

    name: str
    symbols: tuple[Any, ...] = field(init=False, compare=False, repr=False, default=())
    letter: ClassVar[str] = "M"

    def _parts(self) -> tuple[str, ...]:
        return (".x", ".y", ".z", ".e0", ".e1", ".e2", ".e3", ".vx", ".vy", ".vz", ".wx", ".wy", ".wz")

    @property
    def position(self) -> Vector:
        """The marker's origin, m."""
        return _vector(self.symbols[:3])

    @property
    def quaternion(self) -> tuple[Any, ...]:
        """The unit quaternion (e0, e1, e2, e3) from marker axes to world axes.

        Of the two signs that it may have, it has the one that makes it continuous up to half a turn from the
        rotation that is described, in all formulations. At half a turn formulas that are odd in it jump.
        """
        return self.symbols[3:7]

    @cached_property
    def rotation(self) -> Rotation:
        """The rotation matrix from marker axes to world axes."""
        e0, e1, e2, e3 = self.quaternion
        return Rotation(
            [
                [1 - 2 * (e2 * e2 + e3 * e3), 2 * (e1 * e2 - e0 * e3), 2 * (e1 * e3 + e0 * e2)],
                [2 * (e1 * e2 + e0 * e3), 1 - 2 * (e1 * e1 + e3 * e3), 2 * (e2 * e3 - e0 * e1)],
                [2 * (e1 * e3 - e0 * e2), 2 * (e2 * e3 + e0 * e1), 1 - 2 * (e1 * e1 + e2 * e2)],
            ]
        )

    @property
    def x_axis(self) -> Vector:
        """The marker's x axis, a unit vector."""
        return self.rotation.columns[0]

    @property
    def y_axis(self) -> Vector:
        """The marker's y axis, a unit vector."""
        return self.rotation.columns[1]

    @property
    def z_axis(self) -> Vector:
        """The marker's z axis, a unit vector."""
        return self.rotation.columns[2]

    @property
    def velocity(self) -> Vector:
        """The velocity of the marker's origin, m/s."""
        return _vector(self.symbols[7:10])

    @property
    def angular_velocity(self) -> Vector:
        """The angular velocity of the marker's body, rad/s."""
        return _vector(self.symbols[10:])

    @property
    def rates(self) -> tuple[Any, ...]:
        """The symbols of velocities."""
        return self.symbols[7:]

    def names(self) -> Mapping[str, Any]:
        """What texts may name."""
        found = {str(symbol.name): symbol for symbol in self.symbols}
        for axis, column in zip(_AXES, self.rotation.columns, strict=True):
            found |= {f"{self.name}.{axis}_axis.{part}": e for part, e in zip(_AXES, column, strict=True)}
        return found


@dataclass(frozen=True)
class EndCoordinate(_End):
    """The symbols for an end that is a joint coordinate: value and rate; name and name.rate in texts.

    >>> q = bc.EndCoordinate("q")
    >>> block.add_force("cubic", bc.CustomForce((q,), potential=1e4 * q.value**4 / 4), "guide").ends[0].joint
    'guide'
    >>> print(f"{bc.statics(block).position['guide'][0]:.5f} m")    # -(m g / 1e4 N/m^3)^(1/3)
    -0.12519 m
    """

    name: str
    symbols: tuple[Any, ...] = field(init=False, compare=False, repr=False, default=())
    letter: ClassVar[str] = "J"

    def _parts(self) -> tuple[str, ...]:
        return ("", ".rate")

    @property
    def value(self) -> Any:
        """The coordinate, rad or m."""
        return self.symbols[0]

    @property
    def rate(self) -> Any:
        """Its rate, rad/s or m/s."""
        return self.symbols[1]

    @property
    def rates(self) -> tuple[Any, ...]:
        """The symbol of the rate."""
        return self.symbols[1:]

    def names(self) -> Mapping[str, Any]:
        """What texts may name."""
        return {str(symbol.name): symbol for symbol in self.symbols}


def _vector(symbols: tuple[Any, ...]) -> Vector:
    return Vector(symbols)


class _OverEnds(Formulas):
    """Formulas over the symbols of ends."""

    timed: ClassVar[bool] = True
    ends: Any

    @property
    def own_symbols(self) -> tuple[Any, ...]:
        """The symbols of all ends."""
        return tuple(symbol for end in self.ends for symbol in end.symbols)

    def _used(self) -> tuple[Any, ...]:
        return symbols_of(*self.formulas)

    def _check_ends(self, check: Check) -> None:
        """Check the ends, and take their pattern."""
        ends = (self.ends,) if isinstance(self.ends, (EndPose, EndCoordinate)) else self.ends
        listed = tuple(ends) if np.iterable(ends) and not isinstance(ends, str) else ()
        if not listed or not all(isinstance(end, (EndPose, EndCoordinate)) for end in listed):
            check.fault(
                "ends must be poses and coordinates", ends, "use bc.EndPose(name), bc.EndCoordinate(name)"
            )
            listed = ()
        names = [end.name for end in listed]
        if len(set(names)) < len(names):
            check.fault("its ends must have different names", names)
        words = {"M": "a marker", "J": "a joint"}
        text = ", ".join(f"{words[end.letter]} ({end.name})" for end in listed)
        check.store(self, ends=listed, pattern="".join(end.letter for end in listed), ends_text=text)

    def _check_use(self, check: Check) -> None:
        """Check that every end occurs in the formulas, and no unknown symbol."""
        if len(check.faults) == 0:
            self.check_symbols(check)
            used = set(self._used())
            for end in self.ends:
                if not used & set(end.symbols):
                    check.fault(
                        f"its formulas do not depend on the end {end.name!r}", None, "leave the end out"
                    )
        check.faults.raise_any()


class _Equations(_OverEnds, ConstraintKind, listed=False):
    """Equations over the symbols of ends.

    of_velocity: whether they are linear in velocities and do not constrain positions.
    """

    equations: Any
    of_velocity: ClassVar[bool] = False

    def _check_equations(self, check: Check) -> None:
        """Check the ends and the equations, and store these as a tuple."""
        self._check_ends(check)
        given = self.equations
        listed = tuple(given) if np.iterable(given) and not isinstance(given, str) else (given,)
        equations = tuple(as_formula(check, f"equation {i}", e) for i, e in enumerate(listed, start=1))
        if not equations:
            check.fault("equations are missing")
        check.store(self, equations=equations)
        for number, equation in enumerate(equations, start=1):
            self._check_equation(check, number, equation, set(symbols_of(equation)))
        self._check_use(check)

    def _check_equation(self, check: Check, number: int, equation: Any, used: set[Any]) -> None:
        """Note what is wrong with one equation, which uses these symbols."""
        raise NotImplementedError

    def rows(self, ends: tuple[End, ...]) -> tuple[Row, ...]:  # noqa: ARG002
        """None, since its equations are not rows over known coordinates."""
        return ()

    def lowered(self, ends: tuple[End, ...]) -> Lowered:  # noqa: ARG002
        """Itself, for formulations that take formulas."""
        return Lowered(custom=self)


@dataclass(frozen=True)
class CustomConstraint(_Equations, listed=False):
    """Equations  C = 0  between the poses of any markers, coordinates of joints, and time.

    ends: an EndPose for each marker and an EndCoordinate for each joint, in the order in which the ends are
        given to the mechanism.
    equations: expressions that are kept at zero, of positions, not of velocities.

    >>> p, q = bc.EndPose("p"), bc.EndPose("q")
    >>> apart = bc.CustomConstraint((p, q), (bc.expression.norm(p.position - q.position) - 2,))
    >>> rod = cube.add_constraint("rod", apart, cube.ground.marker((2, 0, 0)), "cube")
    >>> swung = cube.replace(cube.bodies["cube"], velocity=(0, 3.0, 0))
    >>> x, y, z = bc.simulate(cube, 1.0).body("cube").position[-1]
    >>> print(np.hypot(x - 2, y).round(6), bc.info(cube).freedom)    # m
    2.0 5
    """

    ends: Any
    equations: Any
    values: tuple[tuple[Any, float], ...] = ()
    meaning: ClassVar[str] = "Equations between poses, joint coordinates and time."

    def _judge(self, check: Check) -> None:
        self._check_equations(check)

    def _check_equation(self, check: Check, number: int, equation: Any, used: set[Any]) -> None:
        rates = {symbol for end in self.ends for symbol in end.rates}
        if found := sorted(str(symbol) for symbol in used & rates):
            rule = f"its equations must not depend on velocities, such as {found[0]}"
            check.fault(rule, None, "equations linear in velocities are given by a VelocityConstraint")
        if not used & set(self.own_symbols):
            check.fault(f"equation {number} holds nothing", str(equation), "it must depend on the ends")


@dataclass(frozen=True)
class VelocityConstraint(_Equations, listed=False):
    """Equations between velocities, linear in them: a blade that does not slip, a turntable, rolling.

    ends: as for CustomConstraint; their velocities, angular velocities and rates may be used, as well as all
        position quantities.
    equations: expressions that are kept at zero, such as dot(p.velocity, p.y_axis). Each is linear in the
        velocities; its coefficients and the term without velocities may depend on positions, parameters and
        time.

    Positions are not constrained: a body with a blade can reach every place along a suitable path. If an
    equation is the time derivative of an equation between positions, such as p.velocity.z for a fixed height,
    give the latter (CustomConstraint), since drift of positions due to rounding is not corrected here.

    Source: Ju. Neimark, N. Fufaev, Dynamics of Nonholonomic Systems, 1972, chapter 1.

    >>> p = bc.EndPose("p")
    >>> blade = bc.VelocityConstraint((p,), (bc.expression.dot(p.velocity, p.y_axis),))
    >>> skate = cube.add_constraint("skate", blade, "cube")
    >>> ice = cube.add_joint("ice", bc.Planar(), "ground", "cube", velocity=(1.0, 0.0, np.pi))
    >>> print(bc.simulate(cube, 1.0).body("cube").position[-1].round(6))    # m: half a circle, 2 v / w across
    [0.      0.63662 0.     ]
    """

    ends: Any
    equations: Any
    values: tuple[tuple[Any, float], ...] = ()
    meaning: ClassVar[str] = "Equations linear in velocities, which hold no positions."
    of_velocity: ClassVar[bool] = True

    def _judge(self, check: Check) -> None:
        self._check_equations(check)

    def _check_equation(self, check: Check, number: int, equation: Any, used: set[Any]) -> None:
        rates = [symbol for end in self.ends for symbol in end.rates if symbol in used]
        if not rates:
            advice = "give an equation between positions by a CustomConstraint"
            check.fault(f"equation {number} holds no velocity", str(equation), advice)
        factors = {rate: set(symbols_of(derivative(equation, rate))) for rate in rates}
        bent = [str(rate) for rate, found in factors.items() if not found.isdisjoint(rates)]
        if bent:
            check.fault(
                f"equation {number} must be linear in velocities: its factor of {bent[0]} depends on some",
                str(equation),
                "write it as a sum of velocities with factors of positions, parameters and time",
            )


@dataclass(frozen=True)
class CustomForce(_OverEnds, ForceKind, listed=False):
    """A force by formulas; exactly one of potential, efforts, and force or moment is given.

    ends: as for CustomConstraint.
    potential: energy, J, of positions, time and parameters; the force on every end is its negative gradient.
    efforts: one for each end, which must all be joints: N m or N, positive drives the coordinate up.
    force, moment: on the first end, a marker, in world axes, N and N m; if there is a second marker, the
        opposite force and moment act on its body at the same point.

    >>> q = bc.EndCoordinate("q")
    >>> spring = block.add_force("cubic", bc.CustomForce((q,), efforts=(-1e4 * q.value**3,)), "guide")
    >>> print(f"{bc.statics(block).position['guide'][0]:.6f} m, by hand {-np.cbrt(2 * 9.81 / 1e4):.6f} m")
    -0.125189 m, by hand -0.125189 m
    """

    ends: Any
    potential: Any = None
    efforts: Any = None
    force: Any = None
    moment: Any = None
    values: tuple[tuple[Any, float], ...] = ()
    meaning: ClassVar[str] = "A force given by formulas, or by its potential."

    def _judge(self, check: Check) -> None:
        self._check_ends(check)
        wrench = self.force is not None or self.moment is not None
        given = [self.potential is not None, self.efforts is not None, wrench]
        if sum(given) != 1:
            check.fault("exactly one of potential, efforts, and force or moment must be given")
            check.faults.raise_any()
        if self.potential is not None:
            self._check_potential(check)
        elif self.efforts is not None:
            if "M" in self.pattern:
                check.fault(
                    "efforts act on joints; a marker takes force and moment", None, "use force= or moment="
                )
            listed = self.efforts if isinstance(self.efforts, (tuple, list)) else (self.efforts,)
            check.store(self, efforts=as_formulas(check, "efforts", listed, len(self.ends)))
        else:
            if not self.pattern.startswith("M") or self.pattern.count("M") > 2:
                check.fault("force and moment act on the first end, a marker, and against a second one")
            for field in ("force", "moment"):
                if (value := getattr(self, field)) is not None:
                    check.store(self, **{field: as_formulas(check, field, value, 3)})
        self._check_use(check)

    def _check_potential(self, check: Check) -> None:
        check.store(self, potential=as_formula(check, "potential", self.potential))
        rates = {symbol for end in self.ends for symbol in end.rates}
        if found := sorted(str(symbol) for symbol in self._used() if symbol in rates):
            check.fault(f"a potential must not depend on velocities, such as {found[0]}")

    def lowered(self, ends: tuple[End, ...]) -> Lowered:  # noqa: ARG002
        """Itself, for formulations that take formulas."""
        return Lowered(custom=self)
