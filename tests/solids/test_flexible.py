"""Flexible solids from shapes: drawings, surfaces, meshes, arrays; against closed forms and full models."""

import importlib
import signal
import warnings
from pathlib import Path

import numpy as np
import pytest
from rigs import solids

import bellcrank as bc
from bellcrank import extras
from bellcrank.solids import flexible as assembled
from bellcrank.solids import meshes

pytest.importorskip("skfem", reason="needs extra `solids`")
meshio = pytest.importorskip("meshio", reason="needs extra `solids`")
linalg = pytest.importorskip("scipy.sparse.linalg", reason="needs extra `solids`")

STEEL = ("210 GPa", 0.3, "7850 kg/m^3")
SIZES = np.array([0.4, 0.05, 0.03])


ENDS = {"left": bc.OnPlane((0, 0, 0), "x"), "right": bc.OnPlane((SIZES[0], 0, 0), (1, 0, 0))}


def test_a_block_against_beams_and_bars():
    bar = bc.flexible(solids.block((16, 3, 3)), STEEL, ENDS, modes=10)
    area = SIZES[1] * SIZES[2]
    assert bar.mass == pytest.approx(7850 * SIZES.prod(), rel=1e-10)
    np.testing.assert_allclose(bar.centre, SIZES / 2, atol=1e-10)
    a, b, c = SIZES**2
    exact = bar.mass / 12 * np.array([b + c, a + c, a + b])
    np.testing.assert_allclose(np.diag(bar.inertia), exact, rtol=1e-10)
    # Ends that cannot shrink across stiffen it by little.
    K = bar.stiffness_matrix[6:12, 6:12]
    load = np.linalg.solve(K, [1.0, 0, 0, 0, 0, 0])[0]
    assert load == pytest.approx(SIZES[0] / (2.1e11 * area), rel=0.015)
    second, length, shear = SIZES[1] * SIZES[2] ** 3 / 12, SIZES[0], 2.1e11 / 2.6 * area * 5 / 6
    bent = np.linalg.solve(K, [0, 0, 1.0, 0, 0, 0])[2]
    assert bent == pytest.approx(
        length**3 / (3 * 2.1e11 * second) + length / shear, rel=0.02
    )  # ends held across
    lowest = 1.875104**2 * np.sqrt(2.1e11 * second / (7850 * area * length**4)) / (2 * np.pi)
    assert bar.frequencies(["left"])[0] == pytest.approx(lowest, rel=0.015)


def test_frequencies_are_those_of_the_full_model():
    mesh = meshes.of_arrays("block", *solids.block())
    K, M = assembled.matrices("block", mesh, 2.1e11, 0.3, 7850.0)
    parts = {name: bc.Interface(at, tie="average") for name, at in ENDS.items()}
    reduced = bc.flexible(solids.block(), STEEL, parts, modes=60)
    squares = linalg.eigsh(K + 1e6 * M, 12, M=M, sigma=0.0, return_eigenvectors=False) - 1e6
    free = np.sqrt(np.sort(squares)[6:11]) / (2 * np.pi)
    np.testing.assert_allclose(reduced.frequencies()[:5], free, rtol=1e-3)
    held = np.nonzero(mesh.points[:, 0] < 1e-9)[0]
    left = np.setdiff1d(np.arange(K.shape[0]), np.ravel(3 * held[:, None] + np.arange(3)))
    squares = linalg.eigsh(K[left][:, left], 5, M=M[left][:, left], sigma=0.0, return_eigenvectors=False)
    parts["left"] = ENDS["left"]
    reduced = bc.flexible(solids.block(), STEEL, parts, modes=60)
    wanted = np.sqrt(np.sort(squares)) / (2 * np.pi)
    np.testing.assert_allclose(reduced.frequencies(["left"])[:5], wanted, rtol=1e-3)


def test_a_solid_of_bricks_agrees():
    """Against bricks of eight nodes, assembled by formulas of their own: both converge to one solid."""
    tetrahedra = bc.flexible(solids.block((16, 3, 3)), STEEL, ENDS, modes=10).frequencies()[:4]
    found = []
    for counts in ((16, 2, 2), (32, 4, 4)):
        K, M, nodes = solids.bricks(counts, SIZES)
        left, right = solids.ends(nodes)
        found.append(bc.reduce(K, M, nodes, {"left": left, "right": right}, modes=10).frequencies()[:4])
    extrapolated = found[1] + (found[1] - found[0]) / 3
    np.testing.assert_allclose(tetrahedra, extrapolated, rtol=6e-3)


