// What lagrange solves with the rows that take part: stops where they push (model/stops.hpp).
#include "formulations/lagrange.hpp"

namespace bellcrank {

void Lagrange::rows_changed() {
    forget_dependent_rows();
    if (known_ != Known::nothing) refactor();
}

// Eq. 35 with b = rhs_.
void Lagrange::solve_with_stops(std::vector<double>& lambda) {
    find_pushing(
        lambda,
        [&] {
            std::copy(rhs_.begin(), rhs_.end(), lambda.begin());
            solve(lambda);
            std::fill(step_.begin(), step_.end(), 0.0);
            rows_.add_transposed(lambda.data(), step_.data());
            rows_.multiply(step_.data(), residual_.data());
        },
        [&](int row) { return residual_[row] - rhs_[row]; });
}

void Lagrange::add_null_vectors(std::vector<std::vector<double>>& out) {
    delassus_.for_each_null_vector([&](const std::vector<double>& w) { out.push_back(w); });
}

}  // namespace bellcrank
