"""Numbers of a mechanism as functions of others, with exact derivatives, for optimizers and frameworks.

`bc.StateFunction` is of a state, `bc.RunFunction` of a run. `bellcrank.jax`, `bellcrank.casadi` and
`bellcrank.torch` make functions of their frameworks of either.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, Final

import numpy as np

from bellcrank.compile.compile import compile_mechanism
from bellcrank.compile.contacts import refuse_contacts, refuse_holding
from bellcrank.compile.standing import refuse_changes
from bellcrank.compile.state import Floats, State
from bellcrank.errors import Fault, FaultList, MechanismError
from bellcrank.formulations.preparing import prepare
from bellcrank.formulations.system import System
from bellcrank.linear.differences import OutOfReach
from bellcrank.linear.followed import FollowedRun, bounds_of
from bellcrank.linear.quantities import quantities_of
from bellcrank.linear.sampling import with_parameters, without_stops
from bellcrank.linear.state_chart import StateChart
from bellcrank.linear.system_derivatives import on_chart, refuse_stops
from bellcrank.linear.tangents import refuse_other_formulations
from bellcrank.linear.variables import Variable, variables_of
from bellcrank.mechanism.checking import Check, required_names
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.run.controllers import HeldInputs, checked_controllers
from bellcrank.run.start import assembled_for
from bellcrank.studies.exact import cheapest_way, differentiated, followed, reductions, values_of, watched
from bellcrank.studies.measures import measures_of

_BEYOND: Final = 1e-7  # a bound, relative: so far it is rounding
_MODES: Final = ("auto", "forward", "backward")


class DifferentiableFunction(ABC):
    """Numbers of a mechanism as a function of others: an array in, a number or an array out.

    of, by: names of what it gives, and of what it takes; of_units, by_units: their units. at: (by,), the
    values of the mechanism as it is described. bounds: (by, 2), of parameters; infinite for none.
    shape: of the result, () where `of` is one text that names one number, else (of,). warnings: what makes
    the last derivatives large, one-sided or meaningless.

    The last point is kept, so that a value and its derivatives cost one evaluation.

    >>> f = bc.RunFunction(pendulum, "final joint.hinge.theta_z", by="length", duration=0.3)
    >>> isinstance(f, bc.DifferentiableFunction), f.by, f.at.tolist()
    (True, ('length',), [1.0])
    >>> step = (f([1.001]) - f([0.999])) / 0.002
    >>> print(abs(f.jacobian(f.at)[0] - step) < 1e-4)
    True
    """

    def __init__(
        self,
        mechanism: Mechanism,
        variables: Sequence[Variable],
        at: Floats,
        of: Mapping[str, str],
        alone: bool,
        made_with: tuple[Any, Mapping[str, Any]],
    ) -> None:
        if not variables:
            raise MechanismError(Fault("by", "at least one name is needed", None, "such as a parameter"))
        self._mechanism, self._variables = mechanism.copy(), tuple(variables)
        self._asked, self._made_with = made_with
        self.of, self.of_units = tuple(of), tuple(of.values())
        self.by = tuple(one.name for one in variables)
        self.by_units = tuple(one.unit for one in variables)
        self.at = at
        self.bounds = np.array(
            [
                bounds_of(mechanism.parameters[one.key]) if one.kind == "parameter" else (-np.inf, np.inf)
                for one in variables
            ]
        )
        self.shape: tuple[int, ...] = () if alone else (len(self.of),)
        self.warnings: tuple[str, ...] = ()
        self._last: _Point | None = None
        self.jacobian(at)  # what has no derivatives is refused at once

    def __call__(self, x: Any) -> float | Floats:
        """The numbers, a float or (of,), at x (by,).

        Parameters that are beyond a bound by rounding, as those of optimizers may be, are put onto it.

        Raises MechanismError for arrays of another shape or kind, and for values that are not possible; what
        the evaluation raises.
        """
        found = self._point(x).value
        return float(found[0]) if not self.shape else found.copy()

    def jacobian(self, x: Any) -> Floats:
        """The derivatives, (by,) for a single number, else (of, by). Raises the same errors.

        >>> f = bc.StateFunction(pendulum, "joint.hinge.theta_z.acceleration", by="length")
        >>> print(f.jacobian([2.0]).round(6), 3 * 9.81 / 2 / 2.0**2)    # of -3 g / (2 L)
        [3.67875] 3.67875
        """
        found = self._point(x).jacobian
        return found.reshape(*self.shape, len(self.by)).copy()

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), **self._made_with), (self._mechanism, self._asked)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self.of)} by {len(self.by)}: {', '.join(self.by)}>"

    def _point(self, x: Any) -> _Point:
        with Check("function") as check:
            x = check.array("x", x, (len(self.by),))
        inside = np.clip(x, *self.bounds.T)
        x = np.where(np.abs(x - inside) <= _BEYOND * (1.0 + np.abs(inside)), inside, x)
        last = self._last
        if last is None or not np.array_equal(last.x, x):
            last = self._last = _Point(x, *self._evaluated(x))
        return last

    @abstractmethod
    def _evaluated(self, x: Floats) -> tuple[Floats, Callable[[], Floats]]:
        """The values (of,), and what computes the Jacobian (of, by)."""

    def _given(self, kind: str, x: Floats) -> dict[str, float]:
        """Values of parameters or inputs by name, of states by theirs."""
        pairs = zip(self._variables, x.tolist(), strict=True)
        return {one.key or one.name: value for one, value in pairs if one.kind == kind}


def checked_function(given: Any) -> None:
    """Raise MechanismError for what is no DifferentiableFunction."""
    with Check("function") as check:
        advice = "give a bc.RunFunction or a bc.StateFunction"
        check.instance("it", given, DifferentiableFunction, advice)


class _Point:
    """A function where it was evaluated last: x (by,), the values (of,), and the Jacobian on demand."""

    def __init__(self, x: Floats, value: Floats, differentiate: Callable[[], Floats]) -> None:
        self.x, self.value, self._differentiate = x, value, differentiate

    @cached_property
    def jacobian(self) -> Floats:
        """The Jacobian (of, by)."""
        return self._differentiate()


class RunFunction(DifferentiableFunction):
    """Measures of a run as a function of parameters, inputs and the start.

    of: measures, such as "peak drive.motor.effort", as for `bc.gradient`; one text gives a number, a list an
        array. by: parameters, inputs, and coordinates and speeds of the start ("crank.theta_z",
        "crank.theta_z.rate"), as there. Coordinates that are not listed are those of the assembled mechanism.
    mode: "forward", "backward", or "auto" for what costs least. duration, arguments: those of `simulate`.

    Raises MechanismError for wrong arguments; Unsupported for what has no derivatives: contacts, controllers
    that are functions, measures that are functions; what `simulate` raises.

    >>> by = ["length", "hinge.theta_z"]
    >>> f = bc.RunFunction(pendulum, "final joint.hinge.theta_z", by=by, duration=0.1)
    >>> print(f"{f(f.at):.4f} rad")    # about -3 g / (4 L) t^2
    -0.0736 rad
    >>> print(f.jacobian(f.at).round(4))    # by the length, and by the angle at the start
    [0.0735 0.9991]
    """

    def __init__(
        self,
        mechanism: Mechanism,
        of: Any,
        *,
        by: Iterable[str] | str,
        duration: float | None = None,
        mode: str = "auto",
        **arguments: Any,
    ) -> None:
        measures, names = measures_of(of), required_names("by", by)
        with Check("function") as check:
            mode = check.choice("mode", mode, _MODES)
            check.instance("mechanism", mechanism, Mechanism, "give a Mechanism")
        self._wanted = reductions(measures)
        self._arguments = {**arguments, "duration": duration}
        first = self._run_of(mechanism, names, self._arguments)
        self._chart = first.chart
        way = cheapest_way(len(first.by), len(measures)) if mode == "auto" else mode
        self._backward = way == "backward"
        units = {one.name: run.unit for one, run in zip(measures, first.of[: len(measures)], strict=True)}
        made_with = of, {"by": names, "duration": duration, "mode": mode, **arguments}
        super().__init__(mechanism, first.variables, first.values, units, isinstance(of, str), made_with)

    def _run_of(
        self, mechanism: Mechanism, by: Sequence[str], arguments: Mapping[str, Any], **start: Any
    ) -> FollowedRun:
        return followed(mechanism, watched(self._wanted), by, arguments, **start)

    def _holding(self, x: Floats) -> list[HeldInputs]:
        """The controllers with the values of inputs that are held."""
        held = [
            (one.key, one.number, value)
            for one, value in zip(self._variables, x.tolist(), strict=True)
            if one.kind == "held"
        ]
        controllers = []
        for one in checked_controllers(self._arguments["controllers"]):
            assert isinstance(one, HeldInputs)
            values = {name: np.array(found) for name, found in one.values.items()}
            for name, number, value in held:
                if name in values:
                    values[name][number] = value
            controllers.append(HeldInputs(values, one.period))
        return controllers

    def _evaluated(self, x: Floats) -> tuple[Floats, Callable[[], Floats]]:
        arguments, inputs = self._arguments, self._given("input", x)
        if inputs:
            arguments = {**arguments, "inputs": {**(arguments.get("inputs") or {}), **inputs}}
        if "held" in {one.kind for one in self._variables}:
            arguments = {**arguments, "controllers": self._holding(x)}
        held = self._given("coordinate", x) | self._given("speed", x)
        mechanism = self._mechanism.with_parameters(**self._given("parameter", x))
        run = self._run_of(mechanism, self.by, arguments, held=held, chart=self._chart)

        def jacobian() -> Floats:
            found, _, warnings = differentiated(run, self._wanted, self._backward)
            self.warnings = tuple(dict.fromkeys(warnings))
            return found

        return values_of(run, self._wanted), jacobian


class StateFunction(DifferentiableFunction):
    """Accelerations, and other quantities at a state, as a function of the state, inputs and parameters.

    of, by: as for `System.derivatives`: "acceleration", "drive.motor.effort", ...; "states", "inputs",
        "parameters", "time", and names of each. Those that are not listed keep their values.
    state: where it is taken; by default the assembled start, put onto the constraints. states: coordinates to
        be states. formulation: "lagrange", "recursive", "dca" or "symbolic".

    Springs and phases of gears that take a value from the initial configuration keep it.

    Raises MechanismError for wrong arguments, and for states that are out of reach; Unsupported for what has
    no derivatives; AssemblyError for a start that cannot be put onto the constraints.

    >>> f = bc.StateFunction(pendulum, "joint.hinge.theta_z.acceleration", by=["states", "length"])
    >>> f.by
    ('hinge.theta_z', 'hinge.theta_z.rate', 'length')
    >>> print(f"{f(f.at):.3f} rad/s^2", f.jacobian(f.at).round(3))    # of -3 g cos(q) / (2 L), level
    -14.715 rad/s^2 [0.     0.    14.715]
    """

    def __init__(
        self,
        mechanism: Mechanism,
        of: Iterable[str] | str = "acceleration",
        *,
        by: Iterable[str] | str = "states",
        state: State | None = None,
        states: Iterable[str] | str = (),
        formulation: str = "lagrange",
    ) -> None:
        with Check("function") as check:
            check.instance("mechanism", mechanism, Mechanism, "give a Mechanism")
            if state is not None:
                check.instance("state", state, State, "such as run.at(t), or system.state()")
        names, first = required_names("by", by), required_names("states", states)
        self._of, self._formulation = required_names("of", of), formulation
        refuse_changes(mechanism, "derivatives")
        model, _ = assembled_for(compile_mechanism(mechanism), state)
        system = prepare(model, formulation)
        refuse_contacts(system.model, "derivatives")
        refuse_holding(system.model, "derivatives")
        refuse_other_formulations(system)
        reached = system.project(state)
        self._model = system.model
        self._chart = StateChart(without_stops(system.model), reached, first)
        faults = FaultList()
        with faults.collect():
            listed, _ = quantities_of(system.model, self._of)
        with faults.collect():
            variables = variables_of(system.model, self._chart, names)
        faults.raise_any()
        at = np.array([self._start_of(one, mechanism, system) for one in variables])
        self._worlds: dict[tuple[float, ...], tuple[System, StateChart]] = {}
        units = {one.name: one.unit for one in listed}
        made_with = of, {"by": names, "state": state, "states": first, "formulation": formulation}
        super().__init__(mechanism, variables, at, units, tuple(units) == (of,), made_with)

    def _start_of(self, one: Variable, mechanism: Mechanism, system: System) -> float:
        chart = self._chart
        if one.kind == "parameter":
            return float(mechanism.parameters[one.key].value)
        if one.kind == "input":
            return system.inputs[one.key]
        if one.kind == "time":
            return chart.state.time
        return float((chart.position if one.kind == "coordinate" else chart.speed)[one.number])

    def _evaluated(self, x: Floats) -> tuple[Floats, Callable[[], Floats]]:
        system, chart = self._world(x)
        states = self._chart.position.copy(), self._chart.speed.copy()
        for one, value in zip(self._variables, x, strict=True):
            if one.kind in ("coordinate", "speed"):
                states[one.kind == "speed"][one.number] = value
        with system.displaced():
            system.inputs.update(self._given("input", x))
            try:
                at = chart.at(*states)
            except OutOfReach as error:
                advice = "take values that are closer to `at`, or begin from another state"
                raise MechanismError(
                    Fault("function", f"there is no such state: {error}", None, advice)
                ) from error
            refuse_stops(system.model, at)
            found = on_chart(system, chart, at, states, self._of, self.by)
        return found.value, lambda: found.array

    def _world(self, x: Floats) -> tuple[System, StateChart]:
        """The system with the parameters, and its chart at the time; the last one is kept."""
        values, time = self._given("parameter", x), self._given("time", x)
        key = (*values.values(), *time.values())
        if key not in self._worlds:
            model = with_parameters(self._model, self._mechanism, values)
            chart = self._chart.moved_to(without_stops(model), *time.values())
            self._worlds = {key: (prepare(model, self._formulation), chart)}
        return self._worlds[key]
