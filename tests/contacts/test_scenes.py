"""Contacts in other frames, on other surfaces, in other formulations; what runs keep of them."""

import numpy as np
import pytest
from rigs.contact_scenes import G, ball, block, floor, forged
from rigs.touching_scenes import alone, scene

import bellcrank as bc
from bellcrank.mechanism.rotation import multiply, rotate

CONTACT = bc.Contact(1e5, restitution=0.6, friction=0.4)


def tumbling(spin=(3.0, -2.0, 1.0), shape=None, rotation=(1.0, 0.0, 0.0, 0.0)):
    """A body thrown onto a floor."""
    mech = bc.Mechanism("thrown")
    mech.add_body(
        "die",
        mass=0.5,
        inertia=[4e-4, 5e-4, 6e-4],
        shapes=[shape or bc.Box(size=(0.1, 0.08, 0.06))],
        position=(0.0, 0.0, 0.2),
        rotation=rotation,
        velocity=(0.8, 0.2, -0.5),
        angular_velocity=spin,
    )
    return mech


def turned(mech, rotation, shift):
    """The same scene elsewhere, gravity and plane with it."""
    copy = bc.Mechanism(mech.name, gravity=rotate(rotation, mech.gravity))
    for body in mech.bodies.values():
        copy.add_body(
            body.name,
            body.mass,
            body.inertia,
            position=np.add(rotate(rotation, body.position), shift),
            rotation=multiply(rotation, body.rotation),
            velocity=rotate(rotation, body.velocity),
            angular_velocity=rotate(rotation, body.angular_velocity),
            shapes=body.shapes,
        )
    copy.replace(copy.ground, shapes=[bc.Plane(position=shift, rotation=rotation)])
    copy.add_force("floor", CONTACT, *mech.bodies, "ground")
    return copy


def test_a_tilted_and_shifted_scene_moves_alike():
    mech = tumbling()
    floor(mech, "floor", CONTACT, "die")
    rotation = tuple(np.array([0.8, 0.2, -0.4, 0.4]) / np.linalg.norm([0.8, 0.2, -0.4, 0.4]))
    other = turned(mech, rotation, (0.3, -2.0, 0.7))
    options = {"duration": 0.35, "output_step": 0.05, "method": "dopri5", "tolerance": 1e-11}
    run, same = bc.simulate(mech, **options), bc.simulate(other, **options)
    for one, two in zip(run.body("die").position, same.body("die").position, strict=True):
        assert np.add(rotate(rotation, one), (0.3, -2.0, 0.7)) == pytest.approx(two, abs=3e-6)


def test_a_floor_that_moves_evenly_is_a_floor():
    still, moving = tumbling(), tumbling()
    floor(still, "floor", CONTACT, "die")
    lift = (0.4, -0.3, 0.25)
    moving.replace(moving.bodies["die"], velocity=tuple(np.add(moving.bodies["die"].velocity, lift)))
    moving.add_body("tray", mass=2.0, inertia=[1.0] * 3, shapes=[bc.Plane()], velocity=lift)
    moving.add_joint("carried", bc.Orientation(), "ground", "tray")
    for axis, speed in zip("xyz", lift, strict=True):
        moving.add_drive(f"lift {axis}", "carried", axis, velocity=speed)
    moving.add_force("floor", CONTACT, "die", "tray")
    options = {"duration": 0.35, "output_step": 0.05, "method": "dopri5", "tolerance": 1e-11}
    run, same = bc.simulate(still, **options), bc.simulate(moving, **options)
    shifted = run.body("die").position + np.outer(run.time, lift)
    assert same.body("die").position == pytest.approx(shifted, abs=3e-6)


