"""Bodies that move as one in a run of a tree of joints, and colours that tell them apart."""

from __future__ import annotations

from colorsys import hls_to_rgb
from typing import Final

import numpy as np

from bellcrank.compile.state import Ints
from bellcrank.trajectory.store import FloatArray

_GROUND: Final = (0.62, 0.62, 0.62)
"""Of bodies that stand still with the ground, or that no joint moves against the others."""
_GOLDEN: Final = 0.6180339887498949
"""The golden section: hues of numbers in a row are as far apart as they can be."""


def heads(carriers: Ints, moves: np.ndarray) -> Ints:
    """Per body the number of the first body of those that move as one with it; -1 for the ground.

    carriers (nb,): the body that carries each, -1 for the ground. moves (nb,), bool: whether the joint
    between them does. Each round follows twice as many joints towards the ground.
    """
    ground = len(carriers)
    found = np.append(np.where(carriers < 0, ground, carriers), ground)
    found[:ground] = np.where(moves, np.arange(ground), found[:ground])
    while not np.array_equal(further := found[found], found):
        found = further
    return np.asarray(np.where(found[:ground] == ground, -1, found[:ground]))


def colors(clusters: Ints) -> FloatArray:
    """Colours (nb, 3) of bodies by the first body of those that each moves with; grey for the ground."""
    numbers, at = np.unique(clusters, return_inverse=True)
    palette = [
        _GROUND if number < 0 else hls_to_rgb(number * _GOLDEN % 1.0, 0.5 + 0.1 * (number % 3 - 1), 0.75)
        for number in numbers.tolist()
    ]
    return np.asarray(np.array(palette).reshape(-1, 3)[at])
