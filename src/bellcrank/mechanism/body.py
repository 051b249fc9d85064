"""Bodies: the rigid parts of a mechanism, and the ground."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Final, cast

import numpy as np

from bellcrank.errors import MechanismError
from bellcrank.mechanism.checking import Check, Mat3, Quat, Vec3, check_name, plain_number
from bellcrank.mechanism.fields import Description, as_tuple, checked, described, flag, rotation, vector
from bellcrank.mechanism.given import (
    Axis,
    FloatField,
    InertiaField,
    Number,
    Numbers,
    RotationField,
    Rows,
    VectorField,
)
from bellcrank.mechanism.marker import GROUND, Marker
from bellcrank.mechanism.mass import check_inertia, plain_inertia, total
from bellcrank.mechanism.parameters import present, quiet
from bellcrank.mechanism.rotation import IDENTITY, conjugate, multiply, orientation, rotate
from bellcrank.mechanism.shape import Shape
from bellcrank.mechanism.units import in_si
from bellcrank.slips import answering

_ORIGIN: Final[Vec3] = (0.0, 0.0, 0.0)
STAND_IN_MASS: Final = 1.0
"""kg, of a body whose mass is not known: by it, assembly weighs one body against another."""
STAND_IN_INERTIA: Final[Mat3] = ((0.01, 0.0, 0.0), (0.0, 0.01, 0.0), (0.0, 0.0, 0.01))
"""kg m^2, likewise."""


class _Carrier(Description):
    """Common base of bodies and the ground: markers can be fixed to them."""

    name: str
    position: Vec3
    rotation: Quat

    def marker(
        self,
        position: Numbers = (0.0, 0.0, 0.0),
        axis: Axis | None = None,
        *,
        rotation: Rows | None = None,
        x_axis: Axis | None = None,
        y_axis: Axis | None = None,
        z_axis: Axis | None = None,
        name: str | None = None,
    ) -> Marker:
        """A marker on this body, in body axes.

        position: its origin in the body frame, m.
        rotation: unit quaternion (w, x, y, z) from marker axes to body axes; or instead
        axis (= z_axis), x_axis, y_axis: one or two directions of any length, or names such as "x" and "-z";
        if only one is given, the shortest rotation is used.
        name: a named marker can be referred to as "body.name".

        Raises MechanismError for numbers that are not finite, axes that are zero or not perpendicular, and
        a quaternion that is not a unit quaternion.

        >>> palm = arm.bodies["forearm"].marker((1, 0, 0), axis="y", name="palm")
        >>> palm.key, np.round(palm.z_axis, 6).tolist()
        ('forearm.palm', [0.0, 1.0, 0.0])
        """
        element = f"marker on {self.name!r}" if name is None else f"marker '{self.name}.{name}'"
        turn = orientation(element, rotation, axis, x_axis, y_axis, z_axis)
        return Marker(self.name, cast(Any, position), turn, name)

    def world_marker(
        self,
        position: Numbers = (0.0, 0.0, 0.0),
        axis: Axis | None = None,
        *,
        rotation: Rows | None = None,
        x_axis: Axis | None = None,
        y_axis: Axis | None = None,
        z_axis: Axis | None = None,
        name: str | None = None,
    ) -> Marker:
        """A marker given by its initial position and axes in the world; arguments as for `marker`.

        >>> fore = arm.bodies["forearm"]    # its frame is at (1, 0, 0)
        >>> fore.world_marker((1.5, 0, 0)).position
        (0.5, 0.0, 0.0)
        """
        world = self.marker(
            position, axis, rotation=rotation, x_axis=x_axis, y_axis=y_axis, z_axis=z_axis, name=name
        )
        back = conjugate(self.rotation)
        with quiet():
            x, y, z = (np.asarray(world.position) - np.asarray(self.position)).tolist()
        return Marker(self.name, rotate(back, (x, y, z)), multiply(back, world.rotation), name)


def _shapes(check: Check, _: str, value: Any) -> tuple[Shape, ...]:
    with check.faults.collect():
        return _check_shapes(check.element, value)
    return ()


def _no_shapes(value: Any) -> tuple[Shape, ...] | None:
    return () if type(value) in (tuple, list) and not value else None


@answering
@described
class Ground(_Carrier):
    """The ground: the world frame, which does not move. `shapes` are drawn and have no mass.

    >>> wall = cube.ground.marker((0, 0, 2), axis="x")
    >>> weld = cube.add_joint("weld", bc.Fixed(), wall, cube.bodies["cube"].world_marker((0, 0, 2), axis="x"))
    >>> wall.body, bc.info(cube).freedom
    ('ground', 0)
    """

    shapes: tuple[Shape, ...] = checked(_shapes, default=())

    def _element(self) -> str:
        return GROUND

    @property
    def name(self) -> str:  # type: ignore[override]
        """Always "ground"."""
        return GROUND

    @property
    def position(self) -> Vec3:  # type: ignore[override]
        """The world origin."""
        return (0.0, 0.0, 0.0)

    @property
    def rotation(self) -> Quat:  # type: ignore[override]
        """The world axes."""
        return IDENTITY


def _mass(check: Check, name: str, value: Any) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and value == 0.0:
        advice = (
            "a massless link is part of a joint: Distance, RevoluteSpherical and ParallelLink are massless "
            "rods, and bc.CustomJoint takes the product of the poses of any two joints"
        )
        check.fault("mass must be greater than zero", 0.0, advice)
        return 1.0
    return check.positive(name, value, "kg")


@answering
@described
class Body(_Carrier):
    """A rigid body.

    name: unique in its mechanism; "a/b" is body b of the part that was placed as a.
    mass: kg.
    inertia: 3 x 3 (or three principal numbers), kg m^2, about the com in body axes; stored as 3 x 3. All
        zero makes a particle, which keeps its orientation: only its centre of mass can be constrained or
        loaded.
    com: centre of mass in the body frame, m.
    position, rotation: initial pose of the body frame in the world, m and unit quaternion (w, x, y, z).
    velocity, angular_velocity: initial velocities of the frame's origin, in world axes, m/s and rad/s.
    shapes: what is drawn. Their densities have no effect here; `described` turns them into mass.
    check_inertia: False accepts moments that violate the triangle inequality, as some published ones do. No
        mass distribution has them, but the equations of motion remain valid.
    mass_known: False for a body of which nobody stated a mass: kinematics, inverse kinematics, assembly and
        pictures take it, everything that needs masses refuses it. Its mass and inertia are stand-ins.

    Raises MechanismError listing all faults of these values.

    >>> ball = bc.Body("ball", mass=5.0, inertia=(0.02, 0.02, 0.02), position=(0, 0, "50 cm"))
    >>> ball.inertia[0], ball.position
    ((0.02, 0.0, 0.0), (0.0, 0.0, 0.5))
    >>> rod = pendulum.bodies["rod"]
    >>> rod.mass, str(rod.com[0])    # a parameter makes it an expression
    (1.0, '0.5*length')
    """

    name: str
    mass: FloatField = checked(_mass, "kg", parametric=True, quick=plain_number("kg", "positive"))
    inertia: InertiaField = checked(unit="kg m^2", parametric=True, quick=plain_inertia)
    com: VectorField = vector("m", default=_ORIGIN)
    position: VectorField = vector("m", default=_ORIGIN)
    rotation: RotationField = rotation(default=IDENTITY)
    velocity: VectorField = vector("m/s", default=_ORIGIN)
    angular_velocity: VectorField = vector("rad/s", default=_ORIGIN)
    shapes: tuple[Shape, ...] = checked(_shapes, default=(), quick=_no_shapes)
    check_inertia: bool = flag(default=True)
    mass_known: bool = flag(default=True)
    _judges_all: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_name("body", self.name)
        if self.name == GROUND:
            raise MechanismError.of(
                "body 'ground'", "this name is taken by the ground", advice="choose another"
            )
        super().__post_init__()

    def _element(self) -> str:
        return f"body {self.name!r}"

    def _repr_html_(self) -> str:
        from bellcrank.mechanism.html import element, short

        mass = f"{short(self.mass)} kg" if self.mass_known else "of unknown mass"
        return element("body", self.name, mass, f"at {short(self.position)} m")

    def _judge(self, check: Check) -> None:
        self._store(inertia=check_inertia(check, self.inertia, self.check_inertia))

    @staticmethod
    def described(
        name: str,
        mass: Number | None = None,
        inertia: Rows | None = None,
        com: Numbers | None = None,
        shapes: Shape | Sequence[Shape] = (),
        **pose: Any,
    ) -> Body:
        """A body whose mass properties come from numbers, from shapes with densities, or from both.

        - mass and inertia given (com by default the frame's origin): they are used, densities are ignored.
        - neither given: mass, com and inertia add up from the shapes that have a density.
        - mass given, inertia not: com and inertia come from the shapes with a density, scaled to the mass.
        - mass_known=False: no numbers at all.
        Anything else is refused: an inertia without a mass, a com without an inertia, no source for either.

        >>> ball = bc.Body.described(name="ball", shapes=[bc.Sphere(radius=0.1, density=3000.0)])
        >>> print(f"{ball.mass:.4f} kg, {ball.inertia[0][0]:.5f} kg m^2")    # 4/3 pi r^3 rho, 2/5 m r^2
        12.5664 kg, 0.05027 kg m^2
        """
        listed: Any = shapes
        if isinstance(mass, Shape):
            raise MechanismError.of(
                f"body {name!r}", "its shapes are no mass", mass, "give them by name: shapes=[...]"
            )
        check_name("body", name)
        if pose.get("mass_known", True) is False:
            _refuse_numbers(name, mass=mass, inertia=inertia, com=com)
            return Body(name, STAND_IN_MASS, STAND_IN_INERTIA, shapes=listed, **pose)
        if inertia is not None and mass is not None:
            return Body(name, mass, inertia, (0.0, 0.0, 0.0) if com is None else com, shapes=listed, **pose)
        element = f"body {name!r}"
        solids = [shape for shape in _check_shapes(element, shapes) if shape.density is not None]
        with Check(element) as check:
            advice = "give mass and inertia, or shapes with a density"
            if inertia is not None:
                check.fault("an inertia needs a mass", inertia, advice)
            elif not solids and mass is None:
                check.fault("mass and inertia are missing", None, advice)
            elif not solids:
                check.fault(
                    "inertia is missing",
                    None,
                    "give it, or give the shapes a density: it is scaled to the mass",
                )
            elif com is not None:
                check.fault("a com needs an inertia about it", com, "leave it out: it comes from the shapes")
            if mass is not None:
                mass = in_si(check, "mass", mass, ("kg",))
                check.positive("mass", present(mass), "kg")
        with quiet():
            sum_ = total(shape.mass_properties() for shape in solids)
            if mass is not None:
                sum_ = sum_.scaled(cast(float, mass) / sum_.mass)
            inertia = as_tuple(0.5 * (sum_.inertia + sum_.inertia.T))
        return Body(name, sum_.mass, inertia, as_tuple(sum_.com), shapes=listed, **pose)


def _refuse_numbers(name: str, **given: Any) -> None:
    with Check(f"body {name!r}") as check:
        for key, value in given.items():
            if value is not None:
                check.fault(f"{key} is given, but mass_known is False", value, "leave one of them out")


def _check_shapes(element: str, shapes: Any) -> tuple[Shape, ...]:
    listed = (shapes,) if isinstance(shapes, Shape) else shapes
    with Check(element) as check:
        if not isinstance(listed, (tuple, list)):
            check.fault("shapes must be a list of shapes", shapes, "such as [bc.Box(size=(1, 0.1, 0.1))]")
            listed = ()
        for shape in listed:
            check.instance("each of the shapes", shape, Shape, "use bc.Box(...), bc.Sphere(...), ...")
    return tuple(listed)
