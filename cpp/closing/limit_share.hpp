// How loads that redundant rows share can be shared so that none of them exceeds what it can bear.
#pragma once

#include <cmath>
#include <span>
#include <vector>

namespace bellcrank {

// A row that bears up to `most` to both sides, or, where that is infinite, any push and no pull; of friction, whatever
// is of the sign of its effort. shift: by what it bears more for each n; empty: for none.
struct BearingRow {
    int row = -1;
    double most = HUGE_VAL;
    int law = -1;  // of friction
    std::vector<double> shift{};
};

// The least s for which λ + Σ z_k n_k is within s times what each row bears at z = 0, and within it by as much at other
// z, and these z: a linear program, of which the rows at their limits say what motion begins where s passes one
// (docs/theory/friction.md). It keeps the room that it has taken.
class LimitShare {
  public:
    double solve(std::span<const BearingRow> rows, const std::vector<double>& lambda,
                 const std::vector<std::vector<double>>& nothing, std::vector<double>& z);

  private:
    double* row(size_t i) { return tableau_.data() + i * (columns_ + 1); }
    void add(const BearingRow& b, const std::vector<std::vector<double>>& nothing, double sign, double r, double right,
             double unit);
    void exchange(size_t leaves, size_t enters);

    size_t columns_ = 0;           // z⁺, z⁻, r; then the right-hand side
    std::vector<double> tableau_;  // by rows
    std::vector<double> gain_;     // of r by each column that is not in the basis
    // Columns change places with basis variables; those of slacks are kept where the variables were that they replaced.
    std::vector<size_t> basis_, outside_;
};

}  // namespace bellcrank
