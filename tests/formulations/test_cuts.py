"""Loops cut at the joints that are named: any joint of a loop, what cannot be cut, and where it is told."""

import numpy as np
import pytest
from rigs import chains, examples, floating, linkages
from rigs.agreement import agreed
from rigs.closed_loops import stewart_platform
from rigs.random_loops import CASES, mechanism_of, name_of

import bellcrank as bc
import bellcrank.expression as ex
from bellcrank.gallery import bricard_linkage, free_ring, ladder, n_four_bar

LOOPS = {
    **{name_of(case): (lambda case=case: mechanism_of(case)) for case in CASES},
    "four-bar": linkages.four_bar,
    "slider-crank": linkages.slider_crank,
    "bennett": linkages.bennett,
    "door": linkages.door,
    "windows": lambda: linkages.windows(3),
    "platform": lambda: chains.platform(1.0, 3.0),
    "4 four-bars": lambda: n_four_bar(4),
    "bricard": bricard_linkage,
    "stewart": stewart_platform,
    "ladder": lambda: ladder(5),
    "free ring": lambda: free_ring(7),
}
LOCKING = (
    "Universal",
    "Spherical",
    "Cylindrical",
    "Planar",
    "Screw",
    "ConstantVelocity",
    "PointOnLine",
    "Fixed",
)


def reached(edges, start):
    """The bodies that a walk along edges comes to."""
    found, waiting = {start}, [start]
    while waiting:
        here = waiting.pop()
        beyond = {b if a == here else a for a, b in edges if here in (a, b)} - found
        found |= beyond
        waiting += beyond
    return found


def in_loops(mech):
    """The joints without which everything still hangs together."""
    ends = {name: (joint.marker_1.body, joint.marker_2.body) for name, joint in mech.joints.items()}
    start = "ground" if any("ground" in pair for pair in ends.values()) else next(iter(mech.bodies))
    whole = reached(ends.values(), start)
    return [name for name in ends if reached([ends[n] for n in ends if n != name], start) == whole]


@pytest.mark.parametrize("name", LOOPS)
def test_any_joint_of_a_loop(name):
    """Each in its turn: accelerations as lagrange's to 1e-9, reactions to 1e-8."""
    mech = LOOPS[name]()
    joints = in_loops(mech)
    assert len(joints) >= 3
    for joint in joints:
        assert joint in agreed(mech, "recursive", cut=joint).cut_joints


def ring(kind):
    """Two bodies with a joint of this kind between them, and a third that closes the loop to the ground."""
    mech = floating.pair(kind, seed=2, hung=True).mechanism
    rng = np.random.default_rng(2)
    body = mech.bodies["b"]
    at = np.array(body.position) + 0.2
    third = mech.add_body(
        "c", **floating.mass_properties(rng), position=at + 0.3, velocity=rng.normal(size=3)
    )
    axis = (0.6, 0.0, 0.8)
    mech.add_joint(
        "slot", bc.Cylindrical(), body.world_marker(at, axis=axis), third.world_marker(at, axis=axis)
    )
    mech.add_joint("ball", bc.Spherical(), third.world_marker(at + 0.5), mech.ground.marker(tuple(at + 0.5)))
    return mech


@pytest.mark.parametrize("name", ["RSSR-spatial-four-bar", "general-spatial-7R-loop", "stewart"])
def test_symbolic_takes_the_same_advice(name):
    """Where some rotations are the opposite quaternions of those along the tree."""
    mech = LOOPS[name]()
    for joint in list(mech.joints)[:4]:
        assert joint in agreed(mech, "symbolic", cut=joint).cut_joints


@pytest.mark.parametrize("formulation", ["recursive", "symbolic"])
def test_rotations_given_as_the_opposite_quaternion(formulation):
    mech = LOOPS["general-spatial-7R-loop"]()
    for name in list(mech.bodies):
        body = mech.bodies[name]
        mech.replace(body, rotation=tuple(-x for x in body.rotation))
        agreed(mech, formulation)


@pytest.mark.parametrize("kind", LOCKING)
def test_joints_of_several_freedoms(kind):
    mech = ring(examples.joint(kind))
    for joint in mech.joints:
        system = agreed(mech, "recursive", cut=joint)
        assert system.cut_joints == (joint,)


@pytest.mark.parametrize("seed", range(3))
def test_several_cuts(seed):
    """The reference's graph of twelve loops, cut where chance says as long as it hangs together."""
    mech = mechanism_of(next(case for case in CASES if "random graph" in case["name"]))
    model, chosen = bc.prepare(mech).model, []
    rng = np.random.default_rng(seed)
    for joint in rng.permutation(in_loops(mech)).tolist():
        try:
            bc.prepare(model, "recursive", cut=[*chosen, joint])
        except bc.MechanismError:
            continue
        chosen.append(joint)
    assert len(chosen) == 12
    assert set(agreed(mech, "recursive", cut=chosen).cut_joints) == set(chosen)


