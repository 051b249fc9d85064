"""Files of runs: their kind is that of their name; they are whole or not there, and replace nothing."""

import csv
import errno
import os
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
from rigs.known_run import ALL, LAYOUT, T, frames, same, started

import bellcrank as bc
from bellcrank.errors import MechanismError, SimulationError
from bellcrank.trajectory.recorder import Recorder
from bellcrank.trajectory.run_file import begun
from bellcrank.trajectory.trajectory import Trajectory
from bellcrank.trajectory.writer import Writer

PRELUDE = """
import os, sys
import pytest
from bellcrank.errors import MechanismError, SimulationError
from bellcrank.trajectory.recorder import Recorder
from bellcrank.trajectory.trajectory import Trajectory
from rigs.known_run import *
"""


def other_process(code, *arguments, **environment):
    command = [sys.executable, "-c", PRELUDE + code, *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), **environment}
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, env=environment)


def test_a_second_run_on_the_same_path_is_refused(tmp_path):
    path = tmp_path / "run.h5"
    first = started(path)
    says = "another run is being recorded into it.*; wait for its end, or choose another name"
    with pytest.raises(MechanismError, match=says):
        Recorder(LAYOUT, path=path)
    with pytest.raises(MechanismError, match=says):
        Trajectory.load(path).save(path)
    second = other_process(SECOND, path)
    assert second.returncode == 7, second.stderr
    assert "another run is being recorded into it" in second.stdout
    first.on_block(frames(T[100:150]))
    run = first.finish(ALL)
    assert len(run) == len(Trajectory.load(path)) == 150
    assert Trajectory.load(path).statistics["steps"] == 3
    assert [file.name for file in tmp_path.iterdir()] == ["run.h5"]
    assert len(started(path, 5).finish(ALL)) == 5


SECOND = """
try:
    Recorder(LAYOUT, path=sys.argv[1])
except MechanismError as error:
    print(error)
    sys.exit(7)
"""


def test_of_two_runs_that_begin_at_once_one_is_refused(tmp_path, monkeypatch):
    """The second takes the name between the first one's look at it and its taking."""
    path = tmp_path / "run.h5"
    made, others = begun, []

    def slow(*arguments):
        if not others:
            others.append(None)
            others[0] = started(path)
        return made(*arguments)

    monkeypatch.setattr("bellcrank.trajectory.writer.begun", slow)
    with pytest.raises(MechanismError, match="another run is being recorded into it"):
        Recorder(LAYOUT, path=path)
    assert len(others[0].finish(ALL)) == 100
    assert [file.name for file in tmp_path.iterdir()] == ["run.h5"]


def test_other_programs_may_read_but_not_write_a_run_that_goes_on(tmp_path):
    path = tmp_path / "run.h5"
    first = started(path)
    code = "import h5py, sys; file = h5py.File(*sys.argv[1:], libver='latest', swmr=True)\n"
    code += "print(len(file['time']))"
    assert other_process(code, path, "r").stdout.strip() == "100"
    assert "lock" in other_process(code, path, "r+").stderr
    first.finish(ALL)


@pytest.mark.parametrize("locking", ["TRUE", "FALSE", "BEST_EFFORT"])
def test_whatever_hdf5_is_told_to_lock(tmp_path, locking):
    """The environment decides that above what the program asks for."""
    code = "path = sys.argv[1]\n"
    code += "started(path).finish(ALL)\n"
    code += "first = started(path, 50)\nprint(len(Trajectory.load(path)))\n"
    code += "with pytest.raises(MechanismError, match='another run'):\n    Recorder(LAYOUT, path)\n"
    code += "print(len(first.finish(ALL)))"
    ended = other_process(code, tmp_path / "run.h5", HDF5_USE_FILE_LOCKING=locking)
    assert (ended.stdout, ended.stderr) == ("50\n50\n", "")


def test_until_the_new_run_has_begun_the_old_one_remains(tmp_path, monkeypatch):
    path = tmp_path / "run.h5"
    started(path).finish(ALL)

    def failing(own):
        assert len(Trajectory.load(path)) == 100
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("bellcrank.trajectory.own_file.OwnFile.take_name", failing)
    with pytest.raises(MechanismError, match=r"it cannot be written: .*Input/output error"):
        Recorder(LAYOUT, path=path)
    assert len(Trajectory.load(path)) == 100
    assert [file.name for file in tmp_path.iterdir()] == ["run.h5"]


