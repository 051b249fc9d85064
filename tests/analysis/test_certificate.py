"""A certificate of all formulations: sound mechanisms pass; a fault planted in any one of them is named."""

import json
from dataclasses import replace

import numpy as np
import pytest
from rigs.upright_linkages import four_bar

import bellcrank as bc
from bellcrank import expression as ex
from bellcrank.compile.compile import compile_mechanism
from bellcrank.compile.initial import assembled
from bellcrank.verification import certificate
from bellcrank.verification.states import admissible_states

FORMULATIONS = ("lagrange", "recursive", "symbolic", "dca")
Y = (0.0, 1.0, 0.0)
SHORT = {"duration": 0.1, "samples": 2, "states": 2}


def machine(stiffness=40.0, damping=2.0, ratio=0.5, pull=3.0, lead=1.0, pin=0.5):
    """Two driven links, two geared wheels, a spring with a damper, friction, a force by formulas."""
    mech = bc.Mechanism("machine")
    inertia = (0.05, 0.2, 0.18)
    one = mech.add_body("one", 2.0, inertia, com=(0.05, 0.02, 0.01), position=(0.5, 0, 0))
    two = mech.add_body("two", 1.5, inertia, com=(0.02, -0.03, 0.04), position=(1.5, 0, 0))
    mech.add_joint("hip", bc.Revolute(), mech.ground.marker(axis=Y), one.marker((-0.5, 0, 0), axis=Y))
    mech.add_joint("knee", bc.Revolute(), one.marker((pin, 0, 0), axis=Y), two.marker((-0.5, 0, 0), axis=Y))
    wheels = []
    for name, x in (("small", 0.2), ("large", 0.5)):
        wheel = mech.add_body(name, 0.4, (0.01, 0.02, 0.015), com=(0.01, 0, 0), position=(1.5 + x, 0, 0))
        mech.add_joint(f"{name} axle", bc.Revolute(), two.marker((x, 0, 0), axis=Y), wheel.marker(axis=Y))
        wheels.append(wheel)
    gear = bc.Gear(ratio=ratio)
    mech.add_constraint("mesh", gear, *(mech.joints[f"{w.name} axle"] for w in wheels))
    mech.add_drive("motor", joint="hip", position=bc.Harmonic(0.4, 2.0 * lead))
    spring = bc.SpringDamper(stiffness=stiffness, damping=damping, rest_length=0.7)
    mech.add_force("spring", spring, mech.ground.marker((1, 0, 1)), two.marker((0.3, 0.1, 0)))
    friction = bc.JointFriction(viscous=0.1, coulomb=0.2, regularisation_velocity=0.5)
    mech.add_force("friction", friction, "small axle")
    end = bc.EndPose("p")
    law = bc.CustomForce((end,), force=(-pull * end.position[0], 0.3, -pull * end.velocity[2]))
    mech.add_force("formula", law, wheels[1].marker((0, 0.1, 0.05)))
    return mech


def altered(**parameters):
    """The fault: one formulation is prepared from another description."""

    def plant(true_prepare, name, model, options):
        wrong, _ = assembled(compile_mechanism(machine(**parameters)))
        return true_prepare(replace(wrong, initial=model.initial), name, **options)

    return plant


def told(**changes):
    """The fault: one formulation's answers are changed on their way out of it."""

    def plant(true_prepare, name, model, options):
        system = true_prepare(model, name, **options)
        true_accelerate = system.accelerate

        def accelerate(state=None):
            acc = true_accelerate(state)
            arrays = {key: np.array(getattr(acc, key)) for key in changes}
            for key, change in changes.items():
                change(acc.model, arrays[key])
            return replace(acc, **arrays)

        system.accelerate = accelerate
        return system

    return plant


def recorded(section, factor):
    """The fault: one section of what a formulation says is changed by a factor."""

    def plant(said):
        said.evidence.sections[section] = factor * said.evidence.sections[section]
        return said

    return plant


def turn_sign(joint, part):
    def change(model, reactions):
        reactions[model.reaction_number[joint], part] *= -1.0

    return change


def scale_body(body, factor):
    def change(model, accelerations):
        accelerations[model.body_number(body)] *= factor

    return change


def scale_effort(element, factor):
    def change(model, multipliers):
        multipliers[[m.row for m in model.multipliers if m.element == element]] *= factor

    return change


FAULTS = {
    "acceleration": (told(linear=scale_body("two", 1.0001)), "body 'two'", "acceleration"),
    "angular acceleration": (told(angular=scale_body("large", -1.0)), "body 'large'", "angular acceleration"),
    "reaction force": (told(reactions=turn_sign("knee", slice(3, 6))), "joint 'knee'", "reaction force"),
    "reaction moment": (told(reactions=turn_sign("knee", slice(0, 3))), "joint 'knee'", "reaction moment"),
    "effort": (told(multipliers=scale_effort("mesh", 1.0001)), "constraint 'mesh'", "effort"),
    "spring law": (altered(stiffness=40.01), "force 'spring'", "force"),
    "damper": (altered(damping=2.002), "force 'spring'", "force"),
    "gear ratio": (altered(ratio=0.5001), "constraint 'mesh'", "position"),
    "formula": (altered(pull=-3.0), "force 'formula'", "force"),
    "drive": (altered(lead=1.001), "drive 'motor'", "position"),
    "row": (altered(pin=0.5001), "joint 'knee'", "position"),
    "potential": (recorded("potential", 1.001), "the mechanism", "potential energy"),
    "kinetic": (recorded("kinetic", 0.999), "the mechanism", "kinetic energy"),
}


