#include "matrices/minimum_degree.hpp"

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>

namespace bellcrank {

std::vector<int> approximate_minimum_degree(int nodes, std::span<const std::pair<int, int>> couplings) {
    std::vector<Eigen::Triplet<double>> entries;
    entries.reserve(2 * couplings.size() + nodes);
    for (int i = 0; i < nodes; ++i) entries.emplace_back(i, i, 1.0);
    for (const auto& [i, j] : couplings) {
        entries.emplace_back(i, j, 1.0);
        entries.emplace_back(j, i, 1.0);
    }
    Eigen::SparseMatrix<double> pattern(nodes, nodes);
    pattern.setFromTriplets(entries.begin(), entries.end());
    Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> permutation;
    Eigen::AMDOrdering<int>()(pattern, permutation);
    // Eigen's indices() hold, for each step, the node eliminated then.
    return {permutation.indices().data(), permutation.indices().data() + nodes};
}

}  // namespace bellcrank
