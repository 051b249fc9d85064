// Steps by impulses in the coordinates of a tree: the rows of loops, limits and contacts act on it through
// G = J M⁻¹ Jᵀ, which comes of one sweep (impulse_response.hpp).
#include <algorithm>
#include <cmath>

#include "cones/dense_operator.hpp"
#include "formulations/recursive.hpp"
#include "formulations/recursive/impulse_response.hpp"
#include "spatial/body_state.hpp"

namespace bellcrank {

using recursive::kNothing;
using recursive::RowEnd;

namespace {

constexpr int kMostRows = 6;      // of a block of cones
constexpr double kStill = 1e-20;  // of the response if bodies were free: less is rounding

}  // namespace

class Recursive::Space final : public ImpulseSpace {
  public:
    explicit Space(Recursive& system);

    int ground() const override { return system_.model_->ground(); }
    int configuration_size() const override { return system_.configuration_size(); }
    int speeds() const override { return system_.tangent_size(); }
    std::unique_ptr<ImpulseRows> make_rows() override;
    void place(double t, const double* x) override;
    const double* poses() const override { return system_.poses_.data(); }
    const double* twists(const double* u) override;
    double error(int row) const override { return system_.closing_.C[system_.storage_[row]]; }
    double rate(int row) const override { return system_.closing_.Ct[system_.storage_[row]]; }
    void advance(double t, double h, const double* x, double* u, double* x1) override;
    void displace(const double* xi, double* x) override { system_.retract(x, xi, x); }
    bool close(double t, double* x) override { return system_.close_for_impulses(t, x); }
    void take(const double* twists, double* u) override;
    void kick(double time, const double* u, const double* on_bodies, ImpulseRows& rows, const double* impulses,
              double* change, double* of_twists) override;

  private:
    class Rows;
    Recursive& system_;
    recursive::ImpulseResponse response_;
    std::vector<int> piece_of_;  // by row of the pieces
    double t_ = 0.0;             // where the space is
    std::vector<double> x_;
    std::vector<double> xi_, half_, frame_, efforts_, momenta_;
};

// The closing rows come first, as they are numbered, then those of points.
class Recursive::Space::Rows final : public ImpulseRows {
  public:
    explicit Rows(Space& space) : space_(space) {}

    void lay_out(const ConeLayout& layout, const std::vector<ImpulsePoint>&) override { rows_ = layout.rows(); }
    void evaluate(const std::vector<ImpulsePoint>& points, const std::vector<char>& left_out) override;
    void to_rows(const double* u, double* rows) override {
        energy_ = space_.response_.rates(space_.system_.state_, ends_, u, std::span(rows, rows_));
    }
    void add_response(const double* impulses, double* u) override;
    void add_loads(const double* impulses, double factor, Load* links) const;
    ConeOperator& response() override { return operator_; }
    bool is_still(int row) const override { return still_[row]; }
    double size_of_rate(int row) const override { return std::sqrt(natural_[row] * energy_); }

  private:
    void load_pieces(const std::vector<char>& left_out);
    void leave_out_still_rows();
    void load_point(const ImpulsePoint& point, int body, double sign);

