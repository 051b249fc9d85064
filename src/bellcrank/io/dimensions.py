"""Which units the fields of a description take: for texts with units, and for the tables of the guide.

Fields are known by name, or by "Class.name" where the same name means different things. A field that is not
in the table takes any unit: a new kind of joint or force needs no entry here.
"""

from __future__ import annotations

from functools import cache

from bellcrank.io.units import Dimension, dimension_of

FIELD_UNITS: dict[str, tuple[str, ...]] = {
    "mass": ("kg",),
    "inertia": ("kg m^2",),
    "rotor_inertia": ("kg m^2",),
    "density": ("kg/m^3",),
    "gravity": ("m/s^2",),
    **dict.fromkeys(
        ("com", "size", "radius", "radii", "length", "height", "points", "pitch", "rest_length"), ("m",)
    ),
    **dict.fromkeys(("half_angle", "angle", "phase"), ("rad",)),
    **dict.fromkeys(("rest_angle", "lower", "upper"), ("rad", "m")),
    "position": ("m",),
    "velocity": ("m/s",),
    "angular_velocity": ("rad/s",),
    **dict.fromkeys(("stribeck_velocity", "regularisation_velocity"), ("rad/s", "m/s")),
    **dict.fromkeys(("stiffness",), ("N/m", "N m/rad")),
    **dict.fromkeys(("damping", "viscous", "droop"), ("N s/m", "N m s/rad")),
    **dict.fromkeys(("preload", "coulomb", "stiction", "level", "effort"), ("N", "N m")),
    "rotational_stiffness": ("N m/rad",),
    "rotational_damping": ("N m s/rad",),
    "torque": ("N m",),
    "moment": ("N m",),
    "force": ("N",),
    "omega": ("rad/s",),
    **dict.fromkeys(("duration", "step", "output_step", "max_step"), ("s",)),
    **dict.fromkeys(
        ("scale", "rotation", "axis", "x_axis", "y_axis", "z_axis", "color", "restitution", "teeth"), ("1",)
    ),
    "NurbsCurve.control_points": ("m",),
    "closing_speed": ("m/s",),
    **dict.fromkeys(("contact", "depth"), ("m", "rad")),
    "SupportPoint.depth": ("m",),
    "SupportPoint.stiffness": ("N/m",),
    "SupportPoint.damping": ("N s/m",),
    "RubberString.stiffness": ("N/m",),
    "BodyDamping.damping": ("N s/m",),
    "SpringDamper.stiffness": ("N/m",),
    "SpringDamper.damping": ("N s/m",),
    "SpringDamper.preload": ("N",),
    "Bushing.stiffness": ("N/m",),
    "Bushing.damping": ("N s/m",),
    "MotorKind.position": ("rad", "m"),
    "MotorKind.velocity": ("rad/s", "m/s"),
    "Joint.position": ("rad", "m"),
    "Joint.velocity": ("rad/s", "m/s"),
    "Drive.position": ("rad", "m"),
    "Drive.velocity": ("rad/s", "m/s"),
    "Simulation.start": ("s",),
    "GearedMotor.droop": ("N m s/rad",),
    "GearedMotor.ratio": ("1", "rad/m"),
}


def units_of(owner: type | None, field: str) -> tuple[str, ...]:
    """The units of which a field takes one; none if it takes any."""
    for cls in owner.__mro__ if owner is not None else ():
        if (units := FIELD_UNITS.get(f"{cls.__name__}.{field}")) is not None:
            return units
    return FIELD_UNITS.get(field, ())


@cache
def _dimensions(units: tuple[str, ...]) -> frozenset[Dimension]:
    return frozenset(map(dimension_of, units))


def fits(dimension: Dimension, units: tuple[str, ...]) -> bool:
    """Whether a quantity of this dimension can stand for one of the units.

    An angle in the denominator may be left out ("N m" for a torsional stiffness), but not in rad/s: "2 Hz"
    could mean two turns a second as well as 2 rad/s.
    """
    if not units or dimension in _dimensions(units):
        return True
    return (*dimension[:3], -1) in _dimensions(units)
