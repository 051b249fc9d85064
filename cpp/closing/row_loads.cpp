#include "closing/row_loads.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "linalg/normal_matrix.hpp"
#include "matrices/shared_loads.hpp"
#include "spatial/body_state.hpp"

namespace bellcrank {

namespace {

constexpr double kNothing = 1e-6;  // of multipliers of norm one that exert nothing together: exerts nothing alone

// Of sharing over the bodies.
constexpr double kFirstShift = 1e-11, kLastShift = 1e-7, kLargerShift = 100.0;  // of the diagonal entries
constexpr double kIdleAxis = 1e-8;      // diagonal entry, in parts of the largest of its body, that may be rounding
constexpr double kUnchanged = 1e-14;    // largest change of the multipliers, in parts of them, that ends the search
constexpr double kStalledLoads = 1e-9;  // a change below it that no longer halves is rounding
constexpr double kMet = 1e-8;           // part of the load that may be left
constexpr int kPasses = 60;
constexpr int kSamples = 3;

}  // namespace

// By a factorization over the bodies, whose size does not grow with the number of redundant rows. With A = D⁻¹ Ĵ of the
// rows that take part the least ‖D λ‖ with Ĵᵀ λ = F̂ is λ = D⁻¹ A y with Aᵀ A y = F̂. The mechanism's degrees of freedom
// make Aᵀ A singular: y is approached with a shift, y ← y + (Aᵀ A + shift)⁻¹ (F̂ − Aᵀ A y), which leaves alone what A
// does not see (iterated Tikhonov regularization: J. King, D. Chillingworth, Approximation of generalized inverses by
// iterated regularization, 1979).
class RowLoads::Sharing {
  public:
    Sharing(const Model& model, const ConstraintRows& rows);

    // Takes up the current Jacobian. weight: D per storage row, 0 for rows that take no part.
    void form(std::span<const double> weight);
    // λ per storage row from F̂. False where the rows' singular values reach down too far (about 1e-5 of the largest)
    // for the multipliers to balance F̂.
    bool share(std::span<const double> load, std::vector<double>& lambda);
    // Samples of multipliers that exert nothing, the largest moment or force of each one: where all of them are zero,
    // the multiplier is determined. False as share().
    bool sample(std::vector<std::vector<double>>& out);

  private:
    void factor();
    bool approach(std::span<const double> load, std::vector<double>& lambda);
    double load_size() const;

