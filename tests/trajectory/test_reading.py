"""Files of runs that are cut off, damaged or doctored are refused, soon and in one kind of error."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
from rigs.damaged_results import unfinished, whole

from bellcrank.errors import MechanismError
from bellcrank.trajectory.trajectory import Trajectory

FUZZ = Path(__file__).parent.parent / "fuzz" / "results.py"


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A finished run, and the same as left by a killed process: paths by name."""
    folder = tmp_path_factory.mktemp("sound")
    paths = {name: folder / f"{name}.h5" for name in ("whole", "killed")}
    unfinished(paths["killed"], whole(paths["whole"]))
    return paths


CUTS = """
import sys, signal, time, warnings
from pathlib import Path
from bellcrank.errors import MechanismError
from bellcrank.trajectory.trajectory import Trajectory

content, path = Path(sys.argv[1]).read_bytes(), Path(sys.argv[2])
run, read, longest = Trajectory.load(sys.argv[1]), 0, 0.0
lengths = [*range(64), *range(64, 20_000, 151), *range(20_000, len(content), 20_011), len(content) - 1]
for length in lengths:
    path.write_bytes(content[:length])
    begun = time.process_time()
    signal.alarm(120)
    try:
        part = Trajectory.load(path)
    except MechanismError:
        pass
    else:
        read += 1
        for name in run.layout.shapes:
            whole = run.store.read(name, rows=slice(len(part)))
            assert (part.store.read(name) == whole).all(), (name, length)
    longest = max(longest, time.process_time() - begun)
print(read, longest)
"""


@pytest.mark.parametrize("which", ["whole", "killed"])
def test_every_cut_is_answered(sound, tmp_path, which):
    """With an error, or with the first frames of that run; in a process of its own, for HDF5 might hang."""
    command = [sys.executable, "-c", CUTS, str(sound[which]), str(tmp_path / "cut.h5")]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert ended.returncode == 0, ended
    read, longest = map(float, ended.stdout.split())
    assert longest < 1.0  # s of computing; HDF5 alone would try for centuries
    assert (read > 0) == (which == "killed")


def test_info_of_a_cut_file_ends_with_a_message(sound, tmp_path):
    path = tmp_path / "cut.h5"
    for which, length in (("whole", 5000), ("killed", 5000)):
        path.write_bytes(sound[which].read_bytes()[:length])
        command = [sys.executable, "-m", "bellcrank", "info", str(path)]
        ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        assert (ended.returncode, ended.stdout) == (2, "")
        assert ended.stderr.startswith(f"error: file '{path}': ")
        assert "Traceback" not in ended.stderr


def says(sound, tmp_path, change):
    """What is said of a file after a change."""
    path = tmp_path / "run.h5"
    shutil.copy(sound["whole"], path)
    with h5py.File(path, "r+", libver="latest") as file:
        change(file)
    with pytest.raises(MechanismError) as caught:
        Trajectory.load(path)
    with pytest.raises(MechanismError):
        Trajectory.load(path, lazy=True)
    texts = [str(fault).removeprefix(f"file '{path}': ").partition(";")[0] for fault in caught.value.faults]
    assert all(fault.element == f"file '{path}'" for fault in caught.value.faults)
    return texts


def put(name, values, **options):
    if isinstance(values, list) and isinstance(values[0], str) and not options:
        values = np.bytes_(values)  # of fixed length, as ours are

    def change(file):
        del file[name]
        file.create_dataset(name, data=values, **options)

    return change


def end(**changes):
    def change(file):
        told = json.loads(bytes(file["end"][:])) | changes
        text = json.dumps(told).encode()
        file["end"].resize(len(text), axis=0)
        file["end"][:] = np.frombuffer(text, np.uint8)

    return change


def number(name, place, value):
    def change(file):
        file[name][place] = value

    return change


def attribute(name, value):
    return lambda file: file.attrs.update({name: np.bytes_(value) if isinstance(value, str) else value})


def link(name, target):
    def change(file):
        del file[name]
        file[name] = target

    return change


