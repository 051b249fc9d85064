"""Ctrl-C in long work of the core: it ends there and then, and what comes after is right."""

import os
import signal
import subprocess
import time
from operator import methodcaller

import numpy as np
import pytest
from rigs import chains

import bellcrank as bc
from bellcrank import _core
from bellcrank.compile.compile import compile_mechanism
from bellcrank.run.plan import Plan, method_options
from bellcrank.run.run import Run

pytestmark = pytest.mark.skipif(os.name != "posix", reason="this system has no shell that sends signals")


def chain(count):
    """One whose equations are long."""
    return chains.chain([1.0] * count, (bc.Universal, bc.Spherical))


def interrupted(work, arguments):
    """What calls had returned when Ctrl-C came: no Python code runs between them and the list."""
    done = []
    sender = subprocess.Popen(["sh", "-c", f"sleep 0.1; kill -INT {os.getpid()}"])
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012 (it may come a little later)
        done.extend(map(work, arguments))
        time.sleep(60)
    sender.wait()
    return done


@pytest.mark.parametrize(("form", "count"), [("linearize", 18), ("accelerate", 60)])
def test_a_derivation_ends_and_can_be_done_again(form, count):
    system, other = (bc.prepare(chain(count), "symbolic") for _ in range(2))
    assert not interrupted(methodcaller(form), [system.core])
    for again, first in zip(getattr(system.core, form)(), getattr(other.core, form)(), strict=True):
        np.testing.assert_allclose(again, first, rtol=0, atol=1e-9 * np.abs(first).max(initial=0.0))


def test_other_handlers_are_called_when_the_work_is_done(monkeypatch):
    """A handler may do anything, which must not happen in the midst of what threads share."""
    seen = []
    system = bc.prepare(chain(12), "symbolic")
    before = signal.signal(signal.SIGINT, lambda *_: seen.append("handled"))
    try:
        sender = subprocess.Popen(["sh", "-c", f"sleep 0.05; kill -INT {os.getpid()}"])
        done = list(map(methodcaller("linearize"), [system.core]))
        sender.wait()
        for _ in range(1000):
            if seen:
                break
            time.sleep(0.01)
    finally:
        signal.signal(signal.SIGINT, before)
    assert (len(done), seen) == (1, ["handled"])


def test_a_run_ends_in_a_derivation_and_keeps_whole_frames():
    model = compile_mechanism(chain(40))
    times = np.linspace(0.0, 1.0, 11)
    run = Run(model, Plan(0.0, times, method_options("rk4", 1.0), "symbolic", {}, True, False))
    sender = subprocess.Popen(["sh", "-c", f"sleep 0.1; kill -INT {os.getpid()}"])
    trajectory = run.complete()
    sender.wait()
    assert trajectory.status == "interrupted"
    assert len(trajectory) <= 1
    assert np.all(np.isfinite(trajectory.body("link0").position))


def test_long_batches_end():
    x = bc.symbol("x")
    program = bc.expression.compile_function([bc.expression.sin(x) ** 3], [x], native=False).main
    points, out = np.zeros((3_000_000, 1)), np.empty((3_000_000, 1))
    calls = [(points, np.empty(0), out, 2, True)] * 200
    done = interrupted(lambda call: program.evaluate_batch(*call), calls)
    assert len(done) < 200


def test_native_code_is_made_in_pieces_between_which_it_ends():
    system = bc.prepare(chain(8), "symbolic")
    program = system.program("accelerations").program
    sources = _core.llvm_source(program)
    assert len(sources) == -(-len(program.steps) // 500) > 3
    assert all(source.count("define void @piece") <= 1 for source in sources)


def test_a_search_for_positions_ends():
    mechanism = chain(300)
    for number in range(299):  # rods that cannot reach
        first, second = (mechanism.bodies[name] for name in list(mechanism.bodies)[number : number + 2])
        mechanism.add_joint(f"rod {number}", bc.Distance(90.0 + number), first, second)
    model = compile_mechanism(mechanism)
    finder = _core.RootFinder(model.core, [], 4000)
    finder.place(*model.initial.arrays)
    assert not interrupted(methodcaller("find"), [finder])
