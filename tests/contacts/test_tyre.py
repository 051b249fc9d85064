"""Tyres against closed forms: load, radius, stiffness, the rim, and slices in ground of any shape."""

from functools import cache

import numpy as np
import pytest
from rigs.contact_scenes import forged
from rigs.tyre_rig import (
    HEIGHT,
    LOAD,
    PRESSURE,
    RADIUS,
    SUNK,
    WIDTH,
    force_at,
    free_wheel,
    led_wheel,
    mean_force,
    tyre,
)
from rigs.wild_tyres import forget_files, mesh_shape, wild
from scipy.spatial.transform import Rotation

import bellcrank as bc
from bellcrank import _core, io
from bellcrank.mechanism.mesh import convex_hull


def terrain(function, spacing=0.01, length=8.0):
    """Ground whose height is a function of x."""
    x = np.arange(-1.0, length, spacing)
    return bc.Terrain(heights=[function(x)] * 2, spacing=(spacing, 1.0), origin=(x[0], -0.5))


def still(sunk, ground=None, **fields):
    """A wheel that stands as deep in the ground as that, m."""
    return free_wheel(ground or bc.Plane(), speed=0.0, height=RADIUS - sunk, **fields)


@pytest.mark.parametrize("sunk", [0.004, 0.006, 0.010])
def test_the_load_grows_with_the_power_three_halves_of_the_depth(sunk):
    force, points = force_at(still(sunk))
    half = np.sqrt(2.0 * RADIUS * sunk)  # a slice at x is pressed in by sunk - x^2 / 2 R
    assert force[2] == pytest.approx(
        2 / 3 * np.pi * PRESSURE * np.sqrt(2.0 * RADIUS) * sunk**1.5, rel=0.5 * sunk / RADIUS
    )
    assert np.ptp(points.position[:, 0]) == pytest.approx(2.0 * half, abs=0.012)
    assert -points.gap.min() == pytest.approx(sunk, rel=1e-3)


@pytest.mark.parametrize("camber", [0.0, 0.05, 0.2, 0.5])
def test_the_depth_of_a_tilted_wheel_is_that_of_its_round_section(camber):
    run = bc.simulate(led_wheel(speed=0.0, camber=camber), 0.5)
    points = run.contact("tyre").points(-1)
    height = run.body("wheel").position[-1, 2]
    middle = height - (RADIUS - 0.5 * WIDTH) * np.cos(camber)  # of the section, above the ground
    assert -points.gap.min() == pytest.approx(0.5 * WIDTH - middle, abs=2e-5)  # of where slices lie


def test_beyond_most_of_its_height_the_rim_strikes():
    soft = {"pressure": 1e4, "rim_stiffness": 3e7, "dissipation": 0.0}
    shallow, deep = (force_at(still(sunk, **soft))[0][2] for sunk in (0.012, 0.0135))
    assert deep < 1.3 * shallow
    low = led_wheel(speed=0.0, load=3000.0, **soft)
    height = bc.simulate(low, 2.0).body("wheel").position[-1, 2]
    angle = np.linspace(-0.5, 0.5, 20001)
    pressed = np.maximum(0.0, RADIUS - height / np.cos(angle))
    struck = np.maximum(0.0, pressed - 0.8 * WIDTH)
    carried = np.trapezoid((0.5e4 * np.pi * pressed + 3e7 * struck) * np.cos(angle) * RADIUS, angle)
    assert struck.max() > 1e-3
    assert carried == pytest.approx(3000.0, rel=0.01)


def test_a_wheel_rolls_on_its_radius_less_a_third_of_its_depth():
    run = bc.simulate(led_wheel(dissipation=0.0), 1.0, output_step=0.01, tolerance=1e-6)
    depth = RADIUS - run.body("wheel").position[-1, 2]
    rolled = 2.0 / run.joint("spin").velocity[50:, 0].mean()
    assert rolled == pytest.approx(RADIUS - depth / 3.0, abs=1e-4)
    assert abs(mean_force(run, 0.5)[0]) < 0.1


