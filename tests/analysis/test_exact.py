"""Linear equations from exact derivatives, beside extrapolated differences of whole placements."""

import numpy as np
import pytest
from rigs.differenced import differenced
from rigs.parametric import parallelogram

import bellcrank as bc
from bellcrank import gallery
from bellcrank.errors import MechanismError, Unsupported


def agree(exact, other, rtol=1e-9, error=1e-9):
    """error: the largest that may be estimated; of outputs that do not move, it is that of all forces."""
    assert exact.derived
    assert exact.error < error
    assert exact.states == other.states
    assert exact.outputs == other.outputs
    for own, theirs in ((exact.A, other.A), (exact.B, other.B)):
        size = np.abs(theirs).max(initial=1e-3)
        np.testing.assert_allclose(own, theirs, atol=rtol * size + 10 * other.error * size)
    for own, theirs in ((exact.C, other.C), (exact.D, other.D)):
        size = np.abs(theirs).max(axis=1, initial=1e-3, keepdims=True)
        np.testing.assert_allclose(own / size, theirs / size, atol=rtol + exact.error + 1e2 * other.error)


def some_outputs(mechanism):
    """Numbers of the first and last joint and of a body."""
    joints = list(mechanism.joints.values())
    names = [
        f"joint.{joint.name}.{coordinate}{ending}"
        for joint in joints[:: max(1, len(joints) - 1)]
        for coordinate in joint.kind.free
        for ending in ("", ".rate", ".acceleration")
    ]
    body = next(iter(mechanism.bodies))
    return [*names, *(f"body.{body}.{part}" for part in ("x", "vy", "az", "wx", "alphaz"))]


LEAVES = (*gallery.groups()["Compliant mechanisms"], "chain_mail")
# Accelerations of leaves are 1e10 times their motions; differences of chain mail miss outputs that stay zero.


@pytest.mark.parametrize("name", sorted(set(gallery.catalogue()) - set(LEAVES)))
def test_gallery(name):
    mechanism = gallery.catalogue()[name]()
    outputs = some_outputs(mechanism)
    try:
        made = bc.linearize(mechanism, outputs=outputs, steady=False)
    except (MechanismError, Unsupported) as refused:
        reasons = ("tyres", "dry friction is at rest", "forces have a kink there")
        if any(reason in str(refused) for reason in reasons):
            return
        raise
    # What touches is left within steps of differences; tests/contacts/test_contact_slopes.py has others.
    touches = any(isinstance(force.kind, bc.Contact) for force in mechanism.forces.values())
    if not touches and made.derived and made.formulation == "lagrange":
        assert not any("output" in note for note in made.notes)
        agree(made, differenced(mechanism, outputs=outputs, steady=False), error=1e-6)


def test_most_of_the_gallery_is_exact():
    exact = 0
    for make in gallery.catalogue().values():
        try:
            exact += bc.linearize(make(), steady=False).derived
        except (MechanismError, Unsupported):
            continue
    assert exact >= 20


def crank(coupler=0.3, ground=0.4):
    """A four-bar whose lengths are parameters, with a spring and a motor."""
    mech = bc.Mechanism("crank")
    length = mech.add_parameter("coupler", coupler)
    base = mech.add_parameter("ground", ground)
    stiffness = mech.add_parameter("stiffness", 40.0)
    density = mech.add_parameter("density", 2.0)
    arm = mech.add_body("crank", mass=0.2 * density, inertia=(0.01, 0.01, 0.01), com=(0.06, 0.01, 0))
    rod = mech.add_body(
        "coupler",
        mass=density * length,
        inertia=(0.02, 0.02, 0.02 * length * length),
        position=(0.1, 0, 0),
        com=(length / 2, 0, 0),
    )
    rocker = mech.add_body(
        "rocker", mass=0.5, inertia=(0.03, 0.03, 0.03), position=(ground, 0, 0), com=(0, 0.1, 0)
    )
    mech.add_joint("drive", bc.Revolute(), mech.ground, arm, position=0.7)
    mech.add_joint("crank pin", bc.Revolute(), arm.marker((0.1, 0, 0)), rod)
    mech.add_joint("rocker pin", bc.Revolute(), rod.marker((length, 0, 0)), rocker.marker((0, 0.25, 0)))
    mech.add_joint("bearing", bc.Revolute(), mech.ground.marker((base, 0, 0)), rocker)
    mech.add_force("spring", bc.TorsionSpring(stiffness, damping=0.2), joint="bearing")
    mech.add_force("motor", bc.JointMotor(bc.Input("torque", 0.4, "N m")), joint="drive")
    return mech


