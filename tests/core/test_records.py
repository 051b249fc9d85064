"""Records of the core are declared once: names and units reach Python, and nothing nameless is taken."""

from dataclasses import fields

import numpy as np
import pytest

import bellcrank as bc
from bellcrank import _core
from bellcrank.compile.state import MEMORY
from bellcrank.formulations.preparing import formulation_module
from bellcrank.mechanism.coordinate import Coordinate
from bellcrank.mechanism.marker import Marker
from bellcrank.mechanism.rows import LAW_PARAMETERS, Law
from bellcrank.trajectory.store import POINT

LAW = {"stiffness": 1e5, "exponent": 1.5, "dissipation": 0.2, "static_friction": 0.5, "kinetic_friction": 0.4}
LAW |= {"shear_ratio": 0.8, "shear_time": 1e-3, "restitution": 0.3, "rim_stiffness": 0.0, "rolling": 0.01}
LAW |= {"spinning": 0.02, "by_impulse": 1.0}


@pytest.fixture(scope="module")
def run():
    mech = bc.Mechanism("ball on a floor")
    mech.replace(mech.ground, shapes=[bc.Plane()])
    ball = bc.Sphere(0.1, density=1000.0)
    mech.add_body("ball", shapes=[ball], position=(0, 0, 0.0999), velocity=(1, 0, 0))
    mech.add_force("floor", bc.Contact(1e5, friction=0.4), "ball", "ground")
    return bc.simulate(mech, 0.02, output_step=0.01)


def test_points_have_the_fields_that_the_core_declares(run):
    assert POINT.names[:2] == ("contact", "shapes")
    assert set(MEMORY.names) < set(POINT.names)
    declared = {field[:3] for field in _core.RecordedContact.fields()}
    assert {("force", 3, "N"), ("gap", 1, "m"), ("slip", 3, "m/s")} < declared
    points = run.contact("floor").points()
    assert np.array_equal(points.force, run.store.contacts["force"])
    assert np.array_equal(run.at(0.01).contacts["normal"], run.contact("floor").points(1).normal)


def test_nameless_numbers_are_no_memory(run):
    state, system = run.at(0.01), bc.prepare(run.origin.mechanism)
    plain = state.contacts.view(float).reshape(len(state.contacts), -1)
    with pytest.raises(bc.MechanismError, match="contacts must be records"):
        bc.State(*state.arrays, contacts=plain)
    with pytest.raises(ValueError, match="memory"):
        system.core.set_contact_memory(plain[:, 1:])
    other = np.zeros(1, [(name, MEMORY[name]) for name in reversed(MEMORY.names)])
    with pytest.raises(bc.MechanismError, match="contacts must be records"):
        bc.State(*state.arrays, contacts=other)
    assert bc.State(*state.arrays, contacts=[]).contacts.dtype == MEMORY


def test_a_law_of_contact_is_made_by_names():
    law = _core.ContactLaw(**LAW)
    assert {name: getattr(law, name) for name in LAW} == LAW
    for wrong in ({"rolling": 0.01}, LAW | {"hardness": 1.0}):
        with pytest.raises(TypeError):
            _core.ContactLaw(**wrong)
    with pytest.raises(TypeError):
        _core.ContactLaw(*LAW.values())


def test_a_law_of_force_is_made_by_names():
    along = Coordinate("distance", Marker("ground"), Marker("ball"))
    spring = bc.SpringDamper(5.0, 0.1, rest_length=0.3, preload=2.0)
    law = Law.of(spring, "linear", along, rest=0.3)
    assert dict(zip(LAW_PARAMETERS["linear"], law.params, strict=True)) == {
        "stiffness": 5.0, "damping": 0.1, "rest": 0.3, "preload": 2.0
    }  # fmt: skip
    with pytest.raises(TypeError, match="no 'length', but stiffness, damping, rest, preload"):
        Law.of(spring, "linear", along, rest=0.3, length=0.3)
    with pytest.raises(AttributeError, match="rest"):
        Law.of(spring, "linear", along)


@pytest.mark.parametrize("formulation", ["lagrange", "recursive", "symbolic", "dca"])
def test_options_are_those_that_the_core_declares(formulation):
    kind = formulation_module(formulation).OPTIONS
    records = {"lagrange": _core.RefinedClosingOptions, "dca": _core.DcaOptions}
    declared = records.get(formulation, _core.JointSystemOptions).fields()
    known = {item.name: item for item in fields(kind)}
    for name, _, unit, meaning, default, least in declared:
        if name != "cut":  # named by joints here, by blocks there
            assert known[name].default == default
            assert known[name].metadata == {"meaning": meaning, "unit": unit, "least": least}
    assert known.keys() - {name for name, *_ in declared} <= {"planar"}
    with pytest.raises(bc.MechanismError, match="rest_speed must be at least 0"):
        bc.prepare(bc.gallery.double_pendulum(), formulation, rest_speed=-1.0)