def test_dissipation_resists_rolling():
    """Slices go in as fast as they come out: the moment is that of the difference of their forces."""
    run = bc.simulate(led_wheel(dissipation=0.3), 1.0, output_step=0.01, tolerance=1e-6)
    x = np.linspace(-1.0, 1.0, 2001) * np.sqrt(2.0 * RADIUS * SUNK)
    pressed = SUNK - x**2 / (2.0 * RADIUS)
    power = np.trapezoid(0.5 * np.pi * PRESSURE * pressed * 0.3 * (2.0 * x / RADIUS) ** 2, x)
    assert -2.0 * mean_force(run, 0.5)[0] == pytest.approx(power, rel=0.03)


def test_cornering_stiffness_is_that_of_a_brush():
    """A point of the tread that is led aside by the slip angle while it is on the ground."""
    angle = np.radians(0.1)
    run = bc.simulate(
        led_wheel(slip=angle, friction=5.0, shear_damping=0.0, dissipation=0.0), 1.0, output_step=0.01
    )
    depth = RADIUS - run.body("wheel").position[-1, 2]
    stiffness = 0.9 * 0.5 * np.pi * PRESSURE  # of a metre of tread
    side = stiffness * angle * 0.5 * (2.0 * np.sqrt(2.0 * RADIUS * depth)) ** 2
    assert mean_force(run, 0.5)[1] == pytest.approx(side, rel=0.02)
    assert 0.2 < mean_force(run, 0.5)[1] / LOAD / 0.1 < 0.3  # Dressel (2013): 0.15 to 0.35 for each degree


def test_side_force_ends_at_the_friction_of_the_surface():
    for surface, kinetic in (("asphalt", 0.86), ("wet steel rail", 0.38)):
        run = bc.simulate(led_wheel(slip=0.6, surface=surface), 0.5, output_step=0.01)
        along_axle = mean_force(run, 0.3) @ (-np.sin(0.6), np.cos(0.6), 0.0)
        assert along_axle == pytest.approx(kinetic * LOAD, rel=0.02)


def test_side_force_does_not_depend_on_steps():
    angle, sides = np.radians(1.0), []
    for options in ({"tolerance": 1e-5}, {"tolerance": 1e-8}, {"method": "rk4", "step": 5e-4}):
        run = bc.simulate(led_wheel(slip=angle), 0.6, output_step=0.01, **options)
        sides.append(mean_force(run, 0.3)[1])
    assert np.ptp(sides) < 3e-3 * sides[0]


@pytest.mark.parametrize(
    "ground",
    [
        terrain(lambda x: 0.0 * x),
        terrain(lambda x: 0.0 * x, spacing=0.3),
        bc.Box(size=(20.0, 2.0, 1.0), position=(0.0, 0.0, -0.5)),
    ],
)
def test_flat_ground_is_a_plane(ground):
    plane, flat = (
        bc.simulate(free_wheel(g), 0.5, output_step=0.1, method="rk4", step=5e-4)
        for g in (bc.Plane(), ground)
    )
    assert flat.status == plane.status == "finished"
    assert flat.body("wheel").position == pytest.approx(plane.body("wheel").position, abs=2e-8)


def test_what_is_left_out_above_the_heights_around_a_slice_touches_nothing():
    """Ridges given coarsely, where slices above them are left out, and so finely that none is; a far hill."""
    rng = np.random.default_rng(3)
    coarse = 0.004 * rng.uniform(-1.0, 1.0, 61)
    fine = np.interp(np.arange(1201) / 20, np.arange(61), coarse)

    def ridges(heights, spacing, rows):
        samples = np.tile(heights, (rows, 1)).tolist()
        return bc.Terrain(samples, (spacing, 1.0 / (rows - 1)), origin=(-0.5, -0.5))

    hilly = coarse.copy()
    hilly[-3:] = 0.5
    grounds = ridges(coarse, 0.05, 2), ridges(fine, 0.0025, 401), ridges(hilly, 0.05, 2)
    one, *others = (
        bc.simulate(free_wheel(ground, speed=1.0), 0.3, output_step=0.1, method="rk4", step=5e-4)
        for ground in grounds
    )
    assert np.ptp(one.body("wheel").position[:, 2]) > 1e-3
    for other in others:
        assert other.body("wheel").position == pytest.approx(one.body("wheel").position, abs=1e-8)


