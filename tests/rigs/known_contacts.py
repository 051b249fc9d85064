"""What is known of the examples in which parts touch."""

from __future__ import annotations

import json
from math import cos, pi, sin
from pathlib import Path
from typing import Any

from rigs.printed import Printed

DATA = Path(__file__).parents[1] / "reference" / "data"


def _reference(name: str) -> Any:
    return json.loads((DATA / f"{name}.json").read_text())


def four_contacts(printed: Printed) -> None:
    """Reference values of other methods: Housner's block, the shaken incline, the ball, the rod."""
    rocking = _reference("K03_rocking_block")["rows"]
    for number, row in ((0, rocking[0]), (1, rocking[5])):
        simulated = printed.numbers(r"swings to (\S+) and (\S+) deg; H")[number]
        hand = printed.numbers(r"Housner (\S+) and (\S+) deg")[number]
        assert abs(hand - row[3] * 180 / pi) < 1e-3
        assert abs(simulated - hand) < 0.03 * hand
    begin, _, _, way, _ = _reference("K02_shaken_incline")["rows"][0]
    printed.near(r"slides (\S+) mm a shake from (\S+) s on", 1e3 * way, begin, within=0.1)
    printed.near(r"incline: .* by hand (\S+) mm", 1e3 * way, within=0.01)
    ball = _reference("K05_billiard")
    printed.near(r"ball: rolls after (\S+) s", ball["slip_ends"], within=2e-3)
    printed.near(r"at y = (\S+) m in the end", *printed.numbers(r"s, (\S+) m\n"), within=1e-4)
    hit = _reference("K06_painleve_rod")["impact_without_collision"]
    impulses = (hit["normal_impulse"], hit["tangential_impulse"])
    printed.near(r"stops with impulses (\S+), (\S+) N s", *impulses, within=1e-4)
    printed.near(r"by hand (\S+), (\S+) N s", *impulses, within=1e-5)
    printed.near(r"rod: jams at (\S+) deg", 180 / pi * 0.8207609834, within=0.1)


def arch(printed: Printed) -> None:
    """Least thickness and friction by a linear programme."""
    known = _reference("K09_arch")
    least = known["least_thickness_over_radius"]
    low, high = printed.numbers(r"a thickness between (\S+) and (\S+) on")
    assert low - 5e-5 < least < high + 5e-5
    assert high - low < 1e-4
    friction = known["least_friction_at_thickness"]["friction"]
    low, high = printed.numbers(r"a friction between (\S+) and (\S+);")
    assert low - 3e-4 < friction < high + 3e-4
    assert high - low < 5e-4
    printed.below(r"the crown sinks by (\S+) m in 2 s", 1e-10)
    inside, edge = printed.numbers(r"comes as near as (\S+) mm to an edge")
    assert edge < 1.0 < inside


def geneva_wheel(printed: Printed) -> None:
    """A slot a turn, and the closed form of the speed."""
    printed.near(r"turn the wheel by (\S+) deg", 180.0, 120.0, within=0.1)
    peaks = [sin(pi / n) / (1 - sin(pi / n)) for n in (4, 6)]
    printed.near(r"at most (\S+) times as fast", *peaks, within=2e-3)
    printed.below(r"leaves that of theory by (\S+) deg", 0.15)


def cam_and_follower(printed: Printed) -> None:
    """The closed form of the lift, and where the force between cam and follower vanishes."""
    printed.below(r"the lift is that of theory to (\S+) m", 2e-6)
    found, hand = printed.numbers(r"left at (\S+) rad/s, by hand (\S+);")
    assert abs(found - hand) < 0.01 * hand
    printed.near(r"jumps above (\S+) rad/s", 68.73, within=0.05)
    assert printed.numbers(r"up to (\S+) mm above the cam")[0] > 3.0


def gear_teeth(printed: Printed) -> None:
    """The ratio of the teeth, what facets allow, torque by base radius, and the contact ratio."""
    for turns, hand in zip(
        printed.numbers(r"pinion are (\S+) of the wheel"), printed.numbers(r"would be (\S+)\n"), strict=True
    ):
        assert abs(turns - hand) < 1e-4
    for error, allowed in zip(
        printed.numbers(r"error \S+ to (\S+) um"), printed.numbers(r"allow (\S+) um"), strict=True
    ):
        assert 0.7 * allowed < error < allowed
    force = 20.0 / (0.06 * cos(pi / 9))
    printed.near(r"teeth (\S+) N in the mean", force, force, within=0.01 * force)
    printed.near(r"alone carries (\S+) N", force, force, within=0.01 * force)
    soft, stiff = printed.numbers(r"(\S+) pairs of teeth touch")
    assert 1.605 < stiff < soft < 1.8
    assert stiff < 1.67


def ratchet_winch(printed: Printed) -> None:
    """Whole pitches, and the statics of the pawl."""
    printed.near(r"hangs at (\S+), (\S+), (\S+) pitches", 12.0, 24.0, 36.0, within=1e-3)
    found, hand = printed.numbers(r"carries (\S+) N, by statics (\S+) N")
    assert abs(found - hand) < 0.02 * hand
    printed.near(r"exert (\S+) N m", 20.0 * 9.81 * 0.03, within=1e-3)
    printed.below(r"kept at whole pitches to (\S+),", 1e-3)
    below, pulls = printed.numbers(r"reached in (\d+) of (\d+)")
    assert below == pulls


def passive_walkers(printed: Printed) -> None:
    """McGeer's wheel and Garcia's walker."""
    kept = (0.01 + cos(pi / 4)) / 1.01
    printed.near(r"leaves (\S+) to (\S+) of the speed", kept, kept, kept, kept, within=1.5e-3)
    assert max(printed.numbers(r"those of theory to (\S+) %")) < 0.5
    for lost, missing in zip(
        printed.numbers(r"(\S+) J booked"), printed.numbers(r"(\S+) J missing"), strict=True
    ):
        assert abs(lost - missing) < 2e-3 * lost
    printed.near(r"one takes (\S+) sqrt", 3.88246, within=0.01)
    printed.near(r"leg at (\S+) rad", 0.20031, within=1e-3)
    printed.near(r"leaves (\S+) of the hip", cos(2 * 0.20031), within=1e-3)


def cans_that_bounce(printed: Printed) -> None:
    """Above the road but for the fall of a step; the energy that is missing is booked; power by statics."""
    printed.below(r"the road by more than (\S+) mm", 1.5)
    printed.below(r"too long by more than (\S+) mm", 0.1)
    impacts, friction, missing = printed.numbers(
        r"(\S+) J lost to impacts and (\S+) J to friction are booked, (\S+) J"
    )
    assert impacts > 1.0
    assert abs(impacts + friction - missing) < 2e-3 * missing
    assert min(printed.numbers(r"of the time, (\d+) bounces")) > 3
    power, smooth = printed.numbers(r"half (\S+) W go; cans that slide without bouncing would take (\S+) W")
    assert abs(power - smooth) < 0.25 * smooth
    printed.near(r"takes (\S+) J by friction", 0.0, within=1e-9)