@pytest.mark.parametrize("pattern", [1, 2, 3])
def test_a_triangulated_floor_is_a_plane(tmp_path, pattern):
    trimesh = pytest.importorskip("trimesh")
    rng = np.random.default_rng(pattern)
    if pattern == 1:  # a regular grid
        grid = np.linspace(-1.0, 1.0, 12)
        points = np.array([(x, y) for x in grid for y in grid])
    else:
        points = np.vstack([rng.uniform(-1, 1, (80 * pattern, 2)), [(-1, -1), (1, -1), (1, 1), (-1, 1)]])
    spatial = pytest.importorskip("scipy.spatial")
    triangles = spatial.Delaunay(points).simplices
    vertices = np.column_stack([points, np.zeros(len(points))])
    up = np.cross(
        vertices[triangles[:, 1]] - vertices[triangles[:, 0]],
        vertices[triangles[:, 2]] - vertices[triangles[:, 0]],
    )
    triangles[up[:, 2] < 0] = triangles[up[:, 2] < 0][:, ::-1]
    path = tmp_path / "floor.ply"
    trimesh.Trimesh(vertices, triangles, process=False).export(path)
    plane, mesh = tumbling(), tumbling()
    floor(plane, "floor", CONTACT, "die")
    mesh.replace(mesh.ground, shapes=[bc.Mesh(file=str(path))])
    mesh.add_force("floor", CONTACT, "die", "ground")
    options = {"duration": 0.3, "output_step": 0.05, "method": "dopri5", "tolerance": 1e-10}
    one, two = bc.simulate(plane, **options), bc.simulate(mesh, **options)
    assert two.body("die").position == pytest.approx(one.body("die").position, abs=1e-9)


SHAPES = [
    bc.Sphere(radius=0.05),
    bc.Box(size=(0.1, 0.08, 0.06)),
    bc.Capsule(radius=0.03, length=0.06),
    bc.Cylinder(radius=0.04, length=0.07),
    bc.Cone(radius=0.05, height=0.09),
    bc.Ellipsoid(radii=(0.05, 0.04, 0.03)),
    bc.Prism(outline=[(-0.05, -0.03), (0.04, -0.04), (0.06, 0.02), (-0.02, 0.05)], length=0.07),
]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: type(s).__name__)
def test_every_shape_lands_and_loses_energy_only(shape):
    mech = tumbling(shape=shape)
    floor(mech, "floor", CONTACT, "die")
    run = bc.simulate(mech, duration=1.0, output_step=0.002, tolerance=1e-8)
    assert run.status == "finished"
    total = run.energy.total
    assert np.max(np.diff(total)) < 1e-4 * abs(total[0])  # tangential damping and cut springs only take
    assert run.body("die").position[:, 2].min() > 0.0
    assert bc.verify(run).passed


def test_runs_of_formulations_agree():
    mech = tumbling(rotation=(0.8, 0.4, 0.2, 0.4))
    mech.add_body(
        "arm", mass=0.3, inertia=[1e-3] * 3, shapes=[bc.Sphere(radius=0.02)], position=(0.1, 0, 0.2)
    )
    mech.add_joint(
        "hinge",
        bc.Revolute(),
        mech.bodies["die"].marker((0.06, 0, 0)),
        mech.bodies["arm"].marker((-0.04, 0, 0)),
    )
    floor(mech, "floor", CONTACT, "die", "arm")
    options = {"duration": 0.3, "output_step": 0.05, "method": "dopri5", "tolerance": 1e-12}
    runs = [
        bc.simulate(mech, formulation=name, **options)
        for name in ("lagrange", "recursive", "symbolic", "dca")
    ]
    for run in runs[1:]:
        assert run.body("die").position == pytest.approx(runs[0].body("die").position, abs=3e-6)
        assert run.body("arm").velocity == pytest.approx(runs[0].body("arm").velocity, abs=1e-4)


