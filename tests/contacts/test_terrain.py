"""Terrain, and bodies with meshes on meshes and terrain: what solids do, they do; what is refused."""

import numpy as np
import pytest
from rigs import meshes
from rigs.contact_scenes import G, ball

import bellcrank as bc
from bellcrank import io
from bellcrank.mechanism import terrain as roads
from bellcrank.scene.bodies import mesh_of

pytest.importorskip("trimesh")

CONTACT = bc.Contact(1e5, restitution=0.6, friction=0.4)
RUN = {"duration": 0.35, "output_step": 0.05, "method": "dopri5", "tolerance": 1e-11}


def die(ground, gravity=(0.0, 0.0, -G)):
    """A box thrown onto a ground."""
    mech = bc.Mechanism("thrown", gravity=gravity)
    mech.add_body(
        "die",
        mass=0.5,
        inertia=[4e-4, 5e-4, 6e-4],
        shapes=[bc.Box(size=(0.1, 0.08, 0.06))],
        position=(0.0, 0.0, 0.2),
        velocity=(0.8, 0.2, -0.5),
        angular_velocity=(3.0, -2.0, 1.0),
    )
    mech.replace(mech.ground, shapes=[ground])
    mech.add_force("floor", CONTACT, "die", "ground")
    return mech


def same_motion(one, two, within=1e-9):
    """Whether two runs touch and are alike, m and ten times that in m/s."""
    one, two = bc.simulate(one, **RUN), bc.simulate(two, **RUN)
    assert one.status == two.status == "finished"
    assert any("touches" in event.name for event in one.events)
    assert two.body("die").position == pytest.approx(one.body("die").position, abs=within)
    assert two.body("die").velocity == pytest.approx(one.body("die").velocity, abs=10 * within)


@pytest.mark.parametrize("spacing", [0.03, 0.2, 2.0])
def test_a_flat_terrain_is_a_plane(spacing):
    flat = bc.Terrain.from_function(lambda x, y: 0.0 * x, (2.0, 2.0), spacing)
    same_motion(die(bc.Plane()), die(flat))


def test_a_tilted_terrain_is_a_tilted_plane():
    slope = float(np.radians(12.0))
    tilted = bc.Terrain.from_function(f"tan({slope!r}) * x", (2.0, 2.0), 0.25)
    turn = (np.cos(0.5 * slope), 0.0, -np.sin(0.5 * slope), 0.0)  # about −y: up along x
    same_motion(die(bc.Plane(rotation=turn)), die(tilted), within=3e-6)  # rounding is amplified


def test_a_terrain_lies_where_its_frame_is():
    heights = np.full((3, 3), 0.5)
    raised = bc.Terrain(heights=heights, spacing=1.0, origin=(-1.0, -1.0), position=(0.0, 0.0, -0.5))
    same_motion(die(bc.Plane()), die(raised), within=3e-6)


def test_a_ball_in_a_cosine_valley_keeps_its_energy():
    height, wavelength, start = 0.1, 2.0, 0.4
    valley = bc.Terrain.bumps(height, wavelength, (2.0, 0.5), 0.005)
    mech = ball((start, 0.0, 0.0))
    radius, at = 0.028575, start
    slope = np.pi * height / wavelength * np.sin(2 * np.pi * at / wavelength)
    normal = np.array([-slope, 0.0, 1.0]) / np.hypot(1.0, slope)
    surface = 0.5 * height * (1.0 - np.cos(2 * np.pi * at / wavelength))
    mech.replace(mech.bodies["ball"], position=tuple(np.array([at, 0.0, surface]) + radius * normal))
    mech.replace(mech.ground, shapes=[valley])
    mech.add_force("floor", bc.Contact(1e5, restitution=1.0, friction=0.0), "ball", "ground")
    run = bc.simulate(mech, 1.5, output_step=0.01, tolerance=1e-9)
    assert run.status == "finished"
    fall = 0.17 * G * surface
    assert np.ptp(run.energy.total) < 1e-3 * fall  # edges between cells cost what their angle makes of it
    path = run.body("ball").position
    assert path[:, 0].min() < -0.9 * start  # it rolls through the valley and climbs again
    assert np.abs(path[:, 1]).max() < 1e-9
    speed = np.linalg.norm(run.body("ball").velocity, axis=1).max()
    assert speed == pytest.approx(np.sqrt(2 * fall / 0.17), rel=0.03)


