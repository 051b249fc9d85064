// Kernels on the dense symmetric matrix of a node: rows one after another, each padded to full lanes, of which the
// upper triangle counts.
#pragma once

#include <algorithm>

#include "spatial/lanes.hpp"

namespace bellcrank::front {

inline int padded(int size) { return (size + kLanes - 1) / kLanes * kLanes; }
// The first column of the lanes in which row i has its diagonal.
inline int first_column(int i) { return i / kLanes * kLanes; }

// row += factor · other, from a column on.
inline void add_scaled(double* row, double factor, const double* other, int from, int stride) {
    for (int c = from; c < stride; c += kLanes)
        store_lane(row + c, load_lane(row + c) + broadcast(factor) * load_lane(other + c));
}

inline double product(const double* a, const double* b, int from, int stride) {
    Lane sum = broadcast(0.0);
    for (int c = from; c < stride; c += kLanes) sum += load_lane(a + c) * load_lane(b + c);
    double total = 0.0;
    for (int l = 0; l < kLanes; ++l) total += lane_get(sum, l);
    return total;
}

// Subtracts u uᵀ inverse from the rows below row p, of `size`, u being row p.
inline void eliminate(double* front, int p, double inverse, int size, int stride) {
    const double* u = front + p * stride;
    for (int i = p + 1; i < size; ++i) add_scaled(front + i * stride, -inverse * u[i], u, first_column(i), stride);
}

// Adds rows r ≥ i of Σ_k J_k J_kᵀ in the columns of the front, J_k being component k of all rows.
inline void add_squares(double* front, int begin, int end, const double* components, int stride) {
    for (int i = begin; i < end; ++i) {
        double* row = front + i * stride;
        for (int c = first_column(i); c < stride; c += kLanes) {
            Lane sum = load_lane(row + c);
            for (int k = 0; k < 6; ++k)
                sum += broadcast(components[k * stride + i]) * load_lane(components + k * stride + c);
            store_lane(row + c, sum);
        }
    }
}

// Adds the block of a child's matrix at (i, j), rows × columns, i ≤ j, to the front at (p, q), which lies above the
// diagonal as it is or transposed.
inline void add_block(double* front, int stride, int p, int q, const double* matrix, int child_stride, int i, int j,
                      int rows, int columns) {
    for (int r = 0; r < rows; ++r) {
        const double* from = matrix + (i + r) * child_stride + j;
        const int first = i == j ? r : 0;
        if (p <= q)
            for (int c = first; c < columns; ++c) front[(p + r) * stride + q + c] += from[c];
        else
            for (int c = first; c < columns; ++c) front[(q + c) * stride + p + r] += from[c];
    }
}

}  // namespace bellcrank::front
