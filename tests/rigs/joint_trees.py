"""Random trees and loops of joints, and their mechanics in joint coordinates by formulas over complex
numbers.

The mechanics is textbook and shares nothing with the package: forward kinematics as a product of turns and
slides,
Jacobians of their lines, Newton's and Euler's equations projected on them. All of it is holomorphic, so that
the imaginary part of f(x + ih) / h is a derivative to the last digit (W. Squire, G. Trapp, 1998).
"""

from dataclasses import dataclass, field

import numpy as np
from scipy.spatial.transform import Rotation

import bellcrank as bc

STEP = 1e-25  # of complex steps
# What a joint does, from marker 1 to marker 2: turns (R) and slides (T) about axes of where it has got to.
MOTIONS = {
    "Revolute": (("theta_z", "R", 2),),
    "Prismatic": (("z", "T", 2),),
    "Cylindrical": (("z", "T", 2), ("theta_z", "R", 2)),
    "Universal": (("universal_1", "R", 0), ("universal_2", "R", 1)),
    "Planar": (("x", "T", 0), ("y", "T", 1), ("theta_z", "R", 2)),
    "PinInSlot": (("x", "T", 0), ("theta_z", "R", 2)),
    "RevolutePrismatic": (("z", "T", 2), ("theta_x", "R", 0)),
}
FLAT = ("Revolute", "Planar", "PinInSlot")
# What closes a loop, by the components of r, origin 2 seen from marker 1, that it holds at zero.
CLOSINGS = {"Spherical": (0, 1, 2), "PointOnLine": (0, 1), "PointOnPlane": (2,), "PlanarSlot": (1,)}


@dataclass
class Placed:
    """A marker: its body (-1 for the ground), position and rotation matrix there."""

    body: int
    position: np.ndarray
    turn: np.ndarray


@dataclass
class Hinge:
    """The joint that carries a body."""

    name: str
    kind: str
    first: Placed
    second: Placed
    columns: list[int]  # numbers of its coordinates


