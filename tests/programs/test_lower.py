"""Expressions as programs: the values of a walk over the graph; programs that are not sound are refused."""

from itertools import pairwise

import numpy as np
import pytest
from rigs.expressions import values_of
from rigs.programs import Draft, random_expressions, random_program
from rigs.seeds import over

import bellcrank.expression as bx
from bellcrank import _core

NAMES = [name for name, _ in _core.program_ops()]


def lowered(outputs, inputs, parameters=()):
    return _core.lower_expressions(list(outputs), list(inputs), list(parameters))


def steps(program):
    return [NAMES[op] for op in program.steps[:, 0]]


def run(program, numbers):
    out = np.empty(len(program.outputs))
    _core.CompiledProgram(program).evaluate(np.array(numbers, dtype=float), out)
    return out


@pytest.fixture
def abc():
    return bx.symbols("a b c")


@over(range(60))
def test_against_a_walk_over_the_graph(seed):
    symbols, outputs = random_expressions(seed)
    numbers = np.random.default_rng(seed).uniform(0.2, 1.5, size=len(symbols))
    expected = values_of(outputs, dict(zip(symbols, numbers, strict=True)))
    _, whole = lowered(outputs, symbols)
    np.testing.assert_allclose(run(whole, numbers), expected, rtol=1e-11, atol=1e-11)
    for given in (1, 3, len(symbols)):
        prologue, main = lowered(outputs, symbols[given:], symbols[:given])
        shared = run(prologue, numbers[:given])
        np.testing.assert_allclose(run(main, [*numbers[given:], *shared]), expected, rtol=1e-11, atol=1e-11)


@over(range(20))
def test_no_more_operations_than_the_graph(seed):
    symbols, outputs = random_expressions(seed)
    _, program = lowered(outputs, symbols)
    found, graph = _core.program_operations(program), bx.count_operations(*outputs)
    merged = graph.multiplications - found["multiplications"]  # quotients x/d
    assert found["additions"] == graph.additions
    assert found["divisions"] == graph.divisions
    assert found["trigonometric"] == graph.trigonometric
    assert 0 <= merged <= steps(program).count("divide")


def test_each_sign_of_a_multiply_add(abc):
    a, b, c = abc
    for output, name in (
        (a * b + c, "multiply_add"),
        (a * b - c, "multiply_sub"),
        (c - a * b, "negate_multiply_add"),
        (-(a * b + c), "negate_multiply_sub"),
    ):
        _, program = lowered([output], abc)
        assert steps(program) == [name]
        assert run(program, [2.0, 3.0, 10.0])[0] == values_of([output], {a: 2.0, b: 3.0, c: 10.0})[0]


def test_a_multiply_add_rounds_once():
    a, b, c = bx.symbols("a b c")
    _, program = lowered([a * b + c], (a, b, c))
    x = 1.0 + 2.0**-30
    assert run(program, [x, x, -1.0 - 2.0**-29])[0] == 2.0**-60


def test_a_product_used_twice_is_computed_once(abc):
    a, b, c = abc
    _, program = lowered([a * b + c, (a * b) * (b + c)], abc)
    assert sorted(steps(program)) == ["add", "add", "multiply", "multiply"]


def test_one_reciprocal_serves_all(abc):
    a, b, c = abc
    _, shared = lowered([a / c, b / c], abc)
    assert sorted(steps(shared)) == ["divide", "multiply", "multiply"]
    _, single = lowered([a / (b + c)], abc)
    assert steps(single) == ["add", "divide"]
    _, summed = lowered([a / (b + c) - b], abc)
    assert sorted(steps(summed)) == ["add", "divide", "subtract"]


def test_sine_and_cosine_of_one_angle_come_together(abc):
    a, b, c = abc
    _, program = lowered([bx.sin(a + b) * c, bx.cos(a + b) + bx.sin(c)], abc)
    assert sorted(steps(program)) == ["add", "add", "multiply", "sine", "sine_cosine"]


def test_slots_are_used_again():
    """A sum over many products: few values are alive at once."""
    x = bx.symbols(" ".join(f"x{k}" for k in range(200)))
    total = bx.Expression(0.0)
    for p, q in pairwise(x):
        total = total + bx.sqrt(p * q + 1.0) * bx.exp(p - q)
    _, program = lowered([total], x)
    assert program.slots - program.inputs - len(program.constants) < 10


def test_what_nothing_needs_is_not_computed(abc):
    a, b, c = abc
    bx.exp(a * c)
    _, program = lowered([a, a + b, bx.Expression(2.5), -c, a], abc)
    assert sorted(steps(program)) == ["add", "negate"]
    assert run(program, [1.0, 2.0, 3.0]).tolist() == [1.0, 3.0, 2.5, -3.0, 1.0]


def test_the_prologue_takes_what_depends_on_parameters_only(abc):
    a, b, c = abc
    m = bx.symbol("m")
    shared = bx.sqrt(m * m + 1.0) * bx.sin(m)
    prologue, main = lowered([shared * a + b, m * c, m, shared], abc, [m])
    assert sorted(steps(prologue)) == ["multiply", "multiply_add", "sine", "square_root"]
    assert sorted(steps(main)) == ["multiply", "multiply_add"]
    assert main.inputs == 3 + len(prologue.outputs)