def test_shapes_of_the_ground_are_one_ground():
    """A plate that is sunk in the ground, but for the last of it, is ground of its height."""
    plate = bc.Box(size=(4.0, 1.0, 0.02), position=(0.0, 0.0, -0.01))
    lying, alone = (
        force_at(still(SUNK, shapes))[0] for shapes in ([bc.Plane(position=(0, 0, -0.001)), plate], [plate])
    )
    assert lying == pytest.approx(alone, abs=1e-9)
    assert lying[2] > 400.0


def test_energy_is_kept_over_stones_where_nothing_is_lost():
    """Forces along rays keep the energy but for the space between rays, and the flattening at edges."""
    stone = terrain(lambda x: np.where((x > 1.0) & (x < 1.5), 0.01, 0.0))
    for friction in (0.0, None):
        mech = free_wheel(stone, dissipation=0.0, friction=friction, shear_damping=0.0)
        run = bc.simulate(mech, 1.5, output_step=0.01, tolerance=1e-7)
        change = run.energy.total - run.energy.total[0]
        assert run.body("wheel").position[-1, 0] > 2.0
        assert np.ptp(run.body("wheel").position[:, 2]) > 0.008
        assert np.max(np.abs(change)) < 0.08  # of 108 J that move, and 5 J that lift the wheel
        assert abs(change[-1]) < 0.03


def held_wheel(camber=0.0, velocity=(0.0, 0.0, 0.0), **fields):
    """A wheel that does not turn and may move in all directions."""
    height = (RADIUS - 0.5 * WIDTH) * np.cos(camber) + 0.5 * WIDTH - SUNK
    mech = bc.Mechanism("held wheel")
    mech.replace(mech.ground, shapes=[bc.Plane()])
    place = {"position": (0.0, 0.0, height)}
    slide, cross, wheel = (
        mech.add_body(name, mass=mass, inertia=[mass] * 3, velocity=v, **place)
        for name, mass, v in (
            ("slide", 1e-3, (velocity[0], 0, 0)),
            ("cross", 1e-3, velocity),
            ("wheel", 49.0, velocity),
        )
    )
    mech.add_joint("x", bc.Prismatic(), mech.ground.marker((0, 0, height), axis="x"), slide.marker(axis="x"))
    mech.add_joint("y", bc.Prismatic(), slide.marker(axis="y"), cross.marker(axis="y"))
    mech.add_joint("z", bc.Prismatic(), cross.marker(), wheel.marker())
    axle = (0.0, np.cos(camber), -np.sin(camber))
    mech.add_force("tyre", tyre(shear_damping=0.0, **fields), wheel.marker(axis=axle), "ground")
    return mech


@pytest.mark.parametrize("camber", [0.0, 0.2, -0.5, 1.0])
def test_without_friction_a_tilted_tyre_pushes_straight_up(camber):
    for velocity in ((0.0, 0.0, 0.0), (10.0, 5.0, 0.0)):
        mech = held_wheel(camber, velocity, friction=0.0, dissipation=0.3)
        run = bc.simulate(mech, 0.2, output_step=0.02)
        assert run.body("wheel").velocity[-1, :2] == pytest.approx(velocity[:2], abs=1e-4)


@pytest.mark.parametrize("camber", [0.0, 0.2, -0.5])
def test_what_slides_aside_loses_the_friction_of_its_load(camber):
    run = bc.simulate(held_wheel(camber, (0.0, 5.0, 0.0), friction=0.5), 0.2, output_step=0.02)
    assert (5.0 - run.body("wheel").velocity[-1, 1]) / 0.2 == pytest.approx(0.5 * 9.81, rel=0.02)