def test_points_are_recorded_by_name_and_in_time(tmp_path):
    mech = block(0.0, bc.Contact(1e5, friction=0.4), velocity=1.0)
    run = bc.simulate(mech, duration=0.5, output_step=0.01, path=tmp_path / "run.h5")
    assert run.contacts == ("floor",)
    found = run.contact("floor")
    assert found.count.tolist() == [4] * len(run)
    points = found.points(10)
    assert set(points.bodies) == {("block", "ground")}
    assert not points.sticks.any()
    assert points.friction[:, 0] == pytest.approx(-0.4 * points.normal_force)
    assert points.normal_force.sum() == pytest.approx(G, rel=1e-4)
    assert len(found.points()) == 4 * len(run)
    assert found.points(-1).sticks.all()
    read = bc.Trajectory.load(tmp_path / "run.h5", lazy=True)
    for one, two in ((run, read), (run, run[:])):
        assert np.array_equal(one.store.contacts, two.store.contacts)
    assert np.array_equal(run[10:20].contact("floor").points(0).force, points.force)
    joined = bc.concatenate([run[:20], run[19:]])
    assert np.array_equal(joined.store.contacts, run.store.contacts)
    assert run.resample(step=0.003).contacts == ()
    run.save(tmp_path / "copy.h5")
    assert np.array_equal(bc.Trajectory.load(tmp_path / "copy.h5").store.contacts, run.store.contacts)


def test_a_run_goes_on_from_what_friction_remembers(tmp_path):
    mech = block(15.0, bc.Contact(1e5, friction=0.4))
    whole = bc.simulate(mech, duration=1.0, output_step=0.05, path=tmp_path / "run.h5")
    for run in (whole, bc.Trajectory.load(tmp_path / "run.h5")):
        state = run.at(0.5)
        assert len(state.contacts) == 4
        on = bc.simulate(mech, duration=0.5, output_step=0.05, state=state)
        assert on.body("block").position[-1] == pytest.approx(whole.body("block").position[-1], abs=1e-9)
    forgotten = bc.State(*whole.at(0.5).arrays)
    slid = bc.simulate(mech, duration=0.5, output_step=0.05, state=forgotten)
    assert abs(slid.body("block").position[-1, 0] - whole.body("block").position[-1, 0]) > 1e-6


def test_the_same_run_twice_is_the_same_bit_for_bit():
    mech = tumbling()
    floor(mech, "floor", CONTACT, "die")
    one, two = (bc.simulate(mech, duration=0.5, output_step=0.01) for _ in range(2))
    assert np.array_equal(one.body("die").position, two.body("die").position)
    assert np.array_equal(one.store.contacts, two.store.contacts)


def test_what_was_recorded_wrongly_is_found():
    run = bc.simulate(block(0.0, bc.Contact(1e5, friction=0.4), velocity=1.0), duration=0.1, output_step=0.01)
    assert bc.verify(run).passed
    for part, factor, check in (
        (("force", 0), 1.01, "friction"),
        (("force", 0), 0.99, "friction"),
        (("force", 2), 1.01, "contact force"),
        (("slip", 0), 1.01, "contact motion"),
    ):
        assert check in forged(run, part, factor)


def test_a_stack_of_boxes_stands():
    mech = bc.Mechanism("stack")
    mech.replace(mech.ground, shapes=[bc.Plane()])
    for k in range(5):
        mech.add_body(
            f"box {k}",
            mass=1.0,
            inertia=[0.01] * 3,
            shapes=[bc.Box(size=(0.2, 0.2, 0.2))],
            position=(0, 0, 0.1 + 0.2 * k),
        )
    mech.add_force("touch", bc.Contact(1e6, friction=0.5, dissipation=100.0), "ground", *mech.bodies)
    run = bc.simulate(mech, duration=2.0, output_step=0.1, tolerance=1e-7)
    sunk = [run.body(f"box {k}").position[-1, 2] - (0.1 + 0.2 * k) for k in range(5)]
    weights = np.array([(5 - j) * G / 4e6 for j in range(5)])  # on four corners each
    assert sunk == pytest.approx(-np.cumsum(weights), abs=3e-6)
    assert abs(run.body("box 4").position[-1, :2]).max() < 1e-6


