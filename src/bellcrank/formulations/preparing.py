"""Models prepared for a formulation: those there are, and the choice of "auto" (docs, decision 15)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Literal, Unpack

from bellcrank.accuracy import AccuracyJudge
from bellcrank.compile.compile import compile_mechanism
from bellcrank.compile.model import Model
from bellcrank.errors import Unsupported
from bellcrank.formulations.contract import (
    ALL,
    Formulation,
    FormulationOptions,
    check_names,
    checked_module,
    checked_options,
)
from bellcrank.formulations.system import System, with_own_inputs
from bellcrank.mechanism.beams import BeamSegment
from bellcrank.mechanism.checking import nearest
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.overloads import overload
from bellcrank.slips import answered, named_elsewhere

if TYPE_CHECKING:
    from bellcrank.formulations import dca, lagrange, recursive, symbolic
    from bellcrank.formulations.symbolic import SymbolicSystem

    _CHECKED: tuple[Formulation, ...] = (lagrange, recursive, symbolic, dca)

FORMULATIONS: Final = {
    "lagrange": "bellcrank.formulations.lagrange",
    "recursive": "bellcrank.formulations.recursive",
    "symbolic": "bellcrank.formulations.symbolic",
    "dca": "bellcrank.formulations.dca",
    "adaptive": "bellcrank.formulations.adaptive",
}
"""The module of each formulation."""

MOVING: Final = tuple(name for name in FORMULATIONS if name != "adaptive")
"""Those that take states with velocities, and so motions."""


def formulation_module(name: str) -> Formulation:
    """The module of a formulation. Raises TypeError if it lacks a required member."""
    return checked_module(import_module(FORMULATIONS[name]))


@overload
def prepare(
    mechanism: Mechanism | Model, formulation: Literal["symbolic"], **options: Unpack[FormulationOptions]
) -> SymbolicSystem: ...
@overload
def prepare(
    mechanism: Mechanism | Model, formulation: str = "auto", **options: Unpack[FormulationOptions]
) -> System: ...
@answered
def prepare(
    mechanism: Mechanism | Model, formulation: str = "auto", **options: Unpack[FormulationOptions]
) -> System:
    """Prepare a mechanism or model for a formulation, at its initial state.

    formulation: a name of FORMULATIONS, or "auto" for a suitable one; `System.reason` then says why.
    options: those of the formulation, see its options dataclass.

    Raises Unsupported for an unknown formulation and for one that cannot take the model, saying why;
    MechanismError for faults of the mechanism or the options.

    >>> system = bc.prepare(pendulum, "recursive")
    >>> rod = system.accelerate().body("rod")
    >>> print(f"{rod.angular[2]:.4f} rad/s^2, by hand {-3 * 9.81 / 2:.4f} rad/s^2")
    -14.7150 rad/s^2, by hand -14.7150 rad/s^2
    """
    check_request(formulation, options)
    model = mechanism if isinstance(mechanism, Model) else compile_mechanism(mechanism)
    model.refuse_unweighed()
    return prepare_positions(model, formulation, **options)


def prepare_positions(model: Model, formulation: str, **options: Unpack[FormulationOptions]) -> System:
    """As `prepare`, for what depends on no mass: the motion of a model that is driven throughout."""
    reason = ""
    if formulation == "auto":
        formulation, reason = _chosen(model, options)
    module = formulation_module(formulation)
    if module.CUSTOM != ALL:
        model.refuse_custom(f"formulation {formulation!r}", module.CUSTOM)
    refusals = module.refusals(model)
    if refusals:
        raise Unsupported(
            f"formulation {formulation!r} cannot take mechanism {model.name!r}: {'; '.join(refusals)}. "
            "Use formulation='lagrange', which takes every mechanism."
        )
    checked = checked_options(formulation, module.OPTIONS, options)
    model = with_own_inputs(module.reduced(model, checked))
    system = module.SYSTEM(model, formulation, module.create(model, checked), asdict(checked), reason)
    if system.loses_digits:
        exact = formulation_module("lagrange")
        system.judge = AccuracyJudge(model, lambda: exact.create(model, exact.OPTIONS()))
        system.judge.begin(system.core, formulation)
    return system


def others(formulation: str, options: Iterable[str] = ()) -> list[str]:
    """The formulations that may take over if the chosen one breaks down: those with all options.

    Not `symbolic`, which solves the same equations as `recursive`, and has to derive them first.
    """
    return [name for name in ("lagrange", "recursive") if name != formulation and _has(name, options)]


def _has(formulation: str, options: Iterable[str]) -> bool:
    known = {item.name for item in fields(formulation_module(formulation).OPTIONS)}
    return known.issuperset(options)


def _chosen(model: Model, options: Mapping[str, Any]) -> tuple[str, str]:
    """The formulation for a model, among those that have the options, and the reason."""
    formulation, reason = choice(model)
    able = [name for name in FORMULATIONS if _has(name, options)]
    if not able or formulation in able:
        return formulation, f"{formulation}: {reason}"
    listed = ", ".join(options)
    return able[0], f"{able[0]}: it has the option{'s' * (len(options) > 1)} {listed}"


def check_request(
    formulation: str, options: Mapping[str, Any], others: Iterable[str] = (), named: str = "simulate"
) -> None:
    """Refuse an unknown formulation, and options that it does not have or that are out of range.

    With "auto", options of any formulation pass.
    others: the arguments of what is called, `simulate` or another of the name given, where one of them may
        have been meant.
    Raises Unsupported for the formulation, MechanismError for the options.
    """
    if not isinstance(formulation, str) or (formulation != "auto" and formulation not in FORMULATIONS):
        known = ("auto", *FORMULATIONS)
        advice = named_elsewhere(formulation, known) or nearest(formulation, known)
        raise Unsupported(f"there is no formulation {formulation!r}; {advice}")
    if options and formulation == "auto":
        kinds = [formulation_module(name).OPTIONS for name in FORMULATIONS]
        check_names(formulation, kinds, options, others, named)
    elif options:
        checked_options(formulation, formulation_module(formulation).OPTIONS, options, others, named)


def takes_names(option: str) -> bool:
    """Whether an option of some formulation takes names of joints: texts, even if they look like numbers."""
    kinds = [formulation_module(name).OPTIONS for name in FORMULATIONS]
    found = [item for kind in kinds for item in fields(kind) if item.name == option]
    return any(isinstance(item.default, tuple) for item in found)


_SMALL: Final = 20  # bodies up to which a recursion is faster, on trees of hinges and slides


def choice(model: Model) -> tuple[str, str]:
    """The formulation for a model, and the reason, without regard to options.

    On small trees of joints with one degree of freedom each `recursive` is up to twice as fast as `lagrange`,
    elsewhere `lagrange` is up to nine times as fast; `symbolic` has to derive its equations first.
    """
    against = _against_recursion(model)
    if against:
        return "lagrange", against
    joints = sum(bool(joint.blocks) for joint in model.joints)
    tree = f"a tree of {_count(joints, 'joint')} with one degree of freedom each"
    free = len(model.bodies) - joints
    return "recursive", f"{tree}, {free} of its bodies free" if free else tree


def _against_recursion(model: Model) -> str:
    """The reasons against the recursion; empty if it is faster."""
    forces = () if model.source is None else model.source.forces.values()
    if any(isinstance(force.kind, BeamSegment) for force in forces):
        return "beams, which are stiff"  # it has no sparse equation for implicit steps
    if len(model.bodies) > _SMALL:
        return f"more than {_SMALL} bodies"
    loops, couplings = len(model.graph.closures), len(model.graph.couplings)
    if loops:
        return _count(loops, "closed loop")
    if couplings:
        return f"a tree with {_count(couplings, 'constraint')} between its joints"
    if model.constraints:
        return f"a tree with {_count(len(model.constraints), 'constraint')}"
    if model.arrays["block_compliance"].any():
        return "a tree with rotors of geared motors"
    held = [joint for joint in model.joints if joint.blocks]
    for joint in held:
        if len(joint.coordinates) != 1:
            return f"a tree whose joint {joint.name!r} has not one degree of freedom"
    return "" if held else "bodies without joints"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"
