"""Newton's and Euler's equations body by body, in world axes about the com, from recorded motion alone."""

import numpy as np
from rigs.machine import matrix


def required(model, rotation, omega, linear, angular):
    """Force and moment (..., nb, 6: force, moment about the com) that the motion asks for beyond gravity.

    Accelerations are of the frames' origins: a_com = a + α × c + ω × (ω × c).
    """
    R = matrix(rotation)
    arm = np.einsum("...ij,...j->...i", R, np.broadcast_to(model.com, linear.shape))
    com = linear + np.cross(angular, arm) + np.cross(omega, np.cross(omega, arm))
    inertia = R @ model.inertia @ np.swapaxes(R, -1, -2)
    spin = np.einsum("...ij,...j->...i", inertia, omega)
    moment = np.einsum("...ij,...j->...i", inertia, angular) + np.cross(omega, spin)
    return np.concatenate([model.mass[:, None] * (com - model.gravity), moment], axis=-1)


def given(model, position, rotation, wrenches, pairs):
    """The same (..., nb, 6) of wrenches (..., n, 6: moment about marker 2, force) on pairs.

    They act on the second body of each pair and the opposite on the first: what acts between two markers has
    no moment of its own.
    """
    R = matrix(rotation)
    com = position + np.einsum("...ij,...j->...i", R, np.broadcast_to(model.com, position.shape))
    total = np.zeros((*position.shape[:-1], 6))
    for number, pair in enumerate(pairs):
        bodies = model.arrays["pair_bodies"][pair]
        places = model.arrays["pair_positions"][pair]
        moment, force = wrenches[..., number, :3], wrenches[..., number, 3:]
        second = bodies[1]
        point = np.broadcast_to(places[1], moment.shape)
        if second != model.ground:
            point = position[..., second, :] + np.einsum("...ij,...j->...i", R[..., second, :, :], point)
        for body, sign in zip(bodies, (-1.0, 1.0), strict=True):
            if body == model.ground:
                continue
            about = moment + np.cross(point - com[..., body, :], force)
            total[..., body, :3] += sign * force
            total[..., body, 3:] += sign * about
    return total


def imbalance(machine, run, pairs):
    """Largest relative error of the balance over the frames of a run whose reactions hold all that acts."""
    model = machine.model
    asked = required(model, run.rotation, run.angular_velocity, run.linear, run.angular)
    got = given(model, run.position, run.rotation, run.reactions, pairs)
    return float(np.max(np.abs(asked - got)) / (np.max(np.abs(asked)) + 1.0))


def row_imbalance(machine):
    """The same at the machine's state with the forces of all rows, Jᵀ λ, instead of reactions."""
    model = machine.model
    linear, angular, multipliers = machine.system.accelerate()
    _, _, rotation, _, omega = machine.system.state()
    asked = required(model, rotation, omega, linear, angular)
    forces = (machine.system.rows()[3].T @ multipliers).reshape(-1, 6)
    principal = matrix(rotation) @ matrix(machine.core_model.principal_rotation)
    got = np.hstack([forces[:, :3], np.einsum("bij,bj->bi", principal, forces[:, 3:])])
    return float(np.max(np.abs(asked - got)) / (np.max(np.abs(asked)) + 1.0))
