"""Impulses where bodies hit: strikes at points, restitution by Poisson, reactions of joints."""

import numpy as np
import pytest
from rigs.contact_scenes import G, ball, floor, reference

import bellcrank as bc

FORMULATIONS = ["lagrange", "recursive"]


def rods(data):
    """The planar tree of slender rods of K07, in the plane z = 0; where each rod starts, and its velocity."""
    p = data["params"]
    mech = bc.Mechanism("rods")
    starts, velocities = [], []
    for i, (length, mass, parent, attach) in enumerate(
        zip(p["lengths"], p["masses"], p["parents"], p["attach"], strict=True)
    ):
        angle, rate = p["angles"][i], p["rates"][i]
        if parent < 0:
            start, velocity = np.zeros(3), np.array([*p.get("base_velocity", (0.0, 0.0)), 0.0])
        else:
            start, velocity = tip(p, starts, velocities, parent, attach)
        starts.append(start)
        velocities.append(velocity)
        body = mech.add_body(
            f"rod {i}",
            mass=mass,
            inertia=[1e-3 * mass * length**2, mass * length**2 / 12, mass * length**2 / 12],
            com=(length / 2, 0.0, 0.0),
            position=tuple(start),
            rotation=(np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2)),
            velocity=tuple(velocity),
            angular_velocity=(0.0, 0.0, rate),
        )
        if parent >= 0:
            at = mech.bodies[f"rod {parent}"].marker((attach * p["lengths"][parent], 0.0, 0.0))
            mech.add_joint(f"joint {i}", bc.Revolute(), at, body.marker())
        elif p["pinned"]:
            mech.add_joint("pin", bc.Revolute(), mech.ground.marker(), body.marker())
    return mech, starts, velocities


def tip(p, starts, velocities, rod, fraction):
    """Position and velocity of a point of a rod."""
    angle, rate, reach = p["angles"][rod], p["rates"][rod], fraction * p["lengths"][rod]
    arm = reach * np.array([np.cos(angle), np.sin(angle), 0.0])
    return starts[rod] + arm, velocities[rod] + rate * np.array([-arm[1], arm[0], 0.0])


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("name", ["K07_impulse_double", "K07_impulse_triple", "K07_impulse_biped"])
def test_trees_of_rods_are_struck(name, formulation):
    data = reference(name)
    p = data["params"]
    mech, starts, velocities = rods(data)
    system = bc.prepare(mech, formulation)
    before = system.state()
    blow = p["impulse"]
    at, _ = tip(p, starts, velocities, blow["rod"], blow["fraction"])
    after = system.strike([bc.Blow(f"rod {blow['rod']}", at, (*blow["vector"], 0.0))]).state
    jumps = after.angular_velocity[:, 2] - before.angular_velocity[:, 2]
    assert jumps == pytest.approx(data["response"]["rate_jumps"], rel=1e-10, abs=1e-12)

    points = [
        bc.StruckPoint(
            f"rod {c['rod']}",
            tip(p, starts, velocities, c["rod"], c["fraction"])[0],
            (*c["normal"], 0.0),
            restitution=p["restitution"],
            friction=p["friction"],
        )
        for c in p["contacts"]
    ]
    result = system.strike(points, before)
    wanted = data["contact"]
    assert result.state.angular_velocity[:, 2] == pytest.approx(wanted["rates_after"], rel=1e-10, abs=1e-10)
    normals = [dict(zip("nt", pair, strict=True)) for pair in wanted["impulses_normal_tangential"]]
    for impulse, c, pair in zip(result.impulse, p["contacts"], normals, strict=True):
        n = np.array([*c["normal"], 0.0])
        t = np.array([-n[1], n[0], 0.0])
        assert [impulse @ n, impulse @ t] == pytest.approx([pair["n"], pair["t"]], rel=1e-9, abs=1e-10)
    assert result.residual < 1e-11


