"""Protein backbones as linkages: rigid peptide units and residues on hinges of the torsions phi and psi.

Lengths are in nm, masses in u, times in ps, so that forces are in kJ/(mol nm) = 1.66 pN: in the SI metres and
kilograms of a protein no two numbers could be added to those of other mechanisms.

Residue i holds C-alpha, its hydrogens and the side chain. Unit i holds C and O of residue i, and N and its
hydrogen of residue i + 1: a plane, which the partial double bond C-N keeps. Psi of residue i turns unit i
about C-alpha -> C, phi of residue i + 1 turns residue i + 1 about N -> C-alpha; both are coordinates of
hinges, equal to IUPAC's torsions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import hypot
from pathlib import Path
from typing import Any, Final

import numpy as np

from bellcrank.errors import FaultList, Location, MechanismError, Unsupported
from bellcrank.mechanism import Mechanism
from bellcrank.mechanism.body import Body
from bellcrank.mechanism.checking import Quat, Vec3
from bellcrank.mechanism.joint_kinds import Revolute
from bellcrank.mechanism.rotation import between, conjugate, direction, from_matrix, matrix, multiply, rotate
from bellcrank.mechanism.shape import Capsule, Shape, Sphere
from bellcrank.named_files import content_of

RADIUS: Final = 0.03
"""Of every atom, nm. An atom is a ball, for a point alone on a hinge would have no inertia about it."""
BOND: Final = 0.2
"""Longer than this, nm, C and the next N are not bound: there the chain is broken."""
_HEAVY: Final = 3.0  # u; lighter atoms are hydrogen
_BOUND: Final = 0.17  # nm: heavy atoms closer to each other than this are bonded
_ACROSS: Final = 0.15  # nm, about the length of the bond along the axis of a hinge
_BALL, _ROD = 0.035, 0.02  # radii of the drawn shapes, nm
_ON_NITROGEN: Final = ("N", "H", "HN", "D")
_ON_CARBON: Final = ("C", "O")
_RING: Final = "PRO"


@dataclass(frozen=True)
class Residue:
    """One amino acid: its label, its three-letter name, and the mass (u) and position (nm) of each atom.

    N, CA and C must be among the atoms.
    """

    label: str
    name: str
    atoms: Mapping[str, tuple[float, Vec3]]

    def at(self, atom: str) -> np.ndarray:
        """The position of an atom, (3,), nm."""
        return np.array(self.atoms[atom][1])


def bound(before: Residue, after: Residue) -> bool:
    """Whether a peptide bond joins two residues."""
    return bool(np.linalg.norm(after.at("N") - before.at("C")) < BOND)


def backbone(name: str, chains: Sequence[Sequence[Residue]], shapes: bool = True) -> Mechanism:
    """A model of chains of residues, each a floating tree; a break starts another tree. No gravity.

    Bodies have the residue's label ("A 17"), a peptide unit that of its first residue and "unit"; joints are
    "A 17 phi" and "A 17 psi". The first residue of a tree includes its N as well, the last its C and O. Phi
    of proline is part of a ring and is not a joint: the residue is one body with the unit before it. shapes:
    whether the atoms other than hydrogen are drawn.
    """
    mech = Mechanism(name, gravity=(0.0, 0.0, 0.0))
    for chain in chains:
        first = 0
        for end in range(1, len(chain) + 1):
            if end == len(chain) or not bound(chain[end - 1], chain[end]):
                _add_chain(mech, chain[first:end], shapes)
                first = end
    return mech


def _add_chain(mech: Mechanism, chain: Sequence[Residue], drawn: bool) -> None:
    start = chain[0]
    held = _atoms_of(start, first=True, last=len(chain) == 1)
    frame = _frame(start.at("CA"), start.at("CA") - start.at("N"), start.at("C"))
    carrier = _add_body(mech, start.label, held, frame, drawn)
    for before, after in pairwise(chain):
        place, axis = before.at("C"), before.at("C") - before.at("CA")
        base, frame = (_frame(place, axis, toward.at("N")) for toward in (before, after))
        unit = {f"{atom} before": before.atoms[atom] for atom in _ON_CARBON if atom in before.atoms}
        unit |= {atom: after.atoms[atom] for atom in _ON_NITROGEN if atom in after.atoms}
        rest = _atoms_of(after, first=False, last=after is chain[-1])
        if after.name == _RING:
            body = _add_body(mech, after.label, unit | rest, frame, drawn)
        else:
            body = _add_body(mech, f"{before.label} unit", unit, frame, drawn)
        _hinge(mech, f"{before.label} psi", carrier, base, body)
        if after.name != _RING:
            place, axis = after.at("CA"), after.at("CA") - after.at("N")
            base, frame = (_frame(place, axis, toward) for toward in (before.at("C"), after.at("C")))
            carrier, body = body, _add_body(mech, after.label, rest, frame, drawn)
            _hinge(mech, f"{after.label} phi", carrier, base, body)
        carrier = body


def _atoms_of(residue: Residue, first: bool, last: bool) -> dict[str, tuple[float, Vec3]]:
    """The atoms of a residue's own body, without those of the adjacent peptide units."""
    left = (*(() if first else _ON_NITROGEN), *(() if last else _ON_CARBON))
    return {atom: found for atom, found in residue.atoms.items() if atom not in left}