def test_a_file_is_saved_whole_or_not_at_all(record, tmp_path, monkeypatch):
    path = tmp_path / "run.h5"
    record(T[:5]).save(path)
    append = Writer.append

    def failing(writer, *values):
        append(writer, *values)
        assert len(Trajectory.load(path)) == 5  # a file of its own takes the frames
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Writer, "append", failing)
    with pytest.raises(MechanismError, match=r"it cannot be written: .*No space left"):
        record(T[:50]).save(path, replace=True)
    assert len(Trajectory.load(path)) == 5
    assert [file.name for file in tmp_path.iterdir()] == ["run.h5"]


def test_a_table_is_written_whole_or_not_at_all(record, tmp_path, monkeypatch):
    path = tmp_path / "run.csv"
    record(T[:5]).to_csv(path)
    before = path.read_bytes()

    def failing(file, *arguments, **options):
        file.write("some of it")
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("numpy.savetxt", failing)
        with pytest.raises(MechanismError, match=r"it cannot be written: .*No space left"):
            record(T[:50]).to_csv(path)
    assert path.read_bytes() == before
    record(T[:50]).to_csv(path)
    record(T[:5]).to_csv(os.devnull)
    assert path.read_text().count("\n") == 51
    assert [file.name for file in tmp_path.iterdir()] == ["run.csv"]


def test_what_a_killed_process_left_is_cleared_away(tmp_path):
    path = tmp_path / "run.h5"
    assert other_process(DYING, path).returncode == -9
    (left,) = tmp_path.iterdir()
    assert left != path
    own = started(tmp_path / "run.h5.part.h5")  # of another name
    assert len(started(path).finish(ALL)) == 100
    assert sorted(file.name for file in tmp_path.iterdir()) == ["run.h5", "run.h5.part.h5"]
    own.finish(ALL)


DYING = """
own_file = "bellcrank.trajectory.own_file.OwnFile"
pytest.MonkeyPatch().setattr(f"{own_file}.lock", lambda self: os.kill(os.getpid(), 9))
Recorder(LAYOUT, path=sys.argv[1])
"""


@pytest.mark.parametrize("replaced", [False, True])
@pytest.mark.parametrize("keep", [False, True])
def test_a_file_that_goes_meanwhile_ends_the_run(tmp_path, replaced, keep):
    path = tmp_path / "run.h5"
    recorder = Recorder(LAYOUT, path=path, keep=keep)
    recorder.on_block(frames(T[:100]))
    path.unlink()
    if replaced:
        path.write_text("precious")
    recorder.on_block(frames(T[100:150]))
    with pytest.raises(
        SimulationError, match=r"written any more: .*removed or replaced meanwhile$"
    ) as caught:
        recorder.flush()
    assert caught.value.time == T[100]
    assert len(recorder.finish(ALL)) == (150 if keep else 0)
    assert not replaced or path.read_text() == "precious"
    assert not list(tmp_path.glob(".*"))


def test_a_file_that_goes_at_the_end_is_told(tmp_path):
    path = tmp_path / "run.h5"
    recorder = started(path)
    path.unlink()
    with pytest.raises(SimulationError, match="removed or replaced"):
        recorder.finish(ALL)


def test_a_run_that_breaks_off_ends_its_file(tmp_path):
    path = tmp_path / "run.h5"

    def stumble(share):
        if share > 0.5:
            raise ZeroDivisionError("in a function of the user")

    mech = bc.Mechanism("one")
    mech.add_body("ball", 1.0, (1, 1, 1))
    with pytest.raises(ZeroDivisionError):
        bc.simulate(mech, 500.0, step=1e-3, path=path, progress=stumble)
    run = Trajectory.load(path)
    assert (run.status, run.status.message) == ("failed", "ZeroDivisionError: in a function of the user")
    assert len(run) > 1
    assert bc.simulate(mech, 0.1, path=path).status == "finished"


def test_no_room_stops_the_run_and_keeps_what_was_written(tmp_path, monkeypatch):
    recorder = started(tmp_path / "run.h5")
    reserve = os.posix_fallocate

    def full(descriptor, offset, size):
        if size > 700_000:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        reserve(descriptor, offset, size)

    monkeypatch.setattr("os.posix_fallocate", full)
    recorder._flushed = np.inf  # so that only flush() writes

    def go_on():
        for start in range(100, 3000, 100):
            recorder.on_block(frames(T[start : start + 100]))
            recorder.flush()

    with pytest.raises(SimulationError, match=r"written any more.*No space left.*up to t = ") as caught:
        go_on()
    run = recorder.finish({"status": "interrupted"})
    assert run.status == "interrupted" == Trajectory.load(tmp_path / "run.h5").status
    assert caught.value.time == T[len(run)]
    assert np.array_equal(run.time, T[: len(run)])


