"""Reduced solids in mechanisms: frequencies and statics of beams, rigid motion, energy, linear solutions."""

import numpy as np
import pytest
from rigs import solids

import bellcrank as bc

linalg = pytest.importorskip("scipy.linalg", reason="needs extra `solids`")

YOUNG, _, DENSITY = solids.STEEL
AREA, SECOND = np.pi * 1e-4, np.pi * 1e-8 / 4
FORMULATIONS = ("lagrange", "recursive", "symbolic", "dca")


@pytest.fixture(scope="module")
def bar():
    return bc.reduce(*solids.beam(40), {"left": [0], "right": [40]}, modes=6)


@pytest.fixture(scope="module")
def block():
    """With three interfaces, one of which has axes of its own, and one that averages."""
    K, M, nodes = solids.bricks((8, 3, 2))
    left, right = solids.ends(nodes)
    middle = np.nonzero((np.abs(nodes[:, 0] - 0.2) < 0.051) & (nodes[:, 2] > 0.029))[0]
    parts = {
        "left": left,
        "right": bc.Interface(right, rotation=bc.rotation("y", "35 deg")),
        "top": bc.Interface(middle, tie="average"),
    }
    return bc.reduce(K, M, nodes, parts, modes=5)


def with_solid(solid, gravity=(0, 0, -9.81), held=(), **options):
    mech = bc.Mechanism("solid", gravity=gravity)
    mech.add_flexible("solid", solid, **options)
    for name in held:
        mech.add_joint(f"wall {name}", bc.Fixed(), "ground", wall(mech, name))
    return mech


def wall(mech, name):
    """The interface, by a marker that lies where the world has its origin."""
    body = mech.bodies[f"solid/{name}"]
    turn = bc.Marker("ground", rotation=body.rotation)
    w, x, y, z = turn.rotation
    back = (w, -x, -y, -z)
    A = matrix(back)
    return body.marker(tuple((A @ -np.array(body.position)).tolist()), rotation=back)


def matrix(q):
    w, x, y, z = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("held", [(), ("left",), ("left", "right")])
def test_frequencies_are_those_of_the_matrices_and_of_beams(bar, formulation, held):
    mech = with_solid(bar, gravity=(0, 0, 0), held=held)
    modes = bc.linearize(mech, formulation=formulation).modes()
    found = np.sort([mode.frequency for mode in modes])[0 if held else 6 :]
    wanted = bar.frequencies(held)
    np.testing.assert_allclose(found[: len(wanted)][:10], wanted[:10], rtol=1e-7)
    root = 1.875104 if held == ("left",) else 4.730041
    unit = np.sqrt(YOUNG * SECOND / (DENSITY * AREA)) / (2 * np.pi)
    np.testing.assert_allclose(found[:2], root**2 * unit, rtol=1e-3)


@pytest.mark.parametrize("held", [(), ("top",), ("left", "right")])
def test_three_interfaces_with_axes_of_their_own(block, held):
    tilted = bc.rotation((1, 2, 3), "50 deg")
    mech = with_solid(block, gravity=(0, 0, 0), held=held, position=(1, 2, 3), rotation=tilted)
    found = np.sort([mode.frequency for mode in bc.linearize(mech).modes()])[0 if held else 6 :]
    wanted = block.frequencies(held)
    np.testing.assert_allclose(found[:8], wanted[:8], rtol=1e-6)


def test_one_interface_alone():
    rod = bc.reduce(*solids.beam(10), {"left": [0]}, modes=6)
    for held in ((), ("left",)):
        mech = with_solid(rod, gravity=(0, 0, 0), held=held)
        found = np.sort([mode.frequency for mode in bc.linearize(mech).modes()])[0 if held else 6 :]
        np.testing.assert_allclose(found[:6], rod.frequencies(held)[:6], rtol=1e-7)


def test_statics_are_exact(bar):
    mech = with_solid(bar, held=["left"])
    mech.add_force("load", bc.Wrench(force=(0, 20.0, 0)), "solid/right")
    rest = bc.statics(mech)
    right = list(mech.bodies).index("solid/right")
    sag, bent = DENSITY * AREA * 9.81 / (8 * YOUNG * SECOND), 20.0 / (3 * YOUNG * SECOND)
    np.testing.assert_allclose(rest.state.position[right, 1:], (bent, -sag), rtol=2e-5)
    weight = DENSITY * AREA * 9.81
    np.testing.assert_allclose(rest.joints["wall left"].force, (0, -20.0, weight), rtol=1e-6, atol=1e-6)
    twisted = with_solid(bar, gravity=(0, 0, 0), held=["left"])
    twisted.add_force("load", bc.Wrench(moment=(3.0, 0, 0)), "solid/right")
    twist = 3.0 / (2 * SECOND * YOUNG / 2.6)
    assert 2 * bc.statics(twisted).state.rotation[right, 1] == pytest.approx(twist, rel=1e-5)


