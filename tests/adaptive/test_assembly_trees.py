"""Assembly trees: what holds for any linkage, of any shape and any degree."""

import time

import numpy as np
import pytest

from bellcrank import _core

BODY, JOIN, RAKE, SUM = range(4)


def chain(n):
    return np.arange(n) - 1


def star(n):
    return np.where(np.arange(n) > 0, 0, -1)


def spider(n):
    legs = int(np.sqrt(n))
    return np.array([-1, *(0 if k % legs == 0 else k for k in range(n - 1))])


def caterpillar(n, feet=1):
    return np.array([-1, *(k // (feet + 1) * (feet + 1) for k in range(n - 1))])


def hairy_caterpillar(n):
    return caterpillar(n, 223)


def millipede(n):
    """A spine, with legs of ten on it at equal distances."""
    spine = max(1, 3 * n // 13)
    feet = n - spine
    hips = [k // 10 * spine * 10 // max(feet, 1) for k in range(feet)]
    return np.array([*range(-1, spine - 1), *(k + spine - 1 if k % 10 else hips[k] for k in range(feet))])


def random_recursive(n):
    rng = np.random.default_rng(0)
    return np.array([-1, *(rng.integers(0, k) for k in range(1, n))])


def windowed(n):
    rng = np.random.default_rng(1)
    return np.array([-1, *(rng.integers(max(0, k - 6), k) for k in range(1, n))])


def complete(n, arity=2):
    return (np.arange(n) - 1) // arity


def complete_16(n):
    return complete(n, 16)


def fibonacci(n):
    """The tree of order k has those of orders k - 1 and k - 2 as branches of its root."""
    parents, open_orders = [], [(1, -1)]
    while sum(_fibonacci(order) for order, _ in open_orders) < n:
        open_orders = [(open_orders[0][0] + 1, -1)]
    while open_orders:
        order, parent = open_orders.pop()
        if order <= 0:
            continue
        parents.append(parent)
        open_orders += [(order - 2, len(parents) - 1), (order - 1, len(parents) - 1)]
    return np.array(parents)


def _fibonacci(order):
    a, b = 0, 1
    for _ in range(order):
        a, b = b, a + b + 1
    return a


FAMILIES = (
    chain, star, spider, caterpillar, hairy_caterpillar, millipede, random_recursive, windowed, complete,
    complete_16, fibonacci,
)  # fmt: skip


def check_bounds(parents, nodes):
    """Depth and joins on all paths from the root."""
    n = len(parents)
    log = np.log2(max(n, 2))
    assert nodes[:, 5].max() <= 4.0 * log + 8.0
    joins = np.zeros(len(nodes), int)
    order = np.argsort(nodes[:, 5], kind="stable")
    for node in order[1:]:
        above = nodes[node, 3]
        joins[node] = joins[above] + (nodes[above, 0] == JOIN)
    joins += nodes[:, 0] == JOIN
    assert joins.max() <= 2.5 * log + 2.0


def check_sets(parents, nodes, given):
    """Every joint is assembled once; no node has more than two boundary bodies."""
    neighbours = [set() for _ in parents]
    for child, parent in enumerate(parents):
        if parent >= 0:
            neighbours[child].add(int(parent))
            neighbours[parent].add(child)
    bodies = []
    for kind, left, right, _, link, _ in nodes:
        own = {given[link]} if kind == BODY else set()
        parts = [bodies[part] for part in (left, right) if part >= 0]
        assert all(part.isdisjoint(own) for part in parts)
        if kind == JOIN:
            joined = given[link]
            assert parents[joined] in parts[0]
            assert joined in parts[1]
        if kind == RAKE:
            assert given[link] in parts[0]
            assert parents[given[link]] not in parts[0]
        bodies.append(own.union(*parts))
        if kind == SUM:  # branches of one body, which joins none of them to another
            carriers = {p for body in bodies[-1] for p in neighbours[body] - bodies[-1]}
            assert len(carriers) <= 1
        else:
            boundary = [body for body in bodies[-1] if neighbours[body] - bodies[-1]]
            assert len(boundary) <= 2
    assert bodies[-1] == set(range(len(parents)))
    assembled = sorted(given[node[4]] for node in nodes if node[0] in (JOIN, RAKE))
    assert assembled == list(range(len(parents)))
    assert sorted(given[node[4]] for node in nodes if node[0] == BODY) == assembled


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("size", [1, 2, 3, 10, 150])
def test_families_small(family, size):
    parents = family(size)
    nodes, given = _core.assembly_tree(parents.tolist())
    check_sets(parents, nodes, given)
    check_bounds(parents, nodes)


@pytest.mark.timed
@pytest.mark.parametrize("family", FAMILIES)
def test_families_large(family):
    parents = family(50_000).tolist()
    times = []
    for _ in range(3):
        begun = time.thread_time()
        nodes, _ = _core.assembly_tree(parents)
        times.append(time.thread_time() - begun)
    check_bounds(parents, nodes)
    assert min(times) < 0.05


def test_ten_thousand_random_trees():
    """Of few bodies mostly, some of a thousand, from bushes to chains, with several on the ground."""
    rng = np.random.default_rng(7)
    for number in range(10_000):
        n = int(rng.integers(1, 1000 if number % 500 == 0 else 24))
        window, ground = int(rng.integers(1, n + 1)), 0.2 * rng.random() ** 2
        parents = [
            -1 if k == 0 or rng.random() < ground else int(rng.integers(max(0, k - window), k))
            for k in range(n)
        ]
        nodes, given = _core.assembly_tree(parents)
        if n < 100:
            check_sets(parents, nodes, given)
        check_bounds(parents, nodes)


@pytest.mark.parametrize("parents", [[], [0], [-1, 2, 0], [-2]])
def test_what_is_no_tree_is_refused(parents):
    with pytest.raises(
        ValueError, match=r"a linkage needs at least one body|must be -1 or the number of a link"
    ):
        _core.assembly_tree(parents)
