"""Timing belts, whose cords stretch and whose teeth give: closed forms, a chain of teeth, formulations."""

import numpy as np
import pytest
from rigs.ropes import BELT, EXACT, FORMULATIONS, belt, run, weight, wheel
from scipy.optimize import brentq

import bellcrank as bc

EA, TOOTH, PITCH = 2e5, 4e5, 0.005
TEETH, APART = (20, 40), 0.4
RADII = np.array(TEETH) * PITCH / (2 * np.pi)


def drive(load=None, apart=APART, teeth=TEETH, pitch=PITCH, held=True, **fields):
    """Two wheels on fixed axles, the first of which is held, and a torque on the second."""
    mech = bc.Mechanism("drive")
    ends = [wheel(mech, name, at, inertia=0.02) for name, at in (("a", (0, 0, 0)), ("b", (apart, 0, 0)))]
    given = {"stiffness": EA, "tooth_stiffness": TOOTH} | fields
    if not given.keys() & {"belt_teeth", "lengths", "pretension"}:
        given["pretension"] = 300.0
    mech.add_force("belt", bc.TimingBelt(teeth, pitch, **given), *ends)
    if held:
        mech.add_drive("held", "axle a", position=0.0)
    if load is not None:
        mech.add_force("load", bc.JointMotor(load), "axle b")
    return mech


def way(teeth=TEETH, pitch=PITCH, apart=APART):
    """The length of a span, and both arcs, m."""
    radii = np.array(teeth) * pitch / (2 * np.pi)
    slant = np.arcsin((radii[1] - radii[0]) / apart)
    return apart * np.cos(slant), radii * (np.pi + 2 * slant * np.array([-1, 1]))


def compliance(span, arcs, ea=EA, tooth=TOOTH, pitch=PITCH):
    """Of the stretches of both spans by their tensions, m/N."""
    k = tooth / pitch
    x, scale = np.sqrt(k / ea) * arcs, np.sqrt(k * ea)
    own, other = span / ea + np.sum(1 / np.tanh(x)) / scale, -np.sum(1 / np.sinh(x)) / scale
    return np.array([[own, other], [other, own]])


def at_rest(load, pretension=300.0, matched=300.0, ea=EA, tooth=TOOTH, apart=APART, teeth=TEETH, pitch=PITCH):
    """The angle of wheel 2 and both tensions: with all spans as long as their grooves are apart."""
    span, arcs = way(teeth, pitch, apart)
    soft, radius = compliance(span, arcs, ea, tooth, pitch), teeth[1] * pitch / (2 * np.pi)
    begun = (pretension - matched) * np.sum(soft[0]) / (1 + (pretension - matched) / ea)

    def tensions(angle):
        stretch = begun + radius * angle * np.array([1, -1])
        found = matched + np.linalg.solve(soft - np.diag(stretch) / ea, stretch)
        for k in (0, 1):
            if found[k] < 0:
                own = soft[1 - k, 1 - k] - stretch[1 - k] / ea
                found[1 - k] = (stretch[1 - k] + matched * (own + soft[0, 1])) / own
                found[k] = 0.0
        return found

    def excess(angle):
        one = tensions(angle)
        pull = one + (one - matched) ** 2 / (2 * ea)
        return radius * (pull[0] - pull[1]) - load

    angle = brentq(excess, -0.5, 0.5, xtol=1e-16, rtol=1e-15)
    return angle, tensions(angle)


def turned(mech):
    return float(bc.statics(mech).position["axle b"][0])


def test_stiffness_of_a_loaded_drive():
    """Torque over angle is R² (1, -1) K (1, -1)ᵀ with K the inverse of the compliance."""
    matrix = np.linalg.inv(compliance(*way()))
    stiffness = RADII[1] ** 2 * np.array([1, -1]) @ matrix @ np.array([1, -1])
    for load in (0.05, -6.0):
        assert turned(drive(load)) == pytest.approx(load / stiffness, rel=1e-5)
        assert turned(drive(load)) == pytest.approx(at_rest(load)[0], rel=1e-9)
    assert turned(drive(3.0, pitch_tension=0.0)) == pytest.approx(at_rest(3.0, matched=0.0)[0], rel=1e-9)


