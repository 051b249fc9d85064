"""Steps by impulses: closed forms of impacts and friction, joints and limits, what is refused."""

from itertools import pairwise

import numpy as np
import pytest
from rigs.contact_scenes import G, ball, block, floor, forged, reference
from rigs.touching_scenes import scene

import bellcrank as bc


@pytest.fixture(params=["lagrange", "recursive"])
def stepped(request):
    """Runs by impulses, in both formulations that step by them."""

    def stepped(mech, duration, step, **options):
        options = {"output_step": step, "formulation": request.param} | options
        return bc.simulate(mech, duration=duration, method="moreau", step=step, **options)

    return stepped


def test_a_ball_is_thrown(stepped):
    """Newton's law on the normal and Coulomb's on the tangent. Each impact is late by up to a step."""
    data = reference("K01_thrown_ball")
    p = data["params"]
    mech = ball(p["centre0"], p["velocity0"], p["spin0"], mass=p["mass"], radius=p["radius"])
    floor(mech, "floor", bc.Contact(1e6, restitution=p["restitution"], friction=p["friction"]), "ball")
    run = stepped(mech, 1.6, 2e-5)
    motion = run.body("ball")
    for row in data["rows"][:5]:
        frame = round(row[0] / 2e-5) + 20
        assert motion.velocity[frame, :2] == pytest.approx(row[4:6], abs=1e-3)
        assert motion.angular_velocity[frame] == pytest.approx(row[7:10], abs=0.04)
        assert motion.velocity[frame, 2] + G * (run.time[frame] - row[0]) == pytest.approx(row[6], abs=2e-3)
    assert run.statistics["impacts"] >= 5


@pytest.mark.parametrize("name", ["K02_shaken_incline", "K02_shaken_incline_static"])
def test_stick_and_slip_on_a_shaken_incline(stepped, name):
    data = reference(name)
    p = data["params"]
    contact = bc.Contact(1e7, friction=p["friction_kinetic"], static_friction=p["friction_static"])
    mech = block(p["incline_deg"], contact, height=1e-4)
    mech.replace(mech.bodies["block"], position=(0.0, 0.0, 0.5e-4))
    shaken = bc.Harmonic(amplitude=-p["amplitude"], omega=p["omega"])
    mech.add_force("shaking", bc.Wrench(force=(shaken, 0.0, 0.0)), mech.bodies["block"].marker())
    run = stepped(mech, p["t_end"], 2.5e-4)
    x = run.body("block").position[:, 0]
    assert x[-1] == pytest.approx(data["x_end"], abs=1e-4)
    for begin, end, before, after, _ in data["rows"]:
        assert np.interp(begin, run.time, x) == pytest.approx(before, abs=2e-4)
        assert np.interp(end, run.time, x) == pytest.approx(after, abs=2e-4)


def test_a_block_rocks(stepped):
    """Housner's block: each impact takes the same part of the angular speed."""
    data = reference("K03_rocking_block")
    p = data["params"]
    width, height, angle = 2 * p["half_width"], 2 * p["half_height"], p["angle0"]
    mech = bc.Mechanism("block")
    corner = np.array([p["half_width"], 0.0, p["half_height"]])
    turn = np.array([[np.cos(angle), 0, np.sin(angle)], [0, 1, 0], [-np.sin(angle), 0, np.cos(angle)]])
    mech.add_body(
        "block",
        mass=p["mass"],
        shapes=[bc.Box(size=(width, 0.5, height), density=1.0)],
        position=tuple((turn @ (corner * [-1, 0, 1]) + [p["half_width"], 0.0, 0.0]).tolist()),
        rotation=(np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0),
    )
    floor(mech, "floor", bc.Contact(1e6, restitution=0.0, friction=p["friction"]), "block")
    run = stepped(mech, 3.2, 1e-4)
    rate = np.abs(run.body("block").angular_velocity[:, 1])
    for time, before, after, _ in data["rows"][:5]:
        around = round(time / 1e-4) + np.arange(-200, 200)
        fastest = around[np.argmax(rate[around])]
        assert run.time[fastest] == pytest.approx(time, abs=0.01)
        assert rate[fastest] == pytest.approx(before, rel=5e-3)
        assert rate[fastest + 3] == pytest.approx(after, rel=6e-3)


