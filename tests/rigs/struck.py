"""Random mechanisms whose one-sided rows touch when they are struck, and the velocities after that.

The velocities come from the equations alone: twists of the bodies in world axes, rows from relative twists at
points, and every set of rows that may push is tried (`after_impact`).
"""

from dataclasses import dataclass, field
from itertools import combinations, count, pairwise

import numpy as np
from rigs.machine import quaternion
from scipy.spatial.transform import Rotation

import bellcrank as bc

MOST_ROWS = 5
RANK, DOUBT = 1e-9, 3e-3  # of the largest singular value: less is nothing, and what lies between is no test
KINDS = {  # free coordinates: (whether it turns, axis)
    "Revolute": {"theta_z": (True, 2)},
    "Prismatic": {"z": (False, 2)},
    "Cylindrical": {"z": (False, 2), "theta_z": (True, 2)},
    "Spherical": {},
    "Free": {"x": (False, 0), "y": (False, 1), "z": (False, 2)},
}
LOCKED = {
    "Revolute": [(False, 0), (False, 1), (False, 2), (True, 0), (True, 1)],
    "Prismatic": [(False, 0), (False, 1), (True, 0), (True, 1), (True, 2)],
    "Cylindrical": [(False, 0), (False, 1), (True, 0), (True, 1)],
    "Spherical": [(False, 0), (False, 1), (False, 2)],
    "Free": [],
}


def after_impact(gram, before, restitution, tolerance=1e-11):
    """Speeds of one-sided rows after an impact, and their impulses; None if no set that pushes satisfies all.

    gram: (n, n) speeds that unit impulses make. before: (n,) speeds before. A row that approaches is left at
    `restitution` of its speed at least, every other one at no negative speed; it pushes only if at no more.
    """
    wanted = np.where(before < 0.0, -restitution * before, 0.0)
    size = max(np.abs(before).max(), np.abs(wanted).max(), 1e-300)
    moves = np.diag(gram) > RANK**2 * np.diag(gram).max()  # what nothing moves has no impulse
    scale = np.sqrt(np.where(moves, np.diag(gram), 1.0))
    found = None
    for size_of_set in range(len(before) + 1):
        for pushing in map(list, combinations(np.flatnonzero(moves), size_of_set)):
            impulses = np.zeros(len(before))
            if pushing:
                block = gram[np.ix_(pushing, pushing)] / np.outer(scale[pushing], scale[pushing])
                impulses[pushing] = (
                    np.linalg.lstsq(block, (wanted - before)[pushing] / scale[pushing], rcond=RANK)[0]
                    / scale[pushing]
                )
            after = before + gram @ impulses
            missed = max(
                np.max(wanted - after, initial=0.0),
                np.max(np.abs((after - wanted)[pushing]), initial=0.0),
                np.max(-impulses * np.diag(gram), initial=0.0),
            )
            if missed <= tolerance * size and (found is None or missed < found[0]):
                found = missed, after, impulses
    return None if found is None else found[1:]


@dataclass
class Body:
    """A body as placed: R its axes, J its inertia in world axes, centre its com in the world."""

    mass: float
    inertia: np.ndarray
    com: np.ndarray
    position: np.ndarray
    R: np.ndarray

    @property
    def centre(self):
        return self.position + self.R @ self.com


@dataclass
class Link:
    """A joint at a point of the world, with the axes of both markers there; -1 is the ground."""

    kind: str
    bodies: tuple[int, int]
    point: np.ndarray
    axes: np.ndarray


@dataclass
class OneSided:
    """A stop of a link's coordinate, or a cable through points (body, point in the world)."""

    restitution: float
    link: int = -1
    coordinate: str = ""
    sign: float = 1.0
    cable: tuple = ()
    gap: float = 0.0
    rests: bool = False