@pytest.mark.parametrize("suffix", [".msh", ".vtu", ".inp"])
def test_mesh_files_in_millimetres(tmp_path, suffix):
    points, cells = solids.block((4, 1, 1))
    mesh = meshio.Mesh(1e3 * points, [("tetra", cells[:, [0, 2, 1, 3]])])  # the other way round as well
    left = np.nonzero(points[:, 0] < 1e-9)[0]
    if suffix == ".inp":
        mesh.point_sets = {"LEFT": left}
    mesh.write(tmp_path / f"block{suffix}", **({"file_format": "gmsh"} if suffix == ".msh" else {}))
    parts = dict(ENDS)
    if suffix == ".inp":
        parts["left"] = "LEFT"
    one = bc.flexible(str(tmp_path / f"block{suffix}"), STEEL, parts, unit="mm", modes=2)
    two = bc.flexible((points, cells), STEEL, ENDS, modes=2)
    assert one.mass == pytest.approx(two.mass, rel=1e-9)
    np.testing.assert_allclose(one.positions[1], two.positions[1], atol=1e-9)
    if suffix != ".inp":
        np.testing.assert_allclose(one.frequencies(), two.frequencies(), rtol=1e-6)


def test_named_surfaces_of_gmsh(tmp_path):
    """A file of version 4.1 as gmsh documents it, written by hand: one tetrahedron and its named base."""
    (tmp_path / "one.msh").write_text(
        """$MeshFormat
4.1 0 8
$EndMeshFormat
$PhysicalNames
2
2 7 "base"
3 8 "all"
$EndPhysicalNames
$Entities
0 0 1 1
1 0 0 0 1 1 0 1 7 0
1 0 0 0 1 1 1 1 8 0
$EndEntities
$Nodes
1 4 1 4
3 1 0 4
1
2
3
4
0 0 0
1 0 0
0 1 0
0 0 1
$EndNodes
$Elements
2 2 1 2
2 1 2 1
1 1 2 3
3 1 4 1
2 1 2 3 4
$EndElements
"""
    )
    parts = {"base": "base", "slope": bc.OnPlane((1, 0, 0), (1, 1, 1))}
    rock = bc.flexible(tmp_path / "one.msh", ("70 GPa", 0.3, 2700), {"base": "base"}, modes=0, unit="m")
    assert rock.mass == pytest.approx(450.0)
    np.testing.assert_allclose(rock.positions, [[1 / 3, 1 / 3, 0]], atol=1e-12)
    with pytest.raises(bc.MechanismError, match="interfaces share nodes"):
        bc.flexible(tmp_path / "one.msh", ("70 GPa", 0.3, 2700), parts, modes=0, unit="m")
    with pytest.raises(bc.MechanismError, match="no surface of this name"):
        bc.flexible(tmp_path / "one.msh", ("70 GPa", 0.3, 2700), {"foot": "bas"}, unit="m")


@pytest.fixture(scope="module")
def bracket(tmp_path_factory):
    """A plate of 100 x 60 x 10 mm with two bores, as a drawing and as a surface."""
    gmsh = pytest.importorskip("gmsh", reason="needs extra `solids`", exc_type=(ImportError, OSError))
    folder = tmp_path_factory.mktemp("bracket")
    with meshes.signals_kept():
        gmsh.initialize(readConfigFiles=False, interruptible=False)
    try:
        gmsh.option.setNumber("General.Terminal", 0)
        plate = gmsh.model.occ.addBox(0, 0, 0, 100, 60, 10)
        bores = [gmsh.model.occ.addCylinder(x, 30, -1, 0, 0, 12, 8) for x in (20, 80)]
        gmsh.model.occ.cut([(3, plate)], [(3, bore) for bore in bores])
        gmsh.model.occ.synchronize()
        gmsh.write(str(folder / "plate.step"))
        gmsh.option.setNumber("Mesh.MeshSizeMax", 8)
        gmsh.option.setNumber("Mesh.MeshSizeFromCurvature", 24)
        gmsh.model.mesh.generate(2)
        gmsh.write(str(folder / "plate.stl"))
    finally:
        gmsh.finalize()
    return folder


