// A chart in which bodies carry what hangs on them.
#pragma once

#include <vector>

#include "model/constraint_rows.hpp"
#include "spatial/rotation.hpp"

namespace bellcrank {

// Moves bodies along displacements: each follows the body that it hangs on and moves against it by the exponential of
// their relative twist. To first order that is what Bodies::retract does; but joints along one screw axis (revolute,
// prismatic, screw) stay closed however far they go, and a shaft may turn many times about an axis that moves. Which
// body hangs on which is a spanning forest of the rows' blocks, those of most rows first.
class CarriedChart {
  public:
    CarriedChart(const Model& model, const ConstraintRows& rows);

    // Where displacements `twist` take the poses x; out is another array.
    void move(const double* x, const double* twist, double* out) const;
    // Adds to the displacement of each body what it is carried along by, that of the body which it hangs on.
    void carry(const double* x, double* twist) const;
    // How far bodies go against those that carry them, at most [rad, m].
    struct Extent {
        double turn = 0.0, shift = 0.0;
    };
    Extent extent(const double* x, const double* twist) const;

  private:
    struct Relative {
        Vec3 velocity, spin;  // world axes, principal axes
    };
    Relative taken_along(const double* x, const double* twist, int body) const;

    int bodies_;
    std::vector<int> order_, parent_;  // of bodies, those that carry first; −1: carried by none
};

}  // namespace bellcrank
