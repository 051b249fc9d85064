"""The benchmark bicycle as a mechanism: two frames, and two wheels that roll on their sharp edges.

Source: J. P. Meijaard, J. M. Papadopoulos, A. Ruina, A. L. Schwab, Linearized dynamics equations for the
balance and steer of a bicycle, Proc. R. Soc. A 463 (2007), table 1. There z points down; here it points up,
so that products of inertia with z have the other sign.
"""

from __future__ import annotations

from math import cos, pi, sin
from typing import Any

import bellcrank as bc
from bellcrank import expression as ex

BENCHMARK = {
    "wheelbase": 1.02,
    "trail": 0.08,
    "steer_axis_tilt": pi / 10,
    "g": 9.81,
    "rear_wheel": {"radius": 0.3, "mass": 2.0, "Ixx": 0.0603, "Iyy": 0.12},
    "rear_frame": {"x": 0.3, "z": -0.9, "mass": 85.0, "Ixx": 9.2, "Ixz": 2.4, "Iyy": 11.0, "Izz": 2.8},
    "front_frame": {
        "x": 0.9,
        "z": -0.7,
        "mass": 4.0,
        "Ixx": 0.05892,
        "Ixz": -0.00756,
        "Iyy": 0.06,
        "Izz": 0.00708,
    },
    "front_wheel": {"radius": 0.35, "mass": 3.0, "Ixx": 0.1405, "Iyy": 0.28},
}


def bicycle(table: dict[str, Any] = BENCHMARK, speed: float = 0.0) -> bc.Mechanism:
    """The bicycle upright at the origin, running along x."""
    mech = bc.Mechanism("bicycle", gravity=(0.0, 0.0, -table["g"]))
    tilt, wheelbase = table["steer_axis_tilt"], table["wheelbase"]
    for name in ("rear_frame", "front_frame"):
        p = table[name]
        inertia = ((p["Ixx"], 0.0, -p["Ixz"]), (0.0, p["Iyy"], 0.0), (-p["Ixz"], 0.0, p["Izz"]))
        place = (p["x"], 0.0, -p["z"])
        mech.add_body(name, mass=p["mass"], inertia=inertia, position=place, velocity=(speed, 0.0, 0.0))
    rear, front = mech.bodies["rear_frame"], mech.bodies["front_frame"]
    for name, frame, at in (("rear", rear, 0.0), ("front", front, wheelbase)):
        p = table[f"{name}_wheel"]
        radius = p["radius"]
        wheel = mech.add_body(
            f"{name}_wheel",
            mass=p["mass"],
            inertia=(p["Ixx"], p["Iyy"], p["Ixx"]),
            shapes=[bc.Cylinder(radius=radius, length=0.02, rotation=(cos(pi / 4), sin(pi / 4), 0.0, 0.0))],
            position=(at, 0.0, radius),
            velocity=(speed, 0.0, 0.0),
            angular_velocity=(0.0, speed / radius, 0.0),
        )
        x, y, s, heading, lean = (ex.symbol(f"{word}") for word in ("x", "y", "s", "heading", "lean"))
        edge = (radius * ex.cos(s), radius * ex.sin(s), 0.0)
        rolling = bc.RollingCurve((x, y), (x, y, 0.0), s, edge, heading, lean)
        begin = {"x": at, "y": 0.0, "s": -pi / 2, "heading": 0.0, "lean": 0.0}
        rates = {"x": speed, "y": 0.0, "s": speed / radius, "heading": 0.0, "lean": 0.0}
        axle = wheel.marker(x_axis=(1, 0, 0), y_axis=(0, 0, 1))
        mech.add_joint(f"{name} contact", rolling, mech.ground, axle, position=begin, velocity=rates)
        hub = frame.marker(
            tuple(a - b for a, b in zip(wheel.position, frame.position, strict=True)), axis=(0, 1, 0)
        )
        mech.add_joint(f"{name} hub", bc.Revolute(), hub, wheel.marker(axis=(0, 1, 0)))
    head = (wheelbase + table["trail"], 0.0, 0.0)
    ends = [
        body.marker(
            tuple(a - b for a, b in zip(head, body.position, strict=True)), axis=(sin(tilt), 0.0, -cos(tilt))
        )
        for body in (rear, front)
    ]
    mech.add_joint("steer", bc.Revolute(), *ends)
    return mech