def swap(one, other):
    def change(file):
        file.move(one, "aside")
        file.move(other, one)
        file.move("aside", other)

    return change


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda file: file.__delitem__("bodies/name"), "data set 'bodies/name' is missing"),
        (lambda file: file.__delitem__("bodies/position"), "data set 'bodies/position' is missing"),
        (lambda file: file.__delitem__("time"), "data set 'time' is missing"),
        (lambda file: file.__delitem__("end"), "data set 'end' is missing"),
        (lambda file: file.attrs.__delitem__("mechanism"), "attribute 'mechanism' must be a text"),
        (lambda file: file.attrs.__delitem__("run"), "attribute 'run' must be a text"),
        (attribute("version", "two"), "attribute 'version' must be a whole number, got 'two'"),
        (attribute("version", 2), "an earlier version wrote this file, got 2"),
        (attribute("start", "now"), "attribute 'start' must be a number, got 'now'"),
        (lambda file: file.attrs.update(run="x"), "attribute 'run' must be numbers or texts of fixed length"),
        (put("bodies/name", ["a"] * 3, dtype=h5py.string_dtype()), "'bodies/name' must hold numbers or"),
        (attribute("format", [1, 2]), "attribute 'format' must be a text, got array([1, 2])"),
        (attribute("format", "x"), "this HDF5 file does not hold a run of bellcrank"),
        (put("bodies/position", np.zeros((31, 2, 3))), "'bodies/position' must have the shape 31x3x3"),
        (put("bodies/position", np.zeros((9, 3, 3))), "'bodies/position' must have the shape 31x3x3"),
        (put("bodies/position", np.zeros(31)), "'bodies/position' must have 3 dimensions"),
        (put("bodies/position", np.zeros((31, 3, 3), int)), "'bodies/position' must hold floating"),
        (put("multipliers/unique", np.zeros((31, 9))), "'multipliers/unique' must hold whole numbers"),
        (put("bodies/name", [1.0, 2.0, 3.0]), "'bodies/name' must hold texts"),
        (put("bodies/name", h5py.Empty("f8")), "'bodies/name' must hold texts"),
        (put("bodies/name", ["one", "two", "one"]), "'bodies/name' has a name twice, got 'one'"),
        (put("bodies/name", ["one", "two"]), "'bodies/com' must have the shape 2x3, got '3x3'"),
        (put("bodies/name", np.array([b"\xff\xfe", b"a", b"b"])), "'bodies/name' cannot be read: "),
        (number("bodies/com", (0, 0), np.inf), "'bodies/com' must be finite, got inf"),
        (number("multipliers/sign", 0, np.nan), "'multipliers/sign' must be finite, got nan"),
        (number("multipliers/coordinate", 0, 77), "'multipliers/coordinate' must be from -1 to 2, got 77"),
        (number("multipliers/kind", 0, "magic"), "'multipliers/kind' has a kind that there is not"),
        (number("coordinates/turning", 0, -1), "'coordinates/turning' must be from 0 to"),
        (put("coordinates/unit", ["m"]), "the columns of 'coordinates' differ in length"),
        (number("time", 3, np.nan), "'time' has a gap"),
        (number("time", 3, np.inf), "'time' must be finite, got inf"),
        (number("time", 3, 0.0), "'time' goes back, got ["),
        (number("events/time", 1, np.nan), "'events/time' must be finite, got nan"),
        (put("time", None, shape=(10**12,), dtype="f8", chunks=True), "'time' is larger than the file"),
        (put("bodies/name", None, shape=(10**12,), dtype="S9", chunks=True), "'bodies/name' is larger than"),
        (put("time", None, shape=(10**10,), dtype="f8", compression="gzip"), "'time' is larger than"),
        (put("bodies", 1.0), "data set 'bodies/name' is missing"),
        (swap("bodies", "coordinates"), "'bodies/name' has a name twice, got 'theta_z'"),
        (swap("energy", "violation"), "data set 'energy/kinetic' is missing"),
        (swap("bodies/position", "bodies/rotation"), "'bodies/position' must have the shape 31x3x3"),
        (link("time", h5py.SoftLink("/energy/kinetic")), "'time' is a link to another place"),
        (link("bodies", h5py.ExternalLink("/dev/zero", "/")), "'bodies/acceleration' is a link to"),
        (put("end", [1, 2, 3], dtype="u1"), "'end' is not a text of JSON: "),
        (put("end", np.frombuffer(b"[" * 100_000, np.uint8)), "'end' is not a text of JSON: "),
        (put("end", np.frombuffer(b"[]", np.uint8)), "'end' must hold 'status'"),
        (end(status=1), "'end' must hold 'status', got 1"),
        (end(statistics=[]), "'end' must hold 'statistics', got []"),
        (end(statistics={"steps": [1]}), "statistic 'steps' must be a number or a text, got [1]"),
        (end(events=[1]), "'end' must name the events, got 1"),
        (end(events=["a"] * 9), "'events/time' must have the shape 9, got '2'"),
    ],
)  # fmt: skip
def test_what_is_doctored_is_told(sound, tmp_path, change, text):
    assert says(sound, tmp_path, change)[0].startswith(text)