@pytest.mark.parametrize(("camber", "pressure"), [(0.0, 1e5), (0.5, 1e5), (1.3, 1e5), (1.4, 6e5)])
def test_no_fall_gains_energy(camber, pressure):
    """The rim strikes, and its section is pressed flat."""
    mech = bc.Mechanism("fall")
    mech.replace(mech.ground, shapes=[bc.Plane()])
    wheel = mech.add_body("w", mass=40.0, inertia=(1, 1, 1), position=(0, 0, 0.6), velocity=(0, 0, -4.43))
    axle = (0.0, np.cos(camber), np.sin(camber))
    kind = tyre(pressure=pressure, dissipation=0.0)
    mech.add_force("tyre", kind, wheel.marker(axis=axle), "ground")
    energy = bc.simulate(mech, 0.3, output_step=0.001).energy.total
    assert energy.max() < energy[0] * (1.0 + 1e-6)


def test_a_joint_to_the_ground_does_not_keep_it_off():
    mech = bc.Mechanism("guided")
    mech.replace(mech.ground, shapes=[bc.Plane()])
    wheel = mech.add_body("wheel", mass=49.0, inertia=[1.0] * 3, position=(0.0, 0.0, HEIGHT))
    mech.add_joint("z", bc.Prismatic(), mech.ground.marker((0.0, 0.0, HEIGHT)), wheel.marker())
    mech.add_force("tyre", tyre(), wheel.marker(axis="y"), "ground")
    assert bc.simulate(mech, 0.5).body("wheel").position[-1, 2] == pytest.approx(HEIGHT, abs=1e-3)


@pytest.mark.parametrize("seam", [0.0, 0.003])
def test_a_seam_between_two_boxes_is_not_felt(seam):
    halves = [bc.Box(size=(20.0, 1.0, 1.0), position=(0.0, side + seam, -0.5)) for side in (0.5, -0.5)]
    one, two = (force_at(still(SUNK, ground))[0] for ground in ([bc.Plane()], halves))
    assert two == pytest.approx(one, abs=1e-6)


def test_two_tyres_on_one_axle():
    mech = bc.Mechanism("axle")
    mech.replace(mech.ground, shapes=[bc.Plane()])
    axle = mech.add_body("axle", mass=98.0, inertia=[5.0] * 3, position=(0.0, 0.0, HEIGHT))
    for side in (-0.5, 0.5):
        mech.add_force(f"tyre {side}", tyre(), axle.marker((0.0, side, 0.0), axis="y"), "ground")
    run = bc.simulate(mech, 0.5, output_step=0.1)
    loads = [run.force(f"tyre {side}").effort[-1, 2] for side in (-0.5, 0.5)]
    assert loads == pytest.approx([49.0 * 9.81] * 2, rel=0.01)


def test_what_lands_is_met_at_its_time():
    mech = free_wheel(bc.Plane(), speed=3.0, height=RADIUS + 0.05)
    run = bc.simulate(mech, 0.3, output_step=0.01)
    (event, *_) = run.events
    assert event.name == "tyre touches"
    assert event.time == pytest.approx(np.sqrt(0.1 / 9.81), abs=1e-5)  # of a slice


@pytest.mark.parametrize("formulation", ["recursive", "symbolic", "dca"])
def test_formulations_agree(formulation):
    ground = terrain(lambda x: 0.004 * np.sin(9.0 * x))
    runs = [
        bc.simulate(
            led_wheel(slip=0.02, ground=ground),
            0.5,
            output_step=0.1,
            method="rk4",
            step=5e-4,
            formulation=name,
        )
        for name in ("lagrange", formulation)
    ]
    one, two = (run.joint("z").position for run in runs)
    assert two == pytest.approx(one, abs=1e-9)


