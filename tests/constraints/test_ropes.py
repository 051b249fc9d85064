"""Ropes over pulleys and on drums, and belts around wheels, against closed forms and other formulations."""

import numpy as np
import pytest
from rigs.ropes import BELT, EXACT, FORMULATIONS, G, belt, run, weight, wheel
from scipy.integrate import solve_ivp

import bellcrank as bc
from bellcrank.analysis.assemble import hold_values_of
from bellcrank.compile.compile import compile_mechanism
from bellcrank.compile.initial import assembled


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("gripped", [(), (2,)])
def test_atwood(formulation, gripped):
    mech, radius, inertia, heavy, light = bc.Mechanism("atwood"), 0.2, 0.05, 3.0, 2.0
    top = wheel(mech, "pulley", (0, 0, 2), inertia=inertia)
    ends = weight(mech, "heavy", (-radius, 0, 0.5), heavy), weight(mech, "light", (radius, 0, 1), light)
    mech.add_constraint("rope", bc.Rope((0, radius, 0), gripped), ends[0], top, ends[1])
    found = run(mech, 0.5, formulation, accelerations=True, reactions=True)
    turned = inertia / radius**2 if gripped else 0.0
    a = (heavy - light) * G / (heavy + light + turned)
    assert found.body("heavy").acceleration[:, 2] == pytest.approx(-a, abs=1e-11)
    tensions = heavy * (G - a), light * (G + a)
    expected = tensions if gripped else tensions[:1]
    effort = found.constraint("rope").effort.reshape(len(found), -1)
    assert effort == pytest.approx(np.tile(expected, (len(found), 1)), rel=1e-10)
    assert found.constraint("rope").units[0] == "N"
    speed = found.joint("axle pulley").velocity[-1].item()
    assert radius * speed == pytest.approx(-0.5 * a if gripped else 0.0, abs=1e-11)
    assert bc.verify(mech, found).passed


@pytest.mark.parametrize("parts", [1, 2, 3, 4, 5, 6])
def test_block_and_tackle(parts):
    """The force is the weight by the number of parts, the first of which is at a slant."""
    mech, radius, distance, mass = bc.Mechanism("tackle"), 0.1, 2.0, 50.0
    top, haul = mech.ground.marker((0, 0, distance), z_axis="y"), mech.ground.marker((radius, 0, 0.5))
    hook = weight(mech, "hook", (0, 0, 0), mass)
    mech.add_constraint("rope", *bc.tackle(parts, top, hook.marker(z_axis="y"), haul, radius))
    found = bc.simulate(mech, 0.01, accelerations=True)
    carrying = parts - 1 + np.sqrt(1.0 - (radius / distance) ** 2)
    assert found.constraint("rope").effort == pytest.approx(mass * G / carrying, rel=1e-12)
    path = bc.rope_path(mech, "rope")
    assert path.wraps[2:-1] == pytest.approx(np.pi, abs=1e-12)
    bend = np.pi + np.arcsin(radius / distance)
    straight = (parts - 1) * distance + np.sqrt(distance**2 - radius**2) + distance - 0.5
    assert path.length == pytest.approx(straight + radius * (bend + (parts - 1) * np.pi), rel=1e-12)


def involute(gravity, velocity=0.0, radius=0.1):
    """A bob on a rope that is wound on a fixed cylinder about y."""
    mech = bc.Mechanism("involute", gravity=(0, 0, -gravity))
    bob = mech.add_body("bob", 1.0, (1e-3,) * 3, position=(radius, 0, -1), velocity=(velocity, 0, 0))
    mech.add_joint("plane", bc.Planar(), mech.ground.marker(z_axis="y"), bob.marker(z_axis="y"))
    mech.add_constraint("rope", bc.Rope((radius, 0)), mech.ground.marker(z_axis="y"), bob)
    return mech


