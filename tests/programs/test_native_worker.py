"""Native code that is made beside everything else: by one thread, for programs that somebody still holds."""

import os
import signal
import threading
import time

import pytest

import bellcrank as bc
from bellcrank import _core
from bellcrank.expression import native

pytestmark = pytest.mark.skipif(not native.available(), reason="llvmlite is not installed")


def program_of(k):
    x = bc.symbol("x")
    _, main = _core.lower_expressions([x**2 + k], [x], [])
    return _core.CompiledProgram(main)


def workers():
    return [thread for thread in threading.enumerate() if thread.name == "bellcrank-native"]


@pytest.fixture
def held(monkeypatch):
    """Compilers wait until they are let go; the programs that reach them."""
    go, seen, attach = threading.Event(), [], native.attach
    for thread in workers():
        thread.join()

    def late(program, **settings):
        go.wait()
        seen.append(program)
        if len(seen) == 1 and late.fails:
            raise OSError("planted")
        attach(program, **settings)

    late.fails = False
    monkeypatch.setattr(native, "attach", late)
    yield go, seen, late
    go.set()


def test_one_thread_makes_all(held):
    go, seen, _ = held
    programs = [program_of(k) for k in range(5)]
    done = [native.attach_soon([program]) for program in programs]
    assert len(workers()) == 1
    go.set()
    assert all(event.wait(20) for event in done)
    assert all(program.native for program in programs)
    assert [id(program) for program in seen] == [id(program) for program in programs]


def test_what_nobody_holds_is_left_out(held):
    go, seen, _ = held
    first, second = program_of(1), program_of(2)
    events = [native.attach_soon([first]), native.attach_soon([second])]
    del second
    go.set()
    assert all(event.wait(20) for event in events)
    assert len(seen) == 1


def test_an_error_does_not_stop_the_others(held, monkeypatch):
    go, _, late = held
    late.fails, shown = True, []
    monkeypatch.setattr(threading, "excepthook", shown.append)
    programs = [program_of(1), program_of(2)]
    events = [native.attach_soon([program]) for program in programs]
    go.set()
    assert all(event.wait(20) for event in events)
    assert [program.native for program in programs] == [False, True]
    assert "planted" in str(shown[0].exc_value)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_in_the_midst_of_it():
    """No lock of the compiler stays closed in the child."""
    for k in range(10):
        programs = [program_of(100 * k + i) for i in range(3)]
        done = native.attach_soon(programs)
        time.sleep(0.003 * k)
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            native.attach(program_of(-1.0 - k))
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert done.wait(20)