def _frame(place: np.ndarray, axis: np.ndarray, toward: np.ndarray) -> tuple[Vec3, Quat]:
    """Position and rotation of a frame with z along an axis and a point in the half-plane of x."""
    z = axis / np.linalg.norm(axis)
    x = toward - place - z * (z @ (toward - place))
    x /= np.linalg.norm(x)
    (a, b, c), (d, e, f) = x.tolist(), z.tolist()
    turn = np.array([[a, e * c - f * b, d], [b, f * a - d * c, e], [c, d * b - e * a, f]])
    px, py, pz = place.tolist()
    return (px, py, pz), from_matrix(turn)


def _add_body(
    mech: Mechanism, name: str, atoms: Mapping[str, tuple[float, Vec3]], frame: tuple[Vec3, Quat], drawn: bool
) -> Body:
    """Add a body of balls, with its frame at its hinge; atoms other than hydrogen may be drawn."""
    place, turn = frame
    mass = np.array([found[0] for found in atoms.values()])
    at = (np.array([found[1] for found in atoms.values()]) - place) @ matrix(turn)
    whole = mass.sum()
    com = mass @ at / whole
    arm = np.sqrt(mass)[:, None] * (at - com)
    second = arm.T @ arm
    inertia = (np.trace(second) + 0.4 * whole * RADIUS**2) * np.eye(3) - second
    shown = _shapes([(0.0, 0.0, -_ACROSS), *at[mass > _HEAVY].tolist()]) if drawn else ()
    return mech.add_body(name, float(whole), inertia, com, place, turn, shapes=shown)


def _shapes(points: Sequence[Sequence[float]]) -> list[Shape]:
    """Balls at the atoms, except the first, which belongs to another body; rods between bonded atoms."""
    out: list[Shape] = [Sphere(radius=_BALL, position=(x, y, z)) for x, y, z in points[1:]]
    for (ax, ay, az), (bx, by, bz) in combinations(points, 2):
        way = (bx - ax, by - ay, bz - az)
        if (length := hypot(*way)) < _BOUND:
            middle = (ax + 0.5 * way[0], ay + 0.5 * way[1], az + 0.5 * way[2])
            turn = between((0.0, 0.0, 1.0), direction(way))
            out.append(Capsule(radius=_ROD, length=length, position=middle, rotation=turn))
    return out


def _hinge(mech: Mechanism, name: str, carrier: Body, base: tuple[Vec3, Quat], body: Body) -> None:
    """Add a hinge about z of the body's frame, zero where that frame coincides with `base`, in the world."""
    place, turn = base
    back = conjugate(carrier.rotation)
    x, y, z = (a - b for a, b in zip(place, carrier.position, strict=True))
    at = carrier.marker(rotate(back, (x, y, z)), rotation=multiply(back, turn))
    mech.add_joint(name, Revolute(), at, body.marker())


