"""Terrain: bodies on heights over a grid, what makes them, and what is refused."""

import numpy as np
import pytest
from rigs.contact_scenes import G, ball

import bellcrank as bc
from bellcrank import io
from bellcrank.mechanism import roads
from bellcrank.scene.bodies import mesh_of

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
        "crate",
        shapes=[bc.Box(size=(1.0, 0.8, 0.5), density=100.0)],
        position=(10.0, 0.0, float(top) + 0.26),
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
    with pytest.raises(bc.MechanismError, match="cannot be read"):
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
    x, y, z = mesh.vertices.T
    np.testing.assert_allclose(z, 0.1 * x * y, atol=1e-15)
    assert (x.min(), x.max(), y.min(), y.max()) == (-2.0, 2.0, -1.0, 1.0)
    assert mesh.normals[:, 2].min() > 0.9
    large = mesh_of(bc.Terrain(heights=np.zeros((900, 1000)), spacing=0.01))
    assert len(large.triangles) < 130_000
    assert large.vertices.max(axis=0) == pytest.approx([9.99, 8.99, 0.0])
