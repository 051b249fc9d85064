// Equations of motion in a tree's coordinates along directions, and the transpose: derivatives.cpp; what runs need
// besides: run_derivatives.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "formulations/recursive.hpp"
#include "formulations/recursive/pass_tangent.hpp"
#include "formulations/recursive/tree_tangent.hpp"
#include "spatial/body_state.hpp"
#include "tangents/equations_tangent.hpp"

namespace bellcrank {

class Recursive::Differential {
  public:
    explicit Differential(Recursive& owner)
        : own_(owner),
          model_(*owner.model_),
          tree_(model_, owner.tree_),
          laws_(model_, owner.tree_),
          held_(held_rows()),
          orientations_(orientation_rows()),
          balanced_(model_, owner.branches_, owner.contacts_),
          others_(model_, owner.branches_, owner.contacts_, {held_.data(), laws_.taken()}),
          constant_(model_),
          loads_(owner.tree_.links.size()),
          motions_(owner.tree_.links.size()) {
        if (own_.pass_ != nullptr)
            pass_ = std::make_unique<recursive::PassTangent>(model_, own_.tree_, *own_.pass_, laws_, tree_);
        const size_t records = kTwist * (model_.bodies() + 1), rows = model_.rows.size();
        for (auto* v : {&record_, &virtual_, &still_}) v->assign(records, 0.0);
        for (auto* v : {&multipliers_, &none_, &by_row_, &rates_, &told_}) v->assign(rows, 0.0);
        for (auto* v : {&z_, &efforts_}) v->assign(own_.tangent_size(), 0.0);
        forces_ = {std::vector<Load>(own_.tree_.bodies.size()), std::vector<Load>(own_.tree_.links.size())};
        lanes_.resize(own_.tree_.links.size());
        for (auto* v : {&dx_, &du_, &more_, &z_along_}) v->resize(own_.tangent_size());
        given_along_.resize(own_.tree_.drives.size());
        for (auto* v : {&targets_along_, &lambda_along_}) v->resize(own_.recursion_.rows());
        given_.assign(own_.tree_.drives.size(), 0.0);
        for (auto* v : {&targets_, &lambda_}) v->assign(own_.recursion_.rows(), 0.0);
    }

    void note(double t, const double* x, const double* u);

    void inputs_changed();

    void close_directions(double t, const double* x, const double* u, const Directions& d, double* dx, double* du,
                          double* left);

    void tangent(double t, const double* x, const double* u, const double* udot, const Directions& d, double* out,
                 double* multipliers);

    void adjoint(double t, const double* x, const double* u, const double* udot, const double* of_rates,
                 const double* of_multipliers, const std::vector<NumberPlace>& further, Gradient& out,
                 ModelGradient& by_numbers);

    void close_adjoint(double t, const double* x, const double* u, const double* of_dx, const double* of_du,
                       const std::vector<NumberPlace>& further, Gradient& out, ModelGradient& by_numbers);

    // What follows from motions (run_derivatives.cpp).
    void body_directions(double t, const double* x, const double* u, const double* udot, const Directions& d,
                         const double* rates, double* dx, double* du, double* dudot);
    void measure_tangent(double t, const double* x, const double* u, const double* udot, const Directions& d,
                         const double* dudot, Measured& out);
    void measure_adjoint(double t, const double* x, const double* u, const double* udot, const Measured& of,
                         const std::vector<NumberPlace>& further, Gradient& out, ModelGradient& by_numbers);
    void impact_tangent(double t, const double* x, const double* u, const double* u1, const Directions& d, double* du1);
    void impact_adjoint(double t, const double* x, const double* u, const double* u1, const double* of_after,
                        const std::vector<NumberPlace>& further, Gradient& out, ModelGradient& by_numbers);

  private:
    // Where derivatives are taken; still valid while links and factors are those of that.
    struct Reached {
        double t = 0.0;
        std::vector<double> x, u, udot;
        bool loaded = false, balanced = false;
        bool is(double time, const double* at_x, const double* at_u) const {
            return t == time && std::equal(x.begin(), x.end(), at_x) && std::equal(u.begin(), u.end(), at_u);
        }
    };

