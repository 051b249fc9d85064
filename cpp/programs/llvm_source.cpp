// The operations of programs as lines of LLVM IR.
#include "programs/llvm_source.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include "interruption/interruption.hpp"
#include "programs/cut_program.hpp"
#include "programs/llvm_text.hpp"
#include "programs/program.hpp"

namespace bellcrank {

class LlvmSteps : protected LlvmLines {
  protected:
    explicit LlvmSteps(int lanes) : lanes_(lanes), text_(lanes) {}

    // The line or lines of a step, whose operands are `operand_`, under the number of its value.
    void write_step(const Instruction& step, std::uint32_t value) {
        const std::string& a = operand_[0];
        const std::string& b = operand_[1];
        switch (step.op) {
            case ProgramOp::copy:
                return define(value, "bitcast ", text_.type(), " ", a, " to ", text_.type());
            case ProgramOp::negate:
                return define(value, "fneg ", text_.type(), " ", a);
            case ProgramOp::add:
                return binary(value, "fadd");
            case ProgramOp::subtract:
                return binary(value, "fsub");
            case ProgramOp::multiply:
                return binary(value, "fmul");
            case ProgramOp::divide:
                return binary(value, "fdiv");
            case ProgramOp::multiply_add:
                return fused(value, false, false);
            case ProgramOp::multiply_sub:
                return fused(value, false, true);
            case ProgramOp::negate_multiply_add:
                return fused(value, true, false);
            case ProgramOp::negate_multiply_sub:
                return fused(value, true, true);
            case ProgramOp::square_root:
                return intrinsic(value, "sqrt");
            case ProgramOp::absolute:
                return intrinsic(value, "fabs");
            case ProgramOp::floor:
                return intrinsic(value, "floor");
            case ProgramOp::sine:
            case ProgramOp::cosine:
            case ProgramOp::sine_cosine:
                return sine_cosine(step, value);
            case ProgramOp::minimum:
                return chosen(value, "olt", b, a, b, a);
            case ProgramOp::maximum:
                return chosen(value, "olt", a, b, b, a);
            case ProgramOp::less:
                return chosen(value, "olt", a, b, text_.constant(1.0), text_.constant(0.0));
            case ProgramOp::less_equal:
                return chosen(value, "ole", a, b, text_.constant(1.0), text_.constant(0.0));
            case ProgramOp::select:
                return chosen(value, "une", a, text_.constant(0.0), b, operand_[2]);
            case ProgramOp::sign:
                return sign(value);
            default:
                return call(step, value);
        }
    }

    int lanes_;
    LlvmText text_;
    LlvmText::Needs needs_;  // of what has been written
    std::string operand_[3];
    std::uint64_t pointers_ = 0, conditions_ = 0;

  private:
    // ±a b ± c in one rounding.
    void fused(std::uint32_t value, bool minus_product, bool minus_c) {
        const std::string number = std::to_string(value), &type = text_.type();
        std::string b = operand_[1], c = operand_[2];
        if (minus_product) line("%b", number, " = fneg ", type, " ", std::exchange(b, "%b" + number));
        if (minus_c) line("%c", number, " = fneg ", type, " ", std::exchange(c, "%c" + number));
        define(value, "call ", type, " @llvm.fma.", text_.suffix(), "(", type, " ", operand_[0], ", ", type, " ", b,
               ", ", type, " ", c, ")");
    }

    void binary(std::uint32_t value, const char* what) {
        define(value, what, " ", text_.type(), " ", operand_[0], ", ", operand_[1]);
    }

    void intrinsic(std::uint32_t value, const char* name) {
        define(value, "call ", text_.type(), " @llvm.", name, ".", text_.suffix(), "(", text_.type(), " ", operand_[0],
               ")");
    }

    // a ? yes : no, where a compares two operands.
    void chosen(std::uint32_t value, const char* comparison, const std::string& left, const std::string& right,
                const std::string& yes, const std::string& no) {
        const std::string number = std::to_string(value), &type = text_.type(), &bits = text_.condition_type();
        line("%t", ++conditions_, " = fcmp ", comparison, " ", type, " ", left, ", ", right);
        define(value, "select ", bits, " %t", conditions_, ", ", type, " ", yes, ", ", type, " ", no);
    }

    void sign(std::uint32_t value) {
        // The sign of what is not positive first, under a name of its own.
        const std::string zero = text_.constant(0.0), below = "%n" + std::to_string(value);
        const std::string &type = text_.type(), &bits = text_.condition_type();
        line("%t", ++conditions_, " = fcmp olt ", type, " ", operand_[0], ", ", zero);
        line(below, " = select ", bits, " %t", conditions_, ", ", text_.typed(-1.0), ", ", type, " ", zero);
        chosen(value, "ogt", operand_[0], zero, text_.constant(1.0), below);
    }

    std::string call_address(std::size_t place) {
        line("%p", ++pointers_, " = getelementptr i8, ptr %calls, i64 ", std::uint64_t(place));
        line("%f", pointers_, " = load ptr, ptr %p", pointers_, ", align 8");
        return "ptr %f" + std::to_string(pointers_);
    }

    void sine_cosine(const Instruction& step, std::uint32_t value) {
        needs_.sine_cosine = true;
        const std::string& type = text_.type();
        const std::string pair = "{ " + type + ", " + type + " }", number = std::to_string(value);
        line("%y", number, " = call ", pair, " @sine_cosine_", std::uint64_t(lanes_), "(", type, " ", operand_[0],
             ", ptr %calls)");
        define(value, "extractvalue ", pair, " %y", number, step.op == ProgramOp::cosine ? ", 1" : ", 0");
        if (step.op == ProgramOp::sine_cosine) define(value + 1, "extractvalue ", pair, " %y", number, ", 1");
    }

    void call(const Instruction& step, std::uint32_t value) {
        const std::string& type = text_.type();
        if (step.op == ProgramOp::table) {
            needs_.table = true;
            const std::string f = call_address(LlvmText::table_at());
            define(value, "call ", type, " @call_table(", type, " ", operand_[0], ", ", f, ", ptr %calls, i32 ",
                   std::uint64_t(step.b), ", i32 ", std::uint64_t(step.c), ")");
        } else if (op_operands(step.op) == 2) {
            needs_.binary = true;
            const std::string f = call_address(LlvmText::binary_at(step.op));
            define(value, "call ", type, " @call_binary(", type, " ", operand_[0], ", ", type, " ", operand_[1], ", ",
                   f, ")");
        } else {
            needs_.unary = true;
            const std::string f = call_address(LlvmText::unary_at(step.op));
            define(value, "call ", type, " @call_unary(", type, " ", operand_[0], ", ", f, ")");
        }
    }
};

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
        // The C library, which rounds or multiplies and adds where the processor has no instruction for it, is called
        // as other modules are (below).
        put("!llvm.module.flags = !{!0}\n!0 = !{i32 7, !\"RtLibUseGOT\", i32 1}\n");
        modules_.push_back(std::move(out_));
        out_.clear();
        needs_ = {};
    }

    // Modules may lie further apart in memory than a call reaches, which is 2 GB. So calls from one to another load the
    // address from a table, for which there is room beside the code, instead of jumping by a distance.
    void write_entry() {
        const int here = (cut_.pieces() - 1) / options_.functions * options_.functions;
        for (int piece = 0; piece < here; ++piece) {
            put("declare void @piece");
            put(std::uint64_t(piece));
            put("(ptr, ptr, ptr, ptr) nounwind nonlazybind\n");
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
