"""Files of scenes in motion, read back: where everything is at every frame, and what is not there."""

import json
import struct

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose

import bellcrank as bc
from bellcrank import scene
from bellcrank.cli.main import bellcrank
from bellcrank.errors import MechanismError
from bellcrank.mechanism.rotation_arrays import rotate

TYPES = {5126: "<f4", 5125: "<u4"}
WIDTHS = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}


class File:
    """The objects and numbers of a file."""

    def __init__(self, path):
        data = path.read_bytes()
        magic, version, length = struct.unpack_from("<4sII", data)
        assert (magic, version, length) == (b"glTF", 2, len(data))
        size, kind = struct.unpack_from("<I4s", data, 12)
        assert kind == b"JSON"
        self.found = json.loads(data[20 : 20 + size])
        filled, kind = struct.unpack_from("<I4s", data, 20 + size)
        assert kind == b"BIN\0"
        self.numbers = data[28 + size : 28 + size + filled]
        assert len(data) == 28 + size + filled
        assert self.found["buffers"] == [{"byteLength": len(self.numbers)}]

    def accessor(self, number):
        own = self.found["accessors"][number]
        view = self.found["bufferViews"][own["bufferView"]]
        assert view["byteOffset"] % 4 == 0
        flat = np.frombuffer(self.numbers, TYPES[own["componentType"]], -1, view["byteOffset"])
        return flat[: own["count"] * WIDTHS[own["type"]]].reshape(own["count"], -1)

    @property
    def times(self):
        return self.accessor(self.found["animations"][0]["samplers"][0]["input"])[:, 0]

    def channel(self, node, path):
        """The values of a node's field over time, or its own, or the usual one."""
        for channel in self.found["animations"][0]["channels"]:
            if channel["target"] == {"node": node, "path": path}:
                return self.accessor(self.found["animations"][0]["samplers"][channel["sampler"]]["output"])
        usual = {"translation": [0, 0, 0], "rotation": [0, 0, 0, 1], "scale": [1, 1, 1]}
        return np.tile(self.found["nodes"][node].get(path, usual[path]), (len(self.times), 1))

    def points(self, node, points):
        """Points (n, 3) of a node in its parent, (T, n, 3)."""
        turns = self.channel(node, "rotation")[:, [3, 0, 1, 2]]
        scaled = points * self.channel(node, "scale")[:, None]
        return rotate(turns[:, None], scaled) + self.channel(node, "translation")[:, None]

    def in_world(self):
        """The vertices of all nodes with meshes, (T, n, 3), in the axes of the scene, by name."""
        (root,) = self.found["scenes"][0]["nodes"]
        found = []
        for top in self.found["nodes"][root]["children"]:
            for node in [top, *self.found["nodes"][top].get("children", ())]:
                own = self.found["nodes"][node]
                if "mesh" not in own:
                    continue
                (primitive,) = self.found["meshes"][own["mesh"]]["primitives"]
                points = self.points(node, self.accessor(primitive["attributes"]["POSITION"]))
                found.append((own["name"], points if node == top else self.points_over(top, points)))
        return found

    def points_over(self, node, points):
        turns = self.channel(node, "rotation")[:, [3, 0, 1, 2]]
        return rotate(turns[:, None], points) + self.channel(node, "translation")[:, None]


