// Programs as portable C functions.
#include "programs/c_source.hpp"

#include <algorithm>
#include <cctype>
#include <span>
#include <stdexcept>
#include <string>

#include "programs/cut_program.hpp"
#include "programs/program.hpp"

namespace bellcrank {

// Operations of programs as C.

// The right side of an assignment; sine and cosine are not among the operations. fused: multiply-adds are fma().
// tables: what the names of the functions of tables begin with.
std::string c_formula(const Instruction& step, std::span<const std::string, 3> operands, bool fused,
                      const std::string& tables);
// Throws std::invalid_argument for what is no identifier.
void check_c_name(const std::string& name);

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
            if (step.c > 2) throw std::invalid_argument("C code has two derivatives of a tabulated function");
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

namespace {

// Compilers take more than in proportion to the length of a function.
constexpr int kOfOneFunction = 2000;

class FunctionWriter {
  public:
    FunctionWriter(const Program& program, const CFunction& as)
        : program_(program), as_(as), cut_(program, kOfOneFunction), several_(cut_.pieces() > 1) {}

    std::string text() {
        text_ = c_tables(program_, as_.name + "_table_");
        if (several_)
            for (piece_ = 0; piece_ < cut_.pieces(); ++piece_) {
                text_ += "\nstatic void " + as_.name + "_part_" + std::to_string(piece_) + "(" + as_.arguments +
                         ", double *work)\n{\n";
                text_ += unused() + "    (void)work;\n";
                write_steps();
                text_ += "}\n";
            }
        text_ += "\nvoid " + as_.name + "(" + as_.arguments + ")\n{\n";
        if (several_) {
            text_ += "    double work[" + std::to_string(program_.slots) + "];\n";
            std::string names;
            for (const std::string& name : as_.argument_names) names += name + ", ";
            for (int piece = 0; piece < cut_.pieces(); ++piece)
                text_ += "    " + as_.name + "_part_" + std::to_string(piece) + "(" + names + "work);\n";
        } else {
            text_ += unused();
            write_steps();
        }
        for (std::size_t k = 0; k < cut_.outputs().size(); ++k)
            if (cut_.outputs()[k] == CutProgram::kGiven)
                assign(k, given_name(program_.outputs[k]));
            else if (!several_)
                assign(k, value_name(cut_.outputs()[k]));
        return std::move(text_ += "}\n");
    }

  private:
    static std::string value_name(std::uint32_t value) { return "v" + std::to_string(value); }

    std::string given_name(std::uint32_t slot) const {
        const auto inputs = static_cast<std::uint32_t>(program_.inputs);
        return slot < inputs ? as_.inputs[slot] : c_decimal(program_.constants[slot - inputs]);
    }

    std::string unused() const {
        std::string text = "   ";
        for (const std::string& name : as_.argument_names) text += " (void)" + name + ";";
        return text + "\n";
    }

    void assign(std::size_t output, const std::string& value) {
        text_ += "    out[" + std::to_string(output) + "] = " + value + ";\n";
    }

    void write_steps() {
        for (std::size_t i = cut_.begin(piece_); i < cut_.end(piece_); ++i) {
            const Instruction& step = program_.instructions[i];
            const std::uint32_t slots[3] = {step.a, step.b, step.c};
            for (int k = 0; k < op_operands(step.op); ++k) operand_[k] = operand(slots[k], cut_.operands(i)[k]);
            const auto value = static_cast<std::uint32_t>(2 * i);
            if (step.op == ProgramOp::sine_cosine) {
                define(value, "sin(" + operand_[0] + ")", step.out);
                define(value + 1, "cos(" + operand_[0] + ")", step.c);
            } else if (step.op == ProgramOp::sine || step.op == ProgramOp::cosine) {
                define(value, (step.op == ProgramOp::sine ? "sin(" : "cos(") + operand_[0] + ")", step.out);
            } else {
                define(value, c_formula(step, operand_, false, as_.name + "_table_"), step.out);
            }
        }
    }

    std::string operand(std::uint32_t slot, std::uint32_t value) const {
        if (value == CutProgram::kGiven) return given_name(slot);
        const bool here = value / 2 >= cut_.begin(piece_);
        return here ? value_name(value) : "work[" + std::to_string(slot) + "]";
    }

    // Between functions values go by the workspace, and outputs straight to their places.
    void define(std::uint32_t value, const std::string& formula, std::uint32_t slot) {
        text_ += "    const double " + value_name(value) + " = " + formula + ";\n";
        if (!several_) return;
        if (cut_.crosses(value)) text_ += "    work[" + std::to_string(slot) + "] = " + value_name(value) + ";\n";
        for (int k = cut_.first_output(value); k >= 0; k = cut_.next_output(k)) assign(k, value_name(value));
    }

    const Program& program_;
    const CFunction& as_;
    CutProgram cut_;
    bool several_;
    std::string operand_[3], text_;
    int piece_ = 0;
};

}  // namespace

std::string c_function(const Program& program, const CFunction& as) {
    check_c_name(as.name);
    return FunctionWriter(program, as).text();
}

namespace {

constexpr int kOperations = 500;  // of one function

class CWriter {
  public:
    CWriter(const Program& program, const std::string& name)
        : program_(program), name_(name), cut_(program, kOperations) {}