def bores(**tolerance):
    return {
        name: bc.OnCylinder((x, "30 mm", 0), "z", "8 mm", **tolerance)
        for name, x in (("left", "20 mm"), ("right", "80 mm"))
    }


def test_drawings_and_surfaces_are_meshed(bracket):
    plate = bc.flexible(bracket / "plate.step", STEEL, bores(), size="8 mm")
    volume = (100 * 60 - 2 * np.pi * 64) * 10 * 1e-9
    assert plate.mass == pytest.approx(7850 * volume, rel=1e-4)  # curved elements
    np.testing.assert_allclose(plate.positions, [(0.02, 0.03, 0.005), (0.08, 0.03, 0.005)], atol=1e-9)
    finer = bc.flexible(bracket / "plate.step", STEEL, bores(), size="6 mm")
    np.testing.assert_allclose(plate.frequencies()[:3], finer.frequencies()[:3], rtol=0.01)
    surface = bc.flexible(bracket / "plate.stl", STEEL, bores(tolerance="0.3 mm"), size="8 mm", unit="mm")
    assert surface.mass == pytest.approx(7850 * volume, rel=0.02)  # flat facets
    np.testing.assert_allclose(plate.frequencies()[:3], surface.frequencies()[:3], rtol=0.05)


def test_files_that_cannot_be_meshed_are_refused(bracket, tmp_path):
    (tmp_path / "empty.step").write_text("no drawing")
    with pytest.raises(bc.MechanismError, match=r"cannot be meshed|no closed volume"):
        bc.flexible(tmp_path / "empty.step", STEEL, bores())
    with pytest.raises(bc.MechanismError, match="a drawing has its own unit"):
        bc.flexible(bracket / "plate.step", STEEL, bores(), unit="mm")
    with pytest.raises(bc.MechanismError, match="no face of the surface lies there"):
        bc.flexible(bracket / "plate.step", STEEL, {"hub": bc.OnSphere((1, 1, 1), 0.1)}, size="20 mm")


def test_what_is_wrong_is_said(tmp_path):
    points, cells = solids.block((2, 1, 1))
    cases = [
        (((points, cells), (2.1e11, 0.3), ENDS), "material must be modulus"),
        (((points, cells), (-2.1e11, 0.3, 7850), ENDS), "modulus must be greater than zero"),
        (((points, cells), (2.1e11, 0.5, 7850), ENDS), "ratio must lie between"),
        (((points, cells), STEEL, {}), "interfaces must be given by name"),
        (((points, cells[:, :3]), STEEL, ENDS), "4 or 10 for each tetrahedron"),
        (((points, cells + 100), STEEL, ENDS), "cells must be numbers of points"),
        (((points * [1, 1, 0], cells), STEEL, ENDS), "are flat"),
        ((tmp_path / "none.msh", STEEL, ENDS), "there is no such file"),
    ]
    for arguments, rule in cases:
        with pytest.raises(bc.MechanismError, match=rule):
            bc.flexible(*arguments)
    (tmp_path / "bad.msh").write_text("nothing")
    with pytest.raises(bc.MechanismError, match="do not tell their unit"):
        bc.flexible(tmp_path / "bad.msh", STEEL, ENDS)
    with pytest.raises(bc.MechanismError, match="cannot be read as a mesh"):
        bc.flexible(tmp_path / "bad.msh", STEEL, ENDS, unit="mm")
    meshio.Mesh(np.eye(3), [("triangle", np.array([[0, 1, 2]]))]).write(tmp_path / "shell.vtu")
    with pytest.raises(bc.MechanismError, match="no tetrahedra"):
        bc.flexible(tmp_path / "shell.vtu", STEEL, ENDS, unit="m")
    brick = np.array([[i, j, k] for k in (0, 1) for i, j in ((0, 0), (1, 0), (1, 1), (0, 1))], dtype=float)
    meshio.Mesh(brick, [("hexahedron", np.arange(8)[None])]).write(tmp_path / "brick.vtu")
    with pytest.raises(bc.MechanismError, match="only tetrahedra are taken"):
        bc.flexible(tmp_path / "brick.vtu", STEEL, ENDS, unit="m")


