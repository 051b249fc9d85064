// Accelerations of all joints of a linkage to the digits of the description, whatever the masses: articulated inertias,
// and what the equations lack found in twice the digits.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "adaptive/joint_choice.hpp"
#include "spatial/double_double.hpp"

namespace bellcrank {

class ExactSolution {
  public:
    // Solves for assemblies of `linkage`, which the model makes.
    ExactSolution(const Model& model, const Linkage& linkage);

    // Takes the places, forces and efforts of an assembly. base: acceleration of the ground, in its axes.
    void solve(const RootedAssembly& assembly, const Vec3& base);

    // Along S, per freedom of the linkage.
    const std::vector<double>& rates() const { return rates_; }
    // Per link, by how much its joint's acceleration may be off: what refining left, and what rounding of the places
    // makes of it.
    const std::vector<double>& roundings() const { return roundings_; }
    // The largest of them, relative to the largest acceleration.
    double uncertainty() const { return uncertainty_; }
    // Whether refining did not get there: then accelerations are none.
    bool leaves_open() const { return unrefined_ > 1e-8; }

  private:
    void take(const RootedAssembly& assembly);
    void find_lacks(const Vec3& base);
    void judge(double left);
    void respond(const std::vector<double>& efforts);
    double largest(const std::vector<double>& rates) const;

    const Linkage& given_;
    const RootedAssembly* from_ = nullptr;
    const std::shared_ptr<const Linkage> linkage_;  // articulated
    RootedAssembly assembly_;
    Descent descent_;
    std::vector<int> given_number_;           // of the own links, in the other linkage
    std::vector<int> outward_;                // own links, parents first
    std::vector<double> forces_, efforts_;    // as given, per own link and freedom
    std::vector<double> own_, lack_, whole_;  // per own freedom: rates, what equations lack, the size of their terms
    std::vector<std::pair<double, double>> sizes_;  // per own link, of the terms of moments and of forces
    std::vector<MotionT<DoubleDouble>> motions_;
    std::vector<ForceT<DoubleDouble>> loads_;
    std::vector<double> rates_, roundings_;
    double uncertainty_ = 0.0, unrefined_ = 0.0;
};

}  // namespace bellcrank