def test_a_box_stands_on_a_rough_road():
    road = bc.Terrain.road("D", 20.0, 2.0, seed=4)
    mech = bc.Mechanism("parked", gravity=(0.0, 0.0, -G))
    top = road.samples[0][(road.x > 9.4) & (road.x < 10.6)].max()
    mech.add_body(
        "crate", shapes=[bc.Box(size=(1.0, 0.8, 0.5), density=100.0)], position=(10.0, 0.0, float(top) + 0.26)
    )
    mech.replace(mech.ground, shapes=[road])
    mech.add_force("road", bc.Contact(2e5, restitution=0.1, friction=0.8), "crate", "ground")
    run = bc.simulate(mech, 3.0, output_step=0.02)
    assert run.status == "finished"
    assert np.linalg.norm(run.body("crate").velocity[-1]) < 1e-3
    weight = mech.bodies["crate"].mass * G
    points = run.contact("road").points(-1)
    assert len(points) >= 3
    assert np.linalg.norm(points.force.sum(axis=0)) == pytest.approx(weight, rel=1e-2)


@pytest.mark.parametrize("name", "ADH")
def test_a_road_has_the_spectrum_of_its_class(name):
    spacing, count = 0.1, 4000
    road = bc.Terrain.road(name, count * spacing, 3.0, spacing, seed=7)
    row = road.samples[0, :-1]
    n = np.fft.rfftfreq(count, spacing)
    density = 2.0 * np.abs(np.fft.rfft(row)) ** 2 * spacing / count  # one-sided periodogram, m^3
    within = (n >= 0.011) & (n <= 2.83) & (n < 0.5 / spacing)
    wanted = 16e-6 * 4.0 ** (ord(name) - ord("A")) * (n[within] / 0.1) ** -2.0
    np.testing.assert_allclose(density[within], wanted, rtol=1e-9)
    assert np.all(density[~within] < 1e-9 * wanted.min())
    # The variance is the integral of the density: Gd(n0) n0^2 (1/0.011 - 1/2.83).
    integral = wanted[0] * n[within][0] ** 2 * (1 / 0.011 - 1 / 2.83)
    assert np.var(row) == pytest.approx(integral, rel=0.12)


def test_the_same_seed_gives_the_same_road():
    one, same, other = (bc.Terrain.road("B", 50.0, 2.0, seed=seed) for seed in (1, 1, 2))
    assert one == same
    assert one != other
    assert one.samples[0, 0] == one.samples[0, -1]


def test_reference_values_of_classes():
    at = np.array([0.1, 1.0])
    np.testing.assert_allclose(roads.density_of("A", at), [16e-6, 0.16e-6])
    np.testing.assert_allclose(roads.density_of("E", at), [4096e-6, 40.96e-6])


def test_steps_and_ramps_have_their_heights():
    stairs = bc.Terrain.steps(3, 0.15, 0.3, 1.0, samples=10)
    at = dict(zip(np.round(stairs.x, 9), stairs.samples[0], strict=True))
    assert [at[x] for x in (-0.3, 0.0, 0.03, 0.3, 0.33, 0.63, 0.9)] == pytest.approx(
        [0.0, 0.0, 0.15, 0.15, 0.3, 0.45, 0.45]
    )
    ramp = bc.Terrain.ramp(0.2, 2.0, 1.0)
    assert np.interp([-1.0, 1.0, 3.0], ramp.x, ramp.samples[0]) == pytest.approx(
        [0.0, np.tan(0.2), 2 * np.tan(0.2)]
    )
    eggs = bc.Terrain.bumps(0.2, 1.0, (2.0, 2.0), 0.25, across=1.0)
    assert eggs.samples[2, 2] == pytest.approx(0.2)  # half a wave from the middle, both ways
    assert eggs.samples[4, 4] == 0.0


