#include "impulses/stop_impact.hpp"

#include <algorithm>
#include <cmath>

namespace bellcrank {

namespace {

// Parts of the largest speed: what impulses are to leave, what they may leave, and an approach that asks for one.
constexpr double kMissed = 1e-13, kAccepted = 1e-9, kPassed = 1e-13;
constexpr double kRest = 1e-12;  // an approach that is rounding [m/s or rad/s]

}  // namespace

void StopImpact::find(Stops& stops, const Response& response) {
    struck_.clear();
    columns_.clear();
    is_struck_.assign(stops.count(), 0);
    is_still_.assign(stops.count(), 0);
    before_ = stops.speed;
    size_ = 0.0;
    for (int i = 0; i < stops.count(); ++i)
        size_ = std::max({size_, std::abs(before_[i]), std::abs(stops.bounce()[i])});
    for (const double part : {1.0, 0.5, 0.0})
        if (solve(stops, part, response)) {
            stops.weaken(part);
            break;
        }
    if (struck_.empty()) return;
    // What is left faster than the law asks for does not push, but for rounding of its impulse.
    std::vector<std::uint8_t>& pushing = is_struck_;
    const double rounding = std::max(kRest, kAccepted * size_);
    for (size_t k = 0; k < struck_.size(); ++k) {
        const int stop = struck_[k];
        pushing[stop] = impulses_[k] > 0.0 && after_[stop] <= stops.bounce()[stop] + rounding;
    }
    stops.push(pushing);
}

// Solves with a part of the restitution; one after another, stops that would be passed take part.
bool StopImpact::solve(const Stops& stops, double part, const Response& response) {
    impulses_.assign(struck_.size(), 0.0);
    after_ = before_;
    bool found = struck_.empty() || find_impulses(stops.bounce(), part);
    while (found && add_passed(stops, part, response)) found = find_impulses(stops.bounce(), part);
    for (int i = 0; found && i < stops.count(); ++i)
        if (is_still_[i]) found = after_[i] >= part * stops.bounce()[i] - std::max(kRest, kAccepted * size_);
    return found;
}

bool StopImpact::add_passed(const Stops& stops, double part, const Response& response) {
    const size_t before = struck_.size(), n = stops.count();
    const double rounding = std::max(kRest, kPassed * size_);
    for (int i = 0; i < stops.count(); ++i) {
        if (!stops.is_candidate(i) || is_struck_[i] || is_still_[i]) continue;
        if (after_[i] >= part * stops.bounce()[i] - rounding) continue;
        columns_.resize((struck_.size() + 1) * n, 0.0);
        double* column = columns_.data() + struck_.size() * n;
        is_struck_[i] = response(i, column) && column[i] > 0.0;
        is_still_[i] = !is_struck_[i];
        if (is_struck_[i]) struck_.push_back(i);
        columns_.resize(struck_.size() * n);
    }
    return struck_.size() > before;
}

// Each row by the root of its own response, so that metres and radians count alike.
bool StopImpact::find_impulses(const std::vector<double>& bounce, double part) {
    const size_t m = struck_.size(), n = before_.size();
    impulses_.resize(m, 0.0);
    scaled_.resize(m * m);
    scale_.resize(m);
    q_.resize(m);
    layout_.clear();
    for (size_t k = 0; k < m; ++k) {
        layout_.add_contact();
        const int stop = struck_[k];
        scale_[k] = std::sqrt(columns_[k * n + stop]);
        q_[k] = (before_[stop] - part * bounce[stop]) / scale_[k];
        impulses_[k] *= scale_[k];
    }
    for (size_t k = 0; k < m; ++k)
        for (size_t l = 0; l < m; ++l) {
            const double mean = 0.5 * (columns_[l * n + struck_[k]] + columns_[k * n + struck_[l]]);
            scaled_[k * m + l] = mean / (scale_[k] * scale_[l]);
        }
    operator_.set(scaled_.data(), static_cast<int>(m));
    ConeOptions options;
    options.tolerance = kMissed;
    options.enough = kAccepted;
    const ConeReport report = solver_.solve(layout_, operator_, q_.data(), impulses_.data(), options);
    after_ = before_;
    for (size_t k = 0; k < m; ++k) {
        impulses_[k] = std::max(impulses_[k], 0.0) / scale_[k];
        for (size_t i = 0; i < n; ++i) after_[i] += impulses_[k] * columns_[k * n + i];
    }
    return report.residual <= kAccepted;
}

}  // namespace bellcrank