@pytest.mark.parametrize("name", ["K04_cradle", "K04_cradle_5", "K04_cradle_unequal"])
def test_balls_in_a_row_are_hit_at_once(stepped, name):
    """Simultaneous impacts are one problem, by Moreau's law."""
    data = reference(name)
    p = data["params"]
    mech = bc.Mechanism("cradle", gravity=(0.0, 0.0, 0.0))
    names = [f"ball {k}" for k in range(len(p["masses"]))]
    for k, (mass, speed) in enumerate(zip(p["masses"], p["velocities"], strict=True)):
        mech.add_body(
            names[k],
            mass=mass,
            inertia=[0.01] * 3,
            shapes=[bc.Sphere(radius=0.1)],
            position=(0.2 * k, 0.0, 0.0),
            velocity=(speed, 0.0, 0.0),
        )
    mech.add_force("touch", bc.Contact(1e6, restitution=p["restitution"]), *names)
    run = stepped(mech, 1e-6, 1e-6)
    after = [run.body(name).velocity[-1, 0] for name in names]
    assert after == pytest.approx(data["velocities_after"]["moreau"], abs=1e-6)


def test_a_billiard_ball_slides_and_rolls(stepped):
    data = reference("K05_billiard")
    p = data["params"]
    mech = ball((*p["position0"], p["radius"]), (*p["velocity0"], 0.0), p["spin0"])
    floor(mech, "table", bc.Contact(1e6, friction=p["friction"]), "ball")
    run = stepped(mech, 2.0, 1e-3)
    motion = run.body("ball")
    for time, *row in data["rows"]:
        frame = round(time / 1e-3)
        found = [*motion.position[frame, :2], *motion.velocity[frame, :2]]
        assert found == pytest.approx(row[:4], abs=1e-3)
        assert motion.angular_velocity[frame] == pytest.approx(row[4:], abs=0.1)


def test_a_ball_on_a_turntable(stepped):
    """It rolls on a driven plane; time stepping of first order in the turning of the table."""
    data = reference("K05_turntable")
    p = data["params"]
    mech = ball((*p["position0"], p["radius"]), mass=p["mass"], radius=p["radius"])
    mech.add_body("table", mass=1.0, inertia=[1.0, 1.0, 1.0], shapes=[bc.Plane()])
    mech.add_joint("pivot", bc.Revolute(), "ground", "table")
    mech.add_drive("spin", "pivot", velocity=p["table_rate"])
    mech.add_force("felt", bc.Contact(1e6, friction=p["friction"]), "ball", "table")
    motion = stepped(mech, 2.0, 2.5e-4).body("ball")
    for time, *row in data["rows"]:
        frame = round(time / 2.5e-4)
        found = [*motion.position[frame, :2], *motion.velocity[frame, :2]]
        assert found == pytest.approx(row, abs=2e-3)


def test_painleves_rod_is_hit_without_a_collision(stepped):
    """No force exists that keeps the sliding end on the floor: an impulse does, and stops it."""
    data = reference("K06_painleve_rod")
    p, hit = data["params"], data["impact_without_collision"]
    length, angle, rate, radius = p["half_length"], p["angle_b"], p["rate_b"], 1e-5
    along = np.array([-np.cos(angle), 0.0, np.sin(angle)])
    across = np.array([np.sin(angle), 0.0, np.cos(angle)])
    inertia = p["mass"] * length**2 / 3
    mech = bc.Mechanism("rod")
    mech.add_body(
        "rod",
        mass=p["mass"],
        inertia=[inertia, inertia, inertia],
        shapes=[bc.Sphere(radius=radius, position=tuple((-length * along).tolist()))],
        position=tuple((length * along + [0.0, 0.0, radius]).tolist()),
        velocity=tuple((rate * length * across + [p["slip_b"], 0.0, 0.0]).tolist()),
        angular_velocity=(0.0, rate, 0.0),
    )
    floor(mech, "floor", bc.Contact(1e6, restitution=0.0, friction=p["friction"]), "rod")
    run = stepped(mech, 1e-6, 1e-6)
    motion, points = run.body("rod"), run.contact("floor").points(-1)
    assert motion.angular_velocity[-1, 1] == pytest.approx(hit["rate_after"], rel=1e-4)
    impulse = p["mass"] * (motion.velocity[-1] - motion.velocity[0])
    assert impulse[[0, 2]] == pytest.approx([hit["tangential_impulse"], hit["normal_impulse"]], rel=1e-3)
    assert points.slip[0] == pytest.approx([0.0, 0.0, 0.0], abs=1e-6)


