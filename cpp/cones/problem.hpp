// One time step of contact: impulses in cones, velocities along rows (docs/theory/cones.md).
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "spatial/fields.hpp"

namespace bellcrank {

// A disc of a contact: its rows follow the normal one, |impulses| <= coefficient · normal impulse, and they oppose the
// velocities along these rows as much as they can. Friction, rolling and spinning resistance are discs.
struct ConeDisc {
    int size = 0;  // rows, 1 or 2
    double coefficient = 0.0;
};

// Bounds of an impulse; they may be infinite.
struct ImpulseRange {
    double lower = 0.0, upper = 0.0;
    double clamp(double impulse) const { return std::clamp(impulse, lower, upper); }
};

// Rows that are solved for together. Equality: u = 0 in each. Interval: one row, with an impulse within bounds, at the
// lower one where u > 0, at the upper one where u < 0. Otherwise the first row is unilateral, 0 <= λ ⟂ u >= 0, and the
// others are discs one after another; a limit has none. The first disc is friction.
struct ConeBlock {
    int row = 0, size = 0;  // first row; 1 to 6
    bool equality = false, interval = false;
    ImpulseRange range;  // of an interval
    int discs = 0;
    std::array<ConeDisc, 3> disc{};
    double given = 0.0;  // normal impulse that acts beside λ: discs have the radius coefficient · (λ + given)
    // Set by ConeLayout: its number, and where its size × size matrix begins in arrays of such matrices.
    int number = 0, values = 0;
};

// All blocks of a problem, one after another.
class ConeLayout {
  public:
    void clear();
    // Throws std::invalid_argument: sizes not 1 to 6, discs not of 1 or 2 rows, coefficients negative or not finite.
    void add_equality(int size);
    // Throws std::invalid_argument for bounds without room, or that are no numbers.
    void add_interval(ImpulseRange range);
    void add_contact(const std::array<ConeDisc, 3>& discs = {});
    // Throws std::invalid_argument for impulses that pull or are not finite, and for equalities.
    void set_given(int block, double impulse);
    // What a velocity along a row counts in residuals, 1 if nothing is set: rows of angular velocities count as much as
    // the speeds that they mean at this distance.
    void weigh(int row, double weight) { weights_[row] = weight; }
    const std::vector<double>& weights() const { return weights_; }

    int rows() const { return rows_; }
    int values() const { return values_; }  // sum of the squares of sizes
    const std::vector<ConeBlock>& blocks() const { return blocks_; }

  private:
    void append(ConeBlock block);
    std::vector<ConeBlock> blocks_;
    std::vector<double> weights_;  // of rows
    int rows_ = 0, values_ = 0;
};

struct ConeOptions {
    double tolerance = 1e-8;  // on ConeReport::residual
    double enough = 0.0;      // the same after an attempt, where Newton's steps stall above the tolerance
    int newton_steps = 30;    // of a semismooth phase
    int warm_steps = 15;      // of the first one, from given impulses
    int interior_steps = 80;  // of each attempt
    int attempts = 7;         // of the interior method, by other rules each
    int sweeps = 200;         // after each of these

    BELLCRANK_FIELDS(ConeOptions, (tolerance), (newton_steps), (warm_steps), (interior_steps), (attempts), (sweeps))
};

// How a solve ended: at once, by Newton steps from the given impulses, by the interior method with Newton steps after
// it, in a later attempt of it, by proximal points, by sweeps; or above the tolerance.
enum class ConeEnd { given, warm, interior, retry, proximal, sweeps, failed };
std::string name_of(ConeEnd end);

struct ConeReport {
    double residual = 0.0;  // of the natural map, a part of the largest |q|, both weighted
    int worst = -1;         // its block
    int factorizations = 0, interior_steps = 0, newton_steps = 0, sweeps = 0;
    ConeEnd end = ConeEnd::given;
    bool converged() const { return end != ConeEnd::failed; }

    BELLCRANK_FIELDS(ConeReport, (residual), (worst, "", "The block with the largest residual."), (factorizations),
                     (interior_steps), (newton_steps), (sweeps))
};

}  // namespace bellcrank