def hits(model, state, rng, count):
    """A blow, and points at which bodies run into the ground or another body."""
    names = list(model.bodies)
    first = rng.integers(len(names))
    what = [bc.Blow(names[first], state.position[first] + rng.uniform(-0.1, 0.1, 3), rng.normal(size=3))]
    for _ in range(count):
        body = rng.integers(len(names))
        other = rng.choice([*names, "ground"])
        other = "ground" if other == names[body] else str(other)
        at = state.position[body] + rng.uniform(-0.3, 0.3, 3)
        law = ((0.0, 0.3), (0.5, 0.0))[rng.integers(2)]  # both at once may ask what no impulse can do
        what.append(bc.StruckPoint(names[body], at, rng.normal(size=3), other, *law))
    return what


SKIPPED = {"peptide", "gripper"}  # 100 joints of light bodies; nodes of 1e-13 kg m^2
MECHANISMS = sorted(name for name in bc.gallery.catalogue() if name not in SKIPPED)


@pytest.mark.parametrize("name", MECHANISMS)
def test_formulations_agree(name):
    """Loops, drives, redundant rows and geared rotors transmit impulses alike.

    Where four points wedge, both refuse.
    """
    mech = bc.gallery.catalogue()[name]()
    one, two = (bc.prepare(mech, formulation) for formulation in FORMULATIONS)
    rng = np.random.default_rng(5)
    start = one.project()
    for count in (0, 1, 4):
        what = hits(one.model, start, rng, count)
        blow = np.linalg.norm(what[0].impulse) / min(body.mass for body in mech.bodies.values() if body.mass)
        size = blow + np.abs(start.velocity).max() + np.abs(start.angular_velocity).max()
        try:
            a = one.strike(what, start).state
        except bc.AssemblyError:
            assert count == 4
            with pytest.raises(bc.AssemblyError, match="impulses"):
                two.strike(what, start)
            continue
        b = two.strike(what, start).state
        assert b.velocity == pytest.approx(a.velocity, abs=1e-8 * size)
        assert b.angular_velocity == pytest.approx(a.angular_velocity, abs=1e-8 * size)
        assert two.core.violation()[1] < 1e-9 * size


def test_bad_strikes_are_refused():
    """All faults at once, by name."""
    system = bc.prepare(bc.gallery.double_pendulum(), "recursive")
    name = next(iter(system.model.bodies))
    with pytest.raises(bc.MechanismError) as caught:
        system.strike(
            [
                bc.StruckPoint("nobody", (0, 0, 0), (0, 0, 1)),
                bc.StruckPoint(name, (0, 0, 0), (0, 0, 0), name, restitution=1.5, friction=-0.1),
                bc.Blow(name, (0, 0, np.nan), (1, 0, 0)),
                "a hammer",
            ]
        )
    text = str(caught.value)
    for part in (
        "no such body",
        "itself",
        "direction",
        "between 0 and 1",
        "negative",
        "position",
        "StruckPoint or a Blow",
    ):
        assert part in text
    symbolic = bc.prepare(bc.gallery.double_pendulum(), "symbolic")
    with pytest.raises(bc.Unsupported, match="impulses at points"):
        symbolic.strike([bc.Blow(name, (0, 0, 0), (1, 0, 0))])


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("kind", [bc.Revolute, bc.Cylindrical, bc.Spherical, bc.Universal])
def test_a_joint_that_is_there_twice_takes_nothing(kind, formulation):
    """Its rows have no response but rounding in joint coordinates; impulses by that froze the body."""
    turned = (np.cos(0.4), 0.6 * np.sin(0.4), 0.8 * np.sin(0.4), 0.0)
    mech = bc.Mechanism("twice", gravity=(0.0, 0.0, 0.0))
    body = mech.add_body("body", mass=1.0, inertia=[0.1, 0.2, 0.3], position=(0.3, 0.1, 0.2), rotation=turned)
    at = (0.1, 0.2, 0.3)
    for name in ("joint", "joint again"):
        ends = mech.ground.marker(at, rotation=turned), body.world_marker(at, rotation=turned)
        velocity = {"velocity": {kind().free[-1]: 2.0}} if name == "joint" else {}
        mech.add_joint(name, kind(), *ends, **velocity)
    run = bc.simulate(mech, 0.2, method="moreau", step=1e-3, output_step=0.05, formulation=formulation)
    assert run.energy.total == pytest.approx(run.energy.total[0], rel=1e-4)
    assert run.energy.kinetic[0] > 0.3

    system = bc.prepare(mech, formulation)
    before = system.state()
    small, large = (
        system.strike(
            [bc.Blow("body", at, (0.0, 0.0, size)), bc.Blow("body", (1, 1, 1), (size, 0, 0))], before
        )
        for size in (1e-3, 1.0)
    )
    jump, more = (result.state.angular_velocity - before.angular_velocity for result in (small, large))
    assert np.abs(more).max() > 0.1
    assert 1e3 * jump == pytest.approx(more, rel=1e-6, abs=1e-9)


