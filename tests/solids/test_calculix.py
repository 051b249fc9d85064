"""Matrices that CalculiX 2.20 has stored of two tetrahedra (calculix/rock.inp), and what is refused."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.solids import flexible, meshes
from bellcrank.solids.reduced import rigid_motion

pytest.importorskip("scipy", reason="needs extra `solids`")

ROCK = Path(__file__).with_name("calculix") / "rock"
POINTS = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1)]) * 0.1
CELLS = np.array([(0, 1, 2, 3), (1, 2, 3, 4)])


@pytest.fixture
def rock(tmp_path):
    for path in ROCK.parent.iterdir():
        shutil.copy(path, tmp_path)
    return tmp_path / "rock"


@pytest.mark.parametrize("name", ["rock", "rock.inp", "rock.sti"])
def test_matrices_are_those_that_are_assembled_here(name):
    pytest.importorskip("skfem", reason="needs extra `solids`")
    model = bc.read_calculix(ROCK.with_name(name))
    mesh = meshes.of_arrays("rock", POINTS, CELLS)
    K, M = flexible.matrices("rock", mesh, 7e10, 0.3, 2700.0)
    # In mm, t, N: nodes in the order of CalculiX are those of the mesh.
    np.testing.assert_allclose(model.nodes, 1e3 * mesh.points, atol=1e-9)
    np.testing.assert_allclose(
        1e3 * model.stiffness.toarray(), K.toarray(), rtol=1e-6, atol=1e-9 * abs(K).max()
    )
    # Its masses are integrated by four points, which is exact for rigid motion alone.
    R = rigid_motion(mesh.points).reshape(-1, 6, 6)[:, :3].reshape(-1, 6)
    rigid = R.T @ M @ R
    np.testing.assert_allclose(1e3 * R.T @ (model.mass @ R), rigid, rtol=1e-6, atol=1e-9 * abs(rigid).max())
    assert model.sets["FOOT"].tolist() == [0, 1, 2, 5, 6, 8]
    assert model.sets["FIRST"].tolist() == [0, 1, 2, 3]
    assert model.sets["NALL"].tolist() == list(range(14))


def test_a_solid_from_them():
    model = bc.read_calculix(ROCK)
    parts = {"foot": model.sets["FOOT"], "side": bc.OnPlane(("100 mm", 0, 0), (1, 1, 1))}
    with pytest.raises(bc.MechanismError, match="interfaces share nodes"):
        bc.reduce(*model.matrices, parts, units=("mm", "t"))
    rock = bc.reduce(*model.matrices, {"foot": model.sets["FOOT"]}, modes=5, units=("mm", "t"))
    assert rock.mass == pytest.approx(2700 * (1 / 6 + 1 / 3) * 1e-3, rel=1e-6)
    assert rock.frequencies("foot")[0] > 1e3


def test_files_that_do_not_belong_together_are_refused(rock):
    def fails(kind, change, rule):
        path = rock.with_name("rock" + kind)
        text = path.read_text()
        path.write_text(change(text))
        with pytest.raises(bc.MechanismError, match=rule):
            bc.read_calculix(rock)
        path.write_text(text)

    fails(".dof", lambda text: text[5:], "not x, y, z of each")  # a support
    fails(".dof", lambda text: "none", r"must be node\.direction")
    fails(".dof", lambda text: "", "it is empty")
    fails(".sti", lambda text: text + "43 43 1.0\n", "its rows must be 1 to 42")
    fails(".sti", lambda text: text + "2 1 1.0\n", "one triangle of a symmetric matrix")
    fails(".mas", lambda text: "1 2\n", "must be row, column, value")
    fails(
        ".inp",
        lambda text: text.replace("41, 100, 50, 50\n", ""),
        r"lacks nodes that the matrices have, got \[41\]",
    )
    fails(".inp", lambda text: text.replace("41, 100,", "41, x,"), r"a line after \*NODE cannot be read")
    fails(".inp", lambda text: "*INCLUDE, INPUT=rock.inp\n", "include each other too deep")
    rock.with_name("rock.mas").unlink()
    with pytest.raises(bc.MechanismError, match="there is no such file"):
        bc.read_calculix(rock)


def test_included_files(rock):
    path = rock.with_name("rock.inp")
    lines = path.read_text().splitlines(keepends=True)
    rock.with_name("nodes.inc").write_text("".join(lines[1:16]))
    path.write_text(f'{lines[0]}*INCLUDE, INPUT="nodes.inc"\n' + "".join(lines[16:]))
    np.testing.assert_array_equal(bc.read_calculix(rock).nodes, bc.read_calculix(ROCK).nodes)


@pytest.mark.skipif(shutil.which("ccx") is None, reason="this system has no CalculiX (ccx)")
def test_calculix_writes_them_so(rock):
    for kind in (".sti", ".mas", ".dof"):
        rock.with_name("rock" + kind).unlink()
    subprocess.run(["ccx", "rock"], cwd=rock.parent, check=True, capture_output=True)
    found, kept = bc.read_calculix(rock), bc.read_calculix(ROCK)
    np.testing.assert_allclose(found.stiffness.toarray(), kept.stiffness.toarray(), rtol=1e-9, atol=1e-4)
