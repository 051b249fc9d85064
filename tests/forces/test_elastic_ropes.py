"""Elastic ropes and belts: tensions, energies and what they take from the start, against closed forms."""

import numpy as np
import pytest
from rigs.ropes import BELT, EXACT, FORMULATIONS, G, belt, run, weight, wheel

import bellcrank as bc

EA = 1e4


def hung(mass=5.0, **rope):
    """A weight on a rope over a fixed pulley, which ends at the ground."""
    mech = bc.Mechanism("hung")
    load = weight(mech, "load", (0.2, 0, -1), mass)
    top = mech.ground.marker((0, 0, 2), z_axis="y")
    mech.add_force(
        "rope", bc.ElasticRope((0, 0.2, 0), EA, **rope), mech.ground.marker((-0.2, 0, 1)), top, load
    )
    return mech


LENGTH = 1.0 + 0.2 * np.pi + 3.0


def test_a_weight_bounces_on_it():
    """With no pretension it starts at the unstretched length: z = -m g/k (1 - cos w t), k = EA/l."""
    found = run(hung(), 1.0)
    stiffness = EA / LENGTH
    w = np.sqrt(stiffness / 5.0)
    fallen = 5.0 * G / stiffness * (1.0 - np.cos(w * found.time))
    assert found.body("load").position[:, 2] == pytest.approx(-1.0 - fallen, abs=1e-9)
    assert found.force("rope").quantity("tension") == pytest.approx(stiffness * fallen, abs=1e-6)
    assert found.energy.total == pytest.approx(found.energy.total[0], abs=1e-9)
    assert bc.verify(hung(), found).passed


def test_pretension_and_length():
    """At a pretension of its weight it rests; lengths say the same as the pretension."""
    at_rest = run(hung(pretension=5.0 * G), 0.5)
    assert np.ptp(at_rest.body("load").position[:, 2]) < 1e-10
    by_length = run(hung(lengths=(LENGTH / (1.0 + 5.0 * G / EA),)), 0.5)
    assert np.ptp(by_length.body("load").position[:, 2]) < 1e-10
    slack = run(hung(lengths=(LENGTH + 0.1,)), 0.5)
    free = slack.time < np.sqrt(0.2 / G)
    assert slack.body("load").position[free, 2] == pytest.approx(
        -1.0 - 0.5 * G * slack.time[free] ** 2, abs=1e-9
    )
    assert slack.force("rope").quantity("tension").min() == 0.0
    assert slack.force("rope").quantity("tension").max() > 5.0 * G


def test_damping_takes_energy_and_never_pushes():
    found = run(hung(damping=60.0, lengths=(LENGTH + 0.02,)), 2.0)
    assert found.force("rope").quantity("tension").min() >= 0.0
    assert found.force("rope").quantity("tension")[-1] == pytest.approx(5.0 * G, rel=0.02)
    assert bc.verify(hung(damping=60.0, lengths=(LENGTH + 0.02,)), found).passed


def hoist(gripped=(), **rope):
    mech = bc.Mechanism("hoist")
    drum, load = wheel(mech, "drum", (-2, 0, 0), 10.0, 0.3), weight(mech, "load", (0.2, 0, -1), 5.0)
    top = wheel(mech, "top", (0, 0, 2), 1.0, 0.02)
    mech.add_force("rope", bc.ElasticRope((0.25, 0.2, 0), EA, gripped=gripped, **rope), drum, top, load)
    return mech


@pytest.mark.parametrize("gripped", [(), (2,)])
def test_formulations_agree_and_energy_stays(gripped):
    runs = [run(hoist(gripped, pretension=20.0), 0.6, f, accelerations=True) for f in FORMULATIONS]
    for found in runs:
        assert found.body("load").position[-1] == pytest.approx(runs[0].body("load").position[-1], abs=1e-9)
        assert found.energy.total == pytest.approx(found.energy.total[0], abs=1e-9)
    assert len(runs[0].force("rope").quantities) == 1 + len(gripped)
    assert bc.verify(hoist(gripped, pretension=20.0), runs[0]).passed


