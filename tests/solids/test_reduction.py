"""Solids reduced to interfaces and modes: against the full models, closed forms and broken input."""

import pickle

import numpy as np
import pytest
from rigs import solids

import bellcrank as bc

linalg = pytest.importorskip("scipy.linalg", reason="needs extra `solids`")
sparse = pytest.importorskip("scipy.sparse", reason="needs extra `solids`")


def tied(K, M, nodes, moving, held):
    """Frequencies, Hz, of the full model, of which sets of nodes move with a frame each, or do not move."""
    tied_nodes = np.concatenate([*moving, *held])
    kept = np.setdiff1d(np.arange(len(K)), np.ravel(3 * tied_nodes[:, None] + np.arange(3)))
    T = np.zeros((len(K), kept.size + 6 * len(moving)))
    T[kept, np.arange(kept.size)] = 1.0
    for place, numbers in zip(range(kept.size, T.shape[1], 6), moving, strict=True):
        for node in numbers:
            for a, axis in enumerate(np.eye(3)):
                T[3 * node + a, place + a] = 1.0
                turned = np.cross(axis, nodes[node] - nodes[numbers].mean(0))
                T[3 * node : 3 * node + 3, place + 3 + a] = turned
    squares = linalg.eigh(T.T @ K @ T, T.T @ M @ T, eigvals_only=True)
    return np.sqrt(np.maximum(squares, 0.0)) / (2 * np.pi)


def test_a_beam_against_closed_forms():
    K, M, nodes = solids.beam(40)
    bar = bc.reduce(K, M, nodes, {"left": [0], "right": [40]}, modes=8)
    young, _, density = solids.STEEL
    area, second = np.pi * 1e-4, np.pi * 1e-8 / 4
    assert bar.mass == pytest.approx(density * area, rel=1e-12)
    np.testing.assert_allclose(bar.centre, (0.5, 0, 0), atol=1e-12)
    about = density * area / 12
    along = np.diag([2 * density * second, about, about])
    np.testing.assert_allclose(bar.inertia, along, rtol=1e-10, atol=1e-12)
    unit = np.sqrt(young * second / (density * area)) / (2 * np.pi)
    for held, roots in (
        ((), (4.730041, 4.730041, 7.853205, 7.853205)),
        (("left",), (1.875104, 1.875104, 4.694091, 4.694091)),
        (("left", "right"), (4.730041, 4.730041, 7.853205, 7.853205)),
    ):
        np.testing.assert_allclose(bar.frequencies(held)[:4], np.square(roots) * unit, rtol=1e-3)
    # A force at the right end: statics of interfaces are exact.
    bent = np.linalg.solve(bar.stiffness_matrix[6:12, 6:12], [0, 1.0, 0, 0, 0, 0])
    assert bent[1] == pytest.approx(1 / (3 * young * second), rel=1e-8)
    assert bent[5] == pytest.approx(1 / (2 * young * second), rel=1e-8)


@pytest.mark.parametrize("counts", [(6, 2, 2), (16, 3, 2)])  # dense matrices, and sparse ones
def test_a_block_against_its_full_model(counts):
    K, M, nodes = solids.bricks(counts)
    left, right = solids.ends(nodes)
    block = bc.reduce(sparse.csr_matrix(K), M, nodes, {"left": left, "right": right}, modes=20)
    for names, moving, held in (
        ((), [left, right], []),
        (("left",), [right], [left]),
        (("left", "right"), [], [left, right]),
    ):
        wanted = tied(K, M, nodes, moving, held)[0 if held else 6 :][:5]
        np.testing.assert_allclose(block.frequencies(names)[:5], wanted, rtol=1e-3)


