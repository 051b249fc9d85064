"""A solid reduced to its interfaces: mass and stiffness over their frames and over modes between them.

The freedoms are, for each interface in turn, the displacement of its frame and its small turn, in the axes of
the solid; then amplitudes of modes in which all interfaces stand still. Of small displacements q the elastic
energy is 1/2 q' K q and the kinetic energy 1/2 q'' M q' with the rates.
"""

from __future__ import annotations

import os
import zipfile
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bellcrank.errors import MechanismError
from bellcrank.mechanism.checking import Check, check_name, required_names, required_path
from bellcrank.named_files import content_of
from bellcrank.slips import answering
from bellcrank.whole_files import whole_file

Floats = NDArray[np.float64]

_MOST_FREEDOMS: Final = 2000
_MOST_BYTES: Final = 100_000_000
_FORMAT: Final = 2
_SYMMETRIC: Final = 1e-8  # of the largest entry
_RIGID: Final = 1e-6  # strain of rigid motion, in parts of stiffness; and mass that differs by axis
_KEPT: Final = ("points", "modes", "faces", "basis")  # of stresses
_ARRAYS: Final = ("positions", "rotations", "mass_matrix", "stiffness_matrix")


def rigid_motion(positions: Floats, modes: int = 0) -> Floats:
    """What frames do in six rigid motions of a solid, (6 m + modes, 6): travel along and turn about x, y, z.

    positions: of the frames, (m, 3), m; turns are about the origin.
    """
    motion = np.zeros((6 * len(positions) + modes, 6))
    for number, (x, y, z) in enumerate(positions):
        at = 6 * number
        motion[at : at + 6] = np.eye(6)
        motion[at : at + 3, 3:] = [[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]]
    return motion


@dataclass(frozen=True, eq=False)
class StressModes:
    """Stresses at nodes of a solid for each of its n - 6 free modes, W' K W diagonal and W' M W = 1.

    In the freedoms of the reduction stresses of rigid motion would be differences of large numbers.

    points: of the nodes, (p, 3), m. modes: (p, 6, n - 6) of float32, Pa: xx, yy, zz, xy, yz, zx, axes of the
    solid. faces: triangles of the surface, numbers of these nodes, (f, 3). basis: W, (n, n - 6).
    """

    points: Floats
    modes: Any
    faces: Any
    basis: Floats

    def check(self, check: Check, size: int) -> None:
        """Note faults: sizes that do not fit, numbers that are not finite."""
        count = len(self.points)
        check.array("stress points", self.points, (count, 3), "m")
        check.array("stress basis", self.basis, (size, size - 6))
        if np.shape(self.modes) != (count, 6, size - 6) or not np.all(np.isfinite(self.modes)):
            rule = f"stresses must be finite numbers, {count} x 6 x {size - 6}"
            check.fault(rule, np.shape(self.modes))
        faces = np.asarray(self.faces)
        if faces.ndim != 2 or faces.shape[1] != 3 or faces.dtype.kind not in "iu":
            check.fault("faces of stresses must be three numbers each", np.shape(faces))
        elif faces.size and not 0 <= faces.min() <= faces.max() < count:
            check.fault("faces of stresses must be numbers of their points", f"0 to {count - 1}")


