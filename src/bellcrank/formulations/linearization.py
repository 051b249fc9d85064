"""Linearized equations of motion, and their reduction to independent coordinates by constraints.

About a state (q, u) displacements ξ and changes of speed w move as

    ξ' = w + W ξ,   w' = A ξ + B w + F e                                                                   (1)

with efforts e. Position constraints satisfy  J ξ = 0,  and all rows  J w + G ξ = 0  with G = ∂Ċ/∂q, so that
velocity constraints (rolling, blades) remove speeds and leave displacements free. With
independent coordinates ξ₁ and speeds w₁,  ξ = D ξ₁  and  w = E w₁ + L ξ₁  (2), and (1) for these alone is
the state matrix. Ju. Neimark, N. Fufaev, Dynamics of Nonholonomic Systems, 1972, chapter 4.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from bellcrank.compile.state import Floats
from bellcrank.errors import Fault, MechanismError

_RANK = 1e-9  # singular values of scaled rows below this part of the largest are zero
_NOTHING = 1e-12  # rows smaller than this part of the largest, or than this, are rounding
_LEADS = 1e-6  # fraction of a unit displacement that a coordinate must have on its own to be independent
_COUPLED = 1e-11  # entries of a state matrix below this part of the largest are treated as zero


@dataclass(frozen=True)
class Speed:
    """A speed of the tree: its joint (None for a floating body), the body behind it, and what moves.

    kind: a coordinate of the joint, such as "theta_z"; "omega_x" and so on for the angular velocity of a ball
    joint, in axes of the formulation's own; "swing_1", "swing_2" for a constant velocity joint: components
    of its angular velocity in the axes of a shaft that bisects the bend.
    """

    joint: str | None
    body: str
    kind: str

    @property
    def name(self) -> str:
        """The joint, or the body if there is none, and what moves: "pivot.theta_z"."""
        return f"{self.body if self.joint is None else self.joint}.{self.kind}"


@dataclass(frozen=True, eq=False)
class StateMatrix:
    """The equations  x' = matrix x  of small changes x of the independent displacements and speeds.

    displacements, speeds: names of the independent coordinates and speeds, as `Speed.name`. With velocity
        constraints there are more displacements than speeds.
    effort: derivatives of x' by efforts along all speeds of the tree, (states, all speeds).
    """

    matrix: Floats
    effort: Floats
    displacements: tuple[str, ...]
    speeds: tuple[str, ...]

    def part(self, displacements: Iterable[str], speeds: Iterable[str]) -> Floats:
        """The rows and columns of given displacements and speeds."""
        at = [_place(self.displacements, name) for name in displacements]
        at += [len(self.displacements) + _place(self.speeds, name) for name in speeds]
        return np.asarray(self.matrix[np.ix_(at, at)])

    def eigenvalues(self) -> np.ndarray:
        """The eigenvalues, complex, by decreasing real part.

        States on which no other depends (the position of a vehicle, the turn of a wheel), and those that
        depend on no other, have their diagonal entry as eigenvalue. They are split off before the rest is
        computed, so that the zeros of cyclic coordinates cost the others no digits.
        """
        matrix = np.where(
            np.abs(self.matrix) > _COUPLED * np.max(np.abs(self.matrix), initial=0.0), self.matrix, 0.0
        )
        left, found = list(range(len(matrix))), []
        while True:
            block = matrix[np.ix_(left, left)]
            apart = block - np.diag(np.diag(block))
            alone = [k for k in range(len(left)) if not apart[:, k].any() or not apart[k].any()]
            if not alone:
                break
            found.append(complex(block[alone[0], alone[0]]))
            del left[alone[0]]
        values = np.array([*np.linalg.eigvals(matrix[np.ix_(left, left)]), *found])
        return values[np.lexsort((values.imag, -values.real))]


@dataclass(frozen=True, eq=False)
class Linearization:
    """Derivatives of the rates of the speeds at a state, (speeds, speeds) each.

    position: by displacements of the joints (a ball joint's is a rotation vector in its own axes).
    velocity: by the speeds. effort: by efforts along the speeds.
    parameter: (speeds, parameters), by the mechanism's parameters at fixed coordinates and speeds; what was
        taken from the initial configuration, such as rest lengths, stays what it is.
    parameters: their names, without those on which points of splines, factors of BodyDamping or restitutions
        depend.
    chart: derivatives of the displacements' rates by displacements, (speeds, speeds); zero except for ball
        joints.
    rows: the closing rows of the tree, against the speeds, (rows, speeds). row_rates: derivatives of their
        rates by displacements. holds_positions: for each row, whether it constrains positions, not only
        velocities.
    """

    position: Floats
    velocity: Floats
    effort: Floats
    speeds: tuple[Speed, ...]
    parameter: Floats
    parameters: tuple[str, ...]
    chart: Floats
    rows: Floats
    row_rates: Floats
    holds_positions: np.ndarray

    def state_matrix(
        self, led_by: Sequence[str] = (), displaced_by: Sequence[str] | None = None
    ) -> StateMatrix:
        """Reduce the equations to independent displacements and speeds.

        led_by: names of speeds (`Speed.name`) to take as independent first, both as displacements and as
            speeds; the rest is chosen so that the equations are well conditioned. Velocity constraints
            restrict speeds, not displacements: a rolling wheel may be displaced sideways.

        displaced_by: names of independent displacements, if these differ.

        The matrix is constant along steady motions (a bicycle running straight ahead), where its eigenvalues
        determine stability; elsewhere it is that of the instant. Raises MechanismError for unknown names, and
        for names that cannot be independent together.
        """
        names = [speed.name for speed in self.speeds]
        wanted = [_place(names, name) for name in led_by]
        displaced = wanted if displaced_by is None else [_place(names, name) for name in displaced_by]
        freely, moving = _null_space(self.rows[self.holds_positions]), _null_space(self.rows)
        first, D = _led(freely, displaced, names, "displacements")
        second, E = _led(moving, wanted, names, "speeds")
        follows = -np.linalg.pinv(self.rows, rcond=_RANK) @ self.row_rates @ D if len(self.rows) else 0.0 * D
        L = follows - E @ follows[second]
        top = [(self.chart @ D + L)[first], E[first]]
        bottom = [(self.position @ D + self.velocity @ L)[second], (self.velocity @ E)[second]]
        effort = np.vstack([np.zeros((len(first), len(names))), self.effort[second]])
        return StateMatrix(
            np.block([top, bottom]), effort, tuple(names[k] for k in first), tuple(names[k] for k in second)
        )


def _place(names: Sequence[str], name: str) -> int:
    if name not in names:
        raise MechanismError(Fault(f"speed {name!r}", "is none of these", ", ".join(names)))
    return list(names).index(name)


def _null_space(rows: Floats) -> Floats:
    """An orthonormal basis (speeds, degrees of freedom) of the null space of rows."""
    columns = rows.shape[1]
    sizes = np.linalg.norm(rows, axis=1)
    speaking = sizes > _NOTHING * np.max(sizes, initial=1.0)
    scaled = rows[speaking] / sizes[speaking, None]
    if len(scaled) == 0:
        return np.eye(columns)
    _, values, right = np.linalg.svd(scaled)
    return np.asarray(right[np.count_nonzero(values > _RANK * values[0]) :].T)


def _led(basis: Floats, wanted: Sequence[int], names: Sequence[str], what: str) -> tuple[list[int], Floats]:
    """The independent coordinates of a null space, in their order, and the matrix from these to all."""
    rest = basis.copy()
    chosen: list[int] = []
    while len(chosen) < max(basis.shape[1], len(wanted)):
        sizes = np.linalg.norm(rest, axis=1)
        # Among coordinates almost as good as the best, take the first, which is nearest to the ground.
        best = int(np.argmax(sizes > 0.1 * np.max(sizes)))
        at = wanted[len(chosen)] if len(chosen) < len(wanted) else best
        if sizes[at] < _LEADS:
            rule = f"cannot lead {what} beside {', '.join(names[c] for c in chosen) or 'any other'}"
            raise MechanismError(
                Fault(f"speed {names[at]!r}", rule, None, "these and the constraints hold it")
            )
        chosen.append(at)
        direction = rest[at] / sizes[at]
        rest = rest - np.outer(rest @ direction, direction)
    chosen.sort()
    return chosen, basis @ np.linalg.inv(basis[chosen])
