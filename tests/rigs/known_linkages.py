"""What the first examples, of linkages and joints, must print."""

from __future__ import annotations

from math import cos, radians, sqrt

import pytest
from rigs.printed import Printed
from scipy.special import ellipk


def agreement(printed: Printed) -> None:
    printed.below(r"symbolic: bodies within (\S+) m of lagrange, energy to (\S+) of", 1e-6)


def pendulum(printed: Printed) -> None:
    period = 4 * sqrt(2 / (3 * 9.81)) * float(ellipk(0.5))
    printed.near(r"period: (\S+) s, closed form (\S+) s", period, period, within=1e-6)
    printed.near(r"largest force on the hinge: (\S+) N", 2.5 * 9.81, within=1e-3)
    printed.below(r"energy drift: (\S+) J", 1e-6)
    printed.says("the same: True")


def four_bar(printed: Printed) -> None:
    assert printed.text.count("joint 'pin 2'") == 3
    printed.below(r"error to the closed form (\S+) rad", 1e-9)
    printed.below(r"work of the motor against the energy: (\S+) J", 1e-4)


def slider_crank_singular(printed: Printed) -> None:
    printed.near(r"after 1 s: (\S+) rad", 3.6395249764594397, within=1e-8)
    printed.near(r"after 5 s: (\S+) rad", 17.712266178175103, within=1e-7)
    printed.near(r"singular poses passed: (\d+)", 6, within=0)


def n_four_bar(printed: Printed) -> None:
    printed.near(r"N =  1: .*tip \((\S+), (\S+)\)", 0.47838505776, 0.87815017819, within=5e-6)
    printed.near(r"N = 40: .*tip \((\S+), (\S+)\)", 0.1805122266867, 0.9835727405823, within=5e-5)
    printed.below(r"energy drift (\S+) J", 5e-3)


def andrews_squeezer(printed: Printed) -> None:
    printed.says("mobility     1 (50 rows, Gruebler's count -8)")
    printed.near(r"beta after 0.03 s: (\S+) rad", 15.810771195153643, within=1e-8)
    printed.below(r"largest difference of the seven angles: (\S+) rad", 1e-8)
    printed.below(r"energy balance: (\S+) J", 1e-8)


def bricard(printed: Printed) -> None:
    printed.says("Gruebler's count 0, freedom 1")
    point = (0.510501461187, -1.649167599395, 0.140123114553)
    printed.near(r"P3 after 1 s: \((\S+), (\S+), (\S+)\)", *point, within=1e-8)
    printed.below(r"energy drift (\S+) J", 1e-6)


def flyball_governor(printed: Printed) -> None:
    printed.near(r"slider after 10 s: (\S+) m", 0.6196229170613664, within=1e-8)
    printed.below(r"rods differ by (\S+) rad", 1e-9)
    printed.below(r"changes by (\S+)", 1e-7)


def closed_chains(printed: Printed) -> None:
    printed.says("20 rods: 120 coordinates, 60 rows")
    printed.says("40 rods: 240 coordinates, 120 rows")
    printed.near(r"hung ring of \d+: freedom (\d+), redundant rows (\d+)", 18, 3, 38, 3, within=0)
    printed.below(r"mirror each other to (\S+) m", 1e-6)
    printed.below(r"energy drift (\S+) J of", 1e-3)


def prosthetic_shoulder(printed: Printed) -> None:
    printed.says("7 bodies, 42 coordinates, 40 constraint rows, freedom 2, redundant rows 0")
    printed.near(r"sideways: flexion (\S+), abduction (\S+) degrees", 0.0, 60.0, within=0.05)
    printed.near(r"forwards: flexion (\S+), abduction (\S+) degrees", 60.0, 0.0, within=0.05)
    printed.below(r"differential met to (\S+) rad", 1e-9)
    printed.below(r"\(difference (\S+) N m\)", 1e-9)
    printed.below(r"against the energy of the arm: (\S+) J", 1e-3)
    printed.below(r"energy drift (\S+) J", 1e-2)


def prosthetic_arm(printed: Printed) -> None:
    printed.says("9 bodies, 54 coordinates, 50 constraint rows, freedom 4")
    assert len(printed.numbers(r"front motor  torque at most +(\S+) mN m")) == 3
    printed.below(r"joint angles against the closed form: (\S+) rad", 1e-6)
    printed.below(r"work of the motors against the energy: (\S+) of", 1e-4)


