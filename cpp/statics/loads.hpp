// What acts on bodies at rest: forces, the potential of those that have one, and how large they are.
#pragma once

#include <Eigen/Core>
#include <limits>
#include <vector>

#include "contacts/contacts.hpp"
#include "model/branches.hpp"
#include "model/model.hpp"

namespace bellcrank {

inline constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
inline constexpr double kRounding = 64.0 * kEpsilon;  // of sums over a mechanism
inline constexpr double kBeside = 1e-9;  // of a coordinate or a place: where a derivative is looked at again, for kinks

// Six numbers per body, translation (world axes) over rotation (principal axes); rotations are multiplied by a length
// of the body, and moments divided by it, so that all displacements are in metres and all forces in newtons. Masses do
// not come in: a light body counts as much as a heavy one.
class Metric {
  public:
    explicit Metric(const Model& model);

    int size() const { return 6 * static_cast<int>(length_.size()); }
    double length(int body) const { return length_[body]; }
    double extent() const { return extent_; }  // of the largest body [m]
    // Converts from and to records (spatial/body_state.hpp).
    void force(const double* records, Eigen::VectorXd& out) const;
    void displacement(const Eigen::VectorXd& v, double* records) const;

  private:
    std::vector<double> length_;
    double extent_ = 1.0;
};

// Forces at rest at a time: dampers and friction exert nothing, functions of time have their value then.
class Loads {
  public:
    Loads(const Model& model, const AngleBranches& branches, double t);

    // In records: all forces, and those of them that have no potential.
    void all(const double* x, double* force) const;
    void without_potential(const double* x, double* force) const;
    bool have_potentials() const { return follower_wrenches_.empty() && free_formulas_.empty(); }
    // The potential of gravity, springs, forces of constant direction and efforts that depend on time only [J]; and the
    // sum of the sizes of its parts, which its rounding goes by.
    struct Potential {
        double value = 0.0, size = 0.0;
        void add(double part) {
            value += part;
            size += part < 0.0 ? -part : part;
        }
    };
    Potential potential(const double* x) const;
    // The largest force that gravity or one element exerts on a body [N]; moments over the body's length.
    double largest(const double* x, const Metric& metric) const;
    // What rounding of poses and coordinates makes of the forces of laws [N].
    double rounding(const double* x, const Metric& metric) const;
    // dτ/dφ of a law at rest, and by how much it jumps there.
    struct Slope {
        double value = 0.0, error = 0.0;
    };
    Slope slope(const Law& law, double value) const;
    double effort(const Law& law, double value) const;

  private:
    void add_wrench(const Wrench& w, const double* x, bool moment_only, double* force) const;

    const Model& model_;
    const AngleBranches& branches_;
    mutable Contacts contacts_;  // without friction: nothing has moved yet
    double t_;
    std::vector<double> rest_;  // zero twists
    mutable std::vector<Dual4> law_numbers_;
    std::vector<int> follower_wrenches_;  // with a moment, or with components in marker axes
    std::vector<int> free_formulas_;      // forces given by formulas that are not a potential
};

// The six values of a wrench at a time: moment, force; in its own axes.
void wrench_values(const Model& model, const Wrench& w, double t, double value[6]);

}  // namespace bellcrank