@pytest.mark.parametrize("lift", [11.0, 30.0])
def test_nothing_pulls_at_a_body_that_has_left_the_floor(stepped, lift):
    """A block that slides is lifted suddenly: its speed along the floor stays what it was then."""
    mech = block(0.0, bc.Contact(1e6, restitution=0.0, friction=0.5), velocity=3.0)
    mech.add_force(
        "crane", bc.Wrench(force=(0, 0, bc.Table((0, 0.1, 0.1001, 1), (0, 0, lift, lift)))), "block"
    )
    run = stepped(mech, 0.2, 1e-3)
    touches = np.array([len(run.contact("floor").points(k)) > 0 for k in range(len(run))])
    last = int(np.flatnonzero(touches)[-1])
    assert last == pytest.approx(100, abs=1)
    velocity = run.body("block").velocity
    assert np.ptp(velocity[last + 1 :, 0]) < 1e-12
    assert np.diff(velocity[last + 1 :, 2]) == pytest.approx(1e-3 * (lift - G), rel=1e-9)
    assert bc.verify(run)


def tower(count, top=1.0):
    """Boxes on each other, the top one of another mass."""
    mech = bc.Mechanism("tower")
    for k in range(count):
        mech.add_body(
            f"box {k}",
            mass=top if k == count - 1 else 1.0,
            shapes=[bc.Box(size=(0.2, 0.2, 0.2), density=1.0)],
            position=(0.0, 0.0, 0.1 + 0.2 * k),
        )
    floor(mech, "touch", bc.Contact(1e6, restitution=0.0, friction=0.5), *mech.bodies)
    return mech


@pytest.mark.parametrize(("count", "top"), [(10, 1.0), (10, 1e3), (30, 1e3)])
def test_a_tower_stands(stepped, count, top):
    run = stepped(tower(count, top), 2.0, 2e-3, output_step=0.1)
    for k in range(count):
        assert run.body(f"box {k}").position[-1] == pytest.approx([0.0, 0.0, 0.1 + 0.2 * k], abs=1e-9)
    assert run.statistics["residual"] <= 1e-8
    assert run.statistics["penetration"] <= 1e-9
    weight = G * (count - 1 + top)
    points = run.contact("touch").points(-1)
    on_floor = [k for k, pair in enumerate(points.bodies) if "ground" in pair]
    assert abs(points.force[on_floor, 2].sum()) == pytest.approx(weight, rel=1e-6)
    assert bc.verify(run)


def linkage(kind=bc.Revolute, **joint):
    """Two bars, hinged to the ground and to each other."""
    mech = bc.Mechanism("bars")
    one = mech.add_body("one", mass=1.0, inertia=[0.01, 0.02, 0.03], position=(0.5, 0.0, 0.0))
    two = mech.add_body("two", mass=0.7, inertia=[0.02, 0.01, 0.03], position=(1.5, 0.0, 0.0))
    turned = (np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0)  # so that hinges have their axes along −y
    mech.add_joint(
        "root",
        kind(**joint),
        mech.ground.marker(rotation=turned),
        one.marker(position=(-0.5, 0.0, 0.0), rotation=turned),
    )
    mech.add_joint(
        "elbow",
        kind(),
        one.marker(position=(0.5, 0.0, 0.0), rotation=turned),
        two.marker(position=(-0.5, 0.0, 0.0), rotation=turned),
    )
    return mech


@pytest.mark.parametrize("kind", [bc.Revolute, bc.Spherical])
def test_joints_move_in_second_order(stepped, kind):
    mech = linkage(kind)
    exact = bc.simulate(mech, duration=1.0, output_step=1.0, method="dopri5", tolerance=1e-12)
    errors = [
        np.abs(
            stepped(mech, 1.0, h, output_step=1.0).body("two").position[-1] - exact.body("two").position[-1]
        ).max()
        for h in (2e-3, 1e-3, 5e-4)
    ]
    assert errors[0] > 3.5 * errors[1] > 12 * errors[2]
    assert errors[2] < 1e-5


@pytest.mark.parametrize("elbow", [bc.Revolute, bc.Universal])
def test_rotors_keep_their_momentum(stepped, elbow):
    mech = linkage()
    mech.replace(mech.joints["elbow"], kind=elbow())
    mech.add_force("shoulder motor", bc.GearedMotor(ratio=20, rotor_inertia=2e-4, torque=0.1), "root")
    if elbow is bc.Revolute:
        mech.add_force("elbow motor", bc.GearedMotor(ratio=10, rotor_inertia=3e-4), "elbow")
    exact = bc.simulate(mech, duration=0.5, output_step=0.5, method="dopri5", tolerance=1e-11)
    errors = [
        np.abs(
            stepped(mech, 0.5, h, output_step=0.5).body("two").position[-1] - exact.body("two").position[-1]
        ).max()
        for h in (2e-3, 1e-3)
    ]
    assert errors[0] > 3.5 * errors[1]
    assert errors[1] < 2e-5