def test_bodies_that_are_welded_do_not_strike_each_other():
    """They are one link of a tree: the point does nothing, and others beside it are as without it."""
    mech = bc.Mechanism("welded", gravity=(0.0, 0.0, 0.0))
    one = mech.add_body("one", mass=1.0, inertia=[0.1, 0.2, 0.3], velocity=(0.0, 0.0, -1.0))
    two = mech.add_body("two", mass=2.0, inertia=[0.2, 0.2, 0.1], position=(1, 0, 0), velocity=(0, 0, -1))
    mech.add_joint("weld", bc.Fixed(), one.marker((0.5, 0, 0)), two.marker((-0.5, 0, 0)))
    system = bc.prepare(mech, "recursive")
    start = system.state()
    floor = bc.StruckPoint("one", (-0.2, 0.1, 0.0), (0.1, 0.0, 1.0), restitution=0.5, friction=0.3)
    between = bc.StruckPoint("one", (0.5, 0.0, 0.1), (0.0, 0.3, 1.0), "two", friction=0.3)
    alone, both = system.strike([floor], start), system.strike([floor, between], start)
    assert both.state.velocity == pytest.approx(alone.state.velocity, abs=1e-12)
    assert both.state.angular_velocity == pytest.approx(alone.state.angular_velocity, abs=1e-12)
    assert np.abs(both.impulse[1]).max() < 1e-9
    assert alone.impulse[0, 2] > 0.1


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_body_that_is_driven_into_the_ground_is_refused(formulation):
    """No impulse changes its speed: in joint coordinates the contact has no response at all."""
    mech = bc.Mechanism("press")
    mech.replace(mech.ground, shapes=[bc.Plane()])
    ram = mech.add_body("ram", shapes=[bc.Box(size=(0.3, 0.3, 0.1), density=1e3)], position=(0, 0, 0.15))
    up = {"axis": (0.0, 0.0, 1.0)}
    mech.add_joint("guide", bc.Prismatic(), mech.ground.marker((0, 0, 0.15), **up), ram.marker(**up))
    mech.add_drive("motor", "guide", velocity=-0.5)
    mech.add_force("touch", bc.Contact(1e6, friction=0.3, joined=True), "ram", "ground")
    system = bc.prepare(mech, formulation)
    with pytest.raises(bc.AssemblyError, match="impulses at these points were not found"):
        system.strike([bc.StruckPoint("ram", (0, 0, 0.1), (0, 0, 1))], system.project())
    with pytest.raises(bc.SimulationError, match="contact of 'ram' and 'ground'") as caught:
        bc.simulate(mech, 0.4, method="moreau", step=1e-3, output_step=0.01, formulation=formulation)
    assert caught.value.time == pytest.approx(0.2, abs=2e-3)


def rod(tilt, speed, spin=0.0):
    """A free rod of 1 kg and 1 m over the floor, its lower end there, in the plane x z."""
    mech = bc.Mechanism("rod", gravity=(0.0, 0.0, 0.0))
    mech.add_body(
        "rod",
        1.0,
        (1 / 12, 1 / 12, 1e-3),
        position=(0.0, 0.0, 0.5),
        rotation=(np.cos(tilt / 2), 0.0, np.sin(tilt / 2), 0.0),
        velocity=speed,
        angular_velocity=(0.0, spin, 0.0),
    )
    return mech


