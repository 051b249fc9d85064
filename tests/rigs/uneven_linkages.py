"""Random trees of bodies whose masses, or lengths too, differ by decades; accelerations at rest in decimals.

The oracle is the articulated-body recursion in the axes of the world, about its origin, with sixty digits. It
takes the poses, masses and loads as given and shares no code with the library.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, getcontext

import numpy as np

import bellcrank as bc
from bellcrank.mechanism.rotation import multiply, rotate

DIGITS = 60
PI = "3.14159265358979323846264338327950288419716939937510582097494"
KINDS = ("Revolute", "Prismatic", "Cylindrical", "Spherical", "Universal", "Planar", "Screw", "Fixed")
SHARES = (0.38, 0.12, 0.1, 0.12, 0.1, 0.06, 0.06, 0.06)
PITCH = 0.3
_NOTHING = 1e-40  # of an acceleration that is zero but for the digits of the oracle


@dataclass
class Branch:
    """A body with the joint that carries it; parent -1: the ground. kind "": it hangs on nothing."""

    parent: int
    kind: str
    mass: float
    com: np.ndarray
    inertia: np.ndarray
    first: tuple[np.ndarray, tuple]  # its marker on the parent
    second: tuple[np.ndarray, tuple]
    effort: float = 0.0  # along the joint's only coordinate
    pitch: float = PITCH  # of a screw


@dataclass
class Uneven:
    """A linkage, what it is made of, and what acts on it."""

    mechanism: bc.Mechanism
    branches: list[Branch]
    gravity: np.ndarray
    wrenches: list[tuple[int, np.ndarray, np.ndarray, np.ndarray]]  # body, point, force, moment: body axes
    decades: float


@dataclass
class Lengths:
    """How long the bodies of a linkage are, by the unit of its lengths; all 1: only masses differ."""

    of_body: np.ndarray
    is_even: bool = False  # the masses are
    is_hinged: bool = False  # all joints are hinges, and only gravity acts

    @classmethod
    def random(cls, seed: int, count: int) -> Lengths:
        """Over up to four decades, about a metre or in other units."""
        rng = np.random.default_rng([seed, 1])
        decades = float(rng.choice((0.6, 1.2, 2.4, 3.2, 4.0)))
        unit = 10.0 ** float(rng.choice((0.0, -2.0, rng.uniform(-6.0, 2.0))))
        of_body = unit * 10.0 ** (decades * rng.uniform(-0.5, 0.5, count))
        return cls(of_body, *(rng.random(2) < 0.5).tolist())


def uneven(seed: int, sizes: tuple[int, int] = (3, 200), *, lengths: bool = False) -> Uneven:
    """A random linkage. Its masses differ by up to ten decades, its inertias by as many.

    lengths: whether lengths differ as well, and inertias by their squares.
    """
    rng = np.random.default_rng(seed)
    count = int(np.exp(rng.uniform(np.log(sizes[0]), np.log(sizes[1] + 1))))
    decades, window = float(rng.choice((1.0, 4.0, 7.0, 10.0))), int(rng.choice((1, 3, count)))
    gravity = rng.normal(0.0, 5.0, 3) * (rng.random() < 0.8)
    long = Lengths.random(seed, count) if lengths else Lengths(np.ones(count))
    if long.is_even:
        decades = 0.6
    if long.is_hinged:
        gravity, window = np.array([0.0, 0.0, -9.81]), min(window, 3)
    mech = bc.Mechanism(f"uneven {seed}", gravity=tuple(gravity))
    poses, bodies, branches = [(np.zeros(3), (1.0, 0.0, 0.0, 0.0))], [mech.ground], []
    for number in range(count):
        parent = int(rng.integers(max(-1, number - 1 - window), number)) if number else -1
        kind = "" if parent < 0 and rng.random() < 0.2 else str(rng.choice(KINDS, p=SHARES))
        kind = "Revolute" if kind and long.is_hinged else kind
        mass = float(10.0 ** (decades * rng.uniform(-0.5, 0.5)))
        own = long.of_body[number]
        points = own * rng.normal(size=(3, 3)) * rng.uniform(0.05, 1.0, 3)
        inertia = (
            0.05 * mass * ((np.trace(points @ points.T) + 0.01 * own**2) * np.eye(3) - points @ points.T)
        )
        arm = long.of_body[parent] if parent >= 0 and number % 2 and not long.is_hinged else own
        first, second = ((size * rng.normal(0.0, 0.4, 3), _turn(rng)) for size in (arm, own))
        branch = Branch(parent, kind, mass, own * rng.normal(0.0, 0.3, 3), inertia, first, second)
        branch.pitch = PITCH * own
        if kind:
            at = _after(_after(_after(poses[parent + 1], first), _placed(kind, rng, own)), _inverse(second))
        else:
            at = (own * rng.normal(size=3), _turn(rng))
        poses.append(at)
        body = mech.add_body(
            f"b{number}",
            mass=mass,
            inertia=inertia,
            com=tuple(branch.com),
            position=tuple(at[0]),
            rotation=at[1],
        )
        bodies.append(body)
        if kind:
            joint = bc.Screw(pitch=branch.pitch) if kind == "Screw" else getattr(bc, kind)()
            ends = (bodies[parent + 1].marker(tuple(first[0]), rotation=first[1]),
                    body.marker(tuple(second[0]), rotation=second[1]))  # fmt: skip
            mech.add_joint(f"j{number}", joint, *ends)
        if kind in ("Revolute", "Prismatic") and rng.random() < 0.3 and not long.is_hinged:
            branch.effort = float(rng.normal() * mass) * (own if kind == "Revolute" else 1.0)
            mech.add_force(f"q{number}", bc.JointMotor(branch.effort), f"j{number}")
        branches.append(branch)
    wrenches = []
    for load in range(0 if long.is_hinged else int(rng.integers(0, 4))):
        body, point = int(rng.integers(count)), rng.normal(0.0, 0.3, 3)
        force, moment = (10.0 ** (decades * rng.uniform(-0.5, 0.5)) * rng.normal(size=3) for _ in range(2))
        point, moment = long.of_body[body] * point, long.of_body[body] * moment
        wrench = bc.Wrench(force=tuple(force), moment=tuple(moment), axes="marker")
        mech.add_force(f"w{load}", wrench, bodies[body + 1].marker(tuple(point)))
        wrenches.append((body, point, force, moment))
    return Uneven(mech, branches, gravity, wrenches, decades)


def _turn(rng):
    q = rng.normal(size=4)
    return tuple((q / np.linalg.norm(q)).tolist())


def _after(first, then):
    position = first[0] + np.array(rotate(first[1], tuple(then[0])))
    q = np.array(multiply(first[1], then[1]))
    return position, tuple((q / np.linalg.norm(q)).tolist())


def _inverse(at):
    conjugate = (at[1][0], -at[1][1], -at[1][2], -at[1][3])
    return -np.array(rotate(conjugate, tuple(at[0]))), conjugate


def _about(axis, angle):
    q = np.zeros(4)
    q[0], q[1 + axis] = np.cos(angle / 2.0), np.sin(angle / 2.0)
    return tuple(q.tolist())


def _placed(kind, rng, length):
    """Marker 2 in marker 1, at random coordinates."""
    angle, slides = rng.uniform(-1.0, 1.0), length * rng.uniform(-0.5, 0.5, 3)
    shifts = {"Prismatic": (0, 0, 1), "Cylindrical": (0, 0, 1), "Planar": (1, 1, 0)}
    shift = slides * np.array(shifts.get(kind, (0, 0, 0)), dtype=float)
    if kind == "Screw":
        shift = np.array([0.0, 0.0, length * PITCH / (2.0 * np.pi) * angle])
    if kind in ("Prismatic", "Fixed"):
        return shift, (1.0, 0.0, 0.0, 0.0)
    if kind == "Spherical":
        return shift, _turn(rng)
    if kind == "Universal":
        return shift, tuple(multiply(_about(0, angle), _about(1, rng.uniform(-1.0, 1.0))))
    return shift, _about(2, angle)


def joint_accelerations(linkage: Uneven, state: bc.State) -> dict[str, np.ndarray]:
    """Per joint, along its motions as `QuasistaticRun.accelerations` has them."""
    getcontext().prec = DIGITS
    frames = [(_numbers(p), _rotation(q)) for p, q in zip(state.position, state.rotation, strict=True)]
    ground = (_numbers(np.zeros(3)), _numbers(np.eye(3)))
    base = np.concatenate([_numbers(np.zeros(3)), -_numbers(linkage.gravity)])
    inertias = [_inertia(b, *frame) for b, frame in zip(linkage.branches, frames, strict=True)]
    loads = [_numbers(np.zeros(6)) for _ in frames]
    for body, point, force, moment in linkage.wrenches:
        at, R = frames[body]
        f, arm = R @ _numbers(force), at + R @ _numbers(point)
        loads[body] = loads[body] - np.concatenate([R @ _numbers(moment) + _cross(arm, f), f])
    axes, steps = [], []
    for number, branch in enumerate(linkage.branches):
        carrier = frames[branch.parent] if branch.parent >= 0 else ground
        axes.append(_subspace(branch, carrier, frames[number]))
    for number in reversed(range(len(frames))):
        branch, S, inertia, load = linkage.branches[number], axes[number], inertias[number], loads[number]
        U = inertia @ S
        effort = _numbers(np.full(S.shape[1], branch.effort)) - S.T @ load
        D = S.T @ U
        steps.append((U, D, effort))
        if branch.parent < 0:
            continue
        solved = _solved(D, np.column_stack([U.T, effort])) if S.shape[1] else np.zeros((0, 7), object)
        inertias[branch.parent] = inertias[branch.parent] + inertia - U @ solved[:, :6]
        loads[branch.parent] = loads[branch.parent] + load + U @ solved[:, 6]
    found, moving = {}, []
    for number, (branch, (U, D, effort)) in enumerate(zip(linkage.branches, reversed(steps), strict=True)):
        a = moving[branch.parent] if branch.parent >= 0 else base
        rates = _solved(D, (effort - U.T @ a)[:, None])[:, 0] if len(D) else np.zeros(0, object)
        moving.append(a + axes[number] @ rates)
        if branch.kind:
            found[f"j{number}"] = rates.astype(float)
    return found


def off(accelerations, exact) -> float:
    """The largest error of a joint's acceleration, those left out being zero, by the largest acceleration."""
    whole = max((np.linalg.norm(rates) for rates in exact.values()), default=0.0)
    worst = 0.0
    for name, rates in exact.items():
        found = accelerations.get(name)
        worst = max(worst, float(np.linalg.norm(rates - (0.0 if found is None else found))))
    return min(1.0, worst / whole) if worst > _NOTHING else 0.0