def test_text_and_function_are_the_same():
    text = bc.Terrain.from_function("0.1 * sin(3*x) * cos(y) + 1", (2.0, 1.0), 0.1)
    called = bc.Terrain.from_function(lambda x, y: 0.1 * np.sin(3 * x) * np.cos(y) + 1, (2.0, 1.0), 0.1)
    np.testing.assert_allclose(text.samples, called.samples, atol=1e-15)
    assert text.samples.shape == (11, 21)
    constant = bc.Terrain.from_function("2", (1.0, 1.0), 0.5)
    assert np.all(constant.samples == 2.0)


def test_a_picture_is_heights(tmp_path):
    image = pytest.importorskip("matplotlib.image")
    grey = np.zeros((3, 5), dtype=np.uint8)
    grey[0, 4] = 255  # upper right
    path = tmp_path / "heights.png"
    image.imsave(path, grey, cmap="gray", vmin=0, vmax=255)
    terrain = bc.Terrain.from_image(path, (4.0, 2.0), 0.5)
    assert terrain.samples.shape == (3, 5)
    assert terrain.samples[2, 4] == pytest.approx(0.5)
    assert np.count_nonzero(terrain.samples) == 1
    assert (terrain.x[-1], terrain.y[-1]) == (2.0, 1.0)
    with pytest.raises(bc.MechanismError, match="there is no such file"):
        bc.Terrain.from_image(tmp_path / "none.png", (4.0, 2.0), 0.5)


@pytest.mark.parametrize("name", ["yaml", "json"])
def test_files_hold_it_shortly_and_exactly(name):
    terrain = bc.Terrain.road("C", 200.0, 3.0, seed=5)
    small = bc.Terrain.ramp(0.1, 1.0, 1.0)
    mech = bc.Mechanism("ground")
    mech.replace(mech.ground, shapes=[terrain, small])
    text = io.dumps(mech, name)
    assert io.loads(text) == mech
    assert len(text) < 11 * 4001 * 2  # eleven letters a number
    flat = bc.Terrain(heights=np.zeros((1000, 1000)), spacing=0.1)
    mech.replace(mech.ground, shapes=[flat])
    text = io.dumps(mech, name)
    assert len(text) < 20_000
    assert io.loads(text) == mech


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"heights": [[0.0, 1.0]]}, "at least 2 rows and 2 columns"),
        ({"heights": [[0.0], [1.0]]}, "at least 2 rows and 2 columns"),
        ({"heights": [[0.0, 1.0], [1.0]]}, "must hold n x n numbers"),
        ({"heights": np.zeros(5)}, "must hold n x n numbers"),
        ({"heights": [[0.0, np.nan], [1.0, 2.0]]}, "must be finite"),
        ({"heights": np.broadcast_to(0.0, (4000, 4000))}, "at most 4000000 samples"),
        ({"heights": "hills"}, "packed text"),
        ({"heights": "2 x 2: eJw="}, "packed text"),
        ({"heights": "9000000 x 9000000: eJw="}, "packed text"),
        ({"spacing": 0.0}, "greater than zero"),
        ({"spacing": (1.0, -1.0)}, "greater than zero"),
        ({"spacing": (1.0, 1.0, 1.0)}, "2 numbers"),
        ({"origin": (0.0, np.inf)}, "must be finite"),
        ({"density": 1000.0}, "no bottom"),
    ],
)
def test_wrong_fields_are_refused(fields, message):
    with pytest.raises(bc.MechanismError, match=message):
        bc.Terrain(**{"heights": [[0.0, 1.0], [2.0, 3.0]], "spacing": 1.0, **fields})


