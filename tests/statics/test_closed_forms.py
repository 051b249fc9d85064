"""Rests with closed forms: chains, bent rods, trusses that snap, columns, prisms of sticks and strings."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

import bellcrank as bc

Y = (0.0, 1.0, 0.0)
CATENARY = Path(__file__).parents[1] / "reference" / "data" / "S01_catenary_links.json"


def planar_rotation(angle):
    """Turned about y so that x points up by an angle."""
    return (math.cos(angle / 2), 0.0, -math.sin(angle / 2), 0.0)


def angle_of(body):
    w, _, y, _ = body.rotation
    return -2.0 * math.atan2(y, w)


def links(mech, angles, length, mass, inertia=None):
    """Links in series from the origin, each at its angle above the horizontal; bodies and the last end."""
    x = z = 0.0
    before, tip, bodies = mech.ground, (0.0, 0.0, 0.0), []
    moment = mass * length**2 / 12 if inertia is None else inertia
    for i, angle in enumerate(angles):
        c, s = math.cos(angle), math.sin(angle)
        body = mech.add_body(
            f"link {i}",
            mass,
            (moment, moment, moment),
            position=(x + 0.5 * length * c, 0.0, z + 0.5 * length * s),
            rotation=planar_rotation(angle),
        )
        start = body.marker((-0.5 * length, 0, 0), axis=Y)
        mech.add_joint(f"pin {i}", bc.Revolute(), before.marker(tip, axis=Y), start)
        x, z, before, tip = x + length * c, z + length * s, body, (0.5 * length, 0.0, 0.0)
        bodies.append(body)
    return bodies, (x, z)


def hanging_chain(count, span, total, mass, zigzag):
    """Hung between two points of one height, placed as a V or as a zigzag."""
    mech = bc.Mechanism("chain", gravity=(0, 0, -9.81))
    angle = math.acos(span / total)
    signs = [(-1) ** i if zigzag else (1 if i >= count / 2 else -1) for i in range(count)]
    length = total / count
    bodies, _ = links(mech, [sign * angle for sign in signs], length, mass / count)
    end = bodies[-1].marker((0.5 * length, 0, 0))
    mech.add_joint("end", bc.Spherical(), mech.ground.marker((span, 0, 0)), end)
    return mech


def chain_angles(count, span, total):
    """The slopes of equal links go up by equal steps; the step by bisection."""
    places = np.arange(count) - (count - 1) / 2

    def reach(step):
        return np.sum(total / count / np.hypot(1.0, step * places)) - span

    low, high = 0.0, 1e4
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if reach(middle) > 0.0 else (low, middle)
    return np.arctan(low * places)


@pytest.mark.parametrize(
    ("count", "zigzag"), [(10, True), (40, False), (40, True), (101, True), (1000, False)]
)
def test_hanging_chains(count, zigzag):
    mech = hanging_chain(count, 1.2, 2.0, 3.0, zigzag)
    report = bc.find_equilibrium(mech)
    found = [angle_of(body) for body in mech.bodies.values()]
    assert found == pytest.approx(chain_angles(count, 1.2, 2.0), abs=1e-8)
    assert report.force <= 1e-10 * report.scale
    assert report.stability == "stable"
    assert report.energy < report.energy_before


def test_the_chain_of_the_reference():
    for case in json.loads(CATENARY.read_text())["cases"]:
        mech = hanging_chain(case["n"], case["span"], case["total_length"], case["total_mass"], True)
        bc.find_equilibrium(mech)
        found = [angle_of(body) for body in mech.bodies.values()]
        assert found == pytest.approx(case["angles"], abs=1e-9)


def bent_rod(count, load):
    """A clamped rod of length and stiffness 1 with a dead load at its tip, by links and springs."""
    mech = bc.Mechanism("rod", gravity=(0, 0, 0))
    bodies, _ = links(mech, [0.0] * count, 1.0 / count, 1.0 / count)
    for i in range(count):
        stiffness = count * (2.0 if i == 0 else 1.0)  # half a link bends at the clamp
        mech.add_force(f"spring {i}", bc.TorsionSpring(stiffness), f"pin {i}")
    mech.add_force("load", bc.Wrench(force=(0, 0, -load)), bodies[-1].marker((0.5 / count, 0, 0)))
    report = bc.find_equilibrium(mech)
    tip = np.zeros(2)
    for body in mech.bodies.values():
        tip += np.array([math.cos(angle_of(body)), math.sin(angle_of(body))]) / count
    return report, tip


def elastica(load, steps=4000):
    """The tip of that rod: a'' = load cos a with a(0) = 0, a'(1) = 0, by shooting (Runge and Kutta)."""

    def shoot(slope):
        y, h = np.array([0.0, slope, 0.0, 0.0]), 1.0 / steps

        def rate(y):
            return np.array([y[1], load * math.cos(y[0]), math.cos(y[0]), math.sin(y[0])])

        for _ in range(steps):
            a = rate(y)
            b = rate(y + 0.5 * h * a)
            c = rate(y + 0.5 * h * b)
            y = y + h / 6 * (a + 2 * b + 2 * c + rate(y + h * c))
        return y

    low, high = -load, 0.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if shoot(middle)[1] < 0.0 else (low, middle)
    return shoot(low)[2:]


