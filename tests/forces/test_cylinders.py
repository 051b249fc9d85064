"""Gas springs and cylinders against closed forms; what a run says of their pressures, losses and powers."""

from math import log, pi

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import bellcrank as bc

FAST = {"formulation": "recursive", "method": "dopri5", "tolerance": 1e-11}


def slide(kind, start, speed=0.0, mass=2.0, gravity=0.0):
    """A mass on a slide whose travel is the length of a strut."""
    mech = bc.Mechanism("slide", gravity=(0, 0, -gravity))
    mech.add_body("mass", mass=mass, inertia=(0.1, 0.1, 0.1), position=(0, 0, start))
    mech.add_joint("rail", bc.Prismatic(), "ground", "mass", position=start, velocity=speed)
    mech.add_force("strut", kind, mech.joints["rail"])
    return mech


@pytest.mark.parametrize("exponent", [1.0, 1.2, 1.4])
def test_a_gas_spring_has_its_forces_at_both_ends(exponent):
    spring = bc.GasSpring(
        force=400.0, progressivity=1.35, exponent=exponent, length=0.5, stroke=0.2, stop_stiffness=None
    )
    for length, force in ((0.5, 400.0), (0.3, 1.35 * 400.0)):
        run = bc.simulate(slide(spring, length), 1e-3, **FAST)
        assert run.force("strut").quantity("force")[0] == pytest.approx(force, rel=1e-12)


@pytest.mark.parametrize("exponent", [1.0, 1.4])
def test_a_mass_thrown_at_gas_turns_where_its_energy_is_spent(exponent):
    """½ m v² = ∫ F dx, the compression of a polytrope in closed form; the way back is the same."""
    spring = bc.GasSpring(
        force=100.0, progressivity=4.0, exponent=exponent, length=0.5, stroke=0.4, stop_stiffness=None
    )
    mech = slide(spring, 0.5, speed=-4.0)
    column = 0.4 / (1.0 - 4.0 ** (-1.0 / exponent))
    event = bc.Event("turns", "rail.rate", terminal=True)
    run = bc.simulate(mech, 1.0, events=event, **FAST)
    left = column - (0.5 - run.joint("rail").position[-1, 0])
    if exponent == 1.0:
        work = 100.0 * column * log(column / left)
    else:
        work = 100.0 * column / (exponent - 1.0) * ((column / left) ** (exponent - 1.0) - 1.0)
    assert work == pytest.approx(0.5 * 2.0 * 16.0, rel=1e-9)
    whole = bc.simulate(mech, 2.0, **FAST)
    assert np.ptp(whole.energy.total) < 1e-8


def test_a_cushion_takes_its_energy_in_closed_form():
    """In m v dv/ds = -c v w(s/δ) the speed is lost, so that v falls by c δ/2m over the cushion."""
    cylinder = bc.HydraulicCylinder(
        bore=0.04, rod=0.02, length=0.9, stroke=0.4, cushion=0.05, cushion_damping=60.0, stop_stiffness=None
    )
    mech = slide(cylinder, 0.7, speed=-1.5)
    event = bc.Event("end", "rail - 0.5", terminal=True)
    run = bc.simulate(mech, 1.0, events=event, ledger=True, **FAST)
    left = 1.5 - 60.0 * 0.05 / (2.0 * 2.0)
    assert run.joint("rail").velocity[-1, 0] == pytest.approx(-left, rel=1e-9)
    assert run.force("strut").work[-1] == pytest.approx(0.5 * 2.0 * (left**2 - 1.5**2), rel=1e-8)
    assert run.force("strut").quantity("losses").min() == 0.0


def test_a_stop_holds_at_the_end_of_the_stroke():
    cylinder = bc.HydraulicCylinder(
        bore=0.05, rod=0.03, length=0.9, stroke=0.4, cap_pressure=20e5, damping=3e4, stop_stiffness=1e7
    )
    run = bc.simulate(slide(cylinder, 0.89), 1.0, formulation="recursive", method="bdf", tolerance=1e-8)
    push = 20e5 * pi / 4.0 * 0.05**2
    assert run.joint("rail").position[-1, 0] == pytest.approx(0.9 + push / 1e7, abs=1e-7)
    assert run.force("strut").quantity("force")[-1] == pytest.approx(0.0, abs=0.1)