def test_interfaces_that_average_stiffen_nothing():
    K, M, nodes = solids.bricks((16, 3, 2))
    left, right = solids.ends(nodes)
    parts = {name: bc.Interface(at, tie="average") for name, at in (("left", left), ("right", right))}
    block = bc.reduce(K, M, nodes, parts, modes=20)
    free = np.sqrt(np.maximum(linalg.eigh(K, M, eigvals_only=True), 0.0))[6:11] / (2 * np.pi)
    np.testing.assert_allclose(block.frequencies()[:5], free, rtol=1e-3)
    rigid = bc.reduce(K, M, nodes, {"left": left, "right": right}, modes=20)
    assert np.all(block.frequencies(["left"])[:5] < rigid.frequencies(["left"])[:5])
    # A force on the mean of the right end, the left end held at its mean: by multipliers, in one system.
    A = np.zeros((12, len(K)))
    for rows, numbers in ((slice(0, 6), left), (slice(6, 12), right)):
        G = np.zeros((3 * numbers.size, 6))
        for place, node in enumerate(numbers):
            G[3 * place : 3 * place + 3, :3] = np.eye(3)
            for a, axis in enumerate(np.eye(3)):
                G[3 * place : 3 * place + 3, 3 + a] = np.cross(axis, nodes[node] - nodes[numbers].mean(0))
        A[rows, np.ravel(3 * numbers[:, None] + np.arange(3))] = np.linalg.solve(G.T @ G, G.T)
    scaled = 1e10 * A[:6]
    whole = np.block([[K, scaled.T], [scaled, np.zeros((6, 6))]])
    bent = np.linalg.solve(whole, np.concatenate([1e3 * A[7], np.zeros(6)]))[: len(K)]
    found = np.linalg.solve(block.stiffness_matrix[6:12, 6:12], [0, 1e3, 0, 0, 0, 0])
    np.testing.assert_allclose(found, A[6:] @ bent, rtol=1e-6, atol=1e-9 * abs(found).max())