SIZE: Final = 30_000_000
"""How many bytes a protein file may have."""
_NEEDED = ("N", "CA", "C")
_BOND = (0.1, 0.2)  # nm, distances between these atoms
_REACH = 1.5  # nm, of a residue about its CA: gemmi reads an unreadable position as zero

_UNITS = "coordinates in these files are in Angstrom; can they be read as numbers?"


def read(path: Path) -> Mechanism:
    """The backbone of all chains of a file's first model; see `backbone` for units, bodies and joints.

    Only amino acids are included, with the atoms listed in the file; of alternative positions, the first.
    Water, ligands and bridges between side chains are ignored. Raises Unsupported without gemmi,
    MechanismError with all faults, each with file, line and residue, OSError if the file cannot be read.
    """
    try:
        import gemmi
    except ImportError:
        raise Unsupported(
            f"reading {str(path)!r} needs the package gemmi: install it with 'pip install bellcrank[protein]'"
        ) from None
    content = content_of(path, f"protein file {str(path)!r}", SIZE)
    faults = FaultList()
    try:
        if is_cif := path.suffix.lower() in (".cif", ".mmcif"):
            blocks = gemmi.cif.read_string(content.decode("utf-8", "replace"))
            structure = gemmi.make_structure_from_block(blocks[0])
        else:
            structure = gemmi.read_pdb_string(content)
        structure.merge_chain_parts()
    except (RuntimeError, ValueError, IndexError) as error:
        faults.add("protein file", f"gemmi cannot read it ({error})", None, "", Location(str(path)))
        raise MechanismError(faults) from None
    structure.remove_alternative_conformations()
    lines = _lines(content, is_cif)
    chains = []
    for chain in structure[0] if len(structure) > 0 else ():
        acids = [residue for residue in chain if gemmi.find_tabulated_residue(residue.name).is_amino_acid()]
        chains.append([_residue(faults, path, lines, chain.name, residue) for residue in acids])
    if not any(chains):
        advice = "it must have residues of amino acids, with their atoms"
        faults.add("protein file", "there is no protein in it", None, advice, Location(str(path)))
    faults.raise_any()
    return backbone(path.stem, [chain for chain in chains if chain])


def _residue(faults: FaultList, path: Path, lines: dict[int, int], chain: str, residue: Any) -> Residue:
    """A residue in nm and u; its faults are added to the list."""
    label = f"{chain} {residue.seqid}"
    atoms = {
        atom.name: (float(atom.element.weight), tuple(0.1 * x for x in atom.pos.tolist())) for atom in residue
    }

    def fault(rule: str, value: object, advice: str, atom: Any) -> None:
        where = Location(str(path), lines.get(atom.serial))
        faults.add(f"residue {label} {residue.name}", rule, value, advice, where)

    for atom in residue:
        if atom.element.atomic_number == 0:
            fault("an atom is of no known element", atom.name, "give its element", atom)
    for name in _NEEDED:
        if name not in atoms:
            fault(
                f"its atom {name} is missing",
                None,
                "complete the backbone, or leave the residue out",
                residue[0],
            )
            return Residue(label, residue.name, atoms)
    found = Residue(label, residue.name, atoms)
    for one, other in (("N", "CA"), ("CA", "C")):
        length = float(np.linalg.norm(found.at(one) - found.at(other)))
        if not _BOND[0] < length < _BOND[1]:
            rule = f"{one} and {other} must be {_BOND[0]} to {_BOND[1]} nm apart"
            fault(rule, round(length, 4), _UNITS, residue[other][0])
    for atom in residue:
        away = float(np.linalg.norm(found.at(atom.name) - found.at("CA")))
        if atom.name not in _NEEDED and not away < _REACH:
            fault(f"an atom must lie within {_REACH} nm of CA", f"{atom.name} at {away:.4g} nm", _UNITS, atom)
    return found


def _lines(content: bytes, is_cif: bool) -> dict[int, int]:
    """The lines, from 1, of atoms by their serial numbers."""
    found: dict[int, int] = {}
    for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), start=1):
        if line.startswith(("ATOM", "HETATM")):
            words = line.split(maxsplit=2)
            text = "".join(words[1:2]) if is_cif else line[6:11].strip()
            if text.isdecimal():
                found.setdefault(int(text), number)
    return found
