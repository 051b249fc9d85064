"""Flat belts: creep, slip, rest and losses, against closed forms and a program of their own."""

from itertools import pairwise

import numpy as np
import pytest
from rigs.ropes import FORMULATIONS, belt, wheel

import bellcrank as bc

EA, PRETENSION, MU, APART = 5e4, 400.0, 0.4, 0.5
RADII = (0.05, 0.1)
WRAP = np.pi - 2.0 * np.arcsin((RADII[1] - RADII[0]) / APART)
SPAN = np.sqrt(APART**2 - (RADII[1] - RADII[0]) ** 2)
SURE = {"method": "bdf", "tolerance": 1e-8}


def shafts(load, motor=None, coefficients=(MU, MU), **fields):
    """Two wheels; the first is driven, up to 100 rad/s, or turned by a motor, and a load is on the second."""
    mech = bc.Mechanism("shafts")
    ends = [wheel(mech, name, (x, 0, 0), inertia=0.01) for name, x in (("in", 0.0), ("out", APART))]
    given = {"pretension": PRETENSION, "damping": 50.0, "coefficients": coefficients, **fields}
    mech.add_force("belt", bc.FlatBelt(RADII, EA, **given), *ends)
    if motor is None:
        mech.add_drive("motor", "axle in", velocity=bc.Ramp(0.0, 100.0, duration=0.2))
    else:
        mech.add_force("motor", motor, "axle in")
    mech.add_force("load", load, "axle out")
    return mech


def last(run, *names):
    return [run.force("belt").quantity(name)[-1] for name in names]


def speeds(run):
    return [run.joint(f"axle {name}").velocity[-1, 0] for name in ("in", "out")]


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_it_creeps_by_the_strains(formulation):
    """T1 - T2 = M/R; the lengths without load keep their sum; the speeds are as the strains."""
    run = bc.simulate(shafts(bc.JointMotor(-20.0)), 2.0, formulation=formulation, ledger=True, **SURE)
    loose, tight = last(run, "tension 1", "tension 2")
    assert tight - loose == pytest.approx(20.0 / 0.1, rel=1e-7)
    assert sum(1.0 / (1.0 + t / EA) for t in (loose, tight)) == pytest.approx(
        2.0 / (1.0 + PRETENSION / EA), rel=1e-10
    )
    first, second = speeds(run)
    ratio = RADII[1] * second / (RADII[0] * first)
    assert ratio == pytest.approx((1.0 + loose / EA) / (1.0 + tight / EA), abs=1e-8)
    assert last(run, "loss")[0] == pytest.approx((1.0 - ratio) * 10.0 * first, rel=1e-5)
    assert last(run, "creep 1", "slip 1", "slip 2") == pytest.approx(
        [(ratio - 1.0) * 5.0, 0.0, 0.0], abs=1e-7
    )
    stored = sum(0.5 * t**2 / EA * SPAN / (1.0 + t / EA) for t in (loose, tight))
    assert last(run, "energy")[0] == pytest.approx(stored, rel=1e-9)
    used = (tight - loose) / (tight + loose) / np.tanh(0.5 * MU * WRAP)
    assert last(run, "utilisation 1")[0] == pytest.approx(used, rel=1e-7)
    balance = run.energy_balance()
    assert np.abs(balance.residual).max() < 1e-6 * balance.exchanged
    assert bc.verify(shafts(bc.JointMotor(-20.0)), run).passed


@pytest.mark.parametrize("sense", [1.0, -1.0])
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_it_slips_at_eulers_ratio(formulation, sense):
    """The wheel of the smaller wrap slips; what it carries is limited, but for the resistance to slip."""
    mech = shafts(bc.JointMotor(0.0, droop=2.0), slip_resistance=0.1)
    motion = bc.Ramp(0.0, sense * 100.0, duration=0.2)
    mech.replace(mech.drives["motor"], velocity=motion)
    run = bc.simulate(mech, 1.0, formulation=formulation, **SURE)
    tight, loose = sorted(last(run, "tension 1", "tension 2"), reverse=True)
    slip, other = last(run, "slip 1", "slip 2")
    assert -sense * slip > 1.0
    assert other == 0.0
    assert tight - 0.1 * abs(slip) == pytest.approx(np.exp(MU * WRAP) * loose, rel=1e-7)
    limit = 2.0 * PRETENSION * np.tanh(0.5 * MU * WRAP) * 0.1
    assert 2.0 * abs(speeds(run)[1]) == pytest.approx(limit, rel=0.01)
    assert bc.verify(mech, run).passed


