"""Craig and Bampton's reduction of a finite element model to frames of interfaces and modes between them.

With u = T q the displacements of nodes that are tied rigidly to frames, f the freedoms that are left, and
A u_f = q the motion of frames that follow the mean of their nodes (least squares, as RBE3), with mu for
multipliers:

    [K_ff A'] [Psi]   [-K_fb]            [K_ff A'] [Phi]       [M_ff 0] [Phi]
    [A    0 ] [mu ] = [ I   ] ,          [A    0 ] [ . ] = w^2 [0    0] [ . ] .

Psi are the shapes of statics, Phi those of vibration while all interfaces stand still, Phi' M Phi = I. Over
both the stiffness is diag(Psi' K Psi, w^2). (R. R. Craig, M. C. C. Bampton, Coupling of substructures for
dynamic analyses, AIAA Journal 6, 1968.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from bellcrank.errors import MechanismError
from bellcrank.extras import needed
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.fields import Description, checked, choice, described, rotation
from bellcrank.mechanism.given import RotationField
from bellcrank.mechanism.rotation import IDENTITY
from bellcrank.mechanism.units import size_of_unit
from bellcrank.slips import answered
from bellcrank.solids.dissection import dissected
from bellcrank.solids.reduced import Floats, ReducedSolid, StressModes, free_modes, rigid_motion
from bellcrank.solids.selections import Selection

_SYMMETRIC: Final = 1e-8  # of the largest entry
_RESIDUAL: Final = 1e-6  # of forces, in parts of their sums without signs
_SMALL: Final = 400  # freedoms up to which matrices are dense
_LINE: Final = 1e-6  # second extent of nodes, in parts of the first
_MOST_MODES: Final = 500
_SETTLED: Final = 1e-11  # change of w^2, in parts, at which modes are found
_FREE: Final = 1e-13  # energy of a mode, in parts of that of its displacements without their signs
_LOOSE: Final = "parts of the solid move freely while all interfaces are held"
_PIECES: Final = "is the mesh in one piece?"


def _nodes(check: Check, name: str, value: Any) -> Any:
    if isinstance(value, (str, Selection)):
        return value
    try:
        found = np.unique(np.asarray(value))
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.ndim != 1 or found.size == 0 or found.dtype.kind not in "iu" or np.ndim(value) != 1:
        advice = "or a part of the surface, such as bc.OnPlane(...)"
        check.fault(f"{name} must be numbers of nodes, from 0", value, advice)
        return (0,)
    return tuple(found.tolist())


def _place(check: Check, name: str, value: Any) -> Any:
    return check.vector(name, value, "m")


@described
class Interface(Description):
    """A part of a solid that moves with one frame, on which joints and forces stand.

    nodes: their numbers, from 0; or where they are (`OnPlane`, `OnCylinder`, ...); or, for `bc.flexible`, the
        name of a group of the mesh.
    position: of the frame, m; None: the mean of the nodes; on cylinders and spheres, their axis or centre.
    rotation: of its axes in the solid, unit quaternion (w, x, y, z).
    tie: "rigid": the nodes move with the frame, which stiffens the solid there. "average": the frame moves
        with the mean of the nodes (least squares) and does not stiffen anything.

    >>> ends = {"left": bc.Interface([0], rotation=bc.rotation("z", "90 deg")), "right": [10]}
    >>> bar = bc.reduce(*bar_matrices, ends)
    >>> bar.rotations[0].round(3).tolist()
    [0.707, 0.0, 0.0, 0.707]
    """

    nodes: Any = checked(_nodes)
    position: Any = checked(_place, "m", default=None)
    rotation: RotationField = rotation(default=IDENTITY)
    tie: str = choice(("rigid", "average"), default="rigid")


@answered
def reduce(
    stiffness: Any,
    mass: Any,
    nodes: Any,
    interfaces: Mapping[str, Any],
    modes: int = 6,
    *,
    units: tuple[str, str] = ("m", "kg"),
) -> ReducedSolid:
    """Reduce a finite element model to interfaces and modes between them (Craig and Bampton).

    stiffness, mass: square matrices, SciPy's sparse ones or arrays, of the solid without supports: by nodes,
        x, y, z of each, or x, y, z and three turns. nodes: their positions, (n, 3).
    interfaces: by name, each an `Interface`; or numbers of nodes from 0, or where they are (`OnPlane`, ...),
        which are tied rigidly to a frame in their middle.
    modes: how many of the lowest modes with all interfaces held are kept: those up to about twice the highest
        frequency of interest.
    units: of length and mass in the matrices, seconds beside them: ("mm", "t") of those in mm, N and MPa.

    Raises MechanismError for matrices that do not fit, parts that hang loose, and interfaces that share
    nodes; Unsupported without SciPy.

    >>> bar = bc.reduce(*bar_matrices, {"left": [0], "right": [10]}, modes=2)
    >>> print(bar)
    <ReducedSolid of 2.46615 kg: interfaces 'left', 'right', 2 modes>
    """
    return reduced(stiffness, mass, nodes, interfaces, modes, units)


def reduced(
    stiffness: Any,
    mass: Any,
    nodes: Any,
    interfaces: Mapping[str, Any],
    modes: int,
    units: tuple[str, str] = ("m", "kg"),
    recovered: Callable[[Floats, Floats], StressModes] | None = None,
) -> ReducedSolid:
    """The same. recovered: the stresses of displacements of all nodes in free modes, and these."""
    sparse = needed("scipy.sparse", "reducing a solid", "solids")
    with Check("reduce") as check:
        length, weight = sizes_of_units(check, units)
        points = check.array("nodes", nodes, (None, 3)) * length
        modes = check.integer("modes", modes, 0)
        K, M = (
            _matrix(check, name, matrix, len(points), sparse)
            for name, matrix in (("stiffness", stiffness), ("mass", mass))
        )
        if modes > _MOST_MODES:
            check.fault(f"modes must not exceed {_MOST_MODES}", modes)
        parts = _parts(check, interfaces, points)
        check.faults.raise_any()
        if K.shape != M.shape:
            check.fault("stiffness and mass must have the same size", (K.shape[0], M.shape[0]))
        check.faults.raise_any()
        of_node = K.shape[0] // len(points)
        frames = [_frame(check, points, of_node, name, part) for name, part in parts.items()]
        owners = np.concatenate([frame.part.nodes for frame in frames])
        known, count = np.unique(owners, return_counts=True)
        if np.any(count > 1):
            check.fault("interfaces share nodes", known[count > 1][:5].tolist(), "each node moves with one")
    # In SI: displacements of the matrices times `per` are m and rad.
    per = np.tile([length] * 3 + [1.0] * (of_node - 3), len(points))
    back = sparse.diags(1.0 / per)
    energy = weight * length**2
    K, M = (energy * (back @ matrix @ back) for matrix in (K, M))
    condensed = _Condensed(K.tocsc(), M.tocsc(), points, of_node, frames, sparse)
    condensed.check_rigid()
    mass, stiffness, whole = condensed.matrices(modes)
    free = free_modes(stiffness, mass) if recovered is not None else np.empty((0, 0))
    return ReducedSolid(
        tuple(parts),
        np.array([frame.position for frame in frames]),
        np.array([frame.part.rotation for frame in frames]),
        mass,
        stiffness,
        None if recovered is None else recovered(whole @ free, free),
    )


@dataclass(frozen=True)
class _Frame:
    name: str
    part: Interface
    position: Floats
    ties: Floats  # displacements of its nodes, by its own, (n of_node, 6)


def sizes_of_units(check: Check, units: Any) -> tuple[float, float]:
    """The units of length and mass in SI; faults are noted."""
    if not isinstance(units, (tuple, list)) or len(units) != 2:
        check.fault("units must name a length and a mass", units, 'such as ("mm", "t")')
        return 1.0, 1.0
    found = [size_of_unit(unit) if isinstance(unit, str) else None for unit in units]
    if units[0] not in ("m", "cm", "mm", "um", "in", "ft", "km") or units[1] not in ("kg", "g", "t", "lb"):
        check.fault("units must name a length and a mass", tuple(units), 'such as ("mm", "t")')
        return 1.0, 1.0
    return float(found[0] or 1.0), float(found[1] or 1.0)


def _matrix(check: Check, name: str, given: Any, nodes: int, sparse: Any) -> Any:
    """The matrix, sparse, symmetric; its faults are noted."""
    try:
        matrix = sparse.csc_matrix(given, dtype=float)
    except (TypeError, ValueError):
        check.fault(f"{name} must be a matrix, sparse or an array", type(given).__name__)
        return sparse.eye(3 * nodes, format="csc")
    rows, columns = matrix.shape
    if rows != columns or rows not in (3 * nodes, 6 * nodes):
        rule = f"{name} must have 3 or 6 rows and columns for each of {nodes} nodes"
        check.fault(rule, matrix.shape)
    elif not np.all(np.isfinite(matrix.data)):
        check.fault(f"{name} must be finite")
    elif matrix.nnz == 0:
        check.fault(f"{name} is zero")
    elif (apart := abs(matrix - matrix.T)).nnz and apart.max() > _SYMMETRIC * abs(matrix).max():
        advice = "give both halves, if a program wrote one"
        check.fault(f"{name} must be symmetric", float(apart.max()), advice)
    return matrix


def _parts(check: Check, given: Any, points: Floats) -> dict[str, Interface]:
    if not isinstance(given, Mapping) or not given:
        check.fault("interfaces must be given by name", given, "such as {'hub': [0, 1, 2]}")
        return {}
    parts = {}
    for name, value in given.items():
        with check.faults.collect():
            part = value if isinstance(value, Interface) else Interface(value)
            parts[str(name)] = _numbered(f"interface {name!r}", part, points)
    return parts


def _numbered(element: str, part: Interface, points: Floats) -> Interface:
    """An interface with numbers of nodes."""
    where = part.nodes
    if isinstance(where, str):
        raise MechanismError.of(element, "a name of a surface is for bc.flexible", where, "give its nodes")
    if not isinstance(where, Selection):
        return part
    chosen = np.nonzero(where.near(points))[0]
    if chosen.size == 0:
        raise MechanismError.of(element, "no node lies there", where, "give it a tolerance")
    at = where.middle(points[chosen]) if part.position is None else part.position
    return replace(part, nodes=tuple(chosen.tolist()), position=tuple(at))


def _frame(check: Check, points: Floats, of_node: int, name: str, part: Interface) -> _Frame:
    """Where a frame is, and how its nodes move with it."""
    numbers = np.array(part.nodes)
    none = _Frame(name, part, np.zeros(3), np.zeros((0, 6)))
    if numbers.min() < 0 or numbers.max() >= len(points):
        check.fault(
            f"interface {name!r} names nodes that there are not", part.nodes, f"0 to {len(points) - 1}"
        )
        return none
    at = points[numbers]
    position = at.mean(axis=0) if part.position is None else np.array(part.position)
    extents = np.linalg.svd(at - at.mean(axis=0), compute_uv=False)
    if (of_node == 3 or part.tie == "average") and (len(numbers) < 3 or extents[1] <= _LINE * extents[0]):
        check.fault(f"interface {name!r} needs three nodes that are not in a line", len(numbers))
    # Of a rigid turn w about the frame a node moves by w x d.
    ties = np.zeros((of_node * len(numbers), 6))
    for number, (x, y, z) in enumerate(at - position):
        rows = slice(of_node * number, of_node * number + 3)
        ties[rows, :3] = np.eye(3)
        ties[rows, 3:] = [[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]]
        if of_node == 6:
            ties[of_node * number + 3 : of_node * number + 6, 3:] = np.eye(3)
    return _Frame(name, part, position, ties)


class _Condensed:
    """The model over frames that are tied rigidly, b, the freedoms that are left, f, and means of these."""

    def __init__(
        self, K: Any, M: Any, points: Floats, of_node: int, frames: list[_Frame], sparse: Any
    ) -> None:
        self._sparse, self._frames = sparse, frames
        self._K, self._M, self._points, self._of_node = K, M, points, of_node
        rigid = [number for number, frame in enumerate(frames) if frame.part.tie == "rigid"]
        self._rigid = _six(rigid)
        tied = [_freedoms(frames[number].part.nodes, of_node) for number in rigid]
        self._left = np.setdiff1d(np.arange(K.shape[0]), np.concatenate(tied) if tied else [])
        ties = sparse.lil_matrix((K.shape[0], 6 * len(rigid)))
        for place, (number, rows) in enumerate(zip(rigid, tied, strict=True)):
            ties[rows, 6 * place : 6 * place + 6] = frames[number].ties
        self._ties = ties.tocsc()
        self._means = self._mean_rows([number for number in range(len(frames)) if number not in rigid])

    def _mean_rows(self, averaged: list[int]) -> Any:
        """A: the motion of frames by that of the nodes that they follow."""
        places = np.full(self._K.shape[0], -1)
        places[self._left] = np.arange(len(self._left))
        self._averaged = _six(averaged)
        rows = self._sparse.lil_matrix((6 * len(averaged), len(self._left)))
        for place, number in enumerate(averaged):
            frame = self._frames[number]
            columns = places[_freedoms(frame.part.nodes, self._of_node)]
            moved = np.arange(len(columns)) % self._of_node < 3  # turns of nodes do not count
            rows[6 * place : 6 * place + 6, columns[moved]] = np.linalg.pinv(frame.ties[moved])
        return rows.tocsc()

    def check_rigid(self) -> None:
        """Refuse a model that rigid motion strains, or of which parts have no stiffness."""
        loose = np.nonzero(self._K.diagonal() <= 0.0)[0]
        if loose.size:
            advice = "leave out nodes that no element uses"
            nodes = np.unique(loose // self._of_node)[:5].tolist()
            raise MechanismError.of(
                "reduce", f"{loose.size} freedoms have no stiffness, of nodes {nodes}", None, advice
            )
        six = rigid_motion(self._points).reshape(-1, 6, 6)
        motion = six[:, : self._of_node].reshape(-1, 6)
        forces = np.abs(self._K @ motion).max(axis=0)
        apart = (abs(self._K) @ np.abs(motion)).max(axis=0)
        if np.any(forces > _RESIDUAL * apart):
            advice = "leave supports out of the model: interfaces are held in the mechanism"
            rule = "rigid motion must not strain the solid"
            raise MechanismError.of("reduce", rule, float((forces / apart).max()), advice)

    def matrices(self, modes: int) -> tuple[Floats, Floats, Floats]:
        """Mass and stiffness of the reduced solid, and the displacements of all nodes by its freedoms."""
        f, T = self._left, self._ties
        K_ff, M_ff = self._K[f][:, f], self._M[f][:, f]
        K_fb = (self._K @ T)[f].toarray()
        points = self._points[f[:: self._of_node] // self._of_node]
        interior = _Interior(K_ff, M_ff, self._means, points, self._sparse)
        static = interior.static(K_fb, self._rigid.size)
        Phi, squares = interior.modes(modes)
        n = 6 * len(self._frames)
        # Columns in the order of the frames.
        order = np.concatenate([self._rigid, self._averaged])
        shapes = np.zeros((len(f), n + modes))
        shapes[:, order], shapes[:, n:] = static, Phi
        whole = np.zeros((self._K.shape[0], n + modes))
        whole[:, self._rigid] = T.toarray()
        whole[f] += shapes
        mass = whole.T @ (self._M @ whole)
        stiffness = np.zeros_like(mass)
        statics = whole[:, :n]
        stiffness[:n, :n] = statics.T @ (self._K @ statics)
        stiffness[n:, n:] = np.diag(squares)
        stiffness = _without_rigid(self._frames, 0.5 * (stiffness + stiffness.T), n)
        return 0.5 * (mass + mass.T), stiffness, whole


class _Interior:
    """Statics and vibration of what lies between the interfaces."""

    def __init__(self, K: Any, M: Any, means: Any, points: Floats, sparse: Any) -> None:
        self._K, self._M, self._A = K, M, means
        self._size = K.shape[0]
        if not self._size:
            return
        self._scale = float(K.diagonal().mean())
        rows = self._scale * means  # multipliers of the size of displacements
        some = means.shape[0] > 0
        self._held = sparse.bmat([[K, rows.T], [rows, None]], format="csc") if some else K.tocsc()
        order = _by_nodes(points, K, sparse)
        self._order = np.concatenate([order, np.arange(self._size, self._held.shape[0])])
        linalg = needed("scipy.sparse.linalg", "reducing a solid", "solids")
        # Symmetric: diagonal pivots, but where multipliers have none.
        how = {"diag_pivot_thresh": 0.01 if some else 0.0, "options": {"SymmetricMode": True}}
        try:
            turned = self._held[self._order][:, self._order].tocsc()
            self._factors = linalg.splu(turned, permc_spec="NATURAL", **how)
        except RuntimeError as error:
            raise MechanismError.of("reduce", _LOOSE, None, _PIECES) from error

    def _solved(self, loads: Floats) -> Floats:
        found = np.empty_like(loads)
        found[self._order] = self._factors.solve(loads[self._order])
        return found

    def static(self, K_fb: Floats, rigid: int) -> Floats:
        """Displacements where one freedom of one frame is 1, the others 0: rigid frames first."""
        means = self._A.shape[0]
        if not self._size:
            return np.zeros((0, rigid + means))
        loads = np.zeros((self._size + means, rigid + means))
        loads[: self._size, :rigid] = -K_fb
        loads[self._size :, rigid:] = self._scale * np.eye(means)
        found = self._solved(loads)
        missing = np.abs(self._held @ found - loads).max(axis=0)
        sums = (abs(self._held) @ np.abs(found) + np.abs(loads)).max(axis=0)
        if not np.all(missing <= _RESIDUAL * sums):
            rule = "the statics of the solid cannot be solved: parts hang loose, or elements are degenerate"
            raise MechanismError.of(
                "reduce", rule, float((missing / sums).max()), "is the mesh in one piece?"
            )
        shapes: Floats = found[: self._size]
        return shapes

    def modes(self, count: int) -> tuple[Floats, Floats]:
        """The lowest modes with all interfaces held, Phi' M Phi = I, and their w^2."""
        if count == 0:
            return np.zeros((self._size, 0)), np.zeros(0)
        most = self._size - self._A.shape[0]
        if count > most:
            raise MechanismError.of(
                "reduce", f"modes must not exceed the {most} freedoms that are left", count
            )
        shapes, squares = (
            self._dense(count) if self._size <= _SMALL or count > most // 3 else self._sparse(count)
        )
        apart = np.sum(np.abs(shapes) * (abs(self._K) @ np.abs(shapes)), axis=0)
        if not np.all(squares > _FREE * apart):
            raise MechanismError.of("reduce", _LOOSE, float(squares[0]), _PIECES)
        # Forces of a mode along what interfaces leave free: its part along A' is what holds the means.
        pull = self._K @ shapes - (self._M @ shapes) * squares
        if self._A.shape[0]:
            across = self._A.toarray().T
            pull -= across @ np.linalg.lstsq(across, pull, rcond=None)[0]
        sums = np.abs(self._K @ shapes).max(axis=0) + np.abs((self._M @ shapes) * squares).max(axis=0)
        if np.any(np.abs(pull).max(axis=0) > _RESIDUAL * sums):
            raise MechanismError.of(
                "reduce", "the modes were not found", float(np.abs(pull / sums).max()), "ask for fewer"
            )
        return shapes, squares

    def _sparse(self, count: int) -> tuple[Floats, Floats]:
        linalg = needed("scipy.sparse.linalg", "reducing a solid", "solids")
        means = np.zeros(self._A.shape[0])

        def bent(loads: Floats) -> Floats:
            return self._solved(np.concatenate([np.ravel(loads), means]))[: self._size]

        start = bent(np.random.default_rng(1).standard_normal(self._size))
        operator = linalg.LinearOperator(self._K.shape, matvec=bent, dtype=float)
        try:
            squares, shapes = linalg.eigsh(
                self._K, count, M=self._M, sigma=0.0, OPinv=operator, v0=start, tol=_SETTLED
            )
        except linalg.ArpackError as error:
            raise MechanismError.of(
                "reduce", f"the modes were not found ({error})", count, "ask for fewer"
            ) from error
        order = np.argsort(squares)
        return shapes[:, order], squares[order]

    def _dense(self, count: int) -> tuple[Floats, Floats]:
        linalg = needed("scipy.linalg", "reducing a solid", "solids")
        K, M = self._K.toarray(), self._M.toarray()
        free = linalg.null_space(self._A.toarray()) if self._A.shape[0] else np.eye(self._size)
        # 1/w^2 are the eigenvalues of M by K, which is positive where M, of lumped masses, need not be.
        try:
            inverse, shapes = linalg.eigh(free.T @ M @ free, free.T @ K @ free)
        except np.linalg.LinAlgError as error:  # K is not positive
            raise MechanismError.of("reduce", _LOOSE, None, _PIECES) from error
        inverse, shapes = inverse[::-1][:count], shapes[:, ::-1][:, :count]
        if inverse[-1] <= 1e-14 * inverse[0]:
            raise MechanismError.of("reduce", "there are not as many modes with mass", count, "ask for fewer")
        return free @ (shapes / np.sqrt(inverse)), 1.0 / inverse


