"""The exceptions themselves."""

import pickle

import pytest

from bellcrank.errors import (
    AssemblyError,
    BellcrankError,
    Fault,
    FaultList,
    Location,
    MechanismError,
    SimulationError,
    Unsupported,
)


def test_a_fault_reads_as_a_sentence():
    fault = Fault("body 'crank'", "mass must be greater than zero", -1.0, "give it in kg")
    assert str(fault) == "body 'crank': mass must be greater than zero, got -1.0; give it in kg"
    assert str(Fault("mechanism", "it has no bodies")) == "mechanism: it has no bodies"


def test_a_fault_tells_its_place_in_a_file():
    fault = Fault("body 'b'", "mass is missing", location=Location("arm.yaml", 12, "bodies.b.mass"))
    assert str(fault) == "body 'b': mass is missing [arm.yaml:12, bodies.b.mass]"
    assert str(Location(line=3)) == "line 3"


def test_long_values_are_shortened():
    text = str(Fault("x", "too long", list(range(1000))))
    assert len(text) < 300
    assert text.endswith("...")


def test_one_and_several_faults():
    one, two = Fault("a", "first"), Fault("b", "second")
    assert str(MechanismError(one)) == "a: first"
    assert str(MechanismError([one, two])) == "2 faults in the mechanism:\n  1. a: first\n  2. b: second"
    assert MechanismError([one, two]).faults == [one, two]
    with pytest.raises(ValueError, match="at least one Fault"):
        MechanismError([])


def test_a_fault_list_collects_and_raises():
    faults = FaultList()
    faults.raise_any()
    faults.add("a", "first", 1)
    place = Location("file", 1)
    with faults.collect(place):
        raise MechanismError([Fault("b", "second"), Fault("c", "third", location=Location("other", 2))])
    with faults.collect():
        pass
    assert [fault.element for fault in faults] == ["a", "b", "c"]
    assert [fault.location for fault in faults] == [None, place, Location("other", 2)]
    with pytest.raises(MechanismError, match="3 faults"):
        faults.raise_any()
    with pytest.raises(KeyError), faults.collect():
        raise KeyError


def test_kinds_of_errors():
    assert issubclass(MechanismError, ValueError)
    for kind in (MechanismError, Unsupported, AssemblyError, SimulationError):
        assert issubclass(kind, BellcrankError)
    error = SimulationError("it stopped", time=1.5, body="arm", trajectory=[1])
    assert (error.time, error.body, error.trajectory) == (1.5, "arm", [1])
    assert AssemblyError("open", [("joint 'a'", 0.1)]).violations == [("joint 'a'", 0.1)]


def test_errors_survive_pickling():
    error = MechanismError([Fault("a", "first", 1)])
    again = pickle.loads(pickle.dumps(error))
    assert (again.faults, str(again)) == (error.faults, str(error))
