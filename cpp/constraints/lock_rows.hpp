// Lock formulation: rows that fix some of the six numbers (x, y, z, e1, e2, e3) of a relative pose, evaluated for
// several joints at once, one per lane. After Tasora, who cites it for fifty joints (section 2;
// docs/theory/lagrange.md).
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "joints/marker_pair.hpp"
#include "spatial/body_state.hpp"

namespace bellcrank {

// What a joint's rows are made of and where its results go.
struct LockJoint {
    MarkerPair pair;
    Vec3 inverse_sqrt_inertia[2];  // principal axes; 0 for the ground
    int row;                       // first of its rows in the row arrays
    int jacobian;                  // offset of its Jacobian, records of kRow: the linear parts of body 2, K angular
                                   // parts of body 1, K of body 2; these scaled by I^(−1/2)
};

// What is asked of rows at a configuration x; results that are null are not formed.
struct RowResults {
    double* C = nullptr;         // without constants of the model's rows
    double* J = nullptr;         // as LockJoint says
    double* residual = nullptr;  // −C̈ at twists u and their rates u̇, which are only read for it
};

// All joints of a model that lock the same numbers.
class LockGroup {
  public:
    // locked: ascending indices into (x, y, z, e1, e2, e3).
    LockGroup(std::vector<int> locked, std::span<const LockJoint> joints);

    // Joints are evaluated several together, from `begin` to before `end` of packs().
    int packs() const;
    void evaluate(int begin, int end, const double* x, const double* u, const double* udot,
                  const RowResults& out) const;

  private:
    struct Packs;  // of lanes, which only lock_rows.cpp sees
    std::shared_ptr<const Packs> packs_;
};

}  // namespace bellcrank
