"""The graph of a mechanism: bodies are nodes, joints and constraints are edges."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from bellcrank.assembly.model import Model


@dataclass(frozen=True)
class Edge:
    """A joint or constraint between two bodies: its name with its noun, and their indices."""

    element: str
    first: int
    second: int
    is_joint: bool


@dataclass(frozen=True)
class Graph:
    """Components, a spanning forest rooted at the ground where it can be, and the edges that close loops.

    The ground is the node len(parent) - 1.

    edges: joints first, then constraints between two bodies. What holds nothing is no edge.
    parent_edge: per node the edge towards the root, -1 at roots. parent: the node at its other end.
    order: all nodes, each after its parent (breadth first).
    closures: the edges that are not in the forest; each closes one loop.
    component: per body the number of its component. The ground does not connect what is attached to it.
    grounded: per component whether something connects it to the ground.
    couplings: constraints that act on joint coordinates of more than two bodies; they belong to no loop.
    """

    edges: tuple[Edge, ...]
    parent_edge: tuple[int, ...]
    parent: tuple[int, ...]
    order: tuple[int, ...]
    closures: tuple[int, ...]
    component: tuple[int, ...]
    grounded: tuple[bool, ...]
    couplings: tuple[str, ...]

    def components(self) -> list[list[int]]:
        """The bodies of each component."""
        groups: list[list[int]] = [[] for _ in self.grounded]
        for body, number in enumerate(self.component):
            groups[number].append(body)
        return groups

    def loop(self, closure: int) -> list[str]:
        """The elements of the loop that an edge of `closures` closes, that edge first, in order."""
        edge = self.edges[closure]
        left, right = branches(self.parent, self.parent_edge, edge.first, edge.second)
        return [edge.element, *(self.edges[e].element for e in (*right, *reversed(left)))]


def analyse(model: Model) -> Graph:
    """The graph of a model."""
    touched = _bodies_of_constraints(model)
    edges = [Edge(f"joint {j.name!r}", *j.bodies, True) for j in model.joints if j.blocks]
    couplings = []
    for name, bodies in touched:
        if len(bodies) == 2:
            edges.append(Edge(f"constraint {name!r}", bodies[0], bodies[1], False))
        elif len(bodies) > 2:
            couplings.append(f"constraint {name!r}")
    parent, parent_edge, order, closures = forest(len(model.bodies) + 1, edges)
    component, grounded = _components(model, edges, [bodies for _, bodies in touched])
    return Graph(
        tuple(edges), tuple(parent_edge), tuple(parent), tuple(order), tuple(closures), component, grounded,
        tuple(couplings),
    )  # fmt: skip


def _bodies_of_constraints(model: Model) -> list[tuple[str, list[int]]]:
    result = []
    for record in model.constraints:
        bodies = {body for block in record.blocks for body in model.core.bodies_of(block)}
        result.append((record.name, sorted(bodies)))
    return result


def forest(nodes: int, edges: list[Edge]) -> tuple[list[int], list[int], list[int], list[int]]:
    """Parents (-1 at roots), edges to them, order, edges left over; from the ground, along joints first."""
    neighbours: list[list[int]] = [[] for _ in range(nodes)]
    for number, edge in enumerate(edges):
        neighbours[edge.first].append(number)
        if edge.second != edge.first:
            neighbours[edge.second].append(number)
    parent, parent_edge, seen = [-1] * nodes, [-1] * nodes, [False] * nodes
    order: list[int] = []
    used = [False] * len(edges)
    for root in (nodes - 1, *range(nodes - 1)):
        if seen[root]:
            continue
        seen[root] = True
        queue, waiting = deque([root]), deque[tuple[int, int]]()
        while queue or waiting:
            if not queue:  # constraints carry the tree on only where no joint does
                node, number = waiting.popleft()
                found = _other(edges[number], node)
                if not seen[found]:
                    seen[found], used[number] = True, True
                    parent[found], parent_edge[found] = node, number
                    queue.append(found)
                continue
            node = queue.popleft()
            order.append(node)
            for number in neighbours[node]:
                found = _other(edges[number], node)
                if seen[found]:
                    continue
                if not edges[number].is_joint:
                    waiting.append((node, number))
                    continue
                seen[found], used[number] = True, True
                parent[found], parent_edge[found] = node, number
                queue.append(found)
    return parent, parent_edge, order, [number for number, is_used in enumerate(used) if not is_used]


def branches(
    parent: Sequence[int], parent_edge: Sequence[int], one: int, two: int
) -> tuple[list[int], list[int]]:
    """The edges of a forest from each of two nodes up to where their ways to the root meet."""
    ways: list[list[int]] = []
    for start in (one, two):
        node, way = start, []
        while parent_edge[node] >= 0:
            way.append(parent_edge[node])
            node = parent[node]
        ways.append(way)
    left, right = ways
    while left and right and left[-1] == right[-1]:
        left.pop()
        right.pop()
    return left, right


def joined(count: int, groups: Iterable[Sequence[int]]) -> list[int]:
    """For each of so many bodies one that stands for all that groups of bodies tie to it."""
    leader = list(range(count))

    def find(body: int) -> int:
        while leader[body] != body:
            leader[body] = leader[leader[body]]
            body = leader[body]
        return body

    for group in groups:
        for body in group[1:]:
            leader[find(body)] = find(group[0])
    return [find(body) for body in range(count)]


def _other(edge: Edge, node: int) -> int:
    return edge.second if edge.first == node else edge.first


def _components(
    model: Model, edges: list[Edge], touched: list[list[int]]
) -> tuple[tuple[int, ...], tuple[bool, ...]]:
    """Component per body, and whether each component is held to the ground."""
    ground = model.ground
    to_ground: set[int] = set()
    moving: list[list[int]] = []
    for bodies in [[edge.first, edge.second] for edge in edges] + touched:
        moving.append([body for body in bodies if body != ground])
        if ground in bodies:
            to_ground.update(moving[-1])
    leaders = np.array(joined(ground, moving), dtype=int)
    _, component = np.unique(leaders, return_inverse=True)
    grounded = np.zeros(int(component.max(initial=-1)) + 1, dtype=bool)
    grounded[component[sorted(to_ground)]] = True
    return tuple(component.tolist()), tuple(grounded.tolist())