    Space& space_;
    DenseConeOperator operator_;
    int rows_ = 0;
    std::vector<RowEnd> ends_;
    std::vector<double> G_, natural_;
    double energy_ = 0.0;
    std::vector<char> still_;
    std::vector<Load> loads_;
};

void Recursive::Space::Rows::evaluate(const std::vector<ImpulsePoint>& points, const std::vector<char>& left_out) {
    const Recursive& system = space_.system_;
    load_pieces(left_out);
    for (const ImpulsePoint& point : points) {
        load_point(point, point.bodies[0], 1.0);
        load_point(point, point.bodies[1], -1.0);
    }
    G_.resize(static_cast<size_t>(rows_) * rows_);
    space_.response_.between(system.state_, ends_, rows_, G_.data());
    int row = 0;
    for (size_t i = 0; i < left_out.size(); ++i)
        for (int r = 0; r < space_.pieces()[i].size; ++r, ++row)
            G_[static_cast<size_t>(row) * (rows_ + 1)] += left_out[i] ? 1.0 : space_.pieces()[i].compliance;
    leave_out_still_rows();
    operator_.set(G_.data(), rows_);
}

// A row that the tree satisfies by itself, as that of a joint that is there twice, moves nothing: its response is
// rounding, by which an impulse without bounds would follow. natural_: the response if bodies were free.
void Recursive::Space::Rows::leave_out_still_rows() {
    const auto at = [&](int r, int c) -> double& { return G_[static_cast<size_t>(r) * rows_ + c]; };
    still_.assign(rows_, 0);
    for (int r = 0; r < rows_; ++r) still_[r] = !(at(r, r) > kStill * natural_[r]);
    for (int r = 0; r < rows_; ++r) {
        if (!still_[r]) continue;
        for (int c = 0; c < rows_; ++c) at(r, c) = at(c, r) = 0.0;
        at(r, r) = natural_[r] > 0.0 ? natural_[r] : 1.0;
    }
}

void Recursive::Space::Rows::load_pieces(const std::vector<char>& left_out) {
    const Recursive& system = space_.system_;
    ends_.assign(system.recursion_.ends().begin(), system.recursion_.ends().end());
    natural_.assign(rows_, 0.0);
    for (RowEnd& end : ends_) end.load = kNothing;
    for (const Entry& e : system.entries_) ends_[e.end].load += system.load_of(e, natural_[e.row]);
    for (RowEnd& end : ends_)
        if (left_out[space_.piece_of_[end.row]]) end.load = kNothing;
}

void Recursive::Space::Rows::load_point(const ImpulsePoint& point, int body, double sign) {
    const Recursive& system = space_.system_;
    const int link = system.tree_.bodies[body].link;
    if (link < 0) return;
    const Vec3& I = system.model_->principal_inertia[body];
    for (int r = 0; r < point.size; ++r)
        natural_[point.row + r] += 1.0 / (r < point.forces ? system.model_->mass[body] : std::min({I.x, I.y, I.z}));
    if (system.tree_.bodies[point.bodies[0]].link == system.tree_.bodies[point.bodies[1]].link) return;
    const Mat3& axes = system.state_.world[link];
    const Vec3 arm = transpose_times(axes, point.position - system.state_.position[link]);
    for (int r = 0; r < point.size; ++r) {
        const Vec3 f = sign * transpose_times(axes, point.axes[r]);
        const bool force = r < point.forces;
        ends_.push_back({point.row + r, link, force ? Load{cross(arm, f), f} : Load{f, {0.0, 0.0, 0.0}}});
    }
}

void Recursive::Space::Rows::add_response(const double* impulses, double* u) {
    loads_.assign(space_.system_.tree_.links.size(), kNothing);
    add_loads(impulses, 1.0, loads_.data());
    space_.response_.add_jumps(space_.system_.state_, loads_.data(), u);
}

void Recursive::Space::Rows::add_loads(const double* impulses, double factor, Load* links) const {
    for (const RowEnd& end : ends_)
        if (end.link >= 0 && !still_[end.row]) links[end.link] += factor * impulses[end.row] * end.load;
}

Recursive::Space::Space(Recursive& system)
    : system_(system),
      response_(system.tree_),
      xi_(system.tangent_size()),
      half_(xi_),
      frame_(xi_),
      efforts_(xi_),
      momenta_(system.force_.size()) {
    for (size_t i = 0; i < system.tree_.closing_rows.size(); ++i) {
        const int row = system.tree_.closing_rows[i];
        const Block& block = *std::ranges::find_if(
            system.model_->blocks, [row](const Block& b) { return b.row_begin <= row && row < b.row_end; });
        const bool joins = !pieces_.empty() && !block.unilateral && pieces_.back().size < kMostRows &&
                           pieces_.back().model_row >= block.row_begin &&
                           pieces_.back().model_row + pieces_.back().size == row;
        if (joins)
            ++pieces_.back().size;
        else
            pieces_.emplace_back(block, row, 1);
    }
    for (size_t i = 0; i < pieces_.size(); ++i) piece_of_.insert(piece_of_.end(), pieces_[i].size, static_cast<int>(i));
    weigh_pieces(*system.model_);
}

std::unique_ptr<ImpulseRows> Recursive::Space::make_rows() { return std::make_unique<Rows>(*this); }

void Recursive::Space::place(double t, const double* x) {
    t_ = t;
    x_.assign(x, x + configuration_size());
    system_.to_records(t, x, system_.at_rest_.data(), system_.poses_.data(), system_.twists_.data());
    system_.closing_.evaluate_jacobians(t, system_.poses_.data());
    response_.factor(system_.state_);
}

const double* Recursive::Space::twists(const double* u) {
    system_.state_.move(u);
    system_.state_.write_twists(system_.twists_.data());
    return system_.twists_.data();
}

// Charts that are not flat, as where a ball turns, are advanced by the rate in the middle of the way.
void Recursive::Space::advance(double t, double h, const double* x, double* u, double* x1) {
    const int n = speeds();
    for (int k = 0; k < n; ++k) xi_[k] = h * u[k];
    if (!system_.has_flat_charts()) {
        for (int k = 0; k < n; ++k) half_[k] = 0.5 * xi_[k];
        system_.chart_rate(half_.data(), u, xi_.data());
        for (int k = 0; k < n; ++k) xi_[k] *= h;
        std::fill(frame_.begin(), frame_.end(), 0.0);
        system_.add_frame_rates(xi_.data(), u, frame_.data());
        for (int k = 0; k < n; ++k) u[k] += 0.5 * h * frame_[k];
    }
    system_.retract(x, xi_.data(), x1);
    system_.lead_positions(t, x1);
}

// Impulses of the tree's joints take from the momenta of the bodies what the tree does not allow. Nothing comes of
// speeds squared, so that fast turning makes no energy.
void Recursive::Space::take(const double* twists, double* u) {
    for (int b = 0; b < system_.model_->bodies(); ++b) {
        const Vec3& I = system_.model_->principal_inertia[b];
        const Vec3 w = twist_angular(twists, b);
        store_twist(momenta_.data(), b, system_.model_->mass[b] * twist_linear(twists, b),
                    {I.x * w.x, I.y * w.y, I.z * w.z});
    }
    std::ranges::fill(system_.loads_, kNothing);
    system_.state_.add_loads(momenta_.data(), 1.0, system_.loads_.data());
    for (const recursive::Link& link : system_.tree_.links)
        for (int k = 0; k < link.speeds; ++k) efforts_[link.u + k] = link.rotor[k] * u[link.u + k];
    for (size_t i = 0; i < system_.given_.size(); ++i)
        system_.given_[i] = system_.driven(system_.tree_.drives[i], t_).d1;
    response_.find_speeds(system_.state_, system_.loads_.data(), efforts_.data(), system_.given_.data(), u);
}

// Takes the accelerations that these impulses make if they act all the time.
void Recursive::Space::kick(double time, const double* u, const double* on_bodies, ImpulseRows& rows,
                            const double* impulses, double* change, double* of_twists) {
    system_.to_records(t_, x_.data(), u, system_.poses_.data(), system_.twists_.data());
    for (int b = 0; b < system_.model_->bodies(); ++b) {
        const Vec3 force = (1.0 / time) * twist_linear(on_bodies, b);
        store_twist(momenta_.data(), b, force - system_.model_->mass[b] * system_.state_.centripetal(b),
                    (1.0 / time) * twist_angular(on_bodies, b));
    }
    std::ranges::fill(system_.loads_, kNothing);
    system_.state_.add_loads(momenta_.data(), 1.0, system_.loads_.data());
    static_cast<Rows&>(rows).add_loads(impulses, 1.0 / time, system_.loads_.data());
    for (size_t i = 0; i < system_.given_.size(); ++i)
        system_.given_[i] = system_.driven(system_.tree_.drives[i], t_).d2;
    response_.accelerate(system_.state_, system_.loads_.data(), system_.given_.data(), change);
    response_.accelerations(system_.state_, change, system_.link_accelerations_);
    system_.state_.write_accelerations(system_.link_accelerations_.data(), of_twists);
    for (int k = 0; k < speeds(); ++k) change[k] *= time;
    for (size_t k = 0; k < momenta_.size(); ++k) of_twists[k] *= time;
}

ImpulseStep& Recursive::impulses() {
    stands_ = false;  // links are moved there
    if (!impulse_step_)
        impulse_step_ =
            std::make_unique<ImpulseStep>(*model_, free_motion_, contacts_, rubbing(), std::make_unique<Space>(*this),
                                          options_.rest_speed, options_.contact_tolerance);
    return *impulse_step_;
}

ImpulseOutcome Recursive::step_by_impulses(double t, double h, const double* x, const double* u, double tolerance,
                                           double* x1, double* u1) {
    const ImpulseOutcome outcome = impulses().step(t, h, x, u, tolerance, x1, u1);
    count(outcome);
    return outcome;
}

ImpulseOutcome Recursive::strike(double t, const double* x, const std::vector<Blow>& blows,
                                 const std::vector<StruckPoint>& points, double tolerance, double* u,
                                 std::vector<Vec3>& told) {
    const ImpulseOutcome outcome = impulses().strike(t, x, blows, points, tolerance, u, told);
    count(outcome);
    return outcome;
}

}  // namespace bellcrank