def test_a_run_goes_on_from_a_frame_and_a_file(tmp_path):
    mech, options = led_wheel(slip=0.03), {"method": "rk4", "step": 1e-3, "output_step": 0.1}
    whole = bc.simulate(mech, 0.6, **options)
    first = bc.simulate(mech, 0.3, **options)
    first.save(tmp_path / "first.h5")
    io.save(mech, tmp_path / "wheel.yaml")
    after = bc.Trajectory.load(tmp_path / "first.h5").at(0.3)
    rest = bc.simulate(io.load(tmp_path / "wheel.yaml"), 0.3, state=after, **options)
    assert rest.joint("z").position[-1] == pytest.approx(whole.joint("z").position[-1], abs=1e-6)
    assert mean_force(rest, 0.59) == pytest.approx(mean_force(whole, 0.59), rel=1e-3, abs=0.5)


def test_runs_are_judged():
    run = bc.simulate(led_wheel(slip=0.05), 0.4, output_step=0.01)
    assert bc.verify(run)
    assert {"contact force", "friction", "contact motion"} <= {check.name for check in bc.verify(run).checks}
    for part, factor, check in (
        (("gap",), 1.001, "contact force"),
        (("force", 1), 30.0, "friction"),
        (("slip", 1), 1.01, "contact motion"),
    ):
        assert check in forged(run, part, factor)


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({"width": 0.4}, "must be less than radius"),
        ({"height": 0.05}, "height must not be more than width"),
        ({"pressure": 0.0}, "pressure"),
        ({"surface": "ice"}, "surface"),
        ({"resolution": 1e-5}, "at most 20000 slices"),
        ({"resolution": 0.1}, "a tenth of the radius"),
        ({"friction": 0.5, "static_friction": 0.4}, "must not be less than friction"),
        ({"friction": -0.1}, "friction"),
        ({"shear_damping": 1e9}, "0.1 s"),
    ],
)
def test_bad_tyres_are_refused(fields, rule):
    with pytest.raises(bc.MechanismError, match=rule):
        tyre(**fields)


def test_what_a_tyre_cannot_roll_on_is_refused():
    mech = led_wheel()
    mech.replace(mech.ground, shapes=[])
    with pytest.raises(bc.MechanismError, match=r"force 'tyre': .*no shape.*'ground'"):
        bc.simulate(mech, 0.1)


def test_wheels_that_begin_within_the_ground_are_refused():
    with pytest.raises(bc.MechanismError, match="overlap at the start"):
        bc.simulate(still(0.025), 0.1)


def test_steps_by_impulses_refuse_tyres():
    with pytest.raises(bc.Unsupported, match=r"'moreau' takes contacts as rigid.*force 'tyre'"):
        bc.simulate(led_wheel(), 0.1, method="moreau", step=1e-3)


@pytest.mark.parametrize("seed", range(6))
def test_slip_that_turns_back_leaves_friction_in_line(seed):
    """Shear opposite to the way turns only as far as it lies aside, which is rounding in a plane."""
    heights = np.random.default_rng(seed).uniform(0.0, 0.01, 90)
    ground = terrain(lambda x: heights[: len(x)], spacing=0.1)
    run = bc.simulate(free_wheel(ground, 3.0, height=HEIGHT + 0.02), 0.3, tolerance=1e-5, output_step=1e-3)
    points = [run.contact("tyre").points(k) for k in range(len(run))]
    force = np.concatenate([p.force for p in points])
    assert np.abs(force[:, 1]).max() < 1e-9 * np.abs(force).max()


