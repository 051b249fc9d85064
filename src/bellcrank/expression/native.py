"""Native code for programs, by LLVM (the extra `jit`), and its cache on disk.

The core writes a program as LLVM IR; llvmlite compiles it to object code, which is cached on disk; the core
receives the address of the function and calls it from then on without Python. All of this may run
concurrently with evaluations: interpreter and native code give the same bits.

Files of the cache are keyed by their source. They lie in the user's cache directory (`bellcrank` under
$XDG_CACHE_HOME or ~/.cache, ~/Library/Caches, %LOCALAPPDATA%). The environment variable BELLCRANK_CACHE names
another directory, or is `off`. The cache is optional: files that are missing, damaged or cannot be written
only cost time. What is loaded is executed. So neither the directory nor a file is used that belongs to
another user, or that another user may change.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import threading
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from threading import Event, ExceptHookArgs
from types import ModuleType
from typing import Any, Literal, TypeAlias

from bellcrank import _core
from bellcrank.errors import Unsupported
from bellcrank.ownership import OTHERS_WRITE, is_own
from bellcrank.whole_files import write_whole

VARIABLE = "BELLCRANK_CACHE"
LIMIT = 256 << 20
"""Bytes beyond which the files used longest ago are removed."""

_MARK = b"bellcrank object 2\n"


def directory() -> Path | None:
    """The directory of the files, or None if the cache is off."""
    given = os.environ.get(VARIABLE)
    if given is not None:
        return None if given in ("", "off") else Path(given)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = str(Path.home() / "Library" / "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "bellcrank"


def key_of(*parts: str) -> str:
    """A key computed from the given texts."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(f"{len(part)}\n".encode())
        digest.update(part.encode())
    return digest.hexdigest()


def load(key: str) -> bytes | None:
    """The data stored under a key; None if there is none, it is damaged, or others may have written it."""
    place = directory()
    if place is None:
        return None
    path = place / f"{key}.o"
    content = _own_content(place, path)
    start = len(_MARK) + 32
    payload = content[start:]
    if not content.startswith(_MARK) or hashlib.sha256(payload).digest() != content[len(_MARK) : start]:
        return None
    with suppress(OSError):
        os.utime(path)  # mark as recently used
    return payload


def _own_content(place: Path, path: Path) -> bytes:
    """The content of a file of this user's; empty where it, or its directory, is not this user's alone."""
    # What is judged is the open file itself: its name may be another file's by the time it is read. A named
    # pipe must not stop us, nor may a link refer to a file elsewhere.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
    flags |= getattr(os, "O_BINARY", 0)
    with suppress(OSError):
        if not is_own(place.stat(), OTHERS_WRITE):
            return b""
        with os.fdopen(os.open(path, flags), "rb") as file:
            about = os.fstat(file.fileno())
            if stat.S_ISREG(about.st_mode) and is_own(about, OTHERS_WRITE):
                return file.read()
    return b""


def store(key: str, payload: bytes) -> None:
    """Store the payload atomically: other processes see all of it or nothing.

    Nothing is stored in a directory that `load` would not use.
    """
    place = directory()
    if place is None:
        return
    with suppress(OSError):
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not is_own(place.stat(), OTHERS_WRITE):
            return
        write_whole(place / f"{key}.o", _MARK + hashlib.sha256(payload).digest() + payload)
        _make_room(place)


def _make_room(place: Path) -> None:
    files = []
    for path in place.glob("*.o"):
        with suppress(OSError):
            about = path.stat()
            files.append((about.st_mtime, about.st_size, path))
    excess = sum(size for _, size, _ in files) - LIMIT
    for _, size, path in sorted(files, key=lambda file: file[0]):
        if excess <= 0:
            return
        with suppress(OSError):
            path.unlink()
            excess -= size


Native: TypeAlias = bool | Literal["auto"]

_LEVELS = {1: 1, 4: 2, 8: 2}  # effort of LLVM's code generator, by lanes: the fastest overall when measured
_llvm_turn = threading.Lock()


@lru_cache(maxsize=1)
def _llvm() -> ModuleType | None:
    try:
        import llvmlite.binding as llvm
    except ImportError:
        return None
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm  # type: ignore[no-any-return]


def available() -> bool:
    """Whether native code can be made here. Does not load LLVM, which takes longer than most derivations."""
    return find_spec("llvmlite") is not None


def _required() -> ModuleType:
    llvm = _llvm()
    if llvm is None:
        raise Unsupported(
            "native code needs llvmlite, which is not installed: pip install 'bellcrank[jit]', "
            "or leave native='auto' to evaluate with the interpreter"
        )
    return llvm


@lru_cache(maxsize=1)
def _processor() -> tuple[str, str, str]:
    """Name and features of the processor, and versions of the compiler."""
    import llvmlite

    llvm = _required()
    versions = f"{llvmlite.__version__} {llvm.llvm_version_info}"
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten(), versions


