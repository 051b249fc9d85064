// Where a program is cut into functions, and which values cross the cuts: shared by all that write code.
#pragma once

#include <cstdint>
#include <vector>

#include "programs/program.hpp"

namespace bellcrank {

class CutProgram {
  public:
    // Pieces of at most so many operations.
    CutProgram(const Program& program, int operations);

    int pieces() const { return pieces_; }
    std::size_t begin(int piece) const { return static_cast<std::size_t>(piece) * operations_; }
    std::size_t end(int piece) const;

    // A value is what one instruction leaves in one slot; its number is that of the instruction, twice, and 1 more for
    // the cosine of a sine_cosine.
    static constexpr std::uint32_t kGiven = 0xffffffff;  // an input or a constant
    // The values that operands a, b, c of an instruction hold.
    const std::uint32_t* operands(std::size_t instruction) const { return &operand_values_[3 * instruction]; }
    // Whether a later piece reads the value, from the workspace then.
    bool crosses(std::uint32_t value) const { return crosses_[value]; }
    // The value that each output takes, kGiven for inputs and constants.
    const std::vector<std::uint32_t>& outputs() const { return outputs_; }
    // First of the outputs that take the value, −1 for none; and the next one with the same value.
    int first_output(std::uint32_t value) const { return first_output_[value]; }
    int next_output(int output) const { return next_output_[output]; }

  private:
    std::size_t operations_, count_;
    int pieces_;
    std::vector<std::uint32_t> operand_values_, outputs_;
    std::vector<bool> crosses_;
    std::vector<int> first_output_, next_output_;
};

}  // namespace bellcrank