@pytest.mark.parametrize("name", ["n_four_bar", "bricard_linkage", "four_bar", "stewart_platform"])
def test_loops_and_redundant_rows(stepped, name):
    mech = getattr(bc.gallery, name)()
    exact = bc.simulate(mech, duration=0.2, output_step=0.1, method="dopri5", tolerance=1e-11)
    run = stepped(mech, 0.2, 5e-4, output_step=0.1)
    for body in mech.bodies:
        assert run.body(body).position[-1] == pytest.approx(exact.body(body).position[-1], abs=1e-5)


def test_a_limit_that_bounces(stepped):
    mech = linkage(bc.Revolute)
    joint = mech.joints["root"]
    limited = bc.Limit(-0.4, 0.4, restitution=0.5)
    mech.replace(joint, limits=limited)
    exact = bc.simulate(mech, duration=0.6, output_step=0.01, method="dopri5", tolerance=1e-10)
    run = stepped(mech, 0.6, 1e-4, output_step=0.01)
    angle = run.joint("root").position
    assert angle == pytest.approx(exact.joint("root").position, abs=5e-3)
    assert np.max(np.abs(angle)) < 0.4 + 1e-6
    assert np.max(np.abs(angle)) > 0.399


def test_energy_is_never_gained_by_contacts(stepped):
    """Scenes with every restitution, friction and shape; what integration adds is small."""
    for seed in range(30000, 30030):
        run = stepped(scene(seed), 0.5, 2e-4, output_step=0.01)
        energy = run.energy.total
        assert np.max(np.diff(energy)) < 2e-3 * np.ptp(energy) + 1e-9
        assert run.statistics["residual"] <= 1e-8


@pytest.mark.parametrize(
    ("part", "factor", "check"),
    [
        (("force", 0), 1.01, "friction"),
        (("force", 0), 0.99, "friction"),
        (("force", 2), -1.0, "contact force"),
        (("slip", 0), 1.01, "contact motion"),
    ],
)
def test_what_was_recorded_wrongly_is_found(stepped, part, factor, check):
    mech = block(0.0, bc.Contact(1e6, restitution=0.0, friction=0.4), velocity=1.0)
    mech.replace(mech.bodies["block"], position=(0.0, 0.0, 0.05))
    run = stepped(mech, 0.1, 1e-3, output_step=0.01)
    assert bc.verify(run)
    assert check in forged(run, part, factor)


def test_runs_repeat_bit_for_bit(stepped):
    one, two = (stepped(scene(30001), 0.3, 1e-3) for _ in range(2))
    assert np.array_equal(one.store.frames, two.store.frames)
    assert np.array_equal(one.store.contacts, two.store.contacts)


def test_a_run_goes_on_from_any_frame(stepped):
    mech = tower(3)
    mech.replace(mech.bodies["box 2"], velocity=(0.4, 0.1, 0.0))
    whole = stepped(mech, 0.2, 1e-3)
    rest = stepped(mech, 0.1, 1e-3, state=whole.at(0.1))
    assert rest.body("box 2").position[-1] == pytest.approx(whole.body("box 2").position[-1], abs=1e-6)


def test_what_it_refuses():
    mech = tower(2)
    with pytest.raises(bc.Unsupported, match=r"'moreau' steps by impulses, which formulation 'dca' does not"):
        bc.simulate(mech, duration=0.1, method="moreau", formulation="dca")
    with pytest.raises(bc.MechanismError, match="fixed step, so rtol has no meaning"):
        bc.simulate(mech, duration=0.1, method="moreau", rtol=1e-3)
    assert bc.simulate(mech, duration=0.1, method="moreau").statistics["formulation"] == "lagrange"


def test_impulses_that_are_not_found_end_the_run_by_name(stepped):
    mech = tower(10, 1e3)
    mech.replace(mech.bodies["box 4"], velocity=(1.0, 0.0, 0.0))
    with pytest.raises(
        bc.SimulationError, match=r"the impulses of the step after t = .* s were not found: a residual of"
    ):
        stepped(mech, 0.5, 2e-3, tolerance=1e-17)
    allowed = stepped(mech, 0.1, 2e-3, tolerance=1e-3)
    assert 1e-8 < allowed.statistics["residual"] <= 1e-3