def test_rigid_motion_is_exact(block):
    """Thrown and spinning about a principal axis: the centre flies a parabola, only spin strains."""
    spin = np.array([0.0, 0.0, 0.3])
    mech = with_solid(block, velocity=(1.0, 2.0, 3.0), angular_velocity=tuple(spin))
    for formulation in ("lagrange", "recursive"):
        run = bc.simulate(mech, 0.2, formulation=formulation, method="bdf", tolerance=1e-8)
        centre = np.zeros((len(run.time), 3))
        for name in ("solid", "solid/left", "solid/right", "solid/top"):
            body = mech.bodies[name]
            q = run.body(name).rotation
            arms = np.array([matrix(one) @ body.com for one in q])
            centre += body.mass * (run.body(name).position + arms)
        centre /= block.mass * (1 - 1e-15)
        t = run.time[:, None]
        wanted = block.centre + (np.array([1.0, 2.0, 3.0]) + np.cross(spin, block.centre)) * t
        wanted = wanted - np.array([0, 0, 0.5 * 9.81]) * t**2
        np.testing.assert_allclose(centre, wanted, atol=1e-7)
        turned = 2 * np.arctan2(run.body("solid").rotation[-1, 3], run.body("solid").rotation[-1, 0])
        assert turned == pytest.approx(0.06, abs=1e-6)
        strains = [abs(run.joint(name).position).max() for name in mech.joints]
        assert max(strains) < 1e-7


def test_energy_is_kept_and_runs_are_verified(bar):
    mech = with_solid(bar, held=["left"])
    run = bc.simulate(mech, 0.2, formulation="recursive", method="dopri5", step=None)
    report = bc.verify(mech, run=run)
    assert report.passed, report
    total = run.energy.total
    assert np.abs(total - total[0]).max() < 1e-6 * abs(run.energy.kinetic).max()


def test_damping(bar):
    mech = with_solid(bar, gravity=(0, 0, 0), damping_ratio=0.02, damping=1e-6)
    modes = [mode for mode in bc.linearize(mech).modes() if mode.frequency > 1.0]
    omega = 2 * np.pi * np.array([mode.frequency for mode in modes])
    wanted = 0.02 + 0.5e-6 * omega
    np.testing.assert_allclose([mode.damping for mode in modes][:6], wanted[:6], rtol=1e-2)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_blow_against_the_matrices(block, formulation):
    """A force at one interface, the other held: the linear equations of the matrices, by exponentials."""
    mech = with_solid(block, gravity=(0, 0, 0), held=["left"])
    mech.add_force("push", bc.Wrench(force=(0, 0, bc.Polynomial((0.0, 1e4)))), "solid/top")
    end = 0.004
    run = bc.simulate(mech, end, formulation=formulation, method="dopri5", tolerance=1e-10)
    free = np.r_[6 : len(block.mass_matrix)]
    K, M = (matrix[np.ix_(free, free)] for matrix in (block.stiffness_matrix, block.mass_matrix))
    load = np.zeros(len(free))
    load[8] = 1e4  # z of "top", N/s
    # q(t) of M q'' + K q = load t: load/K (t - sin(w t)/w) in modes.
    squares, shapes = linalg.eigh(K, M)
    omega = np.sqrt(squares)
    q = shapes @ ((shapes.T @ load) / squares * (end - np.sin(omega * end) / omega))
    top = np.array(run.body("solid/top").position[-1]) - block.positions[2]
    right = np.array(run.body("solid/right").position[-1]) - block.positions[1]
    size = np.abs(q[:9]).max()
    np.testing.assert_allclose(top, q[6:9], atol=1e-4 * size)
    np.testing.assert_allclose(right, q[:3], atol=1e-4 * size)


def test_pictures_show_the_solid_and_no_wheels(bar):
    mech = with_solid(bar, held=["left"])
    scene = bc.scene.of(mech)
    assert list(scene.joints) == ["wall left"]
    drawn = {name for name, pieces in scene.bodies.items() if pieces}
    assert drawn - {"ground"} == {"solid"}
    mech = with_solid(bar, shapes=bc.Box((1, 0.02, 0.02), position=(0.5, 0, 0)))
    assert [piece.role for piece in bc.scene.of(mech).bodies["solid"]] == ["shape"]
    assert mech.bodies["solid"].mass == pytest.approx(bar.mass, rel=0.01)


def test_files_hold_it(bar, tmp_path):
    mech = with_solid(bar, held=["left"], damping=1e-5)
    bc.save(mech, tmp_path / "bar.yaml")
    again = bc.load(tmp_path / "bar.yaml")
    ends = [bc.simulate(one, 0.01, method="bdf").body("solid/right").position[-1] for one in (mech, again)]
    np.testing.assert_allclose(*ends, atol=1e-12)


def test_what_is_refused_leaves_nothing(bar):
    mech = bc.Mechanism("refused")
    with pytest.raises(bc.MechanismError, match="a ReducedSolid is needed here"):
        mech.add_flexible("bar", 3.0)
    with pytest.raises(bc.MechanismError, match="damping must not be negative"):
        mech.add_flexible("bar", bar, damping=-1.0)
    with pytest.raises(bc.MechanismError, match="one interface and no modes"):
        mech.add_flexible("bar", bc.reduce(*solids.beam(4), {"left": [0]}, modes=0))
    mech.add_body("bar/right", 1.0, (1, 1, 1))
    with pytest.raises(bc.MechanismError, match="this name is taken"):
        mech.add_flexible("bar", bar)
    assert list(mech.bodies) == ["bar/right"]
    assert [len(table) for table in (mech.joints, mech.forces, mech.constraints)] == [0, 0, 0]
    other = bc.Mechanism("other")
    other.add_flexible("bar", bar)
    assert bc.info(other).hints == ()
    assert bc.info(other).mass == pytest.approx(bar.mass, rel=2e-5)