@pytest.mark.parametrize(
    "name", ["flyball_governor", "stewart_platform", "spring_slider_crank", "ratchet_winch"]
)
def test_everything_is_where_it_is_drawn(name, tmp_path):
    run = bc.simulate(getattr(bc.gallery, name)(), 0.5, output_step=0.05)
    run.animate(tmp_path / "run.glb", fps=20)
    file = File(tmp_path / "run.glb")
    assert_allclose(file.times, run.time, atol=1e-6)
    drawn = scene.of(run.origin.mechanism, run.at(0.0))
    placed = drawn.placed(run.store.read("position"), run.store.read("rotation"))
    expected = {}
    for number, what in enumerate(drawn.drawn):
        own = (
            what.mesh.vertices
            * np.stack([np.ones(len(run)), np.ones(len(run)), placed.stretch[:, number]], 1)[:, None]
        )
        at = rotate(placed.rotation[:, number, None], own) + placed.position[:, number, None]
        expected.setdefault(what.name, []).append(at)
    found = file.in_world()
    assert len(found) == len(drawn.drawn)
    for part, points in found:
        assert_allclose(points, expected[part].pop(0), atol=2e-6 * drawn.size, err_msg=part)
    (root,) = file.found["scenes"][0]["nodes"]
    x, y, z, w = file.found["nodes"][root]["rotation"]
    assert_allclose(rotate(np.array([w, x, y, z]), np.asarray(drawn.up)), [0.0, 1.0, 0.0], atol=1e-12)
    for channel in file.found["animations"][0]["channels"]:
        if channel["target"]["path"] == "rotation":
            turns = file.channel(channel["target"]["node"], "rotation")
            assert np.all(np.sum(turns[1:] * turns[:-1], axis=1) > 0.0)
            assert_allclose(np.linalg.norm(turns, axis=1), 1.0, atol=1e-6)


def test_meshes_are_written_once_and_colours_are_linear(tmp_path):
    mech = bc.Mechanism("balls", gravity=(0, 0, 0))
    for k, color in enumerate([(1.0, 0.5, 0.0), (1.0, 0.5, 0.0), (0.0, 0.0, 1.0, 0.4)]):
        ball = bc.Sphere(radius=0.25, density=1.0, color=color)
        mech.add_body(f"ball{k}", shapes=[ball], position=(k, 0, 0), angular_velocity=(0, 0, 20.0))
    bc.simulate(mech, 1.0, output_step=0.01).animate(tmp_path / "run.glb", speed=2.0)
    file = File(tmp_path / "run.glb")
    assert len(file.found["meshes"]) == 2
    assert len({mesh["primitives"][0]["attributes"]["POSITION"] for mesh in file.found["meshes"]}) == 1
    orange, blue = file.found["materials"]
    assert_allclose(orange["pbrMetallicRoughness"]["baseColorFactor"], [1.0, 0.214041, 0.0, 1.0], atol=1e-6)
    assert blue["alphaMode"] == "BLEND"
    assert file.times[-1] == 0.5
    assert len(file.times) == 16
    # Three turns in a second: quaternions change their sign, and what is written does not.
    (body, _) = [k for k, node in enumerate(file.found["nodes"]) if node["name"] == "ball0"]
    turns = file.channel(body, "rotation")
    assert np.all(np.sum(turns[1:] * turns[:-1], axis=1) > 0.0)


def test_what_has_let_go_is_not_there(tmp_path):
    mech = bc.Mechanism("let go")
    stone = mech.add_body("stone", shapes=[bc.Sphere(radius=0.1, density=1000.0)], position=(0, 0, -1))
    mech.add_force("string", bc.RubberString(stiffness=1e4, rest_length=1.0), mech.ground, stone)
    mech.add_change("cut", bc.Release(of="string", when="t > 0.25"))
    bc.simulate(mech, 0.5, output_step=0.1).animate(tmp_path / "run.glb", fps=10)
    file = File(tmp_path / "run.glb")
    parts = [points for name, points in file.in_world() if name == "force string"]
    sizes = np.array([[np.ptp(points[frame], axis=0).max() for frame in range(6)] for points in parts])
    assert np.all(sizes[:, :3] > 0.01)
    assert np.all(sizes[:, 3:] == 0.0)


def test_a_mechanism_and_what_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bc.save(bc.gallery.four_bar(), "four.yaml")
    program = CliRunner()
    assert program.invoke(bellcrank, ["draw", "four.yaml", "-o", "four.glb"]).exit_code == 0
    file = File(tmp_path / "four.glb")
    assert "animations" not in file.found
    assert {node["name"] for node in file.found["nodes"]} >= {"crank", "coupler", "rocker", "ground"}
    run = bc.simulate(bc.gallery.four_bar(), 0.1)
    with pytest.raises(MechanismError, match=r"(?s)no paths.*no width"):
        run.animate("run.glb", width=640, paths=["coupler"])
    refused = program.invoke(bellcrank, ["draw", "four.yaml", "-o", "four.glb", "--view", "top"])
    assert refused.exit_code == 2
    assert "a GLB file has no" in refused.output
