#include "programs/interpreter.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "programs/sine_cosine.hpp"

namespace bellcrank {

namespace {

double signed_by(double x, std::uint32_t sign) {
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) ^ (static_cast<std::uint64_t>(sign) << 63));
}

}  // namespace

SineCosine apply_sine_cosine(double a, const ProgramTables& calls) {
    if (within_sine_bound(a)) return sine_cosine(a);
    return {calls.unary_of(ProgramOp::sine)(a), calls.unary_of(ProgramOp::cosine)(a)};
}

double apply_operation(ProgramOp op, double a, double b, const ProgramTables& calls) {
    switch (op) {
        case ProgramOp::divide:
            return a / b;
        case ProgramOp::square_root:
            return std::sqrt(a);
        case ProgramOp::sine:
            return apply_sine_cosine(a, calls).sine;
        case ProgramOp::cosine:
            return apply_sine_cosine(a, calls).cosine;
        case ProgramOp::arctangent_2:
        case ProgramOp::power:
            return calls.binary_of(op)(a, b);
        case ProgramOp::absolute:
            return std::fabs(a);
        case ProgramOp::sign:
            return a > 0.0 ? 1.0 : a < 0.0 ? -1.0 : 0.0;
        case ProgramOp::minimum:
            return b < a ? b : a;
        case ProgramOp::maximum:
            return a < b ? b : a;
        case ProgramOp::floor:
            return std::floor(a);
        case ProgramOp::less:
            return a < b ? 1.0 : 0.0;
        case ProgramOp::less_equal:
            return a <= b ? 1.0 : 0.0;
        default:
            return calls.unary_of(op)(a);
    }
}

Interpreter::Interpreter(const Program& program)
    : work_size_(static_cast<std::size_t>(program.slots) + 2),
      inputs_(program.inputs),
      one_(static_cast<std::uint32_t>(program.slots)),
      minus_zero_(one_ + 1),
      constants_(program.constants),
      outputs_(program.outputs) {
    if (work_size_ > std::size_t{1} << 31) throw std::invalid_argument("program: more than 2^31 slots");
    for (const Instruction& step : program.instructions) append(step);
}

void Interpreter::append(const Instruction& step) {
    const auto fuse = [&](std::uint32_t a, std::uint32_t b, bool minus_product, std::uint32_t c, bool minus_c) {
        fused_.push_back({step.out, a, b << 1 | (minus_product ? 1u : 0u), c << 1 | (minus_c ? 1u : 0u)});
        ++last_run_;
    };
    switch (step.op) {
        case ProgramOp::copy:
            return fuse(step.a, one_, false, minus_zero_, false);
        case ProgramOp::negate:
            return fuse(step.a, one_, true, minus_zero_, false);
        case ProgramOp::add:
            return fuse(step.a, one_, false, step.b, false);
        case ProgramOp::subtract:
            return fuse(step.a, one_, false, step.b, true);
        case ProgramOp::multiply:
            return fuse(step.a, step.b, false, minus_zero_, false);
        case ProgramOp::multiply_add:
            return fuse(step.a, step.b, false, step.c, false);
        case ProgramOp::multiply_sub:
            return fuse(step.a, step.b, false, step.c, true);
        case ProgramOp::negate_multiply_add:
            return fuse(step.a, step.b, true, step.c, false);
        case ProgramOp::negate_multiply_sub:
            return fuse(step.a, step.b, true, step.c, true);
        default:
            stages_.push_back({last_run_, step});
            if (op_operands(step.op) == 1 && step.op != ProgramOp::table) stages_.back().then.b = step.a;  // read too
            last_run_ = 0;
    }
}

void Interpreter::run_fused(const Fused* step, const Fused* end, double* s) const {
    for (; step != end; ++step) {
        const std::uint32_t b = step->b >> 1, c = step->c >> 1;
        const double minus_or_plus_c = signed_by(s[c], step->c & 1);
        if constexpr (kFastFma) {
            s[step->out] = std::fma(s[step->a], signed_by(s[b], step->b & 1), minus_or_plus_c);
        } else if (c == minus_zero_) {
            s[step->out] = signed_by(s[step->a] * s[b], step->b & 1);
        } else if (b == one_) {
            s[step->out] = signed_by(s[step->a], step->b & 1) + minus_or_plus_c;
        } else {
            s[step->out] = std::fma(s[step->a], signed_by(s[b], step->b & 1), minus_or_plus_c);
        }
    }
}

void Interpreter::run(const double* in, double* out, double* s, const ProgramTables& calls) const {
    std::copy_n(in, inputs_, s);
    std::copy(constants_.begin(), constants_.end(), s + inputs_);
    s[one_] = 1.0;
    s[minus_zero_] = -0.0;

    const Fused* fused = fused_.data();
    for (const Stage& stage : stages_) {
        run_fused(fused, fused + stage.fused, s);
        fused += stage.fused;
        const Instruction& step = stage.then;
        switch (step.op) {
            case ProgramOp::sine_cosine: {
                const SineCosine both = apply_sine_cosine(s[step.a], calls);
                s[step.out] = both.sine;
                s[step.c] = both.cosine;
                break;
            }
            case ProgramOp::select:
                s[step.out] = s[step.a] != 0.0 ? s[step.b] : s[step.c];
                break;
            case ProgramOp::table:
                s[step.out] = calls.table(&calls, step.b, step.c, s[step.a]);
                break;
            default:
                s[step.out] = apply_operation(step.op, s[step.a], s[step.b], calls);
        }
    }
    run_fused(fused, fused + last_run_, s);
    for (const std::uint32_t slot : outputs_) *out++ = s[slot];
}

}  // namespace bellcrank
