// Cosines between axes: dot_ij = (axis i of marker 1)·(axis j of marker 2), the entries of the rotation matrix of q.
// dot_xy = 0 is the universal joint's row.
#include "joints/formula.hpp"

namespace bellcrank {

namespace {

template <int i, int j>
constexpr auto kCosine = [](auto&& pose, auto) { return pose.cosine(i, j); };

const CoordinateRegistration xx(kind_of<kCosine<0, 0>>("dot_xx")), xy(kind_of<kCosine<0, 1>>("dot_xy")),
    xz(kind_of<kCosine<0, 2>>("dot_xz")), yx(kind_of<kCosine<1, 0>>("dot_yx")), yy(kind_of<kCosine<1, 1>>("dot_yy")),
    yz(kind_of<kCosine<1, 2>>("dot_yz")), zx(kind_of<kCosine<2, 0>>("dot_zx")), zy(kind_of<kCosine<2, 1>>("dot_zy")),
    zz(kind_of<kCosine<2, 2>>("dot_zz"));

}  // namespace

}  // namespace bellcrank
