"""Flexures: where their leaves are, stiffness by closed forms, large turns by shooting, refusals."""

import re

import numpy as np
import pytest
from rigs.cosserat import clamped
from scipy.integrate import solve_ivp
from scipy.optimize import fsolve

import bellcrank as bc
from bellcrank.mechanism.rotation import matrix, rotate

STEEL = {"E": 200e9, "nu": 0.3, "density": 7850}
SHEET = bc.Section.rectangle(0.02, 5e-4, **STEEL)
EI, LENGTH = SHEET.EI[0], 0.1


def with_plate(kind, axis="y", along="x", at=(0, 0, 0), **place):
    mech = bc.Mechanism("flexure", gravity=(0, 0, 0))
    plate = mech.add_body("plate", mass=0.2, inertia=(2e-4, 2e-4, 2e-4), **place)
    mech.add_flexure("f", kind, ["ground", plate], at=at, axis=axis, along=along)
    return mech


def turned(mech, moment, load=0.0, **given):
    """How far a moment about y turns the plate."""
    mech.add_force("push", bc.Wrench(force=(load, 0, 0), moment=(0, moment, 0)), mech.bodies["plate"])
    w, _, y, _ = bc.statics(mech, **given).state.rotation[0]
    return 2.0 * np.arctan2(y, w)


def test_leaves_are_where_they_are_meant():
    """Anywhere in space; widths along the axis, and the crossing at its part of the leaves."""
    rng = np.random.default_rng(3)
    turn = bc.rotation(tuple(rng.normal(size=3)), 1.1)
    axis, along = (rotate(turn, one) for one in ((0.0, 1.0, 0.0), (1.0, 0.0, 0.0)))
    at = np.array((0.3, -0.2, 0.5))
    kind = bc.CrossSpring(SHEET, LENGTH, angle=1.2, crossing=0.3, apart=0.03, segments=4)
    mech = with_plate(kind, axis, along, at, position=(1, 2, 3), rotation=bc.rotation("z", 0.4))
    assert list(mech.beams) == ["f 1", "f 2"]
    assert list(mech.joints) == ["f 1/start", "f 1/end", "f 2/start", "f 2/end"]
    for beam, sign in zip(mech.beams.values(), (1, -1), strict=True):
        axes = matrix(mech.bodies[beam.nodes[1]].rotation)
        assert axes[:, 1] == pytest.approx(axis)
        assert axes[:, 0] @ along == pytest.approx(np.cos(0.6))
        assert beam.length == pytest.approx(LENGTH)
        crossing = np.array(beam.start) + 0.3 * LENGTH * axes[:, 0]
        assert crossing == pytest.approx(at + 0.015 * sign * np.array(axis))
        assert mech.joints[f"{beam.name}/end"].marker_1.body == "plate"
    assert bc.assemble(mech).error_before < 1e-12


def test_leaves_may_be_given_by_parameters():
    mech = bc.Mechanism("m", gravity=(0, 0, 0))
    length = mech.add_parameter("length", LENGTH, "m")
    angle = mech.add_parameter("angle", 1.0, "rad")
    plate = mech.add_body("plate", mass=0.2, inertia=(2e-4, 2e-4, 2e-4))
    kind = bc.CrossSpring(SHEET, length, angle=angle, segments=4)
    mech.add_flexure("f", kind, ["ground", plate], at=(0, 0, 0), axis="y", along="x")
    other = mech.with_parameters(length=0.2, angle=1.5)
    assert turned(other, 1e-3) == pytest.approx(1e-3 * 0.2 / (2 * EI), rel=1e-4)


@pytest.mark.parametrize("load", [-20.0, 0.0, 20.0])
@pytest.mark.parametrize("crossing", [0.5, 0.127322, 0.0, -0.3])
@pytest.mark.parametrize("angle", [np.pi / 2, 1.0])
def test_a_cross_spring_by_wittrick(crossing, load, angle):
    """8 EI/L (1 - 3 x + 3 x^2) without load; leaves of the formula do not stretch."""
    kind = bc.CrossSpring(SHEET, LENGTH, angle=angle, crossing=crossing)
    rest = 8.0 * EI / LENGTH * (1.0 - 3.0 * crossing + 3.0 * crossing**2)
    assert kind.stiffness() == pytest.approx(rest, rel=1e-12)
    moment = 1e-3
    angle = turned(with_plate(kind), moment, load)
    assert moment / angle == pytest.approx(kind.stiffness(load), rel=1.5e-4)


def test_loads_change_nothing_where_leaves_cross_at_127_parts_in_1000():
    """Wittrick's crossings; in the middle a tension P of the leaves takes P L/3 from the stiffness."""
    steady = 0.5 * (1.0 - np.sqrt(5.0) / 3.0)
    for crossing, slope in ((steady, 0.0), (1.0 - steady, 0.0), (0.5, -1.0 / 6.0)):
        kind = bc.CrossSpring(SHEET, LENGTH, angle=np.pi / 3, crossing=crossing)
        pull = 1e-3 / (2.0 * np.cos(np.pi / 6))
        change = (kind.stiffness(1e-3) - kind.stiffness(-1e-3)) / 2.0
        assert change == pytest.approx(2.0 * slope * pull * LENGTH, abs=1e-9)


