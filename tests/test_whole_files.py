"""Whatever is written: the old file or the new one, never half of one, and nothing that is left over."""

import errno
import os
import pickle
import resource
import subprocess
import sys
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import bellcrank as bc
import bellcrank.expression as bx
from bellcrank import io
from bellcrank.errors import MechanismError, NotWritten
from bellcrank.expression.compiled import compile_function, export_c
from bellcrank.scene.film import write_film
from bellcrank.whole_files import Draft, whole_file, write_together, write_whole


@pytest.fixture(scope="module")
def run():
    return bc.simulate(bc.gallery.double_pendulum(), 0.2, output_step=0.01)


@contextmanager
def small_disk(size):
    """No file grows beyond a number of bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def arm():
    return bc.gallery.double_pendulum()


def picture(path, run):
    run.plot("energy", path=path)


def film(path, run):
    noise = np.random.default_rng(1).integers(0, 255, (6, 64, 64, 4), dtype=np.uint8)
    write_film(path, noise, 5)


def equations(path, run):
    bc.prepare(arm(), "symbolic").export_c(path)


def function(path, run):
    x, k = bx.symbols("x k")
    export_c(compile_function([bx.sin(bx.sqrt(k)) * x], [x], {k: 3.0}), path, "swing")


def results(path, run):
    run.save(path, replace=True)


def slow(path, run):
    bc.simulate(bc.gallery.chain(2), 0.01, mode="quasistatic", path=path)


WRITERS = {
    **dict.fromkeys(("m.yaml", "m.json", "m.urdf", "m.xml"), lambda path, run: io.save(arm(), path)),
    **dict.fromkeys(("r.h5", "r.csv", "r.npz", "r.mat", "r.nc"), results),
    **dict.fromkeys(("p.png", "p.svg", "p.pdf"), picture),
    **dict.fromkeys(("f.gif", "f.mp4"), film),
    "moves.h5": slow,
    "equations.c": equations,
    "function.c": function,
}
NEEDS = {
    "r.mat": "scipy",
    "r.nc": "h5netcdf",
    "f.mp4": "av",
    "f.gif": "PIL",
    **dict.fromkeys(("p.png", "p.svg", "p.pdf"), "matplotlib"),
}


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_leaves_what_was_there(tmp_path, run, name):
    if name in NEEDS and find_spec(NEEDS[name]) is None:
        pytest.skip(f"{NEEDS[name]} is not installed")
    path = tmp_path / name
    WRITERS[name](path, run)
    size = path.stat().st_size
    assert size > 100
    if name != "moves.h5":  # of which only a run takes the place
        path.write_bytes(path.read_bytes() + b"\n")
    before = contents(tmp_path)
    for limit in (0, size // 3, size - 1):
        with (
            small_disk(limit),
            pytest.raises((MechanismError, OSError), match="it cannot be written") as caught,
        ):
            WRITERS[name](path, run)
        assert name in str(caught.value) or name.replace(".c", ".h") in str(caught.value)
        assert contents(tmp_path) == before
    WRITERS[name](path, run)
    assert contents(tmp_path).keys() == before.keys()


def test_what_cannot_be_written_is_an_error_of_ours_and_of_the_system(tmp_path):
    with pytest.raises(NotWritten, match=r"m\.yaml': it cannot be written: No such file") as caught:
        io.save(arm(), tmp_path / "nowhere" / "m.yaml")
    error = caught.value
    assert isinstance(error, OSError)
    assert isinstance(error, bc.BellcrankError)
    assert error.errno == errno.ENOENT
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.errno, again.filename) == (str(error), error.errno, error.filename)
    with pytest.raises(NotWritten, match="is not in utf-8"):
        write_whole(tmp_path / "a.txt", "\ud800")
    assert contents(tmp_path) == {}


@pytest.mark.parametrize("step", ["fsync", "replace", "write"])
def test_each_step_may_fail(tmp_path, monkeypatch, step):
    path = tmp_path / "a.txt"
    write_whole(path, "old")

    def failing(*arguments, **options):
        raise OSError(errno.EIO, "Input/output error")

    place = {"fsync": "os.fsync", "replace": "pathlib.Path.replace", "write": "pathlib.Path.write_bytes"}
    with monkeypatch.context() as patched:
        patched.setattr(place[step], failing)
        with pytest.raises(NotWritten, match=r"a\.txt': it cannot be written: Input/output error"):
            write_whole(path, "new")
    assert contents(tmp_path) == {"a.txt": b"old"}


def test_an_error_of_the_writer_leaves_what_was_there(tmp_path):
    write_whole(tmp_path / "a.txt", "old")

    def half():
        with whole_file(tmp_path / "a.txt") as draft:
            draft.write_text("half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        half()
    assert contents(tmp_path) == {"a.txt": b"old"}


def test_of_several_files_none_is_written_where_one_fails(tmp_path):
    old = {tmp_path / "a.c": "old", tmp_path / "a.h": "old"}
    write_together(old)
    with small_disk(100), pytest.raises(NotWritten, match=r"a\.h"):
        write_together({tmp_path / "a.c": "new", tmp_path / "a.h": "n" * 101})
    assert contents(tmp_path) == {"a.c": b"old", "a.h": b"old"}


def test_permissions_and_links_remain(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    real, link = tmp_path / "data" / "real.yaml", tmp_path / "m.yaml"
    link.symlink_to(real)
    write_whole(link, "new")  # also where the link leads to nothing yet
    assert real.read_text() == "new"
    real.chmod(0o604)
    write_whole(link, "newer")
    assert link.is_symlink()
    assert (real.read_text(), real.stat().st_mode & 0o777) == ("newer", 0o604)
    monkeypatch.setattr("os.access", lambda path, mode: False)  # as for who is not root
    with pytest.raises(NotWritten, match="Permission denied"):
        write_whole(link, "newest")
    assert real.read_text() == "newer"


def test_devices_are_written_to(tmp_path):
    with pytest.raises(NotWritten, match=r"/dev/full.*No space left"):
        write_whole("/dev/full", "text")
    assert Path("/dev/full").is_char_device()
    write_whole(os.devnull, "text")
    with pytest.raises(NotWritten, match="Is a directory"):
        write_whole(tmp_path, "text")


def test_who_must_not_replace_does_not(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    write_whole(path, "first", replace=False)
    with pytest.raises(MechanismError, match=r"a\.txt': it exists already; .*replace=True"):
        write_whole(path, "second", replace=False)
    path.unlink()

    def late():
        with whole_file(path, replace=False) as draft:
            draft.write_text("third")
            path.write_text("of another, meanwhile")

    with pytest.raises(MechanismError, match="it exists already"):
        late()
    assert contents(tmp_path) == {"a.txt": b"of another, meanwhile"}

    def no_links(*arguments):
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr("os.link", no_links)
    write_whole(tmp_path / "b.txt", "b", replace=False)
    assert (tmp_path / "b.txt").read_text() == "b"


def test_drafts_of_the_living_remain_and_those_of_the_dead_go(tmp_path):
    path = tmp_path / "a.txt"
    with whole_file(path) as draft:
        draft.write_text("slow")
        write_whole(path, "fast")
        assert draft.read_text() == "slow"
    assert contents(tmp_path) == {"a.txt": b"slow"}
    left = Draft(path)
    left.unlock()  # as the system does when a process ends
    other = Draft(tmp_path / "a.txt.other")
    write_whole(path, "new")
    assert contents(tmp_path).keys() == {"a.txt", other.now.name}
    other.release()


KILLED = """
import os, random, sys, time
from pathlib import Path
import numpy as np
import bellcrank as bc
from bellcrank.whole_files import write_whole

