"""Use of a live session as people use it, for long: drags, resets, switches, edits, inputs, jogging.

In turn a double pendulum is thrown about in time, with its formulation switched meanwhile, and its energy is
balanced against the work of the hands; and an arm behind gears is dragged without time, pinned, jogged,
rewound and steered. Before the end 10,000 commands of wrong types and as many garbled frames on the line of a
page. Faults are printed; the exit status is 1 if there are any.
"""

import argparse
import asyncio
import gc
import random
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from rigs.garbage import garbage

import bellcrank as bc
from bellcrank.errors import BellcrankError
from bellcrank.gallery.prosthetic_arm import Posture
from bellcrank.viewer.commands import COMMANDS
from bellcrank.viewer.session import live

FORMULATIONS = ("lagrange", "recursive", "symbolic", "dca")
BALANCE = 1e-6  # of the energy in play
GROWTH = 0.05  # of the resident memory
FIELDS = (
    "body", "name", "value", "time", "count", "point", "target", "formulation", "method", "step", "odd",
    "marker", "velocity", "duration",
)  # fmt: skip


def resident():
    """Bytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


@dataclass
class Tally:
    """What a soak has done and found."""

    rounds: int = 0
    commands: int = 0
    refused: int = 0
    malformed: int = 0
    worst_balance: float = 0.0
    memory: list = field(default_factory=list)
    faults: list = field(default_factory=list)

    def do(self, session, command, **arguments):
        """Give a command; one that is refused in words counts, anything else is a fault."""
        self.commands += 1
        try:
            return session.do(command, **arguments)
        except BellcrankError as error:
            self.refused += 1
            if "it cannot be done" in str(error):
                self.faults.append(f"{command}: {error}")
            return None

    @property
    def growth(self):
        """Of the resident memory since a quarter of the rounds were done, relative."""
        if len(self.memory) < 8:
            return 0.0
        quarter = len(self.memory) // 4
        early, late = (max(part) for part in (self.memory[quarter : 2 * quarter], self.memory[-quarter:]))
        return late / early - 1.0


def thrown(session, tally, source):
    """A pendulum thrown about by hands for a second or so, in time; its energy is balanced."""
    tally.do(session, "reset")
    tally.do(session, "speed", value=2.0)
    tally.do(session, "play")
    bodies, reach = session.snapshot.bodies, 1.2 * float(np.abs(session.snapshot.position).max())
    for _ in range(6):
        body = source.choice(bodies)
        aim = np.array([source.uniform(-reach, reach) for _ in range(3)])
        tally.do(session, "grab", body=body, point=[source.uniform(0.0, 1.0), 0.0, 0.0], target=aim.tolist())
        for _ in range(5):
            time.sleep(0.02)
            aim = aim + [source.gauss(0.0, 0.1 * reach) for _ in range(3)]
            tally.do(session, "move", body=body, target=aim.tolist())
        if source.random() < 0.5:
            tally.do(session, "switch", formulation=source.choice(FORMULATIONS))
        tally.do(session, "release", body=body)
    tally.do(session, "pause")
    run, now = session.trajectory, session.snapshot
    if now.status == "failed":
        tally.faults.append(f"it failed: {now.message}")
        return
    energy = run.energy.total
    in_play = max(float(np.ptp(run.energy.kinetic)), float(np.abs(energy).max()), 1e-3)
    balance = abs(energy[-1] - energy[0] - now.work) / in_play
    tally.worst_balance = max(tally.worst_balance, balance)
    if not balance < BALANCE:
        tally.faults.append(f"round {tally.rounds}: energy is off by {balance:.2g} of {in_play:.3g} J")
    json_of(session, tally, source.choice(bodies))


def json_of(session, tally, name):
    """Look at it as a page does."""
    tally.do(session, "inspect", name=name)
    session.window(1.0, 200)


def handled(session, tally, source):
    """An arm behind gears: dragged without time, pinned, jogged, steered, stepped, rewound."""
    tally.do(session, "reset")
    now = session.snapshot
    hand = now.bodies.index("hand")
    tally.do(session, "grab", body="hand", point=[0.0, 0.0, -0.05], target=now.position[hand].tolist())
    for _ in range(10):
        aim = np.array(now.position[hand]) + [source.uniform(-0.08, 0.08) for _ in range(3)]
        tally.do(session, "move", body="hand", target=aim.tolist())
    tally.do(session, "release")
    if source.random() < 0.3:
        tally.do(session, "pin", body="hand")
        tally.do(session, "step", count=5)
        tally.do(session, "unpin", body="hand")
    tally.do(session, "set_input", name="load", value=source.uniform(-1.0, 1.0))
    tally.do(session, "set_parameter", name="payload", value=source.uniform(0.1, 1.0))
    tally.do(session, "play")
    for _ in range(8):
        way = [source.gauss(0.0, 0.05) for _ in range(3)]
        tally.do(session, "jog", marker="hand.wrist", velocity=way, duration=0.2)
        time.sleep(0.03)
    tally.do(session, "jog")
    tally.do(session, "step", count=source.randint(1, 20))
    tally.do(session, "rewind", time=source.uniform(0.0, session.snapshot.past[1]))
    tally.do(session, "step")
    json_of(session, tally, "elbow")
    if session.snapshot.status == "failed":
        tally.faults.append(f"it failed: {session.snapshot.message}")
        tally.do(session, "reset")


def arm():
    """The prosthetic arm with a load on its hand that is an input, and a payload that is a parameter."""
    mech = bc.gallery.prosthetic_arm(Posture(flexion=0.4, abduction=0.2, elbow=0.9))
    payload = mech.add_parameter("payload", 0.4, low=0.05)
    mech.replace(mech.bodies["hand"], mass=payload)
    mech.add_force("load", bc.Wrench(force=(0.0, 0.0, bc.Input("load", 0.0, "N") * 1.0)), mech.bodies["hand"])
    return mech


def shouted(session, tally, source, count):
    """Commands of wrong types: each is answered, and the session goes on."""
    names, answers = sorted(set(COMMANDS) - {"save"}), []
    for _ in range(count):
        command = source.choice(names) if source.random() < 0.9 else garbage(source)
        chosen = source.sample(FIELDS, source.randint(0, 3))
        answers.append(session.send(command, **{name: garbage(source) for name in chosen}))
        if len(answers) >= 1000 or len(answers) == count:
            settle(answers, tally)
            answers = []
    settle(answers, tally)
    for command, arguments in (("speed", {"value": 1.0}), ("reset", {}), ("play", {})):
        tally.do(session, command, **arguments)
    time.sleep(0.3)
    if not session.snapshot.time > 0.0:
        tally.faults.append("after garbage it does not go on")


def settle(answers, tally):
    """Wait for the answers of commands."""
    for answer in answers:
        tally.malformed += 1
        error = answer.exception(timeout=120.0)
        if error is not None and not isinstance(error, BellcrankError):
            tally.faults.append(f"garbage: {type(error).__name__}: {error}")


def garbled(page, tally, source, count):
    """Frames that no page sends, on the line of a page: dropped or answered by a hang-up."""
    import websockets

    async def shout():
        left = count
        while left > 0:
            with suppress(websockets.ConnectionClosed, OSError, asyncio.TimeoutError):
                url = page.url.replace("http", "ws") + "ws"
                async with websockets.connect(url, origin=page.url.rstrip("/")) as line:
                    for _ in range(100):
                        left -= 1
                        tally.malformed += 1
                        data = source.randbytes(source.randint(0, 300))
                        await line.send(data if source.random() < 0.5 else data.decode("latin-1"))
                    if source.random() < 0.5:
                        line.transport.abort()

    page.session.do("play")
    asyncio.run(shout())
    reached, end = page.session.snapshot.time, time.monotonic() + 30.0
    while page.session.snapshot.time <= reached:
        if time.monotonic() > end:
            tally.faults.append("after garbled frames the page does not go on")
            return
        time.sleep(0.05)


def soak(seconds, seed=0, messages=10_000, frames=10_000):
    """Use two sessions for so long, then garble as many messages; a Tally."""
    tally, source, end = Tally(), random.Random(seed), time.monotonic() + seconds
    with (
        live(bc.gallery.double_pendulum(), {"method": "rk4", "step": 5e-4}) as pendulum,
        live(arm(), {"method": "rk4", "step": 1e-3}) as prosthesis,
    ):
        while time.monotonic() < end or tally.rounds < 2:
            thrown(pendulum, tally, source)
            handled(prosthesis, tally, source)
            tally.rounds += 1
            gc.collect()
            tally.memory.append(resident())
        shouted(pendulum, tally, source, messages)
    if frames:
        with bc.gallery.double_pendulum().view(port=0) as page:
            garbled(page, tally, source, frames)
    if tally.growth > GROWTH:
        tally.faults.append(f"memory grew by {100 * tally.growth:.1f} %")
    return tally


def main():
    """Soak, and tell."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    begun = time.perf_counter()
    tally = soak(60.0 * given.minutes, given.seed)
    for fault in tally.faults:
        print(fault)
    memory = np.array(tally.memory) / 1e6
    print(
        f"{tally.rounds} rounds, {tally.commands} commands, {tally.refused} refused, "
        f"{tally.malformed} malformed messages in {(time.perf_counter() - begun) / 60.0:.1f} min\n"
        f"energy balanced to {tally.worst_balance:.2g}; memory {memory[0]:.0f} -> {memory[-1]:.0f} MB, "
        f"{100 * tally.growth:+.1f} % from the second quarter to the last"
    )
    return 1 if tally.faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