def test_all_faults_are_reported_at_once():
    with pytest.raises(bc.MechanismError) as caught:
        bc.Terrain(heights=[[0.0, np.nan], [0.0, 0.0]], spacing=-1.0, density=1.0)
    assert len(caught.value.faults) == 3


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: bc.Terrain.road("K", 10.0, 2.0), "roughness_class must be one of"),
        (lambda: bc.Terrain.road("A", 0.1, 2.0), "no wave"),
        (lambda: bc.Terrain.road("A", 1e9, 2.0), "at most 4000000"),
        (lambda: bc.Terrain.road("A", -1.0, 2.0), "length must be greater"),
        (lambda: bc.Terrain.from_function("x", (1.0, 1.0), 1e-5), "at most 4000000"),
        (lambda: bc.Terrain.from_function("x + w", (1.0, 1.0), 0.1), "w"),
        (lambda: bc.Terrain.from_function("1 / x", (1.0, 1.0), 0.5), "finite"),
        (lambda: bc.Terrain.from_function(lambda x, y: [1, 2, 3], (1.0, 1.0), 0.1), "shape"),
        (lambda: bc.Terrain.from_function("x", (1.0, 0.0), 0.1), "size must be greater"),
        (lambda: bc.Terrain.steps(0, 0.1, 0.3, 1.0), "at least 1"),
        (lambda: bc.Terrain.ramp(1.6, 1.0, 1.0), "angle"),
        (lambda: bc.Terrain.bumps(0.1, 0.0, (1.0, 1.0), 0.1), "wavelength"),
    ],
)
def test_wrong_arguments_are_refused(make, message):
    with pytest.raises(bc.MechanismError, match=message):
        make()


def test_two_terrains_do_not_touch():
    terrain = bc.Terrain.ramp(0.1, 1.0, 1.0)
    mech = bc.Mechanism("two")
    mech.add_body("tray", mass=1.0, inertia=[1.0] * 3, shapes=[terrain])
    mech.replace(mech.ground, shapes=[terrain])
    mech.add_force("floor", CONTACT, "tray", "ground")
    with pytest.raises(bc.MechanismError, match="Terrain of 'tray' and Terrain of 'ground' cannot touch"):
        bc.simulate(mech, 0.1)


def test_the_picture_is_the_surface():
    terrain = bc.Terrain.from_function("0.1 * x * y", (4.0, 2.0), 0.5, color=(0.5, 0.6, 0.4))
    mesh = mesh_of(terrain)
    top = mesh.normals[:, 2] > 0.5  # the others are its edges
    x, y, z = mesh.vertices[top].T
    np.testing.assert_allclose(z, 0.1 * x * y, atol=1e-15)
    assert (x.min(), x.max(), y.min(), y.max()) == (-2.0, 2.0, -1.0, 1.0)
    assert mesh.normals[top, 2].min() > 0.9
    assert np.all(mesh.normals[~top, 2] == 0.0)
    assert mesh.vertices[~top, 2].min() == pytest.approx(-0.2 - 0.003 * 4.0)
    large = mesh_of(bc.Terrain(heights=np.zeros((900, 1000)), spacing=0.01))
    assert len(large.triangles) < 130_000
    assert large.vertices.max(axis=0) == pytest.approx([9.99, 8.99, 0.0])


SIZE = (0.1, 0.08, 0.06)
WIDE = (*((k, 0, 0) for k in range(4)), (0, 1, 0), (3, 1, 0))  # an U with an opening of two cubes


def flat(path, half=2.0, count=9):
    """An open mesh of the plane z = 0."""
    x = np.linspace(-half, half, count)
    corners = np.column_stack([np.tile(x, count), np.repeat(x, count), np.zeros(count**2)])
    v = (np.arange(count - 1)[:, None] * count + np.arange(count - 1)).ravel()
    triangles = [np.column_stack([v, v + 1, v + count + 1]), np.column_stack([v, v + count + 1, v + count])]
    return bc.Mesh(file=meshes.write_obj(path / "flat.obj", meshes.Surface(corners, np.vstack(triangles))))


