"""A System, a Run: a second thread that comes in between is refused; its numbers would be wrong."""

import threading
from functools import cached_property

import numpy as np
import pytest
from rigs.chains import chain

import bellcrank as bc
from bellcrank.formulations.preparing import MOVING
from bellcrank.formulations.system import System


def in_another_thread(work):
    """What a call came to in a thread of its own."""
    came = []

    def call():
        try:
            came.append(work())
        except bc.Unsupported as error:
            came.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    thread.join(60)
    return came[0]


def public(system):
    """Every public method and property that classes of systems define."""
    for kind in type(system).__mro__:
        if issubclass(kind, System):
            for name, member in vars(kind).items():
                if not name.startswith("_") and (
                    callable(member) or isinstance(member, (property, cached_property))
                ):
                    yield name


@pytest.mark.parametrize("formulation", MOVING)
def test_whatever_a_system_answers_is_for_one_thread(formulation):
    system = bc.prepare(chain([1.0, 1.0]), formulation)
    names = set(public(system))
    assert len(names) >= 8
    with system._turn.taken():
        for name in names:
            refused = in_another_thread(lambda name=name: getattr(system, name)())
            assert isinstance(refused, bc.Unsupported), name
            assert "one thread at a time: prepare one for each" in str(refused)
        system.accelerate()  # the thread at work may go on
    assert not isinstance(in_another_thread(system.accelerate), Exception)


@pytest.mark.parametrize("formulation", MOVING)
def test_shared_systems_give_right_numbers_or_none(formulation):
    system = bc.prepare(chain([1.0, 1.0, 1.0]), formulation)
    start = system.state()
    other = bc.simulate(chain([1.0, 1.0, 1.0]), 0.3, step=0.01).at(0.3)
    states = (start, other)
    expected = [system.accelerate(state).linear for state in states]
    wrong, right = [], []

    def hammer(number):
        for _ in range(300):
            try:
                found = system.accelerate(states[number]).linear
            except bc.Unsupported:
                continue
            (right if np.allclose(found, expected[number], rtol=1e-9, atol=1e-9) else wrong).append(number)

    threads = [threading.Thread(target=hammer, args=(number,)) for number in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert right


def test_a_run_serves_one_thread():
    run, seen = None, []

    def progress(_fraction):
        if not seen:
            seen.append(in_another_thread(lambda: run.advance(0.1)))

    run = bc.start(chain([1.0, 1.0]), 20.0, step=1e-3, progress=progress)
    run.advance()
    assert isinstance(seen[0], bc.Unsupported)
    assert "one thread at a time" in str(seen[0])
    assert len(run.stop())
