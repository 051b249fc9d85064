"""Joints on surfaces given by formulas: a frame on a surface, two in contact, two that roll."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

from bellcrank.expression import Expression, Transform, frames
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.custom_joints import _FormulaJoint
from bellcrank.mechanism.fields import checked, described
from bellcrank.mechanism.formulas import as_formulas, as_symbol, as_symbols, check_dependence


@described
class SurfaceJoint(_FormulaJoint):
    """A frame that slides on a surface.

    parameters: two symbols, which are coordinates.
    surface: x, y and z over the parameters, m, in the axes of marker 1.
    spin: a third symbol if the frame may turn about the normal; if None, its x axis is the tangent along the
        first parameter. z is the normal, the first tangent crossed with the second.
    """

    parameters: Any = checked(partial(as_symbols, count=2))
    surface: Any = checked(partial(as_formulas, count=3))
    spin: Any = checked(as_symbol, default=None)
    values: tuple[tuple[Any, float], ...] = ()
    meaning: ClassVar[str] = "A frame that slides on a surface given by formulas."
    rule: ClassVar[str] = "the frame lies on the surface"

    def _judge(self, check: Check) -> None:
        check.faults.raise_any()
        as_symbols(check, "parameters and spin", self.own_symbols)
        check_dependence(check, "surface", "parameter", self.parameters, self.surface)
        self._finish(check)

    @property
    def own_symbols(self) -> tuple[Any, ...]:
        """The parameters, and the spin if there is one."""
        return self.parameters if self.spin is None else (*self.parameters, self.spin)

    @property
    def units_of_coordinates(self) -> tuple[str, ...]:
        """Parameters have none."""
        return ("1", "1") if self.spin is None else ("1", "1", "rad")

    @property
    def transform(self) -> Transform:
        """The frame on the surface."""
        return frames.surface_frame(self.surface, self.parameters, self.spin)


@described
class SurfaceOnSurface(_FormulaJoint):
    """Two surfaces that touch at a point and slide on each other.

    parameters_1, parameters_2: two symbols each. surface_1, surface_2: x, y and z over them, m, each in the
        axes of its own marker; the normals (first tangent crossed with the second) point out of the bodies.
    spin: the symbol of the angle between the first tangents, or None: then they stay parallel.

    The coordinates are the parameters of both, then the spin.
    """

    parameters_1: Any = checked(partial(as_symbols, count=2))
    surface_1: Any = checked(partial(as_formulas, count=3))
    parameters_2: Any = checked(partial(as_symbols, count=2))
    surface_2: Any = checked(partial(as_formulas, count=3))
    spin: Any = checked(as_symbol, default=None)
    values: tuple[tuple[Any, float], ...] = ()
    meaning: ClassVar[str] = "Two surfaces given by formulas that touch and slide on each other."
    rule: ClassVar[str] = "the surfaces touch"

    def _judge(self, check: Check) -> None:
        check_dependence(check, "surface_1", "parameter", self.parameters_1, self.surface_1)
        check_dependence(check, "surface_2", "parameter", self.parameters_2, self.surface_2)
        check.faults.raise_any()
        as_symbols(check, "parameters and spin", self.own_symbols)
        self._finish(check)

    @property
    def own_symbols(self) -> tuple[Any, ...]:
        """The parameters of both surfaces, and the spin if there is one."""
        both: tuple[Any, ...] = (*self.parameters_1, *self.parameters_2)
        return both if self.spin is None else (*both, self.spin)

    @property
    def units_of_coordinates(self) -> tuple[str, ...]:
        """Parameters have none."""
        return ("1",) * 4 if self.spin is None else ("1", "1", "1", "1", "rad")

    @property
    def transform(self) -> Transform:
        """The transform from the frame of marker 2, via the contact, to that of marker 1."""
        one = frames.surface_frame(self.surface_1, self.parameters_1, self.spin)
        two = frames.surface_frame(self.surface_2, self.parameters_2, None)
        return one @ frames.face_to_face() @ two.inverse()


@described
class Rolling(SurfaceOnSurface):
    """Two surfaces that roll on each other without sliding: the point of contact runs as fast on both.

    The arguments are those of SurfaceOnSurface; with a spin they may turn about the normal.
    """

    meaning: ClassVar[str] = "Two surfaces given by formulas that roll on each other without sliding."
    rolling_rules: ClassVar[tuple[str, ...]] = (
        "the surfaces do not slide along the tangent",
        "the surfaces do not slide across the tangent",
    )

    @property
    def rolling(self) -> tuple[tuple[Expression, ...], ...]:
        """Velocity of the point of contact on one surface less that on the other, in the contact's plane."""
        return frames.rolling_conditions(
            (self.surface_1, self.parameters_1),
            (self.surface_2, self.parameters_2),
            self.spin,
            self.own_symbols,
        )