def box_mesh(path, divided=0):
    surface = meshes.box(*(0.5 * s for s in SIZE))
    if divided:
        surface = surface.divided(divided)
    return bc.Mesh(file=meshes.write_obj(path / f"box{divided}.obj", surface))


def thrown(shape, ground, contact=CONTACT, height=0.2, velocity=(0.8, 0.2, -0.5), spin=(3.0, -2.0, 1.0)):
    """A box, thrown onto a ground."""
    mech = bc.Mechanism("thrown", gravity=(0.0, 0.0, -G))
    mech.add_body(
        "die",
        mass=0.5,
        inertia=[4e-4, 5e-4, 6e-4],
        shapes=[shape],
        position=(0.0, 0.0, height),
        velocity=velocity,
        angular_velocity=spin,
    )
    mech.replace(mech.ground, shapes=[ground])
    mech.add_force("floor", contact, "die", "ground")
    return mech


def grounds(path):
    return {
        "plane": bc.Plane(),
        "terrain": bc.Terrain.from_function(lambda x, y: 0.0 * x, (2.0, 2.0), 0.2),
        "mesh": flat(path),
    }


@pytest.mark.parametrize("ground", ["plane", "terrain", "mesh"])
@pytest.mark.parametrize("formulation", ["lagrange", "recursive"])
def test_a_thrown_mesh_moves_as_the_box_does(tmp_path, ground, formulation):
    settings = {"output_step": 0.05, "method": "dopri5", "tolerance": 1e-11, "formulation": formulation}
    box = bc.simulate(thrown(bc.Box(size=SIZE), bc.Plane()), 0.35, **settings)
    mesh = bc.simulate(thrown(box_mesh(tmp_path, 3), grounds(tmp_path)[ground]), 0.35, **settings)
    assert box.status == mesh.status == "finished"
    assert any("touches" in event.name for event in mesh.events)
    assert mesh.body("die").position == pytest.approx(box.body("die").position, abs=3e-6)
    assert mesh.body("die").velocity == pytest.approx(box.body("die").velocity, abs=3e-5)


@pytest.mark.parametrize("ground", ["plane", "terrain", "mesh"])
def test_a_sliding_mesh_stops_where_coulomb_says(tmp_path, ground):
    speed, friction = 1.0, 0.4
    start = 0.5 * SIZE[2] - 0.5 * G / (4 * CONTACT.stiffness)
    mech = thrown(
        box_mesh(tmp_path), grounds(tmp_path)[ground], CONTACT, start, (speed, 0.0, 0.0), (0.0, 0.0, 0.0)
    )
    run = bc.simulate(mech, 0.6, output_step=0.01, tolerance=1e-8)
    assert run.status == "finished"
    assert run.body("die").position[-1, 0] == pytest.approx(speed**2 / (2 * friction * G), rel=0.01)
    assert np.linalg.norm(run.body("die").velocity[-1]) < 1e-5
    assert run.contact("floor").points(-1).force.sum(axis=0) == pytest.approx([0, 0, 0.5 * G], abs=2e-3)


@pytest.mark.parametrize("ground", ["terrain", "mesh"])
@pytest.mark.parametrize("formulation", ["lagrange", "recursive"])
def test_rigid_contacts_of_a_mesh_are_those_of_the_box(tmp_path, ground, formulation):
    settings = {"output_step": 0.05, "method": "moreau", "step": 1e-3, "formulation": formulation}
    runs = [
        bc.simulate(thrown(shape, below), 0.5, **settings)
        for shape, below in ((bc.Box(size=SIZE), bc.Plane()), (box_mesh(tmp_path), grounds(tmp_path)[ground]))
    ]
    assert runs[1].status == "finished"
    # Steps are shorter on the way to an impact: the thickness of a mesh is less than that of the box.
    assert runs[1].body("die").position == pytest.approx(runs[0].body("die").position, abs=1e-3)


