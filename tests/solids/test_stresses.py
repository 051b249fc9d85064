"""Stresses inside flexible solids: closed forms, full models by scikit-fem, runs, files, pictures."""

from pathlib import Path

import numpy as np
import pytest
from rigs import solids

import bellcrank as bc
from bellcrank.solids import meshes
from bellcrank.solids.flexible import matrices

skfem = pytest.importorskip("skfem", reason="needs extra `solids`")
pytest.importorskip("meshio", reason="needs extra `solids`")
linalg = pytest.importorskip("scipy.sparse.linalg", reason="needs extra `solids`")

YOUNG, POISSON = 2.1e11, 0.3
STEEL = (YOUNG, POISSON, 7850.0)
SIZES = np.array([0.4, 0.05, 0.03])
LEFT, RIGHT = np.array([0.0, 0.025, 0.015]), np.array([0.4, 0.025, 0.015])
ENDS = {"left": bc.OnPlane((0, 0, 0), "x"), "right": bc.OnPlane((0.4, 0, 0), "x")}
LOAD = np.array([1000.0, 50.0, -200.0])


@pytest.fixture(scope="module")
def bar():
    return bc.flexible(solids.block((16, 3, 2)), STEEL, ENDS, modes=2, stresses="all")


def held(solid, load=LOAD, moment=(0.0, 0.0, 0.0), **options):
    """Clamped at the left, loaded at the right."""
    mech = bc.Mechanism("held", gravity=(0, 0, 0))
    ends = mech.add_flexible("bar", solid, **options).interfaces
    mech.add_joint("clamp", bc.Fixed(), mech.ground.marker(tuple(LEFT)), ends["left"])
    mech.add_force("load", bc.Wrench(force=tuple(load), moment=moment), ends["right"])
    return mech


def full_stresses(mesh, load):
    """Nodal means of a full static solution, by scikit-fem's own interpolation."""
    K, _ = matrices("bar", mesh, *STEEL)
    points = mesh.points
    left, right = (np.nonzero(np.isclose(points[:, 0], x))[0] for x in (0.0, 0.4))
    ties = np.zeros((3 * len(points), 6))
    for node in right:
        x, y, z = points[node] - RIGHT
        ties[3 * node : 3 * node + 3, :3] = np.eye(3)
        ties[3 * node : 3 * node + 3, 3:] = [[0, z, -y], [-z, 0, x], [y, -x, 0]]
    fixed = np.union1d(left, right)
    free = np.setdiff1d(np.arange(3 * len(points)), (3 * fixed[:, None] + np.arange(3)).ravel())
    inner = linalg.splu(K[free][:, free].tocsc())
    shapes = np.array(ties)
    shapes[free] = -inner.solve((K @ ties)[free])
    moved = shapes @ np.linalg.solve(shapes.T @ (K @ shapes), [*load, 0, 0, 0])
    grid, kind = skfem.MeshTet2(points.T, mesh.cells.T), skfem.ElementTetP2()
    basis = skfem.Basis(grid, skfem.ElementVector(kind), quadrature=(kind.doflocs.T, np.ones(10)))
    ordered = np.empty(basis.N)
    ordered[basis.dofs.element_dofs] = moved[
        (3 * mesh.cells.T[:, None] + np.arange(3)[None, :, None]).reshape(30, -1)
    ]
    slope = np.asarray(basis.interpolate(ordered).grad)
    strain = 0.5 * (slope + slope.transpose(1, 0, 2, 3))
    lame, shear = YOUNG * POISSON / ((1 + POISSON) * (1 - 2 * POISSON)), YOUNG / (2 * (1 + POISSON))
    stress = 2 * shear * strain + lame * np.eye(3)[:, :, None, None] * np.trace(strain)
    total, shares = np.zeros((len(points), 3, 3)), np.zeros(len(points))
    np.add.at(total, mesh.cells, stress.transpose(2, 3, 0, 1))
    np.add.at(shares, mesh.cells, 1.0)
    total /= shares[:, None, None]
    return np.stack([total[:, i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0))], axis=1)


def test_static_loads_as_the_full_model(bar):
    mesh = meshes.of_arrays("bar", *solids.block((16, 3, 2)))
    expected = full_stresses(mesh, LOAD)
    # so small that the load does not bend the bar by its own arm
    found = bc.statics(held(bar, 1e-5 * LOAD)).flexible("bar", bar)
    np.testing.assert_allclose(found.points, mesh.points)
    assert np.abs(1e5 * found.stress()[0] - expected).max() < 1e-6 * np.abs(expected).max()