def broken_bound(seed: int, bounds: tuple[float, ...] = (1e-3, 1e-6, 1e-9), *, lengths: bool = False) -> str:
    """What is wrong with the accelerations of a random linkage; "" for nothing.

    By `QuasistaticRun.refine` at one bound after another, and by the formulation at the same state; then the
    run takes a few steps.
    """
    linkage = uneven(seed, lengths=lengths)
    run = bc.start(linkage.mechanism, mode="quasistatic", step=1e-3)
    state = run.model.initial
    exact = joint_accelerations(linkage, state)
    for bound in bounds:
        said = max(bound, run.refine(bound))
        true = off(run.accelerations, exact)
        if not true <= said * (1.0 + 1e-9):
            return f"bound {bound:g}: {true:.2e}, said to be at most {said:.2e}"
        if bound >= 1e-6 and said > 1e3 * bound and linkage.decades <= 4.0 and true < bound:
            return f"bound {bound:g}: said to be {said:.2e}, and is {true:.2e}"
    system = bc.prepare(run.model, "adaptive")
    found = system.accelerate()
    limit = max(1e-9, system.accuracy().accelerations)
    true = body_error(found, linkage, state, exact)
    if not true <= limit * (1.0 + 1e-9):
        return f"accelerate: {true:.2e}, said to be at most {limit:.2e}"
    run.advance(steps=3)
    return ""


