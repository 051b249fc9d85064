// Programs as portable C functions.
#include <algorithm>

#include "programs/c_formulas.hpp"
#include "programs/c_source.hpp"
#include "programs/cut_program.hpp"

namespace bellcrank {

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

}  // namespace bellcrank
