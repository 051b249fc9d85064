"""Beams in pictures: swept sections, colours by a quantity and their bar, films, files of scenes."""

import json
import re
import struct

import numpy as np
import pytest

import bellcrank as bc
from bellcrank import scene
from bellcrank.mechanism.rotation_arrays import rotate
from bellcrank.scene.color_scale import SCALE, ColorBar, scaled
from bellcrank.scene.painter import Frame, Instant, Painter
from bellcrank.scene.sweeps import profile
from bellcrank.scene.view import view_of
from bellcrank.trajectory.beam_values import QUANTITIES, coloring

STEEL = {"E": 210e9, "nu": 0.3, "density": 7850}
SECTIONS = {
    "tube": bc.Section.tube(0.12, 0.02, **STEEL),
    "circle": bc.Section.circle(0.1, **STEEL),
    "rectangle": bc.Section.rectangle(0.05, 0.12, **STEEL),
    "i": bc.Section.i_beam(0.1, 0.2, 0.02, 0.015, **STEEL),
}


def boom(section=SECTIONS["rectangle"], load=(0, 0, -3e4), **given):
    mech = bc.Mechanism("boom", gravity=(0, 0, 0))
    beam = mech.add_beam("boom", section, start="ground", end=(2, 0, 0), **{"segments": 4, **given})
    mech.add_force("load", bc.Wrench(force=load), beam.marker(beam.length))
    return mech


def volume(vertices, triangles):
    a, b, c = np.moveaxis(vertices[triangles], 1, 0)
    return np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0


@pytest.mark.parametrize("name", SECTIONS)
def test_it_encloses_what_the_beam_is(name):
    """The surface is closed, faces outward, and holds the volume of the beam."""
    section = SECTIONS[name]
    shown = scene.of(boom(section))
    sweep, (vertices, normals) = shown.sweeps["boom"], shown.bent()["boom"]
    area = section.EA / section.E
    assert volume(vertices, sweep.mesh.triangles) == pytest.approx(2.0 * area, rel=0.02)
    corners = vertices[sweep.mesh.triangles]
    facing = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    kept = np.linalg.norm(facing, axis=1) > 1e-12
    for corner in range(3):
        across = np.einsum("ij,ij->i", facing, normals[sweep.mesh.triangles[:, corner]])
        assert np.all(across[kept] > 0.0)
    rounded = vertices.round(9)
    place = {key: number for number, key in enumerate(dict.fromkeys(map(tuple, rounded)))}
    welded = np.array([place[tuple(one)] for one in rounded])[sweep.mesh.triangles]
    welded = welded[np.all(welded != np.roll(welded, 1, axis=1), axis=1)]
    edges = np.concatenate([welded[:, [0, 1]], welded[:, [1, 2]], welded[:, [2, 0]]])
    if name != "i":  # whose caps have three patches
        assert sorted(map(tuple, edges)) == sorted(map(tuple, edges[:, ::-1]))


def test_it_follows_the_axis_between_nodes():
    mech = boom(load=(0, 9e3, -3e4))
    rest = bc.statics(mech)
    shown = scene.of(mech, rest.state)
    sweep, beam = shown.sweeps["boom"], rest.beam("boom")
    stations = 2.0 * sweep.rings / 4.0
    middle = shown.sections(rest.state.position, rest.state.rotation)["boom"][0]
    assert middle == pytest.approx(beam.position(stations)[0], abs=1e-12)
    vertices, normals = shown.bent(rest.state.position[None], rest.state.rotation[None])["boom"]
    assert vertices.shape == normals.shape == (1, *sweep.mesh.vertices.shape)
    away = np.linalg.norm(vertices[0] - middle[sweep.ring], axis=1)
    assert away == pytest.approx(np.linalg.norm(sweep.mesh.vertices[:, 1:], axis=1), abs=1e-12)


