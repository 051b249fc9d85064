"""An order of elimination for stiffness matrices of solids: nested dissection by where nodes are.

(A. George, Nested dissection of a regular finite element mesh, SIAM Journal on Numerical Analysis 10, 1973.)
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

_LEAST: Final = 60  # nodes that are not divided


def dissected(points: Any, graph: Any) -> Any:
    """The numbers of nodes in an order in which elimination fills little, (n,).

    points: (n, 3). graph: a sparse matrix in rows, with an entry for each pair of nodes that are coupled.

    A set is halved across its longest side. Nodes of one half that touch the other part them; they come last.
    """
    beyond = np.zeros(len(points), dtype=np.int8)
    last_first: list[Any] = []
    left_over = [np.arange(len(points))]
    while left_over:
        nodes = left_over.pop()
        places = points[nodes]
        along = places[:, np.argmax(np.ptp(places, axis=0))] if len(nodes) > _LEAST else np.zeros(len(nodes))
        far = along > np.median(along) if len(nodes) else np.zeros(0, dtype=bool)
        if not far.any():
            last_first.append(nodes)
            continue
        here, there = nodes[~far], nodes[far]
        beyond[there] = 1
        touching = np.asarray(graph[here] @ beyond > 0).ravel()
        beyond[there] = 0
        last_first.append(here[touching])
        left_over += [here[~touching], there]
    return np.concatenate(last_first[::-1])
