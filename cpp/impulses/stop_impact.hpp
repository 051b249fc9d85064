// Impulses of stops: of those that are hit, and of all others that are closed.
#pragma once

#include <functional>
#include <vector>

#include "cones/dense_operator.hpp"
#include "cones/solver.hpp"
#include "model/stops.hpp"

namespace bellcrank {

// The complementarity problem of an impact (docs/theory/impulses.md, section 7). With v the speeds of the stops where
// all equations are satisfied and no stop pushes, and b what restitution asks for,
//   0 ≤ y = v + G P − b ⟂ P ≥ 0    on all stops that are closed,
// G being the speeds that unit impulses make. Of G only the columns of those that push or would be passed are needed.
class StopImpact {
  public:
    // Adds the speeds of all stops that an impulse of 1 on one of them makes while equations are satisfied and all
    // others are open; false, with nothing added, if it makes none.
    using Response = std::function<bool(int stop, double* speeds)>;

    // For the candidates, speeds and bounces of `stops`; leaves what pushes active. Where the law asks for what no
    // impulses can do, it does with half of the restitution, and with none.
    void find(Stops& stops, const Response& response);

    // Those for which a response was asked, in that order, and their impulses, which are not negative.
    const std::vector<int>& struck() const { return struck_; }
    const std::vector<double>& impulses() const { return impulses_; }
    // By what all of them change the speed of one of those.
    double change(size_t struck) const { return after_[struck_[struck]] - before_[struck_[struck]]; }

  private:
    bool solve(const Stops& stops, double part, const Response& response);
    bool add_passed(const Stops& stops, double part, const Response& response);
    bool find_impulses(const std::vector<double>& bounce, double part);

    std::vector<int> struck_;
    std::vector<std::uint8_t> is_struck_, is_still_;  // by stop
    std::vector<double> columns_;                     // of G, by struck_
    std::vector<double> impulses_, before_, after_;   // by struck_; speeds by stop
    std::vector<double> scaled_, scale_, q_;
    double size_ = 0.0;  // the largest speed
    ConeLayout layout_;
    DenseConeOperator operator_;
    ConeSolver solver_;
};

}  // namespace bellcrank