def test_units_of_other_programs_and_frames():
    K, M, nodes = solids.bricks()
    left, right = solids.ends(nodes)
    turned = bc.rotation("z", "90 deg")
    parts = {"a": bc.Interface(left, (0.0, "10 mm", 0.0), turned), "b": right}
    one = bc.reduce(K, M, nodes, parts, modes=3)
    assert one.positions[0].tolist() == [0.0, 0.01, 0.0]
    assert one.rotations[0] == pytest.approx(turned)
    # In mm, t, s, N: 1 N/m is 1e-3 N/mm, 1 kg is 1e-3 t.
    two = bc.reduce(K * 1e-3, M * 1e-3, nodes * 1e3, parts, modes=3, units=("mm", "t"))
    np.testing.assert_allclose(two.mass_matrix[:12, :12], one.mass_matrix[:12, :12], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(two.frequencies(), one.frequencies(), rtol=1e-9)
    beam = solids.beam(6)
    S = np.tile([1e3] * 3 + [1.0] * 3, 7)  # from m to mm; turns stay
    joule = 1e-3 * 1e6  # kg m^2 in t mm^2
    K, M = (joule * matrix / np.outer(S, S) for matrix in beam[:2])
    here = bc.reduce(*beam, {"a": [0], "b": [6]}, modes=2)
    there = bc.reduce(K, M, beam[2] * 1e3, {"a": [0], "b": [6]}, modes=2, units=("mm", "t"))
    np.testing.assert_allclose(there.stiffness_matrix, here.stiffness_matrix, rtol=1e-7, atol=1e-3)


def test_a_model_of_interfaces_alone():
    K, M, nodes = solids.beam(1)
    bar = bc.reduce(K, M, nodes, {"left": [0], "right": [1]}, modes=0)
    np.testing.assert_allclose(bar.stiffness_matrix, K, rtol=1e-9, atol=1e-6)
    np.testing.assert_allclose(bar.mass_matrix, M, rtol=1e-12)
    with pytest.raises(bc.MechanismError, match="must not exceed the 0 freedoms"):
        bc.reduce(K, M, nodes, {"left": [0], "right": [1]}, modes=1)


def test_files_hold_it_whole(tmp_path):
    bar = bc.reduce(*solids.beam(6), {"left": [0], "right": [6]}, modes=2)
    bar.save(tmp_path / "bar.npz")
    again = bc.ReducedSolid.load(tmp_path / "bar.npz")
    for copy in (again, pickle.loads(pickle.dumps(bar))):
        assert copy.names == bar.names
        assert np.array_equal(copy.stiffness_matrix, bar.stiffness_matrix)
        assert np.array_equal(copy.mass_matrix, bar.mass_matrix)
    with pytest.raises(bc.MechanismError, match="exists already"):
        bar.save(tmp_path / "bar.npz", replace=False)
    with pytest.raises(bc.MechanismError, match="written as"):
        bar.save(tmp_path / "bar.txt")


def test_files_of_something_else_are_refused(tmp_path):
    where = tmp_path / "bar.npz"
    with pytest.raises(bc.MechanismError, match="there is no such file"):
        bc.ReducedSolid.load(where)
    where.write_bytes(b"no archive")
    with pytest.raises(bc.MechanismError, match="not a reduced solid"):
        bc.ReducedSolid.load(where)
    np.savez(where, names=np.array(["a"]))
    with pytest.raises(bc.MechanismError, match="not a reduced solid"):
        bc.ReducedSolid.load(where)
    np.savez(where, format=1, names=np.array([{"a": 1}], dtype=object))
    with pytest.raises(bc.MechanismError, match="not a reduced solid"):  # a pickle is not read
        bc.ReducedSolid.load(where)
    bar = bc.reduce(*solids.beam(6), {"left": [0], "right": [6]}, modes=2)
    bar.save(where)
    with np.load(where) as file:
        held = dict(file)
    np.savez(where, **held | {"format": 9})
    with pytest.raises(bc.MechanismError, match="later version"):
        bc.ReducedSolid.load(where)
    np.savez(where, **held | {"mass_matrix": -held["mass_matrix"]})
    with pytest.raises(bc.MechanismError, match="positive definite"):
        bc.ReducedSolid.load(where)


def test_what_is_no_solid_is_refused():
    bar = bc.reduce(*solids.beam(6), {"left": [0], "right": [6]}, modes=2)
    names, *arrays = (getattr(bar, f) for f in ("names", "positions", "rotations", "mass_matrix"))
    K = bar.stiffness_matrix
    held = K + np.diag([1e6] + [0.0] * 13)
    with pytest.raises(bc.MechanismError, match="rigid motion must not strain"):
        bc.ReducedSolid(names, *arrays, held)
    uneven = K.copy()
    uneven[0, 5] += 1e6
    with pytest.raises(bc.MechanismError, match="stiffness_matrix must be symmetric"):
        bc.ReducedSolid(names, *arrays, uneven)
    with pytest.raises(bc.MechanismError, match="must not be negative"):
        bc.ReducedSolid(names, *arrays, -K)
    with pytest.raises(bc.MechanismError, match="12 to 2000 freedoms for 2 interfaces"):
        bc.ReducedSolid(names, *arrays[:2], np.eye(3), np.eye(3))
    part = bar.mass_matrix + np.diag([1.0] + [0.0] * 13)
    with pytest.raises(bc.MechanismError, match="same along all axes"):
        bc.ReducedSolid(names, *arrays[:2], part, K)
    with pytest.raises(bc.MechanismError, match="held must be one of 'left', 'right'"):
        bar.frequencies(["middle"])
    with pytest.raises(ValueError, match="read-only"):
        bar.mass_matrix[0, 0] = 2.0


def test_models_that_cannot_be_reduced_are_refused_in_words():
    K, M, nodes = solids.bricks((4, 1, 1))
    left, right = solids.ends(nodes)
    both = {"left": left, "right": right}
    cases = [
        ((K, M, nodes, {"left": left, "right": left}), "interfaces share nodes"),
        ((K, M, nodes, {"left": left[:2]}), "needs three nodes that are not in a line"),
        ((K, M, nodes, {"left": [0, 1, 99]}), "names nodes that there are not"),
        ((K, M, nodes, {"left": 3.5}), "must be numbers of nodes"),
        ((K, M, nodes, {}), "interfaces must be given by name"),
        ((K, M, nodes[:-1], both), "3 or 6 rows and columns for each of 19 nodes"),
        ((np.triu(K), M, nodes, both), "stiffness must be symmetric"),
        ((K * np.nan, M, nodes, both), "stiffness must be finite"),
        ((K + 1e9 * np.eye(len(K)), M, nodes, both), "rigid motion must not strain"),
        ((K, M, nodes, both, 1000), "modes must not exceed 500"),
        ((K, M, nodes, both, 40), "modes must not exceed the 36 freedoms"),
        ((K, M, nodes, both, -1), "modes must be a whole number"),
    ]
    for arguments, rule in cases:
        with pytest.raises(bc.MechanismError, match=rule):
            bc.reduce(*arguments)
    with pytest.raises(bc.MechanismError, match="units must name a length and a mass"):
        bc.reduce(K, M, nodes, both, units=("mm", "s"))
    # Two blocks that do not touch, of which one has no interface.
    for counts in ((4, 1, 1), (12, 3, 2)):
        *given, at = solids.bricks(counts)
        apart = dict(zip(both, solids.ends(at), strict=True))
        two = [np.kron(np.eye(2), matrix) for matrix in given]
        with pytest.raises(bc.MechanismError, match="is the mesh in one piece"):
            bc.reduce(*two, np.vstack([at, at + np.array([0, 1, 0])]), apart)
    loose = [np.pad(matrix, (0, 3)) for matrix in (K, M)]
    with pytest.raises(bc.MechanismError, match=r"3 freedoms have no stiffness, of nodes \[20\]"):
        bc.reduce(*loose, np.vstack([nodes, [9.0, 0, 0]]), both)
