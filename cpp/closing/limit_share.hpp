// How loads that redundant rows share can be shared so that none of them exceeds what it can bear.
#pragma once

#include <vector>

namespace bellcrank {

// A row that bears up to `most` to both sides, or, where that is infinite, any push and no pull; of friction, whatever
// is of the sign of its effort. shift: by what it
// bears more for each n; empty: for none.
struct BearingRow {
    int row;
    double most;
    int law = -1;  // of friction
    std::vector<double> shift{};
};

// The least s for which λ + Σ z_k n_k is within s times what each row bears at z = 0, and within it by as much at other
// z, and these z: a linear program, of which the rows at their limits say what motion begins where s passes one
// (docs/theory/friction.md).
double share_within_limits(const std::vector<BearingRow>& rows, const std::vector<double>& lambda,
                           const std::vector<std::vector<double>>& nothing, std::vector<double>& z);

}  // namespace bellcrank
