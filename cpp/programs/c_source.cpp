#include "programs/c_source.hpp"

#include <algorithm>
#include <cctype>

#include "programs/c_formulas.hpp"
#include "programs/cut_program.hpp"

namespace bellcrank {

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
