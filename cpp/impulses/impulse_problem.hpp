// The impulses of one step as a problem of cones: rows of the model beside points of contact.
#pragma once

#include <span>
#include <vector>

#include "cones/body_operator.hpp"
#include "cones/solver.hpp"
#include "contacts/contacts.hpp"
#include "model/constraint_rows.hpp"

namespace bellcrank {

// Rows of the model come first, block by block as they are stored, limits as contacts without friction; then each point
// of contact with its normal row and, if it rubs, two across. Bodies are scaled as in ConstraintRows: v̂ = M^(1/2) u,
// six numbers for each body.
class ImpulseProblem {
  public:
    ImpulseProblem(const Model& model, const ConstraintRows& rows);

    // Rows from one of the storage on; limits one by one.
    struct Piece {
        int row, size, layout, first;  // first: in its block
        bool unilateral, of_velocity;
        double compliance, restitution;
    };
    struct Point {
        const FoundContact* found;
        int row;       // of the problem
        Vec3 axes[3];  // normal, and two across it
        int size;
        double friction;
    };

    // The blocks, for these points with a friction coefficient for each.
    void lay_out(const std::vector<FoundContact>& points, std::span<const double> friction);
    // Ĵ of all rows, where those of the model have been evaluated and bodies have these poses. Rows that hold no
    // positions are left out where only these count.
    void evaluate(const double* poses, bool positions);

    const std::vector<Piece>& pieces() const { return pieces_; }
    const std::vector<Point>& points() const { return points_; }
    int rows() const { return layout_.rows(); }
    int block_of(const Point& point) const { return static_cast<int>(pieces_.size() + (&point - points_.data())); }

    void to_rows(const double* bodies, double* rows) { operator_.to_rows(bodies, rows); }
    void to_bodies(const double* impulses, double* bodies) { operator_.to_bodies(impulses, bodies); }

    // Speeds without impulses; impulses to start from, and those found.
    std::vector<double> q, impulses;
    ConeReport solve(double tolerance);

  private:
    void add_pieces(const BlockLayout& block, const Block& of_model);
    int add_sides(int block, std::span<const int> bodies);
    void write_model_rows(bool positions);
    void write_points(const double* poses);

    const Model& model_;
    const ConstraintRows& model_rows_;
    std::vector<Piece> pieces_;
    std::vector<Point> points_;
    ConeLayout layout_;
    BodyConeOperator operator_;
    ConeSolver solver_;
    std::vector<BodyConeOperator::Side> sides_;
};

}  // namespace bellcrank
