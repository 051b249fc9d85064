// What is known of the operations, and the check of a program.
#include "programs/program.hpp"

#include <array>
#include <stdexcept>

#include "functions/function.hpp"

namespace bellcrank {

namespace {

struct OpFacts {
    const char* name;
    int operands;
};

constexpr std::array<OpFacts, kProgramOps> kFacts = {{
    {"copy", 1},
    {"negate", 1},
    {"add", 2},
    {"subtract", 2},
    {"multiply", 2},
    {"multiply_add", 3},
    {"multiply_sub", 3},
    {"negate_multiply_add", 3},
    {"negate_multiply_sub", 3},
    {"divide", 2},
    {"square_root", 1},
    {"sine", 1},
    {"cosine", 1},
    {"sine_cosine", 1},
    {"tangent", 1},
    {"arcsine", 1},
    {"arccosine", 1},
    {"arctangent", 1},
    {"arctangent_2", 2},
    {"hyperbolic_sine", 1},
    {"hyperbolic_cosine", 1},
    {"hyperbolic_tangent", 1},
    {"exponential", 1},
    {"logarithm", 1},
    {"power", 2},
    {"absolute", 1},
    {"sign", 1},
    {"minimum", 2},
    {"maximum", 2},
    {"floor", 1},
    {"less", 2},
    {"less_equal", 2},
    {"select", 3},
    {"table", 1},
}};
static_assert(kFacts.back().name != nullptr);

class Checker {
  public:
    explicit Checker(const Program& program) : program_(program) {}

    void run() {
        check_sizes();
        written_.assign(program_.slots, false);
        for (std::uint32_t i = 0; i < program_.first_working(); ++i) written_[i] = true;
        for (number_ = 0; number_ < program_.instructions.size(); ++number_)
            check_instruction(program_.instructions[number_]);
        for (const std::uint32_t slot : program_.outputs)
            if (slot >= written_.size() || !written_[slot]) fault("an output is slot ", slot, ", which holds nothing");
        for (const ProgramTable& table : program_.tables) Function(table.kind, table.params);
    }

  private:
    void check_sizes() const {
        if (program_.inputs < 0) throw std::invalid_argument("program: a negative number of inputs");
        if (program_.slots < 0 || static_cast<std::uint32_t>(program_.slots) < program_.first_working())
            throw std::invalid_argument("program: fewer slots than inputs and constants");
    }

    void check_instruction(const Instruction& step) {
        if (static_cast<int>(step.op) >= kProgramOps) fault("operation number ", static_cast<unsigned>(step.op), "");
        const std::array<std::uint32_t, 3> operands = {step.a, step.b, step.c};
        for (int k = 0; k < op_operands(step.op); ++k)
            if (operands[k] >= written_.size() || !written_[operands[k]])
                fault("reads slot ", operands[k], ", which holds nothing yet");
        if (step.op == ProgramOp::table) {
            if (step.b >= program_.tables.size()) fault("uses table ", step.b, ", which does not exist");
            if (step.c > 3) fault("asks for derivative ", step.c, " of a table");
        }
        write(step.out);
        if (step.op == ProgramOp::sine_cosine) {
            if (step.c == step.out) fault("writes slot ", step.c, " twice");
            write(step.c);
        }
    }

    void write(std::uint32_t slot) {
        if (slot >= written_.size()) fault("writes slot ", slot, ", which does not exist");
        if (slot < program_.first_working()) fault("writes slot ", slot, ", an input or a constant");
        written_[slot] = true;
    }

    [[noreturn]] void fault(const char* before, std::uint32_t value, const char* after) const {
        std::string where = "program: ";
        if (number_ < program_.instructions.size()) {
            const ProgramOp op = program_.instructions[number_].op;
            where = "program, instruction " + std::to_string(number_);
            if (static_cast<int>(op) < kProgramOps) where += std::string(" (") + op_name(op) + ")";
            where += ": ";
        }
        throw std::invalid_argument(where + before + std::to_string(value) + after);
    }

    const Program& program_;
    std::vector<bool> written_;
    std::size_t number_ = 0;
};

}  // namespace

const char* op_name(ProgramOp op) { return kFacts[static_cast<std::size_t>(op)].name; }

int op_operands(ProgramOp op) { return kFacts[static_cast<std::size_t>(op)].operands; }

void check(const Program& program) { Checker(program).run(); }

}  // namespace bellcrank