@dataclass
class Struck:
    """A mechanism under construction; then twists of bodies before and after, (6n,), impulses of rows."""

    bodies: list = field(default_factory=list)
    links: list = field(default_factory=list)
    drives: list = field(default_factory=list)  # (link, coordinate, speed)
    couplings: list = field(default_factory=list)  # ((link, coordinate, coefficient), ...)
    one_sided: list = field(default_factory=list)
    gravity: np.ndarray = None
    before: np.ndarray = None
    after: np.ndarray = None

    def row(self, bodies, turns, axis, point):
        """The rate of the second body's motion against the first along, or about, an axis."""
        row = np.zeros(6 * len(self.bodies))
        for body, sign in zip(bodies, (-1.0, 1.0), strict=True):
            if body < 0:
                continue
            if turns:
                row[6 * body + 3 : 6 * body + 6] += sign * axis
            else:
                row[6 * body : 6 * body + 3] += sign * axis
                row[6 * body + 3 : 6 * body + 6] += sign * np.cross(point - self.bodies[body].centre, axis)
        return row

    def coordinate(self, link, name):
        link = self.links[link]
        turns, axis = KINDS[link.kind][name]
        return self.row(link.bodies, turns, link.axes[:, axis], link.point)

    def equations(self):
        """Rows of joints, couplings and drives, and their rates."""
        rows, rates = [], []
        for link in self.links:
            rows += [
                self.row(link.bodies, turns, link.axes[:, k], link.point) for turns, k in LOCKED[link.kind]
            ]
        for terms in self.couplings:
            rows.append(sum(c * self.coordinate(link, name) for link, name, c in terms))
        rates = [0.0] * len(rows)
        for link, name, speed in self.drives:
            rows.append(self.coordinate(link, name))
            rates.append(speed)
        return np.reshape(rows, (-1, 6 * len(self.bodies))), np.array(rates)

    def one_sided_row(self, one):
        if not one.cable:
            return one.sign * self.coordinate(one.link, one.coordinate)
        row = np.zeros(6 * len(self.bodies))
        for (a, p), (b, q) in pairwise(one.cable):
            along = (q - p) / np.linalg.norm(q - p)
            for body, point, sign in ((a, p, 1.0), (b, q, -1.0)):
                if body >= 0:
                    row += self.row((-1, body), False, sign * along, point)
        return row

    def root_of_mass(self):
        n = len(self.bodies)
        root = np.zeros((6 * n, 6 * n))
        for i, body in enumerate(self.bodies):
            root[6 * i : 6 * i + 3, 6 * i : 6 * i + 3] = np.sqrt(body.mass) * np.eye(3)
            values, vectors = np.linalg.eigh(body.R @ body.inertia @ body.R.T)
            root[6 * i + 3 : 6 * i + 6, 6 * i + 3 : 6 * i + 6] = vectors * np.sqrt(values) @ vectors.T
        return root


def _spread(matrix):
    """The rank of a matrix, and whether that is beyond doubt; its null space (n, d)."""
    if matrix.shape[0] == 0:
        return 0, True, np.eye(matrix.shape[1])
    _, s, vt = np.linalg.svd(matrix)
    rank = int(np.sum(s > RANK * s[0])) if s[0] > 0.0 else 0
    return rank, rank == 0 or s[rank - 1] > DOUBT * s[0], vt[rank:].T


def _place(struck, rng):
    def rotation():
        return Rotation.from_quat(rng.normal(size=4)).as_matrix()

    number = int(rng.integers(1, 6))
    for _ in range(number):
        cloud = rng.normal(size=(6, 3)) * rng.uniform(0.1, 0.5, 3)
        mass = float(10.0 ** rng.uniform(-0.5, 0.5))
        second = mass * cloud.T @ cloud / len(cloud)
        struck.bodies.append(
            Body(
                mass,
                np.trace(second) * np.eye(3) - second,
                rng.uniform(-0.2, 0.2, 3),
                rng.uniform(-0.6, 0.6, 3),
                rotation(),
            )
        )
    kinds = ["Revolute", "Prismatic", "Cylindrical", "Spherical"]
    for body in range(number):
        if rng.random() < 0.9:
            kind = str(rng.choice(kinds, p=[0.4, 0.3, 0.15, 0.15]))
            struck.links.append(
                Link(kind, (int(rng.integers(-1, body)), body), rng.uniform(-0.6, 0.6, 3), rotation())
            )
    for _ in range(int(rng.choice([0, 1, 2], p=[0.55, 0.35, 0.1]))):
        if number > 1:
            a, b = sorted(rng.choice(np.arange(-1, number), 2, replace=False))
            kind = str(rng.choice(["Spherical", "Cylindrical"], p=[0.6, 0.4]))
            struck.links.append(Link(kind, (int(a), int(b)), rng.uniform(-0.6, 0.6, 3), rotation()))
    if struck.links and rng.random() < 0.15:  # a joint that is there twice
        struck.links.append(struck.links[int(rng.integers(len(struck.links)))])