def test_a_bent_rod_converges_to_the_elastica_with_order_two():
    exact = elastica(4.0, 400)
    assert exact[1] == pytest.approx(-0.66996, abs=1e-5)  # K. Mattiasson (1981), P L^2/EI = 4
    errors = []
    for count in (10, 20, 40, 80):
        report, tip = bent_rod(count, 4.0)
        assert report.stability == "stable"
        errors.append(np.abs(tip - exact).max())
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert orders == pytest.approx([2.0, 2.0, 2.0], abs=0.1)
    assert errors[-1] < 1e-3


HALF, HEIGHT, STIFFNESS = 1.0, 0.3, 1000.0


def truss_force(z):
    """What two inclined springs bear downwards where their top is at a height z."""
    rest, length = math.hypot(HALF, HEIGHT), math.hypot(HALF, z)
    return 2.0 * STIFFNESS * (rest - length) * z / length


def truss(load, at=HEIGHT):
    mech = bc.Mechanism("truss", gravity=(0, 0, 0))
    top = mech.add_body("top", 2.0, (0.1, 0.1, 0.1), position=(0, 0, at))
    mech.add_joint("rail", bc.Prismatic(), mech.ground, top)
    spring = bc.SpringDamper(STIFFNESS, rest_length=math.hypot(HALF, HEIGHT))
    for i, x in enumerate((-HALF, HALF)):
        mech.add_force(f"spring {i}", spring, mech.ground.marker((x, 0, 0)), top.marker())
    mech.add_force("load", bc.Wrench(force=(0, 0, -load)), top)
    return mech


def test_a_shallow_truss_stays_on_its_side_up_to_the_load_at_which_it_snaps():
    heights = np.linspace(0.0, HEIGHT, 100001)
    loads = np.array([truss_force(z) for z in heights])
    most, crest = loads.max(), heights[loads.argmax()]
    for part in (0.2, 0.9, 0.999):
        mech = truss(part * most)
        report = bc.find_equilibrium(mech)
        z = mech.bodies["top"].position[2]
        assert z > crest
        assert truss_force(z) == pytest.approx(part * most, rel=1e-9)
        h = 1e-6
        slope = -(truss_force(z + h) - truss_force(z - h)) / (2 * h)
        assert report.least_eigenvalue == pytest.approx(slope / 2.0, rel=1e-5)
    mech = truss(1.001 * most)
    assert bc.find_equilibrium(mech).stability == "stable"
    assert mech.bodies["top"].position[2] < -HEIGHT


def test_a_truss_goes_to_the_side_that_lies_downhill():
    """From just above and below the crest between its two rests, and with steep springs."""
    for at, side in ((1e-3, 1.0), (-1e-3, -1.0), (0.29, 1.0), (-0.31, -1.0)):
        mech = truss(0.0, at)
        report = bc.find_equilibrium(mech)
        assert mech.bodies["top"].position[2] == pytest.approx(side * HEIGHT, abs=1e-9)
        assert report.energy == pytest.approx(0.0, abs=1e-15)
    mech = truss(0.0, 0.0)
    assert bc.find_equilibrium(mech, leave_unstable=False).stability == "unstable"
    assert mech.bodies["top"].position[2] == 0.0


def test_a_rigid_column_on_a_spring_buckles_by_its_closed_form():
    """stiffness angle = load length sin(angle) above the critical load; straight below."""
    for load in (0.9, 1.1, 2.0):
        mech = bc.Mechanism("column", gravity=(0, 0, 0))
        (bar,), _ = links(mech, [math.pi / 2], 1.0, 1.0)
        mech.add_force("spring", bc.TorsionSpring(1.0, rest_angle=None), "pin 0")
        mech.add_force("load", bc.Wrench(force=(0, 0, -load)), bar.marker((0.5, 0, 0)))
        straight = bc.find_equilibrium(mech, leave_unstable=False)
        assert straight.stability == ("stable" if load < 1.0 else "unstable")
        assert straight.least_eigenvalue == pytest.approx((1.0 - load) / (1 / 12 + 1 / 4), rel=1e-6)
        report = bc.find_equilibrium(mech)
        bend = abs(math.pi / 2 - angle_of(mech.bodies["link 0"]))
        assert report.stability == "stable"
        assert bend == pytest.approx(load * math.sin(bend), abs=1e-9)
        assert (bend > 0.1) == (load > 1.0)


