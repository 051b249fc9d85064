"""Random mechanisms with limits, and targets that each of them reaches: the pose of a known configuration.

Every family is a mechanism in two configurations within its limits, one to start from, one whose points and
frames are the targets: trees in a plane and in space, closed loops, bodies that hang on nothing.
"""

from dataclasses import dataclass, field
from math import pi

import numpy as np
from scipy.spatial.transform import Rotation

import bellcrank as bc

# Free coordinates by kind, with the widest range that a limit has: rad, m.
PLANE = {"Revolute": {"": 2.6}, "PrismaticX": {"": 0.6}}
SPACE = {
    "Revolute": {"": 2.6},
    "RevoluteX": {"": 2.6},
    "Prismatic": {"": 0.6},
    "Cylindrical": {"z": 0.5, "theta_z": 2.4},
    "Universal": {"universal_1": 1.4, "universal_2": 1.2},
}


@dataclass
class Task:
    """Targets that a mechanism reaches from where it starts.

    targets: as inverse kinematics takes them. limits: (joint, which of its coordinates, least, most).
    """

    mechanism: bc.Mechanism
    targets: dict
    start: bc.State | None = None
    limits: list = field(default_factory=list)


def planar(seed):
    """An arm of two to six links in a plane."""
    return _tree(np.random.default_rng([seed, 1]), PLANE, plane=True)


def spatial(seed):
    """A tree of two to seven bodies in space."""
    return _tree(np.random.default_rng([seed, 2]), SPACE, plane=False)


def loose(seed):
    """Trees beside bodies that hang on nothing, or on a measured pose with limits."""
    rng = np.random.default_rng([seed, 3])
    return _tree(
        rng, SPACE | {"Free": {"x": 0.5, "y": 0.5, "z": 0.5}, "Spherical": {}}, plane=False, loose=True
    )


def looped(seed):
    """Closed loops in a plane or in space, started from where a run ends."""
    rng = np.random.default_rng([seed, 4])
    for _ in range(50):
        if (task := _loop(rng)) is not None:
            return task
    raise AssertionError(f"no loop of seed {seed} moves")


FAMILIES = {"planar": planar, "spatial": spatial, "loose": loose, "looped": looped}


def task(seed):
    """The families in turn."""
    return list(FAMILIES.values())[seed % len(FAMILIES)](seed)


def wrong(task, **options):
    """What is wrong with the default answer to a task; nothing if nothing is."""
    ik = bc.InverseKinematics(task.mechanism, **options)
    found = ik.nearest(task.targets, task.start)
    if not found.reached:
        missed = max(distance + angle for distance, angle in found.misses)
        return f"misses a target that is reached by {missed:.3g}"
    system = bc.prepare(ik.model, "lagrange")
    system.set_state(found.state)
    rows = system.rows()
    of_stops = ik.model.arrays["block_unilateral"].astype(bool)[ik.model.row_block]
    if (error := np.abs(rows.error[~of_stops]).max(initial=0.0)) > 1e-8:
        return f"leaves a constraint open by {error:.3g}"
    for joint, which, least, most in task.limits:
        if not least - 1e-8 <= found.joint(joint)[which] <= most + 1e-8:
            return f"joint {joint!r} is at {found.joint(joint)[which]:.6g}, not in {least:.6g} to {most:.6g}"
    for (body, point), (position, rotation) in task.targets.items():
        number = ik.model.body_number(body)
        turn = _turn(found.state.rotation[number])
        if position is not None:
            away = np.linalg.norm(found.state.position[number] + turn.apply(point) - position)
            if away > 1e-7:
                return f"body {body!r} is {away:.3g} m from its target"
        if rotation is not None and (turn.inv() * _turn(rotation)).magnitude() > 1e-6:
            return f"body {body!r} is turned otherwise than asked"
    return ""


def _turn(q):
    return Rotation.from_quat(np.roll(np.asarray(q, dtype=float), -1))


def _quaternion(turn):
    return tuple(np.roll(turn.as_quat(), 1).tolist())


def _any_turn(rng, plane):
    return (
        Rotation.from_rotvec([0.0, 0.0, rng.uniform(-pi, pi)]) if plane else Rotation.random(random_state=rng)
    )


@dataclass
class _Hinge:
    """A joint of a tree: its kind, ends, ranges and the two positions."""

    kind: str
    parent: int
    first: tuple
    second: tuple
    ranges: dict
    start: dict
    goal: dict