def test_a_sound_mechanism_passes_in_all_formulations():
    verdict = bc.verify(machine(), **SHORT)
    assert verdict.passed, str(verdict)
    assert verdict.formulations == FORMULATIONS
    assert not verdict.faults
    for name in ("acceleration", "reaction force", "reaction moment", "effort", "potential energy"):
        assert verdict[f"agreement: {name}"].value < 1e-9
    assert {c.formulation for c in verdict.checks if c.name == "balance at states"} == set(FORMULATIONS)


@pytest.mark.parametrize(
    ("name", "formulation"),
    [
        *((name, FORMULATIONS[k % 4]) for k, name in enumerate(FAULTS)),
        *((name, "lagrange") for k, name in enumerate(FAULTS) if k % 4),
        *(("acceleration", formulation) for formulation in FORMULATIONS[1:]),
    ],
)
def test_a_planted_fault_is_named(name, formulation, monkeypatch):
    plant, element, quantity = FAULTS[name]
    true_prepare, true_testimony = certificate.prepare, certificate.testimony

    def prepare(model, wanted, **options):
        if wanted != formulation or "energy" in quantity:
            return true_prepare(model, wanted, **options)
        return plant(true_prepare, wanted, model, options)

    def testimony(model, system, states):
        said = true_testimony(model, system, states)
        return plant(said) if system.formulation == formulation and "energy" in quantity else said

    monkeypatch.setattr(certificate, "prepare", prepare)
    monkeypatch.setattr(certificate, "testimony", testimony)
    verdict = bc.verify(machine(), **SHORT)
    assert not verdict.passed
    fault = verdict.faults[0]
    assert fault.formulation == formulation, str(verdict)
    assert fault.element.startswith(element), str(verdict)
    assert fault.quantity == quantity, str(verdict)
    assert {fault.formulation for fault in verdict.faults} == {formulation}, str(verdict)


def test_a_formulation_that_refuses_is_told_with_its_reason():
    """Two joints given by formulas that close a loop are nothing for `symbolic`."""
    mech, u = bc.Mechanism("loop"), bc.symbol("u")
    body = mech.add_body("body", mass=1.0, inertia=(1.0, 1.0, 1.0))
    for name, height in (("first", 0.0), ("second", 1.0)):
        kind = bc.CustomJoint(u, ex.translation(u, 0, 0))
        mech.add_joint(name, kind, mech.ground.marker((0, 0, height)), body.marker((0, 0, height)))
    verdict = bc.verify(mech, **SHORT)
    assert verdict.passed, str(verdict)
    assert verdict.formulations == ("lagrange", "recursive", "dca")
    assert set(verdict.refused) == {"symbolic"}
    assert "symbolic took no part: formulation 'symbolic' cannot take mechanism 'loop'" in str(verdict)


def test_one_formulation_alone_is_judged_by_mechanics(monkeypatch):
    """With nobody to be compared with, a force that was changed is still named."""
    true_prepare = certificate.prepare
    plant = altered(stiffness=41.0)
    monkeypatch.setattr(certificate, "prepare", lambda m, n, **o: plant(true_prepare, n, m, o))
    verdict = bc.verify(machine(), formulation="recursive", **SHORT)
    assert not verdict.passed
    assert verdict.faults[0].formulation == "recursive"
    assert verdict.faults[0].element == "force 'spring'"


def test_random_states_satisfy_the_constraints_and_differ():
    model, _ = assembled(compile_mechanism(four_bar()))
    states = admissible_states(model, 4)
    assert len(states) == 5
    system = bc.prepare(model)
    for state in states:
        assert np.max(np.abs(system.rows(state).error)) < 1e-10
    apart = [np.max(np.abs(a.position - b.position)) for i, a in enumerate(states) for b in states[:i]]
    assert min(apart) > 1e-2


def test_a_certificate_is_a_page_and_plain_values():
    verdict = bc.verify(four_bar(), **SHORT)
    assert len(str(verdict).splitlines()) < 40
    again = json.loads(json.dumps(verdict.to_dict()))
    assert again["passed"]
    assert again["formulations"] == list(FORMULATIONS)
    assert again["faults"] == []
    assert {check["name"] for check in again["checks"]} == {check.name for check in verdict.checks}


def test_options_need_a_formulation():
    with pytest.raises(bc.MechanismError, match="options belong to a formulation"):
        bc.verify(four_bar(), rank_tolerance=1e-9)


@pytest.mark.parametrize("stiffness", [1e4, 1e7])
@pytest.mark.parametrize("arm", [0.0, 1.0])
def test_what_exerts_nothing_is_not_judged_by_itself(stiffness, arm):
    """A body on one bushing: most components are rounding, and the motion is of micrometres."""
    mech = bc.Mechanism("one", gravity=(0, 0, -9.81))
    body = mech.add_body("body", mass=3.0, inertia=(0.003, 0.003, 0.003), position=(2 * arm, 0, 0))
    bushing = bc.Bushing((stiffness,) * 3, rotational_stiffness=(stiffness,) * 3)
    mech.add_force("bushing", bushing, mech.ground.marker((arm, 0, 0)), body.marker((-arm, 0, 0)))
    assert bc.verify(mech, duration=0.2).passed