def test_it_is_what_a_program_of_its_own_finds():
    """From rest, through slip, to a steady load: by Runge and Kutta on the four equations, written here."""
    torque, droop, resistance, damping, inertia = 30.0, 0.5, 20.0, 50.0, 0.01
    mech = shafts(
        bc.JointMotor(0.0, droop=droop), bc.JointMotor(torque), slip_resistance=resistance, depth=1e-6
    )
    run = bc.simulate(mech, 0.4, **SURE)
    beta = [WRAP, 2.0 * np.pi - WRAP]
    begun = SPAN / (1.0 + PRETENSION / EA)

    def rates(y):
        w, lengths = y[:2], y[2:]
        strain = np.maximum(0.0, SPAN / lengths - 1.0)
        t = EA * strain
        slips = [
            (
                max(0.0, t[k] - np.exp(MU * beta[k]) * t[k - 1])
                - max(0.0, t[k - 1] - np.exp(MU * beta[k]) * t[k])
            )
            / resistance
            for k in (0, 1)
        ]
        v = w * RADII
        passes = [v[k] / (1.0 + strain[k - 1 if v[k] > 0.0 else k]) + slips[k] for k in (0, 1)]
        gained = np.array([passes[0] - passes[1], passes[1] - passes[0]])
        t = t + damping * (-SPAN / lengths * gained)
        pull = np.array([t[0] - t[1], t[1] - t[0]]) * RADII
        return np.concatenate([(pull + np.array([torque, -droop * w[1]])) / inertia, gained]), t

    y, h = np.array([0.0, 0.0, begun, begun]), 1e-5
    for _ in range(40_000):
        a = rates(y)[0]
        b = rates(y + 0.5 * h * a)[0]
        c = rates(y + 0.5 * h * b)[0]
        y = y + h / 6.0 * (a + 2.0 * b + 2.0 * c + rates(y + h * c)[0])
    assert np.abs(run.force("belt").quantity("slip 1")).max() > 1.0
    assert speeds(run) == pytest.approx(y[:2], rel=1e-5)
    assert last(run, "tension 1", "tension 2") == pytest.approx(rates(y)[1], rel=1e-5)


def test_it_holds_at_rest():
    """A load on the stalled drive stretches it, and then nothing creeps."""
    mech = shafts(bc.JointMotor(0.0), bc.JointMotor(8.0))
    mech.add_drive("stall", "axle out", velocity=0.0)
    run = bc.simulate(mech, 2.0)
    later = bc.simulate(mech, 60.0, state=run.at(2.0))
    assert np.ptp(later.joint("axle in").position) < 1e-8
    loose, tight = sorted(last(later, "tension 1", "tension 2"))
    assert tight - loose == pytest.approx(8.0 / 0.05, rel=1e-8)
    assert last(later, "utilisation 1")[0] < 1.0


def test_it_slips_on_a_stalled_wheel():
    mech = shafts(bc.JointMotor(0.0), bc.JointMotor(0.0, droop=1.0))
    mech.add_drive("stall", "axle out", velocity=0.0)
    mech.replace(mech.forces["motor"], kind=bc.JointMotor(40.0, droop=1.0))
    run = bc.simulate(mech, 0.5)
    loose, tight = sorted(last(run, "tension 1", "tension 2"))
    slip = last(run, "slip 1")[0]
    assert tight == pytest.approx(np.exp(MU * WRAP) * loose + EA / 1e6 * abs(slip), rel=1e-6)
    assert 40.0 - speeds(run)[0] == pytest.approx(0.05 * (tight - loose), rel=1e-5)


def test_it_recovers_from_an_overload_without_chatter():
    load = bc.JointMotor("-20 - 30*exp(-((t - 1)/0.1)^4)")
    run = bc.simulate(shafts(load), 2.0)
    slip, used = (run.force("belt").quantity(name) for name in ("slip 1", "utilisation 1"))
    assert slip.min() < -1.0
    assert used.max() < 1.01
    assert np.count_nonzero(np.diff(np.sign(np.where(np.abs(slip) < 1e-9, 0.0, slip)))) == 2
    before = np.searchsorted(run.time, 0.7)
    for name in ("tension 1", "tension 2", "creep 2", "loss"):
        values = run.force("belt").quantity(name)
        assert values[-1] == pytest.approx(values[before], rel=1e-4)