def test_tensions_loads_and_errors_at_rest():
    found = run(bc.statics(drive(3.0)).at, 0.01).force("belt")
    angle, tensions = at_rest(3.0)
    assert [found.quantity(f"tension {k}")[-1] for k in (1, 2)] == pytest.approx(tensions, rel=1e-9)
    assert tensions[0] - tensions[1] == pytest.approx(3.0 / RADII[1], rel=1e-6)
    assert found.quantity("error 2")[-1] == pytest.approx(RADII[1] * angle, rel=1e-7)
    for k, arc in enumerate(way()[1]):
        assert found.quantity(f"wrap {k + 1}")[-1] == pytest.approx(arc / RADII[k], rel=1e-12)


@pytest.mark.parametrize("wheel_number", [1, 2])
def test_loads_on_teeth(wheel_number):
    """They satisfy EA v'' = k v, and all of them carry the difference of tensions."""
    teeth, pitch = (200, 400), 0.0005  # fine, so that sums are integrals
    history = run(bc.statics(drive(3.0, teeth=teeth, pitch=pitch, pitch_tension=0.0)).at, 0.01)
    loads = bc.tooth_loads(history, "belt", wheel_number)[-1]
    arc = way(teeth, pitch)[1][wheel_number - 1]
    assert len(loads) == round(arc / pitch)
    found = history.force("belt")
    last = found.quantity(f"leaving {wheel_number}")[-1]
    first = found.quantity(f"arriving {wheel_number}")[-1]
    assert found.quantity(f"tooth load {wheel_number}")[-1] == max(abs(first), abs(last))
    rate = TOOTH / pitch / EA
    bent = (loads[2:] - 2 * loads[1:-1] + loads[:-2]) / pitch**2
    assert bent == pytest.approx(rate * loads[1:-1], rel=1e-3, abs=1e-3 * rate * np.max(np.abs(loads)))
    before, after = (found.quantity(f"tension {k}")[-1] for k in ((2, 1) if wheel_number == 1 else (1, 2)))
    total = np.sum(loads) + last * (arc / pitch - len(loads))
    assert total == pytest.approx(after - before, rel=2e-3)
    assert EA * (loads[1] - loads[0]) / pitch / TOOTH == pytest.approx(before + loads[0], rel=1e-3)  # EA v'


def test_a_chain_of_teeth():
    """Bodies for all teeth in the arcs, with springs to the rims and to each other, unrolled."""
    pitch, teeth, tooth, apart = 0.002, 40, 2e5, 0.2
    span, _ = way((teeth, teeth), pitch, apart)
    radius, count = teeth * pitch / (2 * np.pi), teeth // 2
    mech = bc.Mechanism("chain")
    slides = []
    for name in ("rim", *(f"tooth {k}" for k in range(2 * count))):
        mech.add_joint(f"slide {name}", bc.PrismaticX(), "ground", mech.add_body(name, 0.01, (1, 1, 1)))
        slides.append(f"slide {name}")
    ends = [bc.EndCoordinate(f"q{k}") for k in range(len(slides))]
    rim, u = ends[0].value, [end.value for end in ends[1:]]
    energy = 0.5 * tooth * sum((one - (rim if k >= count else 0.0)) ** 2 for k, one in enumerate(u))
    for k, one in enumerate(u):
        # the last tooth of an arc is half a pitch before its end
        length = pitch if (k + 1) % count else span + pitch
        energy = energy + 0.5 * EA / length * (u[(k + 1) % len(u)] - one) ** 2
    mech.add_force("belt", bc.CustomForce(tuple(ends), potential=energy), *slides)
    mech.add_force("pull", bc.JointMotor(100.0), "slide rim")
    mech.gravity = (0, 0, 0)
    moved = float(bc.statics(mech).position["slide rim"][0])
    whole = drive(100.0 * radius, apart, (teeth, teeth), pitch, tooth_stiffness=tooth)
    assert radius * turned(whole) == pytest.approx(moved, rel=2e-3)
    rigid = drive(100.0 * radius, apart, (teeth, teeth), pitch, tooth_stiffness=1e12)
    assert radius * turned(rigid) < 0.8 * moved  # the teeth count


