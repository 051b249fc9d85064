"""Live sessions that tests drive: by a clock set by hand, by commands, and what is waited for."""

import time

import numpy as np

import bellcrank as bc
from bellcrank.mechanism.rotation_arrays import rotate
from bellcrank.viewer.commands import COMMANDS
from bellcrank.viewer.engine import LiveEngine
from bellcrank.viewer.pace import PERIOD
from bellcrank.viewer.settings import Settings

CRANK, COUPLER, ROCKER, GROUND = 0.3, 1.0, 0.8, 1.1  # m


class Clock:
    """A clock on the wall that is set by hand."""

    def __init__(self, of_a_part=0.0):
        self.now, self.of_a_part = 0.0, of_a_part

    def __call__(self):
        self.now += self.of_a_part / 2  # read before and after each part
        return self.now


def engine(mechanism=None, clock=None, **settings):
    mechanism = bc.gallery.double_pendulum() if mechanism is None else mechanism
    return LiveEngine(mechanism, Settings.of(settings), clock or Clock(), background=False)


def rod():
    mechanism = bc.Mechanism("rod")
    rod = mechanism.add_body("rod", 1.0, (0.1, 0.1, 0.1), position=(0.0, 0.5, 0.0))
    mechanism.add_joint("pivot", bc.RevoluteX(), mechanism.ground, rod.marker((0.0, -0.5, 0.0)))
    return mechanism


def do(live, command, **arguments):
    return COMMANDS[command](live, **arguments)


def wall(live, seconds):
    """Let the clock on the wall go on, and the engine do what is due."""
    end = live.clock.now + seconds
    while live.clock.now < end:
        live.clock.now += PERIOD
        live.tick(live.clock.now)


def until(session, what, seconds=20.0):
    """Wait until a snapshot is so."""
    end, shown = time.monotonic() + seconds, session.snapshot
    while not what(shown):
        assert time.monotonic() < end, shown
        shown = session.newer(shown.number, 0.2)
    return shown


def box_on_a_table():
    mech = bc.Mechanism("box on a table")
    mech.replace(mech.ground, shapes=[bc.Plane()])
    mech.add_body("box", position=(0, 0, 0.1), shapes=[bc.Box(size=(0.2, 0.2, 0.2), density=500.0)])
    mech.add_force("table", bc.Contact(1e5, friction=0.4), "box", "ground")
    return mech


def four_bar(session):
    """Build a four-bar in the xz plane that its crank drives."""
    for name, length in (("crank", CRANK), ("coupler", COUPLER), ("rocker", ROCKER)):
        assert session.do("add_body", kind="rod", name=name, size=[length, 0.04], mass=length) == name
    for name, first, second in (
        ("O", {"body": "ground", "point": [0.0, 0.0, 0.0]}, {"marker": "crank.start"}),
        ("A", {"marker": "crank.end"}, {"marker": "coupler.start"}),
        ("B", {"marker": "coupler.end"}, {"marker": "rocker.start"}),
        ("C", {"body": "ground", "point": [GROUND, 0.0, 0.0]}, {"marker": "rocker.end"}),
    ):
        assert session.do("join", kind="Revolute", name=name, first=first, second=second) == name
    session.do("motor", joint="O", velocity=2.0)


def place(session, marker):
    """Where a marker is, (3,), m."""
    now = rested(session)
    body, _, name = marker.partition(".")
    number = now.bodies.index(body)
    local = np.array(now.mechanism.marker(f"{body}.{name}").position)
    return now.position[number] + rotate(now.rotation[number], local)


def mechanism(session):
    return session.editor.mechanism.copy()


def rested(session):
    """What is shown once bodies have come together."""
    return until(session, lambda now: not now.moving)


def poses(session):
    now = rested(session)
    return np.hstack([now.position, now.rotation])