def refusal(mech):
    with pytest.raises(bc.MechanismError) as error:
        bc.simulate(mech, duration=0.1)
    return str(error.value)


def test_bad_contacts_are_refused_by_name():
    with pytest.raises(bc.MechanismError, match="friction must not be negative"):
        bc.Contact(1e5, friction=-0.1)
    with pytest.raises(bc.MechanismError, match="restitution"):
        bc.Contact(1e5, restitution=1.2)
    with pytest.raises(bc.MechanismError, match="static_friction must not be less than friction"):
        bc.Contact(1e5, friction=0.4, static_friction=0.3)
    with pytest.raises(bc.MechanismError, match="exponent must be 1 to 3"):
        bc.Contact(1e5, exponent=0.5)
    with pytest.raises(bc.MechanismError, match="a plane has no end"):
        bc.Plane(density=1000.0)
    mech = tumbling()
    mech.add_force("floor", CONTACT, "die", "ground")
    assert "'ground'" in refusal(mech)
    assert "this body has no shape that could touch" in refusal(mech)
    with pytest.raises(bc.MechanismError, match="two or more bodies"):
        mech.add_force("alone", CONTACT, "die")
    mech = tumbling()
    floor(mech, "floor", CONTACT, "die")
    mech.add_force("again", CONTACT, "ground", "die")
    assert "touch in force 'floor' already" in refusal(mech)
    mech = bc.Mechanism("planes")
    mech.add_body("plate", mass=1.0, inertia=[1.0] * 3, shapes=[bc.Plane()])
    floor(mech, "floor", CONTACT, "plate")
    assert "cannot touch each other" in refusal(mech)


def test_a_contact_that_joints_switch_off_is_refused():
    mech = bc.Mechanism("guided")
    mech.replace(mech.ground, shapes=[bc.Plane(size=1.0)])
    ball = mech.add_body("ball", shapes=[bc.Sphere(0.05, density=1000.0)], position=(0, 0, 0.2))
    mech.add_joint("guide", bc.Prismatic(), mech.ground.marker((0, 0, 0.2)), ball)
    mech.add_force("touch", CONTACT, "ball", "ground")
    assert "force 'touch': it does nothing" in refusal(mech)
    assert "'guide'" in refusal(mech)
    mech.replace(mech.forces["touch"], kind=bc.Contact(stiffness=1e5, joined=True))
    fell = bc.simulate(mech, 1.0).body("ball").position[-1, 2]
    assert 0.0 < fell < 0.06  # it lies on the ground
    # Where one pair is left, the contact acts, as with links of a chain that are joined to each other.
    other = mech.add_body("other", shapes=[bc.Sphere(0.05, density=1000.0)], position=(0.5, 0, 0.2))
    mech.add_joint("rod", bc.Distance(0.5), ball, other)
    mech.remove(mech.forces["touch"])
    mech.add_force("touch", CONTACT, "ball", "other", "ground")
    bc.simulate(mech, 0.01)


def test_bodies_that_start_within_each_other_are_refused():
    mech = bc.Mechanism("two")
    for name in "ab":
        mech.add_body(name, shapes=[bc.Box(size=(0.1, 0.1, 0.1), density=500.0)], position=(0.0, 0.0, 0.2))
    floor(mech, "touch", CONTACT, "a", "b")
    message = refusal(mech)
    assert "force 'touch': bodies 'a' and 'b' overlap at the start, in m, got 0.1" in message
    assert "put them side by side" in message


def test_quasi_statics_have_no_contact():
    mech = ball((0, 0, 1))
    floor(mech, "floor", CONTACT, "ball")
    with pytest.raises(bc.Unsupported, match="it computes no contact"):
        bc.prepare(mech, "adaptive")


