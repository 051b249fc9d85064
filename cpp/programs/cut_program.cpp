#include "programs/cut_program.hpp"

#include <algorithm>
#include <array>

namespace bellcrank {

CutProgram::CutProgram(const Program& program, int operations)
    : operations_(static_cast<std::size_t>(std::max(operations, 1))),
      count_(program.instructions.size()),
      pieces_(static_cast<int>((count_ + operations_ - 1) / operations_)),
      operand_values_(3 * count_, kGiven),
      crosses_(2 * count_, false),
      first_output_(2 * count_, -1),
      next_output_(program.outputs.size(), -1) {
    std::vector<std::uint32_t> holds(static_cast<std::size_t>(program.slots), kGiven);
    for (std::size_t i = 0; i < count_; ++i) {
        const Instruction& step = program.instructions[i];
        const std::array<std::uint32_t, 3> slots = {step.a, step.b, step.c};
        for (int k = 0; k < op_operands(step.op); ++k) {
            const std::uint32_t value = holds[slots[k]];
            operand_values_[3 * i + k] = value;
            if (value != kGiven && value / 2 / operations_ != i / operations_) crosses_[value] = true;
        }
        holds[step.out] = static_cast<std::uint32_t>(2 * i);
        if (step.op == ProgramOp::sine_cosine) holds[step.c] = static_cast<std::uint32_t>(2 * i + 1);
    }
    for (std::size_t k = program.outputs.size(); k-- > 0;) {
        const std::uint32_t value = holds[program.outputs[k]];
        outputs_.push_back(value);
        if (value == kGiven) continue;
        next_output_[k] = first_output_[value];
        first_output_[value] = static_cast<int>(k);
    }
    std::reverse(outputs_.begin(), outputs_.end());
}

std::size_t CutProgram::end(int piece) const { return std::min(count_, begin(piece) + operations_); }

}  // namespace bellcrank
