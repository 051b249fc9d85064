// Straight-line programs: what expressions become before they are evaluated. A list of instructions over numbered
// slots, in an order in which every operand is ready; multiply-add is an operation of its own, so that the interpreter
// and native code round alike and agree bit for bit (docs/decisions/0004-expressions-and-programs.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bellcrank {

enum class ProgramOp : std::uint16_t {
    // out = …
    copy,                 // a
    negate,               // −a
    add,                  // a + b
    subtract,             // a − b
    multiply,             // a b
    multiply_add,         // a b + c, rounded once
    multiply_sub,         // a b − c, rounded once
    negate_multiply_add,  // c − a b, rounded once
    negate_multiply_sub,  // −a b − c, rounded once
    divide,               // a / b
    square_root,
    sine,
    cosine,
    sine_cosine,  // out = sin a, slot c = cos a
    tangent,
    arcsine,
    arccosine,
    arctangent,
    arctangent_2,  // atan2(a, b)
    hyperbolic_sine,
    hyperbolic_cosine,
    hyperbolic_tangent,
    exponential,
    logarithm,
    power,  // a^b
    absolute,
    sign,     // −1, 0, 1
    minimum,  // b < a ? b : a
    maximum,  // a < b ? b : a
    floor,
    less,        // a < b ? 1 : 0
    less_equal,  // a ≤ b ? 1 : 0
    select,      // a ≠ 0 ? b : c
    table,       // derivative number c (0, 1, 2) of function number b at slot a (cpp/functions)
};

inline constexpr int kProgramOps = static_cast<int>(ProgramOp::table) + 1;

// The name as it is written in the enumeration.
const char* op_name(ProgramOp op);
// How many of a, b, c are slots that the operation reads.
int op_operands(ProgramOp op);

struct Instruction {
    ProgramOp op;
    std::uint32_t out, a, b, c;
};

// A function held by a program: kind and parameters of cpp/functions.
struct ProgramTable {
    std::string kind;
    std::vector<double> params;
};

// Slots: inputs first, then constants, then working slots. Outputs are read from `outputs` at the end. A working slot
// may be written again once its value is no longer needed, also by the last instruction that reads it.
struct Program {
    int inputs = 0;
    std::vector<double> constants;
    int slots = 0;
    std::vector<Instruction> instructions;
    std::vector<std::uint32_t> outputs;
    std::vector<ProgramTable> tables;

    std::uint32_t first_working() const { return static_cast<std::uint32_t>(inputs) + constants.size(); }
};

// Throws std::invalid_argument for a slot out of range or read before it is written, for an input or constant that is
// written, for an unknown operation and for a table that does not exist or that cpp/functions refuses.
void check(const Program& program);

}  // namespace bellcrank