@dataclass
class Tree:
    """A tree of joints with springs, loads and efforts, and rows that close loops.

    mech: the mechanism. position, velocity: of all joint coordinates, named by `names`. inputs: values by
    name, of efforts along coordinates ("coordinate name"), or of forces on bodies, (body, point, direction).
    """

    mech: bc.Mechanism
    names: list[str] = field(default_factory=list)
    position: list[float] = field(default_factory=list)
    hinges: list[Hinge] = field(default_factory=list)
    mass: list[float] = field(default_factory=list)
    inertia: list[np.ndarray] = field(default_factory=list)
    com: list[np.ndarray] = field(default_factory=list)
    torsion: list[tuple] = field(default_factory=list)  # (column, stiffness, damping, rest)
    springs: list[tuple] = field(default_factory=list)  # (marker, marker, stiffness, damping, length)
    efforts: dict[str, int] = field(default_factory=dict)  # input: column
    pushes: dict[str, tuple] = field(default_factory=dict)  # input: (marker, direction)
    inputs: dict[str, float] = field(default_factory=dict)
    loops: list[tuple] = field(default_factory=list)  # (marker, marker, components)

    # Kinematics.

    def frames(self, q, qd, qdd):
        """Of bodies (R, p, ω, v, α, a) of their frames; of coordinates lines (kind, axis, point)."""
        q, qd, qdd = (np.asarray(x) for x in (q, qd, qdd))
        bodies, lines = [], [None] * len(q)
        for hinge in self.hinges:
            R, o, w, v, al, a = self._at(bodies, hinge.first)
            for (_, what, axis), k in zip(MOTIONS[hinge.kind], hinge.columns, strict=True):
                line = R[:, axis]
                lines[k] = (what, line, o)
                if what == "T":
                    d = line * q[k]
                    v = v + np.cross(w, d) + line * qd[k]
                    a = a + np.cross(al, d) + np.cross(w, np.cross(w, d))
                    a = a + 2.0 * np.cross(w, line) * qd[k] + line * qdd[k]
                    o = o + d
                else:
                    al = al + np.cross(w, line) * qd[k] + line * qdd[k]
                    w = w + line * qd[k]
                    R = R @ _turned(axis, q[k])
            R = R @ hinge.second.turn.T
            arm = -R @ hinge.second.position
            v = v + np.cross(w, arm)
            a = a + np.cross(al, arm) + np.cross(w, np.cross(w, arm))
            bodies.append((R, o + arm, w, v, al, a))
        return bodies, lines

    @staticmethod
    def _at(bodies, marker):
        """The same of a marker."""
        still = np.zeros(3)
        R, p, w, v, al, a = (np.eye(3), still, still, still, still, still)
        if marker.body >= 0:
            R, p, w, v, al, a = bodies[marker.body]
        arm = R @ marker.position
        v = v + np.cross(w, arm)
        a = a + np.cross(al, arm) + np.cross(w, np.cross(w, arm))
        return R @ marker.turn, p + arm, w, v, al, a

    def ancestors(self, body):
        """Columns of the coordinates that move a body (-1: none)."""
        found = []
        while body >= 0:
            found += self.hinges[body].columns
            body = self.hinges[body].first.body
        return found

    def _columns(self, lines, body, point):
        """Velocity of a point and angular velocity of a body per rate (6, n)."""
        out = np.zeros((6, len(lines)), dtype=complex)
        for k in self.ancestors(body):
            what, axis, at = lines[k]
            out[:3, k] = axis if what == "T" else np.cross(axis, point - at)
            out[3:, k] = 0.0 if what == "T" else axis
        return out

    # Mechanics.

    def needed(self, q, qd, qdd, u, gravity=True):
        """Efforts along all coordinates that the accelerations need beside the forces."""
        bodies, lines = self.frames(q, qd, qdd)
        g = np.asarray(self.mech.gravity) if gravity else np.zeros(3)
        tau = np.zeros(len(lines), dtype=complex)
        for b, (R, p, w, _, al, a) in enumerate(bodies):
            arm = R @ self.com[b]
            ac = a + np.cross(al, arm) + np.cross(w, np.cross(w, arm))
            inertia = R @ self.inertia[b] @ R.T
            wrench = np.concatenate([self.mass[b] * (ac - g), inertia @ al + np.cross(w, inertia @ w)])
            tau += self._columns(lines, b, p + arm).T @ wrench
        for k, stiffness, damping, rest in self.torsion:
            tau[k] += stiffness * (q[k] - rest) + damping * qd[k]
        for one, two, stiffness, damping, length in self.springs:
            ends = [self._at(bodies, m) for m in (one, two)]
            d = ends[1][1] - ends[0][1]
            size = np.sqrt(d @ d)
            pull = stiffness * (size - length) + damping * (d @ (ends[1][3] - ends[0][3])) / size
            for marker, end, sign in ((one, ends[0], -1.0), (two, ends[1], 1.0)):
                tau += self._columns(lines, marker.body, end[1])[:3].T @ (sign * pull / size * d)
        for name, k in self.efforts.items():
            tau[k] -= u[name]
        for name, (marker, way) in self.pushes.items():
            tau -= self._columns(lines, marker.body, self._at(bodies, marker)[1])[:3].T @ (u[name] * way)
        return tau

    def mass_matrix(self, q):
        """M, exactly, from the Jacobians."""
        bodies, lines = self.frames(q, 0 * q, 0 * q)
        M = np.zeros((len(q), len(q)), dtype=complex)
        for b, (R, p, *_) in enumerate(bodies):
            J = self._columns(lines, b, p + R @ self.com[b])
            M += self.mass[b] * J[:3].T @ J[:3] + J[3:].T @ (R @ self.inertia[b] @ R.T) @ J[3:]
        return M

    def closure(self, q, qd=None):
        """Gaps of the closing rows, their Jacobian, their second rates at zero accelerations."""
        qd = np.zeros(len(q)) if qd is None else qd
        bodies, lines = self.frames(q, qd, np.zeros(len(q)))
        gaps, rows, bias = [], [], []
        for one, two, held in self.loops:
            R, o, w, v, al, a = self._at(bodies, one)
            _, p, _, vp, _, ap = self._at(bodies, two)
            d, dv, da = p - o, vp - v, ap - a
            moved = dv - np.cross(w, d)
            second = da - np.cross(al, d) - np.cross(w, np.cross(w, d)) - 2.0 * np.cross(w, moved)
            J1, J2 = self._columns(lines, one.body, o), self._columns(lines, two.body, p)
            J = J2[:3] - J1[:3] - np.cross(J1[3:].T, d).T
            for k in held:
                gaps.append(R[:, k] @ d)
                rows.append(R[:, k] @ J)
                bias.append(R[:, k] @ second)
        return np.array(gaps), np.array(rows).reshape(-1, len(q)), np.array(bias)

    def accelerations(self, q, qd, u):
        """q̈, with the loops closed."""
        M, h = self.mass_matrix(q), self.needed(q, qd, 0 * q, u)
        _, J, bias = self.closure(q, qd)
        n, m = len(q), len(J)
        K = np.block([[M, -J.T], [J, np.zeros((m, m))]])
        return np.linalg.solve(K, np.concatenate([-h, -bias]))[:n]

    def whole(self, states, values, rates):
        """All coordinates and rates from those that are states (columns), near `position`; complex or not."""
        q = np.array(self.position, dtype=complex)
        q[states] = values
        others = [k for k in range(len(q)) if k not in states]
        for _ in range(6 if np.isrealobj(values) else 3):
            gap, J, _ = self.closure(q)
            if len(gap):
                q[others] -= np.linalg.solve(J[:, others], gap)
        qd = np.zeros(len(q), dtype=complex)
        qd[states] = rates
        _, J, _ = self.closure(q)
        if len(J):
            qd[others] = -np.linalg.solve(J[:, others], J[:, states] @ rates)
        return q, qd

    # Statics.

    def energy(self, q):
        """Potential energy of gravity and springs."""
        bodies, _ = self.frames(q, 0 * q, 0 * q)
        V = 0.0
        for b, (R, p, *_) in enumerate(bodies):
            V = V - self.mass[b] * np.asarray(self.mech.gravity) @ (p + R @ self.com[b])
        for k, stiffness, _, rest in self.torsion:
            V = V + 0.5 * stiffness * (q[k] - rest) ** 2
        for one, two, stiffness, _, length in self.springs:
            d = self._at(bodies, two)[1] - self._at(bodies, one)[1]
            V = V + 0.5 * stiffness * (np.sqrt(d @ d) - length) ** 2
        return V

    def slope(self, q):
        """Gradient of the energy."""
        return self.needed(q, 0 * q, 0 * q, dict.fromkeys(self.inputs, 0.0))

    def hessian(self, q):
        """Second derivatives of the energy, by complex steps of the gradient."""
        H = np.stack([self.slope(q + 1j * STEP * e).imag / STEP for e in np.eye(len(q))])
        return 0.5 * (H + H.T)


