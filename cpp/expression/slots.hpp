// A program while it is written, over values of which each is computed once, and its slots at the end.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "programs/program.hpp"

namespace bellcrank {

inline constexpr std::uint32_t kNoValue = 0xffffffff;

class SlotProgram {
  public:
    // Values 0 … inputs − 1 are the inputs.
    explicit SlotProgram(std::uint32_t inputs) : inputs_(inputs) {}

    // The value of a constant; equal ones are one (0 and −0 are not).
    std::uint32_t constant(double value);
    // The value that the operation computes. b of a table is its number and c the derivative, as in Instruction.
    std::uint32_t emit(ProgramOp op, std::uint32_t a, std::uint32_t b = kNoValue, std::uint32_t c = kNoValue);
    std::pair<std::uint32_t, std::uint32_t> emit_sine_cosine(std::uint32_t a);

    // Slots by linear scan: a slot is free again after its value's last use.
    Program finish(std::span<const std::uint32_t> outputs) const;

  private:
    static constexpr std::uint32_t kConstant = 0x80000000;  // values from here on are constants
    bool is_computed(std::uint32_t value) const { return value >= inputs_ && value < kConstant; }
    std::uint32_t new_value() { return inputs_ + computed_++; }

    std::uint32_t inputs_, computed_ = 0;
    std::vector<double> constants_;
    std::unordered_map<std::uint64_t, std::uint32_t> constant_of_;
    std::vector<Instruction> steps_;  // over values
};

}  // namespace bellcrank