def test_what_is_kept_in_other_files_is_refused(sound, tmp_path):
    def outside(file):
        del file["energy/kinetic"]
        file["energy"].create_dataset("kinetic", (31,), "f8", external=[("/dev/zero", 0, 999)])

    def virtual(file):
        del file["energy/kinetic"]
        layout = h5py.VirtualLayout((31,), "f8")
        layout[:] = h5py.VirtualSource("/dev/zero", "time", (31,))
        file["energy"].create_virtual_dataset("kinetic", layout)

    for change in (outside, virtual):
        assert says(sound, tmp_path, change) == ["'energy/kinetic' is kept in another place than this file"]


def test_all_faults_are_told_at_once(sound, tmp_path):
    def names(file):
        del file["bodies/name"]
        file["multipliers/sign"][0] = np.inf
        file.attrs["mechanism"] = 5

    def frames(file):
        put("bodies/rotation", np.zeros((5, 3, 4)))(file)
        put("energy/kinetic", np.zeros((31, 1)))(file)

    assert len(says(sound, tmp_path, names)) == 3
    assert len(says(sound, tmp_path, frames)) == 2


def test_what_is_read_later_is_checked_as_well(sound, tmp_path):
    path = tmp_path / "run.h5"
    shutil.copy(sound["whole"], path)
    run = Trajectory.load(path, lazy=True)
    with h5py.File(path, "r+", libver="latest") as file:
        put("bodies/velocity", np.zeros((31, 2, 3)))(file)
    with pytest.raises(MechanismError, match="'bodies/velocity' must have the shape 31x3x3"):
        run.body("wheel").velocity  # noqa: B018
    path.write_bytes(path.read_bytes()[:9000])
    with pytest.raises(MechanismError, match="it is cut off"):
        run.body("wheel").position  # noqa: B018


def test_what_is_no_file(tmp_path):
    for path, text in ((tmp_path, "not a file that holds"), (Path("/dev/null"), "not a file that holds")):
        with pytest.raises(MechanismError, match=text):
            Trajectory.load(path)


def test_a_run_without_frames_is_a_table_without_rows(sound):
    table = Trajectory.load(sound["whole"])[:0].to_dict()
    assert len(table) > 10
    assert all(len(column) == 0 for column in table.values())


def test_texts_that_are_no_unicode_are_saved(sound, tmp_path):
    """A name that was damaged to bytes which are no UTF-8, as h5py reads them."""
    with h5py.File(shutil.copy(sound["whole"], tmp_path / "odd.h5"), "r+", libver="latest") as file:
        file.attrs["mechanism"] = np.bytes_(b"lost \xff")
    run = Trajectory.load(tmp_path / "odd.h5")
    run.save(tmp_path / "copy.h5")
    assert Trajectory.load(tmp_path / "copy.h5").name == run.name == "lost \udcff"


def test_a_sample_of_damaged_files_and_killed_runs():
    """What `tests/fuzz/results.py` does by the thousand."""
    command = [sys.executable, str(FUZZ), "--count", "30", "--kills", "6", "--jobs", "1"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert ended.returncode == 0, ended.stdout + ended.stderr
