// Dense kernels of the block LDLᵀ, one instance per block size: plain arrays, fixed bounds, fully unrolled.
#pragma once

#include <array>
#include <cstdint>

namespace bellcrank {

inline constexpr int kMaxBlock = 6;

// Below this fraction of its diagonal entry a pivot is reported, and formed with care.
inline constexpr double kSafePivot = 1e-2;

// Kernels of a block of K rows; the arrays are indexed by the size of the other block less one. P: K×K, U and W: K×N.
struct BlockKernels {
    // P = S⁻¹ of a positive semidefinite S (may be P); rows with pivots not above their threshold are left out (rows
    // and columns of P zero) and marked. pivot: thresholds in, pivots out if a row is left out. Returns the smallest
    // kept pivot ratio, or kSafePivot if none is below.
    double (*invert)(const double* S, double* pivot, const double* scale, bool all_enabled, std::uint8_t* dropped,
                     double* P);
    std::array<void (*)(const double* P, const double* U, double* W), kMaxBlock> multiply;         // W = P U
    std::array<void (*)(const double* W, int M, const double* U, double* T), kMaxBlock> subtract;  // T −= Wᵀ U
    std::array<void (*)(const double* P, double* U, double* T), kMaxBlock> eliminate;  // T −= Uᵀ P U, U ← P U
    std::array<void (*)(const double* W, const double* P, double* x, double* y), kMaxBlock> descend;  // forward, apply
    std::array<void (*)(const double* W, const double* x, double* y), kMaxBlock> forward;             // y −= Wᵀ x
    std::array<void (*)(const double* W, const double* y, double* x), kMaxBlock> backward;            // x −= W y
    void (*apply)(const double* P, double* x);                                                        // x ← P x
};

// The kernels of blocks of K = 1 … 6 rows.
const BlockKernels& block_kernels(int size);

}  // namespace bellcrank
