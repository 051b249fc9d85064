"""The two linkages of example 29, of bars in one plane, moving through a pose in which all bars are in line.

P. Malczyk, J. Fraczek (2012), section 4. The paper's initial poses are in its figures only; here the start is
so that the singular pose is met after a given time.
"""

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


FLAT = [(0.0, 0.0), (A, 0.0), (2 * A, 0.0), (3 * A, 0.0), (2 * A, 0.0)]
RATES = (1.0, 2.0, -2.0 / 3.0, 7.0 / 3.0)  # rad/s
"""Angular velocities of the four bars where all are in line, about -y.

With s = 1, 1, 1, -1 for bars that point along +x or -x, the loop closes to first order across the line if
sum s w = 0, and to second order along it if sum s w^2 = 0; the rows of the joints say the first only.
"""


def apex(one: tuple[float, float], two: tuple[float, float], side: float) -> tuple[float, float]:
    """The point at distance A from both, on one side of the line between them."""
    p, q = np.array(one), np.array(two)
    half = 0.5 * (q - p)
    length = np.linalg.norm(half)
    across = np.array([-half[1], half[0]]) / length
    x, z = p + half + side * np.sqrt(A**2 - length**2) * across
    return float(x), float(z)


def end_of_bar(foot: tuple[float, float], degrees: float) -> tuple[float, float]:
    """The other end of a bar at an angle from x."""
    angle = np.radians(degrees)
    return foot[0] + A * float(np.cos(angle)), foot[1] + A * float(np.sin(angle))


def five_bar() -> bc.Mechanism:
    """Four bars between pivots that are two bars apart, all in line, with the velocities of that pose."""
    linkage = Linkage("five-bar")
    bars = linkage.chain(FLAT, linkage.mech.ground, linkage.mech.ground)
    move(linkage.mech, bars, RATES)
    return linkage.mech


def coupled_loops() -> bc.Mechanism:
    """The same with a second loop of four bars that hangs on the third, and turns with it at first."""
    linkage, left, right = Linkage("coupled loops"), end_of_bar(FLAT[2], -107.0), end_of_bar(FLAT[3], -78.0)
    bars = linkage.chain(FLAT, linkage.mech.ground, linkage.mech.ground)
    hanging = linkage.chain([FLAT[2], left, apex(left, right, -1.0), right, FLAT[3]], bars[2], bars[2])
    moved = move(linkage.mech, bars, RATES)
    for bar in hanging:
        arm = np.array(bar.position) - np.array(FLAT[2])[[0, 0, 1]] * [1, 0, 1]
        turn = np.array([0.0, -RATES[2], 0.0])
        linkage.mech.replace(
            bar, velocity=tuple(moved[2] + np.cross(turn, arm)), angular_velocity=tuple(turn)
        )
    return linkage.mech


def move(mech: bc.Mechanism, bars: list[bc.Body], rates: tuple[float, ...]) -> list[np.ndarray]:
    """Give bars in line their velocities; those of the points between them."""
    points = [np.zeros(3)]
    for bar, rate, one, two in zip(bars, rates, FLAT, FLAT[1:], strict=False):
        turn, along = np.array([0.0, -rate, 0.0]), np.array([two[0] - one[0], 0.0, two[1] - one[1]])
        mech.replace(
            bar, velocity=tuple(points[-1] + 0.5 * np.cross(turn, along)), angular_velocity=tuple(turn)
        )
        points.append(points[-1] + np.cross(turn, along))
    return points


def before(mech: bc.Mechanism, seconds: float) -> bc.State:
    """The state from which the mechanism comes to its initial one: it moves backwards, and loses nothing."""
    back = mech.copy()
    for body in list(back.bodies.values()):
        reversed_velocities = (tuple(-x for x in v) for v in (body.velocity, body.angular_velocity))
        back.replace(body, **dict(zip(("velocity", "angular_velocity"), reversed_velocities, strict=True)))
    run = bc.simulate(back, seconds, formulation="dca", method="dopri5", tolerance=1e-11)
    then = run.at(seconds)
    return bc.State(0.0, then.position, then.rotation, -then.velocity, -then.angular_velocity)
