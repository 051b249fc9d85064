// Planar mechanisms: of six components of a body's velocity three are free.
#include <algorithm>
#include <cmath>

#include "bodies/bodies.hpp"
#include "spatial/body_state.hpp"
#include "spatial/lanes.hpp"

namespace bellcrank {

// Records of the two axes that span the plane, then of every body's axis of rotation.
void Bodies::span_plane() {
    const Vec3 n = model_->normal.back();
    const Vec3 aside = std::abs(n.x) < 0.5 ? Vec3{1, 0, 0} : Vec3{0, 1, 0};
    const Vec3 across = cross(n, aside), second = (1.0 / std::sqrt(dot(across, across))) * across;
    const auto append = [&](const Vec3& axis) { plane_.insert(plane_.end(), {axis.x, axis.y, axis.z, 0.0}); };
    append(cross(second, n));
    append(second);
    for (int b = 0; b < model_->bodies(); ++b) append(model_->normal[b]);
}

int Bodies::free_components() const { return is_planar() ? 3 * model_->bodies() : tangent_size(); }

// Per body the velocity along both axes of the plane and the spin about its normal.
void Bodies::compress(const double* u, double* components) const {
    if (!is_planar()) return System::compress(u, components);
    const Quad first = Quad::load(plane_.data()), second = Quad::load(plane_.data() + 4);
    const double* axis = plane_.data() + 8;
    const auto product = [](const Quad& a, const Quad& b) {
        Quad terms{};
        terms.add_product(a, b);
        return terms.sum();
    };
    for (int b = 0; b < model_->bodies(); ++b, components += 3, u += kTwist, axis += 4) {
        const Quad linear = Quad::load(u);
        components[0] = product(first, linear);
        components[1] = product(second, linear);
        components[2] = product(Quad::load(axis), Quad::load(u + 4));
    }
}

void Bodies::expand(const double* components, double* u) const {
    if (!is_planar()) return System::expand(components, u);
    const Quad first = Quad::load(plane_.data()), second = Quad::load(plane_.data() + 4);
    const double* axis = plane_.data() + 8;
    for (int b = 0; b < model_->bodies(); ++b, components += 3, u += kTwist, axis += 4) {
        Quad linear{}, angular{};
        linear.add_scaled(components[0], first);
        linear.add_scaled(components[1], second);
        angular.add_scaled(components[2], Quad::load(axis));
        linear.store(u);
        angular.store(u + 4);
    }
    std::fill_n(u, kTwist, 0.0);
}

// Without rows that hold a planar motion in its plane nothing but rounding leads out of it. That may grow, as what
// stands upright falls, unless it is taken away.
void Bodies::flatten(double* u) const {
    if (!is_planar()) return;
    const Vec3& n = model_->normal.back();
    for (int b = 0; b < model_->bodies(); ++b) {
        const Vec3 v = twist_linear(u, b), &axis = model_->normal[b];
        store_twist(u, b, v - dot(n, v) * n, dot(axis, twist_angular(u, b)) * axis);
    }
}

}  // namespace bellcrank