def _tie(struck, rng):
    free = [
        (i, name) for i, link in enumerate(struck.links) for name in KINDS[link.kind] if link.kind != "Free"
    ]
    rng.shuffle(free)
    if free and rng.random() < 0.25:
        link, name = free.pop()
        struck.drives.append((int(link), str(name), float(rng.normal(0.0, 1.0))))
    if len(free) > 1 and rng.random() < 0.25:
        tie = tuple(
            (int(link), str(name), float(rng.uniform(0.3, 2.0) * rng.choice([-1, 1])))
            for link, name in free[:2]
        )
        (first, name, _), (second, other, _) = tie
        same = struck.links[first].bodies == struck.links[second].bodies and name == other
        if not same:  # joints of one kind at one place share their coordinate
            struck.couplings.append(tie)


def _touch(struck, rng):
    bodies = np.arange(-1, len(struck.bodies))
    places = [(i, name) for i, link in enumerate(struck.links) for name in KINDS[link.kind]]
    many = int(rng.integers(1, MOST_ROWS + 1)) + int(rng.random() < 0.3)
    for number in range(many):
        restitution = float(rng.choice([0.0, rng.uniform(0.0, 1.0), 1.0], p=[0.3, 0.6, 0.1]))
        gap = float(rng.uniform(0.1, 0.5)) if number >= MOST_ROWS else 0.0
        what = rng.random()
        if what < 0.4 and places:
            link, name = places[int(rng.integers(len(places)))]
            struck.one_sided.append(OneSided(restitution, link, name, float(rng.choice([-1, 1])), gap=gap))
        elif what < 0.5 and struck.one_sided and not gap:  # the same again, with another restitution
            last = struck.one_sided[int(rng.integers(len(struck.one_sided)))]
            if last.cable:
                struck.one_sided.append(OneSided(0.0, cable=last.cable))
            else:
                old = struck.links[last.link]
                struck.links.append(Link("Free", old.bodies, old.point, old.axes))
                if KINDS[old.kind][last.coordinate][0]:
                    continue
                struck.one_sided.append(
                    OneSided(restitution, len(struck.links) - 1, last.coordinate, last.sign)
                )
        elif what < 0.75:
            points = int(rng.integers(2, 4))
            chosen = rng.choice(bodies, min(points, len(bodies)), replace=False)
            struck.one_sided.append(
                OneSided(0.0, cable=tuple((int(b), rng.uniform(-1.0, 1.0, 3)) for b in chosen), gap=gap)
            )
        else:
            a, b = sorted(rng.choice(bodies, 2, replace=False))
            axes = Rotation.from_quat(rng.normal(size=4)).as_matrix()
            struck.links.append(Link("Free", (int(a), int(b)), rng.uniform(-0.6, 0.6, 3), axes))
            struck.one_sided.append(OneSided(restitution, len(struck.links) - 1, "z", 1.0, gap=gap))
    for one in struck.one_sided:
        one.rests = one.gap == 0.0 and rng.random() < 0.4
    for link, name in {(o.link, o.coordinate) for o in struck.one_sided if not o.cable}:
        same = [o for o in struck.one_sided if (o.link, o.coordinate) == (link, name)]
        for other in same[1:]:  # one limit each
            struck.one_sided.remove(other)


