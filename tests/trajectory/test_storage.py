"""Runs in files: what comes back, what survives a killed process, and what is refused."""

import json
import signal
import subprocess
import sys
import time
from math import prod
from pathlib import Path

import h5py
import numpy as np
import pytest
from rigs.known_run import LAYOUT, T, frames, same

import bellcrank as bc
from bellcrank.errors import MechanismError
from bellcrank.trajectory.layout import FrameLayout
from bellcrank.trajectory.recorder import Recorder
from bellcrank.trajectory.trajectory import Trajectory

WRITER = """
import sys, time
import numpy as np
from bellcrank.trajectory.recorder import Recorder
from rigs.known_run import LAYOUT, frames

recorder = Recorder(LAYOUT, path=sys.argv[1])
rng = np.random.default_rng(int(sys.argv[2]))
count = 0
while True:
    n = int(rng.integers(1, 300))
    recorder.on_block(frames(0.001 * np.arange(count, count + n)))
    count += n
    if len(sys.argv) > 3:
        recorder.flush()
        print(count, flush=True)
"""


def assert_holds_the_motion(run: Trajectory) -> None:
    expected = frames(0.001 * np.arange(len(run)))
    for name, columns in LAYOUT.columns.items():
        recorded = run.store.read(name).reshape(len(run), -1)
        assert np.array_equal(recorded, expected[:, columns]), name


@pytest.mark.parametrize("lazy", [False, True])
def test_a_saved_run_comes_back(record, tmp_path, lazy):
    run = record(T, description="name: slide and arm\n")
    run.save(tmp_path / "run.h5")
    read = Trajectory.load(tmp_path / "run.h5", lazy=lazy)
    assert same(read, run)
    assert read.layout == run.layout
    assert (read.status, read.status.message) == ("finished", "all well")
    assert dict(read.statistics) == {"steps": 1234, "method": "rk4"}
    assert read.mechanism == "name: slide and arm\n"
    assert read.at(0.1234).position == pytest.approx(run.at(0.1234).position, abs=0)
    assert np.array_equal(read.resample(step=0.1).time, run.resample(step=0.1).time)


def test_a_run_recorded_into_a_file_is_that_run(record, tmp_path):
    in_file = record(T, path=tmp_path / "run.h5")
    both = record(T, path=tmp_path / "both.h5", keep=True)
    assert same(in_file, record(T))
    assert same(both, record(T))
    assert same(Trajectory.load(tmp_path / "both.h5"), both)
    assert in_file.status == "finished"


def test_a_lazy_run_can_be_saved_elsewhere_but_not_onto_itself(record, tmp_path):
    record(T).save(tmp_path / "run.h5")
    lazy = Trajectory.load(tmp_path / "run.h5", lazy=True)
    lazy.save(tmp_path / "copy.h5")
    assert same(Trajectory.load(tmp_path / "copy.h5"), lazy)
    with pytest.raises(MechanismError, match=r"read from this very file; save it under another name"):
        lazy.save(tmp_path / "run.h5")


def test_a_lazy_run_notices_that_its_file_was_replaced(record, tmp_path):
    record(T).save(tmp_path / "run.h5")
    lazy = Trajectory.load(tmp_path / "run.h5", lazy=True)
    record(T[:5]).save(tmp_path / "run.h5", replace=True)
    with pytest.raises(MechanismError, match="holds another run"):
        lazy.body("arm").position  # noqa: B018
    (tmp_path / "run.h5").unlink()
    with pytest.raises(MechanismError, match="no such file"):
        lazy.body("arm").position  # noqa: B018


def test_reading_one_body_of_many_does_not_read_all(tmp_path):
    """The file's chunks hold some bodies each; frames of one body are the columns that were written."""
    layout = FrameLayout("many", tuple(f"b{k}" for k in range(150)))
    rows = np.random.default_rng(0).normal(size=(400, 1 + layout.width))
    rows[:, 0] = np.arange(400)
    recorder = Recorder(layout, path=tmp_path / "run.h5")
    recorder.on_block(rows)
    recorder.finish({})
    run = Trajectory.load(tmp_path / "run.h5", lazy=True)
    start = layout.columns["rotation"].start + 4 * 77
    assert np.array_equal(run.body("b77").rotation, rows[:, start : start + 4])
    assert np.array_equal(run.store.read("position", 3, slice(10, 20, 3)), rows[10:20:3, 10:13])
    with h5py.File(tmp_path / "run.h5", "r") as file:
        assert file["bodies/rotation"].chunks[1] < 150


