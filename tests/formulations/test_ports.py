"""What a formulation has to implement, and what is refused where it does not."""

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from rigs import dense, linkages, stops
from rigs.compiled import need_rigs

import bellcrank as bc
from bellcrank import _core
from bellcrank.compile.compile import compile_mechanism
from bellcrank.errors import Unsupported
from bellcrank.formulations.contract import checked_module
from bellcrank.formulations.preparing import MOVING
from bellcrank.run.plan import METHODS

ROOT = Path(__file__).parents[2]


pytestmark = pytest.mark.usefixtures("dense")


def at_start(kind, mechanism):
    """A system of the core at the initial state of a mechanism."""
    model = compile_mechanism(mechanism)
    system = kind(model.core)
    model.put(system, model.initial)
    return system


@pytest.mark.parametrize("method", [name for name, method in METHODS.items() if not method.by_impulses])
def test_every_method_runs_on_what_few_lines_implement(method):
    """The defaults of the ports: settling, linearization by differences, frames, events."""
    adaptive = METHODS[method].adaptive
    settings = {
        "method": method,
        "output_step": 0.05,
        **({"tolerance": 1e-9} if adaptive else {"step": 1e-3}),
    }
    # Stages that are projected are other ones for a method of the first order.
    near = 1e-3 if METHODS[method].order == 1 else 1e-7
    mechanism = linkages.four_bar()
    found, expected = (
        bc.simulate(mechanism, 0.2, formulation=formulation, **settings)
        for formulation in ("dense", "lagrange")
    )
    for name in mechanism.bodies:
        np.testing.assert_allclose(found.body(name).position, expected.body(name).position, atol=near)
        np.testing.assert_allclose(found.body(name).velocity, expected.body(name).velocity, atol=near)
    for name in mechanism.joints:
        reactions = expected.joint(name).reaction
        np.testing.assert_allclose(found.joint(name).reaction, reactions, atol=near * np.abs(reactions).max())


def test_bodies_without_a_formulation_refuse_what_needs_one():
    bodies, lagrange = (at_start(kind, linkages.five_bar()) for kind in (_core.Bodies, _core.Lagrange))
    for found, expected in zip(bodies.state(), lagrange.state(), strict=True):
        np.testing.assert_array_equal(found, expected)
    assert bodies.energy() == lagrange.energy()
    assert bodies.violation() == pytest.approx(lagrange.violation(), rel=1e-9, abs=1e-14)
    for found, expected in zip(bodies.rows(), lagrange.rows(), strict=True):
        np.testing.assert_array_equal(found, expected)
    for call, what in (
        (bodies.accelerate, "accelerations"),
        (bodies.project, "projections onto the constraints"),
        (bodies.determined_multipliers, "multipliers"),
        (lambda: bodies.reactions([]), "multipliers"),
    ):
        with pytest.raises(NotImplementedError, match=f"'bodies' does not implement .*{what}"):
            call()


def test_stops_are_refused_by_default():
    need_rigs()
    mechanism = stops.limited_crank()
    with pytest.raises(Unsupported, match="it takes no stops"):
        bc.prepare(mechanism, "dense")
    with pytest.raises(Unsupported, match="formulation 'dense' does not implement stops"):
        _core.DenseLagrange(compile_mechanism(mechanism).core)


@pytest.mark.parametrize("formulation", [*MOVING, "dense"])
def test_no_answer_is_that_of_another_state(formulation):
    """Answers at a state, whatever the system was asked before: those of a fresh one."""
    mechanism = linkages.four_bar()
    system, fresh = (bc.prepare(mechanism, formulation) for _ in range(2))
    first = system.project()
    system.accelerate()
    moved = bc.simulate(mechanism, 0.1, output_step=0.1).at(0.1)
    system.set_state(moved)
    fresh.set_state(moved)
    assert system.core.violation() == fresh.core.violation()
    system.set_state(first)
    system.accelerate()
    again, once = system.accelerate(moved), fresh.accelerate(moved)
    for name in ("linear", "multipliers", "reactions"):
        expected = getattr(once, name)
        np.testing.assert_allclose(getattr(again, name), expected, atol=1e-10 * np.abs(expected).max())


def test_the_guide_shows_what_is_tested():
    page = (ROOT / "docs" / "guide" / "11-writing-a-formulation.md").read_text(encoding="utf-8")
    rig = ROOT / "tests" / "rigs" / "dense_lagrange.hpp"
    _, text = rig.read_text(encoding="utf-8").split("#pragma once\n\n")
    assert f"```cpp\n{text}```" in page


def test_a_module_must_hold_what_the_contract_says():
    assert checked_module(dense) is dense
    module = ModuleType("halfway")
    module.NAME, module.OPTIONS, module.refusals = "halfway", dense.OPTIONS, dense.refusals
    with pytest.raises(
        TypeError, match="module halfway is no formulation, it lacks CUSTOM, SYSTEM, reduced, create"
    ):
        checked_module(module)
