"""Which rows a redundant row follows from, and which rows contradict each other."""

import numpy as np
import pytest
from rigs import linkages
from rigs.closed_loops import random_loop

import bellcrank as bc
from bellcrank.gallery import bricard_linkage, ladder, ring

Y = (0.0, 1.0, 0.0)
Z = (0.0, 0.0, 1.0)


def texts(redundancy):
    return {str(row) for row in redundancy.follows_from}


def gradients(mech):
    """The rows of the Jacobian by name."""
    rows = bc.prepare(mech).rows()
    return dict(zip(rows.names, rows.jacobian.reshape(len(rows.names), -1), strict=True))


CASES = {
    "four-bar": linkages.four_bar,
    "parallelogram": linkages.parallelogram,
    "door": linkages.door,
    "windows": lambda: linkages.windows(4),
    "carriage": linkages.carriage,
    "bricard": bricard_linkage,
    "loop": lambda: random_loop(np.random.default_rng(3), 6),
}


@pytest.mark.parametrize("name", CASES)
def test_a_redundant_row_is_the_sum_that_is_told(name):
    """J_row = sum of factor * J_other, among rows none of which is called redundant itself."""
    mech = CASES[name]()
    found = bc.assemble(mech).redundant
    J = gradients(mech)
    called = {f"{row.element} ({row.coordinate})" for row in found}
    assert len(found) == len(J) - np.linalg.matrix_rank(np.array(list(J.values())), tol=1e-9)
    for row in found:
        total = sum((part.factor * J[str(part)] for part in row.follows_from), np.zeros(1))
        np.testing.assert_allclose(total, J[f"{row.element} ({row.coordinate})"], atol=1e-9)
        assert not texts(row) & called


def test_a_plane_four_bar():
    """Each out-of-plane turn is held by all four hinges: three say what the fourth repeats."""
    by_coordinate = {row.coordinate: row for row in bc.assemble(linkages.four_bar()).redundant}
    assert set(by_coordinate) == {"z", "e1", "e2"}
    for turn in ("e1", "e2"):
        row = by_coordinate[turn]
        others = {f"joint 'pin{i}'" for i in range(1, 5)} - {row.element}
        assert texts(row) == {f"{name} ({turn})" for name in others}
        assert [part.factor for part in row.follows_from] == pytest.approx([-1.0] * 3, abs=1e-9)
        assert f"follows from {', '.join(sorted(texts(row)))}" in str(row)


def test_a_third_bar_of_a_parallelogram_repeats_what_two_say():
    """The table's ends cannot rise: nor can its middle, the mean of both, where the third bar holds it."""
    mech = bc.Mechanism("three cranks")
    table = linkages.bar(mech, "table", (0, 0, 1), (2, 0, 1))
    for i, x in enumerate((0.0, 1.0, 2.0)):
        crank = linkages.bar(mech, f"crank{i}", (x, 0, 0), (x, 0, 1))
        linkages.pin(mech, f"low{i}", mech.ground, crank, (x, 0, 0))
        kind = bc.Revolute() if i == 0 else bc.PointOnLine()
        linkages.pin(mech, f"high{i}", crank, table, (x, 0, 1), kind)
    facts = bc.info(mech)
    (row,) = facts.redundancies
    assert facts.freedom == 1
    factors = {part.element: part.factor for part in row.follows_from} | {row.element: -1.0}
    assert {part.coordinate for part in row.follows_from} == {row.coordinate}
    assert len(factors) == len(row.follows_from) + 1 == 6
    middle = factors["joint 'high1'"]
    for end in ("low", "high"):
        found = [factors[f"joint '{end}{i}'"] / middle for i in range(3)]
        assert found == pytest.approx([-0.5, 1.0, -0.5], abs=1e-9)