    std::string source() {
        text_ =
            "/* Written by bellcrank. Compile with contraction off (-ffp-contract=off): multiply-adds are fma()\n"
            "   where they are meant. -march=native makes an instruction of fma(). */\n"
            "#include \"" +
            name_ + ".h\"\n\n#include <math.h>\n#include <stdint.h>\n#include <string.h>\n\n" +
            "#if defined(__GNUC__)\n#define OUTLINED __attribute__((noinline))\n#else\n#define OUTLINED\n#endif\n";
        text_ += c_runtime(program_);
        for (piece_ = 0; piece_ < cut_.pieces(); ++piece_) write_piece();
        text_ += "\nvoid " + name_ + "(const double *in, double *out, double *work) {\n    (void)in, (void)work;\n";
        for (int piece = 0; piece < cut_.pieces(); ++piece)
            text_ += "    piece_" + std::to_string(piece) + "(in, out, work);\n";
        for (std::size_t k = 0; k < cut_.outputs().size(); ++k)
            if (cut_.outputs()[k] == CutProgram::kGiven)
                text_ += "    out[" + std::to_string(k) + "] = " + given(program_.outputs[k]) + ";\n";
        text_ += "}\n";
        return std::move(text_);
    }

  private:
    std::string given(std::uint32_t slot) const {
        const auto inputs = static_cast<std::uint32_t>(program_.inputs);
        return slot < inputs ? "in[" + std::to_string(slot) + "]" : c_number(program_.constants[slot - inputs]);
    }

    void write_piece() {
        text_ += "\nstatic OUTLINED void piece_" + std::to_string(piece_) +
                 "(const double *restrict in, double *restrict out, double *restrict work) {\n"
                 "    (void)in, (void)out, (void)work;\n";
        for (std::size_t i = cut_.begin(piece_); i < cut_.end(piece_); ++i) {
            const Instruction& step = program_.instructions[i];
            const std::uint32_t slots[3] = {step.a, step.b, step.c};
            for (int k = 0; k < op_operands(step.op); ++k) operand_[k] = operand(slots[k], cut_.operands(i)[k]);
            const auto value = static_cast<std::uint32_t>(2 * i);
            if (step.op == ProgramOp::sine || step.op == ProgramOp::cosine || step.op == ProgramOp::sine_cosine) {
                write_sine_cosine(step, value);
            } else {
                text_ += "    const double v" + std::to_string(value) + " = " +
                         c_formula(step, operand_, true, "table_") + ";\n";
                keep(value, step.out);
            }
        }
        text_ += "}\n";
    }

    std::string operand(std::uint32_t slot, std::uint32_t value) const {
        if (value == CutProgram::kGiven) return given(slot);
        const bool here = value / 2 >= cut_.begin(piece_);
        return here ? "v" + std::to_string(value) : "work[" + std::to_string(slot) + "]";
    }

    void keep(std::uint32_t value, std::uint32_t slot) {
        const std::string is = "] = v" + std::to_string(value) + ";\n";
        if (cut_.crosses(value)) text_ += "    work[" + std::to_string(slot) + is;
        for (int k = cut_.first_output(value); k >= 0; k = cut_.next_output(k))
            text_ += "    out[" + std::to_string(k) + is;
    }

    void write_sine_cosine(const Instruction& step, std::uint32_t value) {
        const std::string first = std::to_string(value), second = std::to_string(value + 1);
        text_ += "    double v" + first + ", v" + second + ";\n";
        const bool turned = step.op == ProgramOp::cosine;  // the cosine is the first value, the sine is not wanted
        text_ += "    sine_cosine(" + operand_[0] + ", &v" + (turned ? second : first) + ", &v" +
                 (turned ? first : second) + ");\n";
        keep(value, step.out);
        if (step.op == ProgramOp::sine_cosine) keep(value + 1, step.c);
    }

    const Program& program_;
    const std::string& name_;
    CutProgram cut_;
    std::string operand_[3], text_;
    int piece_ = 0;
};

// "0 q1, 1 q2": without what would end a comment.
std::string listed(const std::string& what, const std::vector<std::string>& names) {
    if (names.empty()) return "";
    std::string text = "   " + what + ":";
    for (std::size_t k = 0; k < names.size(); ++k) {
        text += (k == 0 ? " " : k % 8 == 0 ? ",\n     " : ", ") + std::to_string(k) + " ";
        for (const char c : names[k]) text += c == '*' || c == '\n' ? ' ' : c;
    }
    return text + "\n";
}

std::string header(const Program& program, const std::string& name, const std::vector<std::string>& input_names,
                   const std::vector<std::string>& output_names) {
    std::string guard = name;
    for (char& c : guard) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    std::string text = "/* Written by bellcrank.\n" + listed("in", input_names) + listed("out", output_names) + "*/\n";
    text += "#ifndef " + guard + "_H\n#define " + guard + "_H\n\n";
    text += "#define " + guard + "_INPUTS " + std::to_string(program.inputs) + "\n";
    text += "#define " + guard + "_OUTPUTS " + std::to_string(program.outputs.size()) + "\n";
    text += "#define " + guard + "_WORK " + std::to_string(std::max(program.slots, 1)) + "\n\n";
    text += "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
    text += "/* out[" + guard + "_OUTPUTS] from in[" + guard + "_INPUTS]; work[" + guard +
            "_WORK] holds nothing before or after. They do not overlap. */\n";
    text += "void " + name + "(const double *in, double *out, double *work);\n\n";
    return text + "#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
}

}  // namespace

CSource c_source(const Program& program, const std::string& name, const std::vector<std::string>& input_names,
                 const std::vector<std::string>& output_names) {
    check_c_name(name);
    return {header(program, name, input_names, output_names), CWriter(program, name).source()};
}

}  // namespace bellcrank
