"""Random mechanisms that are hard on digits, and what is true of them from dense algebra in long doubles.

Trees with up to a dozen loops, all kinds of joints, centres of mass off the origin, masses and inertias over twelve
decades. Rank is that of the rows against velocities of bodies, angular ones times a metre: masses do not count.
"""

from dataclasses import dataclass

import numpy as np
from rigs.machine import Machine, matrix, quaternion
from scipy.spatial.transform import Rotation

import bellcrank as bc
from bellcrank.mechanism import joint_kinds

KINDS = tuple(
    kind
    for kind in vars(joint_kinds).values()
    if isinstance(kind, type) and getattr(kind, "locked", None) and kind.__module__ == joint_kinds.__name__
)
PLAIN = (bc.Revolute, bc.Revolute, bc.Spherical, bc.Prismatic, bc.Cylindrical, bc.Universal)
PROFILES = ("alike", "thin", "masses", "inertias", "points", "light")
_ROTATIONS = {"rot_x": 0, "rot_y": 1, "rot_z": 2, "theta_x": 0, "theta_z": 2}
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
    ends = (first, second)
    mech.add_joint(name, kind(), *ends)


def _cluster_axes(rng, style):
    """How joints of a mechanism are turned: anyhow, about parallel axes, or nearly so."""
    if style == "parallel":
        common = Rotation.random(random_state=rng)
        return lambda: common * Rotation.from_euler("z", rng.uniform(-3.0, 3.0))
    return lambda: Rotation.random(random_state=rng)


def random_mechanism(seed, bodies=None, loops=None):
    """A mechanism of 2 to 40 bodies with up to twelve loops. The seed decides everything."""
    rng = np.random.default_rng(seed)
    count = bodies or int(rng.integers(2, 9) if rng.random() < 0.7 else rng.integers(9, 41))
    closing = loops if loops is not None else int(rng.integers(0, min(12, count) + 1))
    profile, style = str(rng.choice(PROFILES)), str(rng.choice(["any", "any", "parallel"]))
    kinds = [bc.Revolute] if style == "parallel" else list(rng.choice([PLAIN, KINDS][int(rng.integers(2))], 12))
    axes = _cluster_axes(rng, style)
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
        one, two = rng.choice(len(carriers), 2, replace=False)
        kind = kinds[int(rng.integers(len(kinds)))]
        where = 0.5 * (points[one] + points[two]) + (0.0 if plane else rng.uniform(-0.3, 0.3, 3))
        _join(mech, f"loop {i}", kind, carriers[one], carriers[two], where, axes(), rng)
    return mech, profile, style


@dataclass
class Truth:
    """What dense algebra finds: rank, its gap, accelerations (6 nb,), what the null space of Jᵀ moves by row."""

    redundant: int
    gap: float
    least: float
    accelerations: np.ndarray
    forces: np.ndarray


def _reflections(A, pivoting=True, stop=0.0):
    """QR of A (m, n) by Householder with column pivoting: R, vectors, order, rank."""
    A = A.copy()
    m, n = A.shape
    order, vectors = np.arange(n), []
    for k in range(min(m, n)):
        if pivoting:
            left = (A[k:, k:] ** 2).sum(axis=0)
            p = k + int(np.argmax(left))
            if left[p - k] <= stop**2:
                break
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
    return A, vectors, order, len(vectors)


def _apply(vectors, x, transposed):
    x = x.copy()
    for k in range(len(vectors)) if transposed else reversed(range(len(vectors))):
        v = vectors[k]
        x[k:] -= np.multiply.outer(2 * v, v @ x[k:])
    return x


def _back(R, b):
    x = np.zeros_like(b)
    for k in reversed(range(len(b))):
        x[k] = (b[k] - R[k, k + 1 : len(b)] @ x[k + 1 :]) / R[k, k]
    return x


def _forward(R, b):
    """Rᵀ x = b."""
    x = np.zeros_like(b)
    for k in range(len(b)):
        x[k] = (b[k] - R[:k, k] @ x[:k]) / R[k, k]
    return x


def solve(J, Qc, inverse_free, mass, rank):
    """M a = f + Jᵀ λ, J a = Qc with `rank` rows: a and M a − f."""
    J, Qc, free, mass = (np.asarray(x, dtype=np.longdouble) for x in (J, Qc, inverse_free, mass))
    n = J.shape[1]
    scale = np.sqrt((J**2).sum(axis=1))
    scale[scale == 0] = 1
    R, vectors, order, _ = _reflections((J / scale[:, None]).T)
    R, vectors = R[:rank, :rank], vectors[:rank]
    particular = np.zeros(n, dtype=np.longdouble)
    particular[:rank] = _forward(R, (Qc / scale)[order[:rank]])
    particular = _apply(vectors, particular, False)
    Z = _apply(vectors, np.eye(n, dtype=np.longdouble)[:, rank:], False)
    if n > rank:
        weight = np.sqrt(mass)
        by_size = np.argsort(-np.abs(weight[:, None] * Z).max(axis=1))
        A = (weight[:, None] * Z)[by_size]
        b = (weight * (free - particular))[by_size]
        Rz, vz, oz, _ = _reflections(A)
        y = np.zeros(n - rank, dtype=np.longdouble)
        y[oz] = _back(Rz[: n - rank, : n - rank], _apply(vz, b, True)[: n - rank])
        particular = particular + Z @ y
    return particular


def scaled_rows(J):
    """Rows of length one."""
    size = np.linalg.norm(J, axis=1, keepdims=True)
    return J / np.where(size > 0.0, size, 1.0)


class Hostile:
    """A random mechanism at rest or in motion, on the core, with the truth about it."""

    def __init__(self, seed, moving=True, core=None, **kwargs):
        mech, self.profile, self.style = random_mechanism(seed, **kwargs)
        self.machine = Machine(mech)
        system, model = self.machine.system, self.machine.model
        C, _, _, J = system.rows()
        self.error = float(np.abs(C).max(initial=0.0))
        sigma = np.linalg.svd(scaled_rows(J), compute_uv=False)
        large = sigma[sigma > 1e-10]
        self.rank = len(large)
        dropped = sigma[self.rank :]
        self.redundant = len(J) - self.rank
        self.least = float(large.min(initial=1.0))
        self.gap = self.least / max(float(dropped.max(initial=0.0)), 1e-16)
        if moving and len(J):
            rng = np.random.default_rng(seed + 10**6)
            _, _, vt = np.linalg.svd(scaled_rows(J))
            Z = vt[self.rank :].T
            u = Z @ rng.uniform(-1.0, 1.0, Z.shape[1])
            self.machine.set_twists(u.reshape(-1, 6))
        P = matrix(self.machine.core_model.principal_rotation)
        self.inertia = np.einsum("bji,bjk,bki->bi", P, model.inertia, P)
        self.mass = np.hstack([np.repeat(model.mass[:, None], 3, axis=1), self.inertia]).ravel()

    def truth(self, perturbed=None):
        """Accelerations (nb, 6) as in the columns of `rows()`."""
        machine = self.machine
        _, _, Qc, J = machine.system.rows()
        if perturbed is not None:
            J = J * (1.0 + 2e-16 * perturbed.standard_normal(J.shape))
        omega = machine.twists()[:, 3:]
        gyro = -np.cross(omega, self.inertia * omega) / self.inertia
        free = np.hstack([np.broadcast_to(machine.model.gravity, omega.shape), gyro]).ravel()
        return solve(J, Qc, free, self.mass, self.rank).astype(float).reshape(-1, 6)
