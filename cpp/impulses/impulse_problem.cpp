#include "impulses/impulse_problem.hpp"

#include <cmath>

namespace bellcrank {

namespace {

// Two axes across a normal; they follow from it alone.
void put_axes(const Vec3& n, Vec3 (&axes)[3]) {
    const Vec3 least = std::abs(n.x) < 0.6 ? Vec3{1.0, 0.0, 0.0} : Vec3{0.0, 1.0, 0.0};
    const Vec3 t = least - dot(least, n) * n;
    axes[0] = n;
    axes[1] = (1.0 / norm(t)) * t;
    axes[2] = cross(n, axes[1]);
}

}  // namespace

void ImpulseProblem::set(const std::vector<FoundContact>& points, std::span<const double> friction, bool positions) {
    layout_.clear();
    points_.clear();
    for (const ImpulsePiece& piece : pieces_)
        piece.unilateral ? layout_.add_contact() : layout_.add_equality(piece.size);
    for (size_t i = 0; i < points.size(); ++i) {
        ImpulsePoint point{&points[i], layout_.rows(), {}, friction[i] > 0.0 ? 3 : 1, friction[i]};
        put_axes(points[i].point.normal, point.axes);
        points_.push_back(point);
        layout_.add_contact(friction[i] > 0.0 ? std::array<ConeDisc, 3>{ConeDisc{2, friction[i]}}
                                              : std::array<ConeDisc, 3>{});
    }
    rows_->lay_out(layout_, points_);
    rows_->evaluate(points_, positions);
    q.assign(layout_.rows(), 0.0);
    impulses.assign(layout_.rows(), 0.0);
}

Vec3 ImpulseProblem::impulse_at(const ImpulsePoint& point) const {
    Vec3 sum{0.0, 0.0, 0.0};
    for (int r = 0; r < point.size; ++r) sum += impulses[point.row + r] * point.axes[r];
    return sum;
}

ConeReport ImpulseProblem::solve(double tolerance) {
    ConeOptions options;
    options.tolerance = tolerance;
    return solver_.solve(layout_, rows_->response(), q.data(), impulses.data(), options);
}

}  // namespace bellcrank
