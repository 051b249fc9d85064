"""Protein backbones read from PDB and mmCIF files that the gallery's peptides are written to."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import MechanismError, Unsupported
from bellcrank.gallery import peptide_residues
from bellcrank.io.protein import RADIUS, Residue
from bellcrank.mechanism.rotation import matrix

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


gemmi = pytest.importorskip("gemmi")
SEQUENCE = "GAPSVLAPPG"
RNG = np.random.default_rng(5)
PHI, PSI = RNG.uniform(-3.1, 3.1, (2, len(SEQUENCE)))
CHAIN = peptide_residues(SEQUENCE, PHI.tolist(), PSI.tolist())


def written(folder: Path, text: str, suffix: str = "pdb") -> Path:
    path = folder / f"peptide.{suffix}"
    path.write_text(text)
    return path


def torsions(mech: bc.Mechanism) -> dict[str, float]:
    """The coordinates of all joints at the start."""
    run = bc.start(mech, mode="quasistatic", step=1e-6).trajectory
    return {name: float(run.joint(name)[0, 0]) for name in mech.joints}


@pytest.mark.parametrize(("suffix", "text", "within"), [("pdb", pdb_text, 5e-3), ("cif", mmcif_text, 1e-9)])
def test_joints_are_the_torsions_that_were_written(tmp_path, suffix, text, within):
    """As many as are free, phi of prolines left out, with the generator's angles and those gemmi finds."""
    mech = bc.load(written(tmp_path, text([CHAIN]), suffix))
    wanted = {f"A {k + 1} psi": PSI[k] for k in range(len(SEQUENCE) - 1)}
    wanted |= {f"A {k + 1} phi": PHI[k] for k in range(1, len(SEQUENCE)) if SEQUENCE[k] != "P"}
    found = torsions(mech)
    assert set(found) == set(wanted)
    gap = [np.angle(np.exp(1j * (found[name] - wanted[name]))) for name in wanted]
    np.testing.assert_allclose(gap, 0.0, atol=within)
    chain = gemmi.read_structure(str(tmp_path / f"peptide.{suffix}"))[0][0]
    for before, after in zip(list(chain)[:-1], list(chain)[1:], strict=True):
        places = [before["N"][0].pos, before["CA"][0].pos, before["C"][0].pos, after["N"][0].pos]
        off = found[f"A {before.seqid} psi"] - gemmi.calculate_dihedral(*places)
        assert abs(np.angle(np.exp(1j * off))) < 1e-9


def test_a_file_gives_the_mechanism_of_the_gallery(tmp_path):
    """mmCIF has digits enough for that: masses, inertias, poses and hinges."""
    ours = bc.gallery.peptide(SEQUENCE, PHI.tolist(), PSI.tolist())
    read = bc.load(written(tmp_path, mmcif_text([CHAIN]), "mmcif"))
    assert list(read.bodies) == list(ours.bodies)
    assert list(read.joints) == list(ours.joints)
    for one, other in zip(ours.bodies.values(), read.bodies.values(), strict=True):
        assert one.mass == pytest.approx(other.mass, rel=1e-4)  # tables of atomic weights differ
        np.testing.assert_allclose(one.position, other.position, atol=1e-9)
        np.testing.assert_allclose(np.abs(np.dot(one.rotation, other.rotation)), 1.0, atol=1e-12)
        np.testing.assert_allclose(one.inertia, other.inertia, rtol=1e-3, atol=1e-4)


def test_mass_centre_and_inertia_are_those_of_all_atoms():
    mech = bc.gallery.peptide(SEQUENCE, PHI.tolist(), PSI.tolist())
    atoms = [atom for residue in CHAIN for atom in residue.atoms.values()]
    mass, place = np.array([a[0] for a in atoms]), np.array([a[1] for a in atoms])
    bodies = list(mech.bodies.values())
    turns = [matrix(body.rotation) for body in bodies]
    coms = [np.array(b.position) + turn @ b.com for b, turn in zip(bodies, turns, strict=True)]
    masses = np.array([body.mass for body in bodies])
    assert masses.sum() == pytest.approx(mass.sum(), rel=1e-14)
    np.testing.assert_allclose(masses @ np.array(coms), mass @ place, rtol=1e-12)

    def about_origin(m: float, at: np.ndarray) -> np.ndarray:
        return m * (at @ at * np.eye(3) - np.outer(at, at))

    balls = 0.4 * mass.sum() * RADIUS**2 * np.eye(3)
    wanted = sum((about_origin(m, p) for m, p in zip(mass, place, strict=True)), balls)
    found = sum(
        turn @ np.array(body.inertia) @ turn.T + about_origin(body.mass, com)
        for body, turn, com in zip(bodies, turns, coms, strict=True)
    )
    np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-11)