LIMITED = """
import resource
if sys.argv[2] == "unreserved":
    monkeypatch = pytest.MonkeyPatch()
    monkeypatch.setattr("bellcrank.trajectory.own_file.OwnFile.reserve", lambda self, size: None)
for limit in map(int, sys.argv[3:]):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    flushed = 0
    try:
        recorder = Recorder(LAYOUT, path=f"{sys.argv[1]}/{limit}.h5")
        for start in range(0, len(T), 100):
            recorder.on_block(frames(T[start : start + 100]))
            recorder.flush()
            flushed = start + 100
    except SimulationError as error:
        run = recorder.finish({"status": "stopped"})
        print(flushed, len(run), error, flush=True)
    except MechanismError as error:
        print(error, flush=True)
"""


@pytest.mark.parametrize("how", ["reserved", "unreserved"])
def test_a_limit_to_the_size_ends_the_process_in_order(tmp_path, how):
    """Also where what was reserved turns out not to be there, and HDF5 fails amid its writing."""
    limits = (850_000, 1_000_000, 1_500_000)
    ended = other_process(LIMITED, tmp_path, how, *limits)
    assert (ended.returncode, ended.stderr) == (0, "")
    for limit, line in zip(limits, ended.stdout.splitlines(), strict=True):
        flushed, held, message = line.split(maxsplit=2)
        assert "cannot be written any more" in message
        run = Trajectory.load(tmp_path / f"{limit}.h5")
        assert len(run) == int(held) >= int(flushed) > 0
        assert np.array_equal(run.time, T[: len(run)])
        assert run.status == ("stopped" if how == "reserved" else "running")


@pytest.mark.parametrize("how", ["reserved", "unreserved"])
def test_a_limit_that_allows_no_file_at_all(tmp_path, how):
    ended = other_process(LIMITED, tmp_path, how, 0, 100, 5_000, 15_000, 30_000)
    assert (ended.returncode, ended.stderr) == (0, "")
    lines = ended.stdout.splitlines()
    assert len(lines) == 5
    assert all("it cannot be written: " in line for line in lines[:3])
    assert how == "unreserved" or not [file for file in tmp_path.iterdir() if file.stat().st_size < 15_000]


def test_what_is_reserved_is_enough(tmp_path, record):
    """HDF5 never writes beyond it, whatever the sizes of blocks."""
    rng = np.random.default_rng(5)
    writer = Writer(tmp_path / "run.h5", LAYOUT, "text " * 5000)
    count = 0
    while count < 20_000:
        n = int(rng.choice([1, 7, 300, 3000]))
        writer.append(frames(1e-3 * np.arange(count, count + n)))
        count += n
        assert writer._file.id.get_filesize() <= writer._own._reserved
        assert writer._own._reserved == (tmp_path / "run.h5").stat().st_size
    writer.close("finished", "x" * 100_000, {})
    writer.release()
    with h5py.File(tmp_path / "run.h5") as file:
        assert file.id.get_filesize() == (tmp_path / "run.h5").stat().st_size
    assert same(Trajectory.load(tmp_path / "run.h5"), Trajectory.load(tmp_path / "run.h5", lazy=True))


def test_links_lead_to_the_file(record, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "run.h5").symlink_to(tmp_path / "data" / "real.h5")
    record(T[:10], path=tmp_path / "run.h5")
    record(T[:20]).save(tmp_path / "run.h5", replace=True)
    assert (tmp_path / "run.h5").is_symlink()
    assert len(Trajectory.load(tmp_path / "data" / "real.h5")) == 20


def test_devices_are_no_files():
    with pytest.raises(MechanismError, match="this is a device, not a file"):
        Recorder(LAYOUT, path=os.devnull)


KINDS = ".h5, .hdf5, .nc, .csv, .npz, .mat"
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
    with pytest.raises(MechanismError, match=f"files of this kind, got .*; end its name in one of {KINDS}$"):
        run.save(tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("mode", ["dynamic", "quasistatic"])
def test_what_is_recorded_meanwhile_is_hdf5(tmp_path, mode):
    with pytest.raises(MechanismError, match=r"recorded into HDF5 files, got '\.mat'.*run\.save"):
        bc.start(bc.gallery.chain(2), 0.01, mode=mode, path=tmp_path / "run.mat")
    assert not list(tmp_path.iterdir())


def test_a_table_too_large_for_matlab_is_refused(run, tmp_path, monkeypatch):
    pytest.importorskip("scipy")
    monkeypatch.setattr("bellcrank.trajectory.saving._MAT_BYTES", 1000)
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
    assert f"end its name in one of {KINDS}" in " ".join(refused.stderr.split())
