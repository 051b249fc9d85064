"""Initial values that joints are given: rows that ask for them, and bodies carried along outside loops."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from bellcrank import _core
from bellcrank.compile.formula_joints import Motion, formula_of, formula_posed
from bellcrank.compile.model import Given, GivenValue, JointRecord, Model
from bellcrank.compile.positions import TOLERANCE, nameless, solve_positions
from bellcrank.compile.start_values import with_unknown
from bellcrank.compile.state import State
from bellcrank.mechanism.rotation import IDENTITY

_Edges: TypeAlias = list[tuple[int, int]]


def placed_rows(model: Model, given: Sequence[GivenValue]) -> Model:
    """The model with a row more for each value:  coordinate - value = 0."""
    return extended(model, given, [g.value for g in given], [0.0] * len(given))


def driven_rows(model: Model, given: Sequence[GivenValue]) -> Model:
    """The model with a row more for each rate:  coordinate - its value at the initial state - rate t = 0."""
    now = model.coordinate_values(model.initial)
    return extended(model, given, [now[g.coordinate] for g in given], [g.value for g in given])


def extended(
    model: Model, given: Sequence[GivenValue], constants: Sequence[float], rates: Sequence[float]
) -> Model:
    """The model with the rows  coordinate - constant - rate (t - t0) = 0,  a block and a function each."""
    count = len(given)
    if count == 0:
        return model
    arrays, more = model.arrays, np.arange(1, count + 1)
    rows, terms, functions = model.row_count, len(arrays["term_coordinate"]), len(arrays["function_kind"])
    start = model.initial.time
    lines = [(-rate * start, rate, 0.0, 0.0, 0.0) for rate in rates]  # offset, slope, no oscillation
    changed: dict[str, Any] = {
        "block_row_start": _joined(arrays["block_row_start"], rows + more),
        "block_unilateral": _joined(arrays["block_unilateral"], [0] * count),
        "block_compliance": _joined(arrays["block_compliance"], [0.0] * count),
        "block_restitution": _joined(arrays["block_restitution"], [0.0] * count),
        **{
            name: _joined(arrays[name], [-1] * count)
            for name in ("block_formula", "block_friction")
            if name in arrays
        },
        "row_term_start": _joined(arrays["row_term_start"], terms + more),
        "term_coordinate": _joined(arrays["term_coordinate"], [g.coordinate for g in given]),
        "term_coefficient": _joined(arrays["term_coefficient"], [1.0] * count),
        "row_function": _joined(arrays["row_function"], functions + more - 1),
        "row_constant": _joined(arrays["row_constant"], constants),
        "function_kind": [*arrays["function_kind"], *["harmonic"] * count],
        "function_param_start": _joined(
            arrays["function_param_start"], len(arrays["function_params"]) + 5 * more
        ),
        "function_params": _joined(arrays["function_params"], np.ravel(lines)),
    }
    owners = (*model.block_owner, *(g.name for g in given))
    return replace(model, block_owner=owners).with_arrays(**changed)


def _joined(array: np.ndarray, more: Any) -> np.ndarray:
    return np.concatenate([array, np.asarray(more, dtype=array.dtype)])


def turned(model: Model, state: State, given: Given) -> State:
    """The state with the whole turns with which the given values and all that is known of the rows hold.

    Of the turns with which they do, those nearest to the guesses.
    """
    if not given.positions and not given.guesses:
        return state
    bodies = _core.Bodies(placed_rows(with_unknown(model, model.start.rows), given.positions).core)
    bodies.set_state(*state.arrays, False, None)
    error, values = bodies.violation()[0], bodies.coordinates()[0]
    if given.guesses:
        about = np.full(len(values), np.nan)
        about[[g.coordinate for g in given.guesses]] = [g.value for g in given.guesses]
        bodies.set_state(*state.arrays, False, about)
        if bodies.violation()[0] <= max(TOLERANCE, error):
            values = bodies.coordinates()[0]
    return replace(state, angles=values[model.angular])


def carried(model: Model, given: Given) -> State:
    """The initial state with the joints outside loops as they are given; what hangs on them moves along.

    So are joints in loops that have a guess, but for those that close the loops. A joint that cannot be
    brought there is left as it is, for assembly to say so.
    """
    joints, links, couplings = _edges(model, given)
    edges = [*(model.joints[number].bodies for number in joints), *links]
    topology = _core.Topology(model.ground + 1, edges, len(joints))
    if topology.closures and couplings:  # what is coupled to a loop is moved with it, gradually
        topology = _core.Topology(model.ground + 1, [*edges, *couplings], len(joints))
    parent, parent_edge = topology.parent, topology.parent_edge
    in_loops = {edge for closure in topology.closures for edge in topology.loop(closure)}
    described = _motions(model.initial)
    motions, moved = list(described), set[int]()
    guessed = {g.joint for g in given.guesses}
    wanted = guessed | {g.joint for g in (*given.positions, *given.velocities)}
    for node in topology.order:
        edge, base = parent_edge[node], parent[node]
        if edge < 0:
            continue
        posed = edge < len(joints) and joints[edge] in wanted
        posed = posed and (edge not in in_loops or joints[edge] in guessed)
        if posed or base in moved:
            moved.add(node)
            relative = described[node].seen_from(described[base])
            if posed:
                relative = _posed(model, joints[edge], node, relative, given)
            motions[node] = relative.carried_by(motions[base])
    bodies = motions[:-1]
    state = State(
        model.initial.time,
        np.array([m.position for m in bodies]).reshape(-1, 3),
        np.array([m.rotation for m in bodies]).reshape(-1, 4),
        np.array([m.velocity for m in bodies]).reshape(-1, 3),
        np.array([m.spin for m in bodies]).reshape(-1, 3),
    )
    return turned(model, state, given)


def _edges(model: Model, given: Given) -> tuple[list[int], _Edges, _Edges]:
    """The joints that hold bodies together at the start, what else does, and what couples their coordinates.

    Values that are as they come out, stops and inertances hold nothing. A relation of several bodies counts
    as links between them.
    """
    arrays, bodies = model.arrays, model.coordinate_bodies
    holding = model.rigid_rows.copy()
    holding[list(model.start.rows)] = False
    owner = {block: number for number, joint in enumerate(model.joints) for block in joint.blocks}
    holds = {g.joint for g in (*given.positions, *given.velocities, *given.guesses)}
    pairs = {joint.pair for joint in model.joints}
    links: _Edges = []
    couplings: _Edges = []
    for block in range(len(model.block_owner)):
        rows = slice(*arrays["block_row_start"][block : block + 2])
        if not holding[rows].any():
            continue
        if block in owner:
            holds.add(owner[block])
            continue
        terms = arrays["term_coordinate"][slice(*arrays["row_term_start"][[rows.start, rows.stop]])]
        touched = np.unique(bodies[terms]).tolist()
        of_joints = pairs.issuperset(arrays["coordinate_pair"][terms].tolist())
        found = couplings if of_joints and len(terms) else links
        found += [(touched[0], other) for other in touched[1:]]
    return sorted(holds), links, couplings


def _motions(state: State) -> list[Motion]:
    """Of all bodies, then of the ground."""
    zero = np.zeros(3)
    rows = zip(state.position, state.rotation.tolist(), state.velocity, state.angular_velocity, strict=True)
    bodies = [Motion(p, (q[0], q[1], q[2], q[3]), v, w) for p, q, v, w in rows]
    return [*bodies, Motion(zero, IDENTITY, zero, zero)]


def _posed(model: Model, number: int, child: int, relative: Motion, given: Given) -> Motion:
    """The motion of a body seen from the one before it, with their joint closed and as it is given."""
    positions = [g for g in (*given.positions, *given.guesses, *given.unsaid) if g.joint == number]
    velocities = [g for g in given.velocities if g.joint == number]
    if positions and (formula := formula_of(model, number)) is not None:
        return formula_posed(model, model.joints[number], formula, child, relative, positions, velocities)
    start = State(
        model.initial.time,
        relative.position[None],
        np.array([relative.rotation]),
        relative.velocity[None],
        relative.spin[None],
    )
    alone, place = _alone(model, model.joints[number], child, [*positions, *velocities], start)
    positions = [replace(g, coordinate=place[g.coordinate]) for g in positions]
    found = solve_positions(placed_rows(alone, positions))
    if not found.met:
        return relative
    reached = alone.started(turned(alone, found.state, Given(tuple(positions))))
    driven = driven_rows(reached, [replace(g, coordinate=place[g.coordinate]) for g in velocities])
    closing = driven.put(_core.Closing(driven.core), driven.initial)
    closing.project()
    _, _, _, velocity, spin = closing.state()
    (w, x, y, z) = found.state.rotation[0].tolist()
    return Motion(found.state.position[0], (w, x, y, z), velocity[0], spin[0])


def _alone(
    model: Model, joint: JointRecord, child: int, given: Iterable[GivenValue], start: State
) -> tuple[Model, dict[int, int]]:
    """One body and the joint that holds it to the one before, which is the ground now.

    Also the coordinates that are kept: new index by old one.
    """
    arrays = model.arrays
    rows = [
        row
        for block in joint.blocks
        for row in model.rows_of(block)
        if model.rigid_rows[row] and row not in model.start.rows and model.terms(row)
    ]
    spans = [range(*arrays["row_term_start"][row : row + 2]) for row in rows]
    terms = [term for span in spans for term in span]
    used = [*arrays["term_coordinate"][terms].tolist(), *(g.coordinate for g in given)]
    coordinates = list(dict.fromkeys(used))
    place = {old: new for new, old in enumerate(coordinates)}
    pairs = np.unique(arrays["coordinate_pair"][coordinates])
    params = [
        arrays["coordinate_params"][slice(*arrays["coordinate_param_start"][c : c + 2])] for c in coordinates
    ]
    one_each = np.arange(len(rows) + 1, dtype=np.int32)
    changed: dict[str, Any] = {
        **{name: arrays[name][[child]] for name in ("body_mass", "body_com", "body_inertia")},
        "pair_bodies": np.where(arrays["pair_bodies"][pairs] == child, 0, 1).astype(np.int32),
        **{name: arrays[name][pairs] for name in ("pair_positions", "pair_rotations")},
        "coordinate_kind": [arrays["coordinate_kind"][c] for c in coordinates],
        "coordinate_pair": np.searchsorted(pairs, arrays["coordinate_pair"][coordinates]).astype(np.int32),
        "coordinate_param_start": np.cumsum([0, *map(len, params)]).astype(np.int32),
        "coordinate_params": np.concatenate([np.zeros(0), *params]),
        "block_row_start": one_each,
        "block_unilateral": np.zeros(len(rows), dtype=np.uint8),
        "block_compliance": np.zeros(len(rows)),
        "block_restitution": np.zeros(len(rows)),
        **dict.fromkeys(("block_formula", "block_friction"), np.full(len(rows), -1, dtype=np.int32)),
        **({"formulas": arrays["formulas"].joints_only()} if "formulas" in arrays else {}),
        **({"contacts": _core.ContactSet()} if "contacts" in arrays else {}),
        **({"friction_loads": []} if "friction_loads" in arrays else {}),
        "row_term_start": np.cumsum([0, *map(len, spans)]).astype(np.int32),
        "term_coordinate": np.array([place[c] for c in used[: len(terms)]], dtype=np.int32),
        "term_coefficient": arrays["term_coefficient"][terms],
        **{name: arrays[name][rows] for name in ("row_function", "row_constant")},
        "gravity": np.zeros(3),
        "law_kind": [],
        "law_param_start": np.zeros(1, dtype=np.int32),
        **{
            name: arrays[name][:0]
            for name in ("law_coordinate", "law_function", "law_friction", "law_params")
        },
        **{name: arrays[name][:0] for name in arrays if name.startswith("wrench_")},
    }
    bare = replace(
        nameless(model), bodies=model.bodies[child : child + 1], block_owner=("",) * len(rows), initial=start
    )
    return bare.with_arrays(**changed), place
