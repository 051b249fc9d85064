"""Light bodies between the ground and heavy ones: accelerations against decimal arithmetic."""

import numpy as np
import pytest
from rigs.chains import four_bar, platform
from rigs.exact import accelerations_at

import bellcrank as bc

KINDS = {
    "R": bc.Revolute(), "C": bc.Cylindrical(), "U": bc.Universal(), "S": bc.Spherical(), "L": bc.Planar(),
    "F": bc.Free(),
}  # fmt: skip


def carried(kinds, ratio, seed=0):
    """Bodies on joints of these kinds from the ground on, all but the last lighter than that by a ratio."""
    rng = np.random.default_rng(seed)

    def point():
        axis = rng.normal(size=3)
        return {"position": tuple(rng.uniform(-0.4, 0.4, 3)), "axis": tuple(axis / np.linalg.norm(axis))}

    mech = bc.Mechanism("carried")
    before = mech.ground
    for k, kind in enumerate(kinds):
        mass = 1.0 if k == len(kinds) - 1 else 1.0 / ratio
        body = mech.add_body(
            f"body {k}", mass=mass,
            com=rng.uniform(-0.2, 0.2, 3), inertia=0.1 * mass * rng.uniform(0.1, 0.14, 3),
            velocity=rng.uniform(-1.0, 1.0, 3), angular_velocity=rng.uniform(-1.0, 1.0, 3),
        )  # fmt: skip
        mech.add_joint(f"joint {k}", KINDS[kind], before.marker(**point()), body.marker(**point()))
        before = body
    bc.assemble(mech)
    return mech


def errors(mech, formulation):
    """Of the accelerations of each body, relative to their size."""
    own = bc.prepare(mech, formulation)
    rows = bc.prepare(mech, "lagrange")
    rows.set_state(own.state())
    expected, found = accelerations_at(rows), own.accelerate()
    off = np.abs(np.hstack([found.linear, found.angular]) - expected).max(axis=1)
    return off / (1.0 + np.abs(expected).max(axis=1))


@pytest.mark.parametrize("ratio", [1e2, 1e4, 1e6, 1e8, 1e12])
@pytest.mark.parametrize("kinds", ["FS", "FL", "FU", "FC", "FSS", "SSS", "LSR"])
def test_light_bodies_in_trees(kinds, ratio):
    assert errors(carried(kinds, ratio), "recursive").max() < 1e-11


@pytest.mark.parametrize("ratio", [1e4, 1e6, 1e8])
@pytest.mark.parametrize("kinds", ["SS", "LS"])
def test_light_bodies_that_spin_by_rounding(kinds, ratio):
    """The light body's spin is that of the data, whose rounding it magnifies by the ratio."""
    light, heavy = errors(carried(kinds, ratio), "recursive")
    assert heavy < 1e-13
    assert light < 1e-15 * ratio + 1e-12


@pytest.mark.parametrize("ratio", [1e2, 1e4, 1e6, 1e8])
def test_light_bodies_in_loops(ratio):
    light = 1.0 / ratio
    for masses in ((light, 1.0, 1.0), (light, light, 1.0), (1.0, light, 1.0)):
        mech = four_bar(masses)
        bc.assemble(mech)
        assert errors(mech, "recursive").max() < 1e-10
        assert errors(mech, "symbolic").max() < 1e-10
    hung = platform(light, 1.0)
    bc.assemble(hung)
    assert errors(hung, "recursive").max() < 1e-10
    assert errors(hung, "symbolic").max() < 1e-10


@pytest.mark.parametrize("kinds", ["FS", "FSS", "SSS"])
def test_light_bodies_in_the_symbolic_formulation(kinds):
    """It loses the digits of the ratio once."""
    for ratio in (1e2, 1e4, 1e6):
        assert errors(carried(kinds, ratio), "symbolic").max() < 1e-13 * ratio


def test_a_run_with_a_light_body():
    """A heavy body on a light one that floats: energy and the heavy body's fall."""
    mech = carried("FS", 1e6)
    run = bc.simulate(mech, duration=0.5, formulation="recursive", method="dopri5", tolerance=1e-10)
    other = bc.simulate(mech, duration=0.5, formulation="lagrange", method="dopri5", tolerance=1e-10)
    assert np.abs(run.energy.drift).max() < 1e-7
    for body in ("body 0", "body 1"):
        one, two = (at.body(body).position[-1] for at in (run, other))
        np.testing.assert_allclose(one, two, atol=1e-6)
