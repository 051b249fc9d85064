"""Adaptive dynamics of a molecule: what steps cost by the joints that are free, errors, energy."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Final

import numpy as np

from bellcrank import _core
from benchmarks.adaptive_linkages import Array, HingeTree, molecule
from benchmarks.report import Column, Row, Table
from benchmarks.targets import target
from benchmarks.timing import timed

FREE: Final = (10, 30, 100, 300, 1000, 3000)
FORCES: Final = {10: 1, 30: 2, 100: 5, 300: 15, 1000: 50, 3000: 150}
"""Numbers of forces by the number of joints that are to be free."""
LIMITS: Final = {10: (10, 14, 40, 40), 100: (90, 130, 350, 360), 1000: (1100, 1700, 4500, 4400)}
"""Microseconds by free joints, by NAMES."""
NAMES: Final = (
    "a step of symplectic Euler", "accelerations and their error", "the dearest decision", "a step of RK4",
)  # fmt: skip
STEP: Final = 1e-3
LOSS: Final = 0.01
"""Part of the kinetic energy that locks may lose in a second."""
FRAMES: Final = 40
PEER_JOINTS: Final = 1000
"""MuJoCo refuses trees deeper than about a thousand bodies; these are two thirds as deep."""
_PEER: Final = Path(__file__).parent / "peers" / "mujoco_molecule.py"


def pulled(joints: int, forces: int, seed: int = 0, size: float = 1.0) -> HingeTree:
    """A molecule of equal atoms with constant forces on some of them."""
    tree, rng = molecule(joints, seed, even=True), np.random.default_rng(seed)
    bodies = rng.permutation(joints)[:forces]
    return tree.loaded(bodies, size * rng.normal(size=(forces, 3)))


class Motion:
    """A run from rest, with what its energies are made of."""

    def __init__(self, tree: HingeTree) -> None:
        self.tree, self.core, self._poses = tree, tree.core(), tree.poses()
        self.run = _core.AdaptiveDynamics(self.core)

    def start(
        self, error: float, *, loss: float = LOSS, relative_loss: bool = True, joints: int = -1
    ) -> None:
        """From rest, every joint locked; the limit of the error is relative."""
        still = np.zeros((len(self.tree.mass), 3))
        self.run.limit(error, True, loss, relative_loss, joints)
        self.run.start(self.core, 0.0, *self._poses, still, still)

    def lock_all(self) -> None:
        """As at the start, if nothing moves."""
        self.run.set_free(np.zeros(len(self.tree.mass), dtype=bool))

    def centres(self) -> Array:
        """Centres of mass (n, 3)."""
        from bellcrank.mechanism.rotation_arrays import rotate

        _, position, rotation, _, _ = self.run.state(self.core)
        return np.asarray(position + rotate(rotation, self.tree.com))

    def potential(self) -> float:
        """Of the forces, J."""
        bodies, forces = self.tree.loads
        return -float(np.sum(forces * self.centres()[bodies]))


def _set_about(motion: Motion, joints: int) -> tuple[float, float]:
    """Finds a limit of the error for which the first decision frees about so many joints.

    Also microseconds of that decision. Where even errors of nearly all need more joints, there are no more.
    """
    low, high, most = -10.0, 0.0, -1
    motion.start(2.0)
    for turn in range(14):
        middle = 0.5 * (low + high)
        most = joints if turn == 13 else -1
        motion.run.limit(2.0**middle, True, LOSS, True, most)
        motion.lock_all()
        motion.run.evaluate()
        took = 1e6 * timed(motion.run.decide)
        found = len(motion.run.free)
        if abs(found - joints) <= 0.02 * joints:
            break
        low, high = (middle, high) if found > joints else (low, middle)
    return float(2.0**middle), took


def _cost(joints: int, wanted: int, repeats: int) -> Row:
    """Microseconds of steps with about so many joints free."""
    motion = Motion(pulled(joints, FORCES[wanted]))
    run = motion.run
    limit, first = _set_about(motion, wanted)
    count = max(5, min(200, 20_000 // wanted))
    row: Row = {"wanted": wanted, "forces": FORCES[wanted], "limit": limit, "first": first}
    row |= {"free": len(run.free), "nodes": run.visited}

    def judge() -> None:
        for _ in range(count):
            run.evaluate()

    held = {
        "h": partial(run.coast, count, 1e-3 * STEP, "symplectic"),
        "rk4": partial(run.coast, count, 1e-3 * STEP),
    }
    for name, work in (held | {"hf": judge}).items():
        row[name] = median(1e6 * timed(work) / count for _ in range(repeats))
    decisions = []
    for _ in range(max(5, repeats)):
        run.advance(8, STEP, "symplectic")
        run.evaluate()
        decisions.append(1e6 * timed(run.decide))
    row |= {"decision": median(decisions), "dearest": max(first, *decisions)}
    for name, method in (("symplectic_all", "symplectic"), ("rk4_all", "rk4")):
        row[name] = median(1e6 * timed(partial(run.advance, 40, STEP, method)) / 40 for _ in range(3))
    return row | {"then": len(run.free), "bytes": run.bytes / joints}


def costs(joints: int, free: Sequence[int], repeats: int) -> tuple[list[Table], list[Row]]:
    """Costs of steps by the number of free joints, beside the linear recursion."""
    rows = [_cost(joints, wanted, repeats) for wanted in free]
    targets: list[Row] = []
    for row in rows:
        if row["wanted"] not in LIMITS:
            continue
        found = (row["h"], row["hf"], row["dearest"], row["rk4"])
        for name, asked, us in zip(NAMES, LIMITS[row["wanted"]], found, strict=True):
            targets += target(f"{row['wanted']} free: {name}, us", asked, us, is_time=True)
        targets += target(f"{row['wanted']} free: nodes", 2.5 * row["free"] + 80, row["nodes"])
    others, more = _others(joints, repeats)
    size = max(row["bytes"] for row in rows if row["wanted"] in LIMITS)
    targets += [*more, *target("bytes per joint, up to 1,000 free", 6144, size)]
    columns = (
        Column("free", "free joints", 6), Column("forces", "forces"), Column("limit", "limit of the error"),
        Column("nodes", "nodes", 6), Column("h", "us: step, symplectic"), Column("hf", "H and F"),
        Column("first", "first decision"), Column("decision", "later ones"), Column("rk4", "step, RK4"),
        Column("symplectic_all", "run, symplectic"), Column("rk4_all", "run, RK4"),
        Column("then", "free then", 6), Column("bytes", "bytes a joint", 4),
    )  # fmt: skip
    title = f"Adaptive dynamics: molecule with {joints} hinges, masses alike"
    return [Table("dynamics", title, columns, rows), others], targets


def _others(joints: int, repeats: int) -> tuple[Table, list[Row]]:
    """What does not depend on the joints that are free, and the linear recursion."""
    motion = Motion(pulled(joints, 1))
    begun = time.thread_time()
    motion.start(2.0)
    started = time.thread_time() - begun
    run, nodes = motion.run, len(_core.assembly_tree(motion.tree.parent.tolist())[0])
    run.limit(2.0, True, LOSS, True, -1)
    nothing = median(
        1e6 * timed(lambda: run.advance(1000, STEP, "symplectic")) / 1000 for _ in range(repeats)
    )
    system = _core.Recursive(motion.core)
    still = np.zeros((joints, 3))
    system.set_state(0.0, *motion.tree.poses(), still, still)
    system.repeat("accelerate", 2)
    linear = median(1e6 * timed(lambda: system.repeat("accelerate", 5)) / 5 for _ in range(repeats))
    size = run.bytes / joints
    run.set_free(np.ones(joints, dtype=bool))
    run.evaluate()
    every = median(1e6 * timed(lambda: run.coast(1, 1e-6, "symplectic")) for _ in range(repeats))
    rows: list[Row] = [
        {"what": "a step with nothing free, us", "value": nothing},
        {"what": "the start: every node placed and closed, us a node", "value": 1e6 * started / nodes},
        {"what": "a step of symplectic Euler with all joints free, us", "value": every},
        {"what": "accelerations by `recursive`, us", "value": linear},
        {"what": "bytes per joint, nothing free", "value": size},
        {"what": "bytes per joint, all free", "value": run.bytes / joints},
    ]
    columns = (Column("what", "what"), Column("value", "value", 4))
    table = Table("dynamics_others", "Whatever is free", columns, rows)
    return table, target("a step with nothing free, us", 2.0, nothing, is_time=True)


def peer(repeats: int, python: str) -> tuple[list[Table], str]:
    """MuJoCo on a smaller molecule, beside steps with ten joints free, and a note; no table without it."""
    motion = Motion(pulled(PEER_JOINTS, 1))
    tree = motion.tree
    names = ("parent", "position", "rotation", "mass", "com")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "molecule.npz"
        np.savez(path, **{name: getattr(tree, name) for name in names}, moments=tree.inertia)
        command = [python or sys.executable, str(_PEER), str(path), str(repeats)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
        except (OSError, subprocess.TimeoutExpired) as error:
            return [], f"mujoco: {error}"
    if done.returncode != 0:
        return [], f"mujoco: {(done.stderr.strip().splitlines() or ['it failed'])[-1]}"
    told = json.loads(done.stdout)
    _set_about(motion, 10)
    ours = median(
        1e6 * timed(lambda: motion.run.coast(100, 1e-6, "symplectic")) / 100 for _ in range(repeats)
    )
    system, still = _core.Recursive(motion.core), np.zeros((PEER_JOINTS, 3))
    system.set_state(0.0, *tree.poses(), still, still)
    linear = median(1e6 * timed(lambda: system.repeat("accelerate", 50)) / 50 for _ in range(repeats))
    rows: list[Row] = [
        {"what": f"MuJoCo {told['version']}, mj_forward", "us": median(told["times"])},
        {"what": "recursive, accelerations", "us": linear},
        {"what": f"a step with {len(motion.run.free)} joints free", "us": ours},
    ]
    columns = (Column("what", "what"), Column("us", "us"))
    title = f"Molecule with {PEER_JOINTS} hinges, beside MuJoCo"
    return [
        Table("dynamics_peer", title, columns, rows)
    ], "MuJoCo refuses trees deeper than about 1,000 bodies."


def accelerations(tree: HingeTree, poses: tuple[Array, Array], rates: Array) -> tuple[Array, Array]:
    """Of bodies at rest, linear at the frames and angular (n, 3), from those of hinges; world axes."""
    from bellcrank.mechanism.rotation_arrays import rotate

    position, rotation = poses
    axis = np.asarray(rotate(rotation, np.tile([0.0, 0.0, 1.0], (len(rates), 1))))
    linear, angular = np.zeros_like(axis), axis * rates[:, None]
    for k, parent in enumerate(tree.parent.tolist()):
        if parent >= 0:
            arm, turn = position[k] - position[parent], angular[parent]
            linear[k] = linear[parent] + np.cross(turn, arm)
            angular[k] += turn
    return linear, angular


def norm(tree: HingeTree, poses: tuple[Array, Array], linear: Array, angular: Array) -> float:
    """The root of the mean over the mass of squared accelerations, m/s^2; atoms are balls."""
    from bellcrank.mechanism.rotation_arrays import rotate

    at = linear + np.cross(angular, np.asarray(rotate(poses[1], tree.com)))
    square = tree.mass @ np.sum(at * at, axis=1) + tree.inertia[:, 0] @ np.sum(angular * angular, axis=1)
    return float(np.sqrt(square / tree.mass.sum()))


def truncation(joints: int, forces: int = 10) -> Table:
    """Errors of accelerations with some joints, of all: the others locked, or given no acceleration."""
    motion = Motion(pulled(joints, forces))
    poses, run = motion.tree.poses(), motion.run
    motion.start(0.0, joints=0)

    def rates(free: int) -> Array:
        run.limit(0.0, True, LOSS, True, free)
        run.evaluate()
        run.decide()
        found = np.zeros(joints)
        found[run.blocks] = run.accelerations()  # blocks are numbered as bodies are
        return found

    def error(given: Array) -> float:
        change = [a - b for a, b in zip(accelerations(motion.tree, poses, given), exact, strict=True)]
        return norm(motion.tree, poses, *change) / norm(motion.tree, poses, *exact)

    counts = [n for n in (1, 3, 10, 30, 100, 200, 300, 500, 1000, 1500) if n < joints]
    held = {number: (rates(number), run.error) for number in counts}
    every = rates(joints)
    exact = accelerations(motion.tree, poses, every)
    order = np.argsort(-np.abs(every))
    rows: list[Row] = []
    for number in counts:
        cut = np.where(np.isin(np.arange(joints), order[:number]), every, 0.0)
        told = held[number]
        rows.append({"free": number, "locked": error(told[0]), "told": told[1], "truncated": error(cut)})
    columns = (Column("free", "joints", 5), Column("locked", "others locked"), Column("told", "as told"),
               Column("truncated", "others without acceleration"))  # fmt: skip
    title = f"Errors of accelerations, of all: molecule with {joints} hinges, {forces} forces, at rest"
    return Table("dynamics_error", title, columns, rows)


def distances(joints: int, duration: float = 1.0, step: float = 5e-3) -> Table:
    """Distances of poses from the exact run at the end, by the limit of the error."""
    motion = Motion(pulled(joints, 10, size=2.0))
    steps = round(duration / step)
    motion.start(0.0, loss=0.0)
    before = motion.centres()
    motion.run.advance(steps, step)
    exact, power = motion.centres(), 0.1 * motion.run.kinetic_energy / duration

    def away(one: Array, two: Array) -> float:
        return float(np.sqrt(np.mean(np.sum((one - two) ** 2, axis=1))))

    rows: list[Row] = []
    for exponent in range(1, 9):
        limit, free = 2.0**-exponent, []
        motion.start(limit, loss=power * limit**2, relative_loss=False)
        for _ in range(20):
            motion.run.advance(steps // 20, step)
            free.append(len(motion.run.free))
        off = away(motion.centres(), exact)
        rows.append(
            {"limit": limit, "off": off, "part": off / away(exact, before), "free": float(np.mean(free))}
        )
    columns = (Column("limit", "limit of the error"), Column("off", "m from the exact run"),
               Column("part", "of its way"), Column("free", "free joints, mean", 4))  # fmt: skip
    title = f"Distances from the exact run: molecule with {joints} hinges after {duration:g} s, RK4"
    return Table("dynamics_distance", title, columns, rows)


def ledger(joints: int, duration: float = 10.0, step: float = 5e-3) -> Table:
    """Energies of a run, what locks lost of them, and what the integrator did."""
    motion = Motion(pulled(joints, 10, size=3.0))
    motion.start(0.3, loss=0.3, relative_loss=False)
    begin = motion.potential()
    rows: list[Row] = []
    for _ in range(FRAMES + 1):
        run = motion.run
        kinetic, potential = run.kinetic_energy, motion.potential() - begin
        off = kinetic + potential + run.lost_energy
        rows.append({"t": run.time, "kinetic": kinetic, "potential": potential, "lost": run.lost_energy,
                     "unexplained": off, "free": len(run.free), "error": run.error})  # fmt: skip
        run.advance(round(duration / step) // FRAMES, step)
    columns = (Column("t", "t, s"), Column("kinetic", "kinetic, J"), Column("potential", "potential"),
               Column("lost", "lost by locks"), Column("unexplained", "unexplained"),
               Column("free", "free", 5))  # fmt: skip
    title = f"Energy: molecule with {joints} hinges, RK4"
    return Table("dynamics_energy", title, columns, rows)


def dynamics(joints: int, repeats: int, python: str) -> tuple[list[Table], list[Row], list[str]]:
    """All tables of adaptive dynamics, targets and notes."""
    tables, targets = costs(joints, [n for n in FREE if 15 * n <= joints], repeats)
    small = min(2000, joints)
    more, note = peer(repeats, python)
    return [*tables, *more, truncation(small), distances(small), ledger(small)], targets, [note]