def test_limits():
    """Teeth that do not give: spans alone. Long arcs: ends for themselves. Soft teeth: one spring."""
    span, arcs = way()
    rigid = 3.0 / (RADII[1] ** 2 * 2 * EA / span)
    assert turned(drive(3.0, tooth_stiffness=1e17)) == pytest.approx(rigid, rel=1e-5)
    mech = drive(3.0, tooth_stiffness=1e17, pitch_tension=0.0)
    stiff = turned(mech)
    mech.replace(mech.forces["belt"], kind=bc.ElasticBelt(tuple(RADII), EA, pretension=300.0))
    assert turned(mech) == pytest.approx(stiff, rel=1e-5)
    scale = np.sqrt(4e7 / PITCH * EA)
    apart = 3.0 / (RADII[1] ** 2 * 2 / (span / EA + 2 / scale))
    assert turned(drive(3.0, tooth_stiffness=4e7)) == pytest.approx(apart, rel=1e-5)
    soft = 3.0 / RADII[1] ** 2 * np.sum(1.0 / (1e2 / PITCH * arcs))
    assert turned(drive(3.0, tooth_stiffness=1e2)) == pytest.approx(soft, rel=1e-2)


def test_frequency_of_a_servo_axis():
    """sqrt(K/J) with the motor held."""
    matrix = np.linalg.inv(compliance(*way()))
    stiffness = RADII[1] ** 2 * np.array([1, -1]) @ matrix @ np.array([1, -1])
    (mode,) = bc.modes(drive()).listed if hasattr(bc.modes(drive()), "listed") else bc.modes(drive())
    assert mode.frequency == pytest.approx(np.sqrt(stiffness / 0.02) / (2 * np.pi), rel=1e-9)


def axis(**fields):
    """A carriage that is clamped to the belt between two wheels."""
    mech = bc.Mechanism("axis")
    radius = 20 * PITCH / (2 * np.pi)
    carriage = mech.add_body("carriage", 4.0, (0.1, 0.1, 0.1), position=(0.3, 0, radius))
    mech.add_joint("rail", bc.PrismaticX(), mech.ground.marker((0.3, 0, radius)), carriage)
    ends = [wheel(mech, "motor", (0, 0, 0)), wheel(mech, "end", (1.0, 0, 0))]
    kind = bc.TimingBelt((20, 0, 20), PITCH, EA, TOOTH, pretension=400.0, idlers=(0.0,), **fields)
    mech.add_force("belt", kind, ends[0], carriage.marker(z_axis="y"), ends[1])
    return mech


def test_a_carriage():
    """Its stiffness is that of three spans and two arcs; it stays at R times the angle of the motor."""
    mech = axis()
    mech.add_drive("held", "axle motor", position=0.0)
    mech.add_force("push", bc.JointMotor(50.0), "rail")
    rest = bc.statics(mech)
    k = TOOTH / PITCH
    x, scale = np.sqrt(k / EA) * np.pi * 20 * PITCH / (2 * np.pi), np.sqrt(k * EA)
    own, other = 1 / np.tanh(x) / scale, -1 / np.sinh(x) / scale
    # motor to carriage, carriage to end, end to motor
    matrix = np.diag(np.array([0.3, 0.7, 1.0]) / EA + own * np.array([1, 1, 2]))
    matrix[0, 2] = matrix[2, 0] = matrix[1, 2] = matrix[2, 1] = other
    # the free wheel turns until its tensions are equal: unknown shift of the spans 2 and 3
    held = np.linalg.inv(matrix)
    ways = np.array([[1.0, -1.0, 0.0], [0.0, 1.0, -1.0]])
    stiffness = ways @ held @ ways.T
    assert rest.position["rail"][0] == pytest.approx(np.linalg.solve(stiffness, [50.0, 0.0])[0], rel=1e-5)
    found = run(rest.at, 0.01).force("belt")
    assert abs(found.quantity("error 2")[-1]) == pytest.approx(rest.position["rail"][0], rel=1e-6)
    driven = axis(damping=200.0)
    driven.add_drive("turn", "axle motor", position=bc.Ramp(0.0, 2.0, duration=1.0))
    moved = bc.simulate(driven, 2.0).joint("rail").position[-1].item()
    assert abs(moved) == pytest.approx(2.0 * 20 * PITCH / (2 * np.pi), abs=1e-5)