def test_a_hydraulic_cylinder_by_its_diameters():
    bore, rod = 0.063, 0.036
    cap, ring = pi / 4 * bore**2, pi / 4 * (bore**2 - rod**2)
    cylinder = bc.HydraulicCylinder(
        bore="63 mm", rod="36 mm", length=0.9, stroke=0.4, cap_pressure="1e5*(40 + 10*sin(20*t))",
        rod_pressure="5 bar", damping=900.0, friction=30.0, regularisation_velocity=0.01,
    )  # fmt: skip
    run = bc.simulate(slide(cylinder, 0.6, mass=300.0), 0.1, **FAST)
    ram, time = run.force("strut"), run.time
    pressure = 1e5 * (40.0 + 10.0 * np.sin(20.0 * time))
    rate = run.joint("rail").velocity[:, 0]
    drag = 900.0 * rate + 30.0 * np.tanh(rate / 0.01)
    np.testing.assert_allclose(ram.quantity("cap_pressure"), pressure, rtol=1e-12)
    np.testing.assert_allclose(ram.quantity("rod_pressure"), 5e5, rtol=1e-12)
    np.testing.assert_allclose(ram.quantity("force"), pressure * cap - 5e5 * ring - drag, rtol=1e-11)
    np.testing.assert_allclose(ram.quantity("losses"), drag * rate, rtol=1e-11)
    np.testing.assert_allclose(ram.quantity("cap_flow"), cap * rate, rtol=1e-12)
    np.testing.assert_allclose(ram.quantity("power"), ram.power, rtol=1e-11)
    np.testing.assert_allclose(ram.quantity("length"), run.joint("rail").position[:, 0], rtol=1e-12)
    assert ram.quantities["cap_pressure"] == "Pa"
    for force, wanted in ((100.0, (100.0 / cap, 0.0)), (-100.0, (0.0, 100.0 / ring))):
        assert cylinder.pressures(force) == pytest.approx(wanted)


def test_sealed_air_against_an_independent_integration():
    bore, rod, dead, ambient = 0.04, 0.016, 0.01, 101325.0
    cap, ring = pi / 4 * bore**2, pi / 4 * (bore**2 - rod**2)
    cylinder = bc.PneumaticCylinder(
        bore=bore, rod=rod, length=0.5, stroke=0.2, cap_pressure=2e5, rod_pressure=1e5, sealed="both",
        sealed_at=0.4, dead_length=dead, stop_stiffness=None,
    )  # fmt: skip

    def pressures(x):
        return (
            (2e5 + ambient) * ((0.1 + dead) / (x - 0.3 + dead)) ** 1.4,
            (1e5 + ambient) * ((0.1 + dead) / (0.5 + dead - x)) ** 1.4,
        )

    def motion(_, state):
        front, back = pressures(state[0])
        return state[1], ((front - ambient) * cap - (back - ambient) * ring) / 2.0

    found = solve_ivp(motion, (0.0, 0.2), (0.4, 0.0), rtol=1e-12, atol=1e-14, method="DOP853")
    run = bc.simulate(slide(cylinder, 0.4), 0.2, **FAST)
    assert run.joint("rail").position[-1, 0] == pytest.approx(found.y[0, -1], rel=1e-9)
    front, back = pressures(run.joint("rail").position[:, 0])
    np.testing.assert_allclose(run.force("strut").quantity("cap_pressure"), front - ambient, rtol=1e-9)
    np.testing.assert_allclose(run.force("strut").quantity("rod_pressure"), back - ambient, rtol=1e-9)
    assert np.ptp(run.energy.total) < 1e-8  # sealed chambers are springs


