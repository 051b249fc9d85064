// Cosines between axes: dot_ij = (axis i of marker 1)·(axis j of marker 2), the entries of the rotation matrix of q.
// dot_xy = 0 is the universal joint's row. Derivatives: matrix_jet in joints/jet.hpp.
#include "joints/jet.hpp"

namespace bellcrank {

namespace {

template <int i, int j>
void axis_cosine(const RelativeMotion& m, std::span<const double>, CoordinateValue& out) {
    assign(out, matrix_jet(m, rotation_matrix(m.q), i, j));
}

const CoordinateRegistration xx("dot_xx", axis_cosine<0, 0>), xy("dot_xy", axis_cosine<0, 1>),
    xz("dot_xz", axis_cosine<0, 2>), yx("dot_yx", axis_cosine<1, 0>), yy("dot_yy", axis_cosine<1, 1>),
    yz("dot_yz", axis_cosine<1, 2>), zx("dot_zx", axis_cosine<2, 0>), zy("dot_zy", axis_cosine<2, 1>),
    zz("dot_zz", axis_cosine<2, 2>);

}  // namespace

}  // namespace bellcrank
