// The orders of backward differentiation formulas that a motion's fast oscillations leave stable.
#pragma once

#include "integrate/oscillations.hpp"

namespace bellcrank {

inline constexpr int kMaxBdfOrder = 5;

// From order 3 on the formulas let oscillations grow that nothing damps and that a step covers by a fraction of a
// radian to a few (Hairer, Wanner, Solving Ordinary Differential Equations II, fig. V.1.1); order 2 damps them. They
// grow unseen until the error shows them, and then each must be followed: so they are looked for before. CVODE looks at
// how the terms of the history grow; here the equations themselves are asked.
class StableOrders {
  public:
    StableOrders(const Dynamics& dynamics, Implicit& implicit);

    void restart();
    // Before a step h from (t, x, u) by a formula of `order`. True if it has linearized the equations, for others.
    bool look(double t, const double* x, const double* u, int order, double h, double gamma);
    int highest() const { return highest_; }

  private:
    Oscillations oscillations_;
    const bool moves_;
    int highest_, wait_, patience_;  // steps until the next look; between looks
    int growing_, transit_;          // looks in a row that found growth; how many may
};

}  // namespace bellcrank