@pytest.mark.parametrize("tension", [-30.0, -2.0, -0.051, -0.049, 0.049, 0.051, 2.0, 30.0])
def test_beam_columns_by_shooting(tension):
    """y'''' = p y'' from a clamped end to unit δ or θ: k₁₁, k₁₂, k₂₂ by the loads there."""
    kind = bc.LeafSpring(SHEET, LENGTH)
    across, both, turning = kind._ends(tension * EI / LENGTH**2)
    found = []
    for start in ((0, 0, 1, 0), (0, 0, 0, 1)):
        end = solve_ivp(
            lambda _, y: (y[1], y[2], y[3], tension * y[2]), (0, 1), start, "DOP853", rtol=1e-12, atol=1e-14
        ).y[:, -1]
        found.append(end)
    shapes = np.array(found).T  # columns: by curvature and its slope at the clamp
    motion = shapes[:2]
    loads = np.array([tension * shapes[1] - shapes[3], shapes[2]])
    stiffness = loads @ np.linalg.inv(motion)
    expected = [[across * LENGTH**3, both * LENGTH**2], [both * LENGTH**2, turning * LENGTH]]
    assert stiffness == pytest.approx(np.array(expected) / EI, rel=2e-8, abs=1e-7)


def test_a_leaf_under_a_moment_is_an_arc():
    """It turns by M L/EI about its middle where that is small, and stays an arc where it is not."""
    kind = bc.LeafSpring(SHEET, LENGTH, segments=4)
    mech = with_plate(kind)
    assert turned(mech, 1.2 * kind.stiffness()) == pytest.approx(1.2, rel=1e-7)
    rest = bc.statics(mech).state
    arm = rotate(tuple(rest.rotation[0]), (0.5 * LENGTH, 0.0, 0.0))
    chord = 2.0 * LENGTH / 1.2 * np.sin(0.6)  # from the start of the leaf to its end
    expected = (chord * np.cos(0.6) - 0.5 * LENGTH, 0.0, -chord * np.sin(0.6))
    assert rest.position[0] + arm == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("load", [-40.0, 0.0, 40.0])
def test_a_parallel_guide(load):
    """24 EI/L^3, less under thrust; it comes nearer by 3 d^2/(5 L) without load."""
    kind = bc.ParallelGuide(SHEET, LENGTH, spacing=0.06)
    mech = with_plate(kind, along="z", position=(0, 0, 0.05))
    mech.add_force("push", bc.Wrench(force=(0.5, 0, load)), "plate")
    moved = bc.statics(mech).state.position[0]
    assert 0.5 / moved[0] == pytest.approx(kind.stiffness(load), rel=5e-4)
    if load == 0.0:
        assert kind.stiffness() == pytest.approx(24.0 * EI / LENGTH**3)
        assert 0.05 - moved[2] == pytest.approx(0.6 * moved[0] ** 2 / LENGTH, rel=1e-3)


def test_a_parallel_guide_that_moves_far():
    """Each half of a leaf is a cantilever with a load at its tip: the elastica; 0.46 of its length here."""
    kind = bc.ParallelGuide(SHEET, LENGTH, spacing=1.0)  # so that the pair does not turn the plate
    mech = with_plate(kind, along="z", position=(0, 0, 0.05))
    push = 8.0 * EI / LENGTH**2 * 2.0
    mech.add_force("push", bc.Wrench(force=(push, 0, 0)), "plate")
    moved = bc.statics(mech).state.position[0] - (0, 0, 0.05)
    ahead, aside, _ = clamped(EI, SHEET.EA, SHEET.GA[1], 0.5 * LENGTH, force=(0.0, 0.5 * push))
    assert moved[[0, 2]] == pytest.approx((2.0 * aside, 2.0 * ahead - LENGTH), abs=1e-4 * LENGTH)
    assert aside > 0.2 * LENGTH