def of_rod(tilt, speed, friction, restitution):
    """Impulse (x, z) at the lower end by the two phases in plane, each by cases of stick and slip."""
    arm = 0.5 * np.array([-np.sin(tilt), -np.cos(tilt)])  # x, z from the com to the end
    turn = np.array([arm[1], -arm[0]])  # of (x, z) by a rotation about y
    G2 = np.eye(2) + 12.0 * np.outer(turn, turn)
    v = np.array(speed)[[0, 2]]

    def phase(v, least):
        def free(P):
            return v + G2 @ P

        def with_normal(P_n):
            stick = -(v[0] + G2[0, 1] * P_n) / G2[0, 0]
            return np.array([np.clip(stick, -friction * P_n, friction * P_n), P_n])

        low, high = least, least + 10.0
        if free(with_normal(low))[1] >= 0.0:
            return with_normal(low)
        for _ in range(200):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if free(with_normal(middle))[1] < 0.0 else (low, middle)
        return with_normal(high)

    first = phase(v, 0.0)
    second = phase(v + G2 @ first, restitution * first[1])
    return first + second


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize(("tilt", "friction"), [(0.3, 0.0), (0.3, 0.2), (0.7, 0.4), (0.7, 1.0), (-0.5, 0.3)])
def test_a_rod_strikes_the_floor(formulation, tilt, friction):
    speed = (0.4, 0.0, -1.0)
    system = bc.prepare(rod(tilt, speed), formulation)
    end = np.array([0.0, 0.0, 0.5]) - 0.5 * np.array([np.sin(tilt), 0.0, np.cos(tilt)])
    point = bc.StruckPoint("rod", end, (0, 0, 1), restitution=0.6, friction=friction, impact_law="poisson")
    found = system.strike([point]).impulse[0]
    assert found[[0, 2]] == pytest.approx(of_rod(tilt, speed, friction, 0.6), abs=1e-9)
    assert found[1] == pytest.approx(0.0, abs=1e-12)


def test_laws_differ_where_points_rub():
    """With friction that changes between the phases, speeds and impulses have different ratios."""
    system, impulses = bc.prepare(rod(0.7, (0.4, 0.0, -1.0)), "lagrange"), {}
    state = system.state()
    end = np.array([0.0, 0.0, 0.5]) - 0.5 * np.array([np.sin(0.7), 0.0, np.cos(0.7)])
    for law in ("newton", "poisson"):
        system.set_state(state)
        point = bc.StruckPoint("rod", end, (0, 0, 1), restitution=0.6, friction=0.4, impact_law=law)
        impulses[law] = system.strike([point]).impulse[0]
    assert np.abs(impulses["newton"] - impulses["poisson"]).max() > 1e-3


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_ball_bounces_as_by_newtons_law(formulation):
    """One body without friction: both laws are the same, but for gravity within the step."""
    heights = {}
    for law in ("newton", "poisson"):
        mech = ball((0.0, 0.0, 0.5), mass=1.0, radius=0.05)
        floor(mech, "floor", bc.Contact(1e6, restitution=0.7, impact_law=law), "ball")
        run = bc.simulate(mech, 1.2, method="moreau", step=1e-4, output_step=1e-3, formulation=formulation)
        z, late = run.body("ball").position[:, 2], run.time > np.sqrt(2 * 0.45 / G) + 0.05
        heights[law] = z[late].max() - 0.05
        assert run.statistics["lost_to_impacts"] > 0.0
    assert heights["newton"] == pytest.approx(0.45 * 0.49, abs=1e-3)
    assert heights["poisson"] == pytest.approx(heights["newton"], abs=1e-3)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_row_of_balls(formulation):
    """Three equal balls, the first of which strikes with 1 m/s: thirds, then as much again."""
    mech = bc.Mechanism("row", gravity=(0.0, 0.0, 0.0))
    names = ("first", "second", "third")
    for k, name in enumerate(names):
        mech.add_body(
            name,
            1.0,
            (0.01,) * 3,
            position=(0.2 * k - (0.01 if k == 0 else 0.0), 0.0, 0.0),
            shapes=[bc.Sphere(radius=0.1)],
            velocity=(1.0 if k == 0 else 0.0, 0.0, 0.0),
        )
    mech.add_force("touch", bc.Contact(1e6, restitution=1.0, impact_law="poisson"), *names)
    run = bc.simulate(mech, 0.1, method="moreau", step=1e-3, output_step=1e-2, formulation=formulation)
    speeds = [run.body(name).velocity[-1, 0] for name in names]
    assert speeds == pytest.approx([-1 / 3, 2 / 3, 2 / 3], abs=1e-6)