def test_searches_that_know_no_friction_refuse_contact():
    mech = ball((0, 0, 1))
    floor(mech, "floor", CONTACT, "ball")
    for search in (bc.find_equilibrium, bc.statics):
        with pytest.raises(bc.Unsupported, match="cannot take contacts: force 'floor'"):
            search(mech)


def test_joined_bodies_pass_through_each_other_unless_told():
    def pair(joined):
        mech = bc.Mechanism("door", gravity=(0, 0, 0))
        size = (0.4, 0.02, 1.0)
        mech.add_body(
            "leaf",
            mass=1.0,
            inertia=[0.1] * 3,
            shapes=[bc.Box(size=size, position=(0.2, 0, 0))],
            angular_velocity=(0, 0, 2.0),
        )
        mech.replace(mech.ground, shapes=[bc.Box(size=size, position=(0.0, 0.3, 0.0))])
        mech.add_joint("hinge", bc.Revolute(), "ground", "leaf")
        mech.add_body("cat", shapes=[bc.Sphere(0.1, density=1000.0)], position=(9, 9, 9))
        mech.add_force("stop", bc.Contact(1e5, joined=joined), "leaf", "ground", "cat")
        return bc.simulate(mech, duration=1.5, output_step=0.1)

    assert pair(joined=False).joint("hinge").position[-1] == pytest.approx(3.0)
    assert pair(joined=True).joint("hinge").position.max() < 1.6


def test_contacts_go_through_files(tmp_path):
    mech = tumbling()
    mech.replace(
        mech.bodies["die"], shapes=[*mech.bodies["die"].shapes, bc.Sphere(radius=1.0, touches=False)]
    )
    floor(mech, "floor", CONTACT, "die")
    bc.save(mech, tmp_path / "m.yaml")
    assert bc.load(tmp_path / "m.yaml") == mech


@pytest.mark.parametrize("seed", range(6))
def test_random_scenes_end_in_numbers(seed):
    run = bc.simulate(scene(seed), duration=0.3, output_step=0.01)
    assert run.status == "finished"
    assert np.isfinite(run.energy.total).all()
    lone = bc.simulate(alone(scene(seed)), duration=0.6, output_step=0.002, tolerance=1e-9)
    free = lone.energy.total[lone.contact("touch").count == 0]
    assert np.max(np.diff(free), initial=0.0) < 1e-6 * np.abs(free).max(initial=1.0)


def test_bodies_that_touch_start_where_their_joints_are_given_to():
    mech = bc.Mechanism("pendulums")
    for k in range(3):
        ball = mech.add_body(
            f"ball {k}", position=(0.1 * k, 0, 0), shapes=[bc.Sphere(radius=0.05, density=1000.0)]
        )
        pivot = mech.ground.marker((0.1 * k, 0, 0.5), axis="y")
        mech.add_joint(
            f"rod {k}",
            bc.Revolute(),
            pivot,
            ball.marker((0, 0, 0.5), axis="y"),
            position=0.3 if k == 0 else 0.0,
        )
    mech.add_force("touch", CONTACT, *mech.bodies)
    run = bc.simulate(mech, duration=0.5, output_step=0.1)
    assert run.joint("rod 0").position[0] == pytest.approx(0.3)
    assert run.joint("rod 2").position[-1] < -0.01


def test_a_frame_where_damping_alone_brings_friction_to_its_limit_continues():
    """It is recorded as slipping, but its spring is back from the limit: a restart must leave it there."""
    made = scene(20053)
    run = bc.simulate(made, 0.198, output_step=2e-3)
    assert not run.contact("touch").points(98).sticks.any()
    on = bc.simulate(made, 2e-3, state=run.at(float(run.time[98])), tolerance=1e-11)
    assert on.bodies
    for body in on.bodies:
        assert on.body(body).velocity[-1] == pytest.approx(run.body(body).velocity[-1], abs=1e-5)
