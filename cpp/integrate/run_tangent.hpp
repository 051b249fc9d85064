// What the frames of a run do along directions of its start and of the model's numbers, and gradients by these
// (docs/theory/run-derivatives.md).
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "integrate/runge_kutta.hpp"
#include "integrate/tape.hpp"
#include "tangents/model_tangent.hpp"

namespace bellcrank {

// Follows a tape with the stages of Dormand and Prince, and along each the equations of motion in its directions:
//   ξ̇ = δu − ω × ξ,   δu̇ of Derivatives::tangent() in axes that turn likewise,
// linear equations, solved by the same method with the same steps. An impact of a stop with the gap g changes its time
// by δt = −δg / ġ, so that states beside it are compared at the same time.
class RunTangent {
  public:
    // A number of each output: a coordinate of the model, its rate or second rate, the multiplier of a row, a number of
    // a body's frame (kFrameNumbers × body + number).
    struct Watched {
        enum class What { value, rate, second, multiplier, frame, time };
        What what;
        int number;
    };
    struct State {
        std::vector<double> x, u;
    };
    // What makes derivatives large or one-sided.
    struct Remark {
        enum class What { grazing, together, touching, idle, open, jump };
        What what;
        double t;
        int stop;     // −1: none
        double size;  // speed of the impact; gap of another stop; load of a closed one; by how much rows stay open;
                      // change of an acceleration
    };

    // The system's inputs take other values at a time.
    using SetInputs = std::function<void(double t, const std::vector<double>&)>;
    // Some place of a model's number, in an interval of the tape in which inputs are held; −1: in all of them.
    struct HeldPlace {
        NumberPlace place;
        int interval = -1;
    };

    // A tape of a method other than that of Dormand and Prince, or of smaller tolerances than these (is_looser), is
    // followed in steps of its own. Throws Refusal
    // for a tape that cannot be followed.
    RunTangent(const Ports& ports, const Model& model, Tape tape, const std::string& method,
               const Tolerances& tolerances, bool is_looser, std::vector<Watched> watched, SetInputs set_inputs);

    RunTangent(const RunTangent&) = delete;
    RunTangent& operator=(const RunTangent&) = delete;

    // Where the run began; branches of angles are as they were there.
    State begin();
    double begins_at() const { return tape_[0].t; }
    // Each of `count` directions: changes of the state, (count, n), and of numbers, (count, places); they are closed.
    // out: (outputs, count, watched). left: by how much rows stay open at the start, for each direction. impacts:
    // changes of their times, (impacts, count).
    void forward(int count, const double* dx, const double* du, std::span<const HeldPlace> places, const double* along,
                 double* out, double* left, double* impacts);
    // The gradient of Σ seed · number, seeds (outputs, watched) and (impacts,) of their times: by the state at the
    // start, and by numbers. error: what the sum would be without errors of the method, less what it is; null: not
    // asked for. Errors of steps go through the equations along directions as everything else does.
    void backward(const double* seeds, const double* impacts, std::span<const HeldPlace> places,
                  Derivatives::Gradient& start, double* by_numbers, double* error);
    // What is watched on both sides of an impact, and its time.
    double beside_impact(int number, double* before, double* behind);

    int outputs() const { return tape_.outputs(); }
    int impacts() const { return static_cast<int>(impacts_.size()); }
    int steps() const;  // in which it is followed
    const std::vector<Tape::Interval>& intervals() const { return tape_.intervals(); }
    const std::vector<Remark>& remarks() const { return remarks_; }

  private:
    static constexpr int kStages = DopriStages::kStages;
    // Four directions.
    struct Lanes {
        std::unique_ptr<ModelTangent> numbers;
        std::vector<double> x, u, end_x, end_u, stage_x, stage_u;
        std::array<std::vector<double>, kStages + 1> rate_x, rate_u;
        double t[kDirections] = {};  // at an impact
        std::vector<double> u1;      // behind it
    };
    // The event that ends the run, at its last station: what its function reads, the time where `is_time`; its
    // derivatives by that, and by time along the motion.
    struct Ending {
        struct Input {
            bool is_time;
            Watched of;
        };
        std::vector<Input> inputs;
        std::vector<double> by_inputs;
        double rate = 0.0;
    };
    // A stop that is met.
    struct Hit {
        int stop, row;
        double rate;
        State behind;  // the impact
    };

    // Weights of what a state within a step is made of: the states at its ends, and the rates there and at the stages.
    struct Within {
        double end, rate[kStages + 1];
    };