def test_a_law_that_is_none_is_refused():
    with pytest.raises(bc.MechanismError, match="impact_law"):
        bc.Contact(1e6, impact_law="hooke")
    system = bc.prepare(rod(0.3, (0.0, 0.0, -1.0)), "lagrange")
    with pytest.raises(bc.MechanismError, match="impact_law"):
        system.strike([bc.StruckPoint("rod", (0, 0, 0), (0, 0, 1), impact_law="hooke")])


STEP = 1e-3


def falling_rod(driven):
    """A rod of 2 kg and 1 m on a pin, whose tip hits the floor; or one on a rail that drives it at 1 m/s."""
    mech = bc.Mechanism("rod")
    mech.replace(mech.ground, shapes=[bc.Plane()])
    tip = bc.Sphere(radius=0.05, position=(0.5, 0.0, 0.0), density=1.0)
    rod = mech.add_body(
        "rod", mass=2.0, inertia=np.diag([1e-3, 1 / 6, 1 / 6]), shapes=[tip], position=(0.5, 0.0, 0.5)
    )
    y = (0.0, 1.0, 0.0)
    support = mech.ground.marker(position=(0.0, 0.0, 0.5), z_axis=y)
    if driven:
        cart = mech.add_body("cart", mass=1.0, inertia=np.eye(3), position=(0.0, 0.0, 0.5))
        rail = mech.ground.marker(position=(0.0, 0.0, 0.5), z_axis=(1.0, 0.0, 0.0))
        slide = mech.add_joint("slide", bc.Prismatic(), rail, cart.marker(z_axis=(1.0, 0.0, 0.0)))
        mech.add_drive("push", slide, "z", position=bc.Polynomial((0.0, 1.0)))
        support = cart.marker(z_axis=y)
    mech.add_joint("pin", bc.Revolute(), support, rod.marker(position=(-0.5, 0.0, 0.0), z_axis=y))
    mech.add_force("touch", bc.Contact(1e6, restitution=0.3, friction=0.3, joined=True), "rod", "ground")
    return mech


@pytest.mark.parametrize("formulation", ["lagrange", "recursive"])
@pytest.mark.parametrize("driven", [False, True])
def test_they_are_means_over_the_step_of_the_impact(formulation, driven):
    """The momentum that the rod gains in this step is what its pin, the floor and its weight give it."""
    run = bc.simulate(
        falling_rod(driven), 0.4, method="moreau", formulation=formulation, step=STEP, output_step=STEP
    )
    velocity = run.body("rod").velocity
    k = 1 + int(np.argmax(np.linalg.norm(np.diff(velocity, axis=0), axis=1)))
    gained = 2.0 * (velocity[k] - velocity[k - 1])
    assert gained[2] > 2.0
    pin, floor = run.joint("pin").force[k], run.contact("touch").points(k).force.sum(axis=0)
    assert pin + floor + [0.0, 0.0, -2.0 * 9.81] == pytest.approx(gained / STEP, rel=1e-2, abs=10.0)
    if driven:
        assert run.drive("push").effort[k] == pytest.approx(pin[0], rel=1e-6)
