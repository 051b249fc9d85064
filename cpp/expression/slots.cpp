#include "expression/slots.hpp"

#include <array>
#include <bit>

#include "interruption/interruption.hpp"

namespace bellcrank {

std::uint32_t SlotProgram::constant(double value) {
    const auto number = static_cast<std::uint32_t>(constants_.size());
    const auto [found, is_new] = constant_of_.try_emplace(std::bit_cast<std::uint64_t>(value), kConstant + number);
    if (is_new) constants_.push_back(value);
    return found->second;
}

std::uint32_t SlotProgram::emit(ProgramOp op, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    const std::uint32_t value = new_value();
    steps_.push_back({op, value, a, b == kNoValue ? a : b, c == kNoValue ? a : c});
    return value;
}

std::pair<std::uint32_t, std::uint32_t> SlotProgram::emit_sine_cosine(std::uint32_t a) {
    const std::uint32_t sine = new_value(), cosine = new_value();
    steps_.push_back({ProgramOp::sine_cosine, sine, a, a, cosine});
    return {sine, cosine};
}

Program SlotProgram::finish(std::span<const std::uint32_t> outputs) const {
    Program program;
    program.inputs = static_cast<int>(inputs_);
    program.constants = constants_;
    const std::uint32_t first = program.first_working();

    constexpr std::uint32_t kToTheEnd = 0xffffffff;
    std::vector<std::uint32_t> last_use(computed_, 0);
    for (std::uint32_t i = 0; i < steps_.size(); ++i) {
        look_for_interrupts();
        const std::array<std::uint32_t, 3> operands = {steps_[i].a, steps_[i].b, steps_[i].c};
        for (int k = 0; k < op_operands(steps_[i].op); ++k)
            if (is_computed(operands[k])) last_use[operands[k] - inputs_] = i;
    }
    for (const std::uint32_t value : outputs)
        if (is_computed(value)) last_use[value - inputs_] = kToTheEnd;

    std::vector<std::uint32_t> slot_of(computed_), free_slots;
    std::uint32_t used = 0;
    const auto slot = [&](std::uint32_t value) {
        if (value < inputs_) return value;
        return value < kConstant ? slot_of[value - inputs_] : inputs_ + (value - kConstant);
    };
    const auto take = [&](std::uint32_t value, std::uint32_t at) {
        std::uint32_t& chosen = slot_of[value - inputs_];
        if (free_slots.empty()) {
            chosen = first + used++;
        } else {
            chosen = free_slots.back();
            free_slots.pop_back();
        }
        return std::pair(chosen, last_use[value - inputs_] <= at);
    };

    program.instructions.reserve(steps_.size());
    for (std::uint32_t i = 0; i < steps_.size(); ++i) {
        look_for_interrupts();
        Instruction step = steps_[i];
        const std::array<std::uint32_t, 3> operands = {step.a, step.b, step.c};
        const int count = op_operands(step.op);
        step.a = slot(operands[0]);
        if (step.op != ProgramOp::table) step.b = slot(operands[1]);
        if (step.op != ProgramOp::table && step.op != ProgramOp::sine_cosine) step.c = slot(operands[2]);
        for (int k = 0; k < count; ++k) {
            const bool again = (k > 0 && operands[k] == operands[0]) || (k > 1 && operands[k] == operands[1]);
            if (!again && is_computed(operands[k]) && last_use[operands[k] - inputs_] == i)
                free_slots.push_back(slot(operands[k]));
        }
        const auto [out, unused] = take(steps_[i].out, i);
        step.out = out;
        if (step.op == ProgramOp::sine_cosine) {
            const auto [cosine, cosine_unused] = take(steps_[i].c, i);
            step.c = cosine;
            if (cosine_unused) free_slots.push_back(cosine);
        }
        if (unused) free_slots.push_back(out);
        program.instructions.push_back(step);
    }
    program.slots = static_cast<int>(first + used);
    for (const std::uint32_t value : outputs) program.outputs.push_back(slot(value));
    return program;
}

}  // namespace bellcrank