def test_coaxial_hinges_follow_from_one():
    """Three hinges on one axis: every row of two of them follows from rows of the third alone."""
    found = bc.assemble(linkages.door()).redundant
    assert len(found) == 10
    (kept,) = {part.element for row in found for part in row.follows_from}
    assert kept not in {row.element for row in found}
    for row in found:
        held = {part.coordinate for part in row.follows_from}
        assert held == {"x": {"x", "e2"}, "y": {"y", "e1"}}.get(row.coordinate, {row.coordinate})


def test_long_lists_are_cut_short():
    """One row of a ring of twelve hinges goes round it: six of them are named."""
    (bricards,) = bc.info(bricard_linkage()).redundancies
    assert len(bricards.follows_from) == 29
    assert len({part.element for part in bricards.follows_from}) == 6
    assert "more" not in bricards.reason
    facts = bc.info(ring(12))
    assert len(facts.redundancies) == 3
    for row in facts.redundancies:
        elements = {part.element for part in row.follows_from}
        assert row.reason.endswith(f" and {len(elements) - 6} more")
        assert len(row.reason) < 300


def test_loops_of_a_long_ladder_stay_apart():
    """Rows of a window follow from those round it, and of thousands the first are told."""
    mech = ladder(500)
    found = bc.info(mech).redundancies
    assert len(found) == 1500
    told = [row for row in found if row.follows_from is not None]
    assert 10 <= len(told) < 100
    J = gradients(ladder(12))
    for row in told:
        assert 0 < len(row.follows_from) <= 14
    for row in bc.info(ladder(12)).redundancies:
        total = sum(part.factor * J[str(part)] for part in row.follows_from)
        np.testing.assert_allclose(total, J[f"{row.element} ({row.coordinate})"], atol=1e-9)
    assert found[-1].reason == "follows from others"


def test_nothing_redundant():
    facts = bc.info(linkages.four_bar(bc.PointOnLine()))
    assert (facts.redundant, facts.redundancies, facts.redundant_texts) == ((), (), ())
    assert "follows" not in str(facts)


def test_info_tells_it():
    facts = bc.info(linkages.four_bar())
    assert facts.redundant == tuple(f"{row.element} ({row.coordinate})" for row in facts.redundancies)
    assert facts.redundant_texts[1] in str(facts)


def impossible(mech, prefix="", reach=5.0):
    """Three rods of 1 m between feet that are farther apart."""
    rods = [
        mech.add_body(f"{prefix}rod {i}", 1.0, (0.01, 0.1, 0.1), position=(i + 0.5, 0, 0.1 * i))
        for i in range(3)
    ]
    ends = [mech.ground.marker(axis=Y)]
    for rod in rods:
        ends += [rod.marker((-0.5, 0, 0), axis=Y), rod.marker((0.5, 0, 0), axis=Y)]
    ends.append(mech.ground.marker((reach, 0, 0), axis=Y))
    for i in range(4):
        mech.add_joint(f"{prefix}pin {i}", bc.Revolute(), ends[2 * i], ends[2 * i + 1])


def test_impossible_loops_are_told_apart():
    """Two loops that cannot close, worst first, beside one that can: along the line all four pins pull."""
    mech = bc.Mechanism("impossible", gravity=(0, 0, 0))
    impossible(mech, "short ", reach=3.4)
    impossible(mech, "far ", reach=5.0)
    impossible(mech, "good ", reach=2.5)
    with pytest.raises(bc.AssemblyError) as caught:
        bc.assemble(mech)
    expected = [tuple(f"joint '{which} pin {i}' (x)" for i in range(4)) for which in ("far", "short")]
    assert caught.value.contradictions == expected
    for rows in expected:
        assert f"these cannot hold together: {', '.join(rows)}" in str(caught.value)


@pytest.mark.parametrize("method", ["root_finding", "constraint_forces"])
def test_constraints_of_one_body_that_contradict_each_other(method):
    with pytest.raises(bc.AssemblyError) as caught:
        bc.assemble(linkages.rods_that_contradict(), method=method)
    assert caught.value.contradictions == [("joint 'short' (distance)", "joint 'long' (distance)")]