def test_it_is_softer_the_more_a_drum_has_paid_out():
    """EA over the length without load that is off the drum: after a turn, by 2 pi r."""
    mech = hoist(pretension=5.0 * G)
    mech.add_drive("drum", "axle drum", position=bc.Ramp(0.0, 2 * np.pi, duration=2.0))
    mech.add_force("damping", bc.BodyDamping((30.0, 30.0, 30.0)), "load")
    found = bc.simulate(mech, 8.0, method="dopri5", rtol=1e-10, atol=1e-10)
    before, after = bc.rope_path(mech, "rope").length, bc.rope_path(mech, "rope", found.at(8.0)).length
    unloaded = before / (1.0 + 5.0 * G / EA) + 2 * np.pi * 0.25
    assert found.force("rope").quantity("tension")[-1] == pytest.approx(5.0 * G, rel=1e-5)
    assert EA * (after / unloaded - 1.0) == pytest.approx(5.0 * G, rel=1e-5)


def test_stiff_ropes_come_near_to_inextensible_ones():
    def made(kind, **values):
        mech = bc.Mechanism("m")
        drum, load = wheel(mech, "drum", (-2, 0, 0), 10.0, 0.3), weight(mech, "load", (0.2, 0, -1), 5.0)
        add = mech.add_force if kind is bc.ElasticRope else mech.add_constraint
        add("rope", kind((0.25, 0.2, 0), **values), drum, mech.ground.marker((0, 0, 2), z_axis="y"), load)
        return run(mech, 0.5).body("load").position[-1]

    assert made(bc.ElasticRope, stiffness=1e9) == pytest.approx(made(bc.Rope), abs=1e-6)


@pytest.mark.parametrize("smooth", [(), (3,)])
def test_an_elastic_belt(smooth):
    mech = belt(lambda radii: bc.ElasticBelt(radii, 5e4, smooth=smooth, pretension=20.0, damping=5.0), **BELT)
    found = run(mech, 1.0, accelerations=True)
    assert bc.verify(mech, found).passed
    turned = [0, 1] if smooth else [0, 1, 2]
    inertia = sum(0.01 * (k + 1) * (0.1 / BELT["radii"][k]) ** 2 for k in turned)
    speed = found.joint("axle w0").velocity[-1].item()
    assert speed == pytest.approx(0.5 / inertia, rel=0.03)
    assert len(found.force("belt").quantities) == len(turned)
    first = [found.force("belt").quantity(name)[0] for name in found.force("belt").quantities]
    assert first == pytest.approx([20.0] * len(turned), rel=1e-12)


def test_a_run_goes_on_from_a_state():
    whole, first = run(hoist(pretension=9.0), 0.8), run(hoist(pretension=9.0), 0.3)
    then = bc.simulate(hoist(pretension=9.0), 0.5, start=0.3, state=first.at(0.3), **EXACT)
    assert then.body("load").position[-1] == pytest.approx(whole.body("load").position[-1], abs=1e-9)


@pytest.mark.parametrize("gripped", [(), (2,)])
def test_a_mechanism_at_rest_keeps_the_lengths(gripped):
    mech = hoist(gripped, pretension=9.0)
    mech.add_force("spring", bc.TorsionSpring(500.0), "axle drum")
    if gripped:
        mech.add_force("rest", bc.TorsionSpring(0.1), "axle top")
    rest = bc.statics(mech)
    lengths = rest.at.forces["rope"].kind.lengths
    assert len(lengths) == 1 + len(gripped)
    found = run(rest.at, 0.1)
    assert np.ptp(found.body("load").position[:, 2]) < 1e-8
    last = f"tension {1 + len(gripped)}" if gripped else "tension"
    assert found.force("rope").quantity(last)[-1] == pytest.approx(5.0 * G, rel=1e-8)


def test_derivatives_of_runs_are_exact_or_refused():
    def made(mass=5.0):
        mech = bc.Mechanism("m")
        height, k = mech.add_parameter("height", 2.0, "m"), mech.add_parameter("k", mass, "kg")
        drum, load = wheel(mech, "drum", (-2, 0, 0), 10.0, 0.3), weight(mech, "load", (0.2, 0, -1), k)
        top = mech.ground.marker((0, 0, height), z_axis="y")
        mech.add_force("rope", bc.ElasticRope((0.25, 0.2, 0), EA, pretension=20.0), drum, top, load)
        return mech

    got = bc.sensitivity(made(), 0.2, of="body.load.z", by="k", **EXACT).values[-1].item()
    beside = [run(made(5.0 + h), 0.2).body("load").position[-1, 2] for h in (1e-3, -1e-3)]
    assert got == pytest.approx((beside[0] - beside[1]) / 2e-3, rel=1e-6)
    with pytest.raises(bc.Unsupported, match="'height': it decides where ropes start"):
        bc.sensitivity(made(), 0.2, of="body.load.z", by="height", **EXACT)