folder, count = Path(sys.argv[1]), int(sys.argv[2])
bodies = [bc.gallery.chain(3), bc.gallery.chain(40)]
runs = [bc.simulate(bc.gallery.double_pendulum(), 0.02, output_step=step) for step in (1e-2, 1e-3)]
texts = [b"old" * 500_000, b"new" * 700_000]  # so long that kills meet their writing
rng = random.Random(int(sys.argv[3]))


def saved(path, k):
    if path.suffix == ".txt":
        write_whole(path, texts[k])
    elif path.suffix in (".yaml", ".json"):
        bc.save(bodies[k], path)
    else:
        runs[k].save(path, replace=True)


def judged(path):
    "Which of the two it is; an error for half of one."
    if path.suffix == ".txt":
        found = path.read_bytes()
        assert found in texts, f"half of a file: {len(found)} bytes"
        return texts.index(found)
    if path.suffix in (".yaml", ".json"):
        return bodies.index(bc.load(path))
    if path.suffix == ".h5":
        found = bc.Trajectory.load(path)
        assert found.status == "finished"
        return [len(run) for run in runs].index(len(found))
    table = np.load(path)
    return [np.array_equal(table["time [s]"], run.time) for run in runs].index(True)


paths = [folder / name for name in ("m.yaml", "m.json", "r.h5", "r.npz", "a.txt")]
for path in paths:
    saved(path, 0)
left = amid = 0
for number in range(count):
    path = paths[number % len(paths)]
    child = os.fork()
    if child == 0:
        k = 0
        while True:
            k = 1 - k
            saved(path, k)
    time.sleep(rng.uniform(0.0, 0.03))
    os.kill(child, 9)
    os.waitpid(child, 0)
    drafts = [draft for draft in folder.iterdir() if draft.suffix == ".part"]
    assert len(drafts) <= 1 + left, drafts
    amid += bool(drafts)
    judged(path)
    saved(path, 1)
    assert judged(path) == 1
    left = sum(draft.suffix == ".part" for draft in folder.iterdir())
    assert left == 0, left
print(amid)
"""


def kill(folder, count, seed):
    """Kill a process that saves at random moments; the number of kills amid a save."""
    command = [sys.executable, "-W", "ignore", "-c", KILLED, str(folder), str(count), str(seed)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=3000)
    assert ended.returncode == 0, ended.stderr
    return int(ended.stdout)


def test_a_kill_at_any_moment_leaves_the_old_file_or_the_new_one(tmp_path):
    assert kill(tmp_path, 50, 1) > 5
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt", "m.json", "m.yaml", "r.h5", "r.npz"]