def _turned(axis, angle):
    """The matrix of a turn about a coordinate axis, for complex angles as well."""
    c, s = np.cos(angle), np.sin(angle)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R = np.zeros((3, 3), dtype=complex)
    R[axis, axis] = 1.0
    R[i, i] = R[j, j] = c
    R[j, i], R[i, j] = s, -s
    return R


def quaternion(matrix):
    """(w, x, y, z) of a rotation matrix."""
    x, y, z, w = Rotation.from_matrix(np.real(matrix)).as_quat()
    return (w, x, y, z)


def random_turn(rng, flat):
    """A random rotation matrix, about z if flat."""
    if flat:
        return Rotation.from_rotvec([0.0, 0.0, rng.uniform(-3.0, 3.0)]).as_matrix()
    return Rotation.from_quat(rng.normal(size=4)).as_matrix()


def random_tree(rng, bodies=None, kinds=tuple(MOTIONS), flat=False, masses=1.0, branching=0.4):
    """A random tree: joints of some kinds, at random coordinates; no forces yet.

    flat: all axes are parallel. masses: decades of mass. branching: how often a body hangs on another one
    than the last.
    """
    tree = Tree(bc.Mechanism("tree", gravity=(0.0, -9.81, 0.0) if flat else tuple(rng.normal(0.0, 5.0, 3))))
    kinds = [kind for kind in kinds if not flat or kind in FLAT]
    for b in range(int(rng.integers(1, 6)) if bodies is None else bodies):
        parent = b - 1 if rng.random() > branching else int(rng.integers(-1, b))
        kind = kinds[int(rng.integers(len(kinds)))]
        mass = float(10.0 ** rng.uniform(-masses / 2.0, masses / 2.0))
        points = rng.normal(size=(5, 3)) * rng.uniform(0.05, 0.4, 3)
        if flat:
            points[:, 2] = 0.0
        second = mass * points.T @ points / len(points)
        tree.mass.append(mass)
        tree.inertia.append(np.trace(second) * np.eye(3) - second + 1e-3 * mass * np.eye(3))
        level = np.array([1.0, 1.0, 0.0 if flat else 1.0])
        tree.com.append(rng.uniform(-0.4, 0.4, 3) * level)
        first = Placed(parent, rng.uniform(-0.5, 0.5, 3) * level, random_turn(rng, flat))
        other = Placed(b, rng.uniform(-0.5, 0.5, 3) * level, random_turn(rng, flat))
        columns = [len(tree.names) + i for i in range(len(MOTIONS[kind]))]
        tree.hinges.append(Hinge(f"j{b}", kind, first, other, columns))
        for name, what, _ in MOTIONS[kind]:
            tree.names.append(f"j{b}.{name}")
            tree.position.append(float(rng.uniform(-1.2, 1.2) if what == "R" else rng.uniform(-0.4, 0.4)))
    return tree


