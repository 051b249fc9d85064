"""Peptides of the gallery as PDB and mmCIF files, in Angstrom."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bellcrank.io.backbone import Residue

_COLUMNS = (
    *("group_PDB", "id", "type_symbol", "label_atom_id", "label_alt_id", "label_comp_id", "label_asym_id"),
    *("label_entity_id", "label_seq_id", "pdbx_PDB_ins_code", "Cartn_x", "Cartn_y", "Cartn_z"),
    *("occupancy", "B_iso_or_equiv", "auth_seq_id", "auth_asym_id", "pdbx_PDB_model_num"),
)


def _atoms(chains: Sequence[Sequence[Residue]]) -> Iterator[tuple[int, str, str, str, str, list[float]]]:
    """Serial number, atom, residue, chain, number and place of each atom."""
    serial = 0
    for residue in (residue for chain in chains for residue in chain):
        chain, number = residue.label.split()
        for atom, (_, place) in residue.atoms.items():
            serial += 1
            yield serial, atom, residue.name, chain, number, [10.0 * x for x in place]


def pdb_text(chains: Sequence[Sequence[Residue]]) -> str:
    """A PDB file, with three decimals."""
    lines = ["HEADER    PEPTIDE"]
    for serial, atom, residue, chain, number, (x, y, z) in _atoms(chains):
        lines.append(
            f"ATOM  {serial:5d}  {atom:<3s} {residue} {chain}{number:>4s}    "
            f"{x:8.3f}{y:8.3f}{z:8.3f}  1.00  0.00          {atom[0]:>2s}"
        )
    return "\n".join([*lines, "END", ""])


def mmcif_text(chains: Sequence[Sequence[Residue]]) -> str:
    """An mmCIF file, with twelve decimals."""
    lines = ["data_peptide", "loop_", *(f"_atom_site.{column}" for column in _COLUMNS)]
    for serial, atom, residue, chain, number, place in _atoms(chains):
        x, y, z = (f"{value:.12f}" for value in place)
        lines.append(
            f"ATOM {serial} {atom[0]} {atom} . {residue} {chain} 1 {number} ? {x} {y} {z} 1 0 "
            f"{number} {chain} 1"
        )
    return "\n".join([*lines, "#", ""])
