// Components e0..e3 of the relative quaternion q = (e0, v): what the lock formulation locks (methods.md).
//
// With ω in marker-1 axes, the fixed ones here (Tasora eq. 12 with ω in place of its conjugate),
//   q̇ = ½ ω q = ½ (−ω·v, e0 ω + ω×v),
// so that ė0 = −½ v·ω and ė_k = ½ (e0 i_k + v×i_k)·ω, i_k the axis k.
// Differentiated once more (Tasora eq. 14): q̈ = ½ ω̇ q + ½ ω q̇ = ½ ω̇ q + ¼ ω ω q, and ωω = −|ω|² for a pure quaternion:
//   q̈ = ½ ω̇ q − ¼ |ω|² q.
#include "joints/coordinate.hpp"

namespace bellcrank {

namespace {

void scalar_part(const RelativeMotion& m, std::span<const double>, CoordinateValue& out) {
    out.value = m.q.w;
    out.dr = {0.0, 0.0, 0.0};
    out.domega = {-0.5 * m.q.x, -0.5 * m.q.y, -0.5 * m.q.z};
    out.quadratic = -0.25 * dot(m.omega, m.omega) * m.q.w;
}

template <int axis>
void vector_part(const RelativeMotion& m, std::span<const double>, CoordinateValue& out) {
    const Vec3 i{axis == 0 ? 1.0 : 0.0, axis == 1 ? 1.0 : 0.0, axis == 2 ? 1.0 : 0.0};
    const Vec3 v{m.q.x, m.q.y, m.q.z};
    out.value = dot(v, i);
    out.dr = {0.0, 0.0, 0.0};
    out.domega = 0.5 * (m.q.w * i + cross(v, i));
    out.quadratic = -0.25 * dot(m.omega, m.omega) * out.value;
}

const CoordinateRegistration e0("e0", scalar_part);
const CoordinateRegistration e1("e1", vector_part<0>);
const CoordinateRegistration e2("e2", vector_part<1>);
const CoordinateRegistration e3("e3", vector_part<2>);

}  // namespace

}  // namespace bellcrank
