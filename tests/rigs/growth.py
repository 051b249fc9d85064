"""What work that is done again and again leaves behind: works by name, and what is in use after each."""

import ctypes
import gc
import pickle
import resource
import sys
import threading
from dataclasses import astuple, dataclass
from pathlib import Path

import bellcrank as bc
from bellcrank import _core
from bellcrank import expression as ex
from bellcrank.expression import compiled
from bellcrank.mechanism.functions import function

from .linkages import pin

FILE = """
bellcrank: 1
parameters: {R: 2, k: {value: 30, low: 1}}
bodies:
  bead: {mass: 1 + R, inertia: [1, 1, 1]}
  wheel: {mass: 1, inertia: [R, R, 2]}
joints:
  wire:
    type: CustomJoint
    first: ground
    second: bead
    coordinates: [s]
    units: rad
    pose: [{shift: [R*cos(s), R*sin(s), 0.1*s]}, {turn: z, angle: s}]
    position: 0.3
  axle: {type: Revolute, first: bead, second: wheel}
forces:
  spring: {type: CustomForce, ends: [bead, wheel], potential: "k/2*((a.x - b.x - R)^2 + (a.z - b.z)^2)"}
drives:
  turn: {joint: axle, position: "R*sin(k*t)/10"}
"""


def reloaded(k):
    """A file with parameters and with a joint, a force and a drive given by formulas, made a system."""
    mechanism = bc.loads(FILE, "yaml")
    bc.prepare(mechanism, "lagrange").accelerate()


def bar():
    """A bar on a hinge."""
    mechanism = bc.Mechanism("bar")
    body = mechanism.add_body("bar", 1.0, (1.0, 1.0, 1.0), position=(0.5, 0.0, 0.0))
    pin(mechanism, "hinge", mechanism.ground, body, (0.0, 0.0, 0.0))
    return mechanism, body


def driven(k):
    """A drive by a formula that there was not before."""
    mechanism, _ = bar()
    mechanism.add_drive("turn", "hinge", position=f"sin({k + 1.5}*t) + {k}*t^2")
    bc.prepare(mechanism, "lagrange").accelerate()


def run_by(formulation):
    """Short runs by one formulation, of what turns by a formula and of what swings."""

    def run(k):
        mechanism, body = bar()
        weight = mechanism.add_body("weight", 1.0, (1.0, 1.0, 1.0), position=(1.0, 0.0, 0.0))
        pin(mechanism, "knee", body, weight, (1.0, 0.0, 0.0))
        mechanism.add_drive("turn", "hinge", position=f"cos({k % 7 + 1}*t)")
        bc.simulate(mechanism, 0.02, formulation=formulation)

    return run


def refused(k):
    """A file with faults, an expression that is none, a position that cannot be reached."""
    faulty = (
        FILE.replace("mass: 1 +", "mass: heavy +"),
        FILE.replace("s]\n", "s, s]\n"),
        "bellcrank: 1\nx: [",
    )
    for text in faulty:
        try:
            bc.loads(text, "yaml")
        except bc.MechanismError:
            continue
        raise AssertionError("a bad file was accepted")


def formulas(k):
    """Expressions with symbols of their own: derivatives, programs, pickles, comparisons."""
    x, y = bc.symbol(f"x{k}"), bc.symbol("y")
    f = ex.sin(x * y) / (1.0 + k * x**2)
    slope = ex.derivative(f, x)
    if ex.compile_function([slope], [x, y])([0.3, 0.4])[0] == 0.0 or pickle.loads(pickle.dumps(f)) != f:
        raise AssertionError("not the derivative, or not the same")


def native(k):
    """Native code of a program, for one point and for many."""
    x = bc.symbol("x")
    function = ex.compile_function([ex.cos((k + 2) * x), x**2 - k], [x], native=True)
    if len(function([[0.1 * i] for i in range(20)])) != 20 or function([0.1]).shape != (2,):
        raise AssertionError("not as many results as points")


WORKS = {
    "reload": reloaded,
    "drive": driven,
    "run lagrange": run_by("lagrange"),
    "run recursive": run_by("recursive"),
    "run symbolic": run_by("symbolic"),
    "refusal": refused,
    "expressions": formulas,
    "native code": native,
}


class _Heap(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keep"
    )]  # fmt: skip


@dataclass(frozen=True)
class Usage:
    """Python's blocks in use, bytes of the C heap in use, nodes of the expressions' graph, bytes resident."""

    blocks: int
    heap: int
    nodes: int
    resident: int

    def __sub__(self, before):
        return Usage(*(b - a for b, a in zip(astuple(self), astuple(before), strict=True)))


def heap_can_be_read():
    """Whether the C library tells what is in use (glibc 2.33 and later)."""
    return sys.platform.startswith("linux") and hasattr(ctypes.CDLL(None), "mallinfo2")


def usage():
    """What is in use once everything is let go that nobody holds, and all native code is made."""
    for thread in threading.enumerate():
        if thread.name == "bellcrank-native":
            thread.join()
    for cache in (function._compiled, compiled._program):  # they hold no more than so many
        cache.cache_clear()
    gc.collect()
    _core.collect_expressions()
    library = ctypes.CDLL(None)
    library.mallinfo2.restype = _Heap
    heap = library.mallinfo2()
    library.malloc_trim(0)  # what is free between blocks is no growth
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return Usage(
        sys.getallocatedblocks(),
        heap.uordblks + heap.hblkhd,
        _core.expression_graph_size()[0],
        resource.getpagesize() * pages,
    )


def grown(work, warm_up, count):
    """What is in use after so many more times, beyond what was after the first of them."""
    for k in range(warm_up):
        work(k)
    before = usage()
    for k in range(warm_up, warm_up + count):
        work(k)
    return usage() - before
