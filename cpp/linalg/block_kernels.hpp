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
    // P ← P⁻¹ of a positive definite P far from singular. False, and P as it was, if a pivot may be below kSafePivot of
    // its scale; the last one of five rows may be smaller, though neither very small nor below `tolerance` of its
    // scale, and `smallest` is then its ratio.
    bool (*invert_regular)(double* P, double tolerance, const double* scale, double* smallest);
    // P ← P⁻¹ of a positive semidefinite P; rows with pivots not above their threshold are left out (rows and columns
    // of the inverse zero) and marked. pivot: thresholds in, pivots out. Returns the smallest kept pivot ratio, or
    // kSafePivot if none is below.
    double (*invert)(double* P, double* pivot, const double* scale, std::uint8_t* dropped);
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