def test_a_run_from_a_file_is_judged_as_what_it_is(stepped, tmp_path):
    run = stepped(tower(3), 0.1, 2e-3, path=tmp_path / "tower.h5")
    loaded = bc.Trajectory.load(tmp_path / "tower.h5")
    assert bc.verify(loaded)
    assert loaded.statistics["residual"] == run.statistics["residual"]
    assert np.array_equal(loaded.contact("touch").points(-1).force, run.contact("touch").points(-1).force)


def test_large_impulses_on_a_light_body_stay_balanced(stepped):
    """A capsule of 35 g carries a sphere of 81 kg; impulses of the last step do not fit the next one."""
    run = stepped(scene(6442), 0.5, 1e-3)
    energy = run.energy.total
    assert np.max(np.diff(energy)) < 0.01 * run.energy.kinetic.max()


def test_recorded_forces_add_up_to_momentum(stepped):
    """A driven plate runs into a ball at rest: the forces in the frames of all steps are its momentum."""
    mech = bc.Mechanism("push", gravity=(0.0, 0.0, 0.0))
    plate = mech.add_body(
        "plate", mass=1.0, inertia=(1, 1, 1), velocity=(1.0, 0.0, 0.0), shapes=[bc.Box(size=(0.2, 1, 1))]
    )
    mech.add_joint("straight", bc.PrismaticX(), mech.ground.marker(), plate.marker())
    mech.add_drive("engine", joint="straight", velocity=1.0)
    sphere = mech.add_body(
        "ball", mass=0.3, inertia=(1e-3,) * 3, position=(0.4501, 0.0, 0.0), shapes=[bc.Sphere(radius=0.1)]
    )
    mech.add_force("touch", bc.Contact(1e6, restitution=0.0), plate, sphere)
    run = stepped(mech, 0.5, 1e-3)
    assert run.body("ball").velocity[-1, 0] == pytest.approx(1.0, abs=1e-8)
    impulse = 1e-3 * run.force("touch").wrench("ball")[:, 3].sum()
    assert impulse == pytest.approx(0.3, rel=1e-6)


def test_forces_of_a_ball_that_falls_and_rests_add_up(stepped):
    """Weight and impact: the impulse of the floor is that of the fall and of the weight since."""
    mech = ball((0.0, 0.0, 0.5), mass=0.7, radius=0.05)
    floor(mech, "floor", bc.Contact(1e6, restitution=0.0), "ball")
    run = stepped(mech, 1.0, 1e-3)
    force = run.force("floor").wrench("ball")[:, 5]
    impulse = 1e-3 * (force.sum() - 0.5 * force[-1])  # the force at the end stands for half a step
    assert impulse == pytest.approx(0.7 * G * 1.0, rel=2e-3)


DATA = reference("C01_contact_friction")


@pytest.fixture(params=["lagrange", "recursive"])
def steps_of(request):
    """Runs by impulses in both formulations that take them."""

    def run(mech, duration, step, output_step):
        options = {"formulation": request.param, "method": "moreau", "step": step}
        return bc.simulate(mech, duration=duration, output_step=output_step, **options)

    return run


def test_a_ball_bounces(steps_of):
    """Each impact is late by up to a step."""
    data, radius, step = DATA["bouncing_ball"], 0.01, 1e-4
    p = data["params"]
    mech = ball((0.0, 0.0, p["h0"] + radius), radius=radius, gravity=p["g"])
    floor(mech, "floor", bc.Contact(1e6, restitution=p["e"]), "ball")
    run = steps_of(mech, 3.0, step, step)
    speed = run.body("ball").velocity[:, 2]
    hits = run.time[1:][np.diff(speed) > 0.1]
    assert hits == pytest.approx(data["impact_times"][: len(hits)], abs=6e-3)
    assert len(hits) == 6
    height = run.body("ball").position[:, 2] - radius
    apexes = [height[(run.time > a) & (run.time < b)].max() for a, b in pairwise(hits)]
    assert apexes == pytest.approx(data["apex_heights"][: len(apexes)], rel=4e-3)


