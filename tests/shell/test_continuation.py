"""Commands that go on in time keep the history of the method, unless something was changed."""

import numpy as np
import pytest

PENDULUM = ("gravity 0 -9.81 0", "body bob mass=1 inertia=[0.1, 0.1, 0.1] position=[0.5, 0, 0]",
            "joint pin Revolute ground {body: bob, position: [-0.5, 0, 0]}",
            "sb bob -if damping air", "sf bob air -d 0.01",
            "sacc -r 1e-7 -a 1e-7", "sstepsize 0.1")  # fmt: skip


def calls(shell):
    return sum(int(run.statistics["evaluations"]) for run in shell.session.now.history)


def restarted(shell):
    """Whether the last run began anew."""
    last = shell.session.now.history[-1].statistics
    return last["steps_since_restart"] == last["steps"]


@pytest.fixture
def going(run):
    """A pendulum that has gone on for some steps."""
    run(*PENDULUM, "step 3", "step 1")


@pytest.mark.parametrize("method", ["adams", "bdf"])
def test_ten_commands_are_one(shell, run, method):
    run(*PENDULUM, f"method {method}", "run 1 output_step=0.1")
    whole, once = shell.session.trajectory(), calls(shell)
    run("reset", *["step 1"] * 10)
    parts = shell.session.trajectory()
    np.testing.assert_allclose(parts.time, whole.time, atol=1e-12)
    np.testing.assert_allclose(parts.body("bob").position, whole.body("bob").position, atol=1e-5)
    assert calls(shell) < 1.5 * once  # steps end at the commands' ends
    told = run("rlsode").data
    assert told["calls"] == pytest.approx(calls(shell), abs=5)
    assert told["order"] > 3


def test_it_goes_on(shell, going):
    assert not restarted(shell)


@pytest.mark.parametrize(
    "change",
    [
        "method adams max_order=5",
        "sacc -r 1e-8",
        "formulation recursive",
        "parameter other 1",
        "stime 0",
        "undo",
        "sb bob -vr 0 0 1",
        "body other mass=1 inertia=[1, 1, 1]",
        "gravity 0 -1.6 0",
    ],
)
def test_a_change_starts_anew(shell, run, going, change):
    run(change, "step 1")
    assert restarted(shell)


def test_a_changed_force_starts_anew_and_acts(shell, run, going):
    before = shell.session.state()
    run("sf bob air -d 50", "step 3")
    assert restarted(shell)
    assert abs(shell.session.state().angular_velocity[0, 2]) < 0.2 * abs(before.angular_velocity[0, 2])


def test_looking_changes_nothing(shell, run, going):
    run("rlsode", "rtime", "pf", "sstepsize 0.05", "step 1")
    assert not restarted(shell)


def test_a_ledger_is_kept_where_it_is_wanted(shell, run):
    run(*PENDULUM)
    for _ in range(2):
        text = run("run 0.5 ledger=true").text
        assert "\nkinetic energy " in text
        assert "\nlargest residual, of " in text
    assert all(part.energy_balance().error < 1e-6 for part in shell.session.now.history)
    assert "residual" not in run("run 0.1").text
