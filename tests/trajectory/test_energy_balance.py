"""The balance of energy as runs hold it: in parts, put together, in files and tables."""

import pickle

import numpy as np
import pytest

import bellcrank as bc
from bellcrank import gallery
from bellcrank.run import course
from bellcrank.trajectory.store import MemoryStore

Y = {"axis": (0, 1, 0)}


def door():
    """A bar on a driven carriage, with a damper and a spring at its hinge."""
    mech = bc.Mechanism("door")
    carriage = mech.add_body("carriage", 1.0, (0.1, 0.1, 0.1))
    bar = mech.add_body("bar", 1.0, (0.1, 0.1, 0.1), com=(0.2, 0, 0))
    mech.add_joint("rail", bc.PrismaticX(), mech.ground.marker(), carriage.marker())
    mech.add_joint("hinge", bc.Revolute(), carriage.marker(**Y), bar.marker(**Y))
    mech.add_force("coil", bc.TorsionSpring(5.0), "hinge")
    mech.add_force("rubbing", bc.JointFriction(viscous=0.3), "hinge")
    mech.add_drive("shake", "rail", position=bc.Harmonic(0.1, 7.0))
    return mech


SETTINGS = {"output_step": 0.01, "tolerance": 1e-9, "ledger": True}


@pytest.fixture(scope="module")
def run():
    return bc.simulate(door(), 0.4, **SETTINGS)


def test_every_entry_is_there(run):
    balance = run.energy_balance()
    assert run.layout.works == (
        "force 'coil'", "force 'rubbing'", "drive 'shake'", "states set", "impacts",
    )  # fmt: skip
    assert list(balance.stored) == ["coil"]
    assert list(balance.lost) == ["coil", "rubbing"]
    assert list(balance.supplied) == ["drive 'shake'"]
    assert balance.error < 1e-6
    total = balance.kinetic + balance.weight + balance.stored["coil"]
    np.testing.assert_allclose(total, run.energy.total, rtol=0, atol=1e-14)
    assert "supplied by drive 'shake'" in str(balance)
    again = pickle.loads(pickle.dumps(balance))
    assert np.array_equal(again.lost["rubbing"], balance.lost["rubbing"])
    with pytest.raises(ValueError, match="read-only"):
        again.lost["rubbing"][0] = 1.0
    assert balance.exchanged == max(
        np.ptp(values)
        for values in (
            balance.kinetic,
            balance.weight,
            *balance.stored.values(),
            *balance.lost.values(),
            *balance.supplied.values(),
        )
    )


def test_works_are_integrals_of_powers(run):
    """Between frames, to what Simpson's rule makes of them."""
    for element in (run.force("rubbing"), run.force("coil"), run.drive("shake")):
        power, work = element.power, element.work
        simpson = 0.02 / 6.0 * (power[:-2] + 4.0 * power[1:-1] + power[2:])
        np.testing.assert_allclose(work[2:] - work[:-2], simpson, rtol=0, atol=1e-6 * np.ptp(work))


def test_without_a_ledger_it_says_so():
    run = bc.simulate(door(), 0.02)
    with pytest.raises(bc.MechanismError, match="ledger=True"):
        run.energy_balance()
    with pytest.raises(bc.MechanismError, match="ledger=True"):
        _ = run.force("coil").work


def test_parts_pickles_and_files_keep_it(run, tmp_path):
    run.save(tmp_path / "run.h5")
    recorded = bc.simulate(door(), 0.4, path=tmp_path / "recorded.h5", **SETTINGS)
    for other in (pickle.loads(pickle.dumps(run)), bc.Trajectory.load(tmp_path / "run.h5"), recorded):
        assert other.layout == run.layout
        assert np.array_equal(other.store.read("works"), run.store.read("works"))
    balance = run[10:30].energy_balance()
    assert balance.error < 1e-6
    assert balance.lost["rubbing"][0] == 0.0
    assert run.resample(step=0.004).energy_balance().error < 1e-6


def test_runs_that_follow_each_other_count_on(run):
    after = bc.simulate(door(), 0.3, state=run.at(0.4), **SETTINGS)
    whole = bc.concatenate([run[:8], run[8:20], run[19:], after[:7], after[7:]])
    assert np.array_equal(whole.store.read("works")[: len(run)], run.store.read("works"))
    assert whole.energy_balance().error < 1e-6
    assert whole.force("rubbing").work[-1] == pytest.approx(
        run.force("rubbing").work[-1] + after.force("rubbing").work[-1], rel=1e-12
    )


def test_tables_have_it(run):
    assert np.array_equal(run.to_dict()["drive.shake.work [J]"], run.drive("shake").work)
    assert np.array_equal(run.to_dict()["force.coil.work [J]"], run.force("coil").work)


def test_a_frame_of_now_has_it():
    live = bc.start(door(), output_step=0.1, ledger=True)
    live.advance(0.25)
    now, recorded = live.now(), live.trajectory
    assert now.time[0] == 0.25
    assert now.force("rubbing").work[0] < recorded.force("rubbing").work[-1] < 0.0


def test_it_is_handed_over_to_another_formulation(monkeypatch):
    """The first run of the core ends in the middle, as where a formulation breaks down."""
    made, real = [], course.core_run

    class Breaking:
        def __init__(self, run):
            self._run = run

        def __getattr__(self, name):
            return getattr(self._run, name)

        def advance(self, outputs, end, last, flush, *callbacks):
            self._run.advance([time for time in outputs if time <= 0.5], 0.5, False, False, *callbacks)
            return False

        def outcome(self):
            return {**self._run.outcome(), "status": "step_vanished", "body": 0}

    def run(*arguments):
        made.append(real(*arguments))
        return Breaking(made[-1]) if len(made) == 1 else made[-1]

    monkeypatch.setattr(course, "core_run", run)
    told = bc.simulate(gallery.chain(3, angle=0.3), 1.0, ledger=True)
    assert len(made) == 2
    assert told.energy_balance().error < 1e-6
    mech = door()
    made.clear()
    told = bc.simulate(mech, 1.0, **SETTINGS)
    assert len(made) == 2
    assert told.energy_balance().error < 1e-6


def falsified(run, account, change):
    sections = {name: np.array(run.store.read(name)) for name in run.layout.shapes}
    sections["works"][:, run.layout.works.index(account)] += change
    return bc.Trajectory(run.layout, MemoryStore(sections), run.status, run.statistics, run.origin)


def test_verify_judges_by_it(run):
    assert bc.verify(run), str(bc.verify(run))
    assert bc.verify(run)["works"].value is not None
    size = 1e-4 * np.sin(9.0 * run.time) * run.energy_balance().exchanged
    wrong = falsified(run, "force 'rubbing'", size)
    assert not bc.verify(wrong)["energy"].passed
    both = falsified(wrong, "force 'coil'", -size)  # their errors make up for each other
    assert bc.verify(both)["energy"].passed
    assert not bc.verify(both)["works"].passed
    assert "coil" in bc.verify(both)["works"].where or "rubbing" in bc.verify(both)["works"].where
