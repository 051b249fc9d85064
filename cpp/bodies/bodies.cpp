#include "bodies/bodies.hpp"

#include <algorithm>
#include <cmath>

#include "model/branches.hpp"
#include "model/directions.hpp"
#include "spatial/lanes.hpp"
#include "tangents/model_tangent.hpp"

namespace bellcrank {

namespace {

constexpr double kNegligible = 1e-8;  // errors of positions that are no more

}  // namespace

Bodies::Bodies(std::shared_ptr<const Model> model) : Bodies("bodies", model, order_of(*model)) {}

Bodies::Bodies(const char* name, std::shared_ptr<const Model> model, const RowOrder& order)
    : System(name, std::move(model)),
      free_motion_(*model_, branches_, contacts_),
      rows_(*model_, branches_, order),
      loads_(*model_, rows_),
      rigid_(rows_.rows(), 1),
      unilateral_(rows_.rows(), 0),
      scaled_(tangent_size(), 0.0),
      speed_(rows_.rows(), 0.0) {
    for (const BlockLayout& b : rows_.blocks()) {
        const Block& block = model_->blocks[b.block];
        std::fill_n(rigid_.begin() + b.row, b.size, block.compliance == 0.0);
        std::fill_n(unilateral_.begin() + b.row, b.size, block.unilateral);
    }
    for (int i = 0; i < static_cast<int>(model_->coordinates.size()); ++i)
        if (model_->coordinates[i].drifts()) drifting_.push_back(i);
    for (const RowDirection& direction : directions_of_rows(*model_))  // near its pole any angle turns faster
        if (!model_->coordinates[direction.coordinate].drifts()) drifting_.push_back(direction.coordinate);
    if (is_planar()) span_plane();
}

void Bodies::scale(const double* u, double* scaled) const {
    const std::span<const double> root = rows_.sqrt_mass();
    for (size_t k = 0; k < root.size(); ++k) scaled[k] = root[k] * u[k];
}

void Bodies::from_records(double t, const double* poses, const double* twists, bool continued, double* x, double* u) {
    std::copy_n(poses, configuration_size(), x);
    std::copy_n(twists, tangent_size(), u);
    if (!continued) branches_ = starting_branches(*model_, t, poses), contacts_.forget();
    follow_angles(x);
}

void Bodies::body_accelerations(double, const double*, const double*, const double* udot, double* records) {
    std::copy_n(udot, tangent_size(), records);
}

void Bodies::body_directions(double, const double*, const double*, const double*, const Directions& directions,
                             const double* rates, double* dx, double* du, double* dudot) {
    const size_t size = kDirections * static_cast<size_t>(tangent_size());
    const auto take = [&](const double* from, double* to) {
        from == nullptr ? std::fill_n(to, size, 0.0) : std::copy_n(from, size, to);
    };
    take(directions.x, dx);
    take(directions.u, du);
    take(rates, dudot);
}

void Bodies::share() {
    if (!is_shared_) share_loads();
    is_shared_ = true;
}

void Bodies::multipliers(double, const double*, const double*, const double*, double* out) {
    share();
    for (int r = 0; r < rows_.rows(); ++r) out[r] = loads_.multiplier(r);
}

bool Bodies::determines(int row) const {
    if (!is_shared_) refuse("what determines multipliers that were not asked for");
    return loads_.determines(row);
}

void Bodies::reactions(const double* x, const std::vector<Observation::Reaction>& which,
                       std::vector<ReactionWrench>& out) {
    share();
    loads_.wrenches(which, x, out);
}

void Bodies::violation(double t, const double* x, const double* u, double* position, double* velocity) {
    *position = *velocity = 0.0;
    if (rows_.rows() == 0) return;
    evaluate_rows(t, x);
    scale(u, scaled_.data());
    rows_.multiply(scaled_.data(), speed_.data());
    for (int r = 0; r < rows_.rows(); ++r) {
        if (!rigid_[r]) continue;
        const bool stop = unilateral_[r];
        const double c = rows_.C[r], rate = speed_[r] + rows_.Ct[r];
        *position = std::max(*position, stop ? -c : std::abs(c));
        if (!stop) *velocity = std::max(*velocity, std::abs(rate));
    }
}

int Bodies::worst_row() const {
    const auto worst = [&](const std::vector<double>& errors) {
        int row = -1;
        for (int r = 0; r < rows_.rows(); ++r) {
            const int s = rows_.storage_row(r);
            if (!rigid_[s] || (!enabled_.empty() && !enabled_[s])) continue;
            if (row < 0 || !(std::abs(errors[s]) <= std::abs(errors[rows_.storage_row(row)]))) row = r;
        }
        return row;
    };
    const int row = worst(rows_.C);
    // Where all positions hold, a rate did not.
    return row < 0 || !(std::abs(rows_.C[rows_.storage_row(row)]) <= kNegligible) ? row : worst(speed_);
}

int Bodies::first_non_finite_body(const double* x, const double* u) const {
    const auto finite = [](const double* p, size_t count) {
        Lane zeros = broadcast(0.0);  // or not a number
        for (size_t k = 0; k < count; k += kLanes) zeros += 0.0 * load_lane(p + k);
        double sum = 0.0;
        for (int l = 0; l < kLanes; ++l) sum += lane_get(zeros, l);
        return sum == 0.0;
    };
    if (finite(x, configuration_size()) && finite(u, tangent_size())) return -1;
    for (int b = 0; b < model_->bodies(); ++b) {
        double sum = 0.0;
        for (int k = 0; k < kPose; ++k) sum += x[kPose * b + k] + u[kTwist * b + k];
        if (!std::isfinite(sum)) return b;
    }
    return -1;
}

}  // namespace bellcrank
