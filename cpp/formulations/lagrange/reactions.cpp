// What is asked of a state besides its acceleration: reactions, redundant rows, violation, the record of a frame.
#include <algorithm>
#include <cmath>

#include "formulations/lagrange.hpp"
#include "model/frame_writer.hpp"
#include "spatial/body_state.hpp"
#include "spatial/lanes.hpp"

namespace bellcrank {

namespace {

constexpr double kNothing = 1e-6;  // of multipliers whose largest is one, that exert nothing together
constexpr double kMet = 1e-8;      // errors of positions that are no more

Vec3 component3(const double* p) { return {p[0], p[1], p[2]}; }

void store(double* p, const Vec3& v) {
    p[0] = v.x;
    p[1] = v.y;
    p[2] = v.z;
}

}  // namespace

void Lagrange::multipliers(double* out) {
    share_loads();
    for (int r = 0; r < rows_.rows(); ++r) out[r] = shared_[rows_.storage_row(r)];
}

std::vector<int> Lagrange::dropped_rows() {
    std::vector<int> model_row(rows_.rows());
    for (int r = 0; r < rows_.rows(); ++r) model_row[rows_.storage_row(r)] = r;
    std::vector<int> dropped;
    for (int r : delassus_.dependent_rows()) dropped.push_back(model_row[r]);
    std::sort(dropped.begin(), dropped.end());
    return dropped;
}

std::vector<Dependence> Lagrange::dependences(int most) {
    std::vector<int> model_row(rows_.rows());
    for (int r = 0; r < rows_.rows(); ++r) model_row[rows_.storage_row(r)] = r;
    std::vector<Dependence> found = delassus_.dependences(most);
    for (Dependence& one : found) {
        one.row = model_row[one.row];
        for (auto& [row, factor] : one.of) row = model_row[row];
        std::sort(one.of.begin(), one.of.end());
    }
    std::sort(found.begin(), found.end(), [](const Dependence& a, const Dependence& b) { return a.row < b.row; });
    return found;
}

// Wrench of the blocks on body 2 of the pair about marker 2's origin. The ground has no Jacobian of its own: what acts
// on it is the opposite of what acts on the others.
void Lagrange::wrench_of(const Observation::Reaction& reaction, const double* x, const std::vector<double>& lambda,
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
            for (int k = 0; k < 6; ++k) f[k] *= sqrt_mass_[kTwist * side.body + (k < 3 ? k : k + 1)];
            const Vec3 arm = pose_position(x, side.body) - point;
            const Vec3 n = rotation_matrix(pose_rotation(x, side.body)) * component3(f + 3) + cross(arm, component3(f));
            const double sign = second == model_->ground() ? -1.0 : 1.0;
            force += sign * component3(f);
            moment += sign * n;
        }
    }
    store(wrench, moment);
    store(wrench + 3, force);
}

void Lagrange::reactions(const double* x, const std::vector<Observation::Reaction>& which,
                         std::vector<ReactionWrench>& out) {
    share_loads();
    out.resize(which.size());
    for (size_t i = 0; i < which.size(); ++i) {
        wrench_of(which[i], x, shared_, out[i].wrench);
        judge(which[i], x, out[i].unique);
    }
}

bool Lagrange::determines(int row) const {
    const int r = rows_.storage_row(row);
    return std::all_of(nothing_.begin(), nothing_.end(),
                       [&](const auto& w) { return std::abs(weight_[r] * w[r]) <= kNothing; });
}

void Lagrange::judge(const Observation::Reaction& reaction, const double* x, bool* unique) const {
    unique[0] = unique[1] = true;
    for (const std::vector<double>& w : nothing_) {
        double free[6];
        wrench_of(reaction, x, w, free);
        if (norm(component3(free)) > kNothing) unique[0] = false;
        if (norm(component3(free + 3)) > kNothing) unique[1] = false;
    }
}

void Lagrange::violation(double t, const double* x, const double* u, double* position, double* velocity) {
    *position = *velocity = 0.0;
    if (rows_.rows() == 0) return;
    if (!is_current(t, x)) refresh(t, x);
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

int Lagrange::worst_row() const {
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
    return row < 0 || !(std::abs(rows_.C[rows_.storage_row(row)]) <= kMet) ? row : worst(speed_);
}

int Lagrange::first_non_finite_body(const double* x, const double* u) const {
    const auto finite = [](const double* p, size_t count) {
        Lane zeros = broadcast(0.0);  // or not a number
        for (size_t k = 0; k < count; k += kLanes) zeros += 0.0 * load_lane(p + k);
        double sum = 0.0;
        for (int l = 0; l < kLanes; ++l) sum += lane_get(zeros, l);
        return sum == 0.0;
    };
    if (finite(x, configuration_.size()) && finite(u, sqrt_mass_.size())) return -1;
    for (int b = 0; b < model_->bodies(); ++b) {
        double sum = 0.0;
        for (int k = 0; k < kPose; ++k) sum += x[kPose * b + k] + u[kTwist * b + k];
        if (!std::isfinite(sum)) return b;
    }
    return -1;
}

void Lagrange::measure(double t, const double* x, const double* u, const Observation& what, double* out) {
    FrameWriter({*model_, branches_, t, x, u}, what, out).write_motion();
}

Energy Lagrange::energy_at(double t, const double* x, const double* u) { return energy(*model_, branches_, t, x, u); }

void Lagrange::observe(double t, const double* x, const double* u, const Observation& what, double* out) {
    const FrameWriter frame({*model_, branches_, t, x, u}, what, out);
    frame.write_motion();
    frame.write_forces();
    std::vector<double> udot;
    const bool loads = !what.rows.empty() || !what.reactions.empty();
    if (loads || what.accelerations) {
        udot.resize(tangent_size());
        accelerate(t, x, u, udot.data());
    }
    if (loads) {
        share_loads();
        double *multiplier = frame[Section::multipliers], *unique = frame[Section::unique_multipliers];
        for (const int row : what.rows) *multiplier++ = shared_[rows_.storage_row(row)], *unique++ = determines(row);
        double *wrench = frame[Section::reactions], *both = frame[Section::unique_reactions];
        for (const Observation::Reaction& reaction : what.reactions) {
            wrench_of(reaction, x, shared_, wrench);
            bool determined[2];
            judge(reaction, x, determined);
            wrench += 6;
            both = std::copy_n(determined, 2, both);
        }
    }
    frame.write_energy(energy_at(t, x, u));
    violation(t, x, u, frame[Section::position_violation], frame[Section::velocity_violation]);
    if (what.accelerations) frame.write_accelerations(udot.data());
}

}  // namespace bellcrank
