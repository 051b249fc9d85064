// Lock formulation: rows that fix some of the six numbers (x, y, z, e1, e2, e3) of a relative pose, evaluated for
// several joints at once, one per lane. After Tasora, who cites it for fifty joints (section 2; methods.md).
#pragma once

#include <span>
#include <vector>

#include "joints/marker_pair.hpp"
#include "spatial/lanes.hpp"

namespace bellcrank {

// What a joint's rows are made of and where its results go.
struct LockJoint {
    MarkerPair pair;
    double inverse_sqrt_mass[2];   // 0 for the ground
    Vec3 inverse_sqrt_inertia[2];  // principal axes; 0 for the ground
    int row;                       // first of its rows in the row arrays
    int jacobian;                  // offset of its Jacobian: two sides of K records of kTwist, scaled by M^(−1/2)
};

// All joints of a model that lock the same numbers.
class LockGroup {
  public:
    // locked: ascending indices into (x, y, z, e1, e2, e3).
    LockGroup(std::vector<int> locked, std::span<const LockJoint> joints);

    // C of each joint's rows (without constants of the model's rows).
    void values(const double* x, double* C) const;
    // C and the scaled Jacobian Ĵ = J M^(−1/2).
    void jacobians(const double* x, double* C, double* J) const;
    // J̇ u of each row: C̈ = J u̇ + bias.
    void biases(const double* x, const double* u, double* bias) const;

  private:
    // Constants of kLanes joints.
    struct Pack {
        int body[2][kLanes];
        Vec3T<Lane> marker1;       // A1ᵀ s1
        Vec3T<Lane> offset2;       // s2
        QuatT<Lane> rotation[2];   // marker → principal axes
        Mat3T<Lane> axes1;         // A1
        Mat3T<Lane> scaled_axes1;  // diag(I1^(−1/2)) A1
        Lane inverse_sqrt_mass[2];
        Vec3T<Lane> inverse_sqrt_inertia2;
        int row[kLanes], jacobian[kLanes];
    };
    struct Kinematics;

    Kinematics kinematics(const Pack& pack, const double* x) const;
    void store_values(const Pack& pack, const Kinematics& k, double* C) const;
    void store_jacobians(const Pack& pack, const Kinematics& k, double* J) const;

    std::vector<int> locked_;
    std::vector<Pack> packs_;
};

}  // namespace bellcrank
