"""Protein backbones from PDB and mmCIF files, which the package gemmi reads (extra `protein`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.errors import FaultList, Location, MechanismError, Unsupported
from bellcrank.io.backbone import Residue, backbone
from bellcrank.mechanism import Mechanism

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
    path.stat()
    faults = FaultList()
    try:
        structure = gemmi.read_structure(str(path), merge_chain_parts=True)
    except (RuntimeError, ValueError) as error:
        faults.add("protein file", f"gemmi cannot read it ({error})", None, "", Location(str(path)))
        raise MechanismError(faults) from None
    structure.remove_alternative_conformations()
    chains = []
    for chain in structure[0] if len(structure) > 0 else ():
        acids = [residue for residue in chain if gemmi.find_tabulated_residue(residue.name).is_amino_acid()]
        chains.append([_residue(faults, path, chain.name, residue) for residue in acids])
    if not any(chains):
        advice = "it must have residues of amino acids, with their atoms"
        faults.add("protein file", "there is no protein in it", None, advice, Location(str(path)))
    faults.raise_any()
    return backbone(path.stem, [chain for chain in chains if chain])


def _residue(faults: FaultList, path: Path, chain: str, residue: Any) -> Residue:
    """A residue in nm and u; its faults are added to the list."""
    label = f"{chain} {residue.seqid}"
    atoms = {
        atom.name: (float(atom.element.weight), tuple(0.1 * x for x in atom.pos.tolist())) for atom in residue
    }

    def fault(rule: str, value: object, advice: str, atom: Any) -> None:
        where = Location(str(path), _line(path, atom.serial))
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


def _line(path: Path, serial: int) -> int | None:
    """The location of an atom, by its serial number, in the file, if that is plain text."""
    return next((number for number, found in _serials(path) if found == serial), None)


def _serials(path: Path) -> Iterator[tuple[int, int]]:
    """Line numbers, from 1, and the serial numbers of the atoms in those lines."""
    is_cif = path.suffix.lower() in (".cif", ".mmcif")
    with path.open(encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, start=1):
            if line.startswith(("ATOM", "HETATM")):
                text = line.split()[1] if is_cif else line[6:11].strip()
                if text.isdecimal():
                    yield number, int(text)