THREE = {"radii": (1, 1, 1), "places": BELT["places"]}


def around(**fields):
    kind = bc.TimingBelt((40, 100, -30), 0.01, 5e4, 2e5, **{"pretension": 20.0} | fields)
    return lambda _: kind


@pytest.mark.parametrize(
    ("fields", "tensioner"),
    [
        ({}, False),
        ({}, True),
        ({"pretension": 0.2}, False),
        ({"damping": 5.0}, True),
        ({"pitch_tension": 15.0}, True),
    ],
)
def test_formulations_agree_and_energy_stays(fields, tensioner):
    mech = belt(around(**fields), **THREE, tensioner=tensioner)
    runs = [run(mech, 0.12, one, accelerations=True, ledger=True) for one in FORMULATIONS]
    for found in runs:
        for name in ("w0", "w2"):
            both = [(r.body(name).position[-1], r.body(name).angular_velocity[-1]) for r in (found, runs[0])]
            assert both[0][0] == pytest.approx(both[1][0], abs=1e-9)
            assert both[0][1] == pytest.approx(both[1][1], abs=1e-8)
        if "damping" not in fields:
            total = found.energy.total - found.force("motor").work
            if tensioner:
                total = total - found.force("spring").work - found.force("spring").energy
            assert total == pytest.approx(total[0], abs=1e-9)
    least = min(runs[0].force("belt").quantity(f"tension {k}").min() for k in (1, 2, 3))
    assert least == (0.0 if "pretension" in fields else pytest.approx(20.0, abs=6.0))
    assert bc.verify(mech, runs[0]).passed


def test_an_idler():
    """On its back the belt slides: both spans are one; without teeth the wheel stays at rest."""
    kind = bc.TimingBelt((40, 100, 0), 0.01, 5e4, 2e5, pretension=20.0, idlers=(-0.05,))
    found = run(belt(lambda _: kind, **THREE), 0.3)
    assert list(found.force("belt").quantities)[:2] == ["tension 1", "tension 2"]
    assert "tooth load 3" not in found.force("belt").quantities
    assert np.abs(found.joint("axle w2").velocity).max() < 1e-9
    with pytest.raises(bc.MechanismError, match="no wheel with teeth at this end, got 3; such as 1"):
        bc.tooth_loads(found, "belt", 3)


def test_a_slack_span_carries_nothing():
    """Beyond the torque at which one span is slack the other has C₁₁ alone."""
    angle, tensions = at_rest(12.0, 30.0, 30.0)
    mech = drive(12.0, pretension=30.0)
    assert turned(mech) == pytest.approx(angle, rel=1e-9)
    found = run(bc.statics(mech).at, 0.01).force("belt")
    assert [found.quantity(f"tension {k}")[-1] for k in (1, 2)] == pytest.approx(tensions, rel=1e-9)
    assert tensions[1] == 0.0


def test_pretension_follows_from_the_number_of_teeth():
    """Path less teeth times pitch over the compliance of all of it, with spans by grooves."""
    span, arcs = way()
    path = 2 * span + np.sum(arcs)
    mech = drive(held=False, belt_teeth=int(path / PITCH))
    first = run(mech, 0.01).force("belt").quantity("tension 1")[0]
    stretch = path - int(path / PITCH) * PITCH
    assert first == pytest.approx(stretch / (np.sum(compliance(span, arcs)) - stretch / EA), rel=1e-9)
    with pytest.raises(
        bc.MechanismError, match=r"a belt of 191 teeth is slack there: its way is 190\.\d+ pitches"
    ):
        run(drive(belt_teeth=int(path / PITCH) + 1), 0.01)
    with pytest.raises(bc.MechanismError, match="is stretched by more than a twentieth"):
        run(drive(belt_teeth=150), 0.01)


