"""A run is written as the kind of file that its name says, and replaces nothing unasked."""

import csv

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import MechanismError

ALL = ".h5, .hdf5, .nc, .csv, .npz, .mat"
TABLES = (".csv", ".npz", ".mat")


@pytest.fixture(scope="module")
def run():
    mech = bc.Mechanism("wheel, ö")
    wheel = mech.add_body('wheel "ö", 1', 1.0, (1, 1, 1))
    mech.add_joint("axle/日", bc.Revolute(), mech.ground, wheel)
    return bc.simulate(mech, 0.1, output_step=0.02)


def read(path):
    """The table in a file: columns by name."""
    if path.suffix == ".npz":
        with np.load(path) as found:
            return dict(found)
    if path.suffix == ".mat":
        found = pytest.importorskip("scipy.io").loadmat(path, simplify_cells=True)
        assert (found["mechanism"], found["status"]) == ("wheel, ö", "finished")
        return dict(zip(found["names"], found["values"].T, strict=True))
    with path.open(encoding="utf-8", newline="") as file:
        names, *rows = csv.reader(file)
    return dict(zip(names, np.array(rows, dtype=float).T, strict=True))


@pytest.mark.parametrize("suffix", TABLES)
def test_tables_hold_every_column_by_name_and_unit(run, tmp_path, suffix):
    path = tmp_path / f"run{suffix}"
    run.save(path)
    found, wanted = read(path), run.to_dict()
    assert list(found) == list(wanted)
    assert 'body.wheel "ö", 1.x [m]' in found
    assert all(np.array_equal(found[name], wanted[name]) for name in wanted)


@pytest.mark.parametrize("suffix", [".h5", ".HDF5", *TABLES, ".nc"])
def test_nothing_is_replaced_unasked(run, tmp_path, suffix):
    if suffix == ".nc":
        pytest.importorskip("h5netcdf")
    path = tmp_path / f"run{suffix}"
    run.save(path)
    before = path.read_bytes()
    with pytest.raises(MechanismError, match=r"run\.\w+': it exists already; choose another name.*replace"):
        run[:2].save(path)
    assert path.read_bytes() == before
    run[:2].save(path, replace=True)
    assert path.read_bytes() != before
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_records_of_moves_replace_nothing_unasked(tmp_path):
    run = bc.simulate(bc.gallery.chain(2), 0.01, mode="quasistatic")
    run.save(tmp_path / "moves.h5")
    with pytest.raises(MechanismError, match="it exists already"):
        run.save(tmp_path / "moves.h5")
    run.save(tmp_path / "moves.h5", replace=True)
    with pytest.raises(MechanismError, match=r"recorded into HDF5 files, got '\.mat'; end its name in \.h5"):
        run.save(tmp_path / "moves.mat")


@pytest.mark.parametrize("name", ["run.txt", "run", "run.h5.bak", "run.pkl"])
def test_other_suffixes_are_refused_with_the_list(run, tmp_path, name):
    with pytest.raises(MechanismError, match=f"files of this kind, got .*; end its name in one of {ALL}$"):
        run.save(tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("mode", ["dynamic", "quasistatic"])
def test_what_is_recorded_meanwhile_is_hdf5(tmp_path, mode):
    with pytest.raises(MechanismError, match=r"recorded into HDF5 files, got '\.mat'.*run\.save"):
        bc.start(bc.gallery.chain(2), 0.01, mode=mode, path=tmp_path / "run.mat")
    assert not list(tmp_path.iterdir())


def test_a_table_too_large_for_matlab_is_refused(run, tmp_path, monkeypatch):
    pytest.importorskip("scipy")
    monkeypatch.setattr("bellcrank.trajectory.kinds_of_files._MAT_BYTES", 1000)
    with pytest.raises(
        MechanismError, match=r"takes \d+ bytes, and a matrix of a \.mat file has less than 1000"
    ):
        run.save(tmp_path / "run.mat")
    assert not list(tmp_path.iterdir())


def test_programs_write_the_same_kinds(run, tmp_path, program):
    run.save(tmp_path / "run.h5")
    for suffix in TABLES:
        copy = tmp_path / f"copy{suffix}"
        copy.write_text("old")
        assert program("convert", str(tmp_path / "run.h5"), str(copy)).exit_code == 0
        assert list(read(copy)) == list(run.to_dict())
    refused = program("convert", str(tmp_path / "run.h5"), str(tmp_path / "run.xls"))
    assert refused.exit_code == 2
    assert f"end its name in one of {ALL}" in " ".join(refused.stderr.split())
