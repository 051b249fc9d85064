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

void ImpulseProblem::finish(bool positions) {
    layout_.clear();
    for (const ImpulsePiece& piece : pieces_)
        piece.unilateral ? layout_.add_contact() : layout_.add_equality(piece.size);
    for (ImpulsePoint& point : points_) {
        const bool rubs = point.friction > 0.0;
        point.row = layout_.rows();
        point.size = rubs ? 3 : 1;
        put_axes(point.normal, point.axes);
        layout_.add_contact(rubs ? std::array{ConeDisc{2, point.friction}, ConeDisc{}, ConeDisc{}}
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

ConeReport ImpulseProblem::solve(double tolerance, double enough) {
    ConeOptions options;
    options.tolerance = tolerance;
    options.enough = enough;
    return solver_.solve(layout_, rows_->response(), q.data(), impulses.data(), options);
}

}  // namespace bellcrank
