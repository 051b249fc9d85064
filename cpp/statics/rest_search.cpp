#include "statics/rest_search.hpp"

#include <algorithm>
#include <cmath>

#include "spatial/body_state.hpp"
#include "spatial/components.hpp"

namespace bellcrank {

namespace {

constexpr int kLeft = 50;  // rests left for lower ones

Eigen::VectorXd masses(const Model& model, const Metric& metric) {
    Eigen::VectorXd mass(metric.size());
    for (int b = 0; b < model.bodies(); ++b) {
        const double square = metric.length(b) * metric.length(b), m = model.mass[b];
        const Vec3& I = model.principal_inertia[b];
        mass.segment<6>(6 * b) << m, m, m, I.x / square, I.y / square, I.z / square;
    }
    return mass;
}

}  // namespace

RestSearch::RestSearch(std::shared_ptr<const Model> model, double t, const RestOptions& options)
    : model_(std::move(model)),
      t_(t),
      options_(options),
      branches_(*model_, t),
      metric_(*model_),
      loads_(*model_, branches_, t),
      rows_(*model_, branches_, metric_),
      stiffness_(*model_, branches_, metric_, loads_, rows_),
      mass_(masses(*model_, metric_)),
      newton_(stiffness_, rows_, mass_),
      normal_(stiffness_, rows_, mass_),
      record_(kTwist * (model_->bodies() + 1), 0.0),
      held_(rows_.rows(), 1),
      closed_(rows_.rows(), 0),
      gaps_(rows_.rows(), 0.0),
      none_(Vector::Zero(metric_.size())),
      no_rows_(Vector::Zero(rows_.rows())) {}

std::vector<double> RestSearch::coordinates() const {
    const std::vector<double> rest(record_.size(), 0.0);
    std::vector<double> values;
    for (size_t c = 0; c < model_->coordinates.size(); ++c)
        values.push_back(coordinate_motion(*model_, branches_, static_cast<int>(c), x_.data(), rest.data()).value);
    return values;
}

Rest RestSearch::find(std::vector<double>& x, const std::vector<double>& angles) {
    Rest rest;
    x_ = x;
    for (size_t c = 0; c < angles.size(); ++c) branches_.set(static_cast<int>(c), angles[c]);
    Vec3 low = pose_position(x.data(), 0), high = low;
    for (int b = 0; b < model_->bodies(); ++b) {
        const Vec3 p = pose_position(x.data(), b);
        low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
        high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
    }
    size_ = std::max(metric_.extent(), norm(high - low));
    move_to(x_);
    for (int r : rows_.one_sided()) held_[r] = 0;
    energy_ = loads_.potential(x_.data());
    rest.energy_before = energy_.value;
    int left = 0;
    while (true) {
        balance();
        if (is_balanced()) {
            rest.stability = judge();
            rest.found = true;
            const bool unstable = rest.stability.unstable > 0;
            if (!options_.leave_unstable || !unstable || ++left > kLeft || !leave()) break;
            rest.found = false;
        } else if (++rest.iterations > options_.iterations) {
            break;
        } else if (!improve()) {  // what is left may be too little to go by where the stiffness is negative
            const bool leaves = options_.leave_unstable && ++left <= kLeft && judge().unstable > 0 && leave();
            if (!leaves) break;
            shift_ = 0.0;
        }
    }
    rest.energy = energy_.value;
    rest.force = force_;
    rest.scale = scale_;
    rest.has_potential = loads_.have_potentials();
    for (int b = 0; b < model_->bodies(); ++b)
        if (rest.worst_body < 0 || left_.segment<6>(6 * b).norm() > left_.segment<6>(6 * rest.worst_body).norm())
            rest.worst_body = b;
    x = x_;
    return rest;
}

}  // namespace bellcrank