def stops_and_impacts(printed: Printed) -> None:
    printed.below(r"largest error of the height (\S+) m", 1e-4)
    printed.near(r"ratio (\S+) \(0.8", 0.64, within=1e-3)
    first, fall = sqrt(2 / 9.81), sqrt(2 * 9.81)
    rest = first + 2 * fall / 9.81 * 0.8 / 0.2
    printed.near(r"at rest after (\S+) s", rest, within=0.01)
    printed.near(r"stop carries (\S+) N", 19.62, within=1e-4)
    printed.near(r"pendulum: between (\S+) and (\S+) degrees", -25.0, 40.0, within=0.1)
    printed.near(r"never longer than (\S+) m", 1.0, within=1e-6)
    printed.below(r"which is followed to (\S+) m", 1e-9)


def arm_placed_twice(printed: Printed) -> None:
    printed.below(r"the two arms differ by (\S+) N m", 1e-9)
    printed.below(r"arms add up to (\S+) N m", 1e-9)
    more = 9.81 * (0.40 * cos(radians(50.0)) + 0.36 * cos(radians(45.0)))
    printed.near(r": (\S+) N m more, by hand", more, within=1e-3)


def beads_on_a_wire(printed: Printed) -> None:
    """At frames of 1/30 s `symbolic` stays on the wire and `lagrange` does not find back to it."""
    printed.below(r"off the wire (\S+) m", 1e-11)
    printed.below(r"steps 1/1000 s: .*energy to (\S+) of", 1e-9)
    printed.below(r"symbolic, steps 1/30 s: .*energy to (\S+) of", 1e-3)
    printed.below(r"lagrange, steps 1/30 s: the wire is lost at t = (\S+) s", 1.0)
    (missed,) = printed.numbers(r"along the tangent ends up to (\S+) mm from the wire")
    assert missed > 5.0


def roller_coaster(printed: Printed) -> None:
    agreement(printed)
    printed.below(r"off the track (\S+) m", 1e-11)
    printed.below(r"steps of 1/500 s: .*energy to (\S+),", 1e-9)
    places = printed.numbers(r"after 20 s at (\S+),")
    assert places[0] == pytest.approx(places[1], abs=1e-4)
    # The centre of mass falls from 0.7 m over the track at -2.85 to 0.7 m under its top, where the car turns
    # with the track's curvature: v² (1 + (k/(R - 0.7))²) = 2 g h.
    slope = 4.6 * (0.52 * 2.85**3 - 2 * 2.85) / (6.6 * (2.85**2 - 1))
    height = 4.6 * (0.13 * 2.85**4 - 2.85**2) + 0.7 / sqrt(1 + slope**2) + 0.7
    radius = (6.6**2 + 1.2**2) / 9.2 - 0.7
    turning = 1 + (1.8**2 + 1.0**2) / 12 / radius**2
    printed.near(r"at the top of the loop (\S+) m/s", sqrt(2 * 9.81 * height / turning), within=0.01)


def chain_of_tori(printed: Printed) -> None:
    agreement(printed)
    printed.says("4 rings, 14 coordinates, freedom 14")
    printed.below(r"energy to (\S+) of", 1e-6)
    printed.below(r"contacts closed to (\S+) m", 1e-11)
    printed.below(r"between (\S+) and (\S+) m", 2e-5)


def rolling_wheels(printed: Printed) -> None:
    agreement(printed)
    period, closed = printed.numbers(r"period (\S+) s, closed form (\S+) s")
    assert period == pytest.approx(closed, abs=2e-6)
    printed.below(r"steps 1/500 s: energy to (\S+),", 1e-9)
    printed.below(r"off the track (\S+) m", 1e-11)


def tong_and_fish(printed: Printed) -> None:
    agreement(printed)
    printed.says("33 bodies, 34 joint coordinates, 31 equations between them, freedom 3, redundant 0")
    printed.says("symbolic: 3 coordinates, 0 equations to be closed")
    printed.below(r"energy to (\S+) of", 1e-7)
    printed.below(r"crossings by (\S+) m, reach against the closed form (\S+) m", 1e-11)


def ellipsoid_on_ellipsoid(printed: Printed) -> None:
    agreement(printed)
    printed.says("5 coordinates, freedom 3")
    printed.below(r"energy to (\S+) of", 1e-6)
    printed.below(r"slides at (\S+) m/s", 1e-9)


def knee(printed: Printed) -> None:
    agreement(printed)
    printed.below(r"formula against rods: (\S+) m", 1e-9)
    printed.below(r"energy to (\S+) of", 1e-8)
    four_bar, hinge = printed.numbers(r"stretched after (\S+) s, the hinge after (\S+) s")
    assert 0.0 < abs(four_bar - hinge) < 0.02