def test_sections_without_sizes_are_round():
    section = bc.Section.general(EA=1e6, GA=1e6, GJ=20.0, EI=25.0, mass_per_length=1.0)
    ((outside, _),) = profile(section, 1.0)[0]
    assert np.linalg.norm(outside, axis=1) == pytest.approx(2.0 * np.sqrt(25.0 / 1e6))
    ((given, _),) = profile(section, 1.0, 0.07)[0]
    assert np.linalg.norm(given, axis=1) == pytest.approx(0.07)
    thin = bc.Section.general(EA=1e9, GA=1e9, GJ=1e-3, EI=1e-3, mass_per_length=1.0)
    assert np.ptp(profile(thin, 1.0)[0][0][0]) == pytest.approx(0.004)


def test_nodes_are_not_drawn_beside_it():
    shown = scene.of(boom())
    assert not [piece for piece in shown.pieces if piece.element.startswith("body 'boom/")]
    assert list(shown.links) == []
    assert [one.element for one in shown.drawn if not hasattr(one, "carrier")] == ["beam 'boom'"]
    assert not any(shape.shown for body in boom().bodies.values() for shape in body.shapes)


def test_the_scale_is_even():
    """Lightness rises in equal steps, and neighbours differ alike."""
    linear = np.where(SCALE <= 0.04045, SCALE / 12.92, ((SCALE + 0.055) / 1.055) ** 2.4)
    xyz = linear @ np.array([[0.4124, 0.2126, 0.0193], [0.3576, 0.7152, 0.1192], [0.1805, 0.0722, 0.9505]])
    x, y, z = np.cbrt(xyz / (0.9505, 1.0, 1.089)).T
    lab = np.stack([116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)], axis=1)
    rise = np.diff(lab[::15, 0])
    assert rise.min() > 0.6 * rise.mean()
    assert rise.max() < 1.4 * rise.mean()
    step = np.linalg.norm(np.diff(lab[::15], axis=0), axis=1)
    assert step.max() < 1.8 * step.min()


def test_bars():
    bar = scaled("bending moment", "N m", [np.array([1e-13, 2e3]), np.array([4.5e3])])
    assert (bar.label, bar.ends) == ("bending moment, kN m", ("0", "4.5"))
    assert scaled("curvature", "1/m", [np.array([0.0, 2e3])]).label == "curvature, 1/m"
    assert scaled("torsion", "N m", [np.zeros(3)]).ends == ("0", "0")
    assert ColorBar("x", -1.0, 1.0).colors([-1.0, 1.0, 5.0]) == pytest.approx(SCALE[[0, -1, -1]])


@pytest.mark.parametrize("name", QUANTITIES)
def test_colours_are_those_of_values(name):
    rest = bc.statics(boom(load=(2e4, 9e3, -3e4)))
    shown = scene.of(rest.at, rest.state)
    found, beam = coloring(name, shown, rest.beam), rest.beam("boom")
    stations = 2.0 * shown.sweeps["boom"].rings / 4.0
    by_hand = {
        "moment": np.linalg.norm(beam.moment(stations)[0, :, 1:], axis=1),
        "torsion": beam.moment(stations)[0, :, 0],
        "force": beam.force(stations)[0, :, 0],
        "shear": np.linalg.norm(beam.force(stations)[0, :, 1:], axis=1),
        "stress": beam.stress(stations)[0],
        "von_mises": beam.von_mises(stations)[0],
        "curvature": np.linalg.norm(beam.curvature(stations)[0, :, 1:], axis=1),
        "deflection": np.linalg.norm(beam.deflection(stations)[0], axis=1),
    }[name]
    assert found.values["boom"][0] == pytest.approx(by_hand, abs=1e-9 * np.abs(by_hand).max())
    assert (found.bar.low, found.bar.high) == pytest.approx((by_hand.min(), by_hand.max()), abs=1e-6)
    assert found.tints(0)["boom"] == pytest.approx(found.bar.colors(by_hand))


