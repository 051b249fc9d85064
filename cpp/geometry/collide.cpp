#include "geometry/collide.hpp"

#include <stdexcept>
#include <string>

#include "geometry/pairs.hpp"
#include "geometry/tyre.hpp"

namespace bellcrank {

namespace {

void refuse(const Shape& a, const Pose&, const Shape& b, const Pose&, double, ContactManifold&) {
    throw std::invalid_argument(std::string("contact between a ") + name_of(a.kind) + " and a " + name_of(b.kind) +
                                " is not computed; planes and height fields do not touch each other, nor do tyres");
}

struct MethodTable {
    PairMethod of[kShapeKinds][kShapeKinds];

    constexpr MethodTable() : of() {
        using K = ShapeKind;
        for (int a = 0; a < kShapeKinds; ++a)
            for (int b = 0; b < kShapeKinds; ++b) {
                const auto first = static_cast<K>(a), second = static_cast<K>(b);
                const bool convex = first <= K::hull;
                of[a][b] = second == K::tyre && first != K::tyre         ? tyre_on
                           : first == K::mesh && is_surface(second)      ? surface_surface
                           : first == K::plane && second == K::mesh      ? plane_mesh
                           : !convex                                     ? refuse
                           : second == K::plane && first <= K::hull      ? convex_plane
                           : is_surface(second) && first == K::sphere    ? sphere_surface
                           : is_surface(second)                          ? convex_surface
                           : first == K::sphere && second == K::sphere   ? sphere_sphere
                           : first == K::sphere && second != K::hull     ? sphere_convex
                           : first == K::capsule && second == K::capsule ? capsule_capsule
                           : first == K::box && second == K::box         ? box_box
                                                                         : convex_convex;
            }
    }
};
constexpr MethodTable kMethods;

}  // namespace

void collide(const Shape& a, const Pose& pose_a, const Shape& b, const Pose& pose_b, double reach,
             ContactManifold& out) {
    out.clear();
    if (a.kind <= b.kind)
        return kMethods.of[static_cast<int>(a.kind)][static_cast<int>(b.kind)](a, pose_a, b, pose_b, reach, out);
    kMethods.of[static_cast<int>(b.kind)][static_cast<int>(a.kind)](b, pose_b, a, pose_a, reach, out);
    for (ContactPoint& p : out.points) {
        p.normal = -p.normal, p.tilt = -p.tilt;
        p.feature = p.feature << 32 | p.feature >> 32;
    }
}

double least_gap(const ContactManifold& manifold) {
    double least = Bounds::kInfinity;
    for (const ContactPoint& p : manifold.points) least = std::min(least, p.gap);
    return least;
}

}  // namespace bellcrank
