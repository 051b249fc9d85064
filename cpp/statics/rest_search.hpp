// Where a mechanism rests: a minimum of its potential energy on the constraints, by Newton's method within steps that
// are bounded.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "spatial/fields.hpp"
#include "statics/loads.hpp"
#include "statics/saddle_matrix.hpp"
#include "statics/tangent_stiffness.hpp"

namespace bellcrank {

struct RestOptions {
    double tolerance = 1e-10;   // largest force left on a body, relative to the largest one that acts
    double largest_turn = 0.3;  // of a body in one step [rad]
    int iterations = 1000;
    bool leave_unstable = true;  // whether a rest that is no minimum is left for a lower one
};

struct RestStability {
    int freedoms = 0;          // directions that the constraints admit, closed stops held
    int unstable = 0;          // of these, with negative stiffness
    int neutral = 0;           // with none
    double least = 0.0;        // least eigenvalue of stiffness against mass [1/s²]; infinite without freedoms
    double uncertainty = 0.0;  // of it: rounding, errors of slopes, and what is left of forces

    BELLCRANK_FIELDS(RestStability, (freedoms), (unstable), (neutral), (least, "1/s^2"), (uncertainty, "1/s^2"))
};

struct Rest {
    bool found = false;
    int iterations = 0;
    double energy_before = 0.0, energy = 0.0;  // [J]
    double force = 0.0, scale = 0.0;           // left, and the largest that acts [N]
    int worst_body = -1;
    bool has_potential = true;  // whether all loads have one
    RestStability stability;

    BELLCRANK_FIELDS(Rest, (found), (iterations), (energy_before, "J"), (energy, "J"), (force, "N"), (scale, "N"),
                     (worst_body), (has_potential), (stability))
};

class RestSearch {
  public:
    RestSearch(std::shared_ptr<const Model> model, double t, const RestOptions& options);

    // Searches from poses x that satisfy the constraints; angles: values of all coordinates there, for whole turns.
    Rest find(std::vector<double>& x, const std::vector<double>& angles);
    // The tangent stiffness at x with the multipliers that leave least force, dense, against displacements of the
    // centres of mass (world axes) and rotation vectors (principal axes), six per body [N/m, N, N m].
    Eigen::MatrixXd stiffness(const std::vector<double>& x, const std::vector<double>& angles);
    // Values of all coordinates where it ended.
    std::vector<double> coordinates() const;

  private:
    using Vector = Eigen::VectorXd;

    // Balance of forces with stops that push.
    void balance();
    bool is_balanced() const { return force_ <= options_.tolerance * scale_ || force_ <= rounding_ || settled_; }
    void release_all_that_pull();
    void let_stops_push();
    bool drop_first_to_pull(Vector& before);
    int most_pushed_in() const;
    void solve_balance();
    bool least_form(const Vector& force, Vector& step);
    int first_met(const Vector& from, const Vector& to, const std::vector<std::uint8_t>& met, double& part) const;

    // Steps (rest_steps.cpp).
    bool improve();
    bool attempt(const Vector& step, bool bent, double predicted, double falls);
    bool accept(const std::vector<double>& x, double predicted, double actual, double falls, double noise);
    bool place(const Vector& step, double part, bool bent, std::vector<double>& x);
    void follow_laws(const Vector& step, std::vector<double>& x);
    double stray(const std::vector<double>& x);  // makes along_law_
    bool close(std::vector<double>& x, const std::vector<std::uint8_t>& held);
    void factor_normal(const double* x, const std::vector<std::uint8_t>& held);
    void retract(const std::vector<double>& x, const Vector& step, std::vector<double>& out) const;
    void move_to(const std::vector<double>& x);
    double farthest(const Vector& step) const;
    double reach(const std::vector<double>& x) const;
    double energy_noise() const;
    double work(const std::vector<double>& from, const std::vector<double>& to) const;
    bool leave();

    // Stability.
    RestStability judge();
    int negative_directions(double shift);
    bool shift_up(double& inertia);
    void iterate_modes(int times, Eigen::MatrixXd& modes, Vector& values);
    double uncertainty(const Vector& mode, double value) const;

    std::shared_ptr<const Model> model_;
    double t_;
    RestOptions options_;
    AngleBranches branches_;
    Metric metric_;
    Loads loads_;
    RowMatrix rows_;
    TangentStiffness stiffness_;
    Vector mass_;  // diagonal of M in the metric
    SaddleMatrix newton_, normal_;
    TangentStiffness law_stiffness_;
    SaddleMatrix along_laws_;
    std::vector<double> law_slope_, law_target_;  // of laws: stiffness, φ where a step leads to
    std::vector<BodyCoordinate> along_law_;       // φ where it was seen last
    std::vector<double> x_, trial_, record_;
    std::vector<std::uint8_t> held_;    // rows: equations, and stops that push
    std::vector<std::uint8_t> closed_;  // one-sided rows without a gap, in storage
    std::vector<double> gaps_;          // of one-sided rows, in storage [m]
    Vector applied_, left_, lambda_, none_, no_rows_, mode_;
    double force_ = 0.0, scale_ = 0.0, rounding_ = 0.0, size_ = 1.0;
    double shift_ = 0.0;  // of the stiffness, in parts of its size
    double unit_ = 1.0;   // size of the stiffness [N/m]
    Loads::Potential energy_;
    bool bent_ = false;           // whether the last step that was tried has been bent
    bool settled_ = false;        // whether Newton's step from x_ is no longer than places are rounded
    bool rows_are_here_ = false;  // whether gradients, and the factors of the normal matrix, are those of x_ and held_
};

}  // namespace bellcrank