def test_bending_and_tension_against_closed_forms(bar):
    found = bc.statics(held(bar, (0, 0, -200.0))).flexible("bar", bar)
    node = found.near((0.2, 0.025, 0.03))
    bent = 200.0 * 0.2 * 0.015 / (0.05 * 0.03**3 / 12)
    assert found.points[node] == pytest.approx([0.2, 0.025, 0.03])
    assert found.stress([node])[0, 0, 0] == pytest.approx(bent, rel=0.02)
    assert found.von_mises([node])[0, 0] == pytest.approx(bent, rel=0.02)
    pulled = bc.statics(held(bar, (3000.0, 0, 0))).flexible("bar", bar)
    np.testing.assert_allclose(
        pulled.stress([node])[0, 0], [3000.0 / 0.0015, 0, 0, 0, 0, 0], atol=2e-3 * 3000.0 / 0.0015
    )


def test_rigid_motion_strains_nothing(bar):
    mech = bc.Mechanism("flies")
    mech.add_flexible("bar", bar, velocity=(1, 2, 3), rotation=bc.rotation("z", "40 deg"))
    found = bc.simulate(mech, 0.1, method="bdf", tolerance=1e-8).flexible("bar", bar)
    assert found.envelope().max() < 1.0


def test_the_largest_over_a_run_and_of_a_file(bar, tmp_path):
    mech = held(bar, 0.01 * LOAD, damping_ratio=0.02)
    run = bc.simulate(mech, 0.02, method="bdf", tolerance=1e-7)
    found = run.flexible("bar", bar)
    worst, every = found.worst(), found.von_mises()
    assert every.shape == (len(run.time), len(bar.stresses.points))
    assert worst.value == pytest.approx(every.max(), rel=1e-12)
    frame = int(np.argmax(every.max(axis=1)))
    assert (worst.time, worst.node) == (run.time[frame], int(np.argmax(every[frame])))
    np.testing.assert_allclose(found.envelope(), every.max(axis=0), rtol=1e-12)
    rest = bc.statics(mech).flexible("bar", bar).worst().value
    assert 1.3 * rest < worst.value < 2.2 * rest  # a load that comes at once
    bar.save(tmp_path / "bar.npz")
    run.save(tmp_path / "run.h5")
    again = bc.Trajectory.load(tmp_path / "run.h5").flexible("bar", tmp_path / "bar.npz")
    np.testing.assert_array_equal(again.envelope(), found.envelope())


def test_chosen_nodes(bar):
    where = bc.InBox((0.1, 0, 0.029), (0.2, 0.05, 0.031))
    part = bc.flexible(solids.block((16, 3, 2)), STEEL, ENDS, modes=2, stresses=where)
    assert 0 < len(part.stresses.points) < 100
    whole, some = (bc.statics(held(one, 1e-3 * LOAD)).flexible("bar", one) for one in (bar, part))
    nodes = [whole.near(point) for point in some.points]
    np.testing.assert_allclose(some.stress()[0], whole.stress(nodes)[0], rtol=1e-5, atol=1e-2)
    assert len(part.stresses.faces) > 0
    numbered = bc.flexible(solids.block((4, 1, 1)), STEEL, ENDS, modes=0, stresses=[0, 3])
    assert len(numbered.stresses.points) == 2


def test_a_picture(bar, tmp_path):
    surface = bc.flexible(solids.block((16, 3, 2)), STEEL, ENDS, modes=2, stresses="surface")
    found = bc.statics(held(surface)).flexible("bar", surface)
    found.draw(tmp_path / "bar.png")
    assert (tmp_path / "bar.png").stat().st_size > 10_000
    assert Path(tmp_path / "bar.png").read_bytes()[:4] == b"\x89PNG"
    titles = [axes.get_title() for axes in found.draw(tmp_path / "b.png", time=0.0).axes]
    assert "von Mises stress, at 0 s" in titles


def test_faults(bar, tmp_path):
    rest = bc.statics(held(bar, 0.001 * LOAD))
    plain = bc.flexible(solids.block((4, 1, 1)), STEEL, ENDS, modes=0)
    with pytest.raises(bc.MechanismError, match='no stresses were kept of it; give stresses="surface"'):
        rest.flexible("bar", plain)
    other = bc.flexible(solids.block((4, 1, 1)), STEEL, ENDS, modes=2, stresses="all")
    with pytest.raises(bc.MechanismError, match="the mechanism has another solid of this name"):
        rest.flexible("bar", other)
    with pytest.raises(bc.MechanismError, match="there is no flexible solid of this name, got 'bra'"):
        rest.flexible("bra", bar)
    with pytest.raises(bc.MechanismError, match="as given to add_flexible"):
        rest.flexible("bar", 3)
    with pytest.raises(bc.MechanismError, match="nodes must be places among its"):
        rest.flexible("bar", bar).stress([99999])
    with pytest.raises(bc.MechanismError, match='stresses must be "surface", "all", a selection, or numbers'):
        bc.flexible(solids.block((4, 1, 1)), STEEL, ENDS, stresses="inside")
    with pytest.raises(bc.MechanismError, match="no node lies where stresses are wanted"):
        bc.flexible(solids.block((4, 1, 1)), STEEL, ENDS, stresses=bc.OnPlane((9, 0, 0), "x"))
