// Accelerations and multipliers along directions, and gradients of them, by generated programs. With the residuals
// r = M u̇ − b − Jᵀλ and s = J u̇ + γ in joint coordinates, along any direction
//   M δu̇ − Jᵀδλ = −δr,   J δu̇ = −δs,                                                                   (1)
// δr and δs at given u̇ and λ; backwards, with seeds ū and λ̄,
//   M y − Jᵀζ = ū,   J y = −λ̄,     ū·δu̇ + λ̄·δλ = −y·δr + ζ·δs,                                        (2)
// by the factors of M and of the closing rows. Multipliers of the tree's joints and of rotors follow from what the
// bodies lack of balance along the direction, for which it moves the bodies by programs as well.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "formulations/symbolic.hpp"
#include "formulations/symbolic/parameter_changes.hpp"
#include "formulations/symbolic/runner.hpp"
#include "spatial/body_state.hpp"
#include "tangents/equations_tangent.hpp"

namespace bellcrank {

using symbolic::ParameterChanges;

namespace {

// Speeds up to which all derivatives by the state are one program: it is short beside what four directions take, and
// soon generated.
constexpr int kFewSpeeds = 24;

}  // namespace

class Symbolic::Differential {
  public:
    explicit Differential(Symbolic& owner)
        : own_(owner),
          model_(*owner.model_),
          n_(owner.tangent_size()),
          m_(static_cast<int>(owner.closing_rows().size())),
          equations_(model_, owner.branches_, owner.contacts_),
          constant_(model_),
          parameters_(*owner.equations_),
          force_(n_),
          rate_(m_),
          told_(model_.rows.size()),
          rates_(told_.size()) {
        if (!model_.contacts.empty()) own_.refuse("derivatives of contacts");
        const size_t records = kTwist * (model_.bodies() + 1);
        for (std::vector<double>* one : {&record_, &virtual_}) one->assign(records, 0.0);
        for (std::vector<double>* one : {&dx_, &du_, &dudot_}) one->assign(kDirections * records, 0.0);
    }

    void inputs_changed() {
        constant_.renew();
        equations_.inputs_changed();
        parameters_.renew();
        by_state_at_.clear();
    }

    // Positions first, without conditions of velocities; then velocities, at this δx.
    void close_directions(double t, const double* x, const double* u, const Directions& d, double* dx, double* du,
                          double* left) {
        std::fill_n(left, kDirections, 0.0);
        const bool by_parameters = take_parameters(d.numbers);
        if (m_ == 0) return;
        const auto close = [&](int level, double* change) {
            own_.stand_at(t, x, u);
            const std::vector<Four>& off = along("rows ", {t, x, u, nullptr}, {d.t, dx, du, nullptr}, by_parameters);
            force_.setZero();
            for (int k = 0; k < kDirections; ++k) {
                for (int i = 0; i < m_; ++i) rate_[i] = own_.is_left_out(i) ? 0.0 : -off[m_ * level + i][k];
                own_.closure_.solve(force_, rate_);
                left_.noalias() = own_.closure_.J * own_.closure_.a - rate_;
                left[k] = std::max(left[k], left_.cwiseAbs().maxCoeff());
                for (int i = 0; i < n_; ++i) change[kDirections * i + k] += own_.closure_.a[i];
            }
        };
        leave_out_velocity_rows(true, t, x);
        close(0, dx);
        leave_out_velocity_rows(false, t, x);
        close(1, du);
    }

    void close_adjoint(double t, const double* x, const double* u, const double* of_dx, const double* of_du,
                       const std::vector<NumberPlace>& further, Gradient& out, ModelGradient& by_numbers) {
        parameters_.check(further);
        out = {0.0, {of_dx, of_dx + n_}, {of_du, of_du + n_}};
        if (m_ == 0) return;
        const auto open = [&](int level, const std::vector<double>& of) {
            own_.stand_at(t, x, u);
            force_ = Eigen::Map<const Eigen::VectorXd>(of.data(), n_);
            rate_.setZero();
            own_.closure_.solve(force_, rate_);
            weights_.assign(2 * static_cast<size_t>(m_), 0.0);
            for (int i = 0; i < m_; ++i)
                if (!own_.is_left_out(i)) weights_[m_ * level + i] = own_.closure_.lambda[i];
            add_gradient("rows ", {t, x, u, nullptr}, out, nullptr, by_numbers);
        };
        open(1, out.u);
        leave_out_velocity_rows(true, t, x);
        open(0, out.x);
        leave_out_velocity_rows(false, t, x);
    }

