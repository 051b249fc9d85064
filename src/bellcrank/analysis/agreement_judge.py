"""Comparison of formulations at the same states: which one deviates, in which quantity of which element."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bellcrank.analysis.stiff_rounding import acceleration_size
from bellcrank.analysis.testimony import Testimony
from bellcrank.analysis.verdict import CheckResult, Finding
from bellcrank.assembly.model import Model
from bellcrank.assembly.state import Floats

LIMIT = 1e-8


@dataclass(frozen=True, eq=False)
class Quantity:
    """A quantity at all states by each formulation.

    values: (states, elements, components) each. counts: (states, elements), which of them are compared.
    scale: (states,).
    """

    name: str
    elements: Sequence[str]
    values: Mapping[str, Floats]
    counts: np.ndarray
    scale: Floats

    def gaps(self, one: str, other: str) -> Floats:
        """Differences of two formulations relative to the scale (states, elements); 0 where none counts."""
        apart = np.max(np.abs(self.values[one] - self.values[other]), axis=2, initial=0.0)
        relative = np.where(np.isfinite(apart), apart, np.inf) / self.scale[:, None]
        return np.asarray(np.where(self.counts, relative, 0.0))


def judge_agreement(
    model: Model, said: Mapping[str, Testimony], failing: Mapping[str, bool], labels: Sequence[str]
) -> tuple[list[CheckResult], list[Finding]]:
    """Compare formulations by pairs.

    failing: which of them fail the mechanics checks; this decides between two. labels: of the states.
    """
    names = list(said)
    checks, faults = [], []
    for quantity in _quantities(model, said):
        if not quantity.elements or len(names) < 2:
            continue
        gaps = {(a, b): quantity.gaps(a, b) for i, a in enumerate(names) for b in names[i + 1 :]}
        pair = max(gaps, key=lambda key: float(np.max(gaps[key])))
        size = float(np.max(gaps[pair]))
        state, element = divmod(int(np.argmax(gaps[pair])), len(quantity.elements))
        where = f"{pair[0]} and {pair[1]}, {quantity.elements[element]} at {labels[state]}" if size else ""
        meaning = "largest difference between formulations, relative"
        checks.append(CheckResult(f"agreement: {quantity.name}", meaning, size, LIMIT, where, "all"))
        if size > LIMIT:
            apart = {key: float(gap[state, element]) for key, gap in gaps.items()}
            who = _alone(apart, names, failing)
            element_name = quantity.elements[element]
            faults.append(Finding(who, element_name, quantity.name, size, labels[state]))
    return checks, faults


def disagreeing(model: Model, said: Mapping[str, Testimony], who: str) -> tuple[int, list[str]]:
    """The state where a formulation's accelerations differ most from others', and the bodies concerned."""
    motion = [q for q in _quantities(model, said) if "acceleration" in q.name]
    gaps = np.max([q.gaps(who, other) for q in motion for other in said if other != who], axis=0)
    state = int(np.argmax(np.max(gaps, axis=1)))
    return state, [model.bodies[b] for b in np.flatnonzero(gaps[state] > LIMIT)]


def _alone(gaps: Mapping[tuple[str, str], float], names: Sequence[str], failing: Mapping[str, bool]) -> str:
    """The one that differs from all others while these agree; else those failing mechanics; else all."""
    alone = [
        name
        for name in names
        if len(names) > 2
        and all(gap > LIMIT for pair, gap in gaps.items() if name in pair)
        and all(gap <= LIMIT for pair, gap in gaps.items() if name not in pair)
    ]
    wrong = [name for name in names if failing.get(name)]
    return " or ".join(alone or wrong or names)


def _quantities(model: Model, said: Mapping[str, Testimony]) -> Iterator[Quantity]:
    first = next(iter(said.values()))
    bodies = [f"body {name!r}" for name in model.bodies]
    joints = [f"joint {name!r}" for name, _, _ in model.reactions]
    rows = [f"{m.kind} {m.element!r}" for m in model.multipliers]
    everywhere = np.ones((len(first.dropped), 1), dtype=bool)

    def of(section: str) -> dict[str, Floats]:
        return {name: one.sections[section] for name, one in said.items()}

    motion, forces = _scales(model, first)
    for section, name in (("acceleration", "acceleration"), ("angular_acceleration", "angular acceleration")):
        yield Quantity(name, bodies, of(section), np.repeat(everywhere, len(bodies), axis=1), motion)
    unique = {name: one.sections["unique_reactions"] for name, one in said.items()}
    both = np.all([flags > 0.5 for flags in unique.values()], axis=0)
    reactions = of("reactions")
    loads = np.max([np.max(np.abs(v), axis=(1, 2), initial=0.0) for v in reactions.values()], axis=0)
    for part, name in ((slice(3, 6), "reaction force"), (slice(0, 3), "reaction moment")):
        parts = {who: values[:, :, part] for who, values in reactions.items()}
        yield Quantity(name, joints, parts, both[:, :, 0 if part.start == 0 else 1], forces + loads)
    efforts, determined = of("multipliers"), of("unique_multipliers")
    largest = np.max([np.max(np.abs(v), axis=1, initial=0.0) for v in efforts.values()], axis=0)
    counted = np.all([flags > 0.5 for flags in determined.values()], axis=0)
    yield Quantity("effort", rows, {w: v[:, :, None] for w, v in efforts.items()}, counted, forces + largest)
    one = np.ones(len(first.dropped))
    flags = np.repeat(everywhere, len(joints), axis=1)
    yield Quantity("uniqueness of the reaction", joints, unique, flags, one)
    flags = np.repeat(everywhere, len(rows), axis=1)
    yield Quantity(
        "uniqueness of the effort", rows, {w: v[:, :, None] for w, v in determined.items()}, flags, one
    )
    dropped = {name: one.dropped[:, None, None].astype(float) for name, one in said.items()}
    yield Quantity("number of redundant rows", ["the mechanism"], dropped, everywhere, one)
    energy = np.abs(first.sections["kinetic"]) + np.abs(first.sections["potential"]) + 1e-12
    for section in ("kinetic", "potential"):
        values = {who: v[:, None, None] for who, v in of(section).items()}
        yield Quantity(f"{section} energy", ["the mechanism"], values, everywhere, energy)
    if model.reactions or model.joints:
        yield from _coordinates(said)


def _coordinates(said: Mapping[str, Testimony]) -> Iterator[Quantity]:
    first = next(iter(said.values()))
    listed = [f"joint {c.joint!r} ({c.name})" for c in first.evidence.run.layout.coordinates]
    everywhere = np.ones((len(first.dropped), len(listed)), dtype=bool)
    for section, name in (("coordinates", "position"), ("rates", "rate")):
        values = {who: one.sections[section][:, :, None] for who, one in said.items()}
        yield Quantity(
            name,
            listed,
            values,
            everywhere,
            1.0 + np.max(np.abs(values[first.formulation]), (1, 2), initial=0.0),
        )


def _scales(model: Model, said: Testimony) -> tuple[Floats, Floats]:
    """Per state, the scale of accelerations, including rotation and gravity, and of the forces needed."""
    sections = said.sections
    parts = [
        np.max(np.abs(sections[name]), axis=(1, 2), initial=0.0)
        for name in ("acceleration", "angular_acceleration")
    ]
    spin = np.max(np.abs(sections["angular_velocity"]), axis=(1, 2), initial=0.0)
    size = np.maximum.reduce([*parts, spin**2]) + float(np.linalg.norm(model.gravity)) + 1e-3
    size += acceleration_size(model)
    heaviest = float(np.max(model.mass, initial=0.0))
    return size, heaviest * size
