"""Motion with some joints locked: welds in their place, the norm of kinetic energy, impacts; trees and loops.

What adaptive dynamics is compared with. Locks are in the description alone: `lagrange` and `recursive`
compute an ordinary mechanism with fixed joints.
"""

from dataclasses import dataclass, replace

import numpy as np
from rigs.machine import matrix, quaternion
from scipy.spatial.transform import Rotation

import bellcrank as bc
from bellcrank.compile.compile import compile_mechanism
from bellcrank.mechanism.references import joints_of


def held(mechanism, state, names):
    """The mechanism with these joints welded at the relative poses that they have in a state.

    Forces along their coordinates, which do no work any more, are left out.
    """
    welded = mechanism.copy()
    for force in list(welded.forces.values()):
        if set(names) & set(joints_of(force)):
            welded.remove(force)
    numbers = {name: number for number, name in enumerate(compile_mechanism(mechanism).bodies)}
    for name in names:
        joint = welded.joints[name]
        offset, turn = _placed(state, numbers, joint.marker_1)
        at, axes = _frame(state, numbers, joint.marker_2.body)
        marker = replace(
            joint.marker_2,
            position=tuple(axes.inv().apply(offset - at).tolist()),
            rotation=quaternion(axes.inv() * turn),
            name=None,
        )
        welded.replace(joint, kind=bc.Fixed(), marker_2=marker, limits=(), position=(), velocity=(), guess=())
    return welded


def _frame(state, numbers, body):
    if body not in numbers:
        return np.zeros(3), Rotation.identity()
    number = numbers[body]
    return state.position[number], Rotation.from_quat(np.roll(state.rotation[number], -1))


def _placed(state, numbers, marker):
    at, axes = _frame(state, numbers, marker.body)
    turn = Rotation.from_quat(np.roll(np.array(marker.rotation), -1))
    return at + axes.apply(marker.position), axes * turn


def squared_norm(model, state, linear, angular):
    """The sum over bodies of m |v|^2 + w' I w, v at the centre of mass.

    linear, angular: (nb, 3), of frames, world axes. For velocities twice the kinetic energy; for a difference
    of accelerations at equal velocities, where centripetal parts are equal, their squared distance.
    """
    R = matrix(state.rotation)
    arms = np.einsum("bij,bj->bi", R, model.com)
    v, w = linear + np.cross(angular, arms), np.einsum("bij,bi->bj", R, angular)
    return float(model.mass @ np.sum(v * v, axis=1) + np.einsum("bi,bij,bj->", w, model.inertia, w))


def gauss_distance(model, state, first, second):
    """The squared distance of two accelerations of all bodies at one state: 2G for those of H and F."""
    return squared_norm(model, state, first.linear - second.linear, first.angular - second.angular)


def rms_error(model, distance):
    """The difference of accelerations by root mean square over the mass, m/s^2."""
    return float(np.sqrt(max(distance, 0.0) / np.sum(model.mass)))


@dataclass(frozen=True)
class Locked:
    """A state after some joints were stopped by an inelastic impact and locked.

    mechanism, model: with all joints. welded: with the welds. state: after the impact. loss: of kinetic
    energy in it, J: half the squared norm of the change of velocities (Carnot).
    """

    mechanism: bc.Mechanism
    model: bc.Model
    welded: bc.Mechanism
    state: bc.State
    loss: float

    def free_accelerations(self, formulation="lagrange"):
        """Accelerations where all joints can accelerate (F)."""
        return bc.prepare(self.model, formulation).accelerate(self.state)

    def accelerations(self, formulation="lagrange"):
        """Accelerations where the locked joints cannot (H)."""
        return bc.prepare(self.welded, formulation).accelerate(self.state)

    def distance(self, formulation="lagrange"):
        """The squared distance of these two, 2G."""
        two = self.accelerations(formulation), self.free_accelerations(formulation)
        return gauss_distance(self.model, self.state, *two)


def locked(mechanism, state, names):
    """Stops joints and locks them: velocities are projected onto the rows of the welds, mass-orthogonally.

    By `lagrange`: `recursive` first reads rates of joints, so it drops what the welds do not allow.
    """
    model, welded = compile_mechanism(mechanism), held(mechanism, state, names)
    after = bc.prepare(welded, "lagrange").project(_plain(state))
    change = after.velocity - state.velocity, after.angular_velocity - state.angular_velocity
    still = replace(_plain(state), velocity=after.velocity, angular_velocity=after.angular_velocity)
    return Locked(mechanism, model, welded, still, 0.5 * squared_norm(model, state, *change))


def _plain(state):
    """Without the names of coordinates that a weld does not have; whole turns are the fewest."""
    return replace(state, angles=None, contacts=None, source=None)


def mobility(mechanism, state, body, point, direction):
    """The acceleration of a point along a unit force there, 1/kg; every joint can accelerate.

    point: in the body's frame, m. direction: unit vector, world axes. Along it, two accelerations of the
    point that the joints allow differ by at most the square root of this times their squared distance.
    """
    bare = mechanism.copy()
    for force in list(bare.forces.values()):
        bare.remove(force)
    bare.gravity = (0.0, 0.0, 0.0)
    marker = bare.bodies[body].marker(tuple(point))
    bare.add_force("unit", bc.Wrench(force=tuple(direction)), marker)
    nothing = np.zeros_like(state.velocity)
    found = bc.prepare(bare, "lagrange").accelerate(
        replace(_plain(state), velocity=nothing, angular_velocity=nothing)
    )
    return float(point_motion(found, state, body, point) @ np.asarray(direction))


def point_motion(accelerations, state, body, point):
    """The acceleration of a point of a body without its centripetal part (3,), world axes."""
    number = accelerations.model.body_number(body)
    arm = matrix(state.rotation[number]) @ np.asarray(point)
    return accelerations.linear[number] + np.cross(accelerations.angular[number], arm)