def test_velocities_that_contradict_each_other():
    mech = bc.Mechanism("two motors")
    wheel = mech.add_body("wheel", 1.0, (1, 1, 1))
    for name, height, speed in (("low", 0.0, 1.0), ("high", 1.0, 2.0)):
        at = (0, 0, height)
        mech.add_joint(name, bc.Revolute(), mech.ground.marker(at, axis=Z), wheel.marker(at, axis=Z))
        mech.add_drive(f"{name} motor", joint=name, velocity=speed)
    with pytest.raises(bc.AssemblyError) as caught:
        bc.assemble(mech)
    assert caught.value.contradictions == [("drive 'low motor' (theta_z)", "drive 'high motor' (theta_z)")]


def test_a_pinned_body_and_a_given_position():
    mech = bc.Mechanism("arm")
    rod = mech.add_body("rod", 1.0, (0.1, 0.1, 0.1))
    mech.add_joint("hinge", bc.Revolute(), mech.ground, rod, position=0.5)
    with pytest.raises(bc.AssemblyError, match=r"this cannot hold: position of joint 'hinge' \(theta_z\)"):
        bc.assemble(mech, pinned="rod")


def engine(**drive):
    """A slider crank at dead centre whose piston is driven."""
    mech = bc.Mechanism("engine", gravity=(0.0, 0.0, 0.0))
    inertia = {"mass": 1.0, "inertia": (0.01, 0.01, 0.01)}
    crank = mech.add_body("crank", **inertia)
    rod = mech.add_body("rod", **inertia, position=(0.1, 0.0, 0.0))
    piston = mech.add_body("piston", **inertia, position=(0.4, 0.0, 0.0))
    mech.add_joint("main", bc.Revolute(), mech.ground, crank)
    mech.add_joint("pin", bc.Revolute(), crank.marker((0.1, 0.0, 0.0)), rod)
    mech.add_joint("wrist", bc.Spherical(), rod.marker((0.3, 0.0, 0.0)), piston)
    mech.add_joint("guide", bc.Prismatic(), mech.ground.marker(axis="x"), piston.marker(axis="x"))
    mech.add_drive("push", "guide", **drive)
    return mech


@pytest.mark.parametrize(
    "drive", [{"velocity": -0.1}, {"position": bc.Polynomial((0.0, -0.1)), "relative": True}]
)
def test_a_drive_at_a_dead_point_is_named(drive):
    with pytest.raises(
        bc.AssemblyError, match=r"hold still what drive 'push' would move.*start away from it"
    ):
        bc.assemble(engine(**drive))


def test_a_drive_that_leaves_a_dead_point_from_rest_is_named():
    back = {"position": bc.Harmonic(0.02, 3.0, phase=np.pi / 2, offset=-0.02), "relative": True}
    with pytest.raises(bc.SimulationError, match="where it started the joints hold still what drive 'push'"):
        bc.simulate(engine(**back), 0.1)
    with pytest.raises(bc.MechanismError, match=r"hold still what drive 'push'.*for instance: joint 'main'"):
        bc.kinematics(engine(**back), 0.1)


def test_drives_that_contradict_each_other_are_at_no_dead_point():
    mech = bc.Mechanism("pivot")
    body = mech.add_body("body", mass=1.0, inertia=(1.0, 1.0, 1.0))
    for rate in (1.0, 2.0):
        height = (0.0, 0.0, rate)
        mech.add_joint(f"pivot {rate}", bc.Revolute(), mech.ground.marker(height), body.marker(height))
        mech.add_drive(f"rate {rate}", f"pivot {rate}", velocity=rate)
    with pytest.raises(bc.AssemblyError) as refused:
        bc.assemble(mech)
    assert "hold still" not in str(refused.value)
