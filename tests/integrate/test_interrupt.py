"""Ctrl-C ends a run at once and keeps what was computed."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from rigs.chains import hinged_rods

import bellcrank as bc

LATENCY = 0.3  # s; about 0.05 s on a machine that is not busy


@pytest.fixture
def interrupt():
    """Sends SIGINT to this process after a while, Python's own handler in place; tells when it was sent."""
    sent, timers = [], []
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def send():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    def after(seconds):
        timers.append(threading.Timer(seconds, send))
        timers[-1].start()
        return sent

    yield after
    for timer in timers:
        timer.cancel()
        timer.join()
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(("count", "step"), [(1, 1e-5), (500, 1e-3)])
def test_a_run_ends_within_a_tenth_of_a_second(interrupt, count, step):
    """Both with steps of microseconds and with steps of milliseconds."""
    mech = hinged_rods(count)
    sent = interrupt(0.8)
    run = bc.simulate(mech, 2e3, step=step, output_step=0.02)
    late = time.monotonic() - sent[0]
    assert late < LATENCY
    assert run.status == "interrupted"
    assert "interrupted at t = " in run.status.message
    assert len(run) > 2
    assert np.all(np.isfinite(run.body("rod 0").position))
    assert np.all(np.diff(run.time) > 0.0)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_what_was_recorded_is_in_the_file(interrupt, tmp_path):
    mech = hinged_rods(3)
    bc.simulate(mech, 1e-3, path=tmp_path / "first.h5")  # imports, which Ctrl-C breaks off
    interrupt(0.5)
    run = bc.simulate(mech, 1e4, step=1e-4, output_step=1e-2, path=tmp_path / "run.h5")
    again = bc.Trajectory.load(tmp_path / "run.h5")
    assert again.status == "interrupted"
    assert len(again) == len(run) > 2


def test_a_handler_of_the_application_is_respected(interrupt):
    """It is called, stays in place, and the run goes on if it does not raise."""
    called = []
    interrupt(0.2)
    signal.signal(signal.SIGINT, lambda number, frame: called.append(number))
    run = bc.simulate(hinged_rods(1), 8.0, step=1e-5, output_step=1.0)
    assert called == [signal.SIGINT]
    assert run.status == "finished"


def test_other_exceptions_of_handlers_come_through():
    """An alarm that raises is not taken for Ctrl-C."""

    class Alarm(Exception):
        pass

    def ring(number, frame):
        raise Alarm

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(Alarm):
            bc.simulate(hinged_rods(1), 1e4, step=1e-5, output_step=1.0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def test_an_error_of_the_progress_function_comes_through():
    def broken(fraction):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        bc.simulate(hinged_rods(1), 1e4, step=1e-5, output_step=1.0, progress=broken)


def test_a_run_in_another_thread_leaves_signals_alone():
    results = []
    thread = threading.Thread(target=lambda: results.append(bc.simulate(hinged_rods(2), 0.5)))
    thread.start()
    thread.join()
    assert results[0].status == "finished"