    void read_ending();
    void find_ending();
    void reach_ending(Lanes& lanes);
    void leave_ending();
    double changed(const Watched& of, int direction);
    void step_anew(const std::string& method, const Tolerances& tolerances);
    int farthest(int i, double to) const;
    bool is_plain(int i) const;
    int next(int i) const;  // station, past those within the step
    bool is_last(int i) const { return i + 1 == tape_.count(); }
    bool flows(int i) const { return !is_last(i) && !tape_[i].impact && length(i) > 0.0; }
    double length(int i) const { return tape_[next(i)].arrived - tape_[i].t; }
    Within within(int i, double t) const;
    void walk_to(int i);
    void hold(int interval);
    void change_numbers();
    void stand(int i);
    void accelerate(int i);
    Derivatives::Directions of(const Lanes& lanes, const std::vector<double>& x, const std::vector<double>& u) const {
        return {nullptr, x.data(), u.data(), lanes.numbers.get()};
    }
    State state(int i) const;
    // A station as the chart about the state at another one reaches it: another frame of velocities goes with that
    // (Manifold::change_frames()). zeta: its displacement.
    void reach(int i, int station, State& out, std::vector<double>& zeta);
    void turn(const double* zeta, const double* u, const std::vector<double>& x, const std::vector<double>& v,
              std::vector<double>& of_x, std::vector<double>& of_u);
    bool ends_here(int i) const { return tape_.ending() != nullptr && is_last(i); }
    void arrive(int i, double* out, double* left);
    // Of what was measured.
    std::vector<double>& list_of(Watched::What what, std::vector<double>& multipliers);
    void record(int i, const Derivatives::Directions& directions, int first, double* out);
    void pass_outputs(int i, double* out);
    void flow(int i, double* out, double* left);
    void pass_impact(int i);
    int number_of_impact(int i) const;
    void observe(int i, double* values);
    Hit hit(int i);
    void strike(int i, Hit& hit);
    double error_at(int i, int station, const std::vector<double>& of_x, const std::vector<double>& of_u);
    double weigh(int station, State& exact, const std::vector<double>& of_x, const std::vector<double>& of_u);
    double error_of_impact(int i);
    void note_open(int i, double open);
    void note_touching();
    void watch_stage(const DopriStages::Stage& at, double h);
    void note_jump();
    void note_idle(int i);
    void turn_back(const double* zeta, const double* u, const std::vector<double>& of_x,
                   const std::vector<double>& of_u, std::vector<double>& x, std::vector<double>& v);
    static double dot(const std::vector<double>& a, const double* b);
    static void add(std::vector<double>& to, const std::vector<double>& from);
    void depart(int i, const double* seeds);
    void add_seeds(int i, const double* seeds, std::vector<double>& of_x, std::vector<double>& of_u);
    void pass_outputs_back(int i, const double* seeds);
    void flow_back(int i, const double* seeds);
    void pass_impact_back(int i);

    Ports ports_;
    const Model& model_;
    Tape tape_;
    std::vector<Watched> watched_;
    bool watches_rates_ = false, watches_loads_ = false;  // second rates, accelerations; multipliers
    DopriStages stages_;
    const bool is_looser_, changes_frames_;
    DormandPrince exact_;
    const SetInputs set_inputs_;
    int at_;         // station
    int held_;       // interval, of the inputs
    int count_ = 0;  // of directions
    std::vector<Lanes> lanes_;
    std::vector<int> impacts_;       // stations
    double* of_impacts_ = nullptr;   // changes of their times, (impacts, count)
    std::vector<HeldPlace> places_;  // of numbers that change, or by which the gradient is
    std::vector<double> along_;      // (count, places)
    std::vector<ModelTangent::Change> changes_;
    std::vector<double> udot_, udot1_, loads_, rates_, begun_;
    State end_, beside_;  // of a step, in the frames of its chart; a state in other frames
    std::vector<double> end_zeta_, zeta_;
    // Accelerations at the stages of steps: the largest, and where they change fastest within a step.
    struct Steepest {
        double largest = 0.0, rate = 0.0, t = 0.0, change = 0.0;
    } steepest_;
    Derivatives::Measured measured_;
    std::vector<Remark> remarks_;
    Ending ending_;
    // Backwards: the gradient where it has got to, and what adds to it.
    std::vector<NumberPlace> further_;
    ModelGradient by_numbers_;
    double* error_ = nullptr;
    const double* impact_seeds_ = nullptr;
    double by_t_ = 0.0;  // of a station
    std::vector<double> by_x_, by_u_, off_, stage_x_, stage_u_, none_, seeds_of_rows_, of_udot_, start_x_, start_u_;
    Derivatives::Gradient found_;
    std::array<std::vector<double>, kStages + 1> of_x_, of_u_;
    std::array<std::vector<double>, kStages> at_x_, at_u_, at_zeta_;
    std::array<double, kStages> at_t_;
};

}  // namespace bellcrank
