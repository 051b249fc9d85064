"""Free linkages of two to four bodies with a gear, belt, rack or differential, its axes not held, by seed.

Nothing acts but constraints, springs and weight, so that the energy stays what it is; and the wheels go where
they like, also past the places where the directions that their rows measure are not defined (poles).
"""

import numpy as np
from rigs.random_mechanisms import relative_pose
from scipy.spatial.transform import Rotation

import bellcrank as bc

JOINTS = ("Spherical", "Universal", "Revolute", "Cylindrical", "Prismatic", "PointOnPlane")
TURNING = {
    "Spherical": ("theta_x", "theta_y", "theta_z"),
    "Universal": ("universal_1", "universal_2"),
    "Revolute": ("theta_z",),
    "Cylindrical": ("theta_z",),
}


def coupling(rng, plane):
    """A kind between two markers; bevel gears have no direction in a plane."""
    radii = tuple(rng.uniform(0.1, 0.5, 2).tolist())
    kinds = (
        lambda: bc.Gear(radii=radii),
        lambda: bc.Gear(ratio=float(rng.uniform(0.3, 3.0))),
        lambda: bc.InternalGear(radii=radii),
        lambda: bc.Belt(radii=radii),
        lambda: bc.Belt(radii=radii, crossed=True),
        lambda: bc.BevelGear(radii=radii),
        lambda: bc.RackPinion(float(rng.choice([-1.0, 1.0]) * radii[0])),
    )
    return kinds[rng.choice([0, 1, 2, 3, 4, 6] if plane else 7)]()


def _quaternion(turn):
    return tuple(np.roll(turn.as_quat(), 1).tolist())


def _body(mech, rng, number, plane):
    size = rng.uniform(0.1, 0.4, 3)
    mass = float(10.0 ** rng.uniform(-0.3, 0.3))
    flat = np.array([1.0, 1.0, 0.0]) if plane else np.ones(3)
    turn = (
        Rotation.from_rotvec([0, 0, rng.uniform(-3, 3)]) if plane else Rotation.from_quat(rng.normal(size=4))
    )
    return mech.add_body(
        f"body {number}",
        mass=mass,
        inertia=tuple((mass * (size @ size - size**2)).tolist()),
        position=tuple((rng.uniform(-0.5, 0.5, 3) * flat).tolist()),
        rotation=_quaternion(turn),
        velocity=tuple((rng.normal(0.0, 0.5, 3) * flat).tolist()),
        angular_velocity=tuple((rng.normal(0.0, 1.5, 3) * (1.0 - flat if plane else flat)).tolist()),
    )


def _marker(rng, body, plane):
    place = rng.uniform(-0.2, 0.2, 3) * ((1.0, 1.0, 0.0) if plane else (1.0, 1.0, 1.0))
    turn = (
        Rotation.from_rotvec([0, 0, rng.uniform(-3, 3)]) if plane else Rotation.from_quat(rng.normal(size=4))
    )
    return body.marker(tuple(place.tolist()), rotation=_quaternion(turn))


def _frame(body):
    if not hasattr(body, "position"):
        return np.zeros(3), Rotation.identity()
    return np.array(body.position), Rotation.from_quat(np.roll(body.rotation, -1))


def _joined(mech, rng, name, kind, first, second):
    """A joint whose second marker lies where its rows hold."""
    marker = _marker(rng, first, False)
    offset, turn = relative_pose(kind, rng)
    at, axes = _frame(first)
    pose = axes * Rotation.from_quat(np.roll(marker.rotation, -1))
    origin = at + axes.apply(marker.position) + pose.apply(offset)
    at, axes = _frame(second)
    other = second.marker(
        tuple(axes.inv().apply(origin - at).tolist()), rotation=_quaternion(axes.inv() * pose * turn)
    )
    return mech.add_joint(name, kind, marker, other)


def geared_linkage(seed):
    """The free linkage of this seed."""
    rng = np.random.default_rng(seed)
    plane, differential = rng.random() < 0.3, rng.random() < 0.2
    weight = (0.0, 0.0, 0.0) if rng.random() < 0.5 else (0.0, float(rng.normal(0.0, 4.0)), 0.0)
    mech = bc.Mechanism(f"geared {seed}", gravity=weight)
    count = int(rng.integers(3 if differential else 2, 5))
    bodies = [_body(mech, rng, k, plane and not differential) for k in range(count)]
    if differential:
        _with_differential(mech, rng, bodies)
        return mech
    for k, body in enumerate(bodies):
        if plane:
            mech.add_joint(f"joint {k}", bc.Planar(), mech.ground, body)
        elif rng.random() < 0.6:
            carriers = [mech.ground, *bodies[:k]]
            kind = getattr(bc, JOINTS[rng.integers(len(JOINTS))])()
            _joined(mech, rng, f"joint {k}", kind, carriers[rng.integers(len(carriers))], body)
    ends = [_marker(rng, bodies[k], plane) for k in rng.permutation(count)[:2]]
    mech.add_constraint("coupling", coupling(rng, plane), *ends)
    if rng.random() < 0.3:
        spring = bc.SpringDamper(float(rng.uniform(1.0, 20.0)))
        mech.add_force(
            "spring", spring, *(_marker(rng, bodies[k], plane) for k in rng.permutation(count)[:2])
        )
    return mech


