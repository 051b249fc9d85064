"""The two linkages of example 29, of bars in one plane: P. Malczyk, J. Fraczek (2012), section 4."""

from typing import Any

import numpy as np

import bellcrank as bc

A = 0.2  # m, length of a bar


class Linkage:
    """Bars between points of the x-z plane, on hinges about y."""

    def __init__(self, name: str) -> None:
        self.mech = bc.Mechanism(name)
        self.bars = 0

    def chain(self, points: list[tuple[float, float]], first: Any, last: Any) -> list[bc.Body]:
        """Bars through the points, hinged to what is at both ends."""
        bodies, count = [], len(points) - 1
        for k in range(count):
            one, two = np.array(points[k]), np.array(points[k + 1])
            middle, along = 0.5 * (one + two), two - one
            self.bars += 1
            turn = -np.arctan2(along[1], along[0])  # about y
            bodies.append(
                self.mech.add_body(
                    f"bar {self.bars}",
                    mass=1.0,
                    inertia=(0.25, 0.25, 0.25),
                    position=(middle[0], 0.0, middle[1]),
                    rotation=(np.cos(turn / 2), 0.0, np.sin(turn / 2), 0.0),
                )
            )
        neighbours = [first, *bodies, last]
        for k, (x, z) in enumerate(points):
            ends = [body.world_marker((x, 0.0, z), axis=(0, 1, 0)) for body in neighbours[k : k + 2]]
            self.mech.add_joint(f"hinge {len(self.mech.joints) + 1}", bc.Revolute(), *ends)
        return bodies


def apex(one: tuple[float, float], two: tuple[float, float], side: float) -> tuple[float, float]:
    """The point at distance A from both, on one side of the line between them."""
    p, q = np.array(one), np.array(two)
    half = 0.5 * (q - p)
    length = np.linalg.norm(half)
    across = np.array([-half[1], half[0]]) / length
    x, z = p + half + side * np.sqrt(A**2 - length**2) * across
    return float(x), float(z)


def end_of_bar(foot: tuple[float, float], degrees: float) -> tuple[float, float]:
    angle = np.radians(degrees)
    return foot[0] + A * float(np.cos(angle)), foot[1] + A * float(np.sin(angle))


def five_bar() -> bc.Mechanism:
    """Four bars between pivots that are two bars apart."""
    linkage, one, two = Linkage("five-bar"), end_of_bar((0.0, 0.0), 75.0), end_of_bar((2 * A, 0.0), 80.0)
    ground = linkage.mech.ground
    linkage.chain([(0.0, 0.0), one, apex(one, two, 1.0), two, (2 * A, 0.0)], ground, ground)
    return linkage.mech


def coupled_loops() -> bc.Mechanism:
    """The same with a second loop of four bars that hangs on the third."""
    linkage, one, two = Linkage("coupled loops"), end_of_bar((0.0, 0.0), 75.0), end_of_bar((2 * A, 0.0), 80.0)
    ground, top = linkage.mech.ground, apex(one, two, 1.0)
    bars = linkage.chain([(0.0, 0.0), one, top, two, (2 * A, 0.0)], ground, ground)
    left, right = end_of_bar(top, -107.0), end_of_bar(two, -78.0)
    linkage.chain([top, left, apex(left, right, -1.0), right, two], bars[2], bars[2])
    return linkage.mech
