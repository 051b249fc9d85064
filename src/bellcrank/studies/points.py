"""The points of a study: each gives values to some parameters of a mechanism."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from bellcrank.compile.state import Floats
from bellcrank.errors import Fault, FaultList, MechanismError
from bellcrank.extras import needed
from bellcrank.mechanism.checking import Check, nearest
from bellcrank.mechanism.contents import required_mechanism
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.mechanism.parameters import Parameter

SAMPLES: Final = ("sobol", "halton", "latin", "random")
ARRANGEMENTS: Final = ("grid", "zip", *SAMPLES)
_MOST: Final = 10_000_000  # points of a study


@dataclass(frozen=True, eq=False)
class Points:
    """Values of parameters, one row for each point.

    names, units: of the parameters. table: (points, parameters), SI units. axes: the values along each
    parameter of a grid, whose last parameter changes first; None for other arrangements.
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    table: Floats
    axes: tuple[Floats, ...] | None = None

    def __len__(self) -> int:
        return len(self.table)

    def at(self, number: int) -> dict[str, float]:
        """The values at a point, by name."""
        return dict(zip(self.names, self.table[number].tolist(), strict=True))


def points_of(
    mechanism: Mechanism, given: Any, arrange: str = "grid", count: int | None = None, seed: int = 0
) -> Points:
    """The points of a study; see `bc.sweep` for what `given` may be.

    Raises MechanismError listing all faults: unknown parameters, values that are not numbers or out of
    bounds, lists of different lengths.
    """
    required_mechanism("mechanism", mechanism)
    with Check("sweep") as check:
        arrange = check.choice("arrange", arrange, ARRANGEMENTS)
        if arrange in SAMPLES:
            count = check.integer("count", count, 1)
            seed = check.integer("seed", seed, 0)
        elif count is not None:
            check.fault(f"count is a part of samples, not of arrange={arrange!r}", count, "leave it out")
    if not isinstance(given, Mapping):
        arrange, given = "zip", _columns(given)
    known = parameters_of(mechanism, given)
    faults, lists = FaultList(), []
    for name, values in given.items():
        with faults.collect():
            lists.append(_numbers(known[name], values))
    faults.raise_any()
    names, units = tuple(known), tuple(parameter.unit for parameter in known.values())
    if arrange == "grid":
        return Points(names, units, _grid(lists), tuple(lists))
    if arrange == "zip":
        return Points(names, units, _zipped(names, lists))
    assert count is not None
    return Points(names, units, _sampled(names, lists, arrange, count, seed))


def parameters_of(mechanism: Mechanism, names: Iterable[Any]) -> dict[str, Parameter]:
    """The parameters of these names. Raises MechanismError for unknown names, and if there are none."""
    found, faults = {}, FaultList()
    for name in names:
        if name in mechanism.parameters:
            found[name] = mechanism.parameters[name]
        else:
            advice = nearest(name, mechanism.parameters)
            if not mechanism.parameters:
                advice = f"mechanism {mechanism.name!r} has none; see mech.add_parameter(...)"
            faults.add(f"parameter {name!r}", "there is no parameter of this name", None, advice)
    if not found and not len(faults):
        faults.add("study", "it needs a parameter at least", None, "such as {'length': [0.1, 0.2]}")
    faults.raise_any()
    return found


def number_of(parameter: Parameter, value: Any) -> float:
    """A valid value of a parameter, SI. Raises MechanismError for any other."""
    return replace(parameter, value=value).value


def _columns(given: Any) -> Mapping[str, Any]:
    """The columns of a table: a DataFrame, or a list of mappings with the same keys."""
    if hasattr(given, "columns") and hasattr(given, "to_dict"):
        return {str(name): given[name].to_numpy() for name in given.columns}
    rows = list(given) if isinstance(given, Iterable) and not isinstance(given, (str, bytes)) else []
    if rows and all(isinstance(row, Mapping) and row.keys() == rows[0].keys() for row in rows):
        return {name: [row[name] for row in rows] for name in rows[0]}
    rule = "parameters are a mapping from names to values, a DataFrame, or a list of mappings alike"
    raise MechanismError(Fault("sweep", rule, given, "such as {'length': [0.1, 0.2, 0.3]}"))


def _numbers(parameter: Parameter, values: Any) -> Floats:
    """The values of a parameter, all within its bounds."""
    element = f"parameter {parameter.name!r}"
    listed = [values] if isinstance(values, (int, float, str)) else values
    if hasattr(listed, "tolist"):
        listed = np.asarray(listed).tolist()
    if not isinstance(listed, Iterable) or not (listed := list(listed)):
        raise MechanismError(Fault(element, "its values must be a list of numbers", values))
    faults, numbers = FaultList(), []
    for value in listed:
        plain = type(value) is float and _within(parameter, value)
        with faults.collect():
            numbers.append(value if plain else number_of(parameter, value))
        if len(faults) > 3:
            break
    faults.raise_any()
    return np.array(numbers, dtype=np.float64)


def _within(parameter: Parameter, value: float) -> bool:
    low = -np.inf if parameter.low is None else parameter.low
    high = np.inf if parameter.high is None else parameter.high
    return bool(np.isfinite(value)) and low <= value <= high and abs(value) < 1e12


def _grid(lists: list[Floats]) -> Floats:
    size = int(np.prod([float(len(values)) for values in lists]))
    if size > _MOST:
        lengths = " x ".join(str(len(values)) for values in lists)
        raise MechanismError(Fault("sweep", f"a grid has at most {_MOST} points", lengths))
    meshes = np.meshgrid(*lists, indexing="ij")
    return np.stack([mesh.ravel() for mesh in meshes], axis=1)


def _zipped(names: tuple[str, ...], lists: list[Floats]) -> Floats:
    lengths = {name: len(values) for name, values in zip(names, lists, strict=True)}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        rule, advice = "lists that are zipped must be equally long", 'arrange="grid" takes all combinations'
        raise MechanismError(Fault("sweep", rule, shown, advice))
    return np.stack(lists, axis=1)


def _sampled(names: tuple[str, ...], lists: list[Floats], kind: str, count: int, seed: int) -> Floats:
    """Points that fill the box between two values of each parameter."""
    for name, bounds in zip(names, lists, strict=True):
        if len(bounds) != 2 or not bounds[0] < bounds[1]:
            rule = f'arrange="{kind}" takes the lowest and the highest value'
            raise MechanismError(Fault(f"parameter {name!r}", rule, bounds.tolist(), "such as (0.1, 0.5)"))
    low, high = np.array(lists).T
    if kind == "random":
        unit = np.random.default_rng(seed).random((count, len(names)))
    else:
        qmc = needed("scipy.stats", f'arrange="{kind}"').qmc
        engine = {"sobol": qmc.Sobol, "halton": qmc.Halton, "latin": qmc.LatinHypercube}[kind](
            len(names), rng=seed
        )
        unit = (
            engine.random_base2(int(np.ceil(np.log2(count))))[:count]
            if kind == "sobol"
            else engine.random(count)
        )
    return np.asarray(low + (high - low) * unit)
