"""Bodies that come together under constraint forces: each error dies out critically damped."""

import numpy as np
import pytest
from rigs.closed_loops import largest_gap, random_loop, shaken, stewart_platform
from rigs.linkages import rods_that_contradict

import bellcrank as bc
from bellcrank.gallery import bricard_linkage, n_four_bar


def decay(run, time_constant):
    """(1 + t/tau) exp(-t/tau), what is left of an error that starts at rest."""
    s = (run.time - run.time[0]) / time_constant
    return (1.0 + s) * np.exp(-s)


@pytest.mark.parametrize(
    "make",
    [lambda rng: n_four_bar(1), lambda rng: bricard_linkage(), random_loop, lambda rng: stewart_platform()],
)
@pytest.mark.parametrize("seed", range(3))
def test_the_largest_error_dies_out_critically_damped(make, seed):
    rng = np.random.default_rng(seed)
    mech = shaken(make(rng), rng, 0.3, 0.3)
    report = bc.assemble(mech, method="constraint_forces", time_constant=0.2)
    motion = report.motion
    error = motion.violation.position
    assert error == pytest.approx(error[0] * decay(motion, 0.2), rel=1e-2, abs=1e-8)
    assert error[-1] < 1e-7
    assert largest_gap(mech) < 1e-10
    assert report.method == "constraint forces"


def test_every_coordinate_follows_the_same_law():
    """A ball on two rails apart from it: x and y of its joint go to zero as the oscillator says."""
    mech = bc.Mechanism("ball")
    ball = mech.add_body("ball", 2.0, (1, 1, 1), position=(0.4, -0.3, 5.0))
    mech.add_joint("rail", bc.PointOnLine(), mech.ground.marker(axis=(0, 0, 1)), ball.marker())
    motion = bc.assemble(mech, method="constraint_forces").motion
    law = decay(motion, 0.1)
    where = motion.body("ball").position
    assert where[:, 0] == pytest.approx(0.4 * law, abs=1e-6)
    assert where[:, 1] == pytest.approx(-0.3 * law, abs=1e-6)
    assert where[:, 2] == pytest.approx(5.0, abs=1e-12)


def test_rough_placements_close_too():
    closed = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        mech = shaken(random_loop(rng), rng)
        try:
            bc.assemble(mech, method="constraint_forces")
        except bc.AssemblyError:
            continue
        closed += largest_gap(mech) < 1e-10
    assert closed >= 19


def test_a_pinned_body_stays_and_drives_stand_still():
    mech = shaken(n_four_bar(1), np.random.default_rng(0), 0.1, 0.1)
    mech.add_drive("motor", joint="pivot 0", position=bc.Harmonic(0.0, 0.0, offset=1.4, slope=5.0))
    bc.assemble(mech, pinned=(), method="constraint_forces")
    system = bc.prepare(mech)
    angle = system.core.coordinates()[0][system.model.joint("pivot 0").coordinates[0]]
    assert angle == pytest.approx(1.4, abs=1e-9)
    still = mech.bodies["crank 1"]
    mech.replace(mech.bodies["coupler 0"], position=(0.3, 0.8, 0.2))
    bc.assemble(mech, pinned="crank 1", method="constraint_forces")
    assert mech.bodies["crank 1"].position == still.position
    assert largest_gap(mech) < 1e-10


def test_what_cannot_close_is_refused_with_the_gap():
    mech = rods_that_contradict()
    with pytest.raises(bc.AssemblyError, match=r"short.* by 0\.1"):
        bc.assemble(mech, method="constraint_forces")
    with pytest.raises(bc.MechanismError, match="root_finding"):
        bc.assemble(mech, method="root finding")
    with pytest.raises(bc.MechanismError, match="time_constant"):
        bc.assemble(mech, method="constraint_forces", time_constant=0.0)


def test_a_run_closes_the_mechanism_and_goes_on():
    """Shaken apart, it falls and closes; then lagrange keeps it closed, and the energy stays what it was."""
    mech = shaken(n_four_bar(1, tip_speed=0.0, angle=1.2), np.random.default_rng(2), 0.2, 0.2)
    run = bc.simulate(mech, 6.0, assemble="constraint_forces", method="dopri5", output_step=0.01)
    closed = run.statistics["closed_at"]
    assert 1.5 < closed < 4.0
    before, after = run.time < closed, run.time >= closed
    error = run.violation.position
    assert error[before][0] > 0.05
    assert np.all(np.diff(error[before]) < 1e-5)
    assert np.max(error[after]) < 1e-10
    assert np.all(np.diff(run.time) > 0.0)
    jump = np.abs(np.diff(run.body("coupler 0").position, axis=0))
    assert np.max(jump) < 0.15  # no leap where the one takes over from the other
    energy = run.energy.total[after]
    assert energy == pytest.approx(energy[0], abs=1e-6 * (1.0 + np.max(run.energy.kinetic)))
    assert np.all(np.isnan(run.joint("pivot 0").reaction[before]))
    assert np.all(np.isfinite(run.joint("pivot 0").reaction[after]))


def test_a_run_too_short_to_close_is_refused():
    mech = shaken(n_four_bar(1), np.random.default_rng(2), 0.2, 0.2)
    with pytest.raises(bc.MechanismError, match="constraint forces take"):
        bc.simulate(mech, 0.5, assemble="constraint_forces")
    with pytest.raises(bc.MechanismError, match="True, False, 'projection' or 'constraint_forces'"):
        bc.simulate(mech, 0.5, assemble="constraint forces")


def test_the_plot_shows_the_error_beside_the_critical_decay():
    pytest.importorskip("matplotlib")
    mech = shaken(bricard_linkage(), np.random.default_rng(0), 0.3, 0.3)
    motion = bc.assemble(mech, method="constraint_forces").motion
    (axes,) = motion.plot("violation").axes
    names = {text.get_text() for text in axes.get_legend().get_texts()}
    assert "critically damped" in names
    plain = bc.simulate(mech, 0.01).plot("violation").axes[0]
    assert len(plain.get_lines()) < len(axes.get_lines())
