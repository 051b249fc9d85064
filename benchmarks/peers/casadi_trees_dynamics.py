"""Forward dynamics of trees in CasADi's symbols, with vectors of three, written to have few operations.

The mass matrix of composite bodies with a factorization in the order of the tree, and the articulated-body
recursion (R. Featherstone, Rigid Body Dynamics Algorithms, 2008, tables 5.1, 6.2, 6.3 and 7.1).
"""

# run as scripts, so siblings import by plain name; a checker that sees a package cannot find them
# mypy: disable-error-code="import-not-found,no-any-return"

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np
from trees import GRAVITY, Body

AXIS = ca.sparsify(ca.DM([0, 0, 1]))
UPWARD = ca.sparsify(ca.DM([0, 0, GRAVITY]))


def constant(values: Any) -> Any:
    """Numbers with zeros left out."""
    return ca.sparsify(ca.DM(values))


def about_origin(body: Body) -> Any:
    """The inertia about the frame's origin."""
    c = body.com
    return constant(body.inertia + body.mass * ((c @ c) * np.eye(3) - np.outer(c, c)))


class Tree:
    """Symbols of a tree and its kinematics; vectors are in the axes of the body they belong to.

    turn[k] takes components in body k to its parent's, place[k] is its origin there; spin[k] and carried[k]
    are the angular velocity, with and without the joint's share.
    """

    def __init__(self, bodies: Sequence[Body]) -> None:
        self.bodies = bodies
        nq = sum(7 if body.free else 1 for body in bodies)
        self.nv = sum(6 if body.free else 1 for body in bodies)
        self.q, self.v, self.effort = (
            ca.SX.sym(n, k) for n, k in (("q", nq), ("v", self.nv), ("t", self.nv))
        )
        self.first, self.turn, self.place = [], [], []
        self.spin: list[Any] = []
        self.carried: list[Any] = []
        iq = iv = 0
        for body in bodies:
            turn, place = self._joint(body, iq)
            self.first.append(iv)
            self.turn.append(ca.SX(turn))
            self.place.append(ca.SX(place))
            before = ca.SX(3, 1) if body.parent < 0 else self.turn[-1].T @ self.spin[body.parent]
            self.carried.append(before)
            self.spin.append(before + (self.v[iv + 3 : iv + 6] if body.free else AXIS * self.v[iv]))
            iq, iv = iq + (7 if body.free else 1), iv + (6 if body.free else 1)

    def _joint(self, body: Body, iq: int) -> tuple[Any, Any]:
        fixed, position = ca.sparsify(ca.DM(body.rotation)), ca.sparsify(ca.DM(body.position))
        if not body.free:
            c, s = ca.cos(self.q[iq]), ca.sin(self.q[iq])
            turn = ca.SX(3, 3)
            turn[0, 0], turn[0, 1], turn[1, 0], turn[1, 1], turn[2, 2] = c, -s, s, c, 1
            return fixed @ turn, position
        w, x, y, z = (self.q[iq + k] for k in range(3, 7))
        rows = (
            (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
            (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
            (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
        )
        turn = ca.vertcat(*(ca.horzcat(*row) for row in rows))
        return fixed @ turn, position + fixed @ self.q[iq : iq + 3]

    def rate(self, k: int) -> Any:
        """The joint's angular velocity."""
        return self.spin[k] - self.carried[k] if self.bodies[k].free else AXIS * self.v[self.first[k]]

    def own(self, k: int) -> range:
        """The joint's degrees of freedom."""
        return range(self.first[k], self.first[k] + (6 if self.bodies[k].free else 1))


def inverse_dynamics(tree: Tree) -> Any:
    """Efforts at zero accelerations, by Newton and Euler; gravity is an acceleration of the ground."""
    turning: list[Any] = []
    moving: list[Any] = []
    force, moment = [], []
    for k, body in enumerate(tree.bodies):
        back, spin, parent = tree.turn[k].T, tree.spin[k], body.parent
        if parent < 0:
            alpha, a = ca.SX(3, 1), back @ UPWARD
        else:
            arm, omega = tree.place[k], tree.spin[parent]
            alpha = back @ turning[parent] + ca.cross(tree.carried[k], tree.rate(k))
            a = back @ (
                moving[parent] + ca.cross(turning[parent], arm) + ca.cross(omega, ca.cross(omega, arm))
            )
        if body.free:
            a = a + ca.cross(spin, tree.v[tree.first[k] : tree.first[k] + 3])
        turning.append(alpha)
        moving.append(a)
        com, inertia = constant(body.com), constant(body.inertia)
        force.append(body.mass * (a + ca.cross(alpha, com) + ca.cross(spin, ca.cross(spin, com))))
        moment.append(inertia @ alpha + ca.cross(spin, inertia @ spin) + ca.cross(com, force[k]))
    efforts = ca.SX(tree.nv, 1)
    for k in reversed(range(len(tree.bodies))):
        body = tree.bodies[k]
        efforts[list(tree.own(k))] = ca.vertcat(force[k], moment[k]) if body.free else moment[k][2]
        if body.parent >= 0:
            carried = tree.turn[k] @ force[k]
            force[body.parent] += carried
            moment[body.parent] += tree.turn[k] @ moment[k] + ca.cross(tree.place[k], carried)
    return efforts


def mass_matrix(tree: Tree) -> Any:
    """The mass matrix by composite bodies: mass, first moment, inertia about the origin; lower triangle."""
    masses = [body.mass for body in tree.bodies]
    moments = [ca.SX(body.mass * constant(body.com)) for body in tree.bodies]
    inertias = [ca.SX(about_origin(body)) for body in tree.bodies]
    mass = ca.SX(tree.nv, tree.nv)
    for k in reversed(range(len(tree.bodies))):
        body, parent = tree.bodies[k], tree.bodies[k].parent
        if body.free:
            force = ca.horzcat(masses[k] * ca.SX.eye(3), -ca.skew(moments[k]))
            moment = ca.horzcat(ca.skew(moments[k]), inertias[k])
            mass[list(tree.own(k)), list(tree.own(k))] = ca.tril(ca.vertcat(force, moment))
            continue
        force, moment = ca.vertcat(-moments[k][1], moments[k][0], 0), inertias[k][:, 2]
        mass[tree.first[k], tree.first[k]] = moment[2]
        j = k
        while tree.bodies[j].parent >= 0:
            force = tree.turn[j] @ force
            moment = tree.turn[j] @ moment + ca.cross(tree.place[j], force)
            j = tree.bodies[j].parent
            column = ca.vertcat(force, moment) if tree.bodies[j].free else moment[2]
            mass[tree.first[k], list(tree.own(j))] = column.T
        if parent >= 0:
            turn, arm = tree.turn[k], tree.place[k]
            shifted, total = turn @ moments[k], turn @ moments[k] + masses[k] * arm
            masses[parent] += masses[k]
            moments[parent] += total
            cross = arm @ total.T + shifted @ arm.T
            own = turn @ inertias[k] @ turn.T + ca.trace(cross) * ca.SX.eye(3) - cross.T
            inertias[parent] = ca.tril2symm(ca.tril(inertias[parent] + own))
    return mass


def solve(mass: Any, right: Any) -> Any:
    """Solve M x = b by L^T D L from the tips (table 6.3), without fill-in between branches."""
    n = right.numel()
    rows = [{k for k in range(i) if mass[i, k].nnz()} for i in range(n)]
    for i in reversed(range(n)):
        for k in rows[i]:
            rows[k] |= {j for j in rows[i] if j < k}
    entry = {(i, k): ca.SX(mass[i, k]) for i in range(n) for k in [*rows[i], i]}
    x = [right[i] for i in range(n)]
    for i in reversed(range(n)):
        scaled = {k: entry[i, k] / entry[i, i] for k in rows[i]}
        for k in rows[i]:
            for j in (*[j for j in rows[i] if j < k], k):
                entry[k, j] = entry[k, j] - scaled[k] * entry[i, j]
            x[k] = x[k] - scaled[k] * x[i]
        entry |= {(i, k): value for k, value in scaled.items()}
    for i in range(n):
        x[i] = x[i] / entry[i, i]
        for k in rows[i]:
            x[i] = x[i] - entry[i, k] * x[k]
    return ca.vertcat(*x)


def composite_bodies(tree: Tree) -> Any:
    """Accelerations by M and its factorization."""
    return solve(mass_matrix(tree), tree.effort - inverse_dynamics(tree))


def articulated_bodies(tree: Tree) -> Any:
    """Accelerations by the articulated-body recursion, spatial vectors in blocks: angular, linear."""
    bodies = tree.bodies
    speed: list[Any] = []
    blocks, moment, force = [], [], []
    for k, body in enumerate(bodies):
        linear = ca.SX(3, 1) if body.parent < 0 else carried_velocity(tree, k, speed[body.parent])
        speed.append(linear + (tree.v[tree.first[k] : tree.first[k] + 3] if body.free else ca.SX(3, 1)))
        spin, inertia, offset = tree.spin[k], ca.SX(about_origin(body)), ca.SX(body.mass * constant(body.com))
        momentum = body.mass * speed[k] + ca.cross(spin, offset)
        moment.append(
            ca.cross(spin, inertia @ spin + ca.cross(offset, speed[k])) + ca.cross(speed[k], momentum)
        )
        force.append(ca.cross(spin, momentum))
        blocks.append((inertia, ca.skew(offset), body.mass * ca.SX.eye(3)))
    gained: dict[int, Any] = {}
    for k in reversed(range(len(bodies))):
        if bodies[k].parent >= 0:
            gained[k] = reduced(tree, k, blocks[k], moment[k], force[k], speed[k])
            left, push, thrust = gained[k].pop()
            add_shifted(tree, k, blocks, left)
            carried = tree.turn[k] @ thrust
            force[bodies[k].parent] += carried
            moment[bodies[k].parent] += tree.turn[k] @ push + ca.cross(tree.place[k], carried)
    found = ca.SX(tree.nv, 1)
    turning: list[Any] = []
    moving: list[Any] = []
    for k, body in enumerate(bodies):
        back, parent, first = tree.turn[k].T, body.parent, tree.first[k]
        inertia, coupling, masses = blocks[k]
        if body.free:
            a, alpha = back @ UPWARD, ca.SX(3, 1)
            whole = ca.blockcat([[masses, coupling.T], [coupling, inertia]])
            rest = tree.effort[first : first + 6] - ca.vertcat(force[k], moment[k])
            own = solve(ca.tril(whole), rest)  # with gravity included, as the trunk is free
            found[list(tree.own(k))] = own - ca.vertcat(a, ca.SX(3, 1))
            turning.append(own[3:])
            moving.append(own[:3])
            continue
        if parent < 0:
            alpha, a = ca.SX(3, 1), back @ UPWARD
            u, axial, pivot = inertia[:, 2], coupling[2, :].T, inertia[2, 2]
            rest = tree.effort[first] - moment[k][2]
        else:
            alpha = back @ turning[parent] + ca.cross(tree.spin[k], tree.rate(k))
            a = back @ (moving[parent] + ca.cross(turning[parent], tree.place[k]))
            a = a + ca.cross(speed[k], tree.rate(k))
            u, axial, pivot, rest = gained[k]
        found[first] = (rest - ca.dot(u, alpha) - ca.dot(axial, a)) / pivot
        turning.append(alpha + AXIS * found[first])
        moving.append(a)
    return found


def carried_velocity(tree: Tree, k: int, linear: Any) -> Any:
    """The velocity of body k's origin as a point of its parent, in body k's axes."""
    return tree.turn[k].T @ (linear + ca.cross(tree.spin[tree.bodies[k].parent], tree.place[k]))


def reduced(tree: Tree, k: int, blocks: Any, moment: Any, force: Any, speed: Any) -> list[Any]:
    """Eliminate a revolute joint: its row, pivot and rest; last, what the body contributes to the parent."""
    inertia, coupling, masses = blocks
    u, axial, pivot = inertia[:, 2], coupling[2, :].T, inertia[2, 2]
    rest = tree.effort[tree.first[k]] - moment[2]
    left = (
        ca.tril2symm(ca.tril(inertia - u @ (u / pivot).T)),
        coupling - u @ (axial / pivot).T,
        ca.tril2symm(ca.tril(masses - axial @ (axial / pivot).T)),
    )
    turning, moving = ca.cross(tree.spin[k], tree.rate(k)), ca.cross(speed, tree.rate(k))
    push = moment + left[0] @ turning + left[1] @ moving + u * (rest / pivot)
    thrust = force + left[1].T @ turning + left[2] @ moving + axial * (rest / pivot)
    return [u, axial, pivot, rest, (left, push, thrust)]


def add_shifted(tree: Tree, k: int, blocks: list[Any], left: Any) -> None:
    """Transform the blocks of body k and add them to those of its parent."""
    turn, arm, parent = tree.turn[k], ca.skew(tree.place[k]), tree.bodies[k].parent
    inertia, coupling, masses = (turn @ block @ turn.T for block in left)
    masses = ca.tril2symm(ca.tril(masses))
    moved = coupling + arm @ masses
    own = inertia - moved @ arm + arm @ coupling.T
    before = blocks[parent]
    blocks[parent] = (
        ca.tril2symm(ca.tril(before[0] + own)), before[1] + moved, ca.tril2symm(ca.tril(before[2] + masses)),
    )  # fmt: skip