@answering
@dataclass(frozen=True, eq=False)
class ReducedSolid:
    """A flexible solid as mechanisms see it: interfaces and modes between them; SI units, axes of the solid.

    names: of the interfaces. positions, rotations: of their frames in the solid, (m, 3), m, and (m, 4), unit
        quaternions (w, x, y, z).
    mass_matrix, stiffness_matrix: (n, n), n = 6 m + k, over x, y, z, m, and turns about x, y, z, rad, of each
        interface; then k amplitudes of modes in which no interface moves.
    stresses: at nodes, for each of these, where `bc.flexible` was to keep them; `run.flexible` uses them.

    `bc.reduce` and `bc.flexible` make them; `Mechanism.add_flexible` takes them. Raises MechanismError if
    sizes do not fit, matrices are not symmetric, the mass is not positive, or rigid motion strains it.

    >>> bar = bc.reduce(*bar_matrices, {"left": [0], "right": [10]}, modes=4)
    >>> bar.names, bar.modes, bar.mass_matrix.shape
    (('left', 'right'), 4, (16, 16))
    >>> print(f"{bar.mass:.3f} kg about {bar.centre.round(3)} m")
    2.466 kg about [0.5 0.  0. ] m
    """

    names: tuple[str, ...]
    positions: Floats
    rotations: Floats
    mass_matrix: Floats
    stiffness_matrix: Floats
    stresses: StressModes | None = None

    def __post_init__(self) -> None:
        with Check("reduced solid") as check:
            names = required_names("reduced solid", self.names)
            m = len(names)
            if m == 0 or len(set(names)) < m:
                check.fault("interfaces need names, each another", names)
            size = np.shape(self.mass_matrix)[0] if np.ndim(self.mass_matrix) == 2 else 0
            if not 6 * m <= size <= _MOST_FREEDOMS:
                rule = f"its matrices must have from {6 * m} to {_MOST_FREEDOMS} freedoms for {m} interfaces"
                check.fault(rule, size)
            check.faults.raise_any()
            shapes = ((m, 3), (m, 4), (size, size), (size, size))
            units = ("m", "", "", "")
            arrays = {
                name: check.array(name, getattr(self, name), shape, unit)
                for name, shape, unit in zip(_ARRAYS, shapes, units, strict=True)
            }
            check.faults.raise_any()
            for name in names:
                check_name("interface", name, forbidden="./")
            for number, given in enumerate(arrays["rotations"]):
                arrays["rotations"][number] = check.quaternion(
                    f"rotation of {names[number]!r}", given.tolist()
                )
            for name in _ARRAYS[2:]:
                arrays[name] = _symmetric(check, name, arrays[name])
            check.faults.raise_any()
            _judge(check, arrays["positions"], arrays["mass_matrix"], arrays["stiffness_matrix"])
            if self.stresses is not None:
                self.stresses.check(check, size)
            for array in arrays.values():
                array.flags.writeable = False
            check.store(self, names=names, **arrays)

    @property
    def modes(self) -> int:
        """The number of modes between the interfaces."""
        return len(self.mass_matrix) - 6 * len(self.names)

    @cached_property
    def _rigid(self) -> Floats:
        """Mass matrix of rigid motion, (6, 6), about the origin of the solid."""
        return _of_rigid_motion(self.positions, self.mass_matrix)

    @property
    def mass(self) -> float:
        """Its mass, kg."""
        return float(np.trace(self._rigid[:3, :3])) / 3.0

    @property
    def centre(self) -> Floats:
        """Its centre of mass in the solid, (3,), m."""
        return properties_of(self._rigid)[1]

    @property
    def inertia(self) -> Floats:
        """Its inertia about the centre of mass, (3, 3), kg m^2, axes of the solid."""
        return properties_of(self._rigid)[2]

    def frequencies(self, held: Any = ()) -> Floats:
        """Natural frequencies, Hz, from the lowest on, without the six of rigid motion where nothing is held.

        held: names of interfaces that do not move.

        >>> bar = bc.reduce(*bar_matrices, {"left": [0], "right": [10]}, modes=4)
        >>> print(bar.frequencies(held=["left"])[0].round(2))    # by hand 14.47
        14.47
        """
        names = required_names("frequencies", (held,) if isinstance(held, str) else held)
        with Check("frequencies") as check:
            for name in names:
                check.choice("held", name, self.names)
        free = np.ones(len(self.mass_matrix), dtype=bool)
        for name in names:
            at = 6 * self.names.index(name)
            free[at : at + 6] = False
        squares = _squares(self.stiffness_matrix[free][:, free], self.mass_matrix[free][:, free])
        rigid = 0 if names else 6
        found: Floats = np.sqrt(np.maximum(squares[rigid:], 0.0)) / (2.0 * np.pi)
        return found

    def save(self, path: str | os.PathLike[str], replace: bool = True) -> None:
        """Write it to a file .npz, which `ReducedSolid.load` and `numpy.load` read.

        Raises NotWritten if the file cannot be written.

        >>> bar = bc.reduce(*bar_matrices, {"left": [0], "right": [10]})
        >>> bar.save("bar.npz")
        >>> print(f"{bc.ReducedSolid.load('bar.npz').mass:.3f}")
        2.466
        """
        where = Path(required_path("file", path))
        if where.suffix != ".npz":
            raise MechanismError.of(f"file '{where}'", "reduced solids are written as .npz")
        arrays = {name: getattr(self, name) for name in _ARRAYS}
        with whole_file(where, replace) as draft, draft.open("wb") as file:
            kept = {} if self.stresses is None else {name: getattr(self.stresses, name) for name in _KEPT}
            version = _FORMAT if kept else 1  # earlier ones had none
            stored = {f"stress_{name}": array for name, array in kept.items()}
            np.savez(file, format=version, names=np.array(self.names), **arrays, **stored)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ReducedSolid:
        """Read what `save` wrote, and check it.

        Raises MechanismError for a file of something else, and where there is none.

        >>> bc.reduce(*bar_matrices, {"left": [0], "right": [10]}).save("bar.npz")
        >>> bc.ReducedSolid.load("bar.npz").names
        ('left', 'right')
        """
        where = Path(required_path("file", path))
        element = f"file '{where}'"
        content = BytesIO(content_of(where, element, _MOST_BYTES))
        try:
            with zipfile.ZipFile(content) as archive:
                if sum(member.file_size for member in archive.infolist()) > _MOST_BYTES:
                    raise MechanismError.of(element, f"reduced solids have at most {_MOST_BYTES // 10**6} MB")
            with np.load(content, allow_pickle=False) as file:
                if int(file["format"]) > _FORMAT:
                    raise MechanismError.of(element, "it was written by a later version of bellcrank")
                names = tuple(str(name) for name in np.ravel(file["names"]))
                arrays = [file[name] for name in _ARRAYS]
                kept = [file[f"stress_{name}"] for name in _KEPT if f"stress_{name}" in file]
        except (zipfile.BadZipFile, KeyError, ValueError, TypeError, EOFError) as error:
            if isinstance(error, MechanismError):
                raise
            advice = "bc.ReducedSolid.save writes them"
            raise MechanismError.of(element, f"it is not a reduced solid ({error})", None, advice) from error
        positions, rotations, mass, stiffness = arrays
        stresses = StressModes(*kept) if len(kept) == len(_KEPT) else None
        return cls(names, positions, rotations, mass, stiffness, stresses)

    def __repr__(self) -> str:
        held = ", ".join(map(repr, self.names))
        return f"<ReducedSolid of {self.mass:.6g} kg: interfaces {held}, {self.modes} modes>"