def test_one_chamber_supplied_and_one_sealed():
    cylinder = bc.PneumaticCylinder(
        bore=0.04, rod=0.016, length=0.5, stroke=0.2, cap_pressure="6e5*min(t/0.1, 1)", rod_pressure=0.0,
        sealed="rod", sealed_at=0.3, dead_length=0.02,
    )  # fmt: skip
    run = bc.simulate(slide(cylinder, 0.31, mass=5.0), 0.3, **FAST)
    ram = run.force("strut")
    np.testing.assert_allclose(ram.quantity("cap_pressure"), 6e5 * np.minimum(run.time / 0.1, 1.0), rtol=1e-9)
    length = ram.quantity("length")
    sealed = 101325.0 * ((0.22 / (0.52 - length)) ** 1.4 - 1.0)
    np.testing.assert_allclose(ram.quantity("rod_pressure"), sealed, rtol=1e-8, atol=1e-4)


@pytest.mark.parametrize("formulation", ["recursive", "symbolic", "dca"])
def test_between_two_markers_the_length_is_their_distance(formulation):
    """A flap on a hinge, held by a gas spring: the same motion in every formulation."""
    mech = bc.Mechanism("flap", gravity=(0, 0, -9.81))
    flap = mech.add_body("flap", mass=8.0, inertia=(0.5, 0.5, 0.5), com=(0.4, 0, 0))
    mech.join("hinge", bc.Revolute(), ["ground", flap], at=(0, 0, 0), axis="y")
    spring = bc.GasSpring(
        force=300.0, length=0.62, stroke=0.25, damping=200.0, friction=20.0, regularisation_velocity=0.01,
        cushion=0.03, cushion_damping=2e3, stop_stiffness=1e5,
    )  # fmt: skip
    mech.add_force("strut", spring, mech.ground.marker((0.1, 0, -0.4)), flap.marker((0.3, 0, 0)))
    runs = [
        bc.simulate(mech, 0.4, formulation=which, method="dopri5", tolerance=1e-11)
        for which in ("lagrange", formulation)
    ]
    found = [run.force("strut").quantity("length") for run in runs]
    np.testing.assert_allclose(found[1], found[0], rtol=1e-9)
    angle = runs[1].joint("hinge").position[:, 0]
    apart = np.hypot(0.1 - 0.3 * np.cos(angle), -0.4 + 0.3 * np.sin(angle))
    np.testing.assert_allclose(found[1], apart, rtol=1e-11)


def test_judged_and_saved_runs(tmp_path):
    cylinder = bc.PneumaticCylinder(
        bore=0.04, rod=0.016, length=0.5, stroke=0.2, sealed="both", sealed_at=0.4, cushion=0.02,
        cushion_damping=100.0,
    )  # fmt: skip
    run = bc.simulate(slide(cylinder, 0.45, gravity=9.81), 0.5, ledger=True, **FAST)
    assert bc.verify(run).passed
    run.save(tmp_path / "run.h5")
    again = bc.Trajectory.load(tmp_path / "run.h5")
    for name in run.force("strut").quantities:
        np.testing.assert_array_equal(again.force("strut").quantity(name), run.force("strut").quantity(name))
    with pytest.raises(bc.MechanismError, match="no quantity of this name, got 'presure'; did you mean"):
        run.force("strut").quantity("presure")


def test_every_part_has_a_column():
    cylinder = bc.HydraulicCylinder(
        bore=0.05, rod=0.03, length=0.9, stroke=0.4, cap_pressure=2e5, cushion=0.05
    )
    run = bc.simulate(slide(cylinder, 0.7), 0.05, **FAST)
    parts = ("cap", "rod", "friction", "cushion in", "stop in", "cushion out", "stop out")
    assert run.force("strut").coordinates == parts
    table = run.to_dict()
    efforts = [table[f"force.strut.{part}.effort [N]"] for part in parts]
    np.testing.assert_array_equal(table["force.strut.force [N]"], np.sum(efforts, axis=0))
    assert {f"force.strut.{name} [{unit}]" for name, unit in run.force("strut").quantities.items()} <= set(
        table
    )