def described(tree, velocity=None, limits=None):
    """Writes bodies and joints of a tree into its mechanism, where its coordinates are.

    velocity: of all coordinates. limits: (lower, upper) by column.
    """
    q = np.array(tree.position)
    bodies, _ = tree.frames(q, 0 * q if velocity is None else velocity, 0 * q)
    mech = tree.mech
    for b, hinge in enumerate(tree.hinges):
        R, p, w, v, *_ = (np.real(x) for x in bodies[b])
        mech.add_body(
            f"b{b}", mass=tree.mass[b], inertia=tree.inertia[b], com=tree.com[b],
            position=p, rotation=quaternion(R), velocity=v, angular_velocity=w,
        )  # fmt: skip
        names = [name for name, *_ in MOTIONS[hinge.kind]]
        own = {
            name: bc.Limit(*limits[k])
            for name, k in zip(names, hinge.columns, strict=True)
            if limits is not None and limits[k] is not None
        }
        mech.add_joint(
            hinge.name,
            getattr(bc, hinge.kind)(),
            marker(mech, hinge.first),
            marker(mech, hinge.second),
            limits=own,
        )
    for number, (one, two, held) in enumerate(tree.loops):
        kind = next(kind for kind, rows in CLOSINGS.items() if rows == held)
        mech.add_joint(f"closing{number}", getattr(bc, kind)(), marker(mech, one), marker(mech, two))
    return tree


def marker(mech, at):
    """The marker of the mechanism."""
    body = mech.ground if at.body < 0 else mech.bodies[f"b{at.body}"]
    return body.marker(at.position, rotation=quaternion(at.turn))


