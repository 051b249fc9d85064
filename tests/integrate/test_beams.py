"""Beams in motion: frequencies, stiffening by rotation, agreement of formulations, energy, rigid motion."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.mechanism.rotation import from_rotation_vector, multiply, rotate


def cantilever(segments=8, EA=1e6, EI=1.0, GJ=1.0, gravity=0.0, thin=1e-9, **given):
    """A beam of length 1 and of mass 1 along x that is clamped at the origin; thin: its rotary inertia."""
    mech = bc.Mechanism("cantilever", gravity=(0, 0, -gravity))
    section = bc.Section.general(
        EA=EA, GA=EA, GJ=GJ, EI=EI, mass_per_length=1.0, inertia_per_length=(2 * thin, thin, thin)
    )
    beam = mech.add_beam("beam", section, start="ground", end=(1, 0, 0), segments=segments, **given)
    return mech, beam


@pytest.mark.parametrize(("segments", "errors"), [(8, (1e-4, 6e-4, 8e-3)), (16, (5e-6, 6e-5, 3e-4))])
def test_frequencies_of_a_cantilever(segments, errors):
    mech, _ = cantilever(segments)
    values = np.abs(np.linalg.eigvals(bc.linearize(mech).A).imag)
    for exact, error in zip((1.875104, 4.694091, 7.854757), errors, strict=True):
        assert np.min(np.abs(values / exact**2 - 1.0)) < error


def test_a_free_beam():
    """The first frequency of a beam with free ends, beta L = 4.730041, and six rigid motions."""
    mech = bc.Mechanism("free", gravity=(0, 0, 0))
    section = bc.Section.general(
        EA=1e6, GA=1e6, GJ=1.0, EI=1.0, mass_per_length=1.0, inertia_per_length=(2e-9, 1e-9, 1e-9)
    )
    mech.add_beam("beam", section, start=(0, 0, 0), end=(1, 0, 0), segments=8)
    values = np.abs(np.linalg.eigvals(bc.linearize(mech).A).imag)
    assert np.min(np.abs(values / 4.730041**2 - 1.0)) < 1e-3


def test_damping_is_in_proportion_to_stiffness():
    """The damping ratio of a mode is half of damping times its circular frequency."""
    mech, _ = cantilever(damping=0.02)
    values = np.linalg.eigvals(bc.linearize(mech).A)
    first = values[np.argmin(np.abs(np.abs(values) - 1.875104**2))]
    assert -first.real / np.abs(first) == pytest.approx(0.01 * np.abs(first), rel=1e-6)


def swinging(**given):
    """A soft beam in space, hung at one end, with a weight that is off its axis."""
    mech = bc.Mechanism("swinging")
    section = bc.Section.general(EA=2e3, GA=1e3, GJ=0.6, EI=(0.5, 1.0), mass_per_length=1.0)
    beam = mech.add_beam("beam", section, start=("ground", bc.Spherical()), end=(0.8, 0.2, 0.1), **given)
    load = mech.add_body("load", mass=0.3, inertia=(0.01, 0.02, 0.02), position=(0.8, 0.3, 0.1))
    mech.join("bolt", bc.Fixed(), [beam.nodes[-1], load], at=(0.8, 0.3, 0.1))
    return mech


@pytest.mark.parametrize("formulation", ["recursive", "symbolic", "dca"])
def test_formulations_agree(formulation):
    mech = swinging(segments=3, damping=1e-3)
    one = bc.prepare(mech, "lagrange")
    state = bc.simulate(mech, 0.2, formulation="lagrange", tolerance=1e-9).at(0.2)
    two = bc.prepare(mech, formulation)
    found, expected = two.accelerate(state), one.accelerate(state)
    size = np.abs(expected.linear).max()
    assert found.linear == pytest.approx(expected.linear, abs=1e-8 * size)
    assert found.angular == pytest.approx(expected.angular, abs=1e-8 * np.abs(expected.angular).max())


def test_adaptive_agrees_at_rest():
    mech = swinging(segments=4)
    turned = multiply(mech.bodies["beam/2"].rotation, from_rotation_vector((0.1, 0.05, -0.08)))
    mech.replace(mech.bodies["beam/2"], rotation=turned)
    one, two = (bc.prepare(mech, name).accelerate() for name in ("lagrange", "adaptive"))
    assert two.angular == pytest.approx(one.angular, abs=1e-10 * np.abs(one.angular).max())


def test_energy_is_kept_and_verified():
    mech = swinging(segments=4)
    run = bc.simulate(mech, 0.5, method="adams", tolerance=1e-9, ledger=True)
    assert run.energy.total == pytest.approx(run.energy.total[0], abs=1e-6)
    beam = run.beam("beam")
    elastic = run.energy.potential - sum(
        9.81 * mech.bodies[name].mass * run.body(name).com_position[:, 2] for name in run.bodies
    )
    assert beam.strain_energy == pytest.approx(elastic - elastic[0], abs=1e-8)
    assert np.max(beam.largest_turn) > 0.1
    assert bc.verify(run).passed


def test_auto_takes_lagrange():
    mech, _ = cantilever(EA=1e5, gravity=1.0, thin=1e-4)
    mech.replace(mech.joints["beam/start"], kind=bc.Revolute())
    assert "lagrange: beams" in bc.prepare(mech).reason


def test_results_are_the_same_wherever_it_stands():
    """A bent beam that is turned and moved as a whole has the same loads and accelerations."""
    rng = np.random.default_rng(1)
    bent = swinging(segments=4)
    state = bc.simulate(bent, 0.3, tolerance=1e-8).at(0.3)
    shift, turn = rng.normal(size=3), from_rotation_vector(tuple(rng.normal(size=3)))
    found = []
    for moved in (False, True):
        mech = bc.Mechanism("free", gravity=(0, 0, 0))
        beam = mech.add_beam(
            "beam", bent.beams["beam"].section, (0, 0, 0), bent.beams["beam"].length * np.eye(3)[0], 4
        )
        for name in beam.nodes:
            k = list(bent.bodies).index(name)
            place, pose = tuple(state.position[k]), tuple(state.rotation[k])
            if moved:
                place, pose = shift + rotate(turn, place), multiply(turn, pose)
            mech.replace(mech.bodies[name], position=place, rotation=pose)
        result = bc.statics(mech, pinned=beam.nodes).beam("beam")
        linear = bc.prepare(mech, "lagrange").accelerate().linear
        found.append((result.force([0.1, 0.4]), result.moment([0.1, 0.4]), result.strain_energy, linear))
    one, two = found
    for a, b in zip(one[:3], two[:3], strict=True):
        assert b == pytest.approx(a, rel=1e-9, abs=1e-9 * np.abs(a).max())
    turned = np.array([rotate(turn, tuple(a)) for a in one[3]])
    assert two[3] == pytest.approx(turned, abs=1e-10 * np.abs(turned).max())


def test_spin_up():
    """The benchmark of a beam that is spun up to 6 rad/s in 15 s (J. C. Simo and L. Vu-Quoc, 1987).

    In the end it is stretched as a rod that turns; on the way its tip lags.
    """
    mech = bc.Mechanism("spin-up", gravity=(0, 0, 0))
    section = bc.Section.general(
        EA=2.8e7, GA=1e7, GJ=1.4e4, EI=1.4e4, mass_per_length=1.2, inertia_per_length=(1.2e-3, 6e-4, 6e-4)
    )
    hub = mech.ground.marker()
    mech.add_beam("beam", section, start=(hub, bc.Revolute()), end=(10, 0, 0), segments=8, damping=1e-3)
    t = bc.expression.t
    rising = 0.4 * (t**2 / 2 + (15 / (2 * np.pi)) ** 2 * (bc.expression.cos(2 * np.pi * t / 15) - 1))
    mech.add_drive("spin", "beam/start", position=bc.expression.piecewise(t < 15, rising, 6 * t - 45))
    run = bc.simulate(mech, 17.0, tolerance=1e-6, output_step=0.02)
    beam = run.beam("beam")
    lag = beam.deflection(10.0)
    assert np.max(np.abs(lag[:, 1])) == pytest.approx(0.5738, abs=3e-4)
    assert np.mean(lag[-20:, 0]) == pytest.approx(5.143e-4, rel=2e-3)
    assert beam.force(0.0)[-20:, 0].mean() == pytest.approx(36 * 1.2 * 50, rel=2e-3)


def test_a_segment_that_turns_too_far_ends_the_run():
    mech, beam = cantilever(segments=2, EA=1e3, thin=1e-2, gravity=30.0)
    with pytest.raises(
        bc.SimulationError, match=r"beam 'beam': it turns by 1\.\d+ rad within the segment at 0.25 m"
    ):
        bc.simulate(mech, 3.0)
    mech.gravity = (0, 0, 0)
    mech.replace(mech.bodies[beam.nodes[-1]], rotation=bc.rotation("y", 1.2))
    with pytest.raises(
        bc.BellcrankError, match=r"within the segment at 0.75 m.*give it more segments than 2"
    ):
        bc.simulate(mech, 1.0)


def test_rests_too_are_judged():
    mech, beam = cantilever(segments=2, EA=1e3)
    mech.add_force("load", bc.Wrench(force=(0, 0, 20.0)), beam.marker(1.0))
    with pytest.raises(bc.AssemblyError, match="give it more segments than 2"):
        bc.find_equilibrium(mech)


def test_saved_runs_have_beams(tmp_path):
    mech, _ = cantilever(segments=4, EA=1e4, gravity=1.0, thin=1e-3)
    run = bc.simulate(mech, 0.05, output_step=0.01)
    run.save(tmp_path / "run.h5")
    again = bc.Trajectory.load(tmp_path / "run.h5")
    assert again.beams == ("beam",)
    assert again.beam("beam").moment().shape == (6, 5, 3)
    assert again.beam("beam").moment([0.0, 0.6]) == pytest.approx(run.beam("beam").moment([0.0, 0.6]))


def test_the_sag_by_the_diameter():
    """Its own weight grows with the square of the diameter, its stiffness with the fourth power."""
    mech = bc.Mechanism("cantilever")
    d = mech.add_parameter("d", 0.02, "m")
    section = bc.Section.circle(d, E=210e9, nu=0.3, density=7850)
    mech.add_beam("beam", section, start="ground", end=(1, 0, 0), segments=4)
    rest = bc.statics(mech)
    found = rest.sensitivity(of="body.beam/4.z", by="d").array.item()
    sag = rest.at.bodies["beam/4"].position[2]
    assert found == pytest.approx(-2.0 * sag / 0.02, rel=2e-3)  # but for shear


@pytest.mark.parametrize(("segments", "error"), [(8, 4e-3), (16, 1.3e-3)])
def test_flying_spaghetti(segments, error):
    """A free beam that tumbles in space, loaded at one end (J. C. Simo and L. Vu-Quoc, 1988)."""
    mech = bc.Mechanism("spaghetti", gravity=(0, 0, 0))
    section = bc.Section.general(
        EA=1e4, GA=1e4, GJ=500, EI=500, mass_per_length=1.0, inertia_per_length=(20, 10, 10)
    )
    beam = mech.add_beam("beam", section, start=(6, 0, 0), end=(0, 8, 0), segments=segments)
    t = bc.expression.t
    load = bc.expression.piecewise(t < 2.5, 80 * t, t < 5, 400 - 80 * t, 0.0)
    mech.add_force("load", bc.Wrench(force=(0.1 * load, 0, 0), moment=(0, -0.5 * load, -load)), beam.nodes[0])
    place = bc.simulate(mech, 5.0, tolerance=1e-6, output_step=1.0).beam("beam").position([0.0, 10.0])[-1]
    assert np.linalg.norm(place[0] - (19.21357, 1.62556, -2.12726)) < 10.0 * error
    assert np.linalg.norm(place[1] - (12.95303, 6.80944, 3.02879)) < 10.0 * error