@pytest.mark.parametrize("name", QUANTITIES)
def test_rounding_has_no_colours(name):
    """A beam as described, turned somehow, is not loaded."""
    mech = bc.Mechanism("boom", gravity=(0, 0, 0))
    mech.add_beam("boom", SECTIONS["tube"], start=(0.3, 0.1, -2.0), end=(1.7, 1.3, -1.1))
    shown = scene.of(mech)
    state = shown.state

    def history(beam):
        nodes = shown.sweeps[beam].carriers
        position, rotation = state.position[None, nodes], state.rotation[None, nodes]
        return bc.BeamHistory(mech.beams[beam], np.zeros(len(nodes), bool), np.zeros(1), position, rotation)

    found = coloring(name, shown, history)
    assert (found.bar.low, found.bar.high) == (0.0, 0.0)


def test_pixels_have_the_colours_of_the_rings():
    """Seen from the front, along the middle of the side of a bar, up to one factor of light."""
    mech = boom(load=(0, 0, -1.0))
    shown = scene.of(mech)
    sweep = shown.sweeps["boom"]
    tints = SCALE[np.linspace(0, 255, len(sweep.rings)).astype(int)]
    painter = Painter(shown, view_of(shown, "front"))
    instant = Instant(shown.state.position, shown.state.rotation, tints={"boom": tints})
    plain = Instant(shown.state.position, shown.state.rotation)
    frame = Frame(0.0, 2.0, -0.05, 0.05)
    row = painter.paint([instant], frame, 400)[10]
    grey = painter.paint([plain], frame, 400)[10]
    at = (np.arange(400) + 0.5) / 400.0
    by_hand = np.stack([np.interp(at, np.linspace(0, 1, len(tints)), tint) for tint in tints.T], axis=1)
    inner = slice(60, 390)  # beside the weld
    light = (grey[inner, :3] / np.array(sweep.color[:3])).mean()
    assert row[inner, :3] == pytest.approx(np.minimum(light * by_hand[inner], 1.0), abs=0.02)


def test_pictures_and_films(tmp_path):
    mech = boom(damping=1e-3)
    rest = bc.statics(mech)
    figure = rest.draw(tmp_path / "rest.png", beams="moment")
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert "bending moment, kN m" in texts
    assert f"{rest.beam('boom').moment(0.0)[0, 1] / 1e3:.4g}" in texts
    run = bc.simulate(mech, 0.05)
    texts = [text.get_text() for text in run.draw(times=[0.01, 0.05], beams="stress").axes[0].texts]
    assert "normal stress, MPa" in texts
    colored = run.animate(beams="von_mises", fps=10, speed=0.1, width=160)
    assert len(colored.data) > 1000
    with pytest.raises(bc.MechanismError, match="a GLB file has no beams"):
        run.animate(tmp_path / "run.glb", beams="stress")


def test_one_range_for_all_instants():
    run = bc.simulate(boom(damping=1e-3), 0.05)
    times = np.linspace(0.0, 0.05, 7)
    from bellcrank.trajectory.pictures import _beams_at, scene_of

    found = coloring("moment", scene_of(run), _beams_at(run, times))
    assert found.values["boom"].shape == (7, len(scene_of(run).sweeps["boom"].rings))
    assert found.bar.high == pytest.approx(max(one.max() for one in found.values["boom"]))
    frames = [int(np.argmin(np.abs(run.time - time))) for time in times]
    assert found.values["boom"][:, 0] == pytest.approx(
        np.linalg.norm(run.beam("boom").moment(0.0)[frames][:, 1:], axis=1)
    )


