// Rows that depend on others, by number of the model.
#include <algorithm>

#include "formulations/lagrange.hpp"

namespace bellcrank {

std::vector<int> Lagrange::dropped_rows() {
    std::vector<int> model_row(rows_.rows());
    for (int r = 0; r < rows_.rows(); ++r) model_row[rows_.storage_row(r)] = r;
    std::vector<int> dropped;
    for (int r : delassus_.dependent_rows()) dropped.push_back(model_row[r]);
    std::sort(dropped.begin(), dropped.end());
    return dropped;
}

std::vector<Dependence> Lagrange::dependences(int most) {
    std::vector<int> model_row(rows_.rows());
    for (int r = 0; r < rows_.rows(); ++r) model_row[rows_.storage_row(r)] = r;
    std::vector<Dependence> found = delassus_.dependences(most);
    for (Dependence& one : found) {
        one.row = model_row[one.row];
        for (auto& [row, factor] : one.of) row = model_row[row];
        std::sort(one.of.begin(), one.of.end());
    }
    std::sort(found.begin(), found.end(), [](const Dependence& a, const Dependence& b) { return a.row < b.row; });
    return found;
}

}  // namespace bellcrank