@pytest.mark.parametrize("moves", [False, True])
def test_parameters_of_all_kinds(moves):
    mechanism = crank()
    state = bc.prepare(mechanism, "lagrange").project()
    if moves:
        state = bc.simulate(mechanism, 0.1, formulation="lagrange").at(0.1)
    names = ("torque", "coupler", "ground", "stiffness", "density")
    options = {"inputs": names, "state": state, "steady": False}
    wanted = differenced(mechanism, **options)
    for formulation in ("auto", "lagrange", "recursive"):
        agree(bc.linearize(mechanism, formulation=formulation, **options), wanted)


OUTPUTS = (
    "joint.bearing.theta_z",
    "joint.drive.Mz",
    "joint.rocker pin.Fx",
    "body.coupler.ay",
    "drive.theta_z.rate",
)
OTHERS = ("energy.kinetic", "force.spring.theta_z.effort", "body.rocker.qz")


@pytest.mark.parametrize("formulation", ["auto", "lagrange", "recursive"])
def test_outputs_of_a_loop_that_moves(formulation):
    """Rows that have no exact derivatives are differences, and named."""
    mechanism = crank()
    state = bc.simulate(mechanism, 0.1, formulation="lagrange").at(0.1)
    names = ("torque", "coupler", "ground", "stiffness", "density")
    options = {"inputs": names, "outputs": (*OUTPUTS, *OTHERS), "state": state, "steady": False}
    made = bc.linearize(mechanism, formulation=formulation, **options)
    agree(made, differenced(mechanism, **options))
    assert np.abs(made.D).max(axis=1).min() > 0.0
    lacking = [f"output {name!r} by differences: it has no exact derivatives" for name in OTHERS]
    assert list(made.notes) == lacking


def test_outputs_that_redundant_rows_share_are_differences_and_named():
    mechanism = gallery.four_bar()
    names = [f"joint.{joint}.{part}" for joint in mechanism.joints for part in ("Fx", "Fz")]
    made = bc.linearize(mechanism, outputs=names, steady=False)
    agree(made, differenced(mechanism, outputs=names, steady=False))
    shared = [name for name in names if name.endswith("Fz")]
    assert list(made.notes) == [
        f"output {n!r} by differences: redundant constraints share it" for n in shared
    ]


def test_parameters_that_are_no_numbers_of_the_model_are_differenced_and_named():
    mechanism = crank()
    late = mechanism.add_parameter("late", 0.9)
    spline = bc.CubicSpline((0.0, late, 2.0), (0.1, 0.3, 0.0))
    mechanism.add_force("more", bc.JointMotor(spline), "drive")
    state = bc.simulate(mechanism, 0.1, formulation="lagrange").at(0.1)
    options = {"inputs": ["late", "stiffness", "torque"], "state": state, "steady": False}
    made = bc.linearize(mechanism, **options)
    agree(made, differenced(mechanism, **options))
    assert np.abs(made.B[:, 0]).max() > 1e-3
    assert any(
        note.startswith("by 'late' by differences: points of a curve, or places") for note in made.notes
    )


def test_a_parameter_that_opens_a_loop_is_refused_by_name():
    with pytest.raises(MechanismError, match="parameter 'middle': loops do not stay closed"):
        bc.linearize(parallelogram(), inputs=["middle"], steady=False)


def slack(offset):
    """A mass on a string that is about to go slack."""
    mech = bc.Mechanism("slack")
    mech.gravity = (0, 0, 0)
    body = mech.add_body("mass", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, 1.0 + offset))
    mech.add_joint("slide", bc.Prismatic(), mech.ground, body, position=1.0 + offset)
    mech.add_force("string", bc.RubberString(stiffness=50.0, rest_length=1.0), mech.ground, body)
    return mech


def test_kinks_are_refused_and_their_sides_are_not():
    with pytest.raises(MechanismError, match="not smooth"):
        bc.linearize(slack(0.0), steady=False)
    for offset, stiffness in ((0.01, 50.0), (-0.01, 0.0)):
        made = bc.linearize(slack(offset), steady=False)
        assert made.derived
        assert made.A[1, 0] == pytest.approx(-stiffness, abs=1e-9)
