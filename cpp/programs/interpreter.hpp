// Evaluates a program at one point or at a block of points, at once and everywhere.
//
// Sums, products and multiply-adds are all (±a b) + (±c) with b = 1 or c = −0 put in where they lack one, which rounds
// as the operation itself does. A run of them is then a loop without branches, whose time per operation does not grow
// with the length of the program: a jump for every operation would be mispredicted once there are a few hundred.
#pragma once

#include <cstdint>
#include <vector>

#include "programs/program.hpp"
#include "programs/tables.hpp"

namespace bellcrank {

// Whether a fused multiply-add is one instruction; if not it is a call that takes many times as long as a sum.
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA) || defined(__aarch64__)
inline constexpr bool kFastFma = true;
#else
inline constexpr bool kFastFma = false;
#endif

class Interpreter {
  public:
    explicit Interpreter(const Program& program);

    // Doubles that the workspace must hold.
    std::size_t work_size() const { return work_size_; }
    void run(const double* in, double* out, double* work, const ProgramTables& calls) const;

    // A block of points side by side: in[input][kBlock], out[output][kBlock], work[work_size][kBlock].
    static constexpr int kBlock = 16;
    void run_block(const double* in, double* out, double* work, const ProgramTables& calls) const;

  private:
    // out = (±a b) + (±c); the signs are the last bits of b and c.
    struct Fused {
        std::uint32_t out, a, b, c;
    };
    // That many fused operations, then this one.
    struct Stage {
        std::uint32_t fused;
        Instruction then;
    };

    void append(const Instruction& step);
    void run_fused(const Fused* step, const Fused* end, double* slots) const;
    void run_fused_block(const Fused* step, const Fused* end, double* slots) const;

    std::size_t work_size_;
    int inputs_;
    std::uint32_t one_, minus_zero_;  // slots
    std::vector<double> constants_;
    std::vector<Fused> fused_;
    std::vector<Stage> stages_;
    std::uint32_t last_run_ = 0;  // fused operations after the last stage
    std::vector<std::uint32_t> outputs_;
};

// The operations that are no multiply-add, no select and no table.
double apply_operation(ProgramOp op, double a, double b, const ProgramTables& calls);
// Both, by the C library beyond the bound.
struct SineCosine;
SineCosine apply_sine_cosine(double a, const ProgramTables& calls);

}  // namespace bellcrank
