"""Which formulation "auto" takes, and that it says why."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank import gallery
from benchmarks.symbolic_robots import humanoid


def rotor():
    mech = bc.Mechanism("rotor", gravity=(0, 0, 0))
    base = mech.add_body("base", mass=1.0, inertia=(1, 1, 1))
    wheel = mech.add_body("wheel", mass=1.0, inertia=(1, 1, 1), angular_velocity=(0, 0, 5.0))
    mech.add_joint("shaft", bc.Revolute(), base, wheel)
    return mech


CHOSEN = {
    "chain": (lambda: gallery.chain(10), "recursive: a tree of 10 joints with one degree of freedom each"),
    "long chain": (lambda: gallery.chain(21), "lagrange: more than 20 bodies"),
    "ball joints": (
        lambda: gallery.chain(3, kind="ball"),
        "lagrange: a tree whose joint 'joint 0' has not one degree of freedom",
    ),
    "loop": (gallery.four_bar, "lagrange: 1 closed loop"),
    "loops": (gallery.andrews_squeezer, "lagrange: 3 closed loops"),
    "free": (gallery.free_body, "lagrange: bodies without joints"),
    "rotors": (gallery.puma560, "lagrange: a tree with rotors of geared motors"),
    "rotor": (rotor, "recursive: a tree of 1 joint with one degree of freedom each, 1 of its bodies free"),
    "governor": (gallery.flyball_governor, "recursive: a tree of 4 joints with one degree of freedom each"),
}


@pytest.mark.parametrize("name", CHOSEN)
def test_the_reason_is_told_everywhere(name):
    make, reason = CHOSEN[name]
    assert bc.info(make()).choice == reason
    system = bc.prepare(make())
    assert system.reason == reason
    run = bc.simulate(make(), 0.01)
    assert run.statistics["formulation"] == system.formulation == reason.split(":")[0]
    assert run.statistics["choice"].startswith(f"{reason}; adams: ")


def geared(rows):
    mech = gallery.chain(2)
    first, second = mech.joints
    if rows == "gear":
        mech.add_constraint("gear", bc.Coupling(coefficients=(1.0, 2.0)), first, second)
    else:
        mech.add_constraint("rope", bc.Cable(length=9.0), mech.ground, mech.bodies["rod 1"])
    return mech


def test_constraints_count():
    assert "1 constraint" in bc.prepare(geared("gear")).reason
    assert "closed loop" in bc.prepare(geared("rope")).reason


def test_options_narrow_the_choice():
    system = bc.prepare(gallery.four_bar(), cut=next(iter(gallery.four_bar().joints)))
    assert system.formulation == "recursive"
    assert system.reason == "recursive: it has the option cut"
    system = bc.prepare(gallery.chain(2), position_tolerance=1e-12, contact_tolerance=1e-9)
    assert system.formulation in ("recursive", "lagrange")
    with pytest.raises(bc.MechanismError, match="cut"):
        bc.prepare(gallery.four_bar(), cut="pin", rank_tolerance=1e-9)


def test_what_was_named_is_not_chosen():
    run = bc.simulate(gallery.chain(3), 0.1, formulation="lagrange", method="dopri5")
    assert "choice" not in run.statistics
    assert bc.prepare(gallery.chain(3), "lagrange").reason == ""


@pytest.mark.parametrize(
    ("make", "duration"),
    [
        (gallery.simple_pendulum, 10.0),
        (gallery.double_pendulum, 10.0),
        (gallery.flyball_governor, 10.0),
        (gallery.prosthetic_arm, 1.0),
        (gallery.stewart_platform, 1.0),
        (gallery.bricard_linkage, 10.0),
        (gallery.n_four_bar, 10.0),
        (lambda: gallery.n_four_bar(40), 1.0),
        (lambda: gallery.ring(40), 1.0),
        (lambda: gallery.chain(1000), 0.02),
        (lambda: humanoid().mechanism(), 1.0),
    ],
)
def test_the_defaults_are_right_to_a_millionth(make, duration):
    """Beside the other formulation and a Runge-Kutta or implicit method at a far finer tolerance."""
    run = bc.simulate(make(), duration, output_step=duration / 10)
    recursive = run.statistics["formulation"] == "lagrange" and len(run.bodies) <= 20
    other = "recursive" if recursive else "lagrange"
    method = "bdf" if run.statistics["method"] == "bdf" else "dopri5"
    exact = bc.simulate(
        make(),
        duration,
        output_step=duration / 10,
        formulation=other,
        method=method,
        tolerance=1e-11,
        reactions=False,
    )
    found, wanted = (np.stack([r.body(name).position for name in r.bodies]) for r in (run, exact))
    assert np.max(np.abs(found - wanted)) < 1e-6 * max(1.0, np.max(np.abs(wanted)))
