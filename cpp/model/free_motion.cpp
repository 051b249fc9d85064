#include "model/free_motion.hpp"

#include <algorithm>
#include <numeric>

#include "model/forces.hpp"
#include "spatial/body_state.hpp"

namespace bellcrank {

FreeMotion::FreeMotion(const Model& model, const AngleBranches& branches, Contacts& contacts)
    : model_(model),
      branches_(branches),
      contacts_(contacts),
      elements_(has_element_forces(model)),
      all_(model.bodies()) {
    std::iota(all_.begin(), all_.end(), 0);
    for (int b = 0; b < model.bodies(); ++b) {
        const Vec3& I = model.principal_inertia[b];
        gyroscopic_.insert(gyroscopic_.end(), {(I.y - I.z) / I.x, (I.z - I.x) / I.y, (I.x - I.y) / I.z, 0.0});
        if (!elements_) continue;
        const double m = 1.0 / model.mass[b];
        inverse_.insert(inverse_.end(), {m, m, m, 0.0, 1.0 / I.x, 1.0 / I.y, 1.0 / I.z, 0.0});
    }
}

void FreeMotion::begin(double t, const double* x, const double* u, double* udot) const {
    double* ground = udot + kTwist * model_.ground();
    if (elements_) {
        std::fill(udot, ground, 0.0);
        add_element_forces(model_, branches_, contacts_, t, x, u, udot);
        for (size_t k = 0; k < inverse_.size(); ++k) udot[k] *= inverse_[k];
    }
    std::fill_n(ground, kTwist, 0.0);
}

void FreeMotion::finish(std::span<const int> bodies, const double* u, double* udot) const {
    elements_ ? finish<true>(bodies, u, udot) : finish<false>(bodies, u, udot);
}

// Gravity and, from Euler's equations in principal axes, −I⁻¹ (ω × Iω); in addition to what is there, or instead of it.
template <bool kAdds>
void FreeMotion::finish(std::span<const int> bodies, const double* u, double* udot) const {
    const Vec3 g = model_.gravity;
    for (const int b : bodies) {
        const double *w = u + kTwist * b + 4, *c = &gyroscopic_[4 * b];
        double* a = udot + kTwist * b;
        const auto put = [a](int k, double value) { a[k] = kAdds ? a[k] + value : value; };
        put(0, g.x), put(1, g.y), put(2, g.z), put(3, 0.0);
        put(4, c[0] * w[1] * w[2]), put(5, c[1] * w[2] * w[0]), put(6, c[2] * w[0] * w[1]), put(7, 0.0);
    }
}

}  // namespace bellcrank