Shape = _core.CollisionShape
RIM_RADIUS, RIM_WIDTH, SLICES, RIM = 0.3, 0.06, 150, 0.048
TYRE = Shape.tyre(RIM_RADIUS, RIM_WIDTH, RIM_WIDTH, SLICES, RIM)
REACH = 0.02  # m, gaps beyond count as that
SLOPE = 4.0  # of the cone that a slice is
OF_RIM = 2**30
GAINED = (28, 34, 44, 47)  # of wild scenes
CUBE = [
    [0, 2, 1], [1, 2, 3], [4, 5, 6], [5, 7, 6], [0, 1, 4], [1, 5, 4],
    [2, 6, 3], [3, 6, 7], [0, 4, 2], [2, 4, 6], [1, 3, 5], [3, 7, 5],
]  # fmt: skip
CORNERS = np.array([[(i & 1) * 2 - 1, (i >> 1 & 1) * 2 - 1, (i >> 2) * 2 - 1] for i in range(8)], dtype=float)


def rough(highest, share=1.0):
    """Random heights, of which this share stands out."""
    rng = np.random.default_rng(4)
    heights = np.where(rng.random((30, 30)) < share, rng.uniform(0.0, highest, (30, 30)), 0.0)
    return Shape.height_field(heights, (-0.75, -0.75), (0.05, 0.05))


def ridged(thick):
    """A closed mesh of random heights, so thick; open, without its sides and what is below, for None."""
    rng = np.random.default_rng(7)
    side = 14
    x, y = (p.ravel() for p in np.meshgrid(*2 * [np.linspace(-0.6, 0.6, side)]))
    top = np.column_stack([x, y, rng.uniform(0.0, 0.08, side * side)])
    faces = [
        t
        for k in range(side * side - side)
        if (k + 1) % side
        for t in ([k, k + 1, k + side + 1], [k, k + side + 1, k + side])
    ]
    if thick is None:
        return Shape.mesh(top, faces)
    n = len(top)
    rim = [*range(side), *range(2 * side - 1, n, side), *range(n - 2, n - side - 1, -1)]
    rim += range(n - 2 * side, 0, -side)
    walls = [
        t for a, b in zip(rim, rim[1:] + rim[:1], strict=True) for t in ([b, a, a + n], [b, a + n, b + n])
    ]
    under = [[a + n, c + n, b + n] for a, b, c in faces]
    return Shape.mesh(np.vstack([top, top * (1, 1, 0) - (0, 0, thick)]), [*faces, *under, *walls])


def wedge():
    """A hull with sharp edges."""
    points = np.array(
        [[0, 0, 0], [0.3, 0, 0], [0, 0.2, 0], [0.3, 0.25, 0], [0.1, 0.05, 0.15], [0.12, 0.1, 0.15]]
    )
    vertices, triangles = convex_hull(points)
    return Shape.hull(vertices, triangles.tolist())


GROUNDS = {
    "plane": Shape.plane,
    "box": lambda: Shape.box([0.2, 0.05, 0.1]),
    "blade": lambda: Shape.box([0.002, 0.3, 0.3]),
    "hull": wedge,
    "sphere": lambda: Shape.sphere(0.1),
    "cylinder": lambda: Shape.cylinder(0.05, 0.1),
    "capsule": lambda: Shape.capsule(0.02, 0.2),
    "cone": lambda: Shape.cone(0.05, 0.1),
    "ellipsoid": lambda: Shape.ellipsoid([0.05, 0.1, 0.15]),
    "rough terrain": lambda: rough(0.05),
    "spiked terrain": lambda: rough(0.15, 0.1),
    "closed mesh": lambda: ridged(0.15),
    "thin closed mesh": lambda: ridged(0.01),
    "cube": lambda: Shape.mesh(0.12 * CORNERS, CUBE),
    "open mesh": lambda: ridged(None),
}


@cache
def ground(name):
    return GROUNDS[name]()


def depths(poses, shape, reach=REACH):
    """Of slices of tread and rim: gap, gradient, place (poses, 2, slices, ...); which poses are refused."""
    still = np.tile([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], (len(poses), 1))
    table = _core.collide(TYRE, poses, shape, still, reach)
    gaps = np.full((len(poses), 2, SLICES), reach)
    acting, places = np.zeros((2, len(poses), 2, SLICES, 3))
    feature = table.features[:, 0]
    at = np.repeat(np.arange(len(poses)), np.diff(table.first)), (feature >= OF_RIM).astype(int)
    at = (*at, feature % OF_RIM)
    gaps[at] = table.points[:, 6]
    acting[at] = table.points[:, 3:6] + table.tilts
    places[at] = table.points[:, :3]
    return gaps, acting, places, np.isinf(table.uncertainty[:, 0])


