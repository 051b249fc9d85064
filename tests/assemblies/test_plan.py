"""Trees of subassemblies: every handle is joined once, ends stay few, depth grows as the logarithm."""

from math import log2

import numpy as np
import pytest

from bellcrank._core import plan_assembly

ROWS, HUB, MOST_JOINTS = 5, 6, 4


def graph(count, joints):
    """Handles and parts of bodies with joints (pairs of bodies, -1 the ground); many joints make a hub."""
    on = [[] for _ in range(count)]
    for number, pair in enumerate(joints):
        for body in pair:
            if body >= 0:
                on[body].append(number)
    size, parts, hub_of = [ROWS] * len(joints), [], {}
    part_of = {}
    for body, handles in enumerate(on):
        if len(handles) > MOST_JOINTS:
            hub_of[body] = len(size)
            size.append(HUB)
            parts.append([hub_of[body]])
        elif handles:
            part_of[body] = len(parts)
            parts.append(list(handles))
    for number, pair in enumerate(joints):
        hubs = [hub_of[body] for body in pair if body in hub_of]
        carriers = [part_of[body] for body in pair if body in part_of]
        if hubs and carriers:
            parts[carriers[0]] += [hub for hub in hubs if hub not in parts[carriers[0]]]
        elif hubs:
            parts.append([number, *hubs])
    return size, parts


def chain(n):
    return [(k - 1, k) for k in range(n)]


def random_tree(n):
    rng = np.random.default_rng(n)
    return [(int(rng.integers(k)), k) for k in range(1, n)]


def molecule(n):
    rng, degree, joints = np.random.default_rng(n), [0] * n, []
    for k in range(1, n):
        first = next(p for p in reversed(range(k)) if (degree[p] < 3 and rng.random() < 0.4) or p == 0)
        degree[first] += 1
        degree[k] += 1
        joints.append((first, k))
    return joints


def ladder(n):
    return [
        pair
        for k in range(n // 2)
        for pair in ((2 * k - 2, 2 * k), (2 * k - 1, 2 * k + 1), (2 * k, 2 * k + 1))
        if pair[0] >= 0
    ]


FAMILIES = {
    "chain": (chain, 2),
    "ring between ground and ground": (lambda n: [*chain(n), (n - 1, -1)], 2),
    "free ring": (lambda n: [(k, (k + 1) % n) for k in range(n)], 2),
    "star": (lambda n: [(0, k) for k in range(1, n)], 1),
    "spider": (lambda n: [(0 if (k - 1) % 30 == 0 else k - 1, k) for k in range(1, n)], 2),
    "caterpillar": (lambda n: [*chain(n // 2), *((k, n // 2 + k) for k in range(n // 2))], 2),
    "binary": (lambda n: [((k - 1) // 2, k) for k in range(1, n)], 3),
    "16-ary": (lambda n: [((k - 1) // 16, k) for k in range(1, n)], 4),
    "random": (random_tree, 4),
    "molecule": (molecule, 3),
    "ladder of loops": (ladder, 4),
}


@pytest.mark.parametrize("n", [20, 300, 4000])
@pytest.mark.parametrize("family", FAMILIES)
def test_depth_and_ends(family, n):
    joints, most_ends = FAMILIES[family]
    size, parts = graph(n, joints(n))
    plan = plan_assembly(size, parts)
    assert plan.components == 1
    assert plan.depth <= 2.0 * log2(n) + 6
    assert plan.most_ends <= most_ends
    joined = [handle for node in plan.nodes for handle in node.joined]
    assert sorted(joined) == list(range(len(size)))
    assert sorted(part for node in plan.nodes for part in node.parts) == list(range(len(parts)))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_handle_is_joined_where_all_parts_that_have_it_are_together(family):
    size, parts = graph(60, FAMILIES[family][0](60))
    nodes = plan_assembly(size, parts).nodes
    below = []
    for number, node in enumerate(nodes):
        assert all(child < number for child in node.children)
        assert len(node.children) + len(node.parts) <= 2
        below.append(set(node.parts).union(*(below[child] for child in node.children)))
        outside = set().union(*(parts[part] for part in range(len(parts)) if part not in below[number]))
        inside = set().union(*(parts[part] for part in below[number]))
        assert set(node.ends) == inside & outside
        assert not set(node.joined) & outside


def test_several_components_and_parts_without_handles():
    plan = plan_assembly([5, 3, 2], [[0], [0, 1], [1], [2], []])
    assert plan.components == 2
    assert sorted(handle for node in plan.nodes for handle in node.joined) == [0, 1, 2]
