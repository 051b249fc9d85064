"""States that an added element does not fit: refused by name, unless bodies may be moved."""

import numpy as np
import pytest
from rigs.random_mechanisms import random_mechanism

import bellcrank as bc
from bellcrank.formulations.preparing import MOVING

MISS = 1e-3  # m


def frame(state, number):
    """Position and rotation of a body at a state, or of the ground."""
    if number < 0:
        return np.zeros(3), (1.0, 0.0, 0.0, 0.0)
    return state.position[number], tuple(state.rotation[number].tolist())


def seen_from(rotation, vector):
    """A vector of the world in the axes of a body."""
    w, *v = rotation
    return vector + 2.0 * np.cross(v, np.cross(v, vector) - w * np.asarray(vector))


def with_ball(seed, state, miss):
    """The mechanism with a ball joint more between two bodies, which misses by so much at the state."""
    mech = random_mechanism(seed)
    rng, bodies = np.random.default_rng(seed), list(mech.bodies.values())
    one = int(rng.integers(-1, len(bodies) - 1))
    point = rng.normal(size=3)
    offset = rng.normal(size=3)
    offset *= miss / np.linalg.norm(offset)
    ends = []
    for number, shift in ((one, 0.0), (len(bodies) - 1, offset)):
        at, rotation = frame(state, number)
        body = mech.ground if number < 0 else bodies[number]
        ends.append(body.marker(tuple(seen_from(rotation, point + shift - at))))
    mech.add_joint("added", bc.Spherical(), *ends)
    return mech


def went_on(mech, **arguments):
    """The run, or None where something else than a misfit refuses it."""
    try:
        return bc.start(mech, step=1e-3, method="rk4", **arguments)
    except bc.AssemblyError as error:
        if "at the state" in str(error):
            raise
        return None
    except bc.Unsupported:
        return None


@pytest.mark.parametrize("formulation", MOVING)
def test_a_joint_more_is_kept_where_it_fits_and_refused_where_not(formulation):
    kept = refused = 0
    for seed in range(40):
        first = went_on(random_mechanism(seed), formulation=formulation)
        if first is None:
            continue
        try:
            first.advance(0.01)
        except bc.SimulationError:
            continue
        state = first.state
        again = went_on(random_mechanism(seed), formulation=formulation, state=state)
        fits = went_on(with_ball(seed, state, 0.0), formulation=formulation, state=state)
        for run in (again, fits):
            if run is not None:
                assert np.max(np.abs(run.state.position - state.position)) < 1e-6
        kept += fits is not None
        with pytest.raises((bc.AssemblyError, bc.Unsupported)) as found:
            bc.start(with_ball(seed, state, MISS), step=1e-3, formulation=formulation, state=state)
        if found.type is bc.AssemblyError:
            assert "at the state, joint 'added' by" in str(found.value)
            refused += 1
    assert kept >= 5
    assert refused >= 10


def slide(**drive):
    """A body on a rail, driven along it if a drive is given."""
    mech = bc.Mechanism("slide", gravity=(0.0, 0.0, 0.0))
    body = mech.add_body("body", 1.0, (0.1, 0.1, 0.1))
    mech.add_joint("rail", bc.Prismatic(), mech.ground, body)
    if drive:
        mech.add_drive("motor", "rail", **drive)
    return mech


@pytest.mark.parametrize("assemble", [True, False])
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_what_misses_is_measured_against_the_size(size, assemble):
    """A thousandth of the size is refused and moved only on request; the sixth digit is rounding."""
    mech = bc.Mechanism("arm", gravity=(0.0, 0.0, 0.0))
    rod = mech.add_body("rod", 1.0, (size**2,) * 3, position=(size, 0.0, 0.0))
    state = bc.simulate(mech, 0.1).at(0.1)
    for miss in (1e-3, 1e-6):
        pinned = mech.copy()
        marker = rod.marker((-size * (1.0 + miss), 0.0, 0.0))
        pinned.add_joint("pin", bc.Revolute(), pinned.ground.marker(), marker)
        if miss == 1e-3:
            with pytest.raises(bc.AssemblyError, match=r"at the state, joint 'pin' by"):
                bc.start(pinned, state=state, assemble=assemble)
            moved = bc.start(pinned, state=state, assemble="projection").state
            assert np.max(np.abs(moved.position - state.position)) > 0.1 * miss * size
        else:
            bc.start(pinned, state=state, assemble=assemble)


def test_inputs_and_drives_move_bodies_to_their_values():
    state = bc.simulate(slide(), 0.1).at(0.1)
    given = slide(position=bc.Input("place", 0.0, "m"))
    assert bc.start(given, state=state, inputs={"place": 0.4}).state.position[0, 2] == pytest.approx(0.4)
    assert bc.start(slide(position="2*t"), state=state).state.position[0, 2] == pytest.approx(0.2)


def test_a_projection_without_a_state_is_of_the_description():
    mech = slide()
    mech.replace(mech.bodies["body"], position=(0.1, 0.0, 0.5))
    assert bc.start(mech, assemble="projection").state.position[0] == pytest.approx((0.0, 0.0, 0.5))
    with pytest.raises(bc.MechanismError, match="'projection' or 'constraint_forces'"):
        bc.start(mech, assemble="project")


def test_a_linearization_is_refused_where_its_state_does_not_fit():
    mech = bc.gallery.double_pendulum()
    state = bc.prepare(mech).state()
    state.position[0] += (1e-3, 0.0, 0.0)
    with pytest.raises(bc.AssemblyError, match="cannot be linearized: at the state, joint"):
        bc.linearize(mech, state=state, steady=False)
