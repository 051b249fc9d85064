// Multipliers after accelerations by the recursion.
#include <algorithm>

#include "formulations/recursive.hpp"

namespace bellcrank {

namespace {

// Up to so many redundant rows a solution for each shows what exerts nothing.
constexpr int kFewDropped = 20;

}  // namespace

// Multipliers of the rows that are not of the tree are known; those of the tree carry what is left of M u̇ − f.
void Recursive::solve_multipliers(double t, const double* x, const double* u, const double* udot) {
    load_reactions(t, x, u, udot);
    // A rotor exerts −C̈/compliance.
    for (const recursive::Rotor& rotor : tree_.rotors)
        reactions_.lambda[rotor.row] = -rotor.factor * udot[rotor.speed] / rotor.compliance;
    for (size_t i = 0; i < lambda_.size(); ++i) reactions_.lambda[tree_.closing_rows[i]] = lambda_[i];
    if (statistics_.dropped_rows > kFewDropped && !is_stopped()) {
        for (const int row : rigid_rows()) reactions_.lambda[row] = 0.0;  // those of rotors are no choice
        reactions_.spread_least_norm(rigid_rows());
        return;
    }
    reactions_.spread_over_tree();
    find_null_rows();
    reactions_.minimise_norm();
}

// What a row that depends on others exerts alone is carried by those that it depends on, and nothing moves.
void Recursive::find_null_rows() {
    if (statistics_.dropped_rows == 0) return;
    std::vector<double> dropped = lambda_, still(tangent_size());
    for (size_t d = 0; d < lambda_.size(); ++d) {
        if (!recursion_.dropped()[d] || is_left_out(d)) continue;
        std::fill(loads_.begin(), loads_.end(), recursive::Load{{0, 0, 0}, {0, 0, 0}});
        for (const recursive::RowEnd& end : recursion_.ends())
            if (end.row == static_cast<int>(d) && end.link >= 0) loads_[end.link] += end.load;
        std::fill(targets_.begin(), targets_.end(), 0.0);
        recursion_.solve(state_, {loads_.data(), nullptr, nullptr, nullptr, targets_.data()}, still.data(),
                         dropped.data());
        dropped[d] = 1.0;
        std::vector<double> all(model_->rows.size(), 0.0);
        for (size_t i = 0; i < dropped.size(); ++i) all[tree_.closing_rows[i]] = dropped[i];
        reactions_.add_null(std::move(all));
    }
}

}  // namespace bellcrank
