"""Mesh files as bodies: masses against closed forms, what is assumed or refused, and the commands."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import bellcrank as bc
from bellcrank.cli.main import bellcrank
from bellcrank.io import meshes

trimesh = pytest.importorskip("trimesh")
SIDES = np.array([0.1, 0.2, 0.3])


def tetrahedron():
    return trimesh.Trimesh(
        np.vstack([np.zeros(3), np.diag(SIDES)]), [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
    )


def written(folder, suffix, mesh=None, name="part of a robot"):
    path = folder / f"{name}{suffix}"
    content = (tetrahedron() if mesh is None else mesh).export(file_type=suffix[1:])
    files = content if isinstance(content, dict) else {path.name: content}  # glTF has others beside it
    for file, data in files.items():
        target = path if file == "model.gltf" else folder / file
        target.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


@pytest.mark.parametrize("suffix", meshes.SUFFIXES)
def test_a_mesh_is_a_body_with_the_mass_of_its_solid(tmp_path, suffix):
    """Of a right-angled tetrahedron: V = abc/6, com = (a, b, c)/4, ∫ρx² = m a²/10, ∫ρxy = m ab/20."""
    mech = bc.load(written(tmp_path, suffix), density=7850.0, scale=2.0)
    (body,) = mech.bodies.values()
    sides = 2.0 * SIDES
    mass = 7850.0 * sides.prod() / 6.0
    second = mass * (np.outer(sides, sides) + np.diag(sides**2)) / 20.0 - mass * np.outer(sides, sides) / 16.0
    inertia = np.trace(second) * np.eye(3) - second
    assert (mech.name, body.name, mech.left_out) == ("part of a robot", "part of a robot", ())
    assert body.mass == pytest.approx(mass, rel=1e-6)
    np.testing.assert_allclose(body.com, sides / 4.0, rtol=1e-6)
    np.testing.assert_allclose(body.inertia, inertia, rtol=1e-5, atol=1e-6 * inertia.max())
    assert body.shapes[0].file == str(tmp_path / f"part of a robot{suffix}")


def test_units_and_scales(tmp_path):
    path = written(tmp_path, ".stl")
    assert bc.load(path, density="7.85 g/cm^3").bodies["part of a robot"].mass == pytest.approx(7.85)
    stretched = bc.load(path, density=1.0, scale=(1.0, 2.0, 3.0)).bodies["part of a robot"]
    assert stretched.mass == pytest.approx(6e-3)
    for given in ({"density": 0.0}, {"density": -1.0}, {"scale": 0.0}, {"scale": (1.0, -1.0, 1.0)}):
        with pytest.raises(bc.MechanismError, match="greater than zero"):
            bc.load(path, **{"density": 1.0, **given})


def test_metres_are_listed_where_they_are_doubtful(tmp_path):
    """Where they make the part larger than most are and the format has no unit."""
    large = tetrahedron().apply_scale(1000.0)
    for suffix in (".stl", ".glb"):
        told = [str(fault) for fault in bc.load(written(tmp_path, suffix, large, "large")).left_out]
        units = [one for one in told if "scale=0.001" in one and "100 m x 200 m x 300 m" in one]
        assert len(told) == len(units) == (suffix == ".stl")
        assert bc.load(tmp_path / f"large{suffix}", density=1.0, scale=1e-3).left_out == ()
    assert bc.load(written(tmp_path, ".stl")).left_out == ()


@pytest.mark.parametrize("closed", [True, False])
def test_a_mesh_without_a_density_has_no_known_mass(tmp_path, closed):
    """What needs it says so; with one, a mesh that is not closed is refused."""
    mesh = tetrahedron()
    mesh.update_faces([True, True, True, closed])
    path = written(tmp_path, ".stl", mesh)
    shown = bc.load(path)
    assert not shown.bodies["part of a robot"].mass_known
    with pytest.raises(bc.MechanismError, match=r"masses are not known.*density"):
        bc.simulate(shown, 0.1)
    if not closed:
        with pytest.raises(bc.MechanismError, match="must be closed") as raised:
            bc.load(path, density=1.0)
        assert raised.value.faults[0].location.file == str(path)


def test_files_that_hold_no_mesh(tmp_path):
    for content in (b"", b"solid a\nendsolid a\n", b"\0" * 84, b"v 1 2 3\n"):
        path = tmp_path / "a.stl"
        path.write_bytes(content)
        with pytest.raises(bc.MechanismError, match="cannot be read as a mesh"):
            bc.load(path)
    with pytest.raises(FileNotFoundError):
        bc.load(tmp_path / "none.stl")
    robot = tmp_path / "a.urdf"
    robot.write_text("<robot/>")
    with pytest.raises(bc.MechanismError, match="scale belongs to mesh files"):
        bc.load(robot, scale=0.001)


def test_the_commands_take_meshes(tmp_path):
    path = str(written(tmp_path, ".stl"))
    given = ["--density", "2.7 g/cm^3", "--scale", "2"]

    def done(*words):
        result = CliRunner().invoke(bellcrank, [*words, *given])
        assert result.exit_code == 0, result.output
        return result.output

    assert "21.6" in done("info", path)
    assert '"mass": 21.6' in done("info", path, "--json")
    done("run", path, "-d", "0.1", "-o", str(tmp_path / "run.h5"))
    done("convert", path, str(tmp_path / "part.yaml"))
    assert bc.load(tmp_path / "part.yaml").bodies["part of a robot"].mass == pytest.approx(21.6, rel=1e-6)
    fallen = bc.Trajectory.load(tmp_path / "run.h5").body("part of a robot").position[-1]
    np.testing.assert_allclose(fallen, [0.0, 0.0, -0.5 * 9.81 * 0.01], atol=1e-9)


@pytest.mark.parametrize("closed", [True, False])
def test_meshes_are_drawn(tmp_path, closed):
    pytest.importorskip("matplotlib")
    mesh = tetrahedron()
    mesh.update_faces([True, True, True, closed])
    path, out = written(tmp_path, ".stl", mesh), tmp_path / "out.png"
    result = CliRunner().invoke(bellcrank, ["draw", str(path), "-o", str(out)])
    assert result.exit_code == 0, result.output
    assert Path(out).stat().st_size > 5000


def test_the_ground_alone_is_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    mech = bc.Mechanism()
    mech.replace(mech.ground, shapes=(bc.Mesh(file=str(written(tmp_path, ".stl"))),))
    mech.draw(tmp_path / "out.png")
    assert (tmp_path / "out.png").stat().st_size > 5000
