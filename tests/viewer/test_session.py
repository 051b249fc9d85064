"""A live session in its own thread: commands from outside, garbage among them, and what front ends see."""

import json
import random
import threading
import time

import numpy as np
import pytest
from rigs.garbage import garbage
from rigs.live import until

import bellcrank as bc
from bellcrank.viewer.commands import COMMANDS
from bellcrank.viewer.engine import LiveEngine
from bellcrank.viewer.session import live


def test_it_plays_by_the_clock_on_the_wall():
    with live(bc.gallery.double_pendulum()) as session:
        session.do("play")
        until(session, lambda now: now.time > 0.3)
        session.do("pause")
        reached = session.snapshot.time
        time.sleep(0.1)
        assert session.snapshot.time == reached
        assert len(session.trajectory) > 3


def test_two_front_ends_see_the_same():
    with live(bc.gallery.double_pendulum()) as session:
        seen = [[], []]

        def watch(numbers):
            number = 0
            while number < 30:
                shown = session.newer(number, 1.0)
                number = shown.number
                numbers.append((number, shown.time, shown.position.tolist()))

        watchers = [threading.Thread(target=watch, args=(numbers,)) for numbers in seen]
        for watcher in watchers:
            watcher.start()
        session.do("play")
        for watcher in watchers:
            watcher.join(30.0)
        both = set(map(repr, seen[0])) & set(map(repr, seen[1]))
        assert len({number for number, *_ in seen[0]} & {number for number, *_ in seen[1]}) == len(both) > 3


def test_a_drag_reaches_the_physics_soon():
    with live(bc.gallery.double_pendulum()) as session:
        session.do("play")
        body = session.snapshot.bodies[1]
        session.do("grab", body=body, point=(0.2, 0.0, 0.0), target=(0.3, 0.0, 0.3))
        until(session, lambda now: now.work != 0.0)
        waits = []
        for k in range(40):
            begun = time.perf_counter()
            session.do("move", body=body, target=(0.3, 0.0, 0.3 + 0.01 * k))
            waits.append(time.perf_counter() - begun)
        assert np.median(waits) < 0.02


def test_what_takes_long_is_prepared_while_the_run_goes_on():
    with live(bc.gallery.four_bar()) as session:
        session.do("play")
        session.do("switch", formulation="symbolic")
        told = until(session, lambda now: now.formulation == "symbolic")
        assert told.settings.formulation == "symbolic"
        assert told.preparing == ""
        until(session, lambda now: now.time > told.time + 0.05)


@pytest.mark.parametrize("seed", range(4))
def test_garbage_never_stops_it(seed):
    source = random.Random(seed)
    names = sorted(set(COMMANDS) - {"save"})
    fields = (
        "body",
        "name",
        "value",
        "time",
        "count",
        "point",
        "target",
        "formulation",
        "method",
        "step",
        "odd",
    )
    with live(bc.gallery.double_pendulum()) as session:
        session.do("play")
        answers = []
        for _ in range(2500):
            command = source.choice(names) if source.random() < 0.9 else garbage(source)
            chosen = source.sample(fields, source.randint(0, 3))
            answers.append(session.send(command, **{name: garbage(source) for name in chosen}))
        for answer in answers:
            error = answer.exception(timeout=60.0)
            assert error is None or isinstance(
                error, bc.MechanismError | bc.Unsupported | bc.AssemblyError
            ), error
        session.do("speed", value=1.0)
        session.do("reset")
        session.do("play")
        until(session, lambda now: now.time > 0.1)
        json.dumps(session.do("inspect", name="link 1"))


def test_a_closed_session_refuses():
    session = live(bc.gallery.double_pendulum())
    session.close()
    with pytest.raises(bc.MechanismError, match="closed"):
        session.do("play")
    assert len(session.trajectory) == 1


def test_steps_that_would_break_down_at_once_are_not_taken():
    with live(bc.gallery.flyball_governor()) as session:
        assert session.snapshot.settings.method == "auto"
        assert session.snapshot.time == 0.0
        session.do("step", count=20)
        assert session.snapshot.status == "paused"
    with live(bc.gallery.double_pendulum()) as session:
        assert session.snapshot.settings.method == "rk4"


def test_a_part_that_takes_too_long_does_not_keep_commands_waiting():
    with live(bc.gallery.chain(400), {"formulation": "lagrange", "step": 1e-6}) as session:
        session.do("speed", value=100.0)
        session.do("play")
        until(session, lambda now: now.time > 0.0)
        begun = time.perf_counter()
        session.do("pause")
        assert time.perf_counter() - begun < 3.0
        assert 0.0 < session.snapshot.time < 1.0


def test_what_a_command_did_is_shown_when_it_answers(monkeypatch):
    monkeypatch.setattr(LiveEngine, "tick", lambda engine, now: time.sleep(0.1))
    with live(bc.gallery.double_pendulum()) as session:
        for count in range(1, 4):
            session.do("step")
            assert session.snapshot.time == pytest.approx(1e-3 * count)


class TestCommandsOfManyThreads:
    def test_one_that_is_taken_back_is_not_done_and_the_session_goes_on(self):
        with live(bc.gallery.double_pendulum()) as session:
            session.do("play")
            for _ in range(50):
                session.send("step", count=1).cancel()
            assert session.send("pause").result(timeout=20.0) is None

    def test_all_are_answered_while_it_is_closed(self):
        for _ in range(20):
            session, answers = live(bc.gallery.double_pendulum()), []

            def shout(session=session, answers=answers):
                for _ in range(300):
                    answers.append(session.send("speed", value=1.0))

            threads = [threading.Thread(target=shout) for _ in range(3)]
            for thread in threads:
                thread.start()
            session.close()
            for thread in threads:
                thread.join(20.0)
            assert len(answers) == 900
            for answer in answers:
                answer.exception(timeout=5.0)

    def test_closed_it_does_nothing_that_waits(self):
        session = live(bc.gallery.double_pendulum())
        session.send("step", count=1)
        waiting = [session.send("step", count=2000) for _ in range(20)]
        begun = time.perf_counter()
        session.close()
        assert time.perf_counter() - begun < 5.0
        assert "closed" in str(waiting[-1].exception(timeout=5.0))

    def test_time_goes_on_while_commands_keep_coming(self):
        with live(bc.gallery.double_pendulum()) as session:
            session.do("play")
            shouts = [True]

            def shout():
                while shouts:
                    session.send("rewind", time=None)

            thread = threading.Thread(target=shout)
            thread.start()
            try:
                until(session, lambda now: now.time > 0.05)
            finally:
                shouts.clear()
                thread.join(20.0)

    def test_a_pause_leaves_the_next_line_alone(self):
        with live(bc.gallery.double_pendulum()) as session:
            interrupted = session._engine.interrupt
            done = threading.Event()

            def late():
                done.wait(0.2)  # if the command could be done before what it interrupts is interrupted
                interrupted()

            session._engine.interrupt = late
            session.do("pause")
            session._engine.interrupt = interrupted
            assert not session.editor.interrupt.is_set()