    void tangent(double t, const double* x, const double* u, const double* udot, const Directions& d, double* out,
                 double* multipliers) {
        const bool by_parameters = take_parameters(d.numbers);
        own_.stand_at(t, x, u);
        const std::vector<Four>& off = residuals_along({t, x, u, udot}, d, by_parameters);
        for (int k = 0; k < kDirections; ++k) {
            for (int i = 0; i < n_; ++i) force_[i] = -off[i][k];
            for (int i = 0; i < m_; ++i) rate_[i] = own_.is_left_out(i) ? 0.0 : -off[n_ + i][k];
            own_.closure_.solve(force_, rate_);
            for (int i = 0; i < n_; ++i) out[kDirections * i + k] = own_.closure_.a[i];
            for (int i = 0; i < m_ && multipliers != nullptr; ++i)
                multipliers[kDirections * own_.closing_rows()[i] + k] = own_.closure_.lambda[i];
        }
        if (multipliers != nullptr) spread_multipliers(t, x, u, udot, d, out, multipliers);
    }

    // Seeds λ̄ of multipliers that are found on the way over the tree are motions −Tᵀλ̄ of the bodies; what is left are
    // seeds of accelerations and of other rows.
    void adjoint(double t, const double* x, const double* u, const double* udot, const double* of_rates,
                 const double* of_multipliers, const std::vector<NumberPlace>& further, Gradient& out,
                 ModelGradient& by_numbers) {
        parameters_.check(further);
        out = {0.0, std::vector<double>(n_, 0.0), std::vector<double>(n_, 0.0)};
        std::copy_n(of_multipliers, told_.size(), told_.begin());
        force_ = Eigen::Map<const Eigen::VectorXd>(of_rates, n_);
        rate_.setZero();
        if (std::ranges::any_of(told_, [](double seed) { return seed != 0.0; }))
            seed_multipliers(t, x, u, udot, further, out, by_numbers);
        own_.stand_at(t, x, u);
        own_.closure_.solve(force_, rate_);
        weights_.resize(static_cast<size_t>(n_ + m_));
        for (int i = 0; i < n_; ++i) weights_[i] = -own_.closure_.a[i];
        for (int i = 0; i < m_; ++i) weights_[n_ + i] = own_.is_left_out(i) ? 0.0 : own_.closure_.lambda[i];
        add_gradient("residuals ", {t, x, u, udot}, out, nullptr, by_numbers);
    }

    void body_directions(double t, const double* x, const double* u, const double* udot, const Directions& d,
                         const double* rates, double* dx, double* du, double* dudot) {
        const bool by_parameters = take_parameters(d.numbers);
        own_.to_records(t, x, u, own_.poses_.data(), own_.twists_.data());
        const std::vector<Four>& off = along("bodies ", {t, x, u, udot}, {d.t, d.x, d.u, rates}, by_parameters);
        const size_t size = kDirections * static_cast<size_t>(kTwist * (model_.bodies() + 1));
        for (double* one : {dx, du, dudot}) std::fill_n(one, size, 0.0);
        for (int b = 0; b < model_.bodies(); ++b) {
            const Four* of = &off[static_cast<size_t>(Equations::kBodyNumbers) * b];
            const Mat3 P = rotation_matrix(model_.principal_rotation[b]),
                       R = rotation_matrix(of_body(b)) * transpose(P);
            for (int k = 0; k < kDirections; ++k) {
                const auto vector_at = [&](int i) { return Vec3{of[i][k], of[i + 1][k], of[i + 2][k]}; };
                Mat3 turned;
                for (int i = 0; i < 9; ++i) turned.m[i] = of[i][k];
                turned = transpose(R) * turned;
                const Vec3 turn =
                    0.5 * Vec3{turned.m[7] - turned.m[5], turned.m[2] - turned.m[6], turned.m[3] - turned.m[1]};
                const auto put = [&](double* to, const Vec3& linear, const Vec3& angular) {
                    const Vec3 w = transpose_times(P, angular);
                    double* at = to + kDirections * (kTwist * b) + k;
                    const double values[6] = {linear.x, linear.y, linear.z, w.x, w.y, w.z};
                    for (int c = 0; c < 6; ++c) at[kDirections * kComponent[c]] = values[c];
                };
                put(dx, vector_at(9), turn);
                put(du, vector_at(12), vector_at(18));
                put(dudot, vector_at(15), vector_at(21));
            }
        }
    }

