"""The graph: components, spanning forest, loops."""

import bellcrank as bc
from bellcrank.compile.compile import compile_mechanism

Y = (0.0, 1.0, 0.0)


def bodies(mech, names):
    return [mech.add_body(name, mass=1.0, inertia=(1, 1, 1)) for name in names]


def join(mech, name, one, two, kind=None):
    mech.add_joint(name, kind or bc.Spherical(), one.marker(), two.marker())


def test_two_loops_that_share_a_body():
    mech = bc.Mechanism("eight")
    a, b, c, d = bodies(mech, "abcd")
    ground = mech.ground
    for name, one, two in (
        ("ga", ground, a), ("ab", a, b), ("bg", b, ground), ("bc", b, c), ("cd", c, d), ("db", d, b),
    ):  # fmt: skip
        join(mech, name, one, two)
    graph = compile_mechanism(mech).graph
    loops = [sorted(graph.loop(closure)) for closure in graph.closures]
    assert sorted(loops) == [
        ["joint 'ab'", "joint 'bg'", "joint 'ga'"],
        ["joint 'bc'", "joint 'cd'", "joint 'db'"],
    ]
    assert graph.grounded == (True,)


def test_the_loop_is_listed_in_order_round_it():
    mech = bc.Mechanism("ring")
    parts = [mech.ground, *bodies(mech, "abcd"), mech.ground]
    for i in range(5):
        join(mech, f"j{i}", parts[i], parts[i + 1])
    graph = compile_mechanism(mech).graph
    (closure,) = graph.closures
    loop = graph.loop(closure)
    neighbours = {frozenset((loop[k], loop[k - 1])) for k in range(5)}
    assert neighbours == {frozenset((f"joint 'j{i}'", f"joint 'j{(i + 1) % 5}'")) for i in range(5)}


def test_every_body_comes_after_its_parent():
    mech = bc.Mechanism("tree")
    parts = [mech.ground, *bodies(mech, "abcdefg")]
    for i in range(1, 8):
        join(mech, f"j{i}", parts[i // 2], parts[i])
    graph = compile_mechanism(mech).graph
    place = {node: k for k, node in enumerate(graph.topology.order)}
    assert len(place) == 8
    assert all(
        place[parent] < place[node] for node, parent in enumerate(graph.topology.parent) if parent >= 0
    )
    assert not graph.closures


def test_the_ground_does_not_connect_and_free_joints_hold_nothing():
    mech = bc.Mechanism("parts")
    a, b, c, d = bodies(mech, "abcd")
    join(mech, "ga", mech.ground, a)
    join(mech, "gb", mech.ground, b)
    join(mech, "cd", c, d)
    join(mech, "ac", a, c, bc.Free())
    graph = compile_mechanism(mech).graph
    assert sorted(map(sorted, graph.components())) == [[0], [1], [2, 3]]
    assert [graph.grounded[graph.component[body]] for body in range(4)] == [True, True, False, False]


def test_a_gear_between_grounded_wheels_closes_a_loop_and_a_differential_couples():
    mech = bc.Mechanism("gears")
    a, b, c = bodies(mech, "abc")
    for name, body in zip("abc", (a, b, c), strict=True):
        mech.add_joint(name, bc.Revolute(), mech.ground.marker((ord(name), 0, 0)), body.marker())
    mech.add_constraint("mesh", bc.Gear(ratio=2.0), a.marker(), b.marker())
    mech.add_constraint("differential", bc.Differential(), "a", "b", "c")
    graph = compile_mechanism(mech).graph
    assert [graph.loop(closure)[0] for closure in graph.closures] == ["constraint 'mesh'"]
    assert graph.couplings == ("constraint 'differential'",)
    assert set(graph.component) == {0}
