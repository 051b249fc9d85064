"""The energy of adaptive runs: against other formulations, by work, over impacts, in files."""

from itertools import pairwise

import h5py
import numpy as np
import pytest
from rigs.adaptive import hinge
from rigs.adaptive_decisions import WAYS as DECISIONS
from rigs.driven_trees import driven_tree
from rigs.locked_dynamics import begun, mask
from rigs.moving_trees import held_joints, moving_tree
from rigs.seeds import over

import bellcrank as bc
from bellcrank.compile.compile import compile_mechanism
from bellcrank.errors import MechanismError

MAKERS = {
    "springs": lambda seed: moving_tree(seed, bodies=(3, 12), speed=2.0),
    "between": lambda seed: moving_tree(seed, bodies=(3, 12), between=True),
    "further": lambda seed: moving_tree(seed, bodies=(3, 12), further=True, speed=0.5),
    "driven": lambda seed: driven_tree(seed, bodies=(3, 12))[:2],
}


@pytest.mark.parametrize("name", MAKERS)
@over(range(3))
def test_energies_and_work_are_those_of_other_formulations(seed, name):
    """What is unexplained falls with the fourth power of the step."""
    mech, state = MAKERS[name](seed)
    unexplained = []
    for step in (2e-3, 1e-3, 5e-4):
        run = bc.simulate(
            mech, 0.2, state=state, formulation="adaptive", step=step, max_error=0, output_step=0.02
        )
        unexplained.append(np.abs(run.energy.unexplained).max())
    exact = bc.simulate(mech, 0.2, state=state, formulation="recursive", tolerance=1e-11)
    size = np.abs(exact.energy.kinetic).max()
    for part in ("kinetic", "potential"):
        found, expected = getattr(run.energy, part), getattr(exact.energy, part)
        assert found[0] == pytest.approx(expected[0], abs=1e-11 * size, rel=1e-12)
        assert found[-1] == pytest.approx(expected[-1], abs=1e-6 * size)
    assert run.energy.work[-1] == pytest.approx(exact.energy.drift[-1], abs=1e-6 * size)
    assert not np.any(run.energy.lost)
    assert unexplained[-1] < 1e-6 * size
    assert min(a / b for a, b in pairwise(unexplained)) > 12.0 or unexplained[-1] < 1e-13 * size


def test_small_vibrations_keep_it_to_the_fifth_order():
    mech = bc.gallery.chain(10)
    mech.gravity = (0.0, 0.0, 0.0)
    for number, name in enumerate(list(mech.joints)):
        mech.add_force(f"spring {name}", bc.TorsionSpring(50.0), name)
        mech.replace(mech.joints[name], position=1e-3 * (-1) ** number)
    left = []
    for step in (1e-3, 5e-4, 2.5e-4):
        run = bc.simulate(mech, 0.5, formulation="adaptive", step=step, max_error=0)
        left.append(np.abs(run.energy.unexplained).max())
    assert min(a / b for a, b in pairwise(left)) > 28.0


@over(range(40))
def test_impacts_beside_drives_lose_what_work_does_not_explain(seed):
    mech, state, driven = driven_tree(seed, bodies=(2, 25), speed=3.0)
    model = compile_mechanism(mech)
    run = begun(model, state)
    run.set_free(np.ones(len(run.blocks), dtype=bool))
    before, done = run.kinetic_energy, run.work
    names = [name for name in held_joints(mech, seed) if name not in driven]
    loss = run.set_free(mask(run, model, names))
    assert loss >= 0.0
    change = run.kinetic_energy - before
    assert change + loss == pytest.approx(run.work - done, abs=1e-11 * before)