  private:
    using Equations = symbolic::Equations;
    struct Point {
        double t;
        const double *x, *u, *udot;
    };
    struct Along {
        const double *t, *x, *u, *udot;
    };

    bool take_parameters(const ModelTangent* numbers) {
        if (numbers == nullptr || numbers->changed().empty()) return false;
        parameters_.along(*numbers, parameters_along_);
        return true;
    }
    void leave_out_velocity_rows(bool out, double t, const double* x) {
        if (own_.has_velocity_rows()) own_.leave_out_velocity_rows(out, t, x);
    }
    Quat of_body(int b) const { return pose_rotation(own_.poses_.data(), b); }

    // Along changes of the state by derivatives of all, where these are few.
    const std::vector<Four>& residuals_along(const Point& at, const Directions& d, bool by_parameters) {
        if (n_ > kFewSpeeds) return along("residuals ", at, {d.t, d.x, d.u, nullptr}, by_parameters);
        along("residuals ", at, {d.t, nullptr, nullptr, nullptr}, by_parameters);
        find_by_state(at);
        const double* slope = by_state_.data();
        for (Four& change : changes_)
            for (const double* one : {d.x, d.u}) {
                Four sum{}, part;
                for (int j = 0; j < n_ && one != nullptr; ++j) {
                    std::memcpy(&part, one + kDirections * j, sizeof part);
                    sum += slope[j] * part;
                }
                change += sum;
                slope += n_;
            }
        return changes_;
    }
    // Derivatives of the residuals by displacements and speeds, row by row, unless they are known there.
    void find_by_state(const Point& at) {
        key_.assign(1, at.t);
        key_.insert(key_.end(), at.x, at.x + own_.configuration_size());
        for (const double* one : {at.u, at.udot}) key_.insert(key_.end(), one, one + n_);
        for (const int c : own_.equations_->branch_coordinates) key_.push_back(own_.branches_.reference(c));
        key_.insert(key_.end(), own_.lambda_.begin(), own_.lambda_.end());
        if (key_ == by_state_at_) return;
        const double* found = own_.run("linearization", at.t, at.x, at.u, at.udot);
        by_state_.assign(found, found + 2 * n_ * (n_ + m_));
        by_state_at_ = key_;
    }

    // Changes of a form along four directions of the motion, and of parameters_along_.
    const std::vector<Four>& along(const char* what, const Point& at, const Along& d, bool by_parameters) {
        const auto run = [&](Runner& runner, const auto& put) {
            double* further = own_.fill(runner, at.t, at.x, at.u, at.udot);
            const auto still = [&] {
                return std::all_of(further, runner.in.data() + runner.in.size() - runner.prologue_outputs(),
                                   [](double change) { return change == 0.0; });
            };
            for (int k = 0; k < kDirections; ++k) {
                put(further, k);
                if (still()) continue;
                runner.program.evaluate(runner.in.data(), runner.out.data(), runner.work.data());
                for (size_t i = 0; i < changes_.size(); ++i) changes_[i][k] += runner.out[i];
            }
        };
        Runner& moved = own_.runner(std::string(what) + "along");
        changes_.assign(moved.out.size(), Four{});
        run(moved, [&](double* further, int k) {
            *further++ = d.t == nullptr ? 0.0 : d.t[k];
            const auto next = [&](const double* one) {
                for (int i = 0; i < n_; ++i) *further++ = one == nullptr ? 0.0 : one[kDirections * i + k];
            };
            next(d.x), next(d.u);
            if (d.udot != nullptr) next(d.udot);
        });
        if (by_parameters)
            run(own_.runner(std::string(what) + "along parameters"), [&](double* further, int k) {
                for (const Four& change : parameters_along_) *further++ = change[k];
            });
        return changes_;
    }

