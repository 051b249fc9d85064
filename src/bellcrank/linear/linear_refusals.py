"""Checks that refuse a linearization: kinks, singular poses, and states that are not steady."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from bellcrank import _core
from bellcrank.compile.formula_joints import POLE, poles_near
from bellcrank.compile.model import Model
from bellcrank.compile.state import State
from bellcrank.errors import Fault, FaultList, MechanismError
from bellcrank.linear.differences import OutOfReach
from bellcrank.linear.state_chart import StateChart
from bellcrank.mechanism.rows import LAW_PARAMETERS

if TYPE_CHECKING:
    from bellcrank.linear.linear_points import LinearPoints
    from bellcrank.linear.modes import LinearModel

ELSEWHERE: Final = "go to another state"
_TOUCHED: Final = 1e-7  # gap of a stop that counts as closed, m or rad
_FAR: Final = 1e6  # where open stops are put, m or rad
_STICKS: Final = 3.0  # speed, in regularisation velocities, below which dry friction is not at its level
_STEADY: Final = 1e-6  # rates of speeds, in parts of what a unit displacement makes of them
_STILL: Final = 1e-9  # speed, 1/s, below which nothing moves
_LASTS: Final = 1e-6  # change of the matrix, in parts of its largest entry
_SMOOTH: Final = 1e-6  # error of a derivative, in parts of the largest
_AWAY: Final = 1e-3  # displacement after which a singular pose is left


def without_stops(model: Model) -> Model:
    """The model with its stops moved out of the way: open ones exert nothing, however far they are."""
    if not model.stops:
        return model
    return model.with_arrays(row_constant=model.arrays["row_constant"] - _FAR * model.one_sided)


def refuse_state(model: Model, state: State) -> None:
    """Raise MechanismError, naming all, where accelerations have kinks or no value at a state."""
    system, faults = model.put(_core.Bodies(model.core), state), FaultList()
    values, rates = system.coordinates()
    gaps = system.rows()[0]
    for row in np.flatnonzero(model.one_sided & (gaps < _TOUCHED)).tolist():
        advice = (
            "no linear equations hold there: go to a state off the stop, or hold the coordinate by a drive"
        )
        faults.add(model.row_text(row), "a stop is touched, with a gap of", float(gaps[row]), advice)
    for force in model.forces:
        for law in force.laws:
            speed = _regularisation(model, law)
            rate = float(rates[model.arrays["law_coordinate"][law]])
            if speed is not None and abs(rate) < _STICKS * speed:
                rule = f"dry friction is at rest, slower than {_STICKS * speed:g}, at a rate of"
                advice = "it sticks: remove it, set its dry part to zero, or hold the coordinate by a drive"
                faults.add(f"force {force.name!r}", rule, rate, advice)
    if model.custom:
        for pole in poles_near(model, values, POLE):
            faults.add("linearize", pole, None, f"there its coordinates have no rates; {ELSEWHERE}")
    faults.raise_any()


def _regularisation(model: Model, law: int) -> float | None:
    """The regularisation velocity of a law with dry friction; None for others."""
    kind, arrays = model.arrays["law_kind"][law], model.arrays
    values = arrays["law_params"][slice(*arrays["law_param_start"][law : law + 2])].tolist()
    params = dict(zip(LAW_PARAMETERS[kind], values, strict=True))
    dry = kind == "brake" or (kind == "friction" and max(params["coulomb"], params["stiction"]) > 0.0)
    return float(params["regularisation_velocity"]) if dry else None


def refuse_singular(chart: StateChart) -> None:
    """Raise MechanismError where the constraints leave more degrees of freedom than they do nearby."""
    here = chart.degrees_of_freedom(chart.state)
    signs = np.where(np.arange(len(chart.position)) % 2 == 0, 1.0, -0.7)
    for way in (_AWAY, -_AWAY):
        try:
            there = chart.degrees_of_freedom(
                chart.at(chart.position + way * signs * chart.scale, chart.speed)
            )
        except OutOfReach:
            there = (-1, -1)
        if there != here:
            nearby = "it cannot move as they say" if there[0] < 0 else f"nearby they leave {there[0]}"
            rule = (
                f"it is at a singular pose: the constraints leave {here[0]} degrees of freedom, and {nearby}"
            )
            raise MechanismError(Fault(f"mechanism {chart.model.name!r}", rule, None, ELSEWHERE))


def check_smooth(made: LinearModel) -> None:
    """Raise MechanismError if derivatives do not converge."""
    if not made.error < _SMOOTH:
        rule = (
            "accelerations are not smooth here: derivatives differ, between steps, in parts of the largest by"
        )
        advice = (
            "a string about to go slack, a support about to touch, or a very steep law is the usual reason"
        )
        raise MechanismError(
            Fault(f"mechanism {made.mechanism!r}", rule, made.error, f"{advice}; {ELSEWHERE}")
        )


def check_steady(made: LinearModel) -> None:
    """Raise MechanismError, with the accelerations that are left, where speeds are not constant."""
    count = made.coordinates
    left = made.rate[count:]
    scale = made.scale[count:]
    stiffness = np.abs(made.A[count:, :count] * made.scale[:count] / scale[:, None])
    allowed = _STEADY * max(1.0, float(np.max(stiffness, initial=0.0)))
    faults = [
        Fault(
            f"state {name!r}",
            "its speed is not constant, so this is neither an equilibrium nor a steady motion; its rate is",
            float(value),
            "bc.find_equilibrium(mech) goes to where it rests; steady=False linearizes about any state",
        )
        for name, value, size in zip(made.states[count:], left, scale, strict=True)
        if abs(value) > allowed * size
    ]
    if faults:
        raise MechanismError(faults)


def check_lasting(made: LinearModel, points: LinearPoints) -> None:
    """Raise MechanismError if the linearized equations differ a little later along the motion."""
    moving = np.max(np.abs(points.chart.rates(points.state)) / points.chart.scale, initial=0.0)
    if moving <= _STILL:
        return
    try:
        matrix, error = points.later()
    except OutOfReach as reason:
        advice = "steady=False linearizes at the moment"
        raise MechanismError(
            Fault("linearize", f"the motion cannot go on: {reason}", None, advice)
        ) from reason
    size = np.max(np.abs(made.A), initial=0.0)
    change = float(np.max(np.abs(matrix - made.A) - 10.0 * error, initial=0.0))
    if change > _LASTS * size:
        rule = "speeds are constant, but the equations of small changes are others a little later, by"
        advice = (
            "eigenvalues mean nothing then: take joints of which some coordinates turn, others stay, such as "
            "a Universal and a Revolute for a Spherical one; steady=False takes the matrices of the moment"
        )
        raise MechanismError(Fault(f"mechanism {made.mechanism!r}", rule, change / size, advice))
