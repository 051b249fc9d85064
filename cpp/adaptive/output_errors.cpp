// Errors of accelerations of single points: bounds by how easily these move, and what they are.
#include <algorithm>
#include <cmath>

#include "adaptive/dynamics.hpp"
#include "spatial/inertia.hpp"

namespace bellcrank {

bool AdaptiveDynamics::is_all_free() const {
    const auto moves = [&](int link) { return linkage_->links[link].motion.freedoms() > 0; };
    return std::count_if(free_.begin(), free_.end(), moves) == movable_;
}

// Of a point against forces there, or of its body against moments.
double AdaptiveDynamics::mobility(int body, const Vec3& point, bool turns) {
    // Accelerations of H and F differ along what stops hold too, where others hold in F.
    if (assembly_->bars(HybridAssembly::System::judging)) {
        assembly_->unbar();
        assembly_->update_loads();
        assembly_->loosen();
    }
    const int link = linkage_->link_of[body];
    const auto along = [&](const Vec3& way) {
        return assembly_->mobility_along(link, turns ? stacked(way, {}) : stacked(cross(point, way), way));
    };
    const Vec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    Mat3 found{};
    for (int i = 0; i < 3; ++i) found.m[4 * i] = along(axes[i]);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < i; ++j)
            found.m[3 * i + j] = found.m[3 * j + i] =
                0.5 * (along(axes[i] + axes[j]) - found.m[4 * i] - found.m[4 * j]);
    const Vec3 moments = principal_inertia(found).moments;
    return std::max({moments.x, moments.y, moments.z, 0.0});
}

double AdaptiveDynamics::point_error(int body, const Vec3& point) {
    return (std::sqrt(distance_) + rounding_ * std::sqrt(whole_)) * std::sqrt(mobility(body, point, false));
}

void AdaptiveDynamics::limit_outputs(std::vector<OutputLimit> outputs) {
    outputs_ = std::move(outputs);
    output_errors_.assign(outputs_.size(), 0.0);
    largest_output_errors_ = output_errors_;
    excess_ = 0.0;
}

// Velocities are those of both systems, and with them centripetal accelerations.
void AdaptiveDynamics::find_output_errors() {
    excess_ = 0.0;
    const bool is_exact = is_all_free();
    for (size_t i = 0; i < outputs_.size(); ++i) {
        const int link = linkage_->link_of[outputs_[i].body];
        double& error = output_errors_[i];
        error = 0.0;
        if (!is_exact) {
            const Twist lack = as_motion(assembly_->lack(-model_->gravity, link, rates_.data()));
            error = norm(lack.v + cross(lack.w, outputs_[i].point));
        }
        if (rounding_ > 0.0)
            error += rounding_ * std::sqrt(whole_) * std::sqrt(mobility(outputs_[i].body, outputs_[i].point, false));
        if (is_exact || error == 0.0) continue;
        excess_ = std::max(
            excess_, outputs_[i].error > 0.0 ? error / outputs_[i].error : std::numeric_limits<double>::infinity());
    }
}

// The distance at which all limits are kept, as far as can be told from the present one: errors of outputs fall with
// its root.
double AdaptiveDynamics::wanted() const {
    return excess_ > 0.0 ? std::min(allowed(), distance_ / (excess_ * excess_)) : allowed();
}

}  // namespace bellcrank