def body_error(found, linkage: Uneven, state: bc.State, exact: dict[str, np.ndarray]) -> float:
    """The largest error of a joint's acceleration that the accelerations of its bodies make, as in `off`."""
    frames = [(_numbers(p), _rotation(q)) for p, q in zip(state.position, state.rotation, strict=True)]
    ground = (_numbers(np.zeros(3)), _numbers(np.eye(3)))
    whole = max((np.linalg.norm(rates) for rates in exact.values()), default=0.0)
    largest = max(np.abs(found.linear).max(), np.abs(found.angular).max(), whole)
    worst = 0.0
    for number, branch in enumerate(linkage.branches):
        if not branch.kind:
            continue
        carrier = frames[branch.parent] if branch.parent >= 0 else ground
        S = _subspace(branch, carrier, frames[number]).astype(float)
        relative = S @ exact[f"j{number}"]
        own = np.concatenate([found.angular[number], found.linear[number]])
        at = state.position[number]
        own[3:] -= np.cross(own[:3], at)
        if branch.parent >= 0:
            other = np.concatenate([found.angular[branch.parent], found.linear[branch.parent]])
            other[3:] -= np.cross(other[:3], state.position[branch.parent])
            own -= other
        size = 1.0 + np.linalg.norm(at)  # of the arm about the origin of the world
        worst = max(worst, float(np.abs(own - relative).max()) / size)
    return worst / largest if worst else 0.0


