// Lock formulation: rows that fix some of the six numbers (x, y, z, e1, e2, e3) of a relative pose, evaluated for
// several joints at once, one per lane. After Tasora, who cites it for fifty joints (section 2; methods.md).
#pragma once

#include <span>
#include <vector>

#include "joints/marker_pair.hpp"
#include "spatial/body_rows.hpp"
#include "spatial/lanes.hpp"

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
    int packs() const { return static_cast<int>(packs_.size()); }
    void evaluate(int begin, int end, const double* x, const double* u, const double* udot,
                  const RowResults& out) const;

  private:
    // Constants of kLanes joints.
    struct Pack {
        int body[2][kLanes];
        int row[kLanes], jacobian[kLanes];
        Vec3T<Lane> marker1;      // A1ᵀ s1
        Vec3T<Lane> offset2;      // s2
        QuatT<Lane> rotation[2];  // marker → principal axes
        Vec3T<Lane> inverse_sqrt_inertia[2];
    };
    struct PairMotion;

    PairMotion pair_motion(const Pack& pack, const double* x) const;
    void store_values(const Pack& pack, const PairMotion& k, double* C) const;
    void store_jacobians(const Pack& pack, const PairMotion& k, double* J) const;
    void store_residuals(const Pack& pack, const PairMotion& k, const double* u, const double* udot,
                         double* residual) const;
    void store_locked(const Pack& pack, const Lane all[6], double* rows) const;
    void fetch_pack(int i) const;
    void fetch_jacobians(int i, double* J) const;

    std::vector<int> locked_;
    std::vector<Pack> packs_;
};

}  // namespace bellcrank