@pytest.mark.parametrize("library", ["skfem", "scipy", "meshio"])
def test_what_is_not_installed_is_named(library, monkeypatch, tmp_path):
    def missing(module):
        if module.startswith(library):
            raise ModuleNotFoundError(module)
        return importlib.import_module(module)

    monkeypatch.setattr(extras, "import_module", missing)
    points, cells = solids.block((1, 1, 1))
    meshio.Mesh(points, [("tetra", cells)]).write(tmp_path / "a.vtu")
    with pytest.raises(bc.Unsupported, match=rf"needs {library}: pip install 'bellcrank\[solids\]'"):
        bc.flexible(tmp_path / "a.vtu", STEEL, ENDS, unit="m")


def test_selections():
    points = np.array([(0.01, 0, 0), (0, 0.01, 0.2), (0, 0.02, 0), (0.006, 0.008, -0.1)])
    near = bc.OnCylinder((0, 0, 0), "z", 0.01).near(points)
    assert near.tolist() == [True, True, False, True]
    assert bc.OnCylinder((0, 0, 0), "z", 0.01, length=0.25).near(points).tolist() == [
        True,
        False,
        False,
        True,
    ]
    np.testing.assert_allclose(bc.OnCylinder((1, 0, 0), "x", 1).middle(points), (0.005, 0, 0))
    assert bc.OnPlane((0, 0, 0), "z").near(points).tolist() == [True, False, True, False]
    assert bc.InBox((0, 0, 0), (1, 0.01, 1)).near(points).tolist() == [True, True, False, False]
    assert bc.OnSphere((0, 0, 0), 0.02, "11 mm").near(points).tolist() == [True, False, True, False]
    with pytest.raises(bc.MechanismError, match="low must not lie above high"):
        bc.InBox((1, 0, 0), (0, 1, 1))
    K, M, nodes = solids.bricks((4, 1, 1), SIZES)
    one = bc.reduce(K, M, nodes, ENDS, modes=2)
    two = bc.reduce(K, M, nodes, dict(zip(ENDS, solids.ends(nodes), strict=True)), modes=2)
    np.testing.assert_allclose(one.stiffness_matrix, two.stiffness_matrix)
    with pytest.raises(bc.MechanismError, match="no node lies there"):
        bc.reduce(K, M, nodes, {"hub": bc.OnPlane((9, 0, 0), "x")})
    with pytest.raises(bc.MechanismError, match=r"is for bc\.flexible"):
        bc.reduce(K, M, nodes, {"hub": "hub"})


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_meshing_leaves_signals_as_they_are():
    """gmsh by itself lets SIGPIPE end the process, and drops the handlers of faults."""
    pytest.importorskip("gmsh", reason="needs extra `solids`", exc_type=(ImportError, OSError))

    def told():
        lines = Path("/proc/self/status").read_text("ascii").splitlines()
        return [
            int(line.split()[1], 16) & 0xFFFFFFFF for line in lines if line.startswith(("SigIgn", "SigCgt"))
        ]

    before = told()
    with meshes._gmsh("a solid") as gmsh:
        gmsh.model.occ.addBox(0, 0, 0, 1, 1, 1)
        gmsh.model.occ.synchronize()
        assert told() == before
    assert told() == before


def test_handlers_of_python_are_put_back():
    """gmsh.initialize() takes Ctrl-C from Python, and gmsh.finalize() does not give it back."""
    before = signal.getsignal(signal.SIGINT)
    with meshes.signals_kept():
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    assert signal.getsignal(signal.SIGINT) is before is not signal.SIG_DFL


@pytest.mark.parametrize("off", [0.0, 0.02])
def test_a_solid_that_assembly_strains_is_pointed_out(off):
    """One end is held where it is, the other aside of it."""
    mech = bc.Mechanism("bar", gravity=(0, 0, 0))
    K, M, nodes = solids.beam(20)
    solid = bc.reduce(K, M, nodes, {"a": [0], "b": [20]}, modes=2)
    ends = mech.add_flexible("bar", solid, damping=5e-4).interfaces
    mech.add_joint("one", bc.Fixed(), "ground", ends["a"])
    mech.add_joint("two", bc.Fixed(), mech.ground.marker((1.0, 0, off)), ends["b"])
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        hints = bc.simulate(mech, 1e-3, method="bdf").statistics.get("hints", "")
    assert ("flexible solid 'bar': as described its joints did not fit" in hints) == (off > 0.0)