@pytest.mark.parametrize("velocity", [2.0, -2.0])
def test_a_rope_winds_on_a_cylinder_many_times(velocity):
    """Without gravity the bob keeps its speed on the involute: l^2 = l0^2 + 2 r v t, for many turns."""
    duration = 2.3 if velocity < 0 else 200.0
    found = run(involute(1e-12, velocity), duration)
    x, _, z = found.body("bob").position.T
    squared = x**2 + z**2 - 0.01
    assert squared == pytest.approx(1.0 + 0.2 * velocity * found.time, rel=1e-9)
    assert np.ptp(np.unwrap(np.arctan2(z, x))) > (2 * np.pi if velocity < 0 else 12 * np.pi)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_pendulum_on_a_cylinder(formulation):
    """Huygens: with the angle of the free part, l = l0 + r phi and  l phi'' + r phi'^2 + g sin(phi) = 0."""
    radius, v = 0.1, 2.0
    found = run(involute(G, v), 3.0, formulation)

    def rate(_, y):
        length = 1.0 + radius * y[0]
        return y[1], -(radius * y[1] ** 2 + G * np.sin(y[0])) / length

    exact = solve_ivp(rate, (0, 3), (0.0, v), "DOP853", found.time, rtol=1e-13, atol=1e-13).y[0]
    length = 1.0 + radius * exact
    x, _, z = found.body("bob").position.T
    assert x == pytest.approx(radius * np.cos(exact) + length * np.sin(exact), abs=1e-9)
    assert z == pytest.approx(radius * np.sin(exact) - length * np.cos(exact), abs=1e-9)
    assert found.energy.total == pytest.approx(found.energy.total[0], abs=1e-10)


def hoist(thickness, turns=3.0, wound=8.0, at="first", radii=(0.25, 0.2)):
    """A drum, a pulley and a load; mirrored, the drum is at the rope's last end."""
    mech = bc.Mechanism("hoist")
    drum, load = wheel(mech, "drum", (-2, 0, 0), 10.0, 0.3), weight(mech, "load", (radii[1], 0, -1), 5.0)
    layers = {"thickness": thickness, "layer_turns": turns, "wound": wound} if thickness else {}
    way, signed = [drum, mech.ground.marker((0, 0, 2), z_axis="y"), load], [*radii, 0.0]
    if at == "last":
        way, signed = way[::-1], [-radius for radius in signed[::-1]]
    mech.add_constraint("rope", bc.Rope(tuple(signed), **layers), *way)
    return mech


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("at", ["first", "last"])
def test_a_drum_with_layers_pays_out_what_its_spiral_holds(formulation, at):
    """What has left the drum is the integral of its radius; energy stays."""
    thickness, turns, wound = 0.02, 3.0, 8.0
    mech = hoist(thickness, turns, wound, at)
    found = run(mech, 2.0, formulation, accelerations=True, reactions=True)
    angle = found.joint("axle drum").position.ravel()
    assert np.ptp(angle) > 6 * np.pi  # more than a layer
    growth = thickness / (2 * np.pi * turns)
    left = 2 * np.pi * wound - angle
    radius = 0.25 + growth * left
    # The straight part from the drum to the pulley, tangent to both, and where it touches them.
    distance = np.hypot(2.0, 2.0)
    rho = radius - 0.2
    beside = np.arcsin(rho / distance)
    spiral = 0.25 * left + 0.5 * growth * left**2
    length = np.sqrt(distance**2 - rho**2) + rho * beside + spiral - found.body("load").position[:, 2]
    assert length == pytest.approx(length[0], abs=1e-9)
    assert found.energy.total == pytest.approx(found.energy.total[0], abs=1e-8)
    # The lever of the rope is the radius where it leaves.
    effort, alpha = found.constraint("rope").effort, found.joint("axle drum").acceleration.ravel()
    assert effort * (radius + growth * beside) == pytest.approx(0.3 * alpha, rel=1e-9)
    assert bc.verify(mech, found).passed


@pytest.mark.parametrize("at", ["first", "last"])
def test_without_growth_layers_are_a_plain_drum(at):
    """Equations by formulas beside rows of coordinates."""
    plain, thin = run(hoist(0.0, at=at), 1.0), run(hoist(1e-13, at=at), 1.0)
    assert thin.body("load").position == pytest.approx(plain.body("load").position, abs=1e-9)
    assert thin.constraint("rope").effort == pytest.approx(plain.constraint("rope").effort, rel=1e-9)


def test_a_run_with_layers_goes_on_from_a_state(tmp_path):
    whole = run(hoist(0.02), 1.2)
    first = run(hoist(0.02), 0.5)
    then = bc.simulate(hoist(0.02), 0.7, start=0.5, state=first.at(0.5), **EXACT)
    assert then.body("load").position[-1] == pytest.approx(whole.body("load").position[-1], abs=1e-9)
    assert bc.verify(hoist(0.02), then).passed
    then.save(tmp_path / "run.h5")
    again = bc.Trajectory.load(tmp_path / "run.h5")
    assert bc.verify(bc.loads(again.mechanism), again).passed


