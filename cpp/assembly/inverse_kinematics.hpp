// Where bodies must go so that markers come to given poses while all constraints and stops hold.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "assembly/carried_chart.hpp"
#include "linalg/normal_matrix.hpp"
#include "model/constraint_rows.hpp"
#include "spatial/fields.hpp"

namespace bellcrank {

// Gauss and Newton's steps within the constraints, damped where they do not lead nearer (docs/theory/assembly.md,
// section 8). Angles are followed on their branches, so that shafts behind gears turn as often as they have to. Bodies
// stay where they were brought: the next search goes on from there. Rows of inertances take no part, stops only where
// they are violated or pushed against. Only restarts allocate.
class InverseKinematics {
  public:
    // A frame on a body, given in the body's frame, and what is asked of it.
    struct Target {
        int body;
        Vec3 position;
        Quat rotation;
        bool placed, turned;  // position, rotation
        BELLCRANK_FIELDS(Target, (body), (position, "m"), (rotation), (placed), (turned))
    };
    // Where it is to come to, in the world.
    struct Aim {
        Vec3 position;
        Quat rotation;
    };
    struct Miss {
        double distance, angle;  // m, rad; 0 where it was not asked
    };

    // open: blocks of the model that take no part.
    InverseKinematics(std::shared_ptr<const Model> model, std::span<const Target> targets, std::span<const int> open);

    // Starts from poses x (spatial/body_state.hpp) at time t, with angles on the branches nearest to values by
    // coordinate; null: on the principal ones, or where drives lead them.
    void place(double t, const double* x, const double* angles);
    // Goes as near to the aims as it can in so many steps. True if they are met; the constraints hold in any case if
    // they could be met where it started. tolerance: m, and rad of bodies by their length.
    bool reach(std::span<const Aim> aims, double tolerance, int steps);
    // The same, and where it is caught in a local minimum again from elsewhere within the limits, so many times; it
    // stays where it came nearest. Where it goes depends on nothing but where it starts.
    bool find(std::span<const Aim> aims, double tolerance, int steps, int restarts);

    int targets() const { return static_cast<int>(targets_.size()); }
    double time() const { return time_; }
    const std::vector<double>& poses() const { return x_; }
    const AngleBranches& branches() const { return branches_; }
    const Model& model() const { return *model_; }
    // Largest error of a constraint.
    double violation() const;
    Miss miss(int target) const;
    int steps() const { return steps_; }  // all so far

  private:
    // A target and the rows of its error: 3 of position [m], 3 of rotation, times the body's length [m].
    struct Led {
        int body;
        Vec3 arm;   // from the com, principal axes
        Quat axes;  // of the frame → principal axes
        bool asked[6];
        double length;
        double error[6], J[6][6];  // J is scaled as that of rows
    };
    struct Descent {
        double damping = 1e-4, growth = 2.0;  // damping relative to the largest diagonal entry of targets
        double value;                         // of the merit
    };
    // A coordinate between stops, by its rows in storage; −1: there is none on that side.
    struct Range {
        int coordinate, lower = -1, upper = -1;
    };
    static constexpr double kClosed = 1e-10;  // largest |C| that counts as met

    void evaluate();
    void evaluate_target(Led& led, const Aim& aim) const;
    double distance_squared() const;   // of all targets
    double violation_squared() const;  // in lengths
    double merit() const;
    void go(double factor);
    void keep();
    void go_back();
    bool close(double enough, int steps);
    void touch_stops();
    void form();
    void add_targets();
    void solve(double damping);
    bool is_misjudged(int row) const;
    bool solve_with_stops(double damping);
    double stride(double most) const;
    double predicted(double factor) const;
    bool step_nearer(Descent& d);
    void find_ranges();
    double uniform();
    void draw_ranges(bool whole);
    void wander();
    void pull();
    bool scatter(bool whole);
    void shake(double size);

    std::shared_ptr<const Model> model_;
    AngleBranches branches_, kept_branches_;
    ConstraintRows rows_;
    NormalMatrix normal_;
    CarriedChart chart_;
    std::mt19937_64 random_;
    std::vector<Led> targets_;
    std::vector<Aim> aims_;
    std::vector<int> followed_;  // coordinates
    std::vector<Range> ranges_;

    double time_ = 0.0, size_ = 1.0, target_scale_ = 1.0;
    int steps_ = 0;
    std::vector<double> length_;                             // of bodies [m]
    std::vector<double> x_, kept_, trial_;                   // poses
    std::vector<double> step_, twist_, shift_, right_;       // kTwist records
    std::vector<std::uint8_t> takes_part_, stop_, closed_;   // per storage row; closed_: a stop that is pushed against
    std::vector<double> unit_, weight_, multiplier_, rate_;  // per storage row; unit_: m per unit of C, squared
    std::vector<double> wanted_;                             // C of stops that restarts pull at; < 0: of none
};

}  // namespace bellcrank
