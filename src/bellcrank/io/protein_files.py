"""Protein backbones from PDB and mmCIF files, which the package gemmi reads (extra `protein`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np

from bellcrank.errors import FaultList, Location, MechanismError, Unsupported
from bellcrank.io.backbone import Residue, backbone
from bellcrank.mechanism import Mechanism
from bellcrank.named_files import content_of

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
