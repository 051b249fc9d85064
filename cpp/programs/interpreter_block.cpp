// The interpreter over a block of points: each instruction is a loop over the points, which vectorises.
#include <algorithm>
#include <bit>
#include <cmath>

#include "programs/interpreter.hpp"
#include "programs/sine_cosine.hpp"

// Operands are slots of the same workspace: equal or apart, never shifted against each other.
#if defined(__clang__)
#define BELLCRANK_POINTS _Pragma("clang loop vectorize(assume_safety)") for (int i = 0; i < kPoints; ++i)
#else
#define BELLCRANK_POINTS _Pragma("GCC ivdep") for (int i = 0; i < kPoints; ++i)
#endif

namespace bellcrank {

namespace {

constexpr int kPoints = Interpreter::kBlock;

std::uint64_t sign_mask(std::uint32_t last_bit) { return static_cast<std::uint64_t>(last_bit) << 63; }

double masked(double x, std::uint64_t mask) { return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) ^ mask); }

void sine_cosine_block(const double* a, double* sine, double* cosine, const ProgramTables& calls) {
    double s[kPoints], c[kPoints];
    bool all_within = true;
    for (int i = 0; i < kPoints; ++i) all_within &= within_sine_bound(a[i]);
    if (all_within) {
        for (int i = 0; i < kPoints; ++i) {
            const SineCosine both = bellcrank::sine_cosine(a[i]);
            s[i] = both.sine;
            c[i] = both.cosine;
        }
    } else {
        for (int i = 0; i < kPoints; ++i) {
            const SineCosine both = apply_sine_cosine(a[i], calls);
            s[i] = both.sine;
            c[i] = both.cosine;
        }
    }
    std::copy_n(s, kPoints, sine);
    if (cosine != nullptr) std::copy_n(c, kPoints, cosine);
}

// The operations that no vector instruction does.
void call_block(const Instruction& step, double* s, const ProgramTables& calls) {
    const double *a = s + std::size_t{step.a} * kPoints, *b = s + std::size_t{step.b} * kPoints;
    double* out = s + std::size_t{step.out} * kPoints;
    for (int i = 0; i < kPoints; ++i)
        out[i] = step.op == ProgramOp::table ? calls.table(&calls, step.b, step.c, a[i])
                                             : apply_operation(step.op, a[i], b[i], calls);
}

void run_step(const Instruction& step, double* s, const ProgramTables& calls) {
    const auto at = [s](std::uint32_t slot) { return s + std::size_t{slot} * kPoints; };
    const double* a = at(step.a);
    double* out = at(step.out);
    switch (step.op) {
        case ProgramOp::divide: {
            const double* b = at(step.b);
            BELLCRANK_POINTS out[i] = a[i] / b[i];
            break;
        }
        case ProgramOp::square_root:
            BELLCRANK_POINTS out[i] = std::sqrt(a[i]);
            break;
        case ProgramOp::sine_cosine:
            sine_cosine_block(a, out, at(step.c), calls);
            break;
        case ProgramOp::absolute:
            BELLCRANK_POINTS out[i] = std::fabs(a[i]);
            break;
        case ProgramOp::select: {
            const double *b = at(step.b), *c = at(step.c);
            BELLCRANK_POINTS out[i] = a[i] != 0.0 ? b[i] : c[i];
            break;
        }
        default:
            call_block(step, s, calls);
    }
}

}  // namespace

void Interpreter::run_fused_block(const Fused* step, const Fused* end, double* s) const {
    for (; step != end; ++step) {
        const std::uint32_t b_slot = step->b >> 1, c_slot = step->c >> 1;
        const std::uint64_t b_sign = sign_mask(step->b & 1), c_sign = sign_mask(step->c & 1);
        const double* a = s + std::size_t{step->a} * kPoints;
        const double* b = s + std::size_t{b_slot} * kPoints;
        const double* c = s + std::size_t{c_slot} * kPoints;
        double* out = s + std::size_t{step->out} * kPoints;
        if (kFastFma || (c_slot != minus_zero_ && b_slot != one_)) {
            BELLCRANK_POINTS out[i] = std::fma(a[i], masked(b[i], b_sign), masked(c[i], c_sign));
        } else if (c_slot == minus_zero_) {
            BELLCRANK_POINTS out[i] = masked(a[i] * b[i], b_sign);
        } else {
            BELLCRANK_POINTS out[i] = masked(a[i], b_sign) + masked(c[i], c_sign);
        }
    }
}

void Interpreter::run_block(const double* in, double* out, double* s, const ProgramTables& calls) const {
    std::copy_n(in, static_cast<std::size_t>(inputs_) * kPoints, s);
    double* fill = s + static_cast<std::size_t>(inputs_) * kPoints;
    for (const double constant : constants_) fill = std::fill_n(fill, kPoints, constant);
    std::fill_n(s + std::size_t{one_} * kPoints, kPoints, 1.0);
    std::fill_n(s + std::size_t{minus_zero_} * kPoints, kPoints, -0.0);

    const Fused* fused = fused_.data();
    for (const Stage& stage : stages_) {
        run_fused_block(fused, fused + stage.fused, s);
        fused += stage.fused;
        run_step(stage.then, s, calls);
    }
    run_fused_block(fused, fused + last_run_, s);
    for (const std::uint32_t slot : outputs_) out = std::copy_n(s + std::size_t{slot} * kPoints, kPoints, out);
}

}  // namespace bellcrank