def test_it_runs_backwards_as_forwards():
    mech = shafts(bc.JointMotor(0.0, droop=0.4))
    mech.replace(mech.drives["motor"], velocity="100*cos(2*t)")
    run = bc.simulate(mech, np.pi, output_step=np.pi / 500, ledger=True, **SURE)
    there = len(run.time) // 2
    out, pull = run.joint("axle out").velocity[:, 0], run.force("belt")
    assert out[there] == pytest.approx(-out[-1], rel=1e-6)
    assert pull.quantity("tension 1")[there] == pytest.approx(pull.quantity("tension 2")[-1], rel=1e-6)
    assert pull.quantity("loss").min() > -1e-6
    assert bc.verify(mech, run).passed


def test_what_it_takes_is_kept_or_lost():
    run = bc.simulate(shafts(bc.JointMotor(0.0, droop=2.0)), 0.5, ledger=True, output_step=1e-4, **SURE)
    pull = run.force("belt")
    lost, kept = pull.quantity("loss"), pull.quantity("energy")
    gone = np.concatenate([[0.0], np.cumsum(0.5 * (lost[1:] + lost[:-1]) * np.diff(run.time))])
    assert -pull.work == pytest.approx(kept - kept[0] + gone, abs=1e-4 * gone[-1])


def test_unequal_spans_share_the_load_by_their_lengths():
    """Three wheels, one at the back of the belt, and an idler without friction that divides nothing."""
    places = ((0, 0, 0), (1, 0, 0), (0.5, 0, -0.23))
    radii, coefficients = (0.1, 0.25, -0.08), (0.5, 0.5, 0.5)

    def made(coefficients):
        mech = belt(
            lambda radii: bc.FlatBelt(radii, EA, 300.0, damping=50.0, coefficients=coefficients),
            radii,
            places,
        )
        mech.replace(mech.forces["motor"], kind=bc.JointMotor(8.0))
        mech.add_force("load", bc.JointMotor(0.0, droop=2.0), "axle w1")
        mech.add_force("air", bc.JointMotor(0.0, droop=0.01), "axle w2")
        return mech

    run = bc.simulate(made(coefficients), 3.0, **SURE)
    tension = np.array(last(run, "tension 1", "tension 2", "tension 3"))
    straight = bc.rope_path(made(coefficients), "belt").straight
    length = np.linalg.norm(straight[..., 1, :] - straight[..., 0, :], axis=-1).ravel()
    assert sum(length / (1.0 + tension / EA)) == pytest.approx(length.sum() / (1.0 + 300.0 / EA), rel=1e-9)
    turn = [run.joint(f"axle w{k}").velocity[-1, 0] for k in range(3)]
    rim = np.array(turn) * radii
    assert tension[0] - tension[2] == pytest.approx(-8.0 / 0.1, rel=1e-4)
    assert rim[1] / rim[0] == pytest.approx((1.0 + tension[0] / EA) / (1.0 + tension[2] / EA), abs=1e-6)
    assert rim[2] / rim[1] == pytest.approx((1.0 + tension[1] / EA) / (1.0 + tension[0] / EA), abs=1e-6)
    assert bc.verify(made(coefficients), run).passed
    idle = bc.simulate(made((0.5, 0.5, 0.0)), 3.0, **SURE)
    assert last(idle, "tension 2")[0] - last(idle, "tension 1")[0] == pytest.approx(80.0, rel=1e-4)
    assert "tension 3" not in idle.force("belt").quantities


def test_a_tensioner_moves():
    """Where a wheel's centre moves, what its ends wind off and up is counted; nothing is gained."""
    places = ((0, 0, 0), (1, 0, 0), (0.5, 0, -0.23))
    mech = belt(
        lambda radii: bc.FlatBelt(radii, EA, 100.0, damping=50.0, coefficients=(0.5, 0.5, 0.5)),
        (0.1, 0.25, -0.08),
        places,
        tensioner=True,
    )
    spring = mech.forces["spring"]
    mech.replace(spring, ends=(mech.ground.marker((0.5, 0, 0.6)), spring.ends[1]))
    run = bc.simulate(mech, 1.0, ledger=True, output_step=1e-3, **SURE)
    assert np.ptp(run.joint("slide").position) > 1e-3
    assert run.force("belt").quantity("loss").min() > -1e-6
    balance = run.energy_balance()
    assert np.abs(balance.residual).max() < 1e-6 * balance.exchanged
    assert bc.verify(mech, run).passed
    other = bc.simulate(mech, 1.0, formulation="recursive", **SURE)
    assert other.joint("axle w1").position[-1] == pytest.approx(run.joint("axle w1").position[-1], rel=1e-6)


def stalled(coefficient=MU):
    mech = shafts(bc.JointMotor(0.0), bc.JointMotor(8.0), coefficients=(coefficient, MU))
    mech.add_drive("stall", "axle out", velocity=0.0)
    return mech


