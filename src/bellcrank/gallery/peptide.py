"""Peptides of ideal geometry from torsions: a helix, a strand, any fold of a protein's backbone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import cos, degrees, hypot, radians, sin
from typing import Final, TypeAlias

import bellcrank as bc
from bellcrank.io.protein import Residue, backbone
from bellcrank.mechanism.checking import Vec3

Angles: TypeAlias = float | Sequence[float]
Atoms: TypeAlias = Mapping[str, tuple[float, Vec3]]

HELIX: Final = (radians(-57.0), radians(-47.0))
"""Torsions phi and psi of the alpha helix, rad."""
STRAND: Final = (radians(-139.0), radians(135.0))
"""The same of an extended strand."""

MASSES: Final = {"H": 1.008, "C": 12.011, "N": 14.007, "O": 15.999}
"""u."""
NAMES: Final = {"A": "ALA", "G": "GLY", "L": "LEU", "P": "PRO", "S": "SER", "V": "VAL"}
"""The residues that peptides are made of, by their letters."""

# Each atom is placed by three others: length, nm, angle and torsion, degrees (after R. Engh, R. Huber, 1991).
_Rule: TypeAlias = tuple[tuple[str, str, str], tuple[float, float, float]]
_CARBON: Final = (("C", "N", "CA"), (0.1530, 110.4, -122.6))
_HYDROGEN: Final = (("C", "N", "CA"), (0.1090, 109.5, 118.0))
_SIDE: Final[dict[str, dict[str, _Rule]]] = {
    "A": {"CB": _CARBON},
    "G": {"HA2": _HYDROGEN, "HA3": (("C", "N", "CA"), (0.1090, 109.5, -118.0))},
    "L": {
        "CB": _CARBON,
        "CG": (("N", "CA", "CB"), (0.1530, 116.3, -65.0)),
        "CD1": (("CA", "CB", "CG"), (0.1521, 110.7, 175.0)),
        "CD2": (("CA", "CB", "CG"), (0.1521, 110.7, -63.0)),
    },
    "P": {"CB": _CARBON, "CG": (("N", "CA", "CB"), (0.1492, 104.5, 28.0))},
    "S": {"CB": _CARBON, "OG": (("N", "CA", "CB"), (0.1417, 111.1, -60.0))},
    "V": {
        "CB": _CARBON,
        "CG1": (("N", "CA", "CB"), (0.1521, 110.5, 175.0)),
        "CG2": (("N", "CA", "CB"), (0.1521, 110.5, -63.0)),
    },
}


def peptide(sequence: str = "GAVLSPAAAAAA", phi: Angles = HELIX[0], psi: Angles = HELIX[1]) -> bc.Mechanism:
    """A peptide that floats: rigid peptide units and residues on hinges of the torsions phi and psi.

    Degrees of freedom: 6 and 2 for each residue but the first, less 1 for each proline among those.

    sequence: letters of A, G, L, P, S, V (alanine, glycine, leucine, proline, serine, valine). phi, psi:
    torsions, rad, one number or one for each residue; by default an alpha helix. Lengths are in nm, masses
    in u, times in ps, so that forces are in kJ/(mol nm), which is 1.66 pN. Bodies and joints are named as in
    "A 3", "A 3 unit", "A 3 phi", "A 3 psi"; the coordinates of joints are the torsions.
    Raises ValueError for other letters and another number of torsions.
    """
    return backbone("peptide", [peptide_residues(sequence, phi, psi)])


def peptide_residues(sequence: str, phi: Angles, psi: Angles, chain: str = "A") -> list[Residue]:
    """The residues of a peptide, labelled "A 1", ..., with atoms but the hydrogens of side chains."""
    if not sequence or (unknown := sorted(set(sequence) - set(NAMES))):
        offered = ", ".join(NAMES)
        raise ValueError(
            f"peptide: there are no residues {unknown if sequence else []}; use some of {offered}"
        )
    turns = []
    for name, given in (("phi", phi), ("psi", psi)):
        angles = (
            [float(given)] * len(sequence) if isinstance(given, (int, float)) else [float(a) for a in given]
        )
        if len(angles) != len(sequence):
            raise ValueError(f"peptide: {name} must have {len(sequence)} torsions, got {len(angles)}")
        turns.append(angles)
    out: list[Residue] = []
    for number, (letter, before, after) in enumerate(zip(sequence, *turns, strict=True)):
        atoms = _residue(letter, out[-1].atoms if out else None, turns[1][number - 1], before, after)
        out.append(Residue(f"{chain} {number + 1}", NAMES[letter], atoms))
    return out


def _residue(letter: str, last: Atoms | None, turn: float, phi: float, psi: float) -> Atoms:
    """Atoms of a residue that follows another one, whose psi is `turn`."""
    places: dict[str, Vec3]
    if last is None:
        places = {"N": (0.0, 0.0, 0.0), "CA": (0.1458, 0.0, 0.0)}
        places["C"] = _placed(((0.0, 1.0, 0.0), places["N"], places["CA"]), (0.1525, 111.0, 180.0))
    else:
        a, b, c = (last[name][1] for name in ("N", "CA", "C"))
        places = {"N": _placed((a, b, c), (0.1329, 117.2, degrees(turn)))}
        places["CA"] = _placed((b, c, places["N"]), (0.1458, 121.7, 180.0))
        places["C"] = _placed((c, places["N"], places["CA"]), (0.1525, 111.0, degrees(phi)))
        if letter != "P":
            places["H"] = _placed((b, c, places["N"]), (0.1010, 119.2, 0.0))
    rules: dict[str, _Rule] = {"O": (("N", "CA", "C"), (0.1231, 120.1, degrees(psi) + 180.0))}
    rules |= {} if letter == "G" else {"HA": _HYDROGEN}
    rules |= _SIDE[letter]
    rules |= {"CD": (("C", "CA", "N"), (0.1473, 112.0, degrees(phi) + 180.0))} if letter == "P" else {}
    for name, ((one, two, three), numbers) in rules.items():
        places[name] = _placed((places[one], places[two], places[three]), numbers)
    return {name: (MASSES[name[0]], place) for name, place in places.items()}


def _placed(others: tuple[Vec3, Vec3, Vec3], numbers: tuple[float, float, float]) -> Vec3:
    """Where an atom d is, bound to c of a, b, c: length, angle b-c-d, torsion a-b-c-d."""
    a, b, c = others
    length, angle, torsion = numbers[0], radians(numbers[1]), radians(numbers[2])
    u = _unit(_minus(c, b))
    n = _unit(_cross(_minus(b, a), u))
    m = _cross(n, u)
    along, across, up = -cos(angle), sin(angle) * cos(torsion), sin(angle) * sin(torsion)
    x, y, z = (q + length * (along * i + across * j + up * k) for q, i, j, k in zip(c, u, m, n, strict=True))
    return (x, y, z)


def _minus(a: Vec3, b: Vec3) -> Vec3:
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def _cross(a: Vec3, b: Vec3) -> Vec3:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def _unit(a: Vec3) -> Vec3:
    size = hypot(*a)
    return (a[0] / size, a[1] / size, a[2] / size)
