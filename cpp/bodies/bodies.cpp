#include "bodies/bodies.hpp"

#include <algorithm>
#include <cmath>

#include "model/branches.hpp"
#include "model/directions.hpp"
#include "spatial/lanes.hpp"

namespace bellcrank {

namespace {

constexpr double kNothing = 1e-6;  // of multipliers whose largest is one, that exert nothing together
constexpr double kHeld = 1e-8;     // errors of positions that are no more

}  // namespace

Bodies::Bodies(std::shared_ptr<const Model> model) : Bodies("bodies", model, order_of(*model)) {}

Bodies::Bodies(const char* name, std::shared_ptr<const Model> model, const RowOrder& order)
    : System(name, std::move(model)), free_motion_(*model_, branches_, contacts_), rows_(*model_, branches_, order) {
    const int n = tangent_size(), m = rows_.rows();
    for (auto* v : {&sqrt_mass_, &scaled_}) v->assign(n, 0.0);
    for (auto* v : {&shared_, &speed_}) v->assign(m, 0.0);
    for (int b = 0; b < model_->bodies(); ++b) {
        const Vec3& I = model_->principal_inertia[b];
        const double mass = model_->mass[b], diagonal[6] = {mass, mass, mass, I.x, I.y, I.z};
        for (int k = 0; k < 6; ++k) sqrt_mass_[kTwist * b + kComponent[k]] = std::sqrt(diagonal[k]);
    }
    rigid_.assign(m, 1);
    unilateral_.assign(m, 0);
    weight_.assign(m, 1.0);
    layout_of_.assign(model_->blocks.size(), 0);
    for (size_t i = 0; i < rows_.blocks().size(); ++i) {
        const BlockLayout& b = rows_.blocks()[i];
        const Block& block = model_->blocks[b.block];
        layout_of_[b.block] = static_cast<int>(i);
        for (int k = 0; k < b.size; ++k) {
            rigid_[b.row + k] = block.compliance == 0.0;
            unilateral_[b.row + k] = block.unilateral;
            weight_[b.row + k] = load_per_multiplier(*model_, model_->rows[block.row_begin + k]);
        }
    }
    for (int i = 0; i < static_cast<int>(model_->coordinates.size()); ++i)
        if (model_->coordinates[i].drifts()) drifting_.push_back(i);
    for (const RowDirection& direction : directions_of_rows(*model_))  // near its pole any angle turns faster
        if (!model_->coordinates[direction.coordinate].drifts()) drifting_.push_back(direction.coordinate);
    if (is_planar()) span_plane();
}

void Bodies::scale(const double* u, double* scaled) const {
    for (size_t k = 0; k < sqrt_mass_.size(); ++k) scaled[k] = sqrt_mass_[k] * u[k];
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

void Bodies::share() {
    if (!is_shared_) share_loads();
    is_shared_ = true;
}

void Bodies::multipliers(double, const double*, const double*, const double*, double* out) {
    share();
    for (int r = 0; r < rows_.rows(); ++r) out[r] = shared_[rows_.storage_row(r)];
}

bool Bodies::determines(int row) const {
    if (!is_shared_) refuse("what determines multipliers that were not asked for");
    const int r = rows_.storage_row(row);
    return std::all_of(nothing_.begin(), nothing_.end(),
                       [&](const auto& w) { return std::abs(weight_[r] * w[r]) <= kNothing; });
}

void Bodies::reactions(const double* x, const std::vector<Observation::Reaction>& which,
                       std::vector<ReactionWrench>& out) {
    share();
    out.resize(which.size());
    for (size_t i = 0; i < which.size(); ++i) {
        wrench_of(which[i], x, shared_, out[i].wrench);
        out[i].unique[0] = out[i].unique[1] = true;
        for (const std::vector<double>& w : nothing_) {
            double free[6];
            wrench_of(which[i], x, w, free);
            if (norm(load(free)) > kNothing) out[i].unique[0] = false;
            if (norm(load(free + 3)) > kNothing) out[i].unique[1] = false;
        }
    }
}

// Wrench of the blocks on body 2 of the pair about marker 2's origin. The ground has no Jacobian of its own: what acts
// on it is the opposite of what acts on the others.
void Bodies::wrench_of(const Observation::Reaction& reaction, const double* x, const std::vector<double>& lambda,
                       double* wrench) const {
    const MarkerPair& pair = model_->pairs[reaction.pair];
    const int second = pair.body[1];
    const Vec3 point = pose_position(x, second) + rotation_matrix(pose_rotation(x, second)) * pair.offset[1];
    Vec3 force{0, 0, 0}, moment{0, 0, 0};
    for (int block : reaction.blocks) {
        const BlockLayout& b = rows_.blocks()[layout_of_[block]];
        for (const BlockSide& side : rows_.sides(b)) {
            if (side.body == model_->ground() || (second != model_->ground() && side.body != second)) continue;
            double f[6] = {};
            for (int r = 0; r < b.size; ++r) {
                double row[6];
                side.rows.read(rows_.J.data(), r, row);
                for (int k = 0; k < 6; ++k) f[k] += row[k] * lambda[b.row + r];
            }
            for (int k = 0; k < 6; ++k) f[k] *= sqrt_mass_[kTwist * side.body + kComponent[k]];
            const Vec3 arm = pose_position(x, side.body) - point;
            const Vec3 n = rotation_matrix(pose_rotation(x, side.body)) * load(f + 3) + cross(arm, load(f));
            const double sign = second == model_->ground() ? -1.0 : 1.0;
            force += sign * load(f);
            moment += sign * n;
        }
    }
    store(wrench, moment);
    store(wrench + 3, force);
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
    return row < 0 || !(std::abs(rows_.C[rows_.storage_row(row)]) <= kHeld) ? row : worst(speed_);
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
