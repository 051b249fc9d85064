// The second derivatives of potential and constraints: how the forces on bodies change as they move.
#pragma once

#include <Eigen/Core>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "spatial/aligned.hpp"
#include "spatial/dual.hpp"
#include "statics/coordinate_curvature.hpp"
#include "statics/loads.hpp"
#include "statics/row_matrix.hpp"

namespace bellcrank {

// The symmetric matrix  K = ∇²V − Σ λ_r ∇²C_r  in blocks of six, in the metric of statics, along straight motions of
// the bodies, exact; at a kink of a force, that of the side on which it is. Loads without a potential contribute the
// symmetric part of their derivative. Beside the entries, there is what each may be off by: rounding of all parts that
// it is the sum of, however they cancel, of poses and of multipliers, and jumps at kinks.
class TangentStiffness {
  public:
    TangentStiffness(const Model& model, const AngleBranches& branches, const Metric& metric, const Loads& loads,
                     const RowMatrix& rows);

    struct Block {
        int row, column;  // bodies, row >= column
    };
    const std::vector<Block>& blocks() const { return blocks_; }
    int block_of(int row, int column) const { return index_.at({row, column}); }
    // lambda: of the rows in storage, as RowMatrix scales them. force: what is negligible beside them [N].
    void evaluate(double t, const double* x, const Eigen::VectorXd& lambda, double force);
    // That of laws alone, Σ k ∇φ ∇φᵀ with a k and a ∇φ for each; those without a k are left out.
    void evaluate_laws(std::span<const BodyCoordinate> along, std::span<const double> stiffness);
    const std::vector<double>& values() const { return values_; }  // 36 per block, row-major
    double largest() const;
    void multiply(const Eigen::VectorXd& v, Eigen::VectorXd& out) const;
    // What vᵀ K v may be off by.
    double error_of_form(const Eigen::VectorXd& v) const;

  private:
    void couple(const std::vector<int>& bodies);
    // Adds h, which may be off by an error beside rounding, between component i of a body and component j of another
    // one, unscaled, both ways round.
    void add(int body, int i, int other, int j, double h, double error = 0.0);
    // Adds a factor times H. error: by what the factor may be off, beside rounding.
    void add_pair(const MarkerPair& pair, const PairMatrix& H, double factor, double error);
    void add_laws(const double* x);
    void add_coordinates(const double* x, const Eigen::VectorXd& lambda, double force);
    void add_wrenches(double t, const double* x);
    void add_formula_rows(double t, const double* x, const Eigen::VectorXd& lambda);
    // Files compiled with AVX align vectors of Four further, by default: who allocates them and who frees them would
    // not agree, and they might lie where registers cannot be loaded from.
    using Fours = std::vector<Four, AlignedAllocator<Four>>;
    void follow_formula_force(size_t formula, double t, const double* x, int first, Fours& out) const;
    void add_formula_forces(double t, const double* x);

    const Model& model_;
    const AngleBranches& branches_;
    const Metric& metric_;
    const Loads& loads_;
    const RowMatrix& rows_;
    std::vector<Block> blocks_;
    std::map<std::pair<int, int>, int> index_;
    std::vector<double> values_, errors_, rest_, weight_, unsure_;
    double rounding_ = 0.0;                              // of an entry, in parts of it
    std::vector<std::vector<int>> coordinates_of_pair_;  // those that rows or laws are about
    std::vector<std::vector<int>> bodies_of_force_;      // given by formulas
    std::vector<int> bent_;
    CoordinateCurvature curvature_;
};

}  // namespace bellcrank
