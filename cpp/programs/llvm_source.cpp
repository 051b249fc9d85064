#include "programs/llvm_source.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "interruption/interruption.hpp"
#include "programs/cut_program.hpp"
#include "programs/llvm_steps.hpp"

namespace bellcrank {

namespace {

constexpr const char* kParameters =
    "(ptr noalias readonly %in, ptr noalias %out, ptr noalias %work, ptr noalias readonly %calls) nounwind {\n";
constexpr const char* kArguments = "(ptr noalias %in, ptr noalias %out, ptr noalias %work, ptr noalias %calls)\n";

bool is_angle(ProgramOp op) { return op == ProgramOp::sine || op == ProgramOp::cosine || op == ProgramOp::sine_cosine; }

class Writer : LlvmSteps {
  public:
    Writer(const Program& program, const LlvmOptions& options)
        : LlvmSteps(options.lanes),
          program_(program),
          options_(options),
          cut_(program, options.operations),
          loaded_input_(static_cast<std::size_t>(program.inputs), -1),
          loaded_value_(2 * program.instructions.size(), -1) {
        for (const double constant : program.constants) constants_.push_back(text_.constant(constant));
        out_.reserve(program.instructions.size() * 110 + 20000);
    }

    std::vector<std::string> run() {
        for (piece_ = 0; piece_ < cut_.pieces(); ++piece_) {
            look_for_interrupts();
            if (piece_ > 0 && piece_ % options_.functions == 0) end_module();
            write_piece();
        }
        write_entry();
        end_module();
        return std::move(modules_);
    }

  private:
    bool is_one_module() const { return cut_.pieces() <= options_.functions; }

    void end_module() {
        put(text_.helpers(needs_));
        LlvmText::Needs angles;
        angles.sine_cosine = true;
        if (needs_.angles) put(LlvmText(4).helpers(angles));
        if (options_.lanes != 1 && needs_.sine_cosine) put(LlvmText(1).helpers(angles));
        modules_.push_back(std::move(out_));
        out_.clear();
        needs_ = {};
    }

    void write_entry() {
        const int here = (cut_.pieces() - 1) / options_.functions * options_.functions;
        for (int piece = 0; piece < here; ++piece) {
            put("declare void @piece");
            put(std::uint64_t(piece));
            put("(ptr, ptr, ptr, ptr) nounwind\n");
        }
        put("define void @");
        put(options_.name);
        put(kParameters);
        for (int piece = 0; piece < cut_.pieces(); ++piece) line("call void @piece", std::uint64_t(piece), kArguments);
        for (std::size_t k = 0; k < cut_.outputs().size(); ++k) {
            if (cut_.outputs()[k] != CutProgram::kGiven) continue;
            const std::uint32_t slot = program_.outputs[k];
            if (slot < static_cast<std::uint32_t>(program_.inputs)) {
                load_from("in", slot, "%o", k);
                put_store("out", k, "%o" + std::to_string(k));
            } else {
                put_store("out", k, constants_[slot - static_cast<std::uint32_t>(program_.inputs)]);
            }
        }
        put("  ret void\n}\n");
    }

    void write_piece() {
        put(is_one_module() ? "define internal void @piece" : "define void @piece");
        put(std::uint64_t(piece_));
        put(kParameters);
        for (std::size_t i = cut_.begin(piece_); i < cut_.end(piece_); ++i) {
            if (const std::size_t angles = independent_angles(i); angles > 1) {
                write_angles(i, angles);
                i += angles - 1;
                continue;
            }
            const Instruction& step = program_.instructions[i];
            const std::uint32_t* values = cut_.operands(i);
            const std::uint32_t slots[3] = {step.a, step.b, step.c};
            for (int k = 0; k < op_operands(step.op); ++k) operand_[k] = operand(slots[k], values[k]);
            write_step(step, static_cast<std::uint32_t>(2 * i));
            keep_results(i);
        }
        put("  ret void\n}\n");
    }

    void keep_results(std::size_t i) {
        const Instruction& step = program_.instructions[i];
        keep(static_cast<std::uint32_t>(2 * i), step.out);
        if (step.op == ProgramOp::sine_cosine) keep(static_cast<std::uint32_t>(2 * i + 1), step.c);
    }

