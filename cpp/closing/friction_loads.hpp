// Limits of dry friction that grow with what rows exert, and the efforts of what slips that agree with them
// (docs/theory/friction.md, section 4).
#pragma once

#include <array>
#include <vector>

#include "closing/load_forms.hpp"
#include "model/branches.hpp"
#include "model/model.hpp"
#include "model/system.hpp"

namespace bellcrank {

// The load of a law is Σ weight |z|, with z linear forms of what rows exert. Slipping efforts −σ L move the loads that
// limit them: z = z₀ + C L, as all else is linear. L solves L = T(z₀ + C L).
class FrictionLoads {
  public:
    explicit FrictionLoads(const Model& model);

    bool empty() const { return laws_.empty(); }
    bool is_loaded(int law) const { return of_law_[law] >= 0; }

    // Which laws slip, and how near to rest they are; loads are those that their past lets expect. If others do than
    // before, responses are unknown.
    void begin(System& system, double t, const double* x, const double* u);
    int slipping() const { return static_cast<int>(slips_.size()); }
    // z of a solution; where the rows' Jacobians are others than before, place() comes first, as it does before look().
    void place(const RowLoads& loads) { forms_.place(loads); }
    void take(const RowLoads& loads);

    bool knows_responses() const { return known_; }
    // Responses are found one by one: the load of one slip is set aside, and z is taken.
    void set_aside(int slip);
    void take_response(int slip, const RowLoads& loads);
    void forget_responses() { known_ = false; }

    // After take(): whether loads agree with what they limit; else better ones, or those that do.
    enum class Found { settled, better, last, jammed };
    Found improve();
    // Sets the loads in the memory of friction, which act from then on.
    void tell(AngleBranches& branches);
    // By what efforts change with that, by law.
    void changes(std::vector<double>& efforts) const;
    // They are those of time t.
    void settle(double t);
    // Up to which part of its coefficient friction would have had a solution, where it has none, and the law that
    // grows most.
    double jams_beyond() const { return beyond_; }
    int jams_at() const { return jams_at_; }
    // After a solution that agrees, with responses known: by which factor coefficients could grow before
    // det(1 − T′ C) comes to zero, at these loads.
    double jams_at_times();

    // By what the load raises the effort up to which a law holds that begins to slip with a sense; 0: either.
    double holding(int law, double sense) const { return held(law, sense, z_.data(), nullptr); }
    // By what it raises the effort of a law that slips, with a part of its speed's effect left.
    double slipping(int law, double sense, double at_start) const {
        return of_law_[law] < 0 ? 0.0 : size(laws_[of_law_[law]], sense, at_start, z_.data(), nullptr);
    }
    // Of one that begins to, at other multipliers, and its change by each that exerts nothing, after look().
    void look(const RowLoads& loads, const std::vector<std::vector<double>>& nothing);
    double holding(int law, double sense, std::vector<double>& shift);

    // By storage row the part, up to 1, that it has in those multipliers that exert nothing and change a law's load.
    std::vector<double> share_that_loads(int law, const RowLoads& loads);

  private:
    struct Loaded {
        int law;
        size_t begin, end;  // of model.friction_loads
        int first, last;    // of the forms
        double falls_over;  // speed; 0: at once
    };
    struct Slip {
        size_t loaded;
        double sense, at_start;  // of the speed; the part of stiction that has not fallen
    };
    struct Past {
        double t;
        std::vector<double> loads;  // by slip
    };
    double held(int law, double sense, const double* z, double* slope) const;
    double size(const Loaded& of, double sense, double at_start, const double* z, double* slope) const;
    void expect(double t);
    void find_wraps(const Scenery& at);
    bool newton(double part);
    bool grow();
    double slope_at(double part);

    const Model& model_;
    LoadForms forms_;
    std::vector<Loaded> laws_;
    std::vector<int> of_law_;            // by law of the model: place in laws_, −1: none
    std::vector<Slip> slips_, slipped_;  // now; at the call before
    std::vector<double> z_, tried_;      // by form
    std::vector<double> wraps_;          // angles of ropes around wheels, by load of the model
    bool has_ropes_ = false;
    std::vector<double> load_;                  // by slip: the one that z_ is of
    std::vector<double> found_, step_, start_;  // by slip: better ones
    std::vector<double> acts_;                  // by slip: the one that acts
    std::vector<double> responses_;             // C: z by slip
    std::vector<double> slopes_, matrix_, before_;
    std::vector<double> looked_, nothing_;  // z at look(); of each that exerts nothing
    static constexpr size_t kMostPast = 3;
    std::array<Past, kMostPast> past_;  // the last first
    int known_past_ = 0;
    bool known_ = false, moves_ = false;
    double missing_ = 0.0, largest_ = 0.0;  // at slope_at(): of loads; of these
    double error_ = 0.0, beyond_ = 0.0, aside_ = 0.0;
    double heaviest_ = 0.0, transmitted_ = 0.0;  // the largest weight of a number; the largest multiplier
    int jams_at_ = -1;
};

}  // namespace bellcrank