def _numbers(array):
    return np.vectorize(Decimal, otypes=[object])(np.asarray(array, dtype=float))


def _rotation(q):
    w, x, y, z = _numbers(q) / sum(c * c for c in _numbers(q)).sqrt()
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def _cross(a, b):
    return np.array([a[i] * b[j] - a[j] * b[i] for i, j in ((1, 2), (2, 0), (0, 1))])


def _skew(a):
    zero = Decimal(0)
    return np.array([[zero, -a[2], a[1]], [a[2], zero, -a[0]], [-a[1], a[0], zero]])


def _inertia(branch, at, R):
    """About the origin of the world, in its axes."""
    mass, com = Decimal(branch.mass), _skew(at + R @ _numbers(branch.com))
    about = R @ _numbers(branch.inertia) @ R.T + mass * com @ com.T
    return np.block([[about, mass * com], [mass * com.T, mass * _numbers(np.eye(3))]])


def _subspace(branch, carrier, own):
    """Columns of motions (omega; v of the point at the origin of the world), rotations first."""
    if not branch.kind:
        return _numbers(np.eye(6))
    at = own[0] + own[1] @ _numbers(branch.second[0])
    axes = own[1] @ _rotation(branch.second[1])
    turn = [(axes[:, i], at) for i in range(3)]
    if branch.kind == "Universal":
        turn = [((carrier[1] @ _rotation(branch.first[1]))[:, 0], at), turn[1]]
    turns = {"Spherical": turn, "Universal": turn, "Prismatic": [], "Fixed": []}.get(
        branch.kind, [turn[2 % len(turn)]]
    )
    slides = {"Prismatic": (2,), "Cylindrical": (2,), "Planar": (0, 1)}.get(branch.kind, ())
    zero = _numbers(np.zeros(3))
    columns = [np.concatenate([a, _cross(p, a)]) for a, p in turns]
    if branch.kind == "Screw":
        lead = Decimal(branch.pitch) / (2 * Decimal(PI))
        columns[0] = columns[0] + np.concatenate([zero, lead * axes[:, 2]])
    columns += [np.concatenate([zero, axes[:, i]]) for i in slides]
    return np.array(columns, dtype=object).reshape(-1, 6).T


def _solved(D, right):
    """Gaussian elimination with the largest pivot of each column."""
    D, right = D.copy(), right.copy()
    for k in range(len(D)):
        pivot = max(range(k, len(D)), key=lambda row, k=k: abs(D[row, k]))
        D[[k, pivot]], right[[k, pivot]] = D[[pivot, k]], right[[pivot, k]]
        for row in range(len(D)):
            if row != k:
                factor = D[row, k] / D[k, k]
                D[row] = D[row] - factor * D[k]
                right[row] = right[row] - factor * right[k]
    return right / np.diag(D)[:, None]