    // How many sines and cosines from instruction i on, at most four, do not need each other, in code for one point:
    // they are computed side by side.
    std::size_t independent_angles(std::size_t i) const {
        const std::size_t end = options_.lanes == 1 ? std::min(cut_.end(piece_), i + 4) : i;
        std::size_t next = i;
        while (next < end && is_angle(program_.instructions[next].op) &&
               (*cut_.operands(next) == CutProgram::kGiven || *cut_.operands(next) < 2 * i))
            ++next;
        return next - i;
    }

    void write_angles(std::size_t first, std::size_t count) {
        needs_.angles = needs_.sine_cosine = true;
        const std::string group = std::to_string(first);
        std::string angles = "undef";
        for (std::size_t lane = 0; lane < 4; ++lane) {
            const std::size_t i = first + std::min(lane, count - 1);
            const std::string next = "%g" + group + "_" + std::to_string(lane);
            const std::string angle = operand(program_.instructions[i].a, *cut_.operands(i));
            line(next, " = insertelement <4 x double> ", angles, ", double ", angle, ", i32 ", std::uint64_t(lane));
            angles = next;
        }
        const std::string pair = "{ <4 x double>, <4 x double> }", both = "%both" + group;
        line(both, " = call ", pair, " @sine_cosine_4(<4 x double> ", angles, ", ptr %calls)");
        line("%sines", group, " = extractvalue ", pair, " ", both, ", 0");
        line("%cosines", group, " = extractvalue ", pair, " ", both, ", 1");
        for (std::size_t lane = 0; lane < count; ++lane) {
            const ProgramOp op = program_.instructions[first + lane].op;
            const auto value = static_cast<std::uint32_t>(2 * (first + lane));
            const std::string from = "extractelement <4 x double> ", at = group + ", i32 " + std::to_string(lane);
            define(value, from, op == ProgramOp::cosine ? "%cosines" : "%sines", at);
            if (op == ProgramOp::sine_cosine) define(value + 1, from, "%cosines", at);
            keep_results(first + lane);
        }
    }

    // The name of an operand, loaded where this piece has not met it yet.
    std::string operand(std::uint32_t slot, std::uint32_t value) {
        if (value == CutProgram::kGiven) {
            const auto inputs = static_cast<std::uint32_t>(program_.inputs);
            if (slot >= inputs) return constants_[slot - inputs];
            if (loaded_input_[slot] != piece_) load_from("in", slot, "%i", slot);
            loaded_input_[slot] = piece_;
            return "%i" + std::to_string(slot);
        }
        if (loaded_value_[value] != piece_) load_from("work", slot, "%v", value);
        loaded_value_[value] = piece_;
        return "%v" + std::to_string(value);
    }

    void load_from(const char* array, std::uint64_t place, const char* prefix, std::uint64_t number) {
        line("%p", ++pointers_, " = getelementptr ", text_.type(), ", ptr %", array, ", i64 ", place);
        line(prefix, number, " = load ", text_.type(), ", ptr %p", pointers_, ", align 8");
    }

    void put_store(const char* array, std::uint64_t place, const std::string& value) {
        line("%p", ++pointers_, " = getelementptr ", text_.type(), ", ptr %", array, ", i64 ", place);
        line("store ", text_.type(), " ", value, ", ptr %p", pointers_, ", align 8");
    }

    void keep(std::uint32_t value, std::uint32_t slot) {
        loaded_value_[value] = piece_;
        const std::string name = "%v" + std::to_string(value);
        if (cut_.crosses(value)) put_store("work", slot, name);
        for (int k = cut_.first_output(value); k >= 0; k = cut_.next_output(k))
            put_store("out", static_cast<std::uint64_t>(k), name);
    }

    const Program& program_;
    const LlvmOptions& options_;
    CutProgram cut_;
    std::vector<std::string> constants_;
    std::vector<int> loaded_input_, loaded_value_;
    std::vector<std::string> modules_;
    int piece_ = 0;
};

}  // namespace

std::vector<std::string> llvm_source(const Program& program, const LlvmOptions& options) {
    if (options.lanes != 1 && options.lanes != 4 && options.lanes != 8)
        throw std::invalid_argument("native code has 1, 4 or 8 lanes");
    return Writer(program, options).run();
}

}  // namespace bellcrank
