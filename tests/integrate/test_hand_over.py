"""Where a formulation that was chosen breaks down, another one goes on, and the run says so."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank import gallery
from bellcrank.run import course

BREAK = 0.43


class Breaking:
    """A run of the core that breaks down at a time."""

    def __init__(self, run, status):
        self._run, self._status, self._broken = run, status, False

    def __getattr__(self, name):
        return getattr(self._run, name)

    def advance(self, outputs, end, last, flush, *callbacks):
        if end < BREAK:
            return self._run.advance(outputs, end, last, flush, *callbacks)
        self._run.advance([time for time in outputs if time <= BREAK], BREAK, False, False, *callbacks)
        self._broken = True
        return False

    def outcome(self):
        return {
            **self._run.outcome(),
            **({"status": self._status, "row": 0, "body": 0} if self._broken else {}),
        }


@pytest.fixture(params=["step_vanished", "constraints_lost", "not_finite"])
def breaking(request, monkeypatch):
    """The first core run of each simulation breaks down; how many have been made."""
    made, real = [], course.core_run

    def run(*arguments):
        made.append(real(*arguments))
        return Breaking(made[-1], request.param) if len(made) == 1 else made[-1]

    monkeypatch.setattr(course, "core_run", run)
    return made


@pytest.mark.parametrize("make", [lambda: gallery.chain(3, angle=0.3), gallery.four_bar])
def test_the_other_formulation_goes_on(make, breaking):
    run = bc.simulate(make(), 1.0)
    told = run.statistics
    assert len(breaking) == 2
    assert run.status == "finished"
    assert told["formulation"] == ("lagrange" if "joint 2" in run.joints else "recursive")
    assert f"broke down at t = {BREAK} s, {told['formulation']} goes on" in told["choice"]
    exact = bc.simulate(make(), 1.0, method="dopri5", formulation="lagrange", tolerance=1e-12)
    np.testing.assert_array_equal(run.time, exact.time)
    for name in run.bodies:
        np.testing.assert_allclose(run.body(name).position, exact.body(name).position, atol=1e-6)
    for name in run.joints:
        np.testing.assert_allclose(run.joint(name).position, exact.joint(name).position, atol=1e-6)


def test_events_and_counts_of_both_are_kept(breaking):
    mech = gallery.chain(2, angle=0.3)
    event = bc.Event("passage", "sin(6*swing + 0.5)", names={"swing": "joint 0"})
    given = {"duration": 2.0, "events": event}
    breaking.append(None)  # this one is left whole
    whole = bc.simulate(mech, formulation="lagrange", method="dopri5", **given)
    assert min(e.time for e in whole.events) < BREAK < max(e.time for e in whole.events)
    breaking.clear()
    run = bc.simulate(mech, **given)
    assert len(breaking) == 2
    assert [e.name for e in run.events] == [e.name for e in whole.events]
    assert [e.time for e in run.events] == pytest.approx([e.time for e in whole.events], abs=1e-6)
    done = [made.outcome() for made in breaking]
    assert run.statistics["steps"] == sum(told["steps"] for told in done)
    assert all(told["events"] for told in done)


def test_parts_go_on_too(breaking):
    run = bc.start(gallery.chain(3, angle=0.3))
    for _ in range(10):
        run.advance(0.1)
    done = run.stop()
    assert done.statistics["formulation"] == "lagrange"
    assert done.time == pytest.approx(np.linspace(0.0, 1.0, 11))
    assert done.statistics["steps"] > breaking[1].outcome()["steps"] > 0


def test_a_formulation_that_was_named_stays(breaking):
    with pytest.raises(bc.SimulationError) as caught:
        bc.simulate(gallery.chain(3, angle=0.3), 1.0, formulation="recursive")
    assert len(breaking) == 1
    assert caught.value.time == pytest.approx(BREAK)


def test_fixed_steps_and_controllers_stay(breaking):
    with pytest.raises(bc.SimulationError):
        bc.simulate(gallery.chain(3, angle=0.3), 1.0, step=1e-3)
    breaking.clear()
    mech = gallery.chain(3, angle=0.3)
    with pytest.raises(bc.SimulationError):
        bc.simulate(mech, 1.0, controllers=bc.Controller(lambda time, readings: {}, period=0.1))
    assert len(breaking) == 1


def test_what_no_formulation_can_do_is_told_as_before():
    """A rocker is led beyond its reach: the message is that of the formulation that was chosen."""
    mech = gallery.four_bar()
    last = list(mech.joints)[-1]
    mech.add_drive("motor", joint=last, velocity=3.0)
    messages = []
    for formulation in ("auto", "lagrange"):
        with pytest.raises(bc.SimulationError) as caught:
            bc.simulate(mech, 5.0, formulation=formulation)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]