def test_peptide_units_are_planes_and_residues_left_handed():
    for before, after in pairwise(CHAIN):
        a, b, c, d = before.at("CA"), before.at("C"), after.at("N"), after.at("CA")
        assert np.cross(b - a, c - b) @ (d - c) == pytest.approx(0.0, abs=1e-15)
        assert np.cross(b - a, c - b) @ (before.at("O") - b) == pytest.approx(0.0, abs=1e-15)
    for residue in (residue for residue in CHAIN if "CB" in residue.atoms):
        n, c, b = (residue.at(name) - residue.at("CA") for name in ("N", "C", "CB"))
        assert n @ np.cross(c, b) > 0.0


def test_chains_and_breaks_are_trees_that_float(tmp_path):
    """Two chains, one without its sixth residue; water, a ligand, a second place of an atom do not count."""
    other = peptide_residues("AAA", -1.0, -0.8, chain="B")
    text = pdb_text([[*CHAIN[:5], *CHAIN[6:]], other])
    water = "HETATM 9999  O   HOH A 201       1.000   1.000   1.000  1.00  0.00           O\n"
    second = next(line for line in text.splitlines() if "  CB  ALA B   2" in line)
    moved = second[:16] + "B" + second[17:30] + "  99.000  99.000  99.000" + second[54:]
    text = text.replace(second, f"{second[:16]}A{second[17:]}\n{moved}").replace("END", water + "END")
    mech = bc.load(written(tmp_path, text, "ent"))
    carried = {joint.marker_2.body for joint in mech.joints.values()}
    assert [name for name in mech.bodies if name not in carried] == ["A 1", "A 7", "B 1"]
    assert mech.bodies["B 2"].mass == pytest.approx(2 * 12.011 + 1.008, abs=1e-3)
    assert "A 5 psi" not in mech.joints
    assert bc.info(mech).freedom == 3 * 6 + len(mech.joints)


def line_of(text: str, atom: str) -> int:
    return next(number for number, line in enumerate(text.splitlines(), 1) if atom in line)


def test_all_faults_are_told_with_file_and_line(tmp_path):
    lines = pdb_text([CHAIN]).splitlines()
    lines = [line for line in lines if "  CA  SER A   4" not in line]
    far = next(k for k, line in enumerate(lines) if "  C   LEU A   6" in line)
    lines[far] = lines[far][:30] + " 500.000" + lines[far][38:]
    lost = next(k for k, line in enumerate(lines) if "  CB  VAL A   5" in line)
    lines[lost] = lines[lost][:30] + "-77.oops" + lines[lost][38:]
    odd = next(k for k, line in enumerate(lines) if "  CB  ALA A   2" in line)
    lines[odd] = lines[odd][:76] + " Q"
    path = written(tmp_path, "\n".join(lines))
    with pytest.raises(MechanismError) as caught:
        bc.load(path)
    texts = "\n".join(map(str, caught.value.faults))
    assert len(caught.value.faults) == 4, texts
    first = line_of("\n".join(lines), "  N   SER A   4")
    assert "residue A 4 SER: its atom CA is missing; complete the backbone" in texts
    assert f"[{path}:{first}]" in texts
    assert "residue A 6 LEU: CA and C must be 0.1 to 0.2 nm apart, got " in texts
    assert f"[{path}:{far + 1}]" in texts
    assert "residue A 5 VAL: an atom must lie within 1.5 nm of CA, got 'CB at " in texts
    assert f"[{path}:{lost + 1}]" in texts
    assert "residue A 2 ALA: an atom is of no known element, got 'CB'" in texts
    assert f"[{path}:{odd + 1}]" in texts


def test_the_line_of_a_fault_in_mmcif(tmp_path):
    text = mmcif_text([CHAIN])
    broken = "\n".join(line for line in text.splitlines() if " CA . SER " not in line)
    path = written(tmp_path, broken, "cif")
    with pytest.raises(MechanismError, match="residue A 4 SER: its atom CA is missing") as caught:
        bc.load(path)
    assert f"{path}:{line_of(broken, ' N . SER ')}" in str(caught.value)


@pytest.mark.parametrize(
    ("suffix", "text", "message"),
    [
        ("pdb", "", "there is no protein in it"),
        ("pdb", "bellcrank: 1\n", "there is no protein in it"),
        ("cif", "data_x\nloop_\n_atom_site.id\n_atom_site.type_symbol\n1\n", "gemmi cannot read it"),
        ("cif", "no such thing", r"gemmi cannot read it \(.*1"),
    ],
)
def test_files_that_hold_no_protein(tmp_path, suffix, text, message):
    path = written(tmp_path, text, suffix)
    with pytest.raises(MechanismError, match=message) as caught:
        bc.load(path)
    assert str(path) in str(caught.value)


def test_a_file_that_is_not_there():
    with pytest.raises(OSError, match=r"nothing\.pdb"):
        bc.load("nothing.pdb")


def test_without_gemmi(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "gemmi", None)
    with pytest.raises(
        Unsupported, match=r"needs the package gemmi: install it with 'pip install bellcrank\[protein\]'"
    ):
        bc.load(written(tmp_path, pdb_text([CHAIN])))
