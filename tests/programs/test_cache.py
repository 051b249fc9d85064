"""Native code, made by one thread beside everything else; found again on disk, by content."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from rigs.programs import interpreted, points, random_program

import bellcrank as bc
from bellcrank import _core
from bellcrank.expression import native

COMPILES = pytest.mark.skipif(not native.available(), reason="llvmlite is not installed")


def made(draft):
    program = _core.CompiledProgram(draft.made_by(_core))
    native.attach(program)
    return program


def right(program, draft):
    x = points(1, 3)[1:2]
    out = np.empty(len(draft.outputs))
    program.evaluate(x[0], out)
    return np.array_equal(out, interpreted(_core, draft, x)[0], equal_nan=True)


@pytest.fixture
def compilations(monkeypatch):
    """What is really compiled."""
    seen = []
    store = native.store
    monkeypatch.setattr(native, "store", lambda key, data: (seen.append(key), store(key, data)))
    return seen


@COMPILES
def test_found_again(own_cache, compilations):
    draft = random_program(1, 60)
    for _ in range(3):
        assert right(made(draft), draft)
    assert len(compilations) == 1
    assert [path.suffix for path in own_cache.iterdir()] == [".o"]


@COMPILES
def test_by_content_and_lanes(own_cache, compilations):
    draft = random_program(1, 60)
    made(draft)
    changed = random_program(1, 60)
    changed.constants[0] += 1e-12
    assert right(made(changed), changed)
    program = _core.CompiledProgram(draft.made_by(_core))
    native.attach(program, batch=True)
    assert len(set(compilations)) == 3


@COMPILES
def test_by_processor_and_version(compilations, monkeypatch):
    draft = random_program(1, 30)
    made(draft)
    about = native._processor()
    monkeypatch.setattr(native, "_processor", lambda: (*about[:2], "another version"))
    made(draft)
    assert len(set(compilations)) == 2


@COMPILES
@pytest.mark.parametrize(
    "damage", [lambda b: b"", lambda b: b[:-1], lambda b: b[:200] + b"x" + b[201:], lambda b: b"x" + b]
)
def test_damaged_files_are_made_anew(own_cache, compilations, damage):
    draft = random_program(1, 60)
    made(draft)
    (path,) = own_cache.iterdir()
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    assert right(made(draft), draft)
    assert len(compilations) == 2
    assert path.read_bytes() == whole


@COMPILES
@pytest.mark.parametrize("setting", ["off", ""])
def test_off(own_cache, monkeypatch, setting):
    monkeypatch.setenv(native.VARIABLE, setting)
    draft = random_program(1, 60)
    assert right(made(draft), draft)
    assert not own_cache.exists()


@COMPILES
def test_a_directory_that_cannot_be(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(native.VARIABLE, str(tmp_path / "file" / "cache"))
    draft = random_program(1, 60)
    assert right(made(draft), draft)


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="this system has no owners of this kind")
@pytest.mark.parametrize(
    "change",
    [
        lambda folder, file: folder.chmod(0o777),
        lambda folder, file: folder.chmod(0o720),
        lambda folder, file: file.chmod(0o666),
        lambda folder, file: file.chmod(0o620),
        lambda folder, file: (file.rename(folder / "x"), file.symlink_to(folder / "x")),
    ],
)
def test_code_that_others_could_have_written_is_not_run(own_cache, change):
    native.store("key", b"code")
    assert native.load("key") == b"code"
    change(own_cache, own_cache / "key.o")
    assert native.load("key") is None


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="this system has no owners of this kind")
def test_the_cache_of_another_user_is_not_used(own_cache, monkeypatch):
    native.store("key", b"code")
    me = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: me + 1)
    assert native.load("key") is None
    native.store("other", b"code")
    assert [path.stem for path in own_cache.iterdir()] == ["key"]


@pytest.mark.skipif(
    not hasattr(os, "getuid") or os.getuid() != 0, reason="this user is not root, who alone gives files away"
)
@pytest.mark.parametrize("name", ["key.o", ""])
def test_directory_and_file_are_both_judged(own_cache, name):
    native.store("key", b"code")
    os.chown(own_cache / name, 65534, 65534)
    assert native.load("key") is None


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="this system has no owners of this kind")
def test_nothing_is_stored_where_others_may_write(own_cache):
    own_cache.mkdir()
    own_cache.chmod(0o777)
    native.store("key", b"code")
    assert not list(own_cache.iterdir())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_in_the_cache_does_not_stop_it(own_cache):
    native.store("key", b"code")
    (own_cache / "key.o").unlink()
    os.mkfifo(own_cache / "key.o", 0o600)
    assert native.load("key") is None


def test_the_usual_place(monkeypatch):
    monkeypatch.delenv(native.VARIABLE)
    if sys.platform.startswith("linux"):
        monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
        assert native.directory() == Path("/somewhere/bellcrank")
    assert native.directory().name == "bellcrank"


def test_what_was_used_longest_ago_makes_room(own_cache, monkeypatch):
    monkeypatch.setattr(native, "LIMIT", 3000)
    for age, name in enumerate("abcd"):
        native.store(name, bytes(800))
        os.utime(own_cache / f"{name}.o", (1e9 + age, 1e9 + age))
    assert native.load("b") is not None  # used now
    native.store("e", bytes(800))
    assert sorted(path.stem for path in own_cache.iterdir()) == ["b", "d", "e"]


@COMPILES
def test_several_processes_at_once(own_cache):
    code = (
        "import sys; sys.path[:0] = sys.argv[1:]\n"
        "from test_cache import made, right, random_program\n"
        "for seed in (1, 2, 3):\n"
        "    draft = random_program(seed, 60)\n"
        "    assert right(made(draft), draft)\n"
    )
    paths = map(str, Path(__file__).parents[:2])
    command = [sys.executable, "-c", code, *paths]
    running = [subprocess.Popen(command) for _ in range(3)]
    assert [process.wait() for process in running] == [0, 0, 0]
    assert sorted(path.suffix for path in own_cache.iterdir()) == [".o"] * 3


def program_of(k):
    x = bc.symbol("x")
    _, main = _core.lower_expressions([x**2 + k], [x], [])
    return _core.CompiledProgram(main)


def workers():
    return [thread for thread in threading.enumerate() if thread.name == "bellcrank-native"]


@pytest.fixture
def held(monkeypatch):
    """Compilers wait until they are let go; the programs that reach them."""
    go, seen, attach = threading.Event(), [], native.attach
    for thread in workers():
        thread.join()

    def late(program, **settings):
        go.wait()
        seen.append(program)
        if len(seen) == 1 and late.fails:
            raise OSError("planted")
        attach(program, **settings)

    late.fails = False
    monkeypatch.setattr(native, "attach", late)
    yield go, seen, late
    go.set()


@COMPILES
def test_one_thread_makes_all(held):
    go, seen, _ = held
    programs = [program_of(k) for k in range(5)]
    done = [native.attach_soon([program]) for program in programs]
    assert len(workers()) == 1
    go.set()
    assert all(event.wait(20) for event in done)
    assert all(program.native for program in programs)
    assert [id(program) for program in seen] == [id(program) for program in programs]


@COMPILES
def test_what_nobody_holds_is_left_out(held):
    go, seen, _ = held
    first, second = program_of(1), program_of(2)
    events = [native.attach_soon([first]), native.attach_soon([second])]
    del second
    go.set()
    assert all(event.wait(20) for event in events)
    assert len(seen) == 1


@COMPILES
def test_an_error_does_not_stop_the_others(held, monkeypatch):
    go, _, late = held
    late.fails, shown = True, []
    monkeypatch.setattr(threading, "excepthook", shown.append)
    programs = [program_of(1), program_of(2)]
    events = [native.attach_soon([program]) for program in programs]
    go.set()
    assert all(event.wait(20) for event in events)
    assert [program.native for program in programs] == [False, True]
    assert "planted" in str(shown[0].exc_value)


@COMPILES
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_in_the_midst_of_it():
    """No lock of the compiler stays closed in the child."""
    for k in range(10):
        programs = [program_of(100 * k + i) for i in range(3)]
        done = native.attach_soon(programs)
        time.sleep(0.003 * k)
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            native.attach(program_of(-1.0 - k))
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert done.wait(20)