def _vector_lanes() -> int:
    return 8 if "+avx512f" in _processor()[1] else 4


def _machine(level: int) -> Any:
    cpu, features, _ = _processor()
    target = _required().Target.from_default_triple()
    return target.create_target_machine(
        cpu=cpu, features=features, opt=level, reloc="pic", codemodel="small", jit=True
    )


def _object_codes(program: _core.Program, lanes: int, wanted: Callable[[], bool]) -> list[bytes] | None:
    """The object code of a program's modules, from disk if cached; None if it is no longer wanted."""
    sources = _core.llvm_source(program, lanes)
    level = _LEVELS[lanes]
    key = key_of(*sources, *_processor(), str(level))
    found = load(key)
    if found is not None:
        return _parted(found)
    made = []
    for source in sources:  # each takes a fraction of a second, and Ctrl-C is handled in between
        if not wanted():
            return None
        made.append(_compiled(source, level))
    store(key, _joined(made))
    return made


def _joined(codes: list[bytes]) -> bytes:
    """The pieces concatenated, each preceded by its length."""
    return b"".join(len(code).to_bytes(8, "little") + code for code in codes)


def _parted(joined: bytes) -> list[bytes]:
    codes, at = [], 0
    while at < len(joined):
        end = at + 8 + int.from_bytes(joined[at : at + 8], "little")
        codes.append(joined[at + 8 : end])
        at = end
    return codes


def _compiled(source: str, level: int) -> bytes:
    llvm = _required()
    module = llvm.parse_assembly(source, llvm.create_context())
    machine = _machine(level)
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    made: bytes = machine.emit_object(module)
    return made


def attach(
    program: _core.CompiledProgram, *, batch: bool = False, wanted: Callable[[], bool] = lambda: True
) -> None:
    """Attach native code for one point, or for many side by side, to a program that does not have it yet.

    wanted: called from time to time; False abandons the compilation.
    Raises Unsupported if llvmlite is not installed.
    """
    with _llvm_turn:
        llvm = _required()
        if program.native_lanes if batch else program.native:
            return
        lanes = _vector_lanes() if batch else 1
        codes = _object_codes(program.program, lanes, wanted)
        if codes is None:
            return
        # llvmlite's memory manager keeps code and constants of a module together. In a process with much
        # memory they may otherwise lie more than 2 GB apart, where the code cannot reach: LLVM then ends the
        # process. Modules may lie anywhere (llvm_source.cpp).
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine(1), use_lmm=True)
        for code in codes:
            engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        engine.finalize_object()
        program.set_native(engine.get_function_address("bellcrank_program"), lanes, engine)


def attach_soon(programs: Sequence[_core.CompiledProgram], *, batch: bool = False) -> Event:
    """Attach native code to several programs in the background; the event is set when they are done.

    One thread processes all programs in turn. Programs no longer referenced at their turn are skipped;
    those that are not done when the main thread ends stay interpreted, as all do without llvmlite.
    """
    done = Event()
    if available():
        _worker.add([weakref.ref(program) for program in programs], batch, done)
    else:
        done.set()
    return done


class _Worker:
    """A thread that exists while there is work to do."""

    def __init__(self) -> None:
        self.turn = threading.Lock()
        self.waiting: deque[tuple[list[weakref.ref[_core.CompiledProgram]], bool, Event]] = deque()
        self.running = False

    def add(self, programs: list[weakref.ref[_core.CompiledProgram]], batch: bool, done: Event) -> None:
        with self.turn:
            self.waiting.append((programs, batch, done))
            if self.running:
                return
            self.running = True
        # Not a daemon: LLVM must not be running while the process is torn down.
        threading.Thread(target=self.work, name="bellcrank-native", daemon=False).start()

    def work(self) -> None:
        main = threading.main_thread()
        while True:
            with self.turn:
                if not self.waiting:
                    self.running = False
                    return
                programs, batch, done = self.waiting.popleft()
            try:
                for reference in programs:
                    if main.is_alive() and (program := reference()) is not None:
                        attach(program, batch=batch, wanted=main.is_alive)
                        del program
            except Exception:  # noqa: BLE001 (shown as that of any thread; the others go on)
                threading.excepthook(ExceptHookArgs((*sys.exc_info(), threading.current_thread())))
            finally:
                done.set()


_worker = _Worker()


if hasattr(os, "register_at_fork"):
    # No fork may happen during a compilation: a child has one thread only, and locks of LLVM and of the core
    # that another thread held would stay closed.
    def _wait() -> None:
        _llvm_turn.acquire()

    def _resume() -> None:
        _llvm_turn.release()

    def _begin_anew() -> None:
        global _llvm_turn, _worker
        _llvm_turn, _worker = threading.Lock(), _Worker()

    os.register_at_fork(before=_wait, after_in_parent=_resume, after_in_child=_begin_anew)