def test_statics():
    """A quarter turn of work by hand: the tight span gains as much as the other loses."""
    rest = bc.statics(stalled())
    begun = SPAN / (1.0 + PRETENSION / EA)
    wound = rest.position["axle in"][0] * 0.05 / (1.0 + PRETENSION / EA)
    loose, tight = (EA * (SPAN / (begun + sign * wound) - 1.0) for sign in (1.0, -1.0))
    assert (tight - loose) * 0.05 == pytest.approx(8.0, rel=1e-9)
    assert rest.equilibrium.stability == "stable"
    assert not any("slips" in note for note in rest.equilibrium.notes)
    run = bc.simulate(rest.at, 0.5)
    assert np.ptp(run.joint("axle in").position) < 1e-9
    noted = bc.statics(stalled(0.1)).equilibrium.notes
    assert any("force 'belt': it slips there, since utilisation 1 is 1.3" in note for note in noted)


def test_a_run_goes_on_from_a_state_by_any_formulation():
    mech = shafts(bc.JointMotor(-20.0))
    whole, first = bc.simulate(mech, 1.0, **SURE), bc.simulate(mech, 0.4, **SURE)
    then = bc.simulate(mech, 0.6, start=0.4, state=first.at(0.4), formulation="recursive", **SURE)
    assert last(then, "tension 1", "loss") == pytest.approx(last(whole, "tension 1", "loss"), rel=1e-6)


def test_its_flywheels_come_and_go_with_it(tmp_path):
    mech = shafts(bc.JointMotor(-20.0))
    assert list(mech.bodies) == ["in", "out", "belt/1", "belt/2"]
    bc.save(mech, tmp_path / "belt.yaml")
    assert bc.load(tmp_path / "belt.yaml") == mech
    text = (tmp_path / "belt.yaml").read_text()
    plain = "".join(line for line in text.splitlines(keepends=True) if "{joint: belt/" not in line)
    for part in ("1", "2"):
        body, joint = plain.index(f"  belt/{part}: {{mass"), plain.index(f"  belt/{part}:\n")
        plain = plain[:joint] + plain[plain.index("\n", plain.index("second", joint)) + 1 :]
        plain = plain[:body] + plain[plain.index("\n", body) + 1 :]
    assert "belt/" not in plain
    (tmp_path / "plain.yaml").write_text(plain)
    assert bc.load(tmp_path / "plain.yaml").forces["belt"] == mech.forces["belt"]
    whole = bc.Mechanism("whole")
    whole.place(mech, "left")
    assert [end.joint for end in whole.forces["left/belt"].joint_coordinates] == [
        "left/belt/1",
        "left/belt/2",
    ]
    assert not [name for name, pieces in bc.scene.of(mech).bodies.items() if "belt/" in name and pieces]
    assert not any("belt/" in hint for hint in bc.info(mech).hints)
    mech.remove(mech.forces["belt"])
    assert list(mech.bodies) == ["in", "out"]
    assert list(mech.joints) == ["axle in", "axle out"]


def test_methods_of_fixed_steps_and_explicit_ones_agree():
    mech = shafts(bc.JointMotor(-20.0))
    runs = [
        bc.simulate(mech, 0.5, **how) for how in (SURE, {"method": "adams"}, {"method": "rk4", "step": 1e-4})
    ]
    found = [last(run, "tension 1", "tension 2") for run in runs]
    for one, two in pairwise(found):
        assert one == pytest.approx(two, rel=1e-4)


def test_faults():
    with pytest.raises(bc.MechanismError, match="coefficients must hold one number for each of 2 ends"):
        bc.FlatBelt(RADII, EA, coefficients=(0.3,))
    with pytest.raises(bc.MechanismError, match="a belt without any friction drives nothing"):
        bc.FlatBelt(RADII, EA, coefficients=(0.0, 0.0))
    with pytest.raises(bc.MechanismError, match="coefficients must not be negative"):
        bc.FlatBelt(RADII, EA, coefficients=(0.3, -0.1))
    mech = shafts(bc.JointMotor(-20.0))
    with pytest.raises(bc.MechanismError, match="this name is taken"):
        mech.add_force("belt", bc.FlatBelt(RADII, EA, coefficients=(0.3, 0.3)), "in", "out")
    with pytest.raises(bc.MechanismError, match="2 radii for 3 ends"):
        mech.add_force("other", bc.FlatBelt(RADII, EA, coefficients=(0.3, 0.3)), "in", "out", "ground")
    assert list(mech.bodies) == ["in", "out", "belt/1", "belt/2"]
