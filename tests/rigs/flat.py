"""Two bodies as flat arrays, connected by what a test puts between them."""

from __future__ import annotations

import numpy as np

import bellcrank as bc
from bellcrank import _core
from bellcrank.compile.compile import compile_mechanism
from bellcrank.expression import rotation_from_quaternion, symbol, t

IDENTITY = (1.0, 0.0, 0.0, 0.0)


def scene(seed, count=2, gravity=(0.3, -0.5, -9.81)):
    """A mechanism of `count` bodies at random poses, moving at random."""
    rng = np.random.default_rng(seed)
    mech = bc.Mechanism("scene", gravity=gravity)
    for number in range(count):
        turn = rng.normal(size=4)
        mech.add_body(
            f"body{number}",
            mass=rng.uniform(0.5, 2.0),
            inertia=rng.uniform(0.08, 0.12, 3),
            com=rng.uniform(-0.1, 0.1, 3),
            position=rng.uniform(-1.0, 1.0, 3),
            rotation=turn / np.linalg.norm(turn),
            velocity=rng.uniform(-1.0, 1.0, 3),
            angular_velocity=rng.uniform(-1.0, 1.0, 3),
        )
    return mech


class Flat:
    """The arrays of a mechanism, to which formulas are added before a system is made of them."""

    def __init__(self, mechanism):
        model = compile_mechanism(mechanism)
        self.arrays = dict(model.arrays)
        self.arrays.setdefault("block_formula", np.full(len(self.arrays["block_unilateral"]), -1, np.int32))
        self.arrays.pop("formulas", None)
        self.initial = model.initial
        self.formulas = _core.Formulas(t)

    def append(self, name, values):
        old = self.arrays[name]
        self.arrays[name] = np.concatenate(
            [old, np.array(values, dtype=old.dtype).reshape(-1, *old.shape[1:])]
        )

    def pair(self, bodies, positions, rotations=(IDENTITY, IDENTITY)):
        """A pair of markers; its number."""
        self.append("pair_bodies", [bodies])
        self.append("pair_positions", [positions])
        self.append("pair_rotations", [rotations])
        return len(self.arrays["pair_bodies"]) - 1

    def coordinate(self, kind, pair, params=()):
        """A coordinate; its number."""
        self.arrays["coordinate_kind"] = [*self.arrays["coordinate_kind"], kind]
        self.append("coordinate_pair", [pair])
        self.append("coordinate_params", list(params))
        self.append("coordinate_param_start", [len(self.arrays["coordinate_params"])])
        return len(self.arrays["coordinate_kind"]) - 1

    def block(self, rows, formula=-1):
        """A block of rows, each a list of coordinates that add up to zero; its number."""
        for terms in rows:
            self.append("term_coordinate", terms)
            self.append("term_coefficient", [1.0] * len(terms))
            self.append("row_term_start", [len(self.arrays["term_coordinate"])])
            self.append("row_function", [-1])
            self.append("row_constant", [0.0])
        self.append("block_row_start", [len(self.arrays["row_constant"])])
        self.append("block_unilateral", [0])
        self.append("block_compliance", [0.0])
        self.append("block_restitution", [0.0])
        self.append("block_formula", [formula])
        return len(self.arrays["block_unilateral"]) - 1

    def constrain(self, ends, rows, of_velocity=False):
        """A block of formulas of the motion of markers."""
        markers = [end.marker for end in ends]
        number = self.formulas.add_constraint(markers, [], rows, of_velocity)
        return self.block([[] for _ in rows], number)

    def joint(self, pair, coordinates, pose, start):
        """A joint given by a Transform of its coordinates; the numbers of these."""
        entries = [entry for row in pose.rotation for entry in row]
        number = self.formulas.add_joint(list(coordinates), list(pose.position), entries, list(start))
        count = len(coordinates)
        rows = [self.coordinate("formula_row", pair, (number, k)) for k in range(6 - count)]
        free = [self.coordinate("formula_coordinate", pair, (number, k)) for k in range(count)]
        if rows:
            self.block([[row] for row in rows])
        return free

    def system(self, **options):
        """The lagrange system at the mechanism's initial state."""
        model = _core.Model(**self.arrays, formulas=self.formulas)
        system = _core.Lagrange(model, _core.RefinedClosingOptions(**options))
        s = self.initial
        system.set_state(s.time, s.position, s.rotation, s.velocity, s.angular_velocity)
        return system


class Seen:
    """The symbols of a marker: position, rotation, velocity, angular velocity."""

    def __init__(self, name, body, offset=(0.0, 0.0, 0.0), attitude=IDENTITY):
        self.position = [symbol(f"{name}.{k}") for k in "xyz"]
        self.quaternion = [symbol(f"{name}.e{k}") for k in range(4)]
        self.velocity = [symbol(f"{name}.v{k}") for k in "xyz"]
        self.angular_velocity = [symbol(f"{name}.w{k}") for k in "xyz"]
        self.marker = _core.MarkerSymbols(
            body=body,
            offset=offset,
            attitude=attitude,
            position=self.position,
            rotation=self.quaternion,
            velocity=self.velocity,
            angular_velocity=self.angular_velocity,
        )

    def axis(self, number):
        """An axis of the marker, world axes."""
        return list(rotation_from_quaternion(self.quaternion).rotation.columns[number])