def test_a_block_slides_up_and_back_or_sticks(steps_of):
    back = DATA["incline_slides_back"]
    contact = bc.Contact(1e6, friction=back["params"]["mu"])
    mech = block(back["params"]["incline_deg"], contact, velocity=-back["params"]["v0_up"])
    run = steps_of(mech, back["t_return_to_start"], 2.5e-4, 0.01)
    assert run.body("block").position[-1, 0] == pytest.approx(0.0, abs=2e-3)
    assert run.body("block").velocity[-1, 0] == pytest.approx(back["v_return"], abs=2e-3)

    held = DATA["incline_sticks"]
    contact = bc.Contact(1e6, friction=held["params"]["mu"])
    mech = block(held["params"]["incline_deg"], contact, velocity=-held["params"]["v0_up"])
    run = steps_of(mech, 1.0, 2.5e-4, 0.01)
    assert run.body("block").position[-1, 0] == pytest.approx(-held["x_stop"], abs=2e-3)
    force = run.force("floor")
    friction = force.effort[-1, force.coordinates.index("block.force_x")]
    assert friction == pytest.approx(-held["friction_after_stop_per_mass"], rel=1e-6)
    assert bc.verify(run)


def test_a_mass_on_a_spring_comes_to_rest(steps_of):
    data = DATA["coulomb_oscillator"]
    p = data["params"]
    mech = block(0.0, bc.Contact(1e6, friction=p["mu"]))
    mech.replace(mech.bodies["block"], position=(p["x0"], 0.0, mech.bodies["block"].position[2]))
    anchor = mech.ground.marker((0.0, 0.0, mech.bodies["block"].position[2]))
    mech.add_force("spring", bc.Bushing(stiffness=(p["k"], 0.0, 0.0)), anchor, mech.bodies["block"].marker())
    count = len(data["turning_points"])
    run = steps_of(mech, count * data["half_period"], data["half_period"] / 400, data["half_period"])
    x = run.body("block").position[:, 0]
    assert x[:count] == pytest.approx(data["turning_points"], abs=1e-3)
    assert x[-1] == pytest.approx(data["x_stop"], abs=1e-3)


def test_energy_that_contacts_take_is_booked(steps_of):
    """Impacts and friction, to what the steps themselves are wrong by; what rests loses nothing."""
    mech = ball((0.0, 0.0, 1.0), spin=(0.0, 40.0, 0.0))
    floor(mech, "floor", bc.Contact(1e6, restitution=0.7, friction=0.3), "ball")
    run = steps_of(mech, 2.0, 1e-3, 0.5)
    lost = run.statistics["lost_to_impacts"] + run.statistics["lost_to_friction"]
    assert run.energy.total[0] - run.energy.total[-1] == pytest.approx(lost, rel=1e-9)
    assert run.statistics["lost_to_impacts"] > 1.5
    assert run.statistics["lost_to_friction"] > 0.02

    mech = block(15.0, bc.Contact(1e6, friction=0.3), velocity=-3.0)
    run = steps_of(mech, 1.0, 1e-3, 0.5)
    gone = run.energy.total[0] - run.energy.total[-1]
    assert run.statistics["lost_to_friction"] == pytest.approx(gone, rel=1e-4)
    assert abs(run.statistics["lost_to_impacts"]) < 1e-8


def test_a_surface_that_accelerates_is_no_impact(steps_of):
    """A block on a lift that accelerates at 5 g does not bounce, and its force is the one that lifts it."""
    mech = bc.Mechanism("lift")
    lift = mech.add_body("lift", shapes=[bc.Box(size=(1, 1, 0.1), density=1000.0)], position=(0, 0, -0.05))
    mech.add_body("block", shapes=[bc.Box(size=(0.2, 0.2, 0.2), density=500.0)], position=(0, 0, 0.1))
    up = {"axis": (0.0, 0.0, 1.0)}
    mech.add_joint("guide", bc.Prismatic(), mech.ground.marker((0, 0, -0.05), **up), lift.marker(**up))
    mech.add_drive("motor", "guide", position=bc.Polynomial([0.0, 0.0, 25.0]))
    mech.add_force("touch", bc.Contact(1e7, restitution=0.5, friction=0.3), "lift", "block")
    run = steps_of(mech, 0.2, 1e-3, 1e-3)
    height = run.body("block").position[:, 2] - run.body("lift").position[:, 2]
    assert height == pytest.approx(0.15, abs=1e-6)
    force = run.force("touch").wrench("block")[:, 5]
    assert force[5:] == pytest.approx(4.0 * (50.0 + 9.81), rel=1e-3)
    assert bc.verify(run)
