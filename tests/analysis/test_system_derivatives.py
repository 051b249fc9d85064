"""`System.derivatives`: beside differences of recorded numbers, closed forms, and its own transpose."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from rigs.differenced import differenced
from rigs.parametric import ORDINATES, PLACES, parallelogram
from rigs.studied import crank_rocker

import bellcrank as bc
from bellcrank import gallery
from bellcrank.errors import AssemblyError, MechanismError, Unsupported


def moving(mechanism):
    """The system of a mechanism a little later than its start."""
    state = bc.simulate(mechanism, 0.05, formulation="lagrange").at(0.05)
    return bc.prepare(mechanism, "lagrange"), state


def beside_differences(system, mechanism, state, of, by, rtol=1e-8, transposed=1e-11):
    """Forward, backward and extrapolated differences agree; what is not unique is left out."""
    forward = system.derivatives(state, of=of, by=["states", *by], mode="forward")
    backward = system.derivatives(state, of=of, by=["states", *by], mode="backward")
    np.testing.assert_array_equal(forward.unique, backward.unique)
    unique = forward.unique
    outputs = [name for name, kept in zip(forward.outputs, unique, strict=True) if kept]
    wanted = differenced(mechanism, inputs=by, outputs=outputs, state=state, steady=False)
    assert forward.inputs == (*wanted.states, *wanted.inputs)
    expected = np.hstack([wanted.C, wanted.D])
    size = of_units([forward.units[name] for name in outputs], expected)
    np.testing.assert_allclose(forward.array[unique] / size, expected / size, atol=rtol)
    np.testing.assert_allclose(backward.array[unique] / size, forward.array[unique] / size, atol=transposed)
    return forward


def of_units(units, matrix):
    """The largest entry of all rows with the same unit, (rows, 1)."""
    largest = dict.fromkeys(units, 1e-2)
    for unit, row in zip(units, np.abs(matrix), strict=True):
        largest[unit] = max(largest[unit], row.max(initial=0.0))
    return np.array([[largest[unit]] for unit in units])


BODY = ("x", "vx", "vy", "vz", "ax", "ay", "az", "wx", "wy", "wz", "alphax", "alphay", "alphaz")
SOME = (
    "four_bar",
    "double_pendulum",
    "bricard_linkage",
    "heavy_top",
    "spring_slider_crank",
    "simple_pendulum",
)


@pytest.mark.parametrize("name", SOME)
def test_gallery_by_states(name):
    mechanism = gallery.catalogue()[name]()
    system, state = moving(mechanism)
    body = list(mechanism.bodies)[-1]
    of = ["position", "velocity", "acceleration", "reaction", *(f"body.{body}.{part}" for part in BODY)]
    of += ["effort"] if mechanism.drives else []
    digits = (3e-7, 1e-8) if name == "heavy_top" else (1e-8, 1e-11)  # its spin is fast
    beside_differences(system, mechanism, state, of, [], *digits)


@pytest.mark.parametrize("place", [*PLACES, *ORDINATES])
def test_parameters_in_each_place(place):
    value, build = (PLACES | ORDINATES)[place]
    mechanism = build(value)
    bc.assemble(mechanism)
    of = ["acceleration", "velocity", "reaction", *(f"body.b.{part}" for part in BODY)]
    of += ["effort"] if mechanism.drives or mechanism.constraints else []
    system = bc.prepare(mechanism, "lagrange")
    system.project()
    found = beside_differences(system, mechanism, system.state(), of, ["p"], 1e-7)
    assert np.nanmax(np.abs(found.column("p"))) > 1e-6


INERTIA = 0.05


def pendulum(length=0.5, angle=0.3, speed=1.2):
    """A rod on a hinge whose length and mass are parameters."""
    mech = bc.Mechanism("pendulum")
    size, mass = mech.add_parameter("length", length, unit="m"), mech.add_parameter("mass", 2.0)
    bob = mech.add_body("bob", mass=mass, inertia=(INERTIA, INERTIA, INERTIA), com=(0, 0, -size))
    mech.add_marker(bob.marker((0, 0, -2.0 * size), name="tip"))
    mech.add_joint(
        "pivot",
        bc.Revolute(),
        mech.ground.marker(axis="y"),
        bob.marker(axis="y"),
        position=angle,
        velocity=speed,
    )
    mech.add_force("motor", bc.JointMotor(bc.Input("torque", 0.7, "N m")), "pivot")
    return mech


def test_pendulum_in_closed_form():
    system, g = bc.prepare(pendulum(), "lagrange"), 9.81
    length, mass, torque, angle, speed = 0.5, 2.0, 0.7, 0.3, 1.2
    found = system.derivatives(
        of=["pivot.theta_z.acceleration", "joint.pivot.Fx", "joint.pivot.Fz", "marker.bob.tip.vx"],
        by=["states", "inputs", "length", "mass"],
    )
    assert found.inputs == ("pivot.theta_z", "pivot.theta_z.rate", "torque", "length", "mass")
    assert found.units["length"] == "m"
    # (I + m l²) θ̈ = τ - m g l sin θ; the bob is at -l (sin θ, 0, cos θ), the reaction m (a + g z).
    inertia = INERTIA + mass * length**2
    sin, cos = np.sin(angle), np.cos(angle)
    swing = (torque - mass * g * length * sin) / inertia
    by = np.array(
        [
            -mass * g * length * cos,
            0.0,
            1.0,
            -mass * g * sin - 2 * mass * length * swing,
            -g * length * sin - length**2 * swing,
        ]
    )
    by /= inertia
    assert found.value[0] == pytest.approx(swing, rel=1e-12)
    np.testing.assert_allclose(found.array[0], by, rtol=1e-11, atol=1e-12)
    c, s = cos, sin
    along = -c * swing + s * speed**2  # of x, per length
    up = s * swing + c * speed**2
    np.testing.assert_allclose(
        found.value[1:3], [mass * length * along, mass * (length * up + g)], rtol=1e-11
    )
    of_x = mass * length * (-c * by)
    of_x += [
        mass * length * (s * swing + c * speed**2),
        mass * length * 2 * s * speed,
        0,
        mass * along,
        length * along,
    ]
    of_z = mass * length * (s * by)
    of_z += [
        mass * length * (c * swing - s * speed**2),
        mass * length * 2 * c * speed,
        0,
        mass * up,
        length * up + g,
    ]
    np.testing.assert_allclose(found.array[1], of_x, rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(found.array[2], of_z, rtol=1e-10, atol=1e-11)
    tip = [2 * length * s * speed, -2 * length * c, 0.0, -2 * c * speed, 0.0]
    np.testing.assert_allclose(found.array[3], tip, atol=1e-12)


def test_results_by_name():
    system = bc.prepare(pendulum(), "lagrange")
    found = system.derivatives(of=["acceleration", "velocity"], by=["states", "length"])
    np.testing.assert_allclose(found.jvp({"length": 2.0}), 2.0 * found.column("length"))
    np.testing.assert_allclose(found.jvp([0.0, 0.0, 2.0]), 2.0 * found.column("length"))
    np.testing.assert_allclose(found.vjp({"joint.pivot.theta_z.rate": 3.0}), 3.0 * found.array[1])
    np.testing.assert_allclose(found.row("joint.pivot.theta_z.rate"), [0.0, 1.0, 0.0], atol=1e-14)
    assert found.to_dict()["array"] == found.array.tolist()
    with pytest.raises(MechanismError, match="did you mean 'length'"):
        found.column("lenght")
    with pytest.raises(MechanismError, match="2 faults"):
        found.jvp({"lenght": 1.0, "length": "x"})


def driven(offset=0.0):
    """A slider-crank whose crank is driven over time, with a parameter in the drive."""
    mech = bc.Mechanism("driven")
    wide = mech.add_parameter("wide", 0.4)
    crank = mech.add_body("crank", mass=1.0, inertia=(0.01, 0.01, 0.01))
    rod = mech.add_body("rod", mass=0.7, inertia=(0.01, 0.02, 0.02), position=(0.2, 0, 0), com=(0.25, 0, 0))
    slider = mech.add_body("slider", mass=0.5, inertia=(0.01, 0.01, 0.01), position=(0.7, 0, 0))
    mech.add_joint("1", bc.Revolute(), mech.ground, crank)
    mech.add_joint("2", bc.Revolute(), crank.marker((0.2, 0, 0)), rod)
    mech.add_joint("3", bc.Revolute(), rod.marker((0.5, 0, 0)), slider)
    mech.add_joint("4", bc.PrismaticX(), mech.ground, slider)
    mech.add_drive("motor", "1", position=0.6 + wide * bc.expression.sin(3.0 * bc.t) + offset)
    return mech


def test_by_time_of_a_driven_crank():
    state = bc.kinematics(driven(), 0.2, 0.1).at(0.2)
    system = bc.prepare(driven(), "lagrange")
    of = ["4.x", "4.x.rate", "4.x.acceleration", "drive.motor", "joint.4.Fy"]
    by_time = {}
    for mode in ("forward", "backward"):
        found = system.derivatives(state, of=of, by=["time", "wide"], mode=mode)
        by_time[mode] = found.column("time")
    np.testing.assert_allclose(by_time["forward"], by_time["backward"], rtol=1e-9)
    # All that there is depends on time, so that derivatives are rates.
    np.testing.assert_allclose(found.column("time")[:2], found.value[1:3], rtol=1e-9)

    def later(h):
        at = bc.kinematics(driven(), 0.2 + h, 0.2 + h).at(0.2 + h)
        return system.derivatives(at, of=of, by="time").value

    h = 1e-3
    coarse, fine = ((later(k * h) - later(-k * h)) / (2 * k * h) for k in (2, 1))
    np.testing.assert_allclose(found.column("time"), (4 * fine - coarse) / 3, rtol=1e-6)


def test_stops_out_of_reach_make_no_difference_and_touched_ones_are_refused():
    def stopped(upper):
        mechanism = pendulum(speed=0.0)
        mechanism.replace(mechanism.joints["pivot"], limits=bc.Limit(-1.0, upper))
        return bc.prepare(mechanism, "lagrange")

    asked = {"of": ["acceleration", "joint.pivot.Fz"], "by": ["states", "parameters"]}
    plain = bc.prepare(pendulum(speed=0.0), "lagrange").derivatives(**asked)
    for mode in ("forward", "backward"):
        found = stopped(1.0).derivatives(**asked, mode=mode)
        np.testing.assert_allclose(found.array, plain.array, rtol=1e-12, atol=1e-12)
    with pytest.raises(MechanismError, match="a stop is touched"):
        stopped(0.3).derivatives(**asked)


@pytest.mark.parametrize("leaning", [0.3, 0.0])
@pytest.mark.parametrize("mode", ["forward", "backward"])
def test_parameters_that_open_loops_are_refused_by_name(leaning, mode):
    mechanism = parallelogram(leaning)
    bc.assemble(mechanism)
    system = bc.prepare(mechanism, "lagrange")
    with pytest.raises(MechanismError, match="parameter 'middle': loops do not stay closed"):
        system.derivatives(of="acceleration", by=["states", "middle"], mode=mode)
    found = system.derivatives(of="acceleration", by=["states", "heavy"], mode=mode)
    assert np.isfinite(found.array).all()


def test_what_redundant_constraints_leave_open_is_no_number():
    mechanism = gallery.catalogue()["four_bar"]()
    system = bc.prepare(mechanism, "lagrange")
    system.project()
    found = system.derivatives(of="reaction", by="states")
    known = dict(zip(found.outputs, found.unique, strict=True))
    first = next(iter(mechanism.joints))
    assert known[f"joint.{first}.Fx"]
    assert not known[f"joint.{first}.Fz"]
    assert np.isnan(found.row(f"joint.{first}.Fz")).all()
    assert np.isfinite(found.row(f"joint.{first}.Fx")).all()
    reactions = system.accelerate()
    np.testing.assert_allclose(
        found.value[found.unique], reactions.reactions.ravel()[found.unique], rtol=1e-9, atol=1e-9
    )
    with pytest.raises(MechanismError, match="redundant constraints leave open"):
        system.derivatives(of=f"joint.{first}.Fz", by="states")


def test_turns_that_a_state_has_count():
    """As they do in accelerations: a spring is wound up by them."""
    mech = crank_rocker()
    bc.assemble(mech)
    system = bc.prepare(mech, "lagrange")
    here = system.state()
    wound = replace(here, angles=here.angles - 4 * np.pi * np.eye(4)[0])
    found = system.derivatives(wound, of="joint.A.theta_z.acceleration", by=["states", "stiffness"])
    expected = system.accelerate(wound).body("crank").angular[2]
    assert found.value[0] == pytest.approx(expected, rel=1e-9)
    assert abs(expected - system.accelerate(here).body("crank").angular[2]) > 100.0


def test_all_unknown_names_at_once():
    system = bc.prepare(pendulum(), "lagrange")
    with pytest.raises(MechanismError, match="did you mean") as raised:
        system.derivatives(of=["acceleratoin", "body.bob.ay", "pivot.thete_z"], by="states")
    assert len(raised.value.faults) == 2
    with pytest.raises(MechanismError, match="there is no state, input or parameter") as raised:
        system.derivatives(of="acceleration", by=["length", "masss", "torqe", "length"])
    assert len(raised.value.faults) == 3
    with pytest.raises(MechanismError, match="mode"):
        system.derivatives(of="acceleration", mode="sideways")


def test_inputs_that_move_drives_are_refused():
    speed = bc.Input("speed", 1.0, "rad/s")
    mech = pendulum()
    mech.remove(mech.forces["motor"])
    mech.add_drive("servo", "pivot", velocity=speed)
    with pytest.raises(MechanismError, match="by 'speed': it moves a drive"):
        bc.prepare(mech, "lagrange").derivatives(of="effort", by="inputs")


@pytest.mark.parametrize("name", [*SOME, "ring", "stewart_platform", "rr_arm", "free_ring"])
def test_formulations_agree(name):
    mechanism = gallery.catalogue()[name]()
    state = moving(mechanism)[1]
    body = list(mechanism.bodies)[-1]
    of = ["acceleration", "reaction", *(f"body.{body}.{part}" for part in BODY)]
    formulations_agree(mechanism, state, of, ["states", "time"], 1e-8 if name == "heavy_top" else 1e-9)


@pytest.mark.parametrize("place", [*PLACES, *ORDINATES])
def test_formulations_agree_by_parameters(place):
    value, build = (PLACES | ORDINATES)[place]
    mechanism = build(value)
    bc.assemble(mechanism)
    state = bc.prepare(mechanism, "lagrange").project()
    others = OTHERS if place in PLACES else OTHERS[:-1]
    formulations_agree(
        mechanism, state, ["acceleration", "reaction", "body.b.ax"], ["states", "p"], others=others
    )


def test_points_of_splines_follow_parameters_in_no_program():
    _, build = next(iter(ORDINATES.values()))
    with pytest.raises(Unsupported, match="parameter 'p': points of a curve"):
        bc.prepare(build(2.0), "symbolic").derivatives(of="acceleration", by="p")


OTHERS = ("recursive", "dca", "symbolic")


def formulations_agree(mechanism, state, of, by, rtol=1e-9, others=OTHERS):
    """The others in both directions, and `lagrange`."""
    wanted = bc.prepare(mechanism, "lagrange").derivatives(state, of=of, by=by, mode="forward")
    size = of_units([wanted.units[name] for name in wanted.outputs], np.nan_to_num(wanted.array))
    for formulation, mode in product(others, ("forward", "backward")):
        found = bc.prepare(mechanism, formulation).derivatives(state, of=of, by=by, mode=mode)
        assert found.formulation == formulation
        np.testing.assert_array_equal(found.unique, wanted.unique)
        np.testing.assert_allclose(found.array / size, wanted.array / size, atol=rtol)


@pytest.mark.parametrize("formulation", ["adaptive"])
def test_formulations_without_derivatives_name_one_that_has_them(formulation):
    with pytest.raises(Unsupported, match="'lagrange'"):
        bc.prepare(pendulum(), formulation).derivatives(of="acceleration")


def test_parameters_that_are_no_numbers_of_the_model_are_refused_by_name():
    mech = pendulum()
    late, drag = mech.add_parameter("late", 0.9), mech.add_parameter("drag", 0.5)
    mech.add_force("more", bc.JointMotor(bc.CubicSpline((0.0, late, 2.0), (0.1, 0.3, 0.0))), "pivot")
    mech.add_force("drag", bc.BodyDamping(drag), "bob")
    system = bc.prepare(mech, "lagrange")
    with pytest.raises(Unsupported, match=r"'late': points of a curve.*'drag': formulas are made with it"):
        system.derivatives(of="acceleration", by=["late", "drag"])
    assert np.isfinite(system.derivatives(of="acceleration", by="length").array).all()


def test_a_state_off_the_constraints_is_refused():
    mechanism = gallery.catalogue()["four_bar"]()
    system = bc.prepare(mechanism, "lagrange")
    state = system.project()
    moved = state.position.copy()
    moved[0, 0] += 0.01
    with pytest.raises(AssemblyError, match="there are no derivatives"):
        system.derivatives(
            bc.State(0.0, moved, state.rotation, state.velocity, state.angular_velocity), of="reaction"
        )


def test_a_parameter_that_moves_the_start_alone_changes_nothing_at_a_state():
    mech = pendulum()
    begin = mech.add_parameter("begin", 0.3)
    mech.replace(mech.joints["pivot"], position=begin, velocity=2.0 * begin)
    found = bc.prepare(mech, "lagrange").derivatives(of=["acceleration", "reaction"], by=["begin", "mass"])
    np.testing.assert_array_equal(found.column("begin"), np.zeros(7))
    assert np.abs(found.column("mass")).max() > 1.0


def test_the_system_stays_where_it_is():
    mechanism = gallery.catalogue()["four_bar"]()
    system, state = moving(mechanism)
    system.project()
    before = system.state()
    system.derivatives(of="acceleration")
    np.testing.assert_array_equal(system.state().position, before.position)
    system.derivatives(state, of="acceleration")
    np.testing.assert_allclose(system.state().position, state.position, atol=1e-12)


@pytest.mark.parametrize(
    "place", ["ordinates of a periodic drive", "slope of a drive", "ordinate of a monotone table"]
)
def test_ordinates_are_followed_from_where_they_are(place):
    """Not from where they were as the function was made."""
    value, build = (PLACES | ORDINATES)[place]
    found = []
    for mechanism in (build(value).with_parameters(p=1.7 * value), build(1.7 * value)):
        bc.assemble(mechanism)
        found.append(bc.prepare(mechanism, "lagrange").derivatives(of="acceleration", by="p").array)
    np.testing.assert_allclose(*found, rtol=1e-12)


def test_points_follow_values_that_parameters_are_given_later():
    mech = bc.Mechanism("bar")
    length = mech.add_parameter("length", 0.5, "m")
    bar = mech.add_body("bar", mass=1.0, inertia=(1, 1, 1))
    mech.add_joint("pin", bc.Revolute(), mech.ground, bar, position=0.3)
    mech.add_force("load", bc.Wrench(force=(0, 0, -3)), bar.marker((length, 0, 0), name="tip"))
    system = bc.prepare(mech.with_parameters(length=0.7), "lagrange")
    found = system.derivatives(of="marker.bar.tip.x", by=["length", "pin.theta_z"])
    assert found.value[0] == pytest.approx(0.7 * np.cos(0.3), rel=1e-12)
    np.testing.assert_allclose(found.array, [[np.cos(0.3), -0.7 * np.sin(0.3)]], rtol=1e-12)
