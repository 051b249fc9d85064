#include "impulses/impulse_problem.hpp"

#include <algorithm>
#include <cmath>

namespace bellcrank {

namespace {

constexpr double kRounding = 1e-9;  // of a rate
constexpr double kNothing = 1e-9;   // of a slow speed

// The normal and two axes across it, which follow from it alone; for moments the same again.
void put_axes(ImpulsePoint& point) {
    const Vec3& n = point.normal;
    const Vec3 least = std::abs(n.x) < 0.6 ? Vec3{1.0, 0.0, 0.0} : Vec3{0.0, 1.0, 0.0};
    const Vec3 t = least - dot(least, n) * n;
    const Vec3 across = (1.0 / norm(t)) * t, axes[3] = {n, across, cross(n, across)};
    std::copy_n(axes, point.forces, point.axes);
    int row = point.forces;
    if (point.rolling > 0.0) row = static_cast<int>(std::copy_n(axes + 1, 2, point.axes + row) - point.axes);
    if (point.spinning > 0.0) point.axes[row] = n;
}

}  // namespace

void ImpulseProblem::finish(bool positions, double closed) {
    positions_ = positions;
    layout_.clear();
    left_out_.clear();
    bounds_.resize(pieces_.size());
    for (size_t i = 0; i < pieces_.size(); ++i) {
        const ImpulsePiece& piece = pieces_[i];
        if (piece.friction >= 0) {
            left_out_.push_back(bounds_[i].lower == bounds_[i].upper);
            layout_.add_interval(bounds_[i]);
            continue;
        }
        left_out_.push_back((positions && !piece.holds_positions()) ||
                            (piece.unilateral && space_.error(layout_.rows()) > closed));
        piece.unilateral ? layout_.add_contact() : layout_.add_equality(piece.size);
    }
    for (int row = 0; row < layout_.rows(); ++row) layout_.weigh(row, space_.weight(row));
    for (ImpulsePoint& point : points_) {
        const bool rolls = point.rolling > 0.0, spins = point.spinning > 0.0;
        const bool rubs = point.friction > 0.0 || rolls || spins;
        point.row = layout_.rows();
        point.forces = rubs ? 3 : 1;
        point.size = point.forces + (rolls ? 2 : 0) + (spins ? 1 : 0);
        put_axes(point);
        layout_.add_contact({ConeDisc{rubs ? 2 : 0, point.friction}, ConeDisc{rolls ? 2 : 0, point.rolling},
                             ConeDisc{spins ? 1 : 0, point.spinning}});
        for (int r = point.forces; r < point.size; ++r) layout_.weigh(point.row + r, space_.arm());
    }
    rows_->lay_out(layout_, points_);
    rows_->evaluate(points_, left_out_);
    q.assign(layout_.rows(), 0.0);
    impulses.assign(layout_.rows(), 0.0);
}

Vec3 ImpulseProblem::sum(const ImpulsePoint& point, int first, int last) const {
    Vec3 sum{0.0, 0.0, 0.0};
    for (int r = first; r < last; ++r) sum += impulses[point.row + r] * point.axes[r];
    return sum;
}

double ImpulseProblem::largest(const std::vector<double>& speeds) const {
    double most = 0.0;
    for (size_t row = 0; row < speeds.size(); ++row)
        most = std::max(most, weight(static_cast<int>(row)) * std::abs(speeds[row]));
    return most;
}

ConeReport ImpulseProblem::solve(double tolerance, double enough) {
    const double size = largest(q);
    if (size <= kNothing * slow()) {  // what has come to rest halves its speed in each step, without end
        std::ranges::fill(impulses, 0.0);
        return {};
    }
    const double most = std::max(1.0, slow() / size);
    ConeOptions options;
    options.tolerance = std::min(1.0, most * tolerance);
    options.enough = std::min(1.0, most * enough);
    ConeReport report = solver_.solve(layout_, rows_->response(), q.data(), impulses.data(), options);
    judge_still_rows(options.tolerance, report);
    report.residual /= most;
    return report;
}

// Solves the second phase: q is S λ + q of the first one, the speeds at its end, and S times what is given.
ConeReport ImpulseProblem::expand(std::span<const double> more, double tolerance, double enough) {
    first_ = impulses;
    for (size_t i = 0; i < points_.size(); ++i) first_[points_[i].row] += more[i];
    pushed_.resize(first_.size());
    rows_->response().multiply(first_.data(), pushed_.data());
    for (size_t r = 0; r < q.size(); ++r) q[r] += pushed_[r];
    std::fill(impulses.begin(), impulses.end(), 0.0);
    const auto pieces = static_cast<int>(pieces_.size());
    for (size_t i = 0; i < points_.size(); ++i) layout_.set_given(pieces + static_cast<int>(i), more[i]);
    const ConeReport report = solve(tolerance, enough);
    for (size_t i = 0; i < points_.size(); ++i) layout_.set_given(pieces + static_cast<int>(i), 0.0);
    for (size_t r = 0; r < impulses.size(); ++r) impulses[r] += first_[r];
    return report;
}

// What no impulse changes must be right as it is: a joint that is there twice is, a driven body on its way into the
// ground is not. Such rows get no impulses.
void ImpulseProblem::judge_still_rows(double tolerance, ConeReport& report) {
    const double scale = largest(q);
    for (const ConeBlock& block : layout_.blocks()) {
        const int rows = block.equality ? block.size : 1;
        for (int r = 0; r < rows; ++r) {
            const int row = block.row + r;
            if (!rows_->is_still(row)) continue;
            std::fill_n(&impulses[row], block.equality ? 1 : block.size, 0.0);
            if (block.interval) continue;
            const double missed = weight(row) * (block.equality ? std::abs(q[row]) : std::max(0.0, -q[row]));
            const double rounding = kRounding * weight(row) * rows_->size_of_rate(row);
            if (!(missed > std::max(tolerance, report.residual) * scale + rounding)) continue;
            report.residual = missed / scale;
            report.worst = block.number;
            report.end = ConeEnd::failed;
        }
    }
}

}  // namespace bellcrank
