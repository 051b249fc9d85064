// The impulses of one step as a problem of cones: rows of the model beside points of contact.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "cones/solver.hpp"
#include "geometry/bounds.hpp"
#include "impulses/impulse_space.hpp"

namespace bellcrank {

// Gap that counts as closed, in lengths of the space, or rad.
inline constexpr double kClosed = 1e-9;
// Speeds, or displacements, that rounding makes, in speeds or lengths of the space: residuals are no part of smaller
// ones.
inline constexpr double kSlow = 1e-9;

// Rows of the model come first, piece by piece, limits as contacts without friction; then each point of contact.
class ImpulseProblem {
  public:
    explicit ImpulseProblem(ImpulseSpace& space) : space_(space), pieces_(space.pieces()), rows_(space.make_rows()) {}

    // The blocks, with these points; J where the space is. Rows that hold no positions are left out where only these
    // count, limits where they are open by more than `closed`.
    void begin() { points_.clear(); }
    void add(const ImpulsePoint& point) { points_.push_back(point); }
    // Bounds of impulses in rows of dry friction, by piece; without room, as by default, rows are left out.
    void bound(std::span<const ImpulseRange> bounds) { bounds_.assign(bounds.begin(), bounds.end()); }
    void finish(bool positions, double closed = Bounds::kInfinity);

    const std::vector<ImpulsePiece>& pieces() const { return pieces_; }
    const std::vector<ImpulsePoint>& points() const { return points_; }
    int rows() const { return layout_.rows(); }
    int rows_of_pieces() const { return points_.empty() ? rows() : points_[0].row; }
    // The impulse of a point, world axes, on its first body; and its moment about the point.
    Vec3 impulse_at(const ImpulsePoint& point) const { return sum(point, 0, point.forces); }
    Vec3 moment_at(const ImpulsePoint& point) const { return sum(point, point.forces, point.size); }

    ImpulseRows& jacobian() { return *rows_; }

    // What speeds along a row count in a residual; the largest of them, weighted; and the least that counts.
    double weight(int row) const { return layout_.weights()[row]; }
    double largest(const std::vector<double>& speeds) const;
    double slow() const { return kSlow * (positions_ ? space_.length() : space_.speed()); }

    // Speeds without impulses; impulses to start from, and those found.
    std::vector<double> q, impulses;
    // tolerance: on the residual, a part of the largest speed or of slow(); enough: one with which no further attempt
    // is made.
    ConeReport solve(double tolerance, double enough = 0.0);
    // A second phase after the impulses found: those of each point push on by `more` along the normal (by point), and
    // by what the laws ask for beside it. q becomes the speeds that it begins with, impulses those of both phases.
    ConeReport expand(std::span<const double> more, double tolerance, double enough = 0.0);

  private:
    Vec3 sum(const ImpulsePoint& point, int first, int last) const;
    void judge_still_rows(double tolerance, ConeReport& report);

    const ImpulseSpace& space_;
    const std::vector<ImpulsePiece>& pieces_;
    const std::unique_ptr<ImpulseRows> rows_;
    std::vector<ImpulsePoint> points_;
    std::vector<double> first_, pushed_;  // impulses of the first phase, and those that are given in the second
    bool positions_ = false;
    std::vector<ImpulseRange> bounds_;
    std::vector<char> left_out_;  // by piece
    ConeLayout layout_;
    ConeSolver solver_;
};

}  // namespace bellcrank
