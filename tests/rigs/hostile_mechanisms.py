"""Random mechanisms that are hard on digits, and the truth about them from dense algebra in long doubles.

Trees with up to a dozen loops, all kinds of joints, centres of mass off the origin, masses and inertias
over twelve decades. Rank is that of the rows against velocities of bodies, angular ones times a metre:
masses do not count.
"""

import numpy as np
from rigs import exact
from rigs.machine import Machine, matrix, quaternion
from scipy.spatial.transform import Rotation

import bellcrank as bc
from bellcrank.mechanism import JointKind, joint_kinds

KINDS = tuple(  # those that do no more than lock components of the pose
    kind
    for kind in vars(joint_kinds).values()
    if isinstance(kind, type) and issubclass(kind, JointKind) and kind.rows is JointKind.rows
    if {*getattr(kind, "locked", ())} <= {*"xyz", "e1", "e2", "e3"} and getattr(kind, "locked", None)
)
PLAIN = (bc.Revolute, bc.Revolute, bc.Spherical, bc.Prismatic, bc.Cylindrical, bc.Universal)
PROFILES = ("alike", "thin", "masses", "inertias", "points", "light")
_ROTATIONS = {"rot_x": 0, "rot_y": 1, "rot_z": 2, "theta_x": 0, "theta_z": 2}
GAP = 1e6  # of singular values: beyond it the rank is clear
_LEAST = 1e-10  # singular value of rows of length one; what is smaller is rounding
_AXES = {"x": 0, "y": 1, "z": 2}


def _moments(rng, profile):
    """Mass and second moments of mass about the principal axes, of a body of about a metre."""
    mass = rng.uniform(0.5, 2.0)
    size = rng.uniform(0.1, 0.5, 3) ** 2
    if profile == "thin":
        size[rng.integers(3)] *= 10.0 ** rng.uniform(-7.0, 0.0)
    elif profile == "masses":
        mass = 10.0 ** rng.uniform(-6.0, 6.0)
    elif profile == "inertias":
        mass = 10.0 ** rng.uniform(-3.0, 3.0)
        size = 10.0 ** rng.uniform(-12.0, 0.0, 3)
    elif profile == "points" and rng.random() < 0.5:
        size = np.full(3, 10.0 ** rng.uniform(-13.0, -8.0))
    elif profile == "light" and rng.random() < 0.5:
        mass = 10.0 ** rng.uniform(-12.0, -6.0)
    return mass, mass * size


def _body(mech, name, rng, profile, position):
    mass, second = _moments(rng, profile)
    turn = Rotation.random(random_state=rng).as_matrix()
    inertia = turn @ np.diag(second.sum() - second) @ turn.T
    return mech.add_body(
        name,
        mass=mass,
        inertia=0.5 * (inertia + inertia.T),
        com=tuple(rng.uniform(-0.2, 0.2, 3)),
        position=tuple(position),
        rotation=quaternion(Rotation.random(random_state=rng)),
    )


def _pose_between(kind, rng):
    """Position and rotation of marker 2 seen from marker 1 that the joint admits."""
    if kind is bc.Universal:
        a, b = rng.uniform(-1.0, 1.0, 2)
        return np.zeros(3), Rotation.from_euler("x", a) * Rotation.from_euler("y", b)
    offset, turn = np.zeros(3), np.zeros(3)
    for name in kind.free:
        if name in _AXES:
            offset[_AXES[name]] = rng.uniform(-0.4, 0.4)
        else:
            turn[_ROTATIONS[name]] = rng.uniform(-1.0, 1.0)
    return offset, Rotation.from_rotvec(turn)


def _join(mech, name, kind, one, two, point, axes, rng):
    offset, turn = _pose_between(kind, rng)
    other = axes * turn
    first = one.world_marker(tuple(point), rotation=quaternion(axes))
    second = two.world_marker(tuple(point + axes.apply(offset)), rotation=quaternion(other))
    mech.add_joint(name, kind(), first, second)


def _turning(rng, style):
    """How the axes of the mechanism's joints are turned: anyhow, or about parallel axes."""
    if style == "parallel":
        common = Rotation.random(random_state=rng)
        return lambda: common * Rotation.from_euler("z", rng.uniform(-3.0, 3.0))
    return lambda: Rotation.random(random_state=rng)