def properties_of(rigid: Floats) -> tuple[float, Floats, Floats]:
    """Mass, centre and inertia about it, from a mass matrix of rigid motion about the origin, (6, 6)."""
    mass = float(np.trace(rigid[:3, :3])) / 3.0
    # Of a rigid body the part [force by turn] is -m [c]x.
    turned = rigid[:3, 3:]
    centre = np.array([turned[1, 2] - turned[2, 1], turned[2, 0] - turned[0, 2], turned[0, 1] - turned[1, 0]])
    centre /= 2.0 * mass
    inertia = rigid[3:, 3:] - mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
    return mass, centre, 0.5 * (inertia + inertia.T)


def _of_rigid_motion(positions: Floats, mass: Floats) -> Floats:
    motion = rigid_motion(positions, len(mass) - 6 * len(positions))
    return motion.T @ mass @ motion


def free_modes(stiffness: Floats, mass: Floats) -> Floats:
    """The modes of a free solid without the six of rigid motion, W' M W = 1."""
    lower = np.linalg.inv(np.linalg.cholesky(mass))
    _, found = np.linalg.eigh(lower @ stiffness @ lower.T)
    shapes: Floats = lower.T @ found[:, 6:]
    return shapes


def _squares(stiffness: Floats, mass: Floats) -> Floats:
    """Eigenvalues of K a = w^2 M a, rising."""
    lower = np.linalg.inv(np.linalg.cholesky(mass))
    found = np.linalg.eigvalsh(lower @ stiffness @ lower.T)
    return np.asarray(found, dtype=float)


def _symmetric(check: Check, name: str, matrix: Floats) -> Floats:
    largest = float(np.abs(matrix).max())
    if float(np.abs(matrix - matrix.T).max()) > _SYMMETRIC * largest:
        check.fault(f"{name} must be symmetric", float(np.abs(matrix - matrix.T).max()))
    return 0.5 * (matrix + matrix.T)


def _judge(check: Check, positions: Floats, mass: Floats, stiffness: Floats) -> None:
    """Note faults of mechanics: mass that is not positive, or differs by axis; rigid motion that strains."""
    scale = np.sqrt(np.maximum(np.diag(mass), 0.0))
    if scale.min() <= 0.0 or np.linalg.eigvalsh(mass / np.outer(scale, scale))[0] < 1e-12:
        check.fault("its mass matrix must be positive definite", float(np.linalg.eigvalsh(mass)[0]))
        return
    rigid = _of_rigid_motion(positions, mass)
    along = rigid[:3, :3]
    weight = float(np.trace(along)) / 3.0
    if float(np.abs(along - weight * np.eye(3)).max()) > _RIGID * weight:
        rule = "its mass must be the same along all axes"
        check.fault(rule, along.tolist(), "give the mass of the whole solid, without parts that are held")
    motion = rigid_motion(positions, len(mass) - 6 * len(positions))
    # Energies of rigid motion against those of the same sizes without it.
    strain = np.abs(np.diag(motion.T @ stiffness @ motion))
    apart = (motion**2).T @ np.abs(np.diag(stiffness))
    if np.any(strain > _RIGID * apart):
        worst = float((strain / np.maximum(apart, 1e-300)).max())
        advice = "its stiffness holds it somewhere: leave supports out, interfaces are held in the mechanism"
        check.fault("rigid motion must not strain it", worst, advice)
    # Rounding leaves small negative eigenvalues beside those of rigid motion.
    squares = _squares(stiffness, mass)
    if squares[0] < -_RIGID * squares[-1]:
        check.fault("its stiffness matrix must not be negative", float(squares[0]))
