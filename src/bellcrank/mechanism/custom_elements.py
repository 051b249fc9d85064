"""Constraints and forces given by formulas over the poses of markers and the coordinates of joints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bellcrank.expression import derivative
from bellcrank.expression.reading import symbols_of
from bellcrank.mechanism.attachment import End
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.constraint import ConstraintKind
from bellcrank.mechanism.custom_ends import EndCoordinate, EndPose
from bellcrank.mechanism.force import ForceKind
from bellcrank.mechanism.formulas import Formulas, as_formula, as_formulas
from bellcrank.mechanism.rows import Lowered, Row


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
                    "efforts act on joints; a marker takes force and moment",
                    None,
                    "use force= or moment=",
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