def struck_mechanism(seed):
    """The first mechanism of a seed that is a test."""
    return next(filter(None, (_struck(np.random.default_rng([seed, k])) for k in count())))


def _struck(rng):
    """A mechanism, struck; None where it is no test of anything: nothing moves, or a rank is in doubt."""
    struck = Struck(gravity=rng.normal(0.0, 4.0, 3))
    _place(struck, rng)
    _tie(struck, rng)
    _touch(struck, rng)
    touching = [o for o in struck.one_sided if o.gap == 0.0]
    if not touching:
        return None
    inverse = np.linalg.inv(struck.root_of_mass())
    rows, rates = struck.equations()
    rows = rows @ inverse
    _, sure, free = _spread(rows)
    if not sure or free.shape[1] == 0:
        return None
    one_sided = np.array([struck.one_sided_row(o) for o in touching]) @ inverse
    across = one_sided @ free
    if not _spread(across)[1] or np.any(
        np.linalg.norm(across, axis=1) < DOUBT * np.linalg.norm(one_sided, axis=1)
    ):
        return None
    still = np.vstack([rows, one_sided[[o.rests for o in touching]]])
    if not _spread(still)[1]:
        return None
    wanted = np.concatenate([rates, np.zeros(len(still) - len(rows))])
    before = rng.normal(0.0, 1.0, rows.shape[1])
    before += np.linalg.pinv(still, rcond=RANK) @ (wanted - still @ before)
    if np.max(np.abs(still @ before - wanted), initial=0.0) > 1e-12:
        return None
    speeds = one_sided @ before
    speeds[np.abs(speeds) < 1e-13] = 0.0
    if np.any((np.abs(speeds) < 5e-3) & (speeds != 0.0)) or not np.any(speeds < 0.0):
        return None
    found = after_impact(across @ across.T, speeds, np.array([o.restitution for o in touching]))
    if found is None:
        return None
    struck.before = inverse @ before
    struck.after = inverse @ (before + free @ (across.T @ found[1]))
    struck.impulses = found[1]
    struck.speeds = speeds
    return struck


def described(struck, gravity=True):
    """The same as a mechanism."""
    mech = bc.Mechanism("struck", gravity=tuple(struck.gravity) if gravity else (0.0, 0.0, 0.0))
    for i, body in enumerate(struck.bodies):
        v, w = struck.before[6 * i : 6 * i + 3], struck.before[6 * i + 3 : 6 * i + 6]
        mech.add_body(
            f"body {i}",
            mass=body.mass,
            inertia=body.inertia,
            com=tuple(body.com),
            position=tuple(body.position),
            rotation=quaternion(Rotation.from_matrix(body.R)),
            velocity=tuple(v - np.cross(w, body.R @ body.com)),
            angular_velocity=tuple(w),
        )

    def marker(body, point, axes=None):
        axes = np.eye(3) if axes is None else axes
        if body < 0:
            return mech.ground.marker(tuple(point), rotation=quaternion(Rotation.from_matrix(axes)))
        b = struck.bodies[body]
        turn = Rotation.from_matrix(b.R.T @ axes)
        return mech.bodies[f"body {body}"].marker(
            tuple(b.R.T @ (point - b.position)), rotation=quaternion(turn)
        )

    for i, link in enumerate(struck.links):
        limits = {
            o.coordinate: bc.Limit(
                **{"lower" if o.sign > 0.0 else "upper": -o.sign * o.gap}, restitution=o.restitution
            )
            for o in struck.one_sided
            if o.link == i
        }
        ends = [marker(body, link.point, link.axes) for body in link.bodies]
        mech.add_joint(f"link {i}", getattr(bc, link.kind)(), *ends, limits=limits)
    for i, (link, name, speed) in enumerate(struck.drives):
        mech.add_drive(f"drive {i}", f"link {link}", name, position=bc.Polynomial((0.0, speed)))
    for i, terms in enumerate(struck.couplings):
        ends = [mech.joints[f"link {link}"].coordinate(name) for link, name, _ in terms]
        mech.add_constraint(f"tie {i}", bc.Coupling(coefficients=tuple(c for *_, c in terms)), *ends)
    for i, one in enumerate(struck.one_sided):
        if one.cable:
            points = [p for _, p in one.cable]
            length = sum(np.linalg.norm(q - p) for p, q in pairwise(points)) + one.gap
            markers = [marker(body, point) for body, point in one.cable]
            mech.add_constraint(f"cable {i}", bc.Cable(length=length, slack=True), *markers)
    return mech


