"""What stands for a reduced solid in a mechanism: bodies, amplitudes of modes, and the frames of interfaces.

Each interface is a body with a small part D of the mass, so that joints and forces stand on it as on any
body. What is left of the mass, M' = M - D, moves as one body, the mean motion, and in modes that are free of
it:

    K phi = w^2 M' phi,   R' M' phi = 0,   phi' M' phi = 1     (R: rigid motion)

By the second equation neither acceleration nor weight of the body moves the modes, and its inertia R' M' R
with that of D is that of the solid. The kinetic and elastic energy of small strains are those of M and K: one
wheel for each mode, whose angle is its amplitude, with a spring of w^2 times its inertia. The pose of an
interface against the body is a sum of modes (`mechanism/flexible.py`), as its logarithm: rigid motion,
however large, strains nothing. The derivation is in docs/theory/flexible-solids.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from bellcrank.errors import MechanismError
from bellcrank.mechanism.attachment import Constraint
from bellcrank.mechanism.body import Body
from bellcrank.mechanism.checking import Check, check_name, nearest, required
from bellcrank.mechanism.fields import as_tuple
from bellcrank.mechanism.flexible import Flexible, FlexibleInterface, frames
from bellcrank.mechanism.joint import Joint
from bellcrank.mechanism.joint_kinds import Revolute
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.mechanism.members import Whole
from bellcrank.mechanism.rotation import matrix, multiply
from bellcrank.mechanism.springs import TorsionSpring
from bellcrank.solids.reduced import Floats, ReducedSolid, properties_of, rigid_motion

_SHARE: Final = 0.1  # of the mass that interfaces may have before what is left is not positive
_WHEEL: Final = 1e-6  # mass of the wheel of a mode, in parts of the solid's: too little costs digits
_SAME: Final = 1e-6  # of modes: less is rounding
_NOTHING: Final = 1e-12  # part of a mode in an interface, of the largest


def add_flexible(
    mechanism: Mechanism,
    name: str,
    solid: Any,
    pose: tuple[Any, Any],
    motion: tuple[Any, Any],
    damping: tuple[Any, Any],
    shapes: Any,
) -> Flexible:
    """`Mechanism.add_flexible`."""
    element = f"flexible solid {name!r}"
    check_name(element, name)
    reduced = required(element, solid, ReducedSolid, "bc.reduce and bc.flexible make them")
    with Check(element) as check:
        origin, turn = check.vector("position", pose[0], "m"), check.quaternion("rotation", pose[1])
        speed = check.vector("velocity", motion[0], "m/s")
        spin = check.vector("angular_velocity", motion[1], "rad/s")
        lag = check.not_negative("damping", damping[0], "s")
        ratio = check.not_negative("damping_ratio", damping[1])
    parts = _parts(element, reduced)
    A = matrix(turn)
    with Whole(mechanism):
        rigid: dict[str, Any] = {"rotation": turn, "angular_velocity": spin, "check_inertia": False}
        body = mechanism.add_body(
            name,
            parts.mass,
            as_tuple(parts.inertia),
            as_tuple(parts.centre),
            position=origin,
            velocity=speed,
            shapes=shapes,
            **rigid,
        )
        wheels = tuple(
            _wheel(mechanism, f"{name}/mode {k}", parts, k, (lag, ratio)) for k in range(1, parts.modes + 1)
        )
        interfaces = {}
        for number, which in enumerate(reduced.names):
            arm = A @ reduced.positions[number]
            own = reduced.rotations[number].tolist()
            frame = mechanism.add_body(
                f"{name}/{which}",
                parts.of_interface[0],
                (parts.of_interface[1],) * 3,
                position=as_tuple(np.add(origin, arm)),
                velocity=as_tuple(np.add(speed, np.cross(spin, arm))),
                **rigid | {"rotation": multiply(turn, tuple(own))},
            )
            place = body.marker(as_tuple(reduced.positions[number]), rotation=tuple(own))
            shapes = parts.shapes[number]
            _hold(mechanism, f"{name}/{which}", shapes, place, frame, wheels)
            interfaces[which] = frame
    return Flexible(body, interfaces, wheels)


@dataclass(frozen=True)
class _Parts:
    """Mass, centre and inertia of the mean motion; mass and inertia of an interface; and the modes.

    squares: w^2. wheels: their inertia. shapes: (interfaces, 6, modes), axes of the frames. freedoms: the
    same in those of the reduced solid, (n, modes).
    """

    mass: float
    centre: Floats
    inertia: Floats
    of_interface: tuple[float, float]
    squares: Floats
    wheels: Floats
    shapes: Floats
    freedoms: Floats

    @property
    def modes(self) -> int:
        return len(self.squares)


def _parts(element: str, solid: ReducedSolid) -> _Parts:
    m, size = len(solid.names), len(solid.mass_matrix)
    if size == 6:
        rule, advice = "it has one interface and no modes: nothing of it bends", "reduce it with some modes"
        raise MechanismError.of(element, rule, None, advice)
    M = np.array(solid.mass_matrix)
    bounds, inner = slice(0, 6 * m), slice(6 * m, size)
    # The mass that moves with the interfaces alone: that which modes between them leave.
    alone = M[bounds, bounds] - M[bounds, inner] @ np.linalg.solve(M[inner, inner], M[inner, bounds])
    sizes = np.diag(alone).reshape(m, 2, 3).mean(axis=(0, 2))
    D = np.tile(np.repeat(sizes, 3), m)
    share = _SHARE * float(np.linalg.eigvalsh(alone / np.sqrt(np.outer(D, D)))[0])
    if not share > 0.0:
        raise MechanismError.of(
            element, "its modes leave no mass to its interfaces", share, "keep fewer modes"
        )
    M[bounds, bounds] -= share * np.diag(D)
    R = rigid_motion(solid.positions, size - 6 * m)
    mass, centre, inertia = properties_of(R.T @ M @ R)
    free = np.linalg.qr(M @ R, mode="complete")[0][:, 6:]
    lower = np.linalg.inv(np.linalg.cholesky(free.T @ M @ free))
    squares, shapes = np.linalg.eigh(lower @ (free.T @ solid.stiffness_matrix @ free) @ lower.T)
    shapes = free @ lower.T @ shapes
    # At 1 rad a mode has this root mean square, the radius of gyration, or moves an interface as far.
    size = np.sqrt(0.5 * float(np.trace(inertia)) / mass)
    moved = np.abs(shapes[bounds].reshape(m, 2, 3, -1)).max(axis=(0, 2))
    one = np.maximum(1.0 / (size * np.sqrt(mass)), np.maximum(moved[0] / size, moved[1]))
    seen = np.zeros((m, 6, len(squares)))
    for number, turn in enumerate(solid.rotations):
        A = matrix(tuple(turn.tolist()))
        at = shapes[6 * number : 6 * number + 6] / one
        seen[number] = np.concatenate([A.T @ at[:3], A.T @ at[3:]])
    each = (share * float(sizes[0]), share * float(sizes[1]))
    return _Parts(mass, centre, inertia, each, squares, one**-2, seen, shapes / one)


def freedoms_of_modes(mechanism: Mechanism, name: str, solid: Any) -> Floats:
    """What the freedoms of a reduced solid do at 1 rad of its modes in a mechanism, (n, modes).

    Raises MechanismError where the solid of this name in the mechanism is another one.
    """
    element = f"flexible solid {name!r}"
    reduced = required(element, solid, ReducedSolid, "as given to add_flexible")
    listed = sorted({one.rpartition("/")[0] for one in frames(mechanism)})
    if name not in listed:
        rule = "there is no flexible solid of this name"
        raise MechanismError.of(f"mechanism {mechanism.name!r}", rule, name, nearest(name, listed))
    parts = _parts(element, reduced)
    held = [mechanism.constraints.get(f"{name}/{which}") for which in reduced.names]
    shapes = [np.array(getattr(one and one.kind, "shapes", ()), dtype=float) for one in held]
    if all(found.shape == own.shape for found, own in zip(shapes, parts.shapes, strict=True)):
        given = np.array(shapes)
        signs = np.where(
            np.sum(given * parts.shapes, axis=(0, 1)) < 0.0, -1.0, 1.0
        )  # an eigenvector has none
        if np.abs(given - signs * parts.shapes).max() <= _SAME * np.abs(parts.shapes).max():
            return parts.freedoms * signs
    rule = "the mechanism has another solid of this name"
    raise MechanismError.of(element, rule, None, "give the one that was given to add_flexible")


def _wheel(
    mechanism: Mechanism, name: str, parts: _Parts, number: int, damping: tuple[float, float]
) -> Joint:
    """The amplitude of a mode: the angle of a wheel on the ground, held by a spring."""
    square, inertia = float(parts.squares[number - 1]), float(parts.wheels[number - 1])
    lag, ratio = damping
    body = mechanism.add_body(name, _WHEEL * parts.mass, (inertia,) * 3)
    joint = mechanism.add_joint(name, Revolute(), "ground", body)
    damped = inertia * (lag * square + 2.0 * ratio * square**0.5)
    mechanism.add_force(name, TorsionSpring(inertia * square, damped), joint)
    return joint


def _hold(
    mechanism: Mechanism, name: str, shapes: Floats, place: Any, frame: Body, wheels: tuple[Joint, ...]
) -> Constraint:
    """The interface moves with the modes."""
    largest = np.abs(shapes).max(axis=0, initial=0.0)
    clean = np.where(np.abs(shapes) > _NOTHING * largest, shapes, 0.0)
    return mechanism.add_constraint(name, FlexibleInterface(as_tuple(clean)), place, frame, *wheels)