def _hinge(rng, kinds, parent, plane):
    kind = list(kinds)[int(rng.integers(len(kinds)))]
    reach = [rng.uniform(0.3, 1.0), 0.0, 0.0] if parent >= 0 else [0.0, 0.0, 0.0]
    first = (tuple(reach), _quaternion(_any_turn(rng, plane)))
    second = (
        (0.0, 0.0, 0.0) if plane else tuple(rng.uniform(-0.2, 0.2, 3)),
        _quaternion(_any_turn(rng, plane)),
    )
    ranges, start, goal = {}, {}, {}
    for name, widest in kinds[kind].items():
        middle = rng.uniform(-0.2, 0.2) * widest
        half = rng.uniform(0.15, 1.0) * (widest - abs(middle))
        ranges[name] = (middle - half, middle + half)
        start[name], goal[name] = rng.uniform(middle - half, middle + half, 2)
    return _Hinge(kind, parent, first, second, ranges, start, goal)


def _tree(rng, kinds, plane, loose=False):
    bodies = int(rng.integers(2, 7 if plane else 8))
    hinges = [
        _hinge(rng, kinds, k - 1 if rng.random() < 0.75 else int(rng.integers(-1, k)), plane)
        for k in range(bodies)
    ]
    free = [loose and rng.random() < 0.3 for _ in hinges]
    shapes = [rng.uniform(0.05, 0.4, 3) for _ in hinges]
    weights = 10.0 ** rng.uniform(-0.5, 0.5, bodies)

    def built(goal):
        mech = bc.Mechanism("tree", gravity=(0.0, 0.0, 0.0))
        for k, (hinge, shape) in enumerate(zip(hinges, shapes, strict=True)):
            inertia = np.array(
                [shape[1] ** 2 + shape[2] ** 2, shape[0] ** 2 + shape[2] ** 2, shape[0] ** 2 + shape[1] ** 2]
            )
            body = mech.add_body(
                f"b{k}", mass=weights[k], inertia=weights[k] * inertia / 12.0, com=(0.3, 0.0, 0.0)
            )
            if free[k]:
                continue
            carrier = mech.ground if hinge.parent < 0 else mech.bodies[f"b{hinge.parent}"]
            values = hinge.goal if goal else hinge.start
            given = next(iter(values.values())) if list(values) == [""] else dict(values)
            limits = {name: bc.Limit(*ends) for name, ends in hinge.ranges.items()}
            mech.add_joint(
                f"j{k}",
                getattr(bc, hinge.kind)(),
                carrier.marker(hinge.first[0], rotation=hinge.first[1]),
                body.marker(hinge.second[0], rotation=hinge.second[1]),
                position=given or None,
                limits=limits[""] if list(limits) == [""] else limits,
            )
        return mech

    mech, there = built(False), bc.InverseKinematics(built(True)).model
    limits = [
        (f"j{k}", list(there.joint(f"j{k}").coordinate_names).index(name) if name else 0, *ends)
        for k, hinge in enumerate(hinges)
        if not free[k]
        for name, ends in hinge.ranges.items()
    ]
    return Task(mech, _targets(rng, there, there.initial, plane), limits=limits)


def _targets(rng, model, state, plane):
    """Points, poses and rotations of one to three bodies where they are in a state."""
    count = int(rng.choice([1, 2, 3], p=[0.6, 0.3, 0.1]))
    chosen = [len(model.bodies) - 1, *rng.permutation(len(model.bodies) - 1)][:count]
    targets = {}
    for number in chosen:
        point = rng.uniform(-0.5, 0.5, 3) * (np.array([1.0, 1.0, 0.0]) if plane else 1.0)
        turn = _turn(state.rotation[number])
        place, asked = state.position[number] + turn.apply(point), rng.random()
        position = None if asked > 0.85 else tuple(place.tolist())
        targets[model.bodies[number], tuple(point.tolist())] = (
            position,
            _quaternion(turn) if asked > 0.5 else None,
        )
    return targets


_ROWS = {"Revolute": 5, "Cylindrical": 4, "Spherical": 3, "Universal": 4}