def hinged_column(count, load, imperfection=0.0):
    """Links with springs of stiffness 1 between them, hinged at the foot, the head led along the load."""
    mech = bc.Mechanism("column", gravity=(0, 0, 0))
    angles = [math.pi / 2 + imperfection * math.cos(math.pi * (i + 0.5) / count) for i in range(count)]
    bodies, (x, z) = links(mech, angles, 1.0 / count, 1.0 / count)
    for i in range(1, count):
        mech.add_force(f"spring {i}", bc.TorsionSpring(1.0), f"pin {i}")
    head = bodies[-1].marker((0.5 / count, 0, 0))
    mech.add_joint("head", bc.PointOnLine(), mech.ground.marker((x, 0, z)), head)
    mech.add_force("load", bc.Wrench(force=(0, 0, -load)), head)
    return mech


@pytest.mark.parametrize("count", [4, 30])
def test_a_hinged_column_buckles_at_its_critical_load(count):
    """Hencky's chain: 4 stiffness / length sin(pi / 2 n)^2 for links of that length."""
    critical = 4.0 * count * math.sin(math.pi / (2 * count)) ** 2
    below = bc.find_equilibrium(hinged_column(count, 0.999 * critical), leave_unstable=False)
    above = bc.find_equilibrium(hinged_column(count, 1.001 * critical), leave_unstable=False)
    assert (below.stability, above.stability) == ("stable", "unstable")
    assert above.unstable_directions == 1
    mech = hinged_column(count, 1.2 * critical, 1e-6)
    report = bc.find_equilibrium(mech)
    assert report.stability == "stable"
    assert max(abs(math.pi / 2 - angle_of(body)) for body in mech.bodies.values()) > 0.5


def test_a_prism_of_three_sticks_is_twisted_by_its_closed_form():
    """A prism of n sticks is twisted by pi/2 + pi/n (R. Connelly, M. Terrell, 1995), whatever its strings."""
    mech = bc.Mechanism("prism", gravity=(0, 0, 0))
    sticks, length, twist = [], 2.0, 2.3
    for i in range(3):
        foot = np.array([math.cos(2 * math.pi * i / 3), math.sin(2 * math.pi * i / 3), 0.0])
        turn = 2 * math.pi * i / 3 + twist
        head = np.array([math.cos(turn), math.sin(turn), 1.0])
        axis = (head - foot) / np.linalg.norm(head - foot)
        half = np.array([0.0, 0.0, 1.0]) + axis
        half /= np.linalg.norm(half)
        sticks.append(
            mech.add_body(
                f"stick {i}", 1.0, (0.4, 0.4, 0.01), position=0.5 * (foot + head), rotation=(0.0, *half)
            )
        )
    for i in range(3):
        one, two = sticks[i], sticks[(i + 1) % 3]
        low, high = (0, 0, -0.5 * length), (0, 0, 0.5 * length)
        horizontal, side = bc.RubberString(50.0, 0.6), bc.RubberString(30.0, 0.5)
        mech.add_force(f"low {i}", horizontal, one.marker(low), two.marker(low))
        mech.add_force(f"high {i}", horizontal, one.marker(high), two.marker(high))
        mech.add_force(f"side {i}", side, one.marker(high), two.marker(low))
    report = bc.find_equilibrium(mech)
    assert report.stability == "neutral"
    assert (report.degrees_of_freedom, report.neutral_directions, report.unstable_directions) == (18, 9, 0)
    ends = []
    for body in mech.bodies.values():
        w, x, y, z = body.rotation
        axis = np.array([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])
        ends.append([body.position - axis, body.position + axis])
    feet, heads = np.array([e[0] for e in ends]), np.array([e[1] for e in ends])
    centre, top = feet.mean(axis=0), heads.mean(axis=0)
    up = (top - centre) / np.linalg.norm(top - centre)
    twists = []
    for foot, head in zip(feet - centre, heads - top, strict=True):
        twists.append(math.atan2(np.cross(foot, head) @ up, foot @ head) % (2 * math.pi))
    assert twists == pytest.approx([math.pi / 2 + math.pi / 3] * 3, abs=1e-8)


@pytest.mark.parametrize("below", [1e-5, 1e-6, 1e-7, 1e-8, 1e-9])
def test_a_ball_jointed_rod_below_its_critical_stiffness_falls_over(below):
    """A spring of no length takes nearly all of the weight's moment in every pose; the rod may spin."""
    mech = bc.Mechanism("balanced rod")
    rod = mech.add_body("rod", mass=1.0, inertia=(0.1, 0.1, 0.05), com=(0, 0, 1))
    mech.add_joint("ball", bc.Spherical(), mech.ground, rod)
    balance = bc.SpringDamper(stiffness=0.5 * 9.81 * (1.0 - below), rest_length=0.0)
    mech.add_force("balance", balance, mech.ground.marker((0, 0, 2)), rod.marker((0, 0, 1)))
    report = bc.find_equilibrium(mech)
    assert (report.unstable_directions, report.neutral_directions) == (0, 1)
    w, x, y, z = mech.bodies["rod"].rotation
    assert report.energy_before - report.energy == pytest.approx(2.0 * 9.81 * below, rel=0.02)
    assert w * w + z * z - x * x - y * y == pytest.approx(-1.0, abs=0.02)  # of the axis, upwards
