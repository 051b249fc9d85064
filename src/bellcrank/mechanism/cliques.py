"""Pairs of bodies put together into few sets, within each of which all pairs are among the given ones."""

from __future__ import annotations

from collections.abc import Collection, Iterable

Pair = frozenset[str]


def cliques(pairs: Iterable[Pair], free: Collection[Pair]) -> list[list[str]]:
    """Sets of bodies, so that each pair lies in exactly one set, and every other pair in a set is free.

    Greedy: a set takes the body that adds most pairs, as long as there is one. The first body of each pair
    comes first.
    """
    left = dict.fromkeys(pairs)
    order = list(dict.fromkeys(body for pair in left for body in sorted(pair)))
    wanted: dict[str, set[str]] = {body: set() for body in order}
    loose: dict[str, set[str]] = {body: set() for body in order}
    for table, given in ((wanted, left), (loose, free)):
        for one, two in map(tuple, given):
            if one in table and two in table:
                table[one].add(two)
                table[two].add(one)
    found = []
    while any(wanted.values()):
        first = max(order, key=lambda body: len(wanted[body]))
        members, gains = [first], dict.fromkeys(wanted[first] | loose[first], 0)
        last = first
        while True:
            gains = {
                body: gain + (body in wanted[last])
                for body, gain in gains.items()
                if body in wanted[last] or body in loose[last]
            }
            last = max(gains, key=gains.__getitem__, default="")
            if not last or gains[last] == 0:
                break
            members.append(last)
            del gains[last]
        for body in members:
            wanted[body].difference_update(members)
        found.append([body for body in order if body in members])
    return found