def test_it_may_begin_where_a_run_has_come_to():
    """What is on the drum there is written down, as commands do that change a mechanism during a run."""
    mech = hoist(0.02)
    whole, copy = run(mech, 0.8), mech.copy()
    state = whole.at(0.5)
    assert hold_values_of(copy, assembled(compile_mechanism(mech))[0], state)
    for number, body in enumerate(list(copy.bodies.values())):
        parts = ("position", "rotation", "velocity", "angular_velocity")
        copy.replace(body, **{part: tuple(getattr(state, part)[number].tolist()) for part in parts})
    then = run(copy, 0.3)
    assert then.body("load").position[-1] == pytest.approx(whole.body("load").position[-1], abs=1e-9)
    assert copy.constraints["rope"].kind.wound == pytest.approx(
        8.0 - np.interp(0.5, whole.time, whole.joint("axle drum").position.ravel()) / (2 * np.pi), abs=1e-3
    )


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("tensioner", [False, True])
def test_a_belt_round_three_wheels(formulation, tensioner):
    mech = belt(bc.BeltLoop, **BELT, tensioner=tensioner)
    found = run(mech, 1.0, formulation, reactions=True, accelerations=True)
    speeds = [found.joint(f"axle w{k}").velocity.ravel() * r for k, r in enumerate(BELT["radii"])]
    if not tensioner:
        inertia = 0.01 + 0.02 * (0.1 / 0.25) ** 2 + 0.03 * (0.1 / 0.08) ** 2
        expected = 0.1 * 0.5 / inertia * found.time
        assert speeds[0] == pytest.approx(expected, abs=1e-11)
        assert np.ptp(speeds, axis=0) == pytest.approx(0.0, abs=1e-11)
        # Tensions but for a constant: their difference turns the wheel.
        efforts = found.constraint("belt").effort[5]
        assert not found.constraint("belt").unique.any()
        alpha = 0.1 * 0.5 / inertia / 0.25
        assert 0.25 * (efforts[1] - efforts[0]) == pytest.approx(0.02 * alpha, rel=1e-9)
    else:
        lengths = [bc.rope_path(mech, "belt", found.at(t)).length for t in (0.0, 0.4, 1.0)]
        assert lengths == pytest.approx([lengths[0]] * 3, abs=1e-9)
    assert bc.verify(mech, found).passed


@pytest.mark.parametrize("crossed", [False, True])
def test_two_wheels_are_a_belt(crossed):
    """Beside the coupling of two turns, and the textbook's length."""
    one, two, distance = 0.2, 0.1, 0.7
    signed = (one, -two) if crossed else (one, two)
    places = ((0, 0, 0), (distance, 0, 0))
    mech = belt(bc.BeltLoop, signed, places)
    plain = belt(bc.BeltLoop, signed, places)
    plain.remove(plain.constraints["belt"])
    plain.add_constraint(
        "belt", bc.Belt(radii=(one, two), crossed=crossed), *(plain.joints[f"axle w{k}"] for k in (0, 1))
    )
    found, known = run(mech, 1.0), run(plain, 1.0)
    for k in (0, 1):
        turned = [r.joint(f"axle w{k}").position for r in (found, known)]
        assert turned[0] == pytest.approx(turned[1], abs=1e-10)
    beside = np.arcsin((one + two if crossed else one - two) / distance)
    straight = 2 * distance * np.cos(beside)
    arcs = (one + two) * (np.pi + 2 * beside) if crossed else np.pi * (one + two) + 2 * beside * (one - two)
    assert bc.rope_path(mech, "belt").length == pytest.approx(straight + arcs, rel=1e-13)