def test_parameters_are_differentiated():
    mech = bc.Mechanism("slide", gravity=(0, 0, 0))
    bore = mech.add_parameter("bore", 0.05, "m")
    mech.add_body("mass", mass=2.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, 0.4))
    mech.add_joint("rail", bc.Prismatic(), "ground", "mass", position=0.4)
    kind = bc.PneumaticCylinder(
        bore=bore, rod=0.4 * bore, length=0.5, stroke=0.2, sealed="cap", sealed_at=0.4, cap_pressure=1e5,
        cushion=0.1 * bore, cushion_damping=5.0,
    )  # fmt: skip
    mech.add_force("strut", kind, mech.joints["rail"])
    swept = bc.sweep(mech, {"bore": [0.04, 0.05]}, "max force.strut.cap_pressure", duration=0.01, processes=1)
    np.testing.assert_allclose(swept.values[:, 0], 1e5, rtol=1e-12)
    (slope,) = bc.prepare(mech, "lagrange").derivatives(of="acceleration", by=["bore"]).array.ravel()
    above, below = (
        bc.prepare(mech.with_parameters(bore=0.05 + step), "lagrange").derivatives(
            of="acceleration", by=["bore"]
        )
        for step in (1e-5, -1e-5)
    )
    assert slope == pytest.approx((above.value - below.value)[0] / 2e-5, rel=1e-8)


FAULTS = [
    (lambda: bc.GasSpring(force=1.0, length=0.5, stroke=0.6), "stroke must be less than the length"),
    (
        lambda: bc.GasSpring(force=1.0, progressivity=0.9, length=0.5, stroke=0.2),
        "progressivity must be above 1",
    ),
    (lambda: bc.GasSpring(force=-1.0, length=0.0, stroke=0.2), "2 faults"),
    (
        lambda: bc.GasSpring(force=1.0, length=0.5, stroke=0.2, cushion_damping=3.0, friction=-1.0),
        "friction must not be negative",
    ),
    (
        lambda: bc.GasSpring(force=1.0, length=0.5, stroke=0.2, cushion_damping=3.0),
        "the cushions have no length; give cushion",
    ),
    (
        lambda: bc.GasSpring(force=1.0, length=0.5, stroke=0.2, cushion=0.15),
        "two cushions must fit into the stroke",
    ),
    (lambda: bc.HydraulicCylinder(bore=0.02, rod=0.02, length=0.5, stroke=0.2), "the rod must be thinner"),
    (
        lambda: bc.HydraulicCylinder(bore="2 kg", rod=0.02, length=0.5, stroke=0.2),
        "bore: this unit does not fit",
    ),
    (
        lambda: bc.PneumaticCylinder(bore=0.04, rod=0.02, length=0.5, stroke=0.2, sealed="cap"),
        "give sealed_at",
    ),
    (
        lambda: bc.PneumaticCylinder(
            bore=0.04, rod=0.02, length=0.5, stroke=0.2, sealed="cap", sealed_at=0.2, cap_pressure="1e5*t"
        ),
        "2 faults",
    ),
    (
        lambda: bc.PneumaticCylinder(
            bore=0.04, rod=0.02, length=0.5, stroke=0.2, sealed="cap", sealed_at=0.4, cap_pressure=-2e5
        ),
        "cap_pressure must not be below vacuum",
    ),
]


@pytest.mark.parametrize(("make", "message"), FAULTS)
def test_faults(make, message):
    with pytest.raises(bc.MechanismError, match=message):
        make()


def test_an_angle_is_no_length():
    mech = bc.Mechanism("hinge")
    body = mech.add_body("lever", mass=1.0, inertia=(1, 1, 1))
    mech.add_joint("hinge", bc.Revolute(), "ground", body)
    mech.add_force("strut", bc.GasSpring(force=1.0, length=0.5, stroke=0.2), "hinge")
    with pytest.raises(bc.MechanismError, match=r"force 'strut'.*acts along a length, got 'theta_z'"):
        bc.simulate(mech, 0.1)


def test_compressed_beyond_its_gas_a_run_fails_and_says_so():
    """A column of gas of no length is no number; nothing is computed behind it."""
    spring = bc.GasSpring(force=1.0, progressivity=1e6, length=0.5, stroke=0.2, stop_stiffness=None)
    mech = slide(spring, 0.301, speed=-1e3)
    with pytest.raises(bc.SimulationError):
        bc.simulate(mech, 1e-2, formulation="recursive", method="rk4", step=1e-3)
