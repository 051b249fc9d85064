"""Pictures of ropes and belts: along tangents and around wheels, wherever the bodies are."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from rigs.ropes import BELT, belt, run, weight, wheel

import bellcrank as bc
from bellcrank import scene


def hoist():
    mech = bc.Mechanism("hoist")
    drum, load = wheel(mech, "drum", (-2, 0, 0), 10.0, 0.3), weight(mech, "load", (0.2, 0, -1), 5.0)
    layers = {"thickness": 0.02, "layer_turns": 4.0, "wound": 8.0}
    top = mech.ground.marker((0, 0, 2), z_axis="y")
    mech.add_constraint("rope", bc.Rope((0.25, 0.2, 0), **layers), drum, top, load)
    return mech


def parts_of(drawn, name):
    return [k for k, what in enumerate(drawn.drawn) if what.name == name]


@pytest.mark.parametrize("kind", [bc.BeltLoop, lambda radii: bc.ElasticBelt(radii, 1e4)])
def test_a_belt_is_drawn_as_long_as_it_is(kind):
    mech = belt(kind, **BELT)
    drawn, category = scene.of(mech), "constraint" if mech.constraints else "force"
    placed, parts = drawn.placed(), parts_of(scene.of(mech), f"{category} belt")
    length = bc.rope_path(mech, "belt").length
    assert placed.stretch[parts].sum() == pytest.approx(length, rel=1e-3)
    assert_allclose(placed.position[parts][:, 1], 0.0, atol=1e-12)
    # Each piece begins where it is: on a wheel, at its radius from the axis.
    distances = [np.linalg.norm(placed.position[parts] - at, axis=1) for at in BELT["places"]]
    near = [np.sum(np.abs(d - abs(r)) < 1e-9) for d, r in zip(distances, BELT["radii"], strict=True)]
    assert min(near) >= 24
    assert {piece.name for piece in drawn.bodies["w1"]} >= {"w1/belt/2"}


def test_a_rope_is_drawn_at_every_frame_from_the_layers_of_its_drum():
    mech = hoist()
    found = run(mech, 0.5)
    drawn = scene.of(mech)
    position = np.stack([found.body(name).position for name in mech.bodies], axis=1)
    rotation = np.stack([found.body(name).rotation for name in mech.bodies], axis=1)
    parts = parts_of(drawn, "constraint rope")
    many = drawn.placed(position, rotation)
    for frame in (0, 500, 1000):
        one = drawn.placed(position[frame], rotation[frame])
        assert_allclose(one.position, many.position[frame], atol=1e-13)
        path = bc.rope_path(mech, "rope", found.at(found.time[frame]))
        turn = 2 * np.pi * (0.25 + 0.02 * 8 / 4)  # what is drawn around the drum
        assert one.stretch[parts].sum() == pytest.approx(path.length + turn, rel=2e-3)
    assert many.stretch[-1, parts].sum() > many.stretch[0, parts].sum() + 0.1


def test_coaxial_sheaves_are_one_wheel():
    mech = bc.Mechanism("tackle")
    hook, haul = weight(mech, "hook", (0, 0, 0), 5.0), mech.ground.marker((0.1, 0, 0.5))
    top = mech.ground.marker((0, 0, 2), z_axis="y")
    mech.add_constraint("rope", *bc.tackle(6, top, hook.marker(z_axis="y"), haul, radius=0.1))
    drawn = scene.of(mech)
    assert sum("rope" in piece.name for piece in drawn.pieces) == 2
    assert len(drawn.drawn) == len(drawn.placed().stretch)
