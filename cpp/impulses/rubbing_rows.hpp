// Dry friction of joints in steps by impulses: rows whose impulses lie within bounds.
#pragma once

#include <vector>

#include "cones/problem.hpp"

namespace bellcrank {

// Who knows what holds and what slips (closing/rubbing_steps.cpp).
class RubbingRows {
  public:
    // Of a law of dry friction in a step: the efforts between which it lies; whether it held before, so that positions
    // stay, or with what sense it slipped.
    struct Rubbing {
        ImpulseRange effort;
        bool holds = false;
        double sense = 0.0;
    };

    // A step begins at a state, and ends at a time. From now on forces are without their dry parts. rows: by law of the
    // model. False where friction jams.
    virtual bool begin_rubbing(double t, const double* x, const double* u, double end, std::vector<Rubbing>& rows) = 0;
    // The step has ended at a state, where a law slips with a sense, 1 or −1, or holds, 0. If some do otherwise than
    // before, what is no faster than `slow` may come to rest, all together.
    virtual void end_rubbing(double t, double* x, double* u, const std::vector<double>& senses, bool otherwise,
                             double slow) = 0;
    // The step is not taken.
    virtual void leave_rubbing() = 0;

  protected:
    ~RubbingRows() = default;
};

}  // namespace bellcrank
