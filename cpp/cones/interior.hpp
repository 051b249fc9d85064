// Primal-dual interior method for contacts with exact friction.
#pragma once

#include <vector>

#include "cones/regularized.hpp"
#include "cones/second_order_cone.hpp"

namespace bellcrank {

struct InteriorRule {
    double boundary = 0.99;       // part of the way to the boundary that a step may go
    double least_centring = 0.0;  // of σ
    bool damped = false;          // the corrector's second-order term by the length of the predictor
};

// Mehrotra's predictor and corrector with Nesterov and Todd's scaling; what makes friction exact is the term that De
// Saxcé adds to the normal velocity, linearized where it is (docs/theory/cones.md).
class InteriorMethod {
  public:
    void resize(const ConeLayout& layout);
    // At impulses that are equal in all contacts, scaled by their mobility.
    void start(const ConeProblem& problem, const InteriorRule& rule);
    // At given impulses and their velocities, moved away from the boundaries of their cones by a part of the scale.
    void start_from(const ConeProblem& problem, const InteriorRule& rule, const double* impulses, double part);
    // Steps until the natural residual is at most `target`, or `steps` have been taken in all since start, or steps
    // have become short. The impulses of the last step; counts in the report.
    ConeResidual run(const ConeProblem& problem, double target, int steps, ConeReport& report);
    const std::vector<double>& impulses() const { return x_; }
    bool can_go_on() const { return !stuck_; }

  private:
    struct Cone {
        int block, row, size;  // rows of the tail begin at `row` of the block
        double coefficient;    // s = (coefficient · (λ_n + given), tail of λ); negative at an upper bound
        double given;
        ConePoint s, z, v, p, ds, dz;
        ConeScaling W;
    };
    static double weight_of(const Cone& c, const ConeProblem& problem);
    bool step(const ConeProblem& problem);
    void place(const ConeProblem& problem);
    void scale(const ConeProblem& problem);
    void compliance(const ConeBlock& block);
    void direction(const ConeProblem& problem, bool corrector);
    double reach(double part) const;
    double complementarity(double length) const;

    InteriorRule rule_;
    std::vector<Cone> cones_;
    std::vector<int> first_;  // per block: its cones
    RegularizedSystem system_;
    std::vector<double> x_, u_, F_, dx_, work_;
    int taken_ = 0, short_ = 0;
    bool stuck_ = false;
    double best_residual_ = 0.0;
    int last_gain_ = 0;
};

}  // namespace bellcrank