def random_mechanism(seed, profile=None):
    """A mechanism of 2 to 40 bodies with up to twelve loops, its profile and style, all from the seed.

    profile: of PROFILES; None for any.
    """
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 9) if rng.random() < 0.7 else rng.integers(9, 41))
    closing = int(rng.integers(0, min(12, count) + 1))
    drawn, style = str(rng.choice(PROFILES)), str(rng.choice(["any", "any", "parallel"]))
    profile = profile or drawn
    kinds = (
        [bc.Revolute] if style == "parallel" else list(rng.choice([PLAIN, KINDS][int(rng.integers(2))], 12))
    )
    axes = _turning(rng, style)
    mech = bc.Mechanism(f"hostile {seed}", gravity=tuple(rng.uniform(-9.0, 9.0, 3)))
    carriers, points = [mech.ground], [np.zeros(3)]
    plane = axes() if style == "parallel" else None
    for i in range(count):
        parent = int(rng.integers(max(0, i - 3), i + 1))
        step = rng.uniform(-1.0, 1.0, 3)
        place = points[parent] + (plane.apply(step * (1, 1, 0)) if plane else step)
        carriers.append(_body(mech, f"b{i}", rng, profile, place))
        points.append(place)
        kind = kinds[int(rng.integers(len(kinds)))]
        where = 0.5 * (points[parent] + place)
        _join(mech, f"j{i}", kind, carriers[parent], carriers[-1], where, axes(), rng)
    for i in range(closing):
        one, two = sorted(rng.choice(len(carriers), 2, replace=False))
        kind = kinds[int(rng.integers(len(kinds)))]
        where = 0.5 * (points[one] + points[two]) + (0.0 if plane else rng.uniform(-0.3, 0.3, 3))
        _join(mech, f"loop {i}", kind, carriers[one], carriers[two], where, axes(), rng)
    return mech, profile, style


def _reflections(A):
    """QR of A by Householder's reflections with column pivoting: R, the reflections, the order of columns."""
    A = A.copy()
    m, n = A.shape
    order, vectors = np.arange(n), []
    for k in range(min(m, n)):
        p = k + int(np.argmax((A[k:, k:] ** 2).sum(axis=0)))
        A[:, [k, p]] = A[:, [p, k]]
        order[[k, p]] = order[[p, k]]
        v = A[k:, k].copy()
        size = np.sqrt((v**2).sum())
        if size == 0:
            break
        v[0] += np.copysign(size, v[0])
        v /= np.sqrt((v**2).sum())
        A[k:, k:] -= np.outer(2 * v, v @ A[k:, k:])
        vectors.append(v)
    return A, vectors, order


def _reflected(vectors, x, transposed):
    """Q x, or Qᵀ x."""
    x = x.copy()
    for k in range(len(vectors)) if transposed else reversed(range(len(vectors))):
        v = vectors[k]
        x[k:] -= np.multiply.outer(2 * v, v @ x[k:])
    return x


def _back(R, b):
    """x of R x = b."""
    x = np.zeros_like(b)
    for k in reversed(range(len(b))):
        x[k] = (b[k] - R[k, k + 1 : len(b)] @ x[k + 1 :]) / R[k, k]
    return x


def _forward(R, b):
    """x of Rᵀ x = b."""
    x = np.zeros_like(b)
    for k in range(len(b)):
        x[k] = (b[k] - R[:k, k] @ x[:k]) / R[k, k]
    return x


def solve(J, bias, free, mass, rank):
    """Accelerations of M (a − free) = Jᵀ λ, J a = bias, where J (rows, n) has this rank, in long doubles.

    By a basis of the null space of J, and least squares on it with the masses as weights: rows of the largest
    weights first and columns pivoted, which keeps what is small beside what is large (A. Cox, N. Higham,
    Stability of Householder QR factorization for weighted least squares problems, 1998).
    """
    J, bias, free, mass = (np.asarray(x, dtype=np.longdouble) for x in (J, bias, free, mass))
    n = J.shape[1]
    scale = np.sqrt((J**2).sum(axis=1))
    scale[scale == 0] = 1
    R, vectors, order = _reflections((J / scale[:, None]).T)
    R, vectors = R[:rank, :rank], vectors[:rank]
    found = np.zeros(n, dtype=np.longdouble)
    found[:rank] = _forward(R, (bias / scale)[order[:rank]])
    found = _reflected(vectors, found, False)
    if n == rank:
        return found
    Z = _reflected(vectors, np.eye(n, dtype=np.longdouble)[:, rank:], False)
    weight = np.sqrt(mass)
    by_size = np.argsort(-np.abs(weight[:, None] * Z).max(axis=1))
    R, vectors, order = _reflections((weight[:, None] * Z)[by_size])
    right = _reflected(vectors, (weight * (free - found))[by_size], True)
    along = np.zeros(n - rank, dtype=np.longdouble)
    along[order] = _back(R[: n - rank, : n - rank], right[: n - rank])
    return found + Z @ along


def independent_rows(J, rank):
    """Rows of J that are clearly independent, as many as its rank."""
    return np.sort(_reflections(scaled_rows(J).T)[2][:rank])


def scaled_rows(J):
    """Rows of length one."""
    size = np.linalg.norm(J, axis=1, keepdims=True)
    return J / np.where(size > 0.0, size, 1.0)