def test_other_programs_find_names_and_units(record, tmp_path):
    record(T[:10], path=tmp_path / "run.h5")
    with h5py.File(tmp_path / "run.h5", "r") as file:
        assert file.attrs["format"] == b"bellcrank trajectory"
        assert json.loads(bytes(file["end"][:]))["status"] == "finished"
        assert list(file["bodies/name"].asstr()) == ["flywheel", "arm"]
        assert file["bodies/velocity"].attrs["unit"] == b"m/s"
        assert file["reactions/wrench"].shape == (10, 2, 6)
        numbers = [data for data in _datasets(file) if data.dtype.kind in "fu" and data.maxshape[0] is None]
        assert len([data for data in numbers if not data.name.startswith(("/events", "/end"))]) == sum(
            prod(shape) > 0 for shape in LAYOUT.shapes.values()
        )
        assert all(data.attrs["unit"] and data.attrs["meaning"] for data in numbers)


def _datasets(group):
    for item in group.values():
        yield from _datasets(item) if isinstance(item, h5py.Group) else [item]


def start_writer(path, seed, *more):
    command = [sys.executable, "-c", WRITER, str(path), str(seed), *more]
    return subprocess.Popen(command, stdout=subprocess.PIPE, cwd=Path(__file__).parents[1])


def wait_for(path):
    deadline = time.monotonic() + 30
    while not (path.exists() and path.stat().st_size > 50_000):
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("seed", range(2))
def test_a_killed_process_leaves_what_it_had_flushed(tmp_path, seed):
    path = tmp_path / "run.h5"
    with start_writer(path, seed, "report") as process:
        wait_for(path)
        time.sleep(0.05 + 0.07 * seed)
        process.send_signal(signal.SIGKILL)
        reported = process.stdout.read().split()
    assert process.returncode == -signal.SIGKILL
    run = Trajectory.load(path)
    assert len(run) >= int(reported[-1])
    assert_holds_the_motion(run)
    assert run.status == "running"
    assert "killed" in run.status.message
    run.save(tmp_path / "clean.h5")
    with h5py.File(tmp_path / "clean.h5", "r") as file:
        assert len(file["time"]) == len(run)


def test_a_killed_process_loses_at_most_the_last_moments(tmp_path):
    """Without a flush by hand, frames are in the file a quarter of a second after they were recorded."""
    path = tmp_path / "run.h5"
    with start_writer(path, 9) as process:
        wait_for(path)
        time.sleep(0.6)
        before = len(Trajectory.load(path))
        time.sleep(0.6)
        process.kill()
    run = Trajectory.load(path)
    assert len(run) > before > 0
    assert_holds_the_motion(run)


def test_a_run_can_be_read_while_it_is_written(tmp_path):
    path = tmp_path / "run.h5"
    with start_writer(path, 3, "report") as process:
        try:
            seen = 0
            for _ in range(5):
                process.stdout.readline()
                run = Trajectory.load(path)
                assert len(run) >= seen
                seen = len(run)
                assert_holds_the_motion(run)
                assert run.status == "running"
        finally:
            process.kill()
    assert seen > 0


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("text.h5", "not a recorded( quasi-static or adaptive)? run, so it is not overwritten"),
        ("four_bar.yaml", "end its name in .h5 or"),
    ],
)
def test_a_file_that_is_not_a_run_is_not_overwritten(record, tmp_path, name, says):
    mechanism = tmp_path / name
    mechanism.write_text("name: four-bar\n")
    with pytest.raises(MechanismError, match=says):
        record(T[:3], path=mechanism)
    with pytest.raises(MechanismError, match=says):
        bc.start(bc.gallery.chain(2), 0.01, mode="quasistatic", path=mechanism).stop()
    assert mechanism.read_text() == "name: four-bar\n"
    record(T[:3], path=tmp_path / "run.h5")
    assert len(record(T[:5], path=tmp_path / "run.h5")) == 5
