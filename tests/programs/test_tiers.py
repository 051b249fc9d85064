"""Interpreter, blocks, native code for one point and several, exported C, in both cores: the same bits."""

import ctypes
import os
import shutil
import subprocess
import threading

import numpy as np
import pytest
from rigs.programs import OPS, SPECIAL, Draft, cores, interpreted, points, random_program, same_bits

from bellcrank import _core
from bellcrank.expression import native

CORES = cores()
COMPILER = next(filter(None, map(shutil.which, (os.environ.get("CC", "cc"), "cc", "gcc", "clang"))), None)
ARITHMETIC = [
    "copy", "negate", "add", "subtract", "multiply", "multiply_add", "multiply_sub", "negate_multiply_add",
    "negate_multiply_sub",
]  # fmt: skip
CASES = {
    "all operations": lambda: random_program(1, 400),
    "arithmetic": lambda: random_program(2, 300, names=ARITHMETIC),
    "angles": lambda: random_program(
        4, 300, names=["sine", "cosine", "sine_cosine", "sine_cosine", "multiply"], working=9, outputs=12
    ),
    "many pieces": lambda: random_program(3, 2300, names=[*ARITHMETIC, "sine_cosine", "maximum", "divide"]),
    **{name: (lambda name=name: one_operation(name)) for name in OPS},
}


def one_operation(name):
    """out = the operation of the inputs, which take all pairs of special numbers."""
    number = OPS.index(name)
    tables = [("piecewise", [2.0, 2.0, 2.0, -1.0, 0.5, 2.0, 0.2, 0.3, -0.4, 1.0])] if name == "table" else []
    b, c = (0, 1) if name == "table" else (1, 3 if name == "sine_cosine" else 2)
    return Draft(3, [], 5, [(number, 4, 0, b, c)], [4, 3] if name == "sine_cosine" else [4, 0], tables)


def inputs_of(case, draft):
    if draft.inputs == 3:
        a, b = np.meshgrid(SPECIAL, SPECIAL)
        every = np.stack([a.ravel(), b.ravel(), np.roll(a.ravel(), 5)], axis=1)
        return np.concatenate([every, points(5, 60, 3)])
    return points(len(case), 120, draft.inputs)


@pytest.fixture(params=CASES)
def case(request):
    draft = CASES[request.param]()
    x = inputs_of(request.param, draft)
    return draft, x, interpreted(_core, draft, x)


def test_results_are_not_all_the_same():
    """The comparison sees something: numbers of many sizes, few that are not finite."""
    draft = CASES["all operations"]()
    found = interpreted(_core, draft, points(4, 120))
    assert len(np.unique(found[np.isfinite(found)])) > 500
    assert np.isnan(found).mean() < 0.5
    assert not same_bits(found, np.nextafter(found, np.inf))


@pytest.mark.parametrize("variant", CORES)
def test_interpreters(case, variant):
    draft, x, expected = case
    core = CORES[variant]
    assert same_bits(interpreted(core, draft, x), expected)
    for threads in (1, 3):
        out = np.empty_like(expected)
        core.CompiledProgram(draft.made_by(core)).evaluate_batch(x, np.empty(0), out, threads, True)
        assert same_bits(out, expected)


def attached(draft, lanes):
    """A program with native code for so many lanes, whatever the processor prefers."""
    program = _core.CompiledProgram(draft.made_by(_core))
    engine, address = loaded(_core.llvm_source(program.program, lanes, 150, 2))
    program.set_native(address, lanes, engine)
    return program


def loaded(sources):
    import llvmlite.binding as llvm

    assert native.available()
    native.attach(
        _core.CompiledProgram(_core.Program(0, [], 0, np.empty((0, 5), np.uint32), []))
    )  # LLVM is set up
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=2, reloc="pic",
        codemodel="small", jit=True,
    )  # fmt: skip
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine, use_lmm=True)
    for source in sources:
        module = llvm.parse_assembly(source)
        module.triple, module.data_layout = machine.triple, str(machine.target_data)
        engine.add_object_file(llvm.ObjectFileRef.from_data(machine.emit_object(module)))
    engine.finalize_object()
    return engine, engine.get_function_address("bellcrank_program")


def test_native_code_for_one_point(case):
    draft, x, expected = case
    program = attached(draft, 1)
    assert program.native
    out = np.empty_like(expected)
    for row, result in zip(x, out, strict=True):
        program.evaluate(row, result)
    assert same_bits(out, expected)


@pytest.mark.parametrize("lanes", [4, 8])
def test_native_code_for_several_points(case, lanes):
    """The number of points is no multiple of the lanes; some inputs are shared by all points."""
    draft, x, expected = case
    if lanes == 8 and not_wide():
        pytest.skip("this processor has no vectors of eight")
    program = attached(draft, lanes)
    assert program.native_lanes == lanes
    out = np.empty_like(expected)[:-3]
    program.evaluate_batch(x[:-3], np.empty(0), out, 2)
    assert same_bits(out, expected[:-3])
    x[:, -2:] = x[0, -2:]
    program.evaluate_batch(np.ascontiguousarray(x[:-3, :-2]), x[0, -2:].copy(), out)
    assert same_bits(out, interpreted(_core, draft, x)[:-3])


def not_wide():
    import llvmlite.binding as llvm

    return "+avx512f" not in llvm.get_host_cpu_features().flatten()


@pytest.mark.skipif(COMPILER is None, reason="a C compiler is not installed")
@pytest.mark.parametrize("name", ["all operations", "angles", "many pieces", *OPS])
def test_exported_c(name, tmp_path):
    draft = CASES[name]()
    x = inputs_of(name, draft)
    header, source = _core.c_source(draft.made_by(_core), "exported")
    (tmp_path / "exported.h").write_text(header)
    (tmp_path / "exported.c").write_text(source)
    strict = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wno-unused"]  # random: dead code
    library = ["-O2", "-ffp-contract=off", "-shared", "-fPIC", "-o", "exported.so", "exported.c", "-lm"]
    subprocess.run(
        [COMPILER, *strict, *library],
        cwd=tmp_path, check=True,
    )  # fmt: skip
    function = ctypes.CDLL(str(tmp_path / "exported.so")).exported
    expected = interpreted(_core, draft, x)
    out, work = np.empty_like(expected), np.empty(draft.slots)
    for row, result in zip(x, out, strict=True):
        function(*(ctypes.c_void_p(a.ctypes.data) for a in (row, result, work)))
    assert same_bits(out, expected)


def test_native_code_arrives_while_others_evaluate():
    """Four threads evaluate all the time; the results never change."""
    draft = random_program(11, 800, names=[*ARITHMETIC, "sine_cosine"])
    program = _core.CompiledProgram(draft.made_by(_core))
    x = points(6, 40)
    expected = interpreted(_core, draft, x)
    over, wrong, rounds = threading.Event(), [], []

    def evaluate():
        out = np.empty_like(expected)
        while not over.is_set():
            for row, result in zip(x, out, strict=True):
                program.evaluate(row, result)
            rounds.append(program.native)
            if not same_bits(out, expected):
                wrong.append(out.copy())

    threads = [threading.Thread(target=evaluate) for _ in range(4)]
    for thread in threads:
        thread.start()
    native.attach(program)
    while not any(rounds[-4:]):
        pass
    over.set()
    for thread in threads:
        thread.join()
    assert program.native
    assert not wrong
    assert True in rounds
