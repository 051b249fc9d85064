"""Malczyk and Fraczek, literally: seven coordinates per body, one dense matrix for all of them."""

import numpy as np


def world_matrix(p):
    """G (3, 4) of Euler parameters with angular velocity 2 G p' in world axes."""
    w, x, y, z = p
    return np.array([[-x, w, -z, y], [-y, z, w, -x], [-z, -y, x, w]])


def accelerations(system, state, penalty, iterations):
    """Linear and angular accelerations (nb, 3), world axes, after iterations from multipliers zero.

    system: of bodies whose frames are in their centres of mass. penalty: in parts of the mass a row sees.
    """
    rows, gravity = system.rows(state), np.array(system.model.arrays["gravity"])
    mass, inertia = np.array(system.model.arrays["body_mass"]), system.model.arrays["body_inertia"]
    bodies, count = len(mass), len(rows.error)
    M, Q, J = np.zeros((7 * bodies, 7 * bodies)), np.zeros(7 * bodies), np.zeros((count, 7 * bodies))
    G = [world_matrix(p) for p in state.rotation]
    normal, curvature = np.zeros((bodies, 7 * bodies)), np.zeros(bodies)
    for b in range(bodies):
        r, p = slice(7 * b, 7 * b + 3), slice(7 * b + 3, 7 * b + 7)
        R = rotation(state.rotation[b])
        I, w = R @ np.reshape(inertia[b], (3, 3)) @ R.T, state.angular_velocity[b]  # noqa: E741
        M[r, r], M[p, p] = mass[b] * np.eye(3), 4.0 * G[b].T @ I @ G[b]
        Q[r], Q[p] = mass[b] * gravity, -2.0 * G[b].T @ np.cross(w, I @ w)
        linear, angular = rows.jacobian[:, b, :3], rows.jacobian[:, b, 3:]
        J[:, r], J[:, p] = linear, 2.0 * angular @ G[b]
        rate = 0.5 * G[b].T @ w
        normal[b, p], curvature[b] = 2.0 * state.rotation[b], 2.0 * rate @ rate
    alpha = penalty / np.diag(mobilities(system, state))
    leading = M + J.T @ (alpha[:, None] * J) + penalty * normal.T @ normal
    assert np.linalg.eigvalsh(leading).min() > 0.0
    multipliers, normal_multipliers = np.zeros(count), np.zeros(bodies)
    for _ in range(iterations):
        right = Q - J.T @ (multipliers - alpha * rows.bias)
        right -= normal.T @ (normal_multipliers + penalty * curvature)
        q = np.linalg.solve(leading, right)
        multipliers += alpha * (J @ q - rows.bias)
        normal_multipliers += penalty * (normal @ q + curvature)
    q = q.reshape(bodies, 7)
    return q[:, :3], np.array([2.0 * G[b] @ q[b, 3:] for b in range(bodies)])


def mobilities(system, state):
    """J M^-1 J^T of all rows (rows, rows), of bodies whose frames are in their centres of mass."""
    jacobian, arrays = system.rows(state).jacobian, system.model.arrays
    S = np.zeros((len(jacobian), len(jacobian)))
    for b, mass in enumerate(arrays["body_mass"]):
        R = rotation(state.rotation[b])
        linear, angular = jacobian[:, b, :3], jacobian[:, b, 3:] @ R
        S += linear @ linear.T / mass
        S += angular @ np.linalg.solve(np.reshape(arrays["body_inertia"][b], (3, 3)), angular.T)
    return S


def rotation(p):
    w, e = p[0], np.array(p[1:])
    cross = np.array([[0.0, -e[2], e[1]], [e[2], 0.0, -e[0]], [-e[1], e[0], 0.0]])
    return np.eye(3) + 2.0 * w * cross + 2.0 * cross @ cross
