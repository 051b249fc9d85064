"""Random mechanisms of every joint, constraint and force kind, with loops, drives and unlike masses, by seed.

Bodies are placed at random first. A joint's second marker lies where the joint's rows hold, seen from the
first one, so that any number of loops is closed from the start, to rounding.
"""

from dataclasses import dataclass

import numpy as np
from rigs import examples
from rigs.machine import quaternion
from rigs.random_formulas import custom_constraint, custom_force, custom_joint
from scipy.spatial.transform import Rotation

import bellcrank as bc
from bellcrank.mechanism import JOINT_KINDS
from bellcrank.mechanism.ropes import Way

JOINTS = [name for name, kind in JOINT_KINDS.items() if kind.custom is None and not kind.shorthand]
IN_A_PLANE = ["Revolute", "PinInSlot", "PrismaticX", "Planar", "ParallelAxes", "ParallelLink", "PlanarHingeX"]
# A follower is where its law says: tests/constraints/test_cams.py has random ones; worms are in
# tests/fuzz/friction.py, so that the mechanisms of seeds stay the same.
PLACED = ("CamFollower", "WormGear")
# Ropes, and teeth that give, need wheels with parallel axes; test_ropes.py and test_teeth.py have them. Beams
# are in random_beams.py.
CONSTRAINTS = [
    form for form in examples.constraints() if form[1].name not in PLACED and not isinstance(form[1], Way)
]
ACTUATORS = ("GasSpring", "HydraulicCylinder", "PneumaticCylinder", "DCMotor", "Servo", "StepperMotor")
ACTUATORS += ("BearingClearance",)  # none, but in their place: the mechanisms of other seeds stay the same
FORCES = [
    form
    for form in examples.forces()
    if form[1].name not in (*ACTUATORS, "ElasticGear", "BeamSegment") and not isinstance(form[1], Way)
]
ACTING = [form for form in examples.forces() if form[1].name in ACTUATORS]
_TURNS = ("theta_x", "theta_y", "theta_z", "universal_1", "universal_2")
_LED = (*_TURNS, "x", "y", "z")


@dataclass(frozen=True)
class Recipe:
    """What a random mechanism is made of.

    masses: decades of mass, from the lightest to the heaviest body. plane: all axes are parallel, so that
    loops hold some rows more than once. twice: above zero, some joints and constraints are added again.
    formulas: elements given by formulas, besides.
    """

    bodies: int
    loops: int
    constraints: int
    drives: int
    forces: int
    masses: float
    plane: bool
    twice: int
    formulas: int