def hooks(path):
    """A hook of the ground and one that hangs in it, both U of cubes, turned against each other."""
    surface, _ = meshes.cubes(WIDE, 0.05)
    # The opening of a U is along its y: that of the ground's is up, that of the hanging one down.
    file = meshes.write_obj(path / "hook.obj", surface)
    mech = bc.Mechanism("hooks", gravity=(0.0, 0.0, -G))
    fixed = bc.Mesh(file=file, rotation=(np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0))
    mech.replace(mech.ground, shapes=[fixed])
    hanging = bc.Mesh(file=file, rotation=(0.5, -0.5, -0.5, 0.5), density=2000.0)
    mech.add_body("hook", shapes=[hanging], position=(0.0, 0.0, 0.0))
    return mech, surface


@pytest.mark.parametrize("method", ["compliant", "moreau"])
def test_two_hooks_hold_each_other(tmp_path, method):
    contact = bc.Contact(1e5, restitution=0.2, friction=0.5)
    mech, surface = hooks(tmp_path)
    # Its web starts 1 mm above that of the ground's, each between the arms of the other.
    low = surface.vertices[:, 1].min() + 0.05  # the floor of the opening
    mech.replace(mech.bodies["hook"], position=(0.0, 0.0, 2 * low + 0.001))
    mech.add_force("grip", contact, "hook", "ground")
    settings = {"method": "moreau", "step": 1e-3} if method == "moreau" else {}
    run = bc.simulate(mech, 1.5, output_step=0.01, **settings)
    assert run.status == "finished"
    path = run.body("hook").position
    assert np.abs(path[-1] - path[0]).max() < 0.004
    assert np.linalg.norm(run.body("hook").velocity[-1]) < 1e-3
    weight = mech.bodies["hook"].mass * G
    if method == "compliant":
        assert run.contact("grip").points(-1).force.sum(axis=0) == pytest.approx(
            [0, 0, weight], rel=1e-3, abs=1e-3
        )
    assert np.diff(run.energy.total).max() < 1e-5 * weight


def test_a_heap_of_concave_meshes_gains_no_energy(tmp_path):
    rng = np.random.default_rng(1)
    mech = bc.Mechanism("heap", gravity=(0.0, 0.0, -G))
    rough = bc.Terrain.from_function(lambda x, y: 0.02 * np.sin(9 * x) * np.cos(7 * y), (1.0, 1.0), 0.05)
    mech.replace(mech.ground, shapes=[rough])
    for k, shape in enumerate((meshes.L, meshes.U, meshes.STAIR)):
        q = rng.normal(size=4)
        file = meshes.write_obj(tmp_path / f"part {k}.obj", meshes.cubes(shape, 0.05)[0])
        mech.add_body(
            f"part {k}",
            shapes=[bc.Mesh(file=file, density=1000.0)],
            position=(0.01 * k, 0.0, 0.15 + 0.17 * k),
            rotation=tuple((q / np.linalg.norm(q)).tolist()),
            angular_velocity=tuple(rng.normal(size=3).tolist()),
        )
    mech.add_force("touch", bc.Contact(5e4, restitution=0.3, friction=0.4), "ground", *mech.bodies)
    run = bc.simulate(mech, 0.5, output_step=0.005)
    assert run.status == "finished"
    total = run.energy.total
    fall = sum(b.mass for b in mech.bodies.values()) * G * 0.3
    # What a change of features adds is small beside what impacts take.
    assert np.diff(total).max() < 2e-3 * fall
    assert total[-1] < total[0] - 0.3 * fall
    for k in range(3):
        assert run.body(f"part {k}").position[-1, 2] > 0.0


def test_a_fast_mesh_does_not_pass_through_a_plate(tmp_path):
    plate = meshes.write_obj(tmp_path / "plate.obj", meshes.box(0.5, 0.5, 0.01))
    mech = thrown(box_mesh(tmp_path), bc.Mesh(file=plate), CONTACT, 0.3, (0.0, 0.0, -40.0), (0.0, 0.0, 0.0))
    run = bc.simulate(mech, 0.02, output_step=0.001)
    assert run.status == "finished"
    assert run.body("die").position[:, 2].min() > 0.02