def twists(struck, state):
    """Twists of the bodies at their centres of mass, as `struck.before` has them."""
    out = np.zeros(6 * len(struck.bodies))
    for i, body in enumerate(struck.bodies):
        w = state.angular_velocity[i]
        out[6 * i : 6 * i + 3] = state.velocity[i] + np.cross(w, body.R @ body.com)
        out[6 * i + 3 : 6 * i + 6] = w
    return out


SHORT = 1e-13  # s: a run in which nothing but the impact at its start happens
RUNS = {  # formulation: methods
    "lagrange": ("adams", "moreau"),
    "recursive": ("dopri5", "moreau"),
    "symbolic": ("bdf",),
    "dca": ("rk4",),
}


def wrong_impacts(seed, tolerance=1e-10):
    """Where formulations, methods and `System.strike` differ from a seed's velocities; "" if nowhere."""
    struck = struck_mechanism(seed)
    mech, size, wrong = described(struck), max(1.0, np.abs(struck.after).max()), []

    def compare(name, state):
        error = np.abs(twists(struck, state) - struck.after).max() / size
        if not error <= tolerance:
            wrong.append(f"{name} is off by {error:.1e}")

    for formulation, methods in RUNS.items():
        for method in methods:
            settings = {"step": SHORT} if method in ("rk4", "moreau") else {}
            run = bc.simulate(mech, SHORT, formulation=formulation, method=method, **settings)
            compare(f"{formulation}, {method}", run.at(SHORT))
    for formulation in ("lagrange", "recursive"):
        compare(f"{formulation}, strike", bc.prepare(mech, formulation).strike([]).state)
    return "; ".join(wrong)


SOON, BEFORE = 1e-3, 1e-10  # s: until the first stop is met; before that
LATER = {"lagrange": "adams", "recursive": "dopri5", "symbolic": "bdf", "dca": "adams"}


def wrong_meetings(seed, tolerance=1e-7):
    """Where the impact at the end of a short flight differs from `System.strike`; "" if nowhere.

    Rows that rest may carry load by then; those that are approached are met one after another.
    """
    struck, wrong = struck_mechanism(seed), []
    touching = [one for one in struck.one_sided if one.gap == 0.0]
    hit = [i for i in range(len(touching)) if struck.speeds[i] < 0.0]
    for k, i in enumerate(hit):
        touching[i].gap = -struck.speeds[i] * (SOON if k == 0 else 2.0 * SOON)
    for formulation, method in LATER.items():
        how = {"formulation": formulation, "method": method, "tolerance": 1e-12}
        try:
            run = bc.simulate(described(struck), 1.5 * SOON, **how)
        except bc.SimulationError as error:  # later, at a singular pose
            run = error.trajectory
        if not run.events or (
            len(run.events) > 1 and run.events[1].time - run.events[0].time < 10.0 * BEFORE
        ):
            continue
        met, time = run.events[0].state, run.events[0].time - BEFORE
        before = bc.simulate(described(struck), time, **how).at(time)
        after = bc.prepare(described(struck), "lagrange").strike([], before).state
        error = np.abs(twists(struck, met) - twists(struck, after)).max()
        if not error <= tolerance * max(1.0, np.abs(twists(struck, after)).max()):
            wrong.append(f"{formulation}, {method} is off by {error:.1e} at {run.events[0]}")
    return "; ".join(wrong)