def test_a_slack_rope_becomes_taut():
    """A weight falls freely by the spare length, and takes a resting one along."""
    mech = bc.Mechanism("slack")
    top = mech.ground.marker((0, 0, 2), z_axis="y")
    one, two = weight(mech, "one", (-0.2, 0, 0), 1.0), weight(mech, "two", (0.2, 0, 0), 3.0)
    mech.add_joint("table", bc.Fixed(), mech.ground.marker((0.2, 0, 0)), two)
    mech.add_constraint("rope", bc.Rope((0, 0.2, 0), slack=True, spare=(0.3,)), one, top, two)
    found = run(mech, 1.0)
    fallen = -found.body("one").position[:, 2]
    taut = np.sqrt(2 * 0.3 / G)
    free = found.time < taut
    assert fallen[free] == pytest.approx(0.5 * G * found.time[free] ** 2, abs=1e-10)
    assert fallen[~free] == pytest.approx(0.3, abs=1e-9)
    assert found.constraint("rope").effort[free] == pytest.approx(0.0)
    assert found.constraint("rope").effort[-1] == pytest.approx(1.0 * G, rel=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_formulations_agree_on_random_ropes(seed):
    """A free body hangs on ropes over fixed and moving pulleys in a plane, gripped or smooth."""
    rng = np.random.default_rng(seed)
    mech = bc.Mechanism("random")
    block = mech.add_body("block", 2.0, (0.05, 0.05, 0.05), position=(0.0, 0, -1.5))
    mech.add_joint("plane", bc.Planar(), mech.ground.marker(z_axis="y"), block.marker(z_axis="y"))
    left, right = (
        wheel(mech, name, (x, 0, 0.5 * rng.random())) for name, x in (("left", -1.2), ("right", 1.2))
    )
    load = mech.add_body("load", 1.5, (0.05, 0.05, 0.05), position=(1.2 + 0.3 * rng.random(), 0, -1))
    mech.add_joint("load plane", bc.Planar(), mech.ground.marker(z_axis="y"), load.marker(z_axis="y"))
    radii = (0.0, 0.1 + 0.2 * rng.random(), -0.15, 0.1 + 0.1 * rng.random(), 0.0)
    gripped = tuple(k for k in (2, 4) if rng.random() < 0.6)
    ends = (mech.ground.marker((-1.8, 0, -1)), left, block.marker(z_axis="y"), right, load)
    mech.add_constraint("rope", bc.Rope(radii, gripped), *ends)
    runs = [run(mech, 0.4, formulation, reactions=True, accelerations=True) for formulation in FORMULATIONS]
    for other in runs[1:]:
        for name in mech.bodies:
            assert other.body(name).position[-1] == pytest.approx(runs[0].body(name).position[-1], abs=1e-9)
        effort = runs[0].constraint("rope").effort
        assert other.constraint("rope").effort == pytest.approx(effort, abs=1e-8 * np.abs(effort).max())
    assert bc.verify(mech, runs[0]).passed


class TestWhereItHasNoMeaning:
    def test_it_lifts_off(self):
        mech = bc.Mechanism("off")
        end = weight(mech, "end", (0.5, 0, 0.8), 1.0)
        top = mech.ground.marker((0, 0, 1.1), z_axis="y")
        mech.add_constraint(
            "rope", bc.Rope((0, 0.2, 0), slack=True), mech.ground.marker((-0.5, 0, 1)), top, end
        )
        mech.replace(mech.bodies["end"], velocity=(0, 0, 6.0))
        with pytest.raises(bc.SimulationError, match="'rope': it lifts off the wheel at end 2"):
            run(mech, 0.5)

    def test_the_drum_is_bare(self):
        with pytest.raises(bc.SimulationError, match="'rope': its drum is bare"):
            run(hoist(0.02, wound=1.0), 2.0)

    def test_in_kinematics_and_at_rest(self):
        mech = hoist(0.02, wound=1.0)
        with pytest.raises(bc.AssemblyError, match="'rope': its drum is bare"):
            bc.statics(mech)
        mech.add_drive("winch", "axle drum", velocity=4.0)
        with pytest.raises(bc.SimulationError, match=r"t = 1\.6 s: constraint 'rope': its drum is bare"):
            bc.kinematics(mech, duration=2.0, step=0.1)
        assert bc.kinematics(mech, duration=1.5, step=0.1).status == "finished"

    def test_a_point_is_within_a_wheel(self):
        mech = bc.Mechanism("within")
        end = weight(mech, "end", (0.05, 0, -1), 1.0)
        mech.add_constraint("rope", bc.Rope((0.1, 0)), mech.ground.marker(z_axis="y"), end)
        mech.replace(end, position=(0.05, 0, -0.05))
        with pytest.raises(bc.SimulationError, match="no straight line leads from end 1 to end 2"):
            run(mech, 0.5)

    def test_axes_are_not_parallel(self):
        mech = bc.Mechanism("tilted")
        top = wheel(mech, "a", (0, 0, 0))
        end = weight(mech, "end", (1, 0, -1), 1.0)
        mech.add_constraint("rope", bc.Rope((0.1, 0.1)), top, end.marker(z_axis=(0, 1, 0.1)))
        with pytest.raises(bc.SimulationError, match="z axes of the wheels at ends 1 and 2 are not parallel"):
            run(mech, 0.5)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: bc.Rope((0.0, 0.0)), "no end is a wheel.*use a Cable"),
        (lambda: bc.Rope((0.1,)), "two ends or more"),
        (lambda: bc.Rope((0.0, 0.1, 0.0), (1,)), "names end 1, which is no wheel"),
        (lambda: bc.Rope((0.2, 0.1, 0.0), (1,)), "a wheel there is a drum in any case"),
        (lambda: bc.Rope((0.0, 0.1, 0.0), (2.5,)), "numbers of ends, from 1, each once"),
        (lambda: bc.Rope((0.0, 0.1, 0.0), spare=(0.1,)), "give slack=True"),
        (lambda: bc.Rope((0.0, 0.1, 0.0), slack=True, spare=(0.1, 0.2)), "one length for each of its parts"),
        (lambda: bc.ElasticRope((0, 1, 0), 9.0, pretension=1.0, lengths=(2.0,)), "at most one of"),
        (lambda: bc.ElasticRope((0, 1, 0), 9.0, lengths=(0.0,)), "greater than zero"),
        (lambda: bc.Rope((0.0, 0.1, 0.0), thickness=0.1), "layers need one drum"),
        (lambda: bc.Rope((0.1, 0.1, 0.0), thickness=0.1, slack=True), "cannot be slack"),
        (lambda: bc.Rope((0.1, 0.1, 0.0), wound=2.0), "for a rope with a thickness"),
        (lambda: bc.BeltLoop((0.1, 0.0)), "must not be zero"),
        (lambda: bc.BeltLoop((0.1, 0.2), (3,)), "smooth names end 3"),
        (lambda: bc.tackle(0, "a", "b", "c", 0.1), "parts must not be less than 1|parts"),
    ],
)
def test_faults(make, text):
    with pytest.raises(bc.MechanismError, match=text):
        make()


