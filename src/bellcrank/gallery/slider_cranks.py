"""Slider-cranks: one that passes its dead points, and one moved by a spring and a damper."""

from __future__ import annotations

from math import asin, cos, sin

import numpy as np

import bellcrank as bc
from bellcrank.gallery.rods import Vector, add_pin, add_rod, direction, planar, vec


def slider_crank(
    crank_length: float = 1.0,
    rod_length: float = 1.0,
    *,
    crank_mass: float = 1.0,
    rod_mass: float = 1.0,
    slider_mass: float = 0.5,
    angle: float = np.pi / 4,
    rate: float = 0.0,
    gravity: Vector = (0.0, -9.81, 0.0),
) -> bc.Mechanism:
    """Slider-crank: crank about the origin, connecting rod, slider on the x axis; slender rods, plane xy.

    One degree of freedom. crank_length, rod_length: m. crank_mass, rod_mass, slider_mass: kg.
    angle, rate: of the crank from x, rad and rad/s. gravity: m/s^2. Bodies "crank", "rod", "slider"; joints
    "pivot", "crank pin", "slider pin" (revolute), "slide" (prismatic along x; position: the slider's x, m).

    With equal lengths the slider passes the crank's pivot at crank angles of +-90 degrees, where a second
    branch (rod locked on the crank) begins; started off it, the motion goes through smoothly (IFToMM
    multibody benchmark library).
    Raises ValueError if the rod does not reach the x axis.
    """
    height = crank_length * sin(angle)
    if abs(height) >= rod_length:
        raise ValueError(f"slider_crank: a rod of {rod_length} m does not reach the axis from {height:.6g} m")
    mech = bc.Mechanism("slider-crank", gravity=vec(gravity))
    slope = -asin(height / rod_length)
    slope_rate = -rate * crank_length * cos(angle) / (rod_length * cos(slope))
    pin = crank_length * direction(angle)
    end = pin + rod_length * direction(slope)
    end[1] = 0.0
    pin_velocity = np.cross((0.0, 0.0, rate), pin)
    end_velocity = pin_velocity + np.cross((0.0, 0.0, slope_rate), end - pin)
    crank = add_rod(mech, "crank", (0, 0, 0), pin, mass=crank_mass, angular_velocity=(0, 0, rate))
    rod = add_rod(
        mech,
        "rod",
        pin,
        end,
        mass=rod_mass,
        start_velocity=pin_velocity,
        angular_velocity=(0, 0, slope_rate),
    )
    size = 0.2 * crank_length
    slider = mech.add_body(
        "slider",
        mass=slider_mass,
        inertia=(slider_mass * size**2 / 6,) * 3,
        position=vec(end),
        velocity=(float(end_velocity[0]), 0.0, 0.0),
        shapes=[bc.Box(size=(size, size, size))],
    )
    add_pin(mech, "pivot", mech.ground, crank, (0, 0, 0))
    add_pin(mech, "crank pin", crank, rod, pin)
    add_pin(mech, "slider pin", rod, slider, end)
    along_x = (1.0, 0.0, 0.0)
    mech.add_joint("slide", bc.Prismatic(), mech.ground.marker(axis=along_x), slider.marker(axis=along_x))
    return mech


def spring_slider_crank(
    crank_length: float = 0.5,
    rod_length: float = 1.0,
    *,
    crank_inertia: float = 1.0,
    rod_inertia: float = 2.0,
    rod_mass: float = 1.0,
    stiffness: float = 1.0,
    damping: float = 1.0,
    rest_length: float = 1.0,
    force: float = 1.0,
    angle: float = np.pi / 2,
) -> bc.Mechanism:
    """Slider-crank with a spring and a damper between crank and rod, started at rest, no gravity.

    One degree of freedom. The slider-crank of the SUNDIALS examples (ida/serial/idaSlCrank_dns.c).

    The crank has only an inertia about its pivot, the connecting rod a mass at its slider end and an inertia
    about it; the slider itself has none: joint "slide" keeps the end of the rod on the x axis and gives its
    x and the angle of the rod. A spring and damper act between the middles of crank and rod; `force` works
    with the generalised forces F (0, 1, -sin p) on (crank angle, slider x, rod angle p): twice the force
    along x at the slider end and once against x at the crank pin.

    crank_length, rod_length: m. crank_inertia, rod_inertia: kg m^2. rod_mass: kg. stiffness, damping,
    rest_length: of the spring, N/m, N s/m and m. force: N. angle: of the crank from x, rad.
    Bodies "crank", "rod"; joints "pivot", "crank pin", "slide".
    """
    mech = bc.Mechanism("spring slider-crank", gravity=(0.0, 0.0, 0.0))
    slope = -asin(crank_length * sin(angle) / rod_length)
    end = crank_length * cos(angle) + rod_length * cos(slope)
    crank = mech.add_body(
        "crank",
        mass=1.0,
        inertia=(crank_inertia,) * 3,
        rotation=planar(angle),
        shapes=[bc.Box(size=(crank_length, 0.03, 0.03), position=(crank_length / 2, 0.0, 0.0))],
    )
    rod = mech.add_body(
        "rod",
        mass=rod_mass,
        inertia=(rod_inertia,) * 3,
        position=(end, 0.0, 0.0),
        rotation=planar(slope),
        shapes=[bc.Box(size=(rod_length, 0.03, 0.03), position=(-rod_length / 2, 0.0, 0.0))],
    )
    pin = rod.marker((-rod_length, 0.0, 0.0))
    mech.add_joint("pivot", bc.Revolute(), mech.ground.marker(), crank.marker())
    mech.add_joint("crank pin", bc.Revolute(), crank.marker((crank_length, 0.0, 0.0)), pin)
    mech.add_joint("slide", bc.PinInSlot(), mech.ground.marker(), rod.marker())
    mech.add_force(
        "spring",
        bc.SpringDamper(stiffness, damping, rest_length),
        crank.marker((crank_length / 2, 0.0, 0.0)),
        rod.marker((-rod_length / 2, 0.0, 0.0)),
    )
    mech.add_force("push", bc.Wrench(force=(2 * force, 0.0, 0.0)), rod.marker())
    mech.add_force("pull", bc.Wrench(force=(-force, 0.0, 0.0)), pin)
    return mech
