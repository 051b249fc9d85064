// Linear relations solved for as many of their unknowns as they determine.
#pragma once

#include <optional>
#include <vector>

namespace bellcrank {

// Row i is  x[pivots[i]] + Σ rows[i][j] x[j] = rows[i][n]  with j in free.
struct SolvedRelations {
    std::vector<std::vector<double>> rows;
    std::vector<int> pivots, free;
};

// Of rows  Σ row[j] x[j] = row[n]  of n unknowns, by Gauss and Jordan with the largest pivots. Nothing if rows
// contradict each other by more than a tolerance.
std::optional<SolvedRelations> solved_relations(std::vector<std::vector<double>> rows, int n, double tolerance);

}  // namespace bellcrank