def add_loop(tree, rng, flat=False):
    """Closes a loop where the bodies are; False if there is nothing left to close."""
    count = len(tree.hinges)
    one, two = (int(k) for k in rng.choice(count + 1, 2, replace=False) - 1)
    kind = "PlanarSlot" if flat else list(CLOSINGS)[int(rng.integers(3))]
    q = np.array(tree.position)
    bodies, _ = tree.frames(q, 0 * q, 0 * q)
    level = np.array([1.0, 1.0, 0.0 if flat else 1.0])
    first = Placed(one, rng.uniform(-0.5, 0.5, 3) * level, random_turn(rng, flat))
    R, o, *_ = (np.real(x) for x in tree._at(bodies, first))
    free = rng.uniform(-0.4, 0.4, 3) * level * [k not in CLOSINGS[kind] for k in range(3)]
    B, p = (np.eye(3), np.zeros(3)) if two < 0 else (np.real(x) for x in bodies[two][:2])
    second = Placed(two, B.T @ (o + R @ free - p), random_turn(rng, flat))
    tree.loops.append((first, second, CLOSINGS[kind]))
    _, J, _ = tree.closure(q)
    sizes = np.linalg.svd(np.real(J), compute_uv=False)
    if len(J) >= len(q) or sizes[-1] < 0.05 * max(1.0, sizes[0]):
        tree.loops.pop()
        return False
    return True


def add_forces(tree, rng, torsion=0.7, springs=2, damping=True):
    """Springs and dampers along coordinates and between points."""
    count = len(tree.hinges)
    for k, name in enumerate(tree.names):
        if rng.random() < torsion:
            stiffness = float(10.0 ** rng.uniform(-0.5, 2.0))
            damped, rest = float(rng.uniform(0.0, 1.0)) * damping, float(rng.normal(0.0, 0.7))
            tree.torsion.append((k, stiffness, damped, rest))
            joint, coordinate = name.split(".")
            kind = bc.TorsionSpring(stiffness, damped, rest_angle=rest)
            tree.mech.add_force(f"t{k}", kind, joint=joint, coordinate=coordinate)
    for number in range(int(rng.integers(0, springs + 1))):
        one, two = (int(k) for k in rng.choice(count + 1, 2, replace=False) - 1)
        flat = tree.mech.gravity[2] == 0.0
        level = np.array([1.0, 1.0, 0.0 if flat else 1.0])
        ends = [Placed(b, rng.uniform(-0.5, 0.5, 3) * level, np.eye(3)) for b in (one, two)]
        values = (
            float(10.0 ** rng.uniform(0.0, 2.0)),
            float(rng.uniform(0.0, 1.0)) * damping,
            float(rng.uniform(0, 1)),
        )
        tree.springs.append((*ends, *values))
        tree.mech.add_force(f"s{number}", bc.SpringDamper(*values), *(marker(tree.mech, end) for end in ends))


def add_inputs(tree, rng):
    """Some inputs: efforts of motors along coordinates, and forces on bodies in world axes."""
    for number in range(int(rng.integers(1, 4))):
        name, value = f"u{number}", float(rng.normal(0.0, 2.0))
        tree.inputs[name] = value
        if rng.random() < 0.6:
            k = int(rng.integers(len(tree.names)))
            joint, coordinate = tree.names[k].split(".")
            kind = bc.JointMotor(bc.Input(name, value, "N m"))
            tree.mech.add_force(f"m{number}", kind, joint=joint, coordinate=coordinate)
            tree.efforts[name] = k
        else:
            at = Placed(int(rng.integers(len(tree.hinges))), rng.uniform(-0.5, 0.5, 3), np.eye(3))
            way = np.eye(3)[int(rng.integers(2 if tree.mech.gravity[2] == 0.0 else 3))]
            force = tuple(bc.Input(name, value, "N") if w else 0.0 for w in way)
            tree.mech.add_force(f"m{number}", bc.Wrench(force=force), marker(tree.mech, at))
            tree.pushes[name] = (at, way)
