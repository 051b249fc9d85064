"""Linearized random trees and loops with inputs, against complex-step derivatives of textbook mechanics."""

import numpy as np
from rigs.joint_trees import STEP, add_forces, add_inputs, add_loop, described, random_tree

import bellcrank as bc

FORMULATIONS = ("lagrange", "recursive", "symbolic", "dca")
ALLOWED = 1e-9  # of A, B, C and D, of entries by what typical changes of states and inputs make of a row
BOUND = 5.0  # true errors of A beside the estimated ones


def random_case(seed):
    """A tree with loops, forces and inputs, described where it is and as it moves."""
    rng = np.random.default_rng([seed, 8])
    flat = bool(rng.random() < 0.3)
    tree = random_tree(rng, flat=flat, masses=float(rng.choice([1.0, 3.0])))
    for _ in range(int(rng.choice([0, 1, 2], p=[0.5, 0.35, 0.15]))):
        add_loop(tree, rng, flat)
    velocity = rng.normal(0.0, 1.0, len(tree.names)) * (rng.random() < 0.7)
    _, J, _ = tree.closure(np.array(tree.position))
    if len(J):
        J = np.real(J)
        velocity = velocity - np.linalg.pinv(J) @ (J @ velocity)
    described(tree, velocity)
    add_forces(tree, rng)
    add_inputs(tree, rng)
    return tree, rng


class Exact:
    """Rates of the states and outputs of a linear model, as functions of states and inputs."""

    def __init__(self, tree, made):
        self.tree = tree
        count = made.coordinates
        self.columns = [tree.names.index(name) for name in made.states[:count]]
        self.inputs = list(made.inputs)
        self.point = np.concatenate([made.value, [tree.inputs.get(name, 0.0) for name in self.inputs]])
        q, _ = tree.whole(self.columns, made.value[:count], made.value[count:])
        tree.position = np.real(q)
        self.outputs = made.outputs

    def __call__(self, point):
        n, tree = len(self.columns), self.tree
        q, qd = tree.whole(self.columns, point[:n], point[n : 2 * n])
        u = {**tree.inputs, **dict(zip(self.inputs, point[2 * n :], strict=True))}
        qdd = tree.accelerations(q, qd, u)
        bodies, _ = tree.frames(q, qd, qdd)
        out = [qd[self.columns], qdd[self.columns]]
        for name in self.outputs:
            _, body, what = name.split(".")
            _, p, w, v, al, a = bodies[int(body[1:])]
            kind, axis = what[:-1], "xyz".index(what[-1])
            out.append(np.atleast_1d({"": p, "v": v, "w": w, "a": a, "alpha": al}[kind][axis]))
        return np.concatenate(out)

    def derivatives(self):
        """By states and inputs, to the last digit."""
        return np.stack(
            [self(self.point + 1j * STEP * e).imag / STEP for e in np.eye(len(self.point))], axis=1
        )


def largest_error(found, exact, sizes, least=1e-3):
    """Of a matrix, in parts of what typical changes make of all its rows together, or of what is at least."""
    if not found.size:
        return 0.0
    scale = float(np.max(np.abs(exact) * sizes, initial=least))
    return float(np.max(np.abs(found - exact) * sizes)) / scale


def wrong(seed, formulations=FORMULATIONS):
    """What is wrong with the linearizations of a case; nothing if nothing is."""
    tree, rng = random_case(seed)
    bodies = [f"b{k}" for k in range(len(tree.hinges))]
    parts = ("x", "y", "z", "vx", "wz", "ax", "ay", "alphaz")
    outputs = [f"body.{bodies[int(rng.integers(len(bodies)))]}.{part}" for part in parts]
    first = bc.linearize(tree.mech, inputs=(), steady=False)
    own = [name for name in first.states[: first.coordinates] if name in tree.names]
    if len(own) < first.coordinates:  # coordinates of the joint that closes a loop
        own = _independent(tree, first.coordinates)
    faults, exact = [], None
    for number, name in enumerate(formulations):
        also = seed % len(formulations) == number  # an effort along a coordinate besides
        for asked in (None, [tree.names[0], *tree.inputs]) if also else (None,):
            made = bc.linearize(
                tree.mech, inputs=asked, outputs=outputs, states=own, steady=False, formulation=name
            )
            if exact is None or exact.inputs != list(made.inputs):
                tree.efforts = {k: v for k, v in tree.efforts.items() if k in tree.inputs}
                if asked is not None:
                    tree.efforts[tree.names[0]] = 0
                exact = Exact(tree, made)
                right = exact.derivatives()
            faults += _faults(made, right, f"{name}{'' if asked is None else ', inputs given'}")
    return "; ".join(faults)


def _faults(made, right, label):
    n = len(made.states)
    states = made.scale
    inputs = np.ones(len(made.inputs))
    # An output that no input changes, of bodies that states accelerate by 1e3 m/s^2, is rounded as these are.
    by_states = float(np.max(np.abs(right[n:, :n]) * states, initial=1e-3))
    for letter, found, exact, sizes, least in (
        ("A", made.A, right[:n, :n], states, 1e-3),
        ("B", made.B, right[:n, n:], inputs, 1e-3),
        ("C", made.C, right[n:, :n], states, 1e-3),
        ("D", made.D, right[n:, n:], inputs, by_states),
    ):
        error = largest_error(found, exact, sizes, least)
        if error > max(ALLOWED, BOUND * made.error):
            yield f"{label}: {letter} is off by {error:.1e}, claims {made.error:.1e}"


def _independent(tree, count):
    """Names of coordinates that determine the others, by elimination with pivoting."""
    _, J, _ = tree.closure(np.array(tree.position))
    _, _, V = np.linalg.svd(np.real(J))
    free, chosen = V[len(J) :].T.copy(), []
    for _ in range(count):
        k = int(np.argmax(np.linalg.norm(free, axis=1)))
        chosen.append(k)
        row = free[k] / np.linalg.norm(free[k])
        free = free - np.outer(free @ row, row)
    return [tree.names[k] for k in sorted(chosen)]
