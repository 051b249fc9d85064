// How rows of a Jacobian against one body are stored.
#pragma once

#include "spatial/algebra.hpp"

namespace bellcrank {

// Records of a row: three components and a 0.
inline constexpr int kRow = 4;

// The linear parts of the rows lie apart from the angular ones: the two bodies of a joint have the same up to a factor,
// so that they are stored once. Only the first `linear_rows` rows have a linear part.
struct BodyRows {
    int rows, linear_rows;
    int linear, angular;  // offsets of the first row's
    double scale;         // of the linear parts

    // Row r as (linear, angular).
    void read(const double* J, int r, double out[6]) const {
        for (int k = 0; k < 3; ++k) {
            out[k] = r < linear_rows ? scale * J[linear + kRow * r + k] : 0.0;
            out[3 + k] = J[angular + kRow * r + k];
        }
    }
};

}  // namespace bellcrank
