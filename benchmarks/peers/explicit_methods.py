"""Explicit fixed-step integrators for peers that give accelerations only (Pinocchio).

Runge–Kutta tableaus: classical RK4; DOPRI5 (Dormand & Prince 1980); DOP853's 8th-order formula (Hairer,
Nørsett & Wanner, Solving ODEs I, II.10). Adams–Bashforth and Adams–Bashforth–Moulton (PECE) of any order,
weights by integrating Lagrange polynomials, started by 8th-order Runge–Kutta.
"""

# run as scripts, so siblings import by plain name; a checker that sees a package cannot find them
# mypy: disable-error-code="import-not-found,no-any-return"

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from loop_problems import Array

Acceleration = Callable[[Array, Array], Array]

Tableau = tuple[list[list[float]], list[float]]

RK4: Tableau = ([[], [1 / 2], [0, 1 / 2], [0, 0, 1]], [1 / 6, 1 / 3, 1 / 3, 1 / 6])

DOPRI5: Tableau = (
    [
        [],
        [1 / 5],
        [3 / 40, 9 / 40],
        [44 / 45, -56 / 15, 32 / 9],
        [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
        [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
    ],
    [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
)

# fmt: off
DOP853: Tableau = (
    [
        [],
        [0.05260015195876773],
        [0.0197250569845379, 0.0591751709536137],
        [0.02958758547680685, 0, 0.08876275643042054],
        [0.2413651341592667, 0, -0.8845494793282861, 0.924834003261792],
        [0.037037037037037035, 0, 0, 0.17082860872947386, 0.12546768756682242],
        [0.037109375, 0, 0, 0.17025221101954405, 0.06021653898045596, -0.017578125],
        [0.03709200011850479, 0, 0, 0.17038392571223998, 0.10726203044637328, -0.015319437748624402,
         0.008273789163814023],
        [0.6241109587160757, 0, 0, -3.3608926294469414, -0.868219346841726, 27.59209969944671,
         20.154067550477894, -43.48988418106996],
        [0.47766253643826434, 0, 0, -2.4881146199716677, -0.590290826836843, 21.230051448181193,
         15.279233632882423, -33.28821096898486, -0.020331201708508627],
        [-0.9371424300859873, 0, 0, 5.186372428844064, 1.0914373489967295, -8.149787010746927,
         -18.52006565999696, 22.739487099350505, 2.4936055526796523, -3.0467644718982196],
        [2.273310147516538, 0, 0, -10.53449546673725, -2.0008720582248625, -17.9589318631188,
         27.94888452941996, -2.8589982771350235, -8.87285693353063, 12.360567175794303, 0.6433927460157636],
    ],
    [0.054293734116568765, 0, 0, 0, 0, 4.450312892752409, 1.8915178993145003, -5.801203960010585,
     0.3111643669578199, -0.1521609496625161, 0.20136540080403034, 0.04471061572777259],
)
# fmt: on

TABLEAUS: dict[str, Tableau] = {"rk4": RK4, "dopri5": DOPRI5, "dop853": DOP853}


class RungeKutta:
    """One step of an explicit Runge–Kutta method on (q, v), q̇ = v, with preallocated stages."""

    def __init__(self, name: str, step: float, size: int) -> None:
        stages, weights = TABLEAUS[name]
        self.rows = [step * np.array(row, dtype=float) for row in stages]
        self.weights = step * np.array(weights, dtype=float)
        self.slopes = np.zeros((len(stages), 2 * size))
        self.work = np.zeros(2 * size)
        self.size = size

    def advance(self, state: Array, acceleration: Acceleration) -> None:
        """Advance state = (q, q̇) by one step, in place."""
        size, slopes, work = self.size, self.slopes, self.work
        for i, row in enumerate(self.rows):
            if i:
                np.dot(row, slopes[:i], out=work)
                work += state
            else:
                work[:] = state
            slopes[i, :size] = work[size:]
            slopes[i, size:] = acceleration(work[:size], work[size:])
        state += self.weights @ slopes


def adams_weights(order: int, implicit: bool) -> Array:
    """Weights of slopes at 0, −1, … (explicit) or 1, 0, −1, … (implicit), newest first, for a unit step."""
    nodes = [Fraction((1 if implicit else 0) - k) for k in range(order)]
    weights = []
    for k, node in enumerate(nodes):
        poly = [Fraction(1)]
        for other in nodes[:k] + nodes[k + 1 :]:
            scale = node - other
            raised = [Fraction(0), *poly]
            poly = [
                (raised[i] - other * (poly[i] if i < len(poly) else Fraction(0))) / scale
                for i in range(len(raised))
            ]
        weights.append(float(sum(c / (i + 1) for i, c in enumerate(poly))))
    return np.array(weights)


class Adams:
    """Adams–Bashforth of the given order (`ab5`), or with one Moulton correction of that order (`abm5`)."""

    def __init__(self, name: str, step: float, size: int) -> None:
        self.correct = name.startswith("abm")
        self.order = int(name.removeprefix("abm" if self.correct else "ab"))
        self.explicit = step * adams_weights(self.order, implicit=False)
        self.implicit = step * adams_weights(self.order, implicit=True)
        # slopes newest first, kept in a window that slides down a longer buffer
        self.buffer = np.zeros((1024, 2 * size))
        self.head = len(self.buffer)
        self.known = 0
        self.starter = RungeKutta("dop853", step, size)
        self.work = np.zeros(2 * size)
        self.size = size

    def _push(self, state: Array, acceleration: Acceleration) -> None:
        if self.head == 0:
            keep = self.order + 1
            self.buffer[-keep:] = self.buffer[:keep]
            self.head = len(self.buffer) - keep
        self.head -= 1
        slope = self.buffer[self.head]
        slope[: self.size] = state[self.size :]
        slope[self.size :] = acceleration(state[: self.size], state[self.size :])

    def advance(self, state: Array, acceleration: Acceleration) -> None:
        """Advance state = (q, q̇) by one step, in place."""
        if self.known < self.order - 1:
            self._push(state, acceleration)
            self.known += 1
            self.starter.advance(state, acceleration)
            return
        if not self.correct or self.known == self.order - 1:
            self._push(state, acceleration)
            self.known += 1
        recent = self.buffer[self.head : self.head + self.order]
        if not self.correct:
            state += self.explicit @ recent
            return
        self.work[:] = state + self.explicit @ recent
        self._push(self.work, acceleration)
        state += self.implicit @ self.buffer[self.head : self.head + self.order]
        newest = self.buffer[self.head]
        newest[: self.size] = state[self.size :]
        newest[self.size :] = acceleration(state[: self.size], state[self.size :])


def make_method(name: str, step: float, size: int) -> RungeKutta | Adams:
    """`rk4`, `dopri5`, `dop853`, `ab<order>` or `abm<order>`."""
    if name in TABLEAUS:
        return RungeKutta(name, step, size)
    if name.startswith("ab") and name.removeprefix("ab").removeprefix("m").isdigit():
        return Adams(name, step, size)
    raise SystemExit(f"integrator {name}: choose rk4, dopri5, dop853, ab<order> or abm<order>")