    void refuse_held(std::span<const NumberPlace> places) const;
    std::vector<std::uint8_t> orientation_rows() const;
    const ModelTangent& numbers_along(const Directions& d) const {
        return d.numbers != nullptr ? *d.numbers : constant_;
    }
    MotionPoint motion_point(double t) const { return motion_point(t, multipliers_); }
    MotionPoint motion_point(double t, const std::vector<double>& multipliers) const {
        return {t, own_.poses_.data(), own_.twists_.data(), own_.rates_.data(), multipliers.data()};
    }
    recursive::TreeTangent::Point point(const double* x, const double* u, const double* udot) const {
        return {own_.state_, x, u, udot, own_.link_accelerations_.data()};
    }
    // Of accelerations nothing is asked.
    recursive::TreeTangent::Point at_rest(const double* x, const double* u) {
        std::fill(motions_.begin(), motions_.end(), recursive::kRest);
        return {own_.state_, x, u, own_.at_rest_.data(), motions_.data()};
    }

    // An impact: the jump of speeds, impulses by row of the model, restitution by stop.
    struct Impact {
        std::vector<double> jump, impulses, restitution;
    };
    Impact impact_of(double t, const double* x, const double* u, const double* u1);
    MotionPoint impulses_at(double t, const Impact& impact) const {
        return {t, own_.poses_.data(), own_.twists_.data(), own_.rates_.data(), impact.impulses.data(), false};
    }
    void rates_along(double t, const double* x, const double* u, const Directions& d);
    void find_efforts(const double* records, std::vector<double>& out);

    void go_to_motion(double t, const double* x, const double* u, const double* udot);
    void go_to(double t, const double* x, const double* u);
    void go_to(double t, const double* x, const double* u, const double* udot, bool balanced);
    void find_forces();
    void leave_out_velocity_rows(bool out, double t, const double* x) {
        if (!own_.has_velocity_rows()) return;
        own_.leave_out_velocity_rows(out, t, x);
        own_.stands_ = false;
    }

    void take_loads();
    void fill(std::vector<Four>& out, const double* from) const;
    std::vector<std::uint8_t> held_rows() const;
    void clear_loads() { std::fill(loads_.begin(), loads_.end(), recursive::kNothing); }
    // From loads_, efforts_, given_ and targets_: z_ and lambda_.
    void solve() {
        const recursive::Recursion::Input in = input();
        own_.recursion_.solve(own_.state_, in, z_.data(), lambda_.data());
        if (own_.recursion_.is_doubtful()) own_.recursion_.refine(own_.state_, in, z_.data(), lambda_.data());
    }
    Four second_along(int row) const {
        Four out;
        std::memcpy(&out, &changes_.rows[2][kDirections * static_cast<size_t>(row)], sizeof out);
        return out;
    }
    void solve_along();
    void spread_along(int k);
    recursive::Recursion::Input input() const {
        return {loads_.data(), efforts_.data(), nullptr, given_.data(), targets_.data()};
    }

    double close_one(const std::vector<double>& off, int k);
    // Of closing rows, J z_.
    void subtract_rates(std::vector<double>& from) {
        own_.recursion_.accelerations(own_.state_, nullptr, z_.data(), motions_);
        for (const recursive::RowEnd& end : own_.recursion_.ends())
            if (end.link >= 0) from[end.row] -= dot(motions_[end.link], end.load);
    }

    void take_drives();

    // Motions of the bodies at speeds z_.
    void body_motions(std::vector<double>& records) {
        own_.recursion_.accelerations(own_.state_, nullptr, z_.data(), motions_);
        own_.state_.write_motions(motions_.data(), records.data());
    }
    void add_inertial(const std::vector<double>& motions, double sign, std::vector<double>& out) const;

    Recursive& own_;
    const Model& model_;
    recursive::TreeTangent tree_;
    recursive::EffortsTangent laws_;
    const std::vector<std::uint8_t> held_;  // per row of the model: by the tree's joints, drives apart
    const std::vector<std::uint8_t> orientations_;
    EquationsTangent balanced_, others_;  // with all rows; without these, and without laws along the tree's coordinates
    ModelTangent constant_;
    std::unique_ptr<recursive::PassTangent> pass_;  // where nothing needs more, and for the multipliers of no row
    Reached reached_;
    EquationsTangent::Changes changes_;
    EquationsTangent::Gradient found_;
    recursive::TreeTangent::Changes bodies_;
    std::vector<Load> loads_;  // per link
    std::vector<ForceT<Four>> lanes_;
    std::vector<Four> dx_, du_, more_, z_along_;  // tangent vectors
    std::vector<Four> given_along_, targets_along_, lambda_along_;
    recursive::TreeTangent::Forces forces_;
    std::vector<Twist> motions_;
    std::vector<double> record_, virtual_, still_;                    // of the bodies
    std::vector<double> multipliers_, none_, by_row_, rates_, told_;  // by row of the model
    std::vector<double> z_, efforts_, sum_;                           // tangent vectors
    std::vector<double> given_, targets_, lambda_, remaining_;
};

}  // namespace bellcrank
