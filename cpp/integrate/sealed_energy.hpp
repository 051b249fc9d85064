// Energy that nothing brings in or takes away.
#pragma once

#include <vector>

#include "model/ports.hpp"

namespace bellcrank {

// Whether all that acts in a model is weight and rows that do not move; then the energy of a motion stays what it is,
// and a step that changes it is wrong, whatever its estimate says. What sources there are is not asked: with any of
// them, nothing is judged.
class SealedEnergy {
  public:
    // share: of the energy in play, that a step may change it by.
    SealedEnergy(const Manifold& manifold, Record& record, double share);

    bool is_kept(double t, const double* x, const double* u, double t1, const double* x1, const double* u1);

  private:
    Record& record_;
    double share_;
    bool sealed_;
    std::vector<double> slow_;
};

}  // namespace bellcrank