def moved(position, turn, way, spin):
    """A pose (7,) displaced by a way and a turn about its own place."""
    w = (Rotation.from_rotvec(spin) * turn).as_quat()
    return np.array([*(position + way), w[3], *w[:3]])


def poses_near(rng, count):
    """Places and attitudes of a wheel that touches something about the origin with any part of it."""
    turns = Rotation.random(count, random_state=rng)
    upright = Rotation.from_euler("x", 0.5 * np.pi)
    for k in range(count):
        turn = (turns[k], upright, Rotation.from_euler("z", rng.uniform(0, 6)) * upright)[rng.integers(3)]
        angle = rng.uniform(0.0, 2.0 * np.pi)
        out = turn.apply([np.cos(angle), np.sin(angle), 0.0])
        touches = rng.uniform(-0.15, 0.15, 3) * (1.0, 1.0, 0.7) + (0.0, 0.0, 0.03)
        yield touches - rng.uniform(0.7, 1.05) * RIM_RADIUS * out, turn


@pytest.mark.parametrize("name", GROUNDS)
def test_depths_are_continuous(name):
    """Along ways of some 0.1 m and 0.2 rad, in steps: no slice gets deeper by more than its motion allows."""
    rng = np.random.default_rng(11)
    steps, refused, least = np.linspace(0.0, 1.0, 150), 0, 0.0
    for position, turn in poses_near(rng, 12):
        way, spin = rng.uniform(-0.1, 0.1, 3), rng.uniform(-0.2, 0.2, 3)
        path = np.array([moved(position, turn, s * way, s * spin) for s in steps])
        gaps, _, _, lost = depths(path, ground(name))
        deepest = np.maximum(0.0, -gaps.min())
        step = steps[1] * (np.linalg.norm(way) + np.linalg.norm(spin) * (RIM_RADIUS + deepest))
        jumps = np.abs(np.diff(gaps, axis=0)).max(axis=(1, 2))
        right = ~(lost[1:] | lost[:-1])
        refused += int(lost.any())
        least = min(least, gaps.min())
        assert jumps[right].max(initial=0.0) <= np.hypot(1.0, SLOPE) * step
    assert least < -0.5 * RIM_WIDTH
    assert refused == 0 or name == "open mesh"


@pytest.mark.parametrize("name", GROUNDS)
def test_forces_take_the_gradient_of_the_depth(name):
    """Where the differences on both sides agree, as they do but for kinks, they are the rate of the gap."""
    rng = np.random.default_rng(5)
    small, compared, kinks = 1e-6, 0, 0
    for position, turn in poses_near(rng, 60):
        way, spin = rng.normal(size=3), rng.normal(size=3) / RIM_RADIUS
        three = np.array([moved(position, turn, s * way, s * spin) for s in (-small, 0.0, small)])
        gaps, acting, places, lost = depths(three, ground(name))
        near = (gaps < 0.99 * REACH).all(axis=0)
        if lost.any() or not near.any():
            continue
        before, after = (np.diff(gaps, axis=0) / small)[:, near]
        velocity = way + np.cross(spin, places[1][near] - position)
        rate = np.sum(acting[1][near] * velocity, axis=1)
        smooth = np.abs(before - after) < 1e-3
        assert rate[smooth] == pytest.approx(0.5 * (before + after)[smooth], abs=1e-3)
        between = np.minimum(before, after) - 1e-3, np.maximum(before, after) + 1e-3
        assert np.all((rate >= between[0]) & (rate <= between[1]))
        compared, kinks = compared + len(rate), kinks + int(np.sum(~smooth))
    assert compared > 100
    assert kinks < 0.05 * compared