    // Of Σ weights_ · value; that by u̇ is added too, of forms that have it.
    void add_gradient(const char* what, const Point& at, Gradient& out, Eigen::VectorXd* of_rates,
                      ModelGradient& by_numbers) {
        const auto run = [&](Runner& runner) {
            std::copy(weights_.begin(), weights_.end(), own_.fill(runner, at.t, at.x, at.u, at.udot));
            runner.program.evaluate(runner.in.data(), runner.out.data(), runner.work.data());
            return runner.out.data();
        };
        const double* found = run(own_.runner(std::string(what) + "gradient"));
        out.t += *found++;
        for (int i = 0; i < n_; ++i) out.x[i] += *found++;
        for (int i = 0; i < n_; ++i) out.u[i] += *found++;
        for (int i = 0; i < n_ && of_rates != nullptr; ++i) (*of_rates)[i] += *found++;
        if (parameters_.count() == 0) return;
        parameters_.add(
            {run(own_.runner(std::string(what) + "gradient by parameters")), static_cast<size_t>(parameters_.count())},
            by_numbers);
    }

    // All multipliers at the state, those of the tree's joints what bodies lack. An equation between coordinates that
    // is solved by itself has no multiplier among those known: then all are found together.
    MotionPoint motion_point(const Point& at) {
        if (own_.is_coupled()) {
            own_.solve_multipliers(at.t, at.x, at.u, at.udot);
        } else {
            own_.load_known_multipliers(at.t, at.x, at.u, at.udot);
            own_.reactions_.spread_over_tree();
        }
        return {at.t, own_.poses_.data(), own_.twists_.data(), own_.rates_.data(),
                own_.reactions_.loads().multipliers.data()};
    }

    void spread_multipliers(double t, const double* x, const double* u, const double* udot, const Directions& d,
                            const double* rates, double* multipliers) {
        const MotionPoint at = motion_point({t, x, u, udot});
        body_directions(t, x, u, udot, d, rates, dx_.data(), du_.data(), dudot_.data());
        EquationsTangent::ask(changed_, 2);
        changed_.of_loads = true;
        equations_.along(at, {d.t, dx_.data(), du_.data(), dudot_.data()},
                         d.numbers != nullptr ? *d.numbers : constant_, changed_);
        const std::vector<double>& turns = own_.turns_of_components(t, x, u);
        for (int k = 0; k < kDirections; ++k) {
            std::fill(told_.begin(), told_.end(), 0.0);
            for (int i = 0; i < m_ && !own_.is_coupled(); ++i)
                told_[own_.closing_rows()[i]] = turns[i] * multipliers[kDirections * own_.closing_rows()[i] + k];
            each_rotor_row([&](int row, double compliance) {
                told_[row] = -changed_.rows[2][kDirections * row + k] / compliance;
            });
            for (size_t i = 0; i < record_.size(); ++i) record_[i] = -changed_.loads[kDirections * i + k];
            if (own_.is_coupled())
                own_.reactions_.spread_over_rows(own_.exerting_rows(), record_.data(), told_);
            else
                own_.reactions_.spread_over_tree(record_.data(), told_);
            for (size_t r = 0; r < told_.size(); ++r) multipliers[kDirections * r + k] = told_[r];
        }
    }

    // From seeds of multipliers in told_: to force_ and rate_, and to the gradient what bodies and rotors take.
    void seed_multipliers(double t, const double* x, const double* u, const double* udot,
                          const std::vector<NumberPlace>& further, Gradient& out, ModelGradient& by_numbers) {
        const MotionPoint at = motion_point({t, x, u, udot});
        if (own_.is_coupled())
            own_.reactions_.gather_over_rows(own_.exerting_rows(), told_, virtual_.data());
        else
            own_.reactions_.gather_over_tree(told_, virtual_.data());
        for (double& value : virtual_) value = -value;
        own_.reactions_.rates(virtual_.data(), rates_);
        for (size_t r = 0; r < told_.size(); ++r) told_[r] += rates_[r];
        const std::vector<double>& turns = own_.turns_of_components(t, x, u);
        for (int i = 0; i < m_ && !own_.is_coupled(); ++i)
            rate_[i] = own_.is_left_out(i) ? 0.0 : -turns[i] * told_[own_.closing_rows()[i]];
        std::fill(rates_.begin(), rates_.end(), 0.0);
        each_rotor_row([&](int row, double compliance) { rates_[row] = -told_[row] / compliance; });
        EquationsTangent::Seeds seeds;
        seeds.loads = virtual_.data();
        seeds.rows[2] = rates_.data();
        equations_.transposed(at, seeds, further, found_, by_numbers);
        out.t += found_.t;
        weigh_bodies();
        add_gradient("bodies ", {t, x, u, udot}, out, &force_, by_numbers);
    }

