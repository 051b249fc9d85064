"""The symbolic formulation: the equations of motion in joint coordinates, derived once, run as programs.

B. Guenter and S.-H. Lee, Symbolic Lagrangian Multibody Dynamics; see docs/theory/symbolic.md.

Linearized equations, and their reduction to independent coordinates by constraints:
about a state (q, u) displacements ξ and changes of speed w move as

    ξ' = w + W ξ,   w' = A ξ + B w + F e                                                                   (1)

with efforts e. Position constraints satisfy  J ξ = 0,  and all rows  J w + G ξ = 0  with G = ∂Ċ/∂q, so that
velocity constraints (rolling, blades) remove speeds and leave displacements free. With
independent coordinates ξ₁ and speeds w₁,  ξ = D ξ₁  and  w = E w₁ + L ξ₁  (2), and (1) for these alone is
the state matrix. Ju. Neimark, N. Fufaev, Dynamics of Nonholonomic Systems, 1972, chapter 4.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank import _core
from bellcrank.compile.contacts import refuse_contacts
from bellcrank.compile.formula_joints import POLE, poles_near
from bellcrank.compile.model import Model
from bellcrank.compile.state import Floats, State
from bellcrank.errors import Fault, MechanismError, Unsupported
from bellcrank.formulations import joint_system
from bellcrank.formulations.contract import ALL, whole
from bellcrank.formulations.joint_system import JointSystem, cut_blocks, for_core

if TYPE_CHECKING:
    from bellcrank.compile.parametric_numbers import ParametricNumbers
    from bellcrank.formulations.equations import WrittenEquations
    from bellcrank.formulations.export_c import ExportedC


_RANK = 1e-9  # singular values of scaled rows below this part of the largest are zero
_NOTHING = 1e-12  # rows smaller than this part of the largest, or than this, are rounding
_LEADS = 1e-6  # fraction of a unit displacement that a coordinate must have on its own to be independent
_OPEN = 1e-9  # change of a row per unit of a parameter, in parts of the largest, that is rounding
_BESIDE = 1e-3  # rad or m: where it is looked again whether parameters open loops
_COUPLED = 1e-11  # entries of a state matrix below this part of the largest are treated as zero


@dataclass(frozen=True)
class Speed:
    """A speed of the tree: its joint (None for a floating body), the body behind it, and what moves.

    kind: a coordinate of the joint, such as "theta_z"; "omega_x" and so on for the angular velocity of a ball
    joint, in axes of the formulation's own; "swing_1", "swing_2" for a constant velocity joint: components
    of its angular velocity in the axes of a shaft that bisects the bend.

    >>> speed = bc.prepare(pendulum, "symbolic").speeds[0]
    >>> speed.name, speed.joint, speed.body, speed.kind
    ('hinge.theta_z', 'hinge', 'rod', 'theta_z')
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
    parameter: derivatives of x' by the parameters of the Linearization, (states, parameters).
    """

    matrix: Floats
    effort: Floats
    parameter: Floats
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
class FixedCoordinates:
    """Derivatives by parameters at fixed coordinates and speeds of the tree, which open loops.

    accelerations: of the speeds' rates, (speeds, parameters). row_accelerations, rows, row_rates: of the
        closing rows' second rates at fixed accelerations, of their values and rates, (rows, parameters).
    """

    accelerations: Floats
    row_accelerations: Floats
    rows: Floats
    row_rates: Floats

    def of(self, columns: Sequence[int] | np.ndarray) -> FixedCoordinates:
        """The same by some of the parameters."""
        return FixedCoordinates(*(getattr(self, one.name)[:, columns] for one in fields(self)))

    def closed(
        self,
        jacobian: Floats,
        rates: Floats,
        holds_positions: np.ndarray,
        first: Sequence[int] | None = None,
        second: Sequence[int] | None = None,
    ) -> tuple[Floats, Floats]:
        """Displacements ξ and changes of speed w (speeds, parameters) with which the rows stay closed.

        J ξ = −∂C/∂p and J w = −∂Ċ/∂p − G ξ by least squares; with first and second, those in them are zero.
        """
        held = jacobian[holds_positions]
        displaced = -_solved(held, self.rows[holds_positions], first)
        sped = -_solved(jacobian, self.row_rates + rates @ displaced, second)
        return displaced, sped


def _solved(rows: Floats, wanted: Floats, still: Sequence[int] | None) -> Floats:
    """Solve rows x = wanted for x (columns, n): least squares of least norm, or zero in those of `still`."""
    moving = np.ones(rows.shape[1], dtype=bool)
    if still is not None:
        moving[list(still)] = False
    found = np.zeros((rows.shape[1], wanted.shape[1]))
    if len(rows):
        found[moving] = np.linalg.pinv(rows[:, moving], rcond=_RANK) @ wanted
    return found


@dataclass(frozen=True, eq=False)
class Linearization:
    """Derivatives of the rates of the speeds at a state, (speeds, speeds) each.

    position: by displacements of the joints (a ball joint's is a rotation vector in its own axes).
    velocity: by the speeds. effort: by efforts along the speeds.
    parameter: (speeds, parameters), by the mechanism's parameters. Loops stay closed: the coordinates that
        `state_matrix()` takes as independent, and their speeds, stay, and the others follow. What was
        taken from the initial configuration, such as rest lengths, stays what it is.
    parameters: their names, without those on which points of splines or factors of BodyDamping depend, and
        without `opening`.
    opening: names of parameters that open a loop when they alone change, because its rows are redundant: the
        mechanism moves at this value only, and there is no derivative.
    chart: derivatives of the displacements' rates by displacements, (speeds, speeds); zero except for ball
        joints.
    rows: the closing rows of the tree, against the speeds, (rows, speeds). row_rates: derivatives of their
        rates by displacements. holds_positions: for each row, whether it constrains positions, not only
        velocities.

    >>> system = bc.prepare(pendulum, "symbolic")
    >>> found = system.linearize(bc.statics(pendulum).state)
    >>> print(found.position.round(4), 3 * 9.81 / 2)    # 1/s^2: the square of the natural frequency
    [[-14.715]] 14.715
    """

    position: Floats
    velocity: Floats
    effort: Floats
    speeds: tuple[Speed, ...]
    parameters: tuple[str, ...]
    opening: tuple[str, ...]
    chart: Floats
    rows: Floats
    row_rates: Floats
    holds_positions: np.ndarray
    fixed: FixedCoordinates = field(repr=False)

    @cached_property
    def parameter(self) -> Floats:
        """Derivatives (speeds, parameters) by the parameters, loops kept closed."""
        first, second = (led[0] for led in self._led((), ()))
        displaced, sped = self._follow(first, second)
        return np.asarray(self.fixed.accelerations + self.position @ displaced + self.velocity @ sped)

    def without(self, opening: np.ndarray) -> Linearization:
        """The same without parameters (parameters,) that open loops.

        >>> system = bc.prepare(pendulum, "symbolic")
        >>> found = system.linearize(bc.statics(pendulum).state)
        >>> found.without(np.array([True])).parameters
        ()
        """
        kept = np.flatnonzero(~opening)
        return replace(
            self,
            parameters=tuple(self.parameters[k] for k in kept),
            opening=tuple(self.parameters[k] for k in np.flatnonzero(opening)),
            fixed=self.fixed.of(kept),
        )

    def _led(
        self, displaced: Sequence[int], wanted: Sequence[int]
    ) -> tuple[tuple[list[int], Floats], tuple[list[int], Floats]]:
        """Independent displacements, then speeds, each with the matrix from these to all."""
        names = [speed.name for speed in self.speeds]
        freely, moving = _null_space(self.rows[self.holds_positions]), _null_space(self.rows)
        return _led(freely, displaced, names, "displacements"), _led(moving, wanted, names, "speeds")

    def _follow(self, first: list[int], second: list[int]) -> tuple[Floats, Floats]:
        """Displacements and changes of speed (speeds, parameters) with which loops stay closed.

        first, second: the independent displacements and speeds, which stay.
        """
        return self.fixed.closed(self.rows, self.row_rates, self.holds_positions, first, second)

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

        >>> system = bc.prepare(pendulum, "symbolic")
        >>> matrix = system.linearize(bc.statics(pendulum).state).state_matrix()
        >>> print(abs(matrix.eigenvalues().imag).round(4), np.sqrt(3 * 9.81 / 2).round(4))    # rad/s
        [3.836 3.836] 3.836
        """
        names = [speed.name for speed in self.speeds]
        wanted = [_place(names, name) for name in led_by]
        displaced = wanted if displaced_by is None else [_place(names, name) for name in displaced_by]
        (first, D), (second, E) = self._led(displaced, wanted)
        follows = -np.linalg.pinv(self.rows, rcond=_RANK) @ self.row_rates @ D if len(self.rows) else 0.0 * D
        L = follows - E @ follows[second]
        top = [(self.chart @ D + L)[first], E[first]]
        bottom = [(self.position @ D + self.velocity @ L)[second], (self.velocity @ E)[second]]
        effort = np.vstack([np.zeros((len(first), len(names))), self.effort[second]])
        moved, sped = self._follow(first, second)
        at_parameters = self.fixed.accelerations + self.position @ moved + self.velocity @ sped
        parameter = np.vstack([(self.chart @ moved + sped)[first], at_parameters[second]])
        return StateMatrix(
            np.block([top, bottom]),
            effort,
            parameter,
            tuple(names[k] for k in first),
            tuple(names[k] for k in second),
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


def _opening(made: Linearization, by_displacements: Floats, by_speeds: Floats) -> np.ndarray:
    """Which parameters (parameters,) leave rows open whatever moves: their values, rates or second rates.

    by_displacements, by_speeds: derivatives of the rows' second rates at fixed accelerations.
    """
    fixed, held = made.fixed, made.holds_positions
    displaced, sped = fixed.closed(made.rows, made.row_rates, held)
    accelerated = fixed.accelerations + made.position @ displaced + made.velocity @ sped
    levels = (
        (fixed.rows[held], made.rows[held] @ displaced),
        (fixed.row_rates + made.row_rates @ displaced, made.rows @ sped),
        (
            fixed.row_accelerations + by_displacements @ displaced + by_speeds @ sped,
            made.rows @ accelerated,
        ),
    )
    found = np.zeros(len(made.parameters), dtype=bool)
    for wanted, done in levels:
        size = np.max(np.abs(wanted), axis=0, initial=1.0)
        found |= np.max(np.abs(wanted + done), axis=0, initial=0.0) > _OPEN * size
    return found


NAME = "symbolic"
CUSTOM = ALL

FORMS = (
    "accelerations",
    "system",
    "closure",
    "bodies",
    "body_rates",
    "inverse",
    "mass_matrix",
    "linearization",
    "linearized_rows",
    "parameters",
)
"""What is generated, by name; accelerations only where no row is left to close."""


class SymbolicSystem(JointSystem):
    """A model prepared for the symbolic formulation."""

    @cached_property
    def speeds(self) -> tuple[Speed, ...]:
        """The speeds of the tree, in the order of all arrays over speeds."""
        joints = {joint.pair: joint.name for joint in self.model.joints}
        return tuple(
            Speed(joints.get(pair), self.model.bodies[body], kind)
            for pair, body, kind in self.core.speed_labels()
        )

    def inverse_dynamics(self, accelerations: Floats, state: State | None = None) -> Floats:
        """Efforts (speeds,) along the speeds that accelerations (speeds,) need beside the model's forces."""
        self._set(state)
        return np.asarray(self.core.inverse_dynamics(self._numbers("accelerations", accelerations)))

    def mass_matrix(self, state: State | None = None) -> Floats:
        """The mass matrix M (speeds, speeds) of M a = b."""
        self._set(state)
        return np.asarray(self.core.mass_matrix()[0])

    def bias(self, state: State | None = None) -> Floats:
        """The vector b (speeds,) of M a = b: the model's forces less those that the motion needs at a = 0."""
        self._set(state)
        return np.asarray(self.core.mass_matrix()[1])

    def joint_accelerations(self, state: State | None = None) -> Floats:
        """Rates (speeds,) of the speeds."""
        self._set(state)
        return np.asarray(self.core.joint_accelerations())

    def linearize(self, state: State | None = None) -> Linearization:
        """Derivatives of the rates of the speeds; with closing rows, in the directions that these allow.

        Raises MechanismError where a joint given by formulas is at a pole, Unsupported for contacts.
        """
        refuse_contacts(self.model, "linearize")
        self._set(state)
        values = np.asarray(self.core.coordinates()[0])
        if self.model.custom and (poles := poles_near(self.model, values, POLE)):
            advice = "there its coordinates have no rates; go to another state"
            raise MechanismError(Fault("linearize", "; ".join(poles), None, advice))
        made, opening = self._linearized()
        if made.parameters and np.linalg.matrix_rank(made.rows, rtol=_RANK) < len(made.rows):
            with self.displaced():
                self._go_beside(made.rows)
                opening |= self._linearized()[1]
        return made.without(opening)

    @cached_property
    def followed(self) -> ParametricNumbers | None:
        """See System.followed. Programs take any values of the parameters."""
        from bellcrank.compile.parametric_numbers import parametric_numbers

        return parametric_numbers(self.model, everywhere=True)

    def _linearized(self) -> tuple[Linearization, np.ndarray]:
        """Derivatives at the state, and which parameters (parameters,) open a loop there."""
        position, velocity, effort, *row_accelerations = self.core.linearize()
        followed = self.followed
        names = tuple(name for name, _, _ in followed.parameters) if followed else ()
        kept = [k for k, name in enumerate(names) if followed and name not in followed.fixed]
        row_rates, rows, chart = self.core.linearize_rows()
        alone = set(self.model.core.velocity_rows)
        sizes = (len(self.speeds), len(rows), len(rows), len(rows))
        found = self.core.parameter_derivatives() if kept else [np.zeros((size, 0)) for size in sizes]
        made = Linearization(
            position,
            velocity,
            effort,
            self.speeds,
            tuple(names[k] for k in kept),
            (),
            chart,
            rows,
            row_rates,
            np.array([row not in alone for row in self.core.closing_rows()], dtype=bool),
            FixedCoordinates(*found).of(kept),
        )
        return made, _opening(made, *row_accelerations)

    def _go_beside(self, rows: Floats) -> None:
        """Move a little in all directions that the rows allow: at one state loops may close by chance."""
        space = _null_space(rows)
        signs = np.where(np.arange(space.shape[1]) % 2 == 0, 1.0, -0.7)
        self.core.set_configuration(self.state().time, self.core.configuration(), space @ signs)
        moving = self.state()
        moved = self.retract(moving, moving.velocity, moving.angular_velocity, _BESIDE)
        self.project(moved.at_time(moving.time))

    def operations(self, form: str = "accelerations") -> dict[str, int]:
        """Additions, multiplications, divisions, sines and cosines, and others of a generated form (FORMS).

        One for each binary sum and product; signs are free.
        """
        return dict(self.core.operations(self._form(form)))

    def program(self, form: str = "accelerations") -> Any:
        """A generated form as the program that the core runs."""
        return self.core.program(self._form(form))

    def compile(self, *forms: str) -> None:
        """Native code for forms, by default for those that a simulation runs; the same numbers, faster.

        Raises Unsupported if llvmlite is not installed.
        """
        from bellcrank.expression.native import attach

        for form in forms or (("system", "closure") if self.core.closing_rows() else ("accelerations",)):
            attach(self.program(form))

    def export_c(
        self, path: str | PathLike[str], frames: Iterable[Any] = (), name: str | None = None
    ) -> ExportedC:
        """Write the equations of motion as a C99 file, with a header beside it that describes everything.

        frames: bodies and markers, by name or handle, whose pose, velocity and Jacobian are written as well.
        name: prefix of the functions, by default the file's name.

        The functions are the mass matrix, the bias, the forces, forward and inverse dynamics and the rates of
        the coordinates; with loops, the closing rows take the place of the forward dynamics. Parameters of
        the mechanism and its inputs are arguments. What the functions do not contain, limits
        for instance, is listed in the header and in the result.

        Raises MechanismError for a name that is not valid in C and for unknown frames, Unsupported for
        contacts.
        """
        refuse_contacts(self.model, "export_c")
        from bellcrank.formulations.export_c import export_c

        return export_c(self, path, frames, name)

    def equations(
        self, frames: Iterable[Any] = (), *, longest: int = 20_000, eliminate_driven: bool = False
    ) -> WrittenEquations:
        """The equations of motion as text and LaTeX, simplified.

        frames: bodies and markers, by name or handle, whose pose, velocity and Jacobian are written as well.
        longest: length in characters beyond which a part is left out, with a line that says so.
        eliminate_driven: whether coordinates that drives prescribe are replaced by their functions of time,
            and the rows of the drives by formulas for their efforts.

        Raises MechanismError for unknown frames, Unsupported for contacts.
        """
        refuse_contacts(self.model, "equations")
        from bellcrank.formulations.equations import written_equations

        return written_equations(self, frames, longest, eliminate_driven)

    def joint_state(self, state: State | None = None) -> tuple[Floats, Floats]:
        """Coordinates and speeds of the tree's joints, in the order of `export_c` and `equations`."""
        self._set(state)
        return np.asarray(self.core.configuration()), np.asarray(self.core.speeds())

    def _set(self, state: State | None) -> None:
        if state is not None:
            self.set_state(state)

    def _form(self, form: str) -> str:
        known = [f for f in FORMS if f != "accelerations" or not self.core.closing_rows()]
        if self.followed is None:
            known.remove("parameters")
        if form not in known:
            raise MechanismError(Fault("form", f"must be one of {', '.join(known)}", form))
        return form

    def _numbers(self, name: str, values: Floats) -> Floats:
        numbers = np.ascontiguousarray(values, dtype=np.float64)
        if numbers.shape != (len(self.speeds),):
            raise MechanismError(Fault(name, f"must be {len(self.speeds)} numbers", numbers.shape))
        return numbers


OPTIONS = joint_system.OPTIONS
SYSTEM = SymbolicSystem
reduced = whole


def refusals(model: Model, cut: Sequence[int] = ()) -> list[str]:
    """The reasons why the formulation cannot take a model; a loop of joints given by formulas names these.

    cut: blocks of joints that are left out of the tree.
    """
    joints = ", ".join(str(record) for record in model.custom if record.category == "joint")
    reasons = _core.Symbolic.refusals(model.core, list(cut))
    return [f"{reason}: {joints}" if "loops of joints" in reason else reason for reason in reasons]


def create(model: Model, options: Any) -> _core.Symbolic:
    """The core's system of a model; numbers that follow parameters are inputs of its programs."""
    settings = for_core(model, NAME, options)
    if reasons := refusals(model, cut_blocks(model, NAME, options.cut)):
        raise Unsupported(
            f"formulation {NAME!r} cannot cut mechanism {model.name!r} there: {'; '.join(reasons)}"
        )
    from bellcrank.compile.parametric_numbers import parametric_numbers

    followed = parametric_numbers(model, everywhere=True)
    return _core.Symbolic(model.core, settings, None if followed is None else _numbers(model, followed))


def _numbers(model: Model, followed: ParametricNumbers) -> _core.ParametricNumbers:
    from bellcrank.expression.expression import fresh_symbol

    # A number from the initial configuration is as much an independent number as a parameter is.
    own = [fresh_symbol(f"{array}[{index}]") for array, index in followed.start]
    values = [float(model.arrays[array][index]) for array, index in followed.start]
    entries = [(*place, own_symbol) for place, own_symbol in zip(followed.start, own, strict=True)]
    symbols = [*(parameter for _, parameter, _ in followed.parameters), *own]
    values = [*(value for _, _, value in followed.parameters), *values]
    offsets = [place for _, place in model.arrays.get("input_offsets", ())]
    steered = [(one, at.formula, at.params) for one, at in model.inputs.items()]
    steered += [(fresh_symbol("offset"), -1, (place,)) for place in offsets]
    return _core.ParametricNumbers(
        [*symbols, *(symbol for symbol, _, _ in steered)],
        [*values, *(one.value for one in model.inputs), *(0.0 for _ in offsets)],
        [
            *followed.entries,
            *entries,
            *(("function_params", place, symbol) for symbol, _, places in steered for place in places),
        ],
        [
            _core.Steered(
                parameter=len(symbols) + k, formula_value=formula, function_param=max(places, default=-1)
            )
            for k, (_, formula, places) in enumerate(steered)
        ],
    )
