// The operations of programs as lines of LLVM IR.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "programs/llvm_lines.hpp"
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

}  // namespace bellcrank