def test_a_joint_given_by_formulas():
    """Cut in `recursive`, whose rows are formulas of poses; `symbolic` needs it in the tree, and says so."""
    (u,) = ex.symbols("u")
    mech = bc.Mechanism("bead on a wire")
    bead = mech.add_body(
        "bead", mass=1.0, inertia=(0.1, 0.2, 0.3), position=(0.2, 0, 0), velocity=(0.5, 0, 0)
    )
    rod = mech.add_body("rod", mass=0.5, inertia=(0.1, 0.1, 0.1), position=(-0.3, 0, 0.1))
    wire = bc.PathJoint(u, (u, 0.3 * u * u, 0.1 * u), up=(0, 0, 1))
    mech.add_joint("wire", wire, mech.ground, bead)
    mech.add_joint("tip", bc.Spherical(), bead.marker(), rod.marker((0.5, 0, 0)))
    mech.add_joint("foot", bc.Spherical(), mech.ground.marker((-0.8, 0, 0.1)), rod.marker((-0.5, 0, 0)))
    bc.assemble(mech)
    for joint in mech.joints:
        assert agreed(mech, "recursive", cut=joint).cut_joints == (joint,)
    with pytest.raises(bc.Unsupported, match=r"cannot cut .* given by formulas: joint 'wire'"):
        bc.prepare(mech, "symbolic", cut="wire")


def test_the_other_cuts_are_chosen_by_cost():
    mech = n_four_bar(6)
    free, told = (bc.prepare(mech, "recursive", cut=cut) for cut in ((), "pivot 0"))
    assert len(free.cut_joints) == len(told.cut_joints) == 6
    assert "pivot 0" not in free.cut_joints
    assert len(set(told.cut_joints) - set(free.cut_joints)) == 1
    assert bc.prepare(mech).cut_joints == ()


def test_joints_are_named_in_several_ways():
    mech = bc.Mechanism("machine")
    mech.place(n_four_bar(1), "left")
    mech.place(n_four_bar(1), "right", position=(5, 0, 0))
    joints = ("left/pivot 0", "right/pivot 1")
    for cut in (joints, ",".join(joints), [mech.joints[name] for name in joints]):
        assert bc.prepare(mech, "recursive", cut=cut).cut_joints == joints
    assert bc.prepare(mech, "recursive", cut=mech.joints[joints[0]]).cut_joints[0] == joints[0]


def faults(mech, cut):
    with pytest.raises(bc.MechanismError) as caught:
        bc.prepare(mech, "recursive", cut=cut)
    return [str(fault) for fault in caught.value.faults]


def test_what_cannot_be_cut_is_refused_at_once():
    mech = linkages.four_bar()
    tip = mech.add_body("tip", 1.0, (1, 1, 1))
    mech.add_joint("wrist", bc.Revolute(), mech.bodies["bar2"].marker(), tip.marker())
    mech.add_joint("seen", bc.Free(), mech.ground.marker(), tip.marker())
    mech.add_constraint("geared", bc.Gear(2.0), *(mech.joints[name] for name in ("pin1", "wrist")))
    found = faults(mech, ["wirst", "geared", "seen", "wrist", "pin1", "pin2"])
    assert len(found) == 5
    unknown, constraint, free, alone, together = found
    assert "there is no joint 'wirst'" in unknown
    assert "did you mean 'wrist'" in unknown
    assert "constraint 'geared' is no joint" in constraint
    assert "joint 'seen' locks nothing" in free
    assert "without joint 'wrist' no joint would carry body 'tip'" in alone
    assert "without joints 'pin1', 'pin2' together no joint would carry body 'bar1'" in together
    assert "leave one of these joints out of cut" in together


def test_of_a_floating_mechanism_the_first_body_stays():
    mech = free_ring(5)
    joints = list(mech.joints)
    (found,) = faults(mech, [joints[0], joints[2]])
    first = next(iter(mech.bodies))
    assert "together no joint would carry bodies" in found
    assert repr(first) not in found


@pytest.mark.parametrize("cut", [3, ["pivot 0", 4.0], [None]])
def test_a_number_is_no_joint(cut):
    assert all("cut must be joints or their names" in text for text in faults(n_four_bar(1), cut))


def test_a_distance_is_always_cut():
    """It is no transform that could carry a body, but what closes a loop."""
    mech = linkages.four_bar()
    mech.add_joint("rod", bc.Distance(1.0), mech.ground.marker((0, 0, 1)), mech.bodies["bar2"].marker())
    assert "rod" in bc.prepare(mech, "recursive", cut="rod").cut_joints


def test_a_run_says_where_it_cut_and_goes_the_same_way():
    mech = n_four_bar(2)
    settings = {"formulation": "recursive", "method": "dopri5", "tolerance": 1e-10, "output_step": 0.1}
    first, second = (bc.simulate(mech, 0.5, cut=cut, **settings) for cut in ((), ("pivot 0", "pivot 2")))
    assert second.statistics["cut_joints"] == "pivot 0, pivot 2"
    for body in mech.bodies:
        np.testing.assert_allclose(second.body(body).position, first.body(body).position, atol=1e-7)


def test_a_structure_that_snaps_together_is_handed_over_with_the_advice():
    mech = n_four_bar(1)
    body = mech.bodies["crank 0"]
    mech.replace(body, position=np.add(body.position, (0.02, 0.0, 0.01)))
    run = bc.simulate(
        mech, 4.0, formulation="recursive", assemble="constraint_forces", cut="pivot 1", step=0.01
    )
    assert run.statistics["closed_at"] > 0.0
    assert run.statistics["cut_joints"] == "pivot 1"
    assert run.violation.position[-1] < 1e-9