def _by_nodes(points: Floats, K: Any, sparse: Any) -> Any:
    """The order of freedoms in which elimination fills little."""
    of_node = K.shape[0] // len(points)
    one = sparse.csr_matrix((np.ones(K.nnz, dtype=np.int8), *_pattern(K)), shape=K.shape)
    gathered = sparse.kron(
        sparse.eye(len(points), dtype=np.int8), np.ones((of_node, 1), dtype=np.int8)
    ).tocsr()
    coupled = (gathered.T @ one @ gathered).tocsr()
    coupled.data[:] = 1
    return (of_node * dissected(points, coupled)[:, None] + np.arange(of_node)).ravel()


def _pattern(K: Any) -> tuple[Any, Any]:
    rows = K.tocsr()
    return rows.indices, rows.indptr


def _six(frames: list[int]) -> Any:
    return np.array([6 * frame + k for frame in frames for k in range(6)], dtype=int)


def _freedoms(nodes: tuple[int, ...], of_node: int) -> Any:
    return (of_node * np.array(nodes)[:, None] + np.arange(of_node)).ravel()


def _without_rigid(frames: list[_Frame], stiffness: Floats, n: int) -> Floats:
    """The same without what rounding leaves of forces in rigid motion."""
    motion, _ = np.linalg.qr(rigid_motion(np.array([frame.position for frame in frames])))
    across = np.eye(n) - motion @ motion.T
    stiffness[:n, :n] = across @ stiffness[:n, :n] @ across
    return stiffness
