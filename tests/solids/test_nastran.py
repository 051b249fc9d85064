"""Matrices in Nastran's DMIG entries: written here in its three ways, and read back; what is refused."""

import numpy as np
import pytest
from rigs import solids

import bellcrank as bc

pytest.importorskip("scipy", reason="needs extra `solids`")


def wide(value):
    """Sixteen columns, with D and every digit that fits."""
    return f"{value:16.9E}".replace("E", "D")


def dmig(name, matrix, freedoms, form=6):
    """Entries of double width, as in punch files: of each column the rows from the diagonal on."""
    lines = [f"DMIG    {name:<8}{0:8d}{form:8d}{2:8d}{0:8d}"]
    for j, (grid, component) in enumerate(freedoms):
        rows = [i for i in range(j if form == 6 else 0, len(freedoms)) if matrix[i, j]]
        if rows:
            lines.append(f"DMIG*   {name:<16}{grid:16d}{component:16d}")
        lines += [f"*       {freedoms[i][0]:16d}{freedoms[i][1]:16d}{wide(matrix[i, j])}" for i in rows]
    return lines


def grids(nodes, first=101):
    return [f"GRID,{first + k},,{x!r},{y!r},{z!r}" for k, (x, y, z) in enumerate(nodes.tolist())]


def six(count, first=101, components=6):
    return [(first + k, c + 1) for k in range(count) for c in range(components)]


@pytest.mark.parametrize("form", [6, 1])
def test_a_whole_model(tmp_path, form):
    K, M, nodes = (np.asarray(getattr(one, "todense", lambda one=one: one)()) for one in solids.beam(6))
    lines = ["SOL 103", "CEND", "BEGIN BULK", "$ a bar", *grids(nodes), "SET1    7       101     THRU    103"]
    lines += dmig("KGG", K, six(7), form) + dmig("MGG", M, six(7), form) + ["ENDDATA"]
    (tmp_path / "bar.pch").write_text("\n".join(lines))
    model = bc.read_nastran(tmp_path / "bar.pch")
    np.testing.assert_allclose(model.nodes, nodes)
    np.testing.assert_allclose(model.stiffness.toarray(), K, rtol=1e-9, atol=1e-12 * abs(K).max())
    np.testing.assert_allclose(model.mass.toarray(), M, rtol=1e-9, atol=1e-12 * abs(M).max())
    assert model.sets["7"].tolist() == [0, 1, 2]
    ends = {"left": [0], "right": [6]}
    found, expected = bc.reduce(*model.matrices, ends, modes=3), bc.reduce(K, M, nodes, ends, modes=3)
    np.testing.assert_allclose(found.frequencies("left")[:3], expected.frequencies("left")[:3], rtol=1e-6)


def test_solids_have_three_freedoms(tmp_path):
    K, M, nodes = solids.bricks((2, 1, 1))
    K, M = (np.asarray(one.todense()) if hasattr(one, "todense") else np.asarray(one) for one in (K, M))
    freedoms = six(len(nodes), components=3)
    (tmp_path / "block.bdf").write_text("\n".join(grids(nodes)))
    (tmp_path / "block.pch").write_text("\n".join(dmig("KAAX", K, freedoms) + dmig("MAAX", M, freedoms)))
    model = bc.read_nastran(tmp_path / "block.pch", tmp_path / "block.bdf", names=("kaax", "maax"))
    assert model.stiffness.shape == K.shape
    np.testing.assert_allclose(model.stiffness.toarray(), K, rtol=1e-9, atol=1e-9 * abs(K).max())
    with pytest.raises(bc.MechanismError, match="grid points of its matrices have no GRID entry, got"):
        bc.read_nastran(tmp_path / "block.pch")


