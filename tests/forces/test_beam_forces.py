"""What a segment of a beam exerts: all six laws in one pass, against each of them by itself."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.mechanism.attachment import ForceKind, markers
from bellcrank.mechanism.coordinate import Coordinate
from bellcrank.mechanism.fields import array, described, quantity
from bellcrank.mechanism.rows import Law, Lowered

COUPLED = np.random.default_rng(4).normal(size=(6, 6))
FLEXIBILITY = COUPLED @ COUPLED.T * 1e-3 + 1e-3 * np.eye(6)
DIAGONAL = np.diag([1e-5, 3e-5, 2e-5, 0.2, 0.1, 0.3])
UPPER = np.triu_indices(6)
SLOPE, CHANGE = (0.1 * (one + one.T) * 1e-3 for one in np.random.default_rng(6).normal(size=(2, 6, 6)))
NUMBERS = {
    "coupled": (0.4, *FLEXIBILITY[UPPER], 1.0, 0.1, -0.1, 0.3, 0.2, -0.4),
    "diagonal": (0.4, *DIAGONAL[UPPER], 1.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    "varied": (0.4, *FLEXIBILITY[UPPER], 1.0, 0.1, -0.1, 0.3, 0.2, -0.4, *SLOPE[UPPER], *CHANGE[UPPER]),
}


@described
class Segment(ForceKind, listed=False):
    """A segment whose laws come in a given order."""

    numbers: tuple = array("1", None)
    order: tuple = array("1", None)
    damping: float = quantity("s", default=0.0)
    pattern = "MM"
    ends_text = "two markers"
    meaning = "A segment."

    def lowered(self, ends):
        one, two = markers(ends)
        return Lowered(
            laws=tuple(
                Law.of(
                    self, "linear", Coordinate(f"beam_{k:.0f}", one, two, self.numbers),
                    stiffness=1.0, damping=self.damping, rest=0.0, preload=0.0,
                )
                for k in self.order
            )
        )  # fmt: skip


def accelerations(numbers, order, damping, formulation="lagrange"):
    rng = np.random.default_rng(8)
    mech = bc.Mechanism("segment")
    bodies = []
    for name in ("first", "second"):
        turn, spin = 0.4 * rng.normal(size=3), rng.normal(size=3)
        rotation = np.array([1.0, *(0.5 * turn)])
        bodies.append(
            mech.add_body(
                name, 1.5, (0.1, 0.2, 0.25), com=(0.1, 0.0, 0.2), position=0.2 * rng.normal(size=3),
                rotation=rotation / np.linalg.norm(rotation), velocity=rng.normal(size=3),
                angular_velocity=spin,
            )
        )  # fmt: skip
    ends = (bodies[0].marker((0.2, 0.1, 0.0), axis="y"), bodies[1].marker((0.0, 0.3, 0.1)))
    mech.add_force("segment", Segment(numbers, order, damping), *ends)
    found = bc.prepare(mech, formulation).accelerate()
    return np.concatenate([found.linear.ravel(), found.angular.ravel()])


@pytest.mark.parametrize("damping", [0.0, 0.3])
@pytest.mark.parametrize("numbers", NUMBERS)
def test_six_laws_together_are_each_by_itself(numbers, damping):
    together = accelerations(NUMBERS[numbers], (1, 2, 3, 4, 5, 6), damping)
    by_itself = accelerations(NUMBERS[numbers], (2, 1, 3, 4, 5, 6), damping)
    np.testing.assert_allclose(together, by_itself, rtol=1e-11, atol=1e-11 * np.abs(by_itself).max())


@pytest.mark.parametrize("formulation", ["recursive", "symbolic", "dca"])
@pytest.mark.parametrize("numbers", ["coupled", "varied"])
def test_formulations_agree_about_a_segment(numbers, formulation):
    """`symbolic` derives it from its formula."""
    expected = accelerations(NUMBERS[numbers], (1, 2, 3, 4, 5, 6), 0.3)
    found = accelerations(NUMBERS[numbers], (1, 2, 3, 4, 5, 6), 0.3, formulation)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


def web(order, pick, turn):
    """Bodies, each held to the one before and the first to the ground by segments of many kinds."""
    rng = np.random.default_rng(9)
    mech = bc.Mechanism("web", gravity=(0, 0, 0))
    before = mech.ground.marker((0.1, 0, 0))
    for k, (name, damping) in enumerate(pick):
        axis = rng.normal(size=3)
        angle = turn[k % len(turn)]
        rotation = (np.cos(0.5 * angle), *(np.sin(0.5 * angle) * axis / np.linalg.norm(axis)))
        body = mech.add_body(
            f"b{k}", 1.5, (0.1, 0.2, 0.25), com=(0.1, 0.0, 0.2), position=0.3 * rng.normal(size=3),
            rotation=rotation, velocity=rng.normal(size=3), angular_velocity=rng.normal(size=3),
        )  # fmt: skip
        mech.add_force(f"s{k}", Segment(NUMBERS[name], order, damping), before, body.marker((0, 0.3, 0.1)))
        before = body
    found = bc.prepare(mech, "lagrange").accelerate()
    return np.concatenate([found.linear.ravel(), found.angular.ravel()])


@pytest.mark.parametrize("turn", [(0.0, 0.02, 0.1), (0.0, 0.3), (0.1, 0.9, 1.7)])
@pytest.mark.parametrize(
    "pick",
    [
        [("diagonal", 0.0)] * 3,
        [("diagonal", 0.0)] * 4 + [("diagonal", 0.2)],
        [("diagonal", 0.1), ("coupled", 0.0), ("diagonal", 0.0), ("varied", 0.3)] * 2,
        [("varied", 0.0), ("diagonal", 0.0)] * 3 + [("coupled", 0.0)],
    ],
)
def test_segments_side_by_side_are_each_by_itself(pick, turn):
    """Any number of any kinds, whatever their turns: none of them beside another, all small, some large."""
    together, by_itself = web((1, 2, 3, 4, 5, 6), pick, turn), web((2, 1, 3, 4, 5, 6), pick, turn)
    np.testing.assert_allclose(together, by_itself, rtol=1e-11, atol=1e-11 * np.abs(by_itself).max())