def test_the_number_of_ends_must_fit():
    mech = bc.Mechanism("m")
    body = mech.add_body("a", 1.0, (1, 1, 1))
    with pytest.raises(bc.MechanismError, match="'rope': Rope has 3 radii for 2 ends"):
        mech.add_constraint("rope", bc.Rope((0.0, 0.1, 0.0)), mech.ground, body)
    layered = bc.Rope((0.1, 0.1, 0.0), thickness=0.01, wound=3.0)
    mech.add_constraint("layered", layered, mech.ground.marker(), mech.ground.marker((1, 0, 0)), body)
    with pytest.raises(bc.MechanismError, match=r"'layered': its drum and the next end are on one body"):
        bc.simulate(mech, 0.1)
    with pytest.raises(bc.MechanismError, match="there is no rope or belt of this name"):
        bc.rope_path(mech, "rope")


def test_a_rope_that_leaves_the_plane_of_its_wheel_is_refused():
    """Its length would count in another plane: both weights would fall."""
    mech = bc.Mechanism("Atwood")
    disc = mech.add_body("disc", 1.0, (0.01, 0.01, 0.01))
    mech.join("axle", bc.Revolute(), ["ground", disc], at=(0, 0, 0), axis="y")
    for name, x in (("one", -0.1), ("two", 0.1)):
        body = mech.add_body(name, 2.0, (0.01, 0.01, 0.01), position=(x, 0, -1))
        mech.add_joint(f"rail {name}", bc.Prismatic(), mech.ground.marker((x, 0, -1)), body)
    mech.add_constraint("rope", bc.Rope((0, 0.1, 0)), "one", disc.marker(), "two")
    with pytest.raises(
        bc.MechanismError, match=r"constraint 'rope': it leaves the plane of wheel 'disc'.*axis='y'"
    ):
        bc.simulate(mech, 0.1)
