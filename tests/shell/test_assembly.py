"""Assembly in the shell: at once, or by constraint forces so that it is seen."""

import numpy as np
import pytest

from bellcrank.shell.interpreter import Shell

CHAIN = (
    "ib upper",
    "ib lower",
    "sb lower -t 0.5 1 -0.6",
    "joint top Spherical {body: ground, position: [0, 0, 1]} {body: upper, position: [0, 0, 0.5]}",
    "joint middle Spherical {body: upper, position: [0, 0, -0.5]} {body: lower, position: [0, 0, 0.5]}",
)


def error(run):
    return run.violation.position


def test_by_constraint_forces_the_motion_is_kept_and_drawn(shell, run):
    run(*CHAIN, "sstepsize 0.05", "draw bolio")
    reply = run("assemble method=constraint_forces time_constant=0.05")
    motion = shell.session.trajectory()
    assert reply.data["frames"] == len(motion) > 100
    assert sum(line.startswith("pose lower ") for line in reply.data["drawn"]) == len(motion) - 1
    assert reply.text.splitlines()[0].startswith("time ")
    assert error(motion)[0] > 0.5
    assert error(motion)[-1] < 1e-8
    assert run("rtime").data["time"] == 0.0
    at = shell.session.mechanism.bodies["lower"].position
    np.testing.assert_allclose(motion.body("lower").position[-1], at, atol=1e-7)
    run("step 1")
    np.testing.assert_allclose(
        shell.session.trajectory().time, [0.0, 0.05]
    )  # the motion was before the clock


def test_root_finding_has_no_motion(shell, run):
    assert run(*CHAIN, "assemble").data["changed"]
    assert not shell.session.now.history
    other = Shell()
    for line in (*CHAIN, "sb lower -t 0.6 0 -0.3", "assemble lower method=constraint_forces"):
        assert other.execute(line).ok
    np.testing.assert_allclose(other.session.mechanism.bodies["lower"].position, (0.6, 0, -0.3), atol=1e-9)


@pytest.mark.parametrize("command", ["run 3 output_step=0.05", "step 60"])
@pytest.mark.parametrize("formulation", ["lagrange", "recursive", "symbolic"])
def test_a_run_begins_with_the_snapping(shell, run, command, formulation):
    run(*CHAIN, "gravity 0 0 -9.81", "sstepsize 0.05", f"formulation {formulation}")
    run(f"{command} assemble=constraint_forces")
    seen = shell.session.trajectory()
    closed = seen.statistics["closed_at"]
    assert 0.5 < closed < 3.0
    assert error(seen)[0] > 0.5
    assert np.all(error(seen)[seen.time > closed] < 1e-6)
    assert np.max(np.linalg.norm(np.diff(seen.body("lower").position, axis=0), axis=1)) < 0.5  # no jump
    run("step 10")
    history = shell.session.trajectory()
    np.testing.assert_allclose(history.time, 0.05 * np.arange(71), atol=1e-9)
    assert np.all(error(history)[history.time > closed] < 1e-6)


def test_what_is_taken_from_the_start_is_that_of_the_closed_structure(shell, run):
    run(*CHAIN, "force spring SpringDamper ground lower stiffness=50 damping=20")
    run("run 4 output_step=0.05 assemble=constraint_forces")
    closed = shell.session.model()
    run("step 5")
    assert shell.session.model() is closed
    run("reset")
    assert shell.session.model() is not closed


def test_a_run_too_short_for_the_snapping_is_refused(shell, run):
    run(*CHAIN)
    reply = shell.execute("run 0.1 assemble=constraint_forces")
    assert not reply.ok
    assert "let the run last longer" in reply.text
    assert shell.session.now.live is None


def test_a_run_may_snap_together_after_others(shell, run):
    run("ib a", "sb a -vl 1 0 0", "run 1", "ib b", "sb b -t 3 0 0")
    run("joint tie Spherical {body: a, position: [0.5, 0, 0]} {body: b, position: [-0.5, 0, 0]}")
    run("run 4 assemble=constraint_forces")
    assert shell.session.now.time == pytest.approx(5.0)
    momentum = shell.session.state().velocity.sum(axis=0)
    np.testing.assert_allclose(momentum, (1.0, 0, 0), atol=1e-6)
