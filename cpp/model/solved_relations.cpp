#include "model/solved_relations.hpp"

#include <cmath>
#include <utility>

namespace bellcrank {

namespace {

constexpr double kNothing = 1e-9;  // part of a row's largest coefficient below which nothing is left of it

struct Pivot {
    size_t row;
    int column;
};

// The largest entry of rows k and after in columns that are free; column −1 if nothing is left of these rows.
Pivot largest_entry(const std::vector<std::vector<double>>& rows, size_t k, const std::vector<char>& is_pivot) {
    Pivot found{k, -1};
    double largest = kNothing;
    for (size_t r = k; r < rows.size(); ++r)
        for (size_t j = 0; j < is_pivot.size(); ++j)
            if (!is_pivot[j] && std::abs(rows[r][j]) > largest)
                largest = std::abs(rows[r][j]), found = {r, static_cast<int>(j)};
    return found;
}

}  // namespace

std::optional<SolvedRelations> solved_relations(std::vector<std::vector<double>> rows, int n, double tolerance) {
    SolvedRelations found;
    std::vector<char> is_pivot(n, 0);
    for (size_t k = 0; k < rows.size(); ++k) {
        const Pivot best = largest_entry(rows, k, is_pivot);
        if (best.column < 0) {
            for (size_t r = k; r < rows.size(); ++r)
                if (std::abs(rows[r][n]) > tolerance) return std::nullopt;
            rows.resize(k);
            break;
        }
        std::swap(rows[k], rows[best.row]);
        std::vector<double>& row = rows[k];
        const double pivot = row[best.column];
        for (double& entry : row) entry /= pivot;
        for (size_t r = 0; r < rows.size(); ++r) {
            const double factor = rows[r][best.column];
            if (r == k || factor == 0.0) continue;
            for (int j = 0; j <= n; ++j) rows[r][j] -= factor * row[j];
            rows[r][best.column] = 0.0;
        }
        is_pivot[best.column] = 1;
        found.pivots.push_back(best.column);
    }
    for (int j = 0; j < n; ++j)
        if (!is_pivot[j]) found.free.push_back(j);
    found.rows = std::move(rows);
    return found;
}

}  // namespace bellcrank
