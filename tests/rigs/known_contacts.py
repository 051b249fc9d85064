"""What is known of the examples in which parts touch."""

from __future__ import annotations

import json
from math import pi, sin
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