def test_jumping_teeth_are_refused():
    load = bc.Ramp(0.0, 8.0, duration=0.2)
    found = run(drive(load, damping=100.0), 0.2).force("belt")
    kept = max(found.quantity(f"tooth load {k}").max() for k in (1, 2))
    with pytest.raises(
        bc.SimulationError, match=r"teeth jump at end 1: 25\.\d+ N on one is above the limit of 25 N"
    ):
        run(drive(load, damping=100.0, limit=25.0), 0.2)
    assert run(drive(load, damping=100.0, limit=kept + 0.1), 0.2).time[-1] == 0.2
    with pytest.raises(bc.AssemblyError, match="teeth jump at end"):
        bc.statics(drive(8.0, limit=25.0))


def test_a_rest_keeps_lengths():
    rest = bc.statics(drive(3.0))
    assert len(rest.at.forces["belt"].kind.lengths) == 2
    found = run(rest.at, 0.05)
    assert np.ptp(found.joint("axle b").position) < 1e-10


def test_it_hangs_on_a_tensioner():
    """A weight at a loose wheel pulls both spans with half of it, along the belt."""
    mech = bc.Mechanism("hung")
    load = weight(mech, "load", (0, 0, -1), 5.0)
    loose = mech.add_body("loose", 0.1, (0.01,) * 3, position=(0, 0, -1))
    mech.add_joint("axle", bc.Revolute(), load.marker(z_axis="y"), loose.marker(z_axis="y"))
    kind = bc.TimingBelt((40, 40), PITCH, EA, TOOTH, pretension=20.0, damping=300.0)
    mech.add_force("belt", kind, wheel(mech, "top", (0, 0, 0)), loose.marker(z_axis="y"))
    mech.add_drive("held", "axle top", position=0.0)
    rest = bc.statics(mech)
    found = bc.simulate(rest.at, 0.01, **EXACT).force("belt")
    arcs, span = 20 * PITCH, 1.0 - rest.position["guide load"][0]
    tension = found.quantity("tension 1")[-1]
    assert 2 * tension == pytest.approx(5.1 * 9.81, rel=1e-9)
    x = np.sqrt(TOOTH / PITCH / EA) * arcs
    ends = 2 * np.tanh(0.5 * x) / np.sqrt(TOOTH / PITCH * EA)
    # between the grooves there is what there was at the pretension, of which nothing comes or goes
    assert (tension - 20.0) * (1.0 / EA + ends) == pytest.approx(span - 1.0, rel=1e-6)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"teeth": (20.5, 40)}, "teeth must be whole numbers"),
        ({"teeth": (0, 0), "idlers": (0.1, 0.1)}, "no end is a wheel with teeth"),
        ({"teeth": (20,)}, "teeth must be given for two ends or more"),
        ({"teeth": (20, 0)}, "idlers must hold one radius for each of 1 ends without teeth"),
        ({"belt_teeth": 90}, "exactly one of pretension, belt_teeth and lengths must be given"),
        ({"pretension": None}, "exactly one of pretension, belt_teeth and lengths must be given"),
        ({"pretension": None, "lengths": (0.1,)}, "lengths must hold one length for each of its parts"),
    ],
)
def test_faults(fields, says):
    given = {"teeth": (20, 40), "pitch": 0.005, "stiffness": 1e5, "tooth_stiffness": 1e5, "pretension": 9.0}
    with pytest.raises(bc.MechanismError, match=says):
        bc.TimingBelt(**given | fields)


def test_only_timing_belts_have_teeth():
    mech = drive()
    mech.replace(mech.forces["belt"], kind=bc.ElasticBelt(tuple(RADII), EA))
    with pytest.raises(bc.MechanismError, match="only a TimingBelt has teeth, got 'ElasticBelt'"):
        bc.tooth_loads(run(mech, 0.01), "belt", 1)
