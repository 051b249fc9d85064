"""Forests, loops and components of any graph, against networkx and by hand."""

import networkx as nx
import numpy as np
import pytest
from rigs.seeds import over

import bellcrank as bc
from bellcrank import _core
from bellcrank.compile.compile import compile_mechanism


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


CHAIN = 50_000


def random_graph(seed):
    """Nodes, edges (parallel ones and loops at one node among them) and how many of them are firm."""
    rng = np.random.default_rng(seed)
    nodes = int(rng.integers(1, 40))
    count = int(rng.integers(0, 2 * nodes))
    edges = [(int(a), int(b)) for a, b in rng.integers(0, nodes, (count, 2))]
    return nodes, edges, int(rng.integers(0, count + 1))


def as_networkx(nodes, edges):
    graph = nx.MultiGraph()
    graph.add_nodes_from(range(nodes))
    graph.add_edges_from((a, b, number) for number, (a, b) in enumerate(edges))
    return graph


@over(range(60))
def test_the_forest_spans_the_graph_from_the_ground(seed):
    nodes, edges, firm = random_graph(seed)
    found, graph = _core.Topology(nodes, edges, firm), as_networkx(nodes, edges)
    inside = [edge for edge in found.parent_edge if edge >= 0]
    forest = as_networkx(nodes, [edges[edge] for edge in inside])
    assert nx.is_forest(forest)
    assert sorted(map(sorted, nx.connected_components(forest))) == sorted(
        map(sorted, nx.connected_components(graph))
    )
    assert sorted([*inside, *found.closures]) == list(range(len(edges)))
    for node, (parent, edge) in enumerate(zip(found.parent, found.parent_edge, strict=True)):
        assert parent < 0 or sorted(edges[edge]) == sorted((node, parent))
    roots = [node for node in found.order if found.parent[node] < 0]
    assert roots[0] == nodes - 1
    assert roots[1:] == sorted(roots[1:])
    place = {node: k for k, node in enumerate(found.order)}
    assert sorted(place) == list(range(nodes))
    assert all(place[parent] < place[node] for node, parent in enumerate(found.parent) if parent >= 0)


@over(range(60))
def test_firm_edges_carry_it_wherever_they_can(seed):
    nodes, edges, firm = random_graph(seed)
    found = _core.Topology(nodes, edges, firm)
    held = nx.number_connected_components(as_networkx(nodes, edges[:firm]))
    assert sum(0 <= edge < firm for edge in found.parent_edge) == nodes - held


@over(range(60))
def test_among_equal_edges_it_goes_the_shortest_ways(seed):
    nodes, edges, _ = random_graph(seed)
    found = _core.Topology(nodes, edges, len(edges))
    distance = nx.single_source_shortest_path_length(as_networkx(nodes, edges), nodes - 1)
    for node in distance:
        steps, above = 0, node
        while found.parent[above] >= 0:
            steps, above = steps + 1, found.parent[above]
        assert (above, steps) == (nodes - 1, distance[node])


@over(range(60))
def test_each_closure_closes_one_ring(seed):
    nodes, edges, firm = random_graph(seed)
    found = _core.Topology(nodes, edges, firm)
    for closure in found.closures:
        loop = found.loop(closure)
        assert loop[0] == closure
        assert set(loop) & set(found.closures) == {closure}
        first, at = edges[closure]
        for edge in loop[1:]:  # from its second end round to its first
            assert at in edges[edge]
            at = sum(edges[edge]) - at
        assert at == first
        ring = nx.MultiGraph([edges[edge] for edge in loop])
        assert all(degree == 2 for _, degree in ring.degree)


@over(range(60))
def test_components_that_groups_make(seed):
    rng = np.random.default_rng(seed)
    nodes = int(rng.integers(2, 40))
    groups = [rng.integers(0, nodes, rng.integers(1, 5)).tolist() for _ in range(int(rng.integers(0, nodes)))]
    ground = nodes - 1
    graph = nx.empty_graph(ground)
    for group in groups:
        moving = [node for node in group if node != ground]
        graph.add_edges_from((moving[0], node) for node in moving[1:])
    of_node, of_group, grounded = _core.components(nodes, groups)
    expected = sorted(sorted(part) for part in nx.connected_components(graph))  # by their first nodes
    assert of_node[ground] == -1
    assert [[n for n in range(ground) if of_node[n] == k] for k in range(len(grounded))] == expected
    assert of_group == [max(of_node[node] for node in group) for group in groups]
    held = {of_node[node] for group in groups if ground in group for node in group if node != ground}
    assert {k for k, is_held in enumerate(grounded) if is_held} == held


def test_a_long_ring_takes_no_stack():
    edges = [(k, k - 1) for k in range(1, CHAIN)] + [(0, CHAIN), (CHAIN - 1, CHAIN)]
    found = _core.Topology(CHAIN + 1, edges, len(edges))
    assert found.order[:3] == [CHAIN, 0, CHAIN - 1]
    (closure,) = found.closures
    assert sorted(found.loop(closure)) == list(range(len(edges)))
    of_node, _, grounded = _core.components(CHAIN + 1, [list(ends) for ends in edges])
    assert set(of_node[:-1]) == {0}
    assert grounded == [1]


def test_what_is_no_node_is_refused():
    with pytest.raises(ValueError, match="node 3 is none of 3"):
        _core.Topology(3, [(0, 3)], 1)
    with pytest.raises(ValueError, match="node -1 is none of 3"):
        _core.components(3, [[-1]])
    with pytest.raises(ValueError, match="is none of 0"):
        _core.components(0, [])
