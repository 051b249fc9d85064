#include "programs/c_formulas.hpp"

#include <algorithm>
#include <cctype>
#include <stdexcept>

namespace bellcrank {

namespace {

const char* library_name(ProgramOp op) {
    switch (op) {
        case ProgramOp::square_root:
            return "sqrt";
        case ProgramOp::tangent:
            return "tan";
        case ProgramOp::arcsine:
            return "asin";
        case ProgramOp::arccosine:
            return "acos";
        case ProgramOp::arctangent:
            return "atan";
        case ProgramOp::arctangent_2:
            return "atan2";
        case ProgramOp::hyperbolic_sine:
            return "sinh";
        case ProgramOp::hyperbolic_cosine:
            return "cosh";
        case ProgramOp::hyperbolic_tangent:
            return "tanh";
        case ProgramOp::exponential:
            return "exp";
        case ProgramOp::logarithm:
            return "log";
        case ProgramOp::power:
            return "pow";
        case ProgramOp::absolute:
            return "fabs";
        case ProgramOp::floor:
            return "floor";
        default:
            throw std::logic_error("an operation without a function in the C library");
    }
}

}  // namespace

std::string c_formula(const Instruction& step, std::span<const std::string, 3> operands, bool fused,
                      const std::string& tables) {
    const std::string &a = operands[0], &b = operands[1], &c = operands[2];
    const auto multiply_add = [&](const std::string& first, const std::string& second) {
        if (!fused) return first + a + " * " + b + second + c;
        return "fma(" + first + a + ", " + b + ", " + (second == " - " ? "-" : "") + c + ")";
    };
    switch (step.op) {
        case ProgramOp::copy:
            return a;
        case ProgramOp::negate:
            return "-" + a;
        case ProgramOp::add:
            return a + " + " + b;
        case ProgramOp::subtract:
            return a + " - " + b;
        case ProgramOp::multiply:
            return a + " * " + b;
        case ProgramOp::divide:
            return a + " / " + b;
        case ProgramOp::multiply_add:
            return multiply_add("", " + ");
        case ProgramOp::multiply_sub:
            return multiply_add("", " - ");
        case ProgramOp::negate_multiply_add:
            return multiply_add("-", " + ");
        case ProgramOp::negate_multiply_sub:
            return multiply_add("-", " - ");
        case ProgramOp::sign:
            return a + " > 0.0 ? 1.0 : " + a + " < 0.0 ? -1.0 : 0.0";
        case ProgramOp::minimum:
            return b + " < " + a + " ? " + b + " : " + a;
        case ProgramOp::maximum:
            return a + " < " + b + " ? " + b + " : " + a;
        case ProgramOp::less:
            return a + " < " + b + " ? 1.0 : 0.0";
        case ProgramOp::less_equal:
            return a + " <= " + b + " ? 1.0 : 0.0";
        case ProgramOp::select:
            return a + " != 0.0 ? " + b + " : " + c;
        case ProgramOp::table:
            return tables + std::to_string(step.b) + "(" + std::to_string(step.c) + ", " + a + ")";
        default:
            return std::string(library_name(step.op)) + "(" + a + (op_operands(step.op) == 2 ? ", " + b : "") + ")";
    }
}

void check_c_name(const std::string& name) {
    const auto letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; };
    const auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
    if (name.empty() || !letter(name[0]) ||
        !std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || digit(c); }))
        throw std::invalid_argument("'" + name + "' is no name of a C function: letters, digits and _ make one");
}

}  // namespace bellcrank