def shot_pivot(kind, moment):
    """Where a cross-spring's plate comes to rest, (x, z, turn about y), by shooting along both leaves."""
    EA, GA = SHEET.EA, SHEET.GA[1]
    ways = [np.array((np.cos(a), np.sin(a))) for a in (-0.5 * kind.angle, 0.5 * kind.angle)]

    def along(way, loads):
        """From a clamp, with forces and the moment there by EI/L^2, EI/L: place and angle of the end."""
        force, first = np.array(loads[:2]) * EI / LENGTH**2, loads[2] * EI / LENGTH
        lean = np.arctan2(way[1], way[0])

        def rates(_, y):
            t = np.array((np.cos(y[2]), np.sin(y[2])))
            n = np.array((-t[1], t[0]))
            step = (1.0 + force @ t / EA) * t + (force @ n / GA) * n
            return [*step, y[3] / EI, step[1] * force[0] - step[0] * force[1]]

        start = (*(-kind.crossing * LENGTH * way), lean, first)
        end = solve_ivp(rates, (0.0, LENGTH), start, "DOP853", rtol=1e-11, atol=1e-13).y[:, -1]
        return end[:2], end[2] - lean, force, end[3]

    def left(unknown):
        x, z, turn = unknown[0] * LENGTH, unknown[1] * LENGTH, unknown[2]
        body = np.array(((np.cos(turn), -np.sin(turn)), (np.sin(turn), np.cos(turn))))
        gaps, force, torque = [], np.zeros(2), moment
        for way, loads in zip(ways, (unknown[3:6], unknown[6:9]), strict=True):
            end, angle, exerted, last = along(way, loads)
            clamp = (x, z) + body @ ((1.0 - kind.crossing) * LENGTH * way)
            gaps += [*((end - clamp) / LENGTH), angle - turn]
            force -= exerted
            arm = clamp - (x, z)
            torque -= last + arm[0] * exerted[1] - arm[1] * exerted[0]
        return [*gaps, *(force * LENGTH**2 / EI), torque * LENGTH / EI]

    guess = moment / kind.stiffness()
    found, _, good, _ = fsolve(left, [0, 0, guess, 0, 0, guess, 0, 0, guess], full_output=True, xtol=1e-12)
    assert good == 1
    return found[:3] * (LENGTH, LENGTH, 1.0)


@pytest.mark.parametrize("crossing", [0.5, 0.2])
def test_a_cross_spring_that_turns_far(crossing):
    """By 40 degrees or so; the default of segments gives place and turn to 1e-4."""
    kind = bc.CrossSpring(SHEET, LENGTH, crossing=crossing)
    mech = with_plate(kind)
    moment = 0.7 * kind.stiffness()
    angle = turned(mech, -moment)  # about -y: from x to z
    place = bc.statics(mech).state.position[0]
    x, z, turn = shot_pivot(kind, moment)
    assert turn > 0.5
    assert -angle == pytest.approx(turn, abs=1e-4)
    assert place[[0, 2]] == pytest.approx((x, z), abs=1e-4 * LENGTH)


@pytest.mark.parametrize(
    ("call", "messages"),
    [
        (
            lambda: bc.LeafSpring(bc.Section.rectangle(5e-4, 0.02, **STEEL), 0.1),
            ["given inside out", "width comes"],
        ),
        (lambda: bc.LeafSpring(SHEET, 1e-3), [r"at least 3 thicknesses of the sheet, 0.0015 m, got 0.001"]),
        (lambda: bc.CrossSpring(SHEET, 0.1, angle=np.pi), ["angle must be less than half a turn"]),
        (
            lambda: bc.ParallelGuide(0.1, -1.0, 0.0),
            ["sheet must be a Section", "length must", "spacing must"],
        ),
        (lambda: with_plate(3.0), ["kind must be a FlexureKind"]),
        (
            lambda: with_plate(bc.LeafSpring(SHEET, 0.1), "y", (1, 1, 0)),
            ["along must be perpendicular to axis"],
        ),
    ],
)
def test_what_is_refused(call, messages):
    with pytest.raises(bc.MechanismError) as caught:
        call()
    for message in messages:
        assert re.search(message, str(caught.value))


def test_nothing_is_added_where_something_is_refused():
    mech = with_plate(bc.LeafSpring(SHEET, 0.1))
    mech.add_body("g 2/3", mass=1.0, inertia=(1, 1, 1))
    before = mech.copy()
    kind = bc.CrossSpring(SHEET, 0.1)
    for name, bodies, rule in (
        ("g", ["ground", "plate"], "body 'g 2/3': this name is taken"),
        ("f", ["ground", "plat"], "there is no body of this name.*did you mean 'plate'"),
        ("h", ["ground", "plate", "g 2/3"], "a flexure joins two bodies"),
        ("h", ["ground"], "two bodies"),
    ):
        with pytest.raises(bc.MechanismError, match=rule):
            mech.add_flexure(name, kind, bodies, at=(0, 0, 0), axis="y", along="x")
    assert mech == before


def test_files_keep_the_beams(tmp_path):
    mech = with_plate(bc.CrossSpring(SHEET, LENGTH, apart=0.025))
    bc.save(mech, tmp_path / "pivot.yaml")
    assert bc.load(tmp_path / "pivot.yaml") == mech


def test_wide_leaves_are_not_taken_for_short_beams(recwarn):
    with_plate(bc.LeafSpring(bc.Section.rectangle(0.2, 5e-4, **STEEL), LENGTH))
    assert not recwarn