    // From a gradient by records of bodies to weights of what "bodies" has.
    void weigh_bodies() {
        weights_.assign(static_cast<size_t>(Equations::kBodyNumbers) * model_.bodies(), 0.0);
        for (int b = 0; b < model_.bodies(); ++b) {
            double* w = &weights_[static_cast<size_t>(Equations::kBodyNumbers) * b];
            const Mat3 P = rotation_matrix(model_.principal_rotation[b]),
                       R = rotation_matrix(of_body(b)) * transpose(P);
            const Vec3 turn = 0.5 * (P * twist_angular(found_.x.data(), b));
            const Mat3 turned = R * Mat3{{0.0, -turn.z, turn.y, turn.z, 0.0, -turn.x, -turn.y, turn.x, 0.0}};
            std::copy_n(turned.m, 9, w);
            store(w + 9, twist_linear(found_.x.data(), b));
            store(w + 12, twist_linear(found_.u.data(), b));
            store(w + 15, twist_linear(found_.udot.data(), b));
            store(w + 18, P * twist_angular(found_.u.data(), b));
            store(w + 21, P * twist_angular(found_.udot.data(), b));
        }
    }

    template <class Visit>
    void each_rotor_row(const Visit& visit) const {
        for (const int block : own_.equations_->mechanism.plan.inertances)
            for (int r = model_.blocks[block].row_begin; r < model_.blocks[block].row_end; ++r)
                visit(r, model_.blocks[block].compliance);
    }

    Symbolic& own_;
    const Model& model_;
    const int n_, m_;
    EquationsTangent equations_;  // of the bodies, with all rows
    ModelTangent constant_;
    ParameterChanges parameters_;
    std::vector<Four> parameters_along_, changes_;
    std::vector<double> by_state_, by_state_at_, key_;  // derivatives of the residuals, and where they are known
    Eigen::VectorXd force_, rate_, left_;
    std::vector<double> weights_, told_, rates_;  // of a form; by row of the model
    std::vector<double> record_, virtual_;        // records
    std::vector<double> dx_, du_, dudot_;         // of four directions
    EquationsTangent::Changes changed_;
    EquationsTangent::Gradient found_;
};

Symbolic::Differential& Symbolic::differential() {
    if (!differential_) differential_ = std::make_shared<Differential>(*this);
    return *differential_;
}

void Symbolic::inputs_changed() {
    equations_->numbers.steer(model_->data());
    for (const auto& [name, made] : runners_) made->set(equations_->numbers.values());
    stands_at_.clear();
    if (differential_) differential_->inputs_changed();
}

void Symbolic::close_directions(double t, const double* x, const double* u, const Directions& directions, double* dx,
                                double* du, double* left) {
    differential().close_directions(t, x, u, directions, dx, du, left);
}

void Symbolic::close_adjoint(double t, const double* x, const double* u, const double* of_dx, const double* of_du,
                             const std::vector<NumberPlace>& further, Gradient& out, ModelGradient& by_numbers) {
    differential().close_adjoint(t, x, u, of_dx, of_du, further, out, by_numbers);
}

void Symbolic::tangent(double t, const double* x, const double* u, const double* udot, const Directions& directions,
                       double* out, double* multipliers) {
    differential().tangent(t, x, u, udot, directions, out, multipliers);
}

void Symbolic::adjoint(double t, const double* x, const double* u, const double* udot, const double* of_rates,
                       const double* of_multipliers, const std::vector<NumberPlace>& further, Gradient& out,
                       ModelGradient& by_numbers) {
    differential().adjoint(t, x, u, udot, of_rates, of_multipliers, further, out, by_numbers);
}

void Symbolic::body_directions(double t, const double* x, const double* u, const double* udot,
                               const Directions& directions, const double* rates, double* dx, double* du,
                               double* dudot) {
    differential().body_directions(t, x, u, udot, directions, rates, dx, du, dudot);
}

}  // namespace bellcrank