@pytest.fixture
def meshes():
    """The files of meshes go when a test ends."""
    yield
    forget_files()


@pytest.mark.parametrize("seed", GAINED)
def test_no_rim_gains_energy_on_wild_ground(seed, meshes):
    """Scenes in which tyres sampled by rays gave a tenth of the energy and more that is exchanged."""
    run = bc.simulate(wild(seed)[0], 1.0, output_step=0.002, tolerance=1e-5, ledger=True)
    balance, total = run.energy_balance(), run.energy.total
    given = np.max(np.maximum.accumulate(balance.lost["tyre"]) - balance.lost["tyre"])
    rise = np.max(total - np.minimum.accumulate(total))
    assert max(given, rise) < 0.01 * balance.exchanged


def dropped(shapes, lean, velocity=(0.0, 0.0, 0.0), height=0.2, **fields):
    """A free wheel above the ground, its axle turned from y towards z by an angle."""
    mech = bc.Mechanism("dropped")
    mech.replace(mech.ground, shapes=shapes)
    axle = np.array([0.0, np.cos(lean), np.sin(lean)])
    inertia = 0.2 * np.eye(3) + 0.2 * np.outer(axle, axle)
    wheel = mech.add_body(
        "wheel", mass=5.0, inertia=inertia.tolist(), position=(0.0, 0.0, height), velocity=velocity
    )
    tyre = bc.Tyre(**{"radius": RIM_RADIUS, "width": RIM_WIDTH, "pressure": 3e5, "friction": 0.0, **fields})
    mech.add_force("tyre", tyre, wheel.marker(axis=tuple(axle)), "ground")
    return mech


def test_a_wheel_that_lies_down_takes_no_more_steps_than_one_that_stands():
    steps = []
    for lean, low in ((0.5 * np.pi, 0.5 * RIM_WIDTH), (0.0, RIM_RADIUS)):
        mech = dropped([bc.Plane()], lean, height=low + 0.05, dissipation=0.0)
        run = bc.simulate(mech, 0.5, output_step=0.005, tolerance=1e-6)
        assert np.ptp(run.energy.total) < 0.01 * np.max(run.energy.kinetic)
        steps.append(run.statistics["steps"])
    assert steps[0] < 2 * steps[1]


def square(height, turned=False):
    """An open mesh of two triangles that face up, or down."""
    corners = 0.5 * CORNERS[:4] * (1.0, 1.0, 0.0) + (0.0, 0.0, height)
    triangles = [[0, 1, 3], [0, 3, 2]]
    return mesh_shape(corners, [t[::-1] for t in triangles] if turned else triangles)


@pytest.mark.parametrize("options", [{}, {"method": "rk4", "step": 1e-3}])
def test_the_back_of_an_open_mesh_is_refused_by_name(options, meshes):
    up = {"velocity": (0.0, 0.0, 3.0), "height": 0.4}
    closed = mesh_shape(0.5 * CORNERS * (1.0, 1.0, 0.01) + (0.0, 0.0, 0.8), CUBE)
    for shapes in ([square(0.8, turned=True)], [closed]):
        run = bc.simulate(dropped(shapes, 0.0, **up), 0.1, **options)
        assert run.body("wheel").velocity[-1, 2] < -1.0
    with pytest.raises(bc.SimulationError, match=r"force 'tyre' has no value .*open mesh.*close the mesh"):
        bc.simulate(dropped([square(0.8)], 0.0, **up), 0.1, **options)


def test_on_round_ground_the_load_is_that_of_a_narrower_torus():
    """A slice of a tyre is a ball there, on a circle that is smaller than the tyre by half its width."""
    flat, round_ = (
        force_at(free_wheel([shape], speed=0.0))[0][2]
        for shape in (bc.Plane(), bc.Sphere(radius=1e4, position=(0.0, 0.0, -1e4)))
    )
    assert round_ / flat == pytest.approx(np.sqrt(0.338 / 0.324), rel=0.01)