def test_what_is_refused():
    mech = boom()
    rest = bc.statics(mech)
    with pytest.raises(bc.MechanismError, match=r"no quantity of this name.*did you mean 'moment'"):
        rest.draw(beams="momment")
    section = bc.Section.general(EA=1e6, GA=1e6, GJ=20.0, EI=25.0, mass_per_length=1.0)
    bare = bc.statics(boom(section, load=(0, 0, -1)))
    with pytest.raises(bc.Unsupported, match="give a section with sizes"):
        bare.draw(beams="von_mises")
    block = bc.Mechanism("block")
    body = block.add_body("block", mass=1, inertia=(1, 1, 1))
    block.add_joint("weld", bc.Fixed(), "ground", body)
    with pytest.raises(bc.MechanismError, match="there is no beam to be coloured"):
        bc.statics(block).draw(beams="moment")


def test_only_some_beams_and_their_names():
    mech = boom()
    mech.add_beam("other", SECTIONS["tube"], start=(0, 1, 0), end=(2, 1, 0), segments=2)
    shown = scene.of(mech)
    figure = mech.draw(only=["other"], names=True, view="top", joints=False)
    assert [text.get_text() for text in figure.axes[0].texts if not re.search(" m", text.get_text())] == [
        "other"
    ]
    low, high = figure.axes[0].get_ylim()
    assert high - low < 1.4
    assert len(shown.sweeps) == 2
    with pytest.raises(bc.MechanismError, match="no body of this name"):
        mech.draw(only=["othr"])


def test_files_of_scenes_have_skins(tmp_path):
    """Each vertex is where its section takes it, at every frame."""
    mech = boom(damping=1e-3)
    run = bc.simulate(mech, 0.02, output_step=5e-3)
    run.animate(tmp_path / "run.glb", fps=1000)
    data = (tmp_path / "run.glb").read_bytes()
    (size,) = struct.unpack_from("<I", data, 12)
    found, numbers = json.loads(data[20 : 20 + size]), data[28 + size :]
    widths = {"SCALAR": 1, "VEC3": 3, "VEC4": 4, "MAT4": 16}

    def read(number):
        one = found["accessors"][number]
        view = found["bufferViews"][one["bufferView"]]
        kind = {5126: "<f4", 5125: "<u4", 5123: "<u2"}[one["componentType"]]
        width = widths[one["type"]]
        flat = np.frombuffer(numbers, kind, one["count"] * width, view["byteOffset"])
        return flat.reshape(one["count"], width).astype(float)

    (skin,) = found["skins"]
    (node,) = [one for one in found["nodes"] if one.get("skin") == 0]
    (part,) = found["meshes"][node["mesh"]]["primitives"]
    attributes = {name: read(number) for name, number in part["attributes"].items()}
    assert np.all(attributes["WEIGHTS_0"] == (1.0, 0.0, 0.0, 0.0))
    ring = attributes["JOINTS_0"][:, 0].astype(int)
    bound = read(skin["inverseBindMatrices"]).reshape(-1, 4, 4).transpose(0, 2, 1)
    channels = {
        (c["target"]["node"], c["target"]["path"]): c["sampler"] for c in found["animations"][0]["channels"]
    }
    samplers = found["animations"][0]["samplers"]
    shown = scene.of(mech, run.at(0.0))
    count = len(run.time)
    for frame in (0, count - 1):
        state = run.at(float(run.time[frame]))
        by_hand = shown.bent(state.position, state.rotation)["boom"][0]
        poses = []
        for joint in skin["joints"]:
            own = found["nodes"][joint]
            pose = [
                read(samplers[channels[joint, path]]["output"])[frame]
                if (joint, path) in channels
                else own[path]
                for path in ("translation", "rotation")
            ]
            poses.append(pose)
        at, turn = (np.array(one, dtype=float) for one in zip(*poses, strict=True))
        local = np.einsum(
            "nij,nj->ni", bound[ring], np.column_stack([attributes["POSITION"], np.ones(len(ring))])
        )
        placed = at[ring] + rotate(turn[ring][:, [3, 0, 1, 2]], local[:, :3])
        assert placed == pytest.approx(by_hand, abs=2e-6)
