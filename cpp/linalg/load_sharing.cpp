#include "linalg/load_sharing.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "spatial/body_state.hpp"

namespace bellcrank {

namespace {

constexpr double kLargestShift = 1e-7, kLargerShift = 100.0;
constexpr double kIdle = 1e-8;     // diagonal entry, in parts of the largest of its body, that may be rounding
constexpr double kExact = 1e-14;   // largest change of the multipliers, in parts of them, that ends the search
constexpr double kStalled = 1e-9;  // a change below it that no longer halves is rounding
constexpr double kMet = 1e-8;      // part of the load that may be left
constexpr int kPasses = 60;
constexpr int kSamples = 3;

}  // namespace

LoadSharing::LoadSharing(const Model& model, const ConstraintRows& rows)
    : rows_(rows), normal_(model, rows, std::vector<std::uint8_t>(static_cast<size_t>(model.bodies()), 1)) {
    for (auto* v : {&weight_, &squares_, &scaled_}) v->assign(rows.rows(), 0.0);
    for (auto* v : {&diagonal_, &shift_, &step_, &load_, &sampled_}) v->assign(kTwist * (model.bodies() + 1), 0.0);
}

void LoadSharing::form(std::span<const double> weight) {
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
void LoadSharing::factor() {
    for (size_t body = 0; body < shift_.size(); body += kTwist) {
        const auto entries = std::span(diagonal_).subspan(body, kTwist);
        const double least = kIdle * *std::max_element(entries.begin(), entries.end());
        for (size_t k = 0; k < kTwist; ++k)
            shift_[body + k] = least > 0.0 ? relative_shift_ * std::max(entries[k], least) : 1.0;
    }
    normal_.factor(shift_);
}

// Pivots of the freedoms are the shift and the rounding of what was subtracted. Where this is more than that, the
// passes diverge, or settle where a part of the load has been left out with a pivot: a larger shift takes more passes.
bool LoadSharing::share(std::span<const double> load, std::vector<double>& lambda) {
    while (!approach(load, lambda)) {
        if (relative_shift_ * kLargerShift > kLargestShift) return false;
        relative_shift_ *= kLargerShift;
        factor();
    }
    return true;
}

bool LoadSharing::approach(std::span<const double> load, std::vector<double>& lambda) {
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
        if (change <= kExact * size || (change <= kStalled * size && change > 0.5 * before))
            return load_size() <= kMet * whole;
        if (pass > 1 && !(change < before)) return false;
        before = change;
    }
    return false;
}

// The largest component of the load, each in units of what the rows of its body exert along it.
double LoadSharing::load_size() const {
    double largest = 0.0;
    for (size_t k = 0; k < load_.size(); ++k) largest = std::max(largest, std::abs(load_[k]) / std::sqrt(shift_[k]));
    return largest;
}

// Random multipliers without the part of them that acts.
bool LoadSharing::sample(std::vector<std::vector<double>>& out) {
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

bool LoadSharing::share_all(std::span<const std::uint8_t> takes_part, std::span<const double> weight,
                            std::vector<double>& lambda, std::vector<std::vector<double>>& nothing) {
    std::vector<double> counted(lambda.size()), taking_part(lambda.size());
    for (size_t r = 0; r < counted.size(); ++r) {
        counted[r] = takes_part[r] ? weight[r] : 0.0;
        taking_part[r] = takes_part[r] ? lambda[r] : 0.0;
    }
    form(counted);
    std::vector<double> load(step_.size(), 0.0);
    rows_.add_transposed(taking_part.data(), load.data());
    if (!share(load, taking_part) || !sample(nothing)) {
        nothing.clear();
        return false;
    }
    for (size_t r = 0; r < counted.size(); ++r)
        if (counted[r] != 0.0) lambda[r] = taking_part[r];
    return true;
}

}  // namespace bellcrank
