// The recursion where it has no loops: the articulated-body algorithm in three passes, over one state or over as many
// as a vector holds. Takes turns, slides, balls and free bodies, gravity, drives, rotors, and laws along coordinates of
// the tree; everything else takes the general way (recursion.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "formulations/recursive/links.hpp"
#include "spatial/aligned.hpp"
#include "spatial/lanes.hpp"

namespace bellcrank::recursive {

// What the passes read of a link, close together.
struct LinkConstants {
    int parent, x, u;
    int branch;  // where what children other than the first pass up is gathered; −1: there are none
    int extra;   // ball, free: place of what the way down needs
    int given;   // drive, −1: none
    int rows;    // its own inertia by rows; −1: it is not passed up by rows
    Motion motion;
    bool has_child;
    bool axial;  // the frame of its turn is reached along x, about x and along z: R and r say no more
    double R[9], r[3];
    double mass, moment[3], second[6];
    double offset, rotor;
    double along;  // axial: the shift along z
};

// A link's own inertia by rows: J, [h], and its mass three times.
struct OwnRows {
    Lane A[3], B[3], mass;
};

// What a pass leaves for the next.
template <class T>
struct LinkWork {
    T sine, cosine;
    MotionT<T> velocity;
    ForceT<T> U;   // I s
    T inverse, z;  // 1/d; effort left along the joint, or its given acceleration
};

// S = L D Lᵀ: below the diagonal of L, and D⁻¹.
inline constexpr int kFactors = 6;
// A ball keeps D⁻¹ n (3), D⁻¹ B (9) and the factors of D; a free body its acceleration (6), A⁻¹ B (9), the factors of A
// and those of C − Bᵀ A⁻¹ B.
inline constexpr int kExtra = 15 + 2 * kFactors;

class TreePass {
  public:
    TreePass(const Model& model, const LinkTree& tree);
    // Whether nothing of the model needs the general way.
    static bool takes(const Model& model, const LinkTree& tree);

    // T: double or Lane. x, u, udot: one T per coordinate or speed.
    template <class T>
    void accelerate(double t, const T* x, const T* u, T* udot);
    // Many states, one after another in x, u and udot: as many side by side as a vector holds.
    void accelerate_batch(double t, int states, const double* x, const double* u, double* udot);

    // How often accelerations of one state have been found: what is kept of the last is new when this is.
    std::int64_t passes() const { return passes_; }
    // A link's frame as it is chosen here, in that of the link tree.
    const Place& chosen(int link) const { return chosen_[link]; }

  private:
    friend class PassTangent;
    template <class T>
    struct Workspace {
        std::vector<LinkWork<T>, AlignedAllocator<LinkWork<T>>> link;
        std::vector<ArticulatedT<T>, AlignedAllocator<ArticulatedT<T>>> inertia;  // per branch
        std::vector<ForceT<T>, AlignedAllocator<ForceT<T>>> load;                 // per branch
        std::vector<T, AlignedAllocator<T>> extra, effort;
    };
    template <class T>
    Workspace<T>& workspace();
    template <class T>
    void efforts(double t, const T* x, const T* u, T* out) const;
    template <class T>
    void velocities(Workspace<T>& w, const T* x, const T* u);
    template <class T>
    void inertias(Workspace<T>& w, const T* x, const T* u);
    template <class T>
    void pass(Workspace<T>& w, int link, const T* x, const T* u, ArticulatedT<T>& I, ForceT<T>& p);
    // Passes up a run of axial turns that begins with a link at its outer end; the last link of it.
    int pass_axial(Workspace<double>& w, int link, const double* u, ArticulatedT<double>& I, ForceT<double>& p);
    template <class T>
    void pass_other(Workspace<T>& w, int link, const T* x, const T* u, ArticulatedT<T>& I, ForceT<T>& p);
    template <class T>
    void pass_free(Workspace<T>& w, int link, ArticulatedT<T>& I, ForceT<T>& p);
    template <class T>
    void accelerations(Workspace<T>& w, const T* x, const T* u, T* udot);
    template <class T>
    void accelerate_other(Workspace<T>& w, int link, const T* x, const T* u, const MotionT<T>& parent, T* udot);

    const Model& model_;
    std::vector<LinkConstants, AlignedAllocator<LinkConstants>> links_;
    std::vector<OwnRows, AlignedAllocator<OwnRows>> own_rows_;
    std::vector<Place> chosen_;
    JointEfforts efforts_;
    std::vector<Drive> drives_;
    std::vector<double> given_;
    std::int64_t passes_ = 0;
    int branches_ = 0, extras_ = 0, coordinates_ = 0, speeds_ = 0;
    Workspace<double> one_;
    Workspace<Lane> lanes_;
    std::vector<Lane, AlignedAllocator<Lane>> batch_;
};

}  // namespace bellcrank::recursive
