// Limits of dry friction that grow with what rows exert, and the efforts of what slips that agree with them
// (docs/theory/friction.md, section 4).
#pragma once

#include <vector>

#include "closing/row_loads.hpp"
#include "model/branches.hpp"
#include "model/model.hpp"

namespace bellcrank {

// The load of a law is Σ weight |A w|, with w the wrench of a joint, or multipliers of rows. Slipping efforts −σ L move
// the loads that limit them: w = w₀ + C L, as all else is linear. L solves L = T(w₀ + C L).
class FrictionLoads {
  public:
    explicit FrictionLoads(const Model& model);

    bool empty() const { return laws_.empty(); }
    bool is_loaded(int law) const { return of_law_[law] >= 0; }

    // w of a solution.
    void take(const RowLoads& loads, const double* poses);
    // Which laws slip, and how near to rest they are. If others do than before, responses are unknown.
    void begin(const Scenery& at);
    int slipping() const { return static_cast<int>(slips_.size()); }
    bool knows_responses() const { return known_; }
    // Responses are found one by one: a slipping law's load is set aside, and w is taken.
    void set_aside(int slip);
    void take_response(int slip, const RowLoads& loads, const double* poses);
    void forget_responses() { known_ = false; }

    // After take(): whether loads agree with what they limit; else better ones.
    enum class Found { settled, better, jammed };
    Found improve();
    // Sets the loads in the memory of friction.
    void tell(AngleBranches& branches) const;
    // Up to which part of its coefficient friction would have had a solution, where it has none, and the law that
    // grows most.
    double jams_beyond() const { return beyond_; }
    int jams_at() const { return jams_at_; }

    // By what the load raises the effort up to which a law holds that begins to slip with a sense; 0: either.
    double holding(int law, double sense) const { return held(law, sense, w_.data(), nullptr); }
    // The same at multipliers, with its change by others that exert nothing.
    double holding(int law, double sense, const RowLoads& loads, const double* poses,
                   const std::vector<std::vector<double>>& nothing, std::vector<double>& shift);

  private:
    struct Loaded {
        int law;
        size_t begin, end;  // of model.friction_loads
        double falls_over;  // speed; 0: at once
    };
    struct Slip {
        size_t loaded;
        double sense, at_start;  // of the speed; the part of stiction that has not fallen
    };
    double held(int law, double sense, const double* w, double* slope) const;
    double size(const Loaded& of, double sense, double at_start, const double* w, double* slope) const;
    void gather(const RowLoads& loads, const double* poses, const std::vector<double>& multipliers,
                std::vector<double>& w) const;
    bool newton(double part);
    bool grow();
    double slope_at(double part);

    const Model& model_;
    std::vector<Loaded> laws_;
    std::vector<int> of_law_;                   // by law of the model: place in laws_, −1: none
    std::vector<Slip> slips_, slipped_;         // now; at the call before
    std::vector<double> w_, tried_;             // six by load of the model
    std::vector<double> wraps_;                 // angles of ropes around wheels, by load of the model
    std::vector<double> load_;                  // by slip: the one that acted
    std::vector<double> found_, step_, start_;  // by slip: better ones
    std::vector<double> responses_;             // C: w by slip
    std::vector<double> slopes_, matrix_, before_, moved_;
    bool known_ = false, moves_ = false;
    double error_ = 0.0, beyond_ = 0.0, aside_ = 0.0;
    double heaviest_ = 0.0, transmitted_ = 0.0;  // the largest weight of a number; the largest multiplier
    int jams_at_ = -1;
};

}  // namespace bellcrank
