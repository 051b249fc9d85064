// The six coordinates of a beam together, and what efforts along them exert.
#pragma once

#include <array>
#include <span>

#include "joints/coordinate.hpp"

namespace bellcrank {

// The number of a coordinate of a beam from 0, or −1.
int beam_number(const CoordinateKind& kind);

class BeamStrain {
  public:
    // rates: whether rates are asked for.
    BeamStrain(const RelativeMotion& motion, std::span<const double> params, bool rates);

    double value(int number) const { return y_[number]; }
    double rate(int number) const { return rate_[number]; }
    // Σ v ∇y, all six gradients in one pass backwards.
    void pull_back(const std::array<double, 6>& v, Vec3& dr, Vec3& domega) const;

  private:
    std::span<const double> params_;
    Vec3 r_, u_, phi_;
    double c_, d_;                                // of the logarithm
    std::array<std::array<double, 6>, 6> lower_;  // Cholesky's factor of f, its diagonal inverted
    std::array<double, 6> y_, rate_{};
};

}  // namespace bellcrank