def recipe(rng):
    """A random recipe; mechanisms of a few bodies are the most frequent ones."""
    bodies = int(rng.choice([1, 2, 3, 4, 5, 6, 8, 12], p=[0.1, 0.2, 0.2, 0.15, 0.15, 0.1, 0.06, 0.04]))
    return Recipe(
        bodies=bodies,
        loops=int(rng.integers(0, max(1, bodies // 2) + 1)),
        constraints=int(rng.choice([0, 1, 2, 3], p=[0.5, 0.3, 0.15, 0.05])),
        drives=int(rng.choice([0, 1, 2], p=[0.6, 0.3, 0.1])),
        forces=int(rng.integers(0, 4)),
        masses=float(rng.choice([0.5, 3.0, 6.0, 12.0], p=[0.7, 0.15, 0.1, 0.05])),
        plane=bool(rng.random() < 0.2),
        twice=int(rng.choice([0, 1, 2], p=[0.8, 0.15, 0.05])),
        formulas=int(rng.choice([0, 1, 2, 3], p=[0.8, 0.1, 0.05, 0.05])),
    )


class _Builder:
    """A mechanism under construction: bodies, what carries them, and where they are."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.recipe = recipe(self.rng)
        self.mechanism = bc.Mechanism(f"random {seed}", gravity=tuple(self.rng.normal(0.0, 4.0, 3)))
        self.freedoms = 0
        self.moving = []  # (joint, coordinate) that drives, forces and constraints may act on
        self.led = set()

    def build(self):
        """All parts of the recipe, those that need others after them."""
        for number in range(self.recipe.bodies):
            self.add_body(number)
        carriers = [self.mechanism.ground, *self.mechanism.bodies.values()]
        for number in range(self.recipe.bodies):
            if self.rng.random() < 0.92:
                parent = carriers[int(self.rng.integers(0, number + 1))]
                self.add_joint(f"joint {number}", parent, carriers[number + 1])
        for number in range(self.recipe.loops):
            one, two = self.rng.choice(len(carriers), 2, replace=False)
            self.add_joint(f"loop {number}", carriers[one], carriers[two], most=self.freedoms - 1)
        for number in range(self.recipe.constraints):
            self.add_constraint(f"tie {number}")
        for number in range(self.recipe.drives):
            self.add_drive(f"drive {number}")
        for number in range(self.recipe.forces):
            self.add_force(f"force {number}")
        for number in range(self.recipe.formulas):
            self.add_formula(number)
        return self.mechanism

    def rotation(self):
        if self.recipe.plane:
            return Rotation.from_rotvec([0.0, 0.0, self.rng.uniform(-3.0, 3.0)])
        return Rotation.from_quat(self.rng.normal(size=4))

    def add_body(self, number):
        rng = self.rng
        cloud = rng.normal(size=(6, 3)) * rng.uniform(0.02, 0.3, 3)
        mass = float(10.0 ** rng.uniform(-0.25, 0.25))
        if self.recipe.masses > 1.0:
            mass = float(10.0 ** rng.uniform(-self.recipe.masses / 2, self.recipe.masses / 2))
        second = mass * cloud.T @ cloud / len(cloud)
        flat = np.array([1.0, 1.0, 0.0]) if self.recipe.plane else np.ones(3)
        if self.recipe.plane:
            second[2, :2] = second[:2, 2] = 0.0
        self.mechanism.add_body(
            f"body {number}",
            mass=mass,
            inertia=np.trace(second) * np.eye(3) - second,
            com=tuple(rng.uniform(-0.2, 0.2, 3) * flat),
            position=tuple(rng.uniform(-0.5, 0.5, 3)),
            rotation=quaternion(self.rotation()),
            velocity=tuple(rng.normal(0.0, 0.5, 3) * flat),
            angular_velocity=tuple(rng.normal(0.0, 1.5, 3) * (1.0 - flat if self.recipe.plane else flat)),
        )
        self.freedoms += 6

    def marker(self, body):
        return body.marker(tuple(self.rng.uniform(-0.3, 0.3, 3)), rotation=quaternion(self.rotation()))

    def add_joint(self, name, first, second, most=6):
        rng = self.rng
        names = IN_A_PLANE if self.recipe.plane else JOINTS
        kind, position = examples.joint(names[int(rng.integers(len(names)))]), None
        marker = self.marker(first)
        if self.recipe.formulas and not self.recipe.plane and rng.random() < 0.2:
            kind, position, (offset, turn) = custom_joint(rng)
        else:
            offset, turn = relative_pose(kind, rng, self.recipe.plane)
        pose = _frame(first)[1] * _turn(marker.rotation)
        origin = _frame(first)[0] + _frame(first)[1].apply(marker.position) + pose.apply(offset)
        at, axes = _frame(second)
        local = tuple(axes.inv().apply(origin - at))
        other = second.marker(local, rotation=quaternion(axes.inv() * pose * turn))
        rows = 6 - len(position) if position else len(kind.rows(marker, other))
        if rows > most and rng.random() < 0.9:
            return
        self.mechanism.add_joint(name, kind, marker, other, position=position)
        self.freedoms -= rows
        self.moving += [(name, c) for c in kind.free if c in _LED]
        if self.recipe.twice and position is None and rng.random() < 0.4:
            self.mechanism.add_joint(f"{name} again", kind, marker, other)

    def ends(self, letters):
        """Markers on different bodies (M) and coordinates of joints (J); None if there are too few."""
        bodies = list(self.mechanism.bodies.values())
        if letters.count("M") > 1:
            bodies.append(self.mechanism.ground)
        chosen = [bodies[i] for i in self.rng.permutation(len(bodies))]
        coordinates = [self.moving[i] for i in self.rng.permutation(len(self.moving))]
        ends = []
        for letter in letters:
            pool = chosen if letter == "M" else coordinates
            if not pool:
                return None
            end = pool.pop()
            ends.append(
                self.marker(end) if letter == "M" else self.mechanism.joints[end[0]].coordinate(end[1])
            )
        return ends

    def add_constraint(self, name):
        _, kind, letters = CONSTRAINTS[int(self.rng.integers(len(CONSTRAINTS)))]
        ends = self.ends(letters)
        if ends is None or self.freedoms < 2 or (self.recipe.plane and "M" in letters):
            return
        self.mechanism.add_constraint(name, kind, *ends)
        self.freedoms -= 1
        if self.recipe.twice and self.rng.random() < 0.5:
            self.mechanism.add_constraint(f"{name} again", kind, *ends)

    def add_drive(self, name):
        free = [place for place in self.moving if place not in self.led]
        if not free or self.freedoms < 2:
            return
        joint, coordinate = free[int(self.rng.integers(len(free)))]
        size, rate, phase = self.rng.uniform([0.05, 1.0, 0.0], [0.3, 4.0, 6.0])
        start = bc.Harmonic(size, rate, phase=phase, offset=-size * np.sin(phase))
        self.mechanism.add_drive(name, joint, coordinate, position=start, relative=True)
        self.led.add((joint, coordinate))
        self.freedoms -= 1

    def add_force(self, name):
        _, kind, letters = FORCES[int(self.rng.integers(len(FORCES)))]
        ends = self.ends(letters)
        if ends is not None:
            self.mechanism.add_force(name, kind, *ends)

    def add_actuator(self, name):
        _, kind, letters = ACTING[int(self.rng.integers(len(ACTING)))]
        ends = self.ends(letters)
        if ends is None or (letters == "J" and hasattr(kind, "stroke") and ends[0].coordinate not in "xyz"):
            return
        self.mechanism.add_force(name, kind, *ends)

    def add_formula(self, number):
        ends = self.ends("MM")
        if self.rng.random() < 0.6:
            self.mechanism.add_force(f"formula {number}", custom_force(self.rng), *ends)
        elif self.freedoms > 1 and not self.recipe.plane:
            carriers = self.mechanism.bodies
            frames = [_frame(carriers.get(end.body, self.mechanism.ground)) for end in ends]
            places = [at + axes.apply(end.position) for (at, axes), end in zip(frames, ends, strict=True)]
            self.mechanism.add_constraint(f"formula {number}", custom_constraint(places), *ends)
            self.freedoms -= 1


def _turn(q):
    return Rotation.from_quat(np.roll(np.asarray(q, dtype=float), -1))


def _frame(body):
    if not hasattr(body, "position"):
        return np.zeros(3), Rotation.identity()
    return np.array(body.position), _turn(body.rotation)


def random_mechanism(seed):
    """The random mechanism of this seed."""
    return _Builder(seed).build()


def random_actuated(seed):
    """The random mechanism of this seed with two to four actuators besides."""
    builder = _Builder(seed)
    mechanism = builder.build()
    builder.rng = np.random.default_rng((seed, 1))
    for number in range(int(builder.rng.integers(2, 5))):
        builder.add_actuator(f"actuator {number}")
    return mechanism


def kinds(mechanism):
    """The names of the kinds of its joints, constraints and forces, as a set."""
    tables = (mechanism.joints, mechanism.constraints, mechanism.forces)
    return {element.kind.name for table in tables for element in table.values()}


def relative_pose(kind, rng, plane=False):
    """A random pose (offset, Rotation) of marker 2 seen from marker 1 at which a joint kind holds."""
    q = np.array([rng.normal(), *rng.normal(size=3)])
    q[1:] *= [f"e{k}" not in kind.locked for k in (1, 2, 3)]
    turn = Rotation.from_quat(np.roll(q, -1))
    if plane:
        turn = Rotation.from_rotvec([0.0, 0.0, 0.0 if "e3" in kind.locked else rng.uniform(-3.0, 3.0)])
    if "dot_xy" in kind.locked:
        turn = Rotation.from_euler("XY", rng.uniform(-1.2, 1.2, 2))
    if "dot_zz" in kind.locked or kind.name == "CylinderOnPlane":
        a, b = rng.uniform(-3.0, 3.0, 2)
        turn = Rotation.from_euler("ZXZ", [a, np.pi / 2, b])
    offset = rng.uniform(-0.4, 0.4, 3) * [axis not in kind.locked for axis in "xyz"]
    if kind.name == "Screw":
        offset = np.array([0.0, 0.0, kind.pitch / (2 * np.pi) * turn.as_rotvec()[2]])
    elif kind.name == "PointOnCone":
        offset[2] = np.hypot(*offset[:2]) / np.tan(kind.half_angle)
    elif kind.name == "PointOnHelix":
        angle = rng.uniform(-3.0, 3.0)
        radius, rise = kind.radius, kind.pitch / (2 * np.pi)
        offset = np.array([radius * np.cos(angle), radius * np.sin(angle), rise * angle])
    elif kind.name in ("SphereOnPlane", "CylinderOnPlane"):
        offset[2] = kind.radius
    elif kind.name == "PointOnCurve":
        offset = np.array(kind.points[int(rng.integers(1, len(kind.points) - 1))])
    return offset, turn