@dataclass
class _Loops:
    """Bodies where a loop is closed, and joints: kind, ends, place, axes, angles of a universal joint."""

    plane: bool
    places: list
    joints: list
    spins: np.ndarray
    spread: np.ndarray
    skew: np.ndarray

    def built(self, ranges):
        """The mechanism, with limits by joint."""
        mech = bc.Mechanism("loops", gravity=(0.0, 0.0, 0.0))
        for k, (place, turn) in enumerate(self.places[1:]):
            mech.add_body(
                f"b{k}", mass=1.0, inertia=(0.05, 0.06, 0.07), position=tuple(place),
                rotation=_quaternion(turn), angular_velocity=tuple(self.spins[k]),
            )  # fmt: skip
        ends = [mech.ground, *mech.bodies.values()]
        for number, (kind, one, two, at, axes, angles) in enumerate(self.joints):
            bent = Rotation.from_euler("XY", angles[:2]) if kind == "Universal" else Rotation.identity()
            markers = []
            for end, frame in ((one, axes), (two, axes * bent)):
                place, turn = self.places[end]
                local = tuple(turn.inv().apply(at - place))
                markers.append(ends[end].marker(local, rotation=_quaternion(turn.inv() * frame)))
            mech.add_joint(f"j{number}", getattr(bc, kind)(), *markers, limits=ranges.get(f"j{number}", ()))
        return mech

    def limits(self):
        """Ranges of the coordinates around where the loop is closed: (joint, which, least, most, name)."""
        model, found = bc.InverseKinematics(self.built({})).model, []
        values = model.coordinate_values(model.initial)
        for number, joint in enumerate(model.joints):
            kind, skew = self.joints[number][0], self.skew[number]
            if kind == "Spherical":
                continue
            for which, (unit, name) in enumerate(zip(joint.units, joint.coordinate_names, strict=True)):
                widest = 0.8 if kind == "Universal" else 2.2 if unit == "rad" else 0.5
                value = values[joint.coordinates[which]]
                least = value - skew[0] * widest * self.spread[number] - 0.05
                found.append((joint.name, which, least, value + skew[1] * widest + 0.05, name))
        return found


def _loops(rng):
    """One loop or two; None where nothing would move."""
    plane, bodies = bool(rng.random() < 0.5), int(rng.integers(3, 7))
    kinds = ["Revolute"] * 4 + ["PrismaticX"]
    if not plane:
        kinds = ["Revolute", "Cylindrical", "Spherical", "Universal", "Spherical"]
    flat = np.array([1.0, 1.0, 0.0]) if plane else np.ones(3)
    places = [(np.zeros(3), Rotation.identity())]
    places += [(rng.uniform(-0.8, 0.8, 3) * flat, _any_turn(rng, plane)) for _ in range(bodies)]
    links = [(k, k + 1) for k in range(bodies)] + [(bodies, 0)]
    if rng.random() < 0.3:
        links.append((int(rng.integers(0, bodies - 1)), bodies))
    joints = []
    for one, two in links:
        kind = kinds[int(rng.integers(len(kinds)))]
        middle = 0.5 * (places[one][0] + places[two][0]) + rng.uniform(-0.2, 0.2, 3) * flat
        joints.append((kind, one, two, middle, _any_turn(rng, plane), rng.uniform(-0.6, 0.6, 3)))
    held = 2 * len(joints) if plane else sum(_ROWS[joint[0]] for joint in joints)
    if (3 if plane else 6) * bodies - held < 1:
        return None
    spread = rng.uniform(0.4, 1.0, len(joints))
    spins = rng.normal(0.0, 4.0, (bodies, 3)) * (1.0 - flat if plane else 1.0)
    return _Loops(plane, places, joints, spins, spread, rng.uniform(0.2, 0.8, (len(joints), 2)))


def _loop(rng):
    """Loops that a run has moved away from where they are closed; None if they do not move."""
    loops = _loops(rng)
    if loops is None:
        return None
    try:
        limits, ranges = loops.limits(), {}
        for joint, _, least, most, name in limits:
            ranges.setdefault(joint, {})[name] = bc.Limit(least, most)
        mech = loops.built(ranges)
        model = bc.InverseKinematics(mech).model
        run = bc.simulate(mech, 0.5, output_step=0.1, method="dopri5", formulation="lagrange", tolerance=1e-6)
    except bc.BellcrankError:
        return None
    end = run.at(float(run.time[-1]))
    if np.abs(end.position - model.initial.position).max() < 0.05:
        return None
    return Task(mech, _targets(rng, model, model.initial, loops.plane), end, [one[:4] for one in limits])