class Hostile:
    """A random mechanism in motion on the core, with the truth about it.

    redundant: how many rows depend on others. gap: ratio of the singular values on either side of that.
    least: the smallest that is kept.
    """

    def __init__(self, seed, profile=None, **options):
        self.mechanism, self.profile, self.style = random_mechanism(seed, profile)
        self.machine = Machine(self.mechanism, **options)
        model = self.machine.model
        self.J = self.machine.system.rows()[3]
        _, sigma, vt = np.linalg.svd(scaled_rows(self.J))
        kept = sigma[sigma > _LEAST]
        self.rank, self.redundant = len(kept), len(self.J) - len(kept)
        self.least = float(kept.min(initial=1.0))
        self.gap = self.least / max(float(sigma[self.rank :].max(initial=0.0)), 1e-16)
        along = vt[self.rank :].T
        speeds = np.random.default_rng(seed + 10**6).uniform(-1.0, 1.0, along.shape[1])
        self.machine.set_twists((along @ speeds).reshape(-1, 6))
        self.J, self.bias = self.machine.system.rows()[3], self.machine.system.rows()[2]
        P = matrix(self.machine.core_model.principal_rotation)
        self.inertia = np.einsum("bji,bjk,bki->bi", P, model.inertia, P)
        self.mass = np.hstack([np.repeat(model.mass[:, None], 3, axis=1), self.inertia]).ravel()

    def accelerations(self):
        """Accelerations (nb, 6) as in the columns of `rows()`."""
        omega = self.machine.twists()[:, 3:]
        gyroscopic = -np.cross(omega, self.inertia * omega) / self.inertia
        free = np.hstack([np.broadcast_to(self.machine.model.gravity, omega.shape), gyroscopic]).ravel()
        return solve(self.J, self.bias, free, self.mass, self.rank).astype(float).reshape(-1, 6)

    def exact_accelerations(self):
        """The same in fifty digits, for light bodies, where long doubles run short: two answers.

        One is by rows chosen here, one by those that the core keeps, if they are independent. Rows that
        depend on others do so to sixteen digits only, so that either answer is right for a mechanism that
        differs from the given one by rounding; the lighter the bodies, the farther they may lie apart.
        """
        dropped = np.asarray(self.machine.system.dropped_rows(), dtype=int)
        kept = np.setdiff1d(np.arange(len(self.J)), dropped)
        bases = [independent_rows(self.J, self.rank)]
        if len(kept) == self.rank and np.linalg.svd(scaled_rows(self.J[kept]))[1].min() > 1e-3 * self.least:
            bases.append(kept)
        return [exact.accelerations(self.machine, rows)[0] for rows in bases]

    def size(self, accelerations):
        """What accelerations are measured by: the largest, or gravity where nothing moves."""
        return max(np.abs(accelerations).max(), np.linalg.norm(self.machine.model.gravity))

    def open_parts(self):
        """How much of each joint's moment and force (joints, 2) the equations of motion leave open.

        From an orthonormal basis of the multipliers that exert nothing: 0 where reactions are unique.
        """
        model, nb = self.machine.model, len(self.machine.model.bodies)
        left, _, _ = np.linalg.svd(scaled_rows(self.J))
        null = left[:, self.rank :] / np.linalg.norm(self.J, axis=1)[:, None]
        null /= np.linalg.norm(null, axis=0, keepdims=True) if null.size else 1.0
        _, position, rotation, _, _ = self.machine.system.state()
        R = matrix(rotation)
        principal = R @ matrix(self.machine.core_model.principal_rotation)
        first = model.arrays["block_row_start"]
        parts = []
        for joint in (j for j in model.joints if j.blocks):
            rows = np.concatenate([np.arange(first[b], first[b + 1]) for b in joint.blocks])
            body, marker = self._second(joint.name)
            if body == nb:
                raise ValueError("joints lead away from the ground")
            exerted = self.J[rows, 6 * body : 6 * body + 6].T @ null[rows]
            point = position[body] + R[body] @ np.array(marker.position)
            com = position[body] + R[body] @ model.com[body]
            moment = principal[body] @ exerted[3:] + np.cross(com - point, exerted[:3].T).T
            parts.append([np.linalg.norm(moment), np.linalg.norm(exerted[:3])])
        return np.array(parts).reshape(-1, 2)

    def _second(self, name):
        marker = self.mechanism.joints[name].marker_2
        return list(self.mechanism.bodies).index(marker.body), marker

    def faults(self):
        """What is wrong in the core's answer, in words: rank, accelerations beyond what is said, flags."""
        system, wrong = self.machine.system, []
        expected, (accelerations, _) = self.accelerations(), exact.found(self.machine)
        dropped = len(system.dropped_rows())
        if dropped != self.redundant:
            wrong.append(f"{dropped} rows redundant instead of {self.redundant}")
        off = np.abs(accelerations - expected).max() / self.size(expected)
        if not off < 1e-9:
            expected = self.exact_accelerations()
            off = min(np.abs(accelerations - answer).max() / self.size(answer) for answer in expected)
        said = system.statistics()["uncertainty"]
        if not off < max(1e-9, 100 * said):
            wrong.append(f"accelerations off by {off:.2g}, uncertainty {said:.2g}")
        parts, (_, unique) = self.open_parts(), system.reactions(self.machine.joints)
        for flagged, are in ((unique & (parts > 1e-5), "unique"), (~unique & (parts < 1e-9), "not unique")):
            if flagged.any():
                wrong.append(f"{flagged.sum()} reactions said to be {are}")
        return wrong