def test_a_model_that_nastran_has_reduced(tmp_path):
    """With scalar points for its modes it is a solid at once; here in mm and t."""
    bar = bc.reduce(*solids.beam(10), {"left": [0], "right": [10]}, modes=3)
    scale = np.concatenate([np.tile([1e-3] * 3 + [1.0] * 3, 2), np.ones(3)])
    K, M = (1e3 * scale[:, None] * one * scale for one in (bar.stiffness_matrix, bar.mass_matrix))
    freedoms = [*six(2), *((9001 + k, 0) for k in range(3))]
    lines = [*grids(1e3 * bar.positions), "SPOINT, 9001, THRU, 9003"]
    lines += dmig("KAAX", K, freedoms) + dmig("MAAX", M, freedoms)
    (tmp_path / "bar.pch").write_text("\n".join(lines))
    found = bc.read_nastran(tmp_path / "bar.pch", interfaces={"right": 102, "left": 101}, units=("mm", "t"))
    assert found.names == ("right", "left")
    np.testing.assert_allclose(found.positions, bar.positions[::-1], atol=1e-12)
    assert found.mass == pytest.approx(bar.mass, rel=1e-8)
    np.testing.assert_allclose(found.frequencies("left"), bar.frequencies("left"), rtol=1e-6)
    with pytest.raises(
        bc.MechanismError, match=r"scalar points, as those that Nastran has reduced.*interfaces="
    ):
        bc.read_nastran(tmp_path / "bar.pch")
    with pytest.raises(
        bc.MechanismError, match=r"interfaces must name each of its grid points \[101, 102\] once"
    ):
        bc.read_nastran(tmp_path / "bar.pch", interfaces={"left": 101})


SMALL = """
DMIG    KSM     0       6       1       0
DMIG    KSM     1       1               1       1        3.+5
        1       2       -1.5-2
DMIG,KSM,1,2,,1,2,2.5+10,,
DMIG    KSM     1       3               1       3       1.0
$ a comment
DMIG    MSM     0       1       1       0
DMIG*   MSM                            1               1
*                      1               1-1.866666647D+07
DMIG,MSM,1,2,,1,2,7.0
GRID    1               .5      1.-3    2.
"""


def test_fields_of_all_kinds(tmp_path):
    (tmp_path / "small.bdf").write_text(SMALL)
    model = bc.read_nastran(tmp_path / "small.bdf")
    stiffness = [[3e5, -0.015, 0], [-0.015, 2.5e10, 0], [0, 0, 1.0]]
    np.testing.assert_array_equal(model.stiffness.toarray(), stiffness)
    np.testing.assert_array_equal(model.mass.toarray(), np.diag([-1.866666647e7, 7.0, 0.0]))
    np.testing.assert_array_equal(model.nodes, [[0.5, 1e-3, 2.0]])


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("KSM     0       6", "KSM     0       9"), "has the form 9; only square and symmetric ones"),
        (("KSM     0       6       1", "KSM     0       6       3"), "has complex numbers"),
        (("DMIG    MSM     0       1", "DMIG    KSM     0       1"), "there are two matrices 'KSM'"),
        (("GRID    1       ", "GRID    1       5"), "grid point 1 lies in the coordinate system 5"),
        (("1.0\n$", "1x0\n$"), r"the entry DMIG in line 6 cannot be read"),
        (("DMIG,KSM,1,2,,1,2,2.5+10,,", "DMIG,KSM,1,2,,1,2,2.5,\n,1,1,4.0"), "holds numbers of both halves"),
        (
            ("DMIG,MSM,1,2,,1,2,7.0", "DMIG,MSM,1,2,,1,2,7.0,,1,1,4.0"),
            "line 11 cannot be read.*more than 8 fields",
        ),
        (("MSM", "NSM"), "no matrices begin with M, of KSM, NSM; name both"),
        (("DMIG    KSM     0       6       1       0\n", ""), "has columns before its first line"),
    ],
)
def test_faults(tmp_path, change, says):
    assert change[0] in SMALL
    (tmp_path / "small.bdf").write_text(SMALL.replace(*change))
    with pytest.raises(bc.MechanismError, match=says):
        bc.read_nastran(tmp_path / "small.bdf")


def test_more_faults(tmp_path):
    (tmp_path / "small.bdf").write_text(SMALL)
    with pytest.raises(bc.MechanismError, match="there is no matrix of this name, got 'KXM'"):
        bc.read_nastran(tmp_path / "small.bdf", names=("KXM", "MSM"))
    with pytest.raises(bc.MechanismError, match="names must be those of stiffness and mass"):
        bc.read_nastran(tmp_path / "small.bdf", names=("KXM",))
    with pytest.raises(bc.MechanismError, match="no file is given"):
        bc.read_nastran()
