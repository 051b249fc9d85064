"""Programs that are not sound are refused, whatever is wrong with them."""

import numpy as np
import pytest
from random_programs import Draft, random_program

from bellcrank import _core

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
    "derivative 3 of a table": Draft(1, [], 2, [(TABLE, 1, 0, 0, 3)], [1], HARMONIC),
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