def test_tables():
    x = bx.symbol("x")
    kind, params = "harmonic", [0.1, 0.2, 1.5, 2.0, 0.3]
    function = bx.table(kind, params, x)
    _, program = lowered([function, bx.derivative(function, x), function * function], [x])
    assert program.tables == [(kind, params)]
    expected = _core.Function(kind, params)(np.array([0.7]))[0]
    np.testing.assert_array_equal(run(program, [0.7]), [expected[0], expected[1], expected[0] ** 2])


def test_what_is_refused(abc):
    a, b, c = abc
    with pytest.raises(ValueError, match=r"symbols that are no inputs: 'b', 'c'"):
        lowered([a * b + c], [a])
    with pytest.raises(ValueError, match="'a' is given twice"):
        lowered([a], [a, a])
    with pytest.raises(ValueError, match="'a' is given twice"):
        lowered([a], [a], [a])
    with pytest.raises(ValueError, match="must be a symbol"):
        lowered([a], [a + b])
    with pytest.raises(ValueError, match="must be a symbol"):
        lowered([a], [-a])


def test_no_outputs_and_no_inputs():
    prologue, main = lowered([], [])
    assert (len(prologue.steps), len(main.steps), main.slots) == (0, 0, 0)
    assert run(lowered([bx.Expression(3.0)], [])[1], []).tolist() == [3.0]


OPS = {name: number for number, (name, _) in enumerate(_core.program_ops())}
ADD, TABLE, BOTH = OPS["add"], OPS["table"], OPS["sine_cosine"]
HARMONIC = [("harmonic", [0.0, 0.0, 1.0, 1.0, 0.0])]

REFUSED = {
    "operation number 99": Draft(1, [], 2, [(99, 1, 0, 0, 0)], [1]),
    r"instruction 0 \(add\): reads slot 1, which holds nothing yet": Draft(
        1, [], 2, [(ADD, 1, 0, 1, 0)], [1]
    ),
    "reads slot 7, which holds nothing": Draft(1, [], 2, [(ADD, 1, 0, 7, 0)], [1]),
    "writes slot 0, an input or a constant": Draft(1, [], 2, [(ADD, 0, 0, 0, 0)], [0]),
    "writes slot 1, an input or a constant": Draft(1, [2.0], 3, [(ADD, 1, 0, 0, 0)], [1]),
    "writes slot 2, which does not exist": Draft(1, [], 2, [(ADD, 2, 0, 0, 0)], [0]),
    "writes slot 1 twice": Draft(1, [], 3, [(BOTH, 1, 0, 0, 1)], [1]),
    "uses table 1, which does not exist": Draft(1, [], 2, [(TABLE, 1, 0, 1, 0)], [1], HARMONIC),
    "derivative 4 of a table": Draft(1, [], 2, [(TABLE, 1, 0, 0, 4)], [1], HARMONIC),
    "an output is slot 1, which holds nothing": Draft(1, [], 2, [], [1]),
    "an output is slot 9": Draft(1, [], 2, [], [9]),
    "fewer slots than inputs and constants": Draft(2, [1.0], 2, [], []),
    "negative number of inputs": Draft(-1, [], 2, [], []),
    "harmonic function: 5 parameters": Draft(1, [], 2, [(TABLE, 1, 0, 0, 0)], [1], [("harmonic", [0.0])]),
    "unknown function kind 'x'": Draft(1, [], 2, [(TABLE, 1, 0, 0, 0)], [1], [("x", [0.0])]),
}


@pytest.mark.parametrize("message", REFUSED)
def test_refused(message):
    with pytest.raises(ValueError, match=message):
        REFUSED[message].made_by(_core)


def test_sound_programs_pass_and_are_told_as_given():
    draft = random_program(1, 100)
    program = draft.made_by(_core)
    np.testing.assert_array_equal(program.steps, draft.steps)
    assert (program.inputs, program.slots, program.outputs) == (draft.inputs, draft.slots, draft.outputs)
    assert program.constants == draft.constants


def test_sizes_of_arrays_are_checked():
    program = _core.CompiledProgram(random_program(1, 20).made_by(_core))
    good, out = np.zeros(12), np.empty(25)
    with pytest.raises(ValueError, match="inputs: 12 numbers expected, 11 given"):
        program.evaluate(good[:-1].copy(), out)
    with pytest.raises(ValueError, match="outputs: 25 numbers expected, 24 given"):
        program.evaluate(good, np.empty(24))
    with pytest.raises(ValueError, match="inputs of a point: 12 numbers expected, 13 given"):
        program.evaluate_batch(np.zeros((3, 12)), np.zeros(1), np.empty((3, 25)))
    with pytest.raises(ValueError, match="points of the results: 3 numbers expected, 2 given"):
        program.evaluate_batch(np.zeros((3, 12)), np.zeros(0), np.empty((2, 25)))


def test_lanes_are_checked():
    program = random_program(1, 20).made_by(_core)
    with pytest.raises(ValueError, match="1, 4 or 8 lanes"):
        _core.llvm_source(program, 3)
    with pytest.raises(ValueError, match="1, 4 or 8 lanes"):
        _core.CompiledProgram(program).set_native(0, 2, object())