def _with_differential(mech, rng, bodies):
    """Angles of three joints, of balls and crosses too, in one row."""
    ends = []
    for k, body in enumerate(bodies):
        carriers = [mech.ground, *bodies[:k]]
        name = ("Spherical", "Universal", "Revolute", "Cylindrical")[rng.integers(4)]
        joint = _joined(
            mech, rng, f"joint {k}", getattr(bc, name)(), carriers[rng.integers(len(carriers))], body
        )
        angles = TURNING[name]
        ends.append(joint.coordinate(angles[rng.integers(len(angles))]))
    mech.add_constraint("coupling", bc.Differential(), *(ends[k] for k in rng.permutation(len(ends))[:3]))


def pole_distances(mech, run):
    """How far each direction of the coupling is from where it is not defined, (T, number), m or 1.

    For couplings between markers, from the poses of a run alone; none for those of joints.
    """
    kind, ends = mech.constraints["coupling"].kind, mech.constraints["coupling"].ends
    if not all(hasattr(end, "body") for end in ends):
        return np.full((len(run.time), 1), np.inf)
    places, axes = zip(*(_marker_frames(mech, run, end) for end in ends), strict=True)
    found = []
    for k in (0, 1):
        if isinstance(kind, bc.RackPinion):  # half the angle between the axes, from pi/2
            found.append(np.sqrt(np.abs(0.5 + 0.5 * np.sum(axes[0][:, :, 2] * axes[1][:, :, 2], axis=1))))
            continue
        to = axes[1 - k][:, :, 2] if isinstance(kind, bc.BevelGear) else places[1 - k] - places[k]
        found.append(np.linalg.norm(np.einsum("tij,ti->tj", axes[k], to)[:, :2], axis=1))
    return np.array(found).T


def _marker_frames(mech, run, marker):
    """Places and axes of a marker along a run."""
    local = Rotation.from_quat(np.roll(marker.rotation, -1))
    if marker.body == "ground":
        count = len(run.time)
        return np.tile(marker.position, (count, 1)), np.tile(local.as_matrix(), (count, 1, 1))
    body = run.body(marker.body)
    turn = Rotation.from_quat(np.roll(body.rotation, -1, axis=1))
    return body.position + turn.apply(marker.position), (turn * local).as_matrix()


def slip(mech, run):
    """The largest rate of the coupling along a run, of the speeds there, by poses and velocities alone.

    0 for couplings of joints.
    """
    kind, ends = mech.constraints["coupling"].kind, mech.constraints["coupling"].ends
    if not all(hasattr(end, "body") for end in ends) or isinstance(kind, bc.RackPinion):
        return 0.0
    frames = [_marker_frames(mech, run, end) for end in ends]
    motions = [_marker_motion(mech, run, end, place) for end, (place, _) in zip(ends, frames, strict=True)]
    rates, sizes = [], []
    for k in (0, 1):
        axes, spin = frames[k][1], motions[k][1]
        if isinstance(kind, bc.BevelGear):
            to = frames[1 - k][1][:, :, 2]
            change = np.cross(motions[1 - k][1], to)
        else:
            to, change = frames[1 - k][0] - frames[k][0], motions[1 - k][0] - motions[k][0]
        seen = np.einsum("tij,ti->tj", axes, to)
        moves = np.einsum("tij,ti->tj", axes, change - np.cross(spin, to))
        square = seen[:, 0] ** 2 + seen[:, 1] ** 2
        rates.append((seen[:, 0] * moves[:, 1] - seen[:, 1] * moves[:, 0]) / square)
        sizes.append((1.0 + np.linalg.norm(moves, axis=1)) / np.sqrt(square))
    one, two = kind.weights
    error = np.abs(one * rates[0] + kind.sign * two * rates[1])
    return float(np.max(error / (one * sizes[0] + two * sizes[1])))


def _marker_motion(mech, run, marker, place):
    if marker.body == "ground":
        return np.zeros_like(place), np.zeros_like(place)
    body = run.body(marker.body)
    return body.velocity + np.cross(body.angular_velocity, place - body.position), body.angular_velocity


def what_is_wrong(mech, tolerance=1e-9, formulation="lagrange", share=1e-5, duration=1.0):
    """What is wrong with a run of a geared linkage; nothing if nothing is.

    share: of the kinetic energy that the energy may be off by. A run may end with an error by name where a
    direction of its coupling has come to where it is not defined, and nowhere else.
    """
    options = {"output_step": duration / 100, "tolerance": tolerance, "formulation": formulation}
    try:
        run = bc.simulate(mech, duration, **options)
    except bc.SimulationError as error:
        distances = pole_distances(mech, error.trajectory)
        if np.min(distances[-1] / np.max(distances, axis=0)) > 0.05:
            return f"ended away from all poles: {error}"
        raise
    energy = run.energy.total
    off = float(np.max(np.abs(energy - energy[0])) / max(float(np.max(run.energy.kinetic)), 1e-9))
    if off > share:
        return f"{run.statistics['steps']} steps change the energy by {off:.2g} of the kinetic energy"
    slips = slip(mech, run)
    return f"the wheels slip by {slips:.2g} of their speeds" if slips > 1e-7 else ""