@pytest.mark.parametrize("given", ["chain", "driven"])
def test_with_decisions_losses_are_all_that_is_missing(given):
    """And they are no more than they may be; what is left falls with the step, whatever the decisions."""
    left = []
    for step in (1e-3, 2.5e-4):
        mech = bc.gallery.chain(30)
        for name in list(mech.joints):
            mech.add_force(f"damper {name}", bc.TorsionSpring(2.0, 0.05), name)
        if given == "driven":
            mech.add_drive("shake", "joint 0", position=bc.Harmonic(0.2, 6.0))
        run = bc.simulate(
            mech, 1.5, formulation="adaptive", step=step, max_error=0.2, max_loss=0.5, output_step=0.01
        )
        energy = run.energy
        assert energy.lost[-1] > 1e-3
        assert np.all(energy.lost <= 0.5 * run.time * (1.0 + 1e-9))
        assert np.any(run.free[1:] < 30)
        left.append(np.abs(energy.unexplained).max())
    assert left[0] < 0.02 * energy.lost[-1]
    assert left[1] < 0.5 * left[0]


def test_inputs_that_change_do_work():
    """Speeds of drives that jump; the total follows from what recursive finds."""
    mech = bc.gallery.chain(5)
    mech.add_drive("crank", "joint 0", velocity=bc.Input("speed", 1.0))
    mech.add_force("motor", bc.JointMotor(bc.Input("torque", 0.0, unit="N m")), "joint 3")
    live = bc.start(mech, formulation="adaptive", step=5e-4, max_error=0)
    other = bc.start(mech, formulation="recursive", tolerance=1e-11)
    for values in ({"speed": 3.0}, {"torque": 5.0}, {"speed": -2.0, "torque": 0.0}):
        before, done = live.kinetic_energy, live.work
        live.inputs.update(values)
        other.inputs.update(values)
        assert live.kinetic_energy - before == pytest.approx(live.work - done, abs=1e-12)
        live.advance(steps=100)
        other.advance(0.05)
    assert live.kinetic_energy == pytest.approx(other.now().energy.kinetic[-1], rel=1e-8)
    assert live.potential_energy == pytest.approx(other.now().energy.potential[-1], rel=1e-8)
    energy = live.stop().energy
    assert np.abs(energy.unexplained).max() < 1e-7 * energy.kinetic.max()
    assert np.abs(energy.work).max() > 1.0


@pytest.mark.parametrize("way", DECISIONS)
def test_what_is_lost_by_limits_of_all_kinds(way):
    """With the symplectic method what is left is of first order."""
    decades, speed, step, _ = DECISIONS[way]
    mech, state = moving_tree(6, decades=decades, speed=speed, bodies=(5, 20))
    left = []
    for part in (1.0, 0.25):
        run = bc.start(
            mech, state=state, formulation="adaptive", step=part * step, max_error=0, method="symplectic"
        )
        run.advance(steps=round(64 / part))
        energy = run.stop().energy
        left.append(np.abs(energy.unexplained).max())
    assert left[1] < 0.5 * left[0]


def test_files_keep_energies_and_older_ones_are_read(tmp_path):
    run = bc.simulate(bc.gallery.chain(5), 0.1, formulation="adaptive", step=1e-3, max_error=0.05)
    run.save(tmp_path / "new.h5")
    loaded = bc.MoveTrajectory.load(tmp_path / "new.h5")
    for part in ("kinetic", "potential", "work", "lost", "total", "unexplained"):
        np.testing.assert_array_equal(getattr(loaded.energy, part), getattr(run.energy, part))
    with h5py.File(tmp_path / "new.h5") as new, h5py.File(tmp_path / "old.h5", "w", libver="latest") as file:
        for name in new:
            if name not in ("kinetic", "potential", "work"):
                new.copy(name, file)
        file.attrs.update(new.attrs)
        file.attrs["version"] = 3
    old = bc.MoveTrajectory.load(tmp_path / "old.h5")
    np.testing.assert_array_equal(old.lost_energy, run.lost_energy)
    with pytest.raises(MechanismError, match="its file is of an earlier version"):
        _ = old.energy
    old.save(tmp_path / "again.h5")
    with h5py.File(tmp_path / "again.h5") as file:
        assert file.attrs["version"] == 3
    with pytest.raises(MechanismError, match="each of its steps starts at rest"):
        _ = bc.simulate(hinge(), 0.01, mode="quasistatic", step=1e-3).energy
