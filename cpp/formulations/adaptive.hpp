// Accelerations of trees of joints along an assembly tree (R. Featherstone 1999; S. Redon and M. Lin 2005), like those
// of the other formulations. Runs that cost what moves have drivers of their own (adaptive/quasistatics.hpp,
// dynamics.hpp).
#pragma once

#include <memory>
#include <vector>

#include "adaptive/exact_solution.hpp"
#include "bodies/bodies.hpp"
#include "trees/tree_reactions.hpp"

namespace bellcrank {

class Adaptive final : public Bodies {
  public:
    // Throws std::invalid_argument with all reasons if the model cannot be taken.
    explicit Adaptive(std::shared_ptr<const Model> model);

    void accelerate(double t, const double* x, const double* u, double* udot) override;

  private:
    void share_loads() override;
    void place(const double* x, const double* u);
    const std::vector<double>& solve();

    const std::shared_ptr<const Linkage> linkage_;
    std::vector<int> outward_;  // links, parents first
    RootedAssembly assembly_;
    Descent descent_;
    std::unique_ptr<ExactSolution> exact_;  // made where joins lack digits
    std::vector<JointMap> joints_;          // parents first
    TreeReactions reactions_;
    std::vector<double> force_, poses_, twists_, rates_;  // records
    std::vector<Place> frames_;                           // of the links, in the world
    std::vector<Twist> twists_of_;                        // of them, in their axes
    std::vector<double> motions_;                         // per link its acceleration beside gravity, in its frame
};

}  // namespace bellcrank