    const ConstraintRows& rows_;
    NormalMatrix normal_;
    double relative_shift_ = kFirstShift;            // of the diagonal entries
    std::vector<double> weight_, squares_, scaled_;  // of the rows: D, D⁻², a change of λ
    std::vector<double> diagonal_, shift_;           // of the bodies
    std::vector<double> step_, load_, sampled_;      // of the bodies
};

RowLoads::Sharing::Sharing(const Model& model, const ConstraintRows& rows)
    : rows_(rows), normal_(model, rows, std::vector<std::uint8_t>(static_cast<size_t>(model.bodies()), 1)) {
    for (auto* v : {&weight_, &squares_, &scaled_}) v->assign(rows.rows(), 0.0);
    for (auto* v : {&diagonal_, &shift_, &step_, &load_, &sampled_}) v->assign(kTwist * (model.bodies() + 1), 0.0);
}

void RowLoads::Sharing::form(std::span<const double> weight) {
    for (size_t r = 0; r < weight_.size(); ++r) {
        weight_[r] = weight[r];
        squares_[r] = weight[r] == 0.0 ? 0.0 : 1.0 / (weight[r] * weight[r]);
    }
    normal_.form(rows_, squares_);
    normal_.diagonal(diagonal_);
    factor();
}

// An axis of a body on which its rows do not act has a diagonal entry of rounding, which must not pass for a load they
// carry: the shift is never small beside the body's other axes.
void RowLoads::Sharing::factor() {
    for (size_t body = 0; body < shift_.size(); body += kTwist) {
        const auto entries = std::span(diagonal_).subspan(body, kTwist);
        const double least = kIdleAxis * *std::max_element(entries.begin(), entries.end());
        for (size_t k = 0; k < kTwist; ++k)
            shift_[body + k] = least > 0.0 ? relative_shift_ * std::max(entries[k], least) : 1.0;
    }
    normal_.factor(shift_);
}

// Pivots of degrees of freedom are the shift and the rounding of what was subtracted. Where this is more than that, the
// passes diverge, or settle where a part of the load has been left out with a pivot: a larger shift takes more passes.
bool RowLoads::Sharing::share(std::span<const double> load, std::vector<double>& lambda) {
    while (!approach(load, lambda)) {
        if (relative_shift_ * kLargerShift > kLastShift) return false;
        relative_shift_ *= kLargerShift;
        factor();
    }
    return true;
}

bool RowLoads::Sharing::approach(std::span<const double> load, std::vector<double>& lambda) {
    std::fill(lambda.begin(), lambda.end(), 0.0);
    load_.assign(load.begin(), load.end());
    const double whole = load_size();
    double before = 0.0;
    for (int pass = 0; pass < kPasses; ++pass) {
        step_ = load_;
        normal_.solve(step_.data());
        rows_.multiply(step_.data(), scaled_.data());
        double change = 0.0, size = 0.0;
        for (size_t r = 0; r < scaled_.size(); ++r) {
            scaled_[r] *= squares_[r];
            lambda[r] += scaled_[r];
            change = std::max(change, std::abs(weight_[r] * scaled_[r]));
            size = std::max(size, std::abs(weight_[r] * lambda[r]));
            scaled_[r] = -scaled_[r];
        }
        rows_.add_transposed(scaled_.data(), load_.data());
        if (change <= kUnchanged * size || (change <= kStalledLoads * size && change > 0.5 * before))
            return load_size() <= kMet * whole;
        if (pass > 1 && !(change < before)) return false;
        before = change;
    }
    return false;
}

// The largest component of the load, each in units of what the rows of its body exert along it.
double RowLoads::Sharing::load_size() const {
    double largest = 0.0;
    for (size_t k = 0; k < load_.size(); ++k) largest = std::max(largest, std::abs(load_[k]) / std::sqrt(shift_[k]));
    return largest;
}

// Random multipliers without the part of them that acts.
bool RowLoads::Sharing::sample(std::vector<std::vector<double>>& out) {
    std::minstd_rand random;
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    std::vector<double> acting(weight_.size());
    for (int k = 0; k < kSamples; ++k) {
        out.emplace_back(weight_.size());
        std::vector<double>& nothing = out.back();
        for (size_t r = 0; r < nothing.size(); ++r) nothing[r] = weight_[r] == 0.0 ? 0.0 : uniform(random) / weight_[r];
        std::fill(sampled_.begin(), sampled_.end(), 0.0);
        rows_.add_transposed(nothing.data(), sampled_.data());
        if (!share(sampled_, acting)) return false;
        double largest = 0.0;
        for (size_t r = 0; r < nothing.size(); ++r) {
            nothing[r] -= acting[r];
            largest = std::max(largest, std::abs(weight_[r] * nothing[r]));
        }
        for (double& w : nothing) w /= largest;
    }
    return true;
}

RowLoads::RowLoads(const Model& model, const ConstraintRows& rows)
    : multipliers(rows.rows(), 0.0),
      model_(model),
      rows_(rows),
      layout_of_(model.blocks.size(), -1),
      weight_(rows.rows(), 1.0) {
    for (size_t i = 0; i < rows.blocks().size(); ++i) {
        const BlockLayout& b = rows.blocks()[i];
        layout_of_[b.block] = static_cast<int>(i);
        for (int k = 0; k < b.size; ++k)
            weight_[b.row + k] = load_per_multiplier(model, model.rows[model.blocks[b.block].row_begin + k]);
    }
}

RowLoads::~RowLoads() = default;

void RowLoads::clear() {
    std::fill(multipliers.begin(), multipliers.end(), 0.0);
    for (std::vector<double>& each : nothing) spare_.push_back(std::move(each));
    nothing.clear();
}

std::vector<double>& RowLoads::add_nothing() {
    if (spare_.empty()) return nothing.emplace_back(multipliers.size(), 0.0);
    nothing.push_back(std::move(spare_.back()));
    spare_.pop_back();
    nothing.back().assign(multipliers.size(), 0.0);
    return nothing.back();
}

void RowLoads::share_by_basis(const std::vector<int>& pushing) {
    if (!nothing.empty()) bellcrank::share_by_basis(weight_, pushing, nothing, multipliers);
    for (const int r : pushing) multipliers[r] = std::max(multipliers[r], 0.0);  // rounding
}

void RowLoads::add_share(std::vector<double>& change) {
    take_least(weight_, nothing, change);
    for (size_t r = 0; r < multipliers.size(); ++r) multipliers[r] += change[r];
}

// In coordinates of the basis, which is orthonormal, that is what its entries in these rows span.
const std::vector<std::vector<double>>& RowLoads::nothing_but_preload(std::span<const int> rows) {
    const size_t n = nothing.size();
    size_t count = 0;
    for (const int row : rows) {
        spans_.resize((count + 1) * n);
        double *entries = spans_.data() + count * n, size = 0.0, left = 0.0;
        for (size_t k = 0; k < n; ++k) entries[k] = nothing[k][row], size += entries[k] * entries[k];
        for (int pass = 0; pass < 2; ++pass)
            for (size_t i = 0; i < count; ++i) {
                const double* q = spans_.data() + i * n;
                double part = 0.0;
                for (size_t k = 0; k < n; ++k) part += q[k] * entries[k];
                for (size_t k = 0; k < n; ++k) entries[k] -= part * q[k];
            }
        for (size_t k = 0; k < n; ++k) left += entries[k] * entries[k];
        if (!(left > kNothing * size)) continue;
        for (size_t k = 0; k < n; ++k) entries[k] /= std::sqrt(left);
        ++count;
    }
    without_preload_.resize(count);
    for (size_t i = 0; i < count; ++i) {
        without_preload_[i].assign(multipliers.size(), 0.0);
        for (size_t k = 0; k < n; ++k)
            for (size_t r = 0; r < multipliers.size(); ++r) without_preload_[i][r] += spans_[i * n + k] * nothing[k][r];
    }
    return without_preload_;
}

bool RowLoads::share_within_limits(std::span<const BearingRow> rows, const std::vector<std::vector<double>>& among) {
    if (among.empty() ||
        std::ranges::none_of(rows, [&](const BearingRow& b) { return std::abs(multipliers[b.row]) > b.most; }))
        return false;
    limits_.solve(rows, multipliers, among, z_);
    for (size_t k = 0; k < z_.size(); ++k)
        for (size_t r = 0; r < multipliers.size(); ++r) multipliers[r] += z_[k] * among[k][r];
    return true;
}

bool RowLoads::share_by_bodies(std::span<const std::uint8_t> takes_part, std::span<const double> load) {
    if (!sharing_) sharing_ = std::make_unique<Sharing>(model_, rows_);
    std::vector<double> counted(multipliers.size()), shared(multipliers.size());
    for (size_t r = 0; r < counted.size(); ++r) counted[r] = takes_part[r] ? weight_[r] : 0.0;
    sharing_->form(counted);
    if (!sharing_->share(load, shared) || !sharing_->sample(nothing)) {
        nothing.clear();
        return false;
    }
    for (size_t r = 0; r < counted.size(); ++r)
        if (counted[r] != 0.0) multipliers[r] = shared[r];
    return true;
}

bool RowLoads::determines(int model_row) const {
    const int r = rows_.storage_row(model_row);
    return std::all_of(nothing.begin(), nothing.end(),
                       [&](const auto& w) { return std::abs(weight_[r] * w[r]) <= kNothing; });
}

void RowLoads::wrenches(const std::vector<Observation::Reaction>& which, const double* poses,
                        std::vector<ReactionWrench>& out) const {
    out.resize(which.size());
    for (size_t i = 0; i < which.size(); ++i) {
        wrench_of(which[i], poses, multipliers, out[i].wrench);
        out[i].unique[0] = out[i].unique[1] = true;
        for (const std::vector<double>& w : nothing) {
            double free[6];
            wrench_of(which[i], poses, w, free);
            if (norm(load(free)) > kNothing) out[i].unique[0] = false;
            if (norm(load(free + 3)) > kNothing) out[i].unique[1] = false;
        }
    }
}

// Wrench of the blocks on body 2 of the pair about marker 2's origin. The ground has no Jacobian of its own: what acts
// on it is the opposite of what acts on the others.
void RowLoads::wrench_of(const Observation::Reaction& reaction, const double* x, const std::vector<double>& lambda,
                         double* wrench) const {
    const MarkerPair& pair = model_.pairs[reaction.pair];
    const int second = pair.body[1];
    const Vec3 point = pose_position(x, second) + rotation_matrix(pose_rotation(x, second)) * pair.offset[1];
    Vec3 force{0, 0, 0}, moment{0, 0, 0};
    for (int block : reaction.blocks) {
        const BlockLayout& b = rows_.blocks()[layout_of_[block]];
        for (const BlockSide& side : rows_.sides(b)) {
            if (side.body == model_.ground() || (second != model_.ground() && side.body != second)) continue;
            double f[6] = {};
            for (int r = 0; r < b.size; ++r) {
                double row[6];
                side.rows.read(rows_.J.data(), r, row);
                for (int k = 0; k < 6; ++k) f[k] += row[k] * lambda[b.row + r];
            }
            for (int k = 0; k < 6; ++k) f[k] *= rows_.sqrt_mass(side.body, k);
            const Vec3 arm = pose_position(x, side.body) - point;
            const Vec3 n = rotation_matrix(pose_rotation(x, side.body)) * load(f + 3) + cross(arm, load(f));
            const double sign = second == model_.ground() ? -1.0 : 1.0;
            force += sign * load(f);
            moment += sign * n;
        }
    }
    store(wrench, moment);
    store(wrench + 3, force);
}

void RowLoads::list_rows(const Observation::Reaction& reaction, std::vector<int>& out) const {
    out.clear();
    for (const int block : reaction.blocks) {
        const BlockLayout& b = rows_.blocks()[layout_of_[block]];
        for (int r = 0; r < b.size; ++r) out.push_back(b.row + r);
    }
}

// The transpose of wrench_of().
void RowLoads::pull_back(const Observation::Reaction& reaction, const double* x, int forms, const double* covectors,
                         double* by_rows) const {
    const MarkerPair& pair = model_.pairs[reaction.pair];
    const int second = pair.body[1];
    const Vec3 point = pose_position(x, second) + rotation_matrix(pose_rotation(x, second)) * pair.offset[1];
    const double sign = second == model_.ground() ? -1.0 : 1.0;
    double* out = by_rows;
    for (const int block : reaction.blocks) {
        const BlockLayout& b = rows_.blocks()[layout_of_[block]];
        std::fill_n(out, forms * b.size, 0.0);
        for (const BlockSide& side : rows_.sides(b)) {
            if (side.body == model_.ground() || (second != model_.ground() && side.body != second)) continue;
            const Vec3 arm = pose_position(x, side.body) - point;
            const Mat3 axes = rotation_matrix(pose_rotation(x, side.body));
            for (int i = 0; i < forms; ++i) {
                const Vec3 moment = load(covectors + 6 * i);
                double on[6], row[6];
                store(on, sign * (load(covectors + 6 * i + 3) + cross(moment, arm)));
                store(on + 3, sign * transpose_times(axes, moment));
                for (int k = 0; k < 6; ++k) on[k] *= rows_.sqrt_mass(side.body, k);
                for (int r = 0; r < b.size; ++r) {
                    side.rows.read(rows_.J.data(), r, row);
                    for (int k = 0; k < 6; ++k) out[forms * r + i] += row[k] * on[k];
                }
            }
        }
        out += forms * b.size;
    }
}

}  // namespace bellcrank
