#include "impulses/impulse_step.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "spatial/body_state.hpp"
#include "spatial/components.hpp"

namespace bellcrank {

namespace {

constexpr double kReach = 1e-3;  // gaps that count [m], beside those that a step may close
// Energy of a kick by that of the motion, (ω h)²/4 where all turns at ω, and by that of half a step of forces alone.
constexpr double kMostTurned = 0.25, kMostForced = 4.0;
constexpr int kGyroscopic = 6;  // iterations

}  // namespace

ImpulseStep::ImpulseStep(const Model& model, ConstraintRows& rows, const FreeMotion& free_motion, Contacts& contacts,
                         const Manifold& manifold, double rest_speed, Closing close_rows)
    : model_(model),
      rows_(rows),
      free_motion_(free_motion),
      contacts_(contacts),
      manifold_(manifold),
      rest_speed_(rest_speed),
      close_rows_(std::move(close_rows)),
      positions_(model, rows),
      velocities_(model, rows),
      bodies_(6 * static_cast<size_t>(model.bodies())),
      free_bodies_(bodies_),
      xi_(kTwist * (static_cast<size_t>(model.bodies()) + 1)),
      rate_(xi_),
      moved_(xi_),
      kick_(xi_),
      contact_kick_(model.bodies()),
      last_rows_(rows.rows()) {}

ImpulseOutcome ImpulseStep::step(double t, double h, const double* x, const double* u, double tolerance, double* x1,
                                 double* u1) {
    if (!goes_on(t, x, u)) prepare(t, h, x, u, tolerance);
    part_ = kicks_ ? 0.5 : 1.0;
    reused_ = kicks_ ? h / last_h_ : 0.0;
    for (size_t k = 0; k < xi_.size(); ++k) {
        moved_[k] = u[k] + reused_ * kick_[k];
        xi_[k] = h * moved_[k];
    }
    manifold_.retract(x, xi_.data(), x1);
    look_for_points(h, moved_.data());
    const bool met = correct_positions(t + h, h, u, x1);
    for (size_t k = 0; k < xi_.size(); ++k) xi_[k] = u[k] + 2.0 * reused_ * kick_[k];
    move_freely(t + h, h, x1, xi_.data(), moved_.data());
    ImpulseOutcome outcome = find_velocities(h, x1, moved_.data(), tolerance, u1);
    outcome.constraints_met = met;
    list_contacts(h);
    kick_next(h, x1, u1);
    remember_end(t + h, x1, u1);
    return outcome;
}

// The impulses that act at a state, and from them a kick, if nothing is hit there.
void ImpulseStep::prepare(double t, double h, const double* x, const double* u, double tolerance) {
    part_ = 1.0;
    reused_ = 0.0;
    last_points_.clear();
    std::fill(kick_.begin(), kick_.end(), 0.0);
    std::fill(contact_kick_.begin(), contact_kick_.end(), Push{});
    std::fill(last_rows_.begin(), last_rows_.end(), 0.0);
    rows_.evaluate_jacobians(t, x);
    look_for_points(h, u);
    points_ = contacts_.near(x, reach_);
    move_freely(t, h, x, u, u);
    find_velocities(h, x, u, tolerance, moved_.data());
    kick_next(h, x, u);
}

bool ImpulseStep::goes_on(double t, const double* x, const double* u) const {
    return kicks_ && t == end_t_ && std::equal(end_x_.begin(), end_x_.end(), x) &&
           std::equal(end_u_.begin(), end_u_.end(), u);
}

void ImpulseStep::remember_end(double t, const double* x, const double* u) {
    end_t_ = t;
    end_x_.assign(x, x + kPose * (model_.bodies() + 1));
    end_u_.assign(u, u + kTwist * (model_.bodies() + 1));
}

// A kick that is large against what bodies do, as of a light body between heavy ones whose large impulses no longer
// balance where the mechanism has turned, is found anew as well.
//
// Half of what acted on the bodies in this step; what was hit acted once. Impulses of the model's rows are taken along
// the rows of now, those of contacts, whose points come and go, in world axes.
void ImpulseStep::kick_next(double h, const double* x, const double* u) {
    last_h_ = h;
    const size_t first = velocities_.points().empty() ? total_.size() : velocities_.points()[0].row;
    const auto of_points = total_.begin() + static_cast<std::ptrdiff_t>(first);
    std::fill(total_.begin(), of_points, 0.0);
    std::copy(velocities_.impulses.begin() + static_cast<std::ptrdiff_t>(first), velocities_.impulses.end(), of_points);
    velocities_.to_bodies(total_.data(), bodies_.data());
    std::fill(kick_.begin(), kick_.end(), 0.0);
    add_scaled(1.0, bodies_.data(), kick_.data());
    for (int b = 0; b < model_.bodies(); ++b) {
        const Mat3 R = rotation_matrix(pose_rotation(x, b));
        const Vec3& I = model_.principal_inertia[b];
        const Vec3 turn = twist_angular(kick_.data(), b);
        Push& kept = contact_kick_[b];
        kept.linear = 0.5 * (reused_ * kept.linear + twist_linear(kick_.data(), b));
        kept.angular = 0.5 * (reused_ * kept.angular + R * Vec3{I.x * turn.x, I.y * turn.y, I.z * turn.z});
        const Vec3 moment = transpose_times(R, kept.angular);
        store_twist(kick_.data(), b, kept.linear, {moment.x / I.x, moment.y / I.y, moment.z / I.z});
    }
    int row = 0;
    for (const ImpulseProblem::Piece& piece : velocities_.pieces())
        for (int r = 0; r < piece.size; ++r) total_[row++] = 0.5 * last_rows_[piece.row + r];
    std::fill(of_points, total_.end(), 0.0);
    velocities_.to_bodies(total_.data(), bodies_.data());
    for (size_t k = 0; k < kick_.size(); ++k) {
        xi_[k] = 0.5 * h * rate_[k];
        kick_[k] += xi_[k];
    }
    add_scaled(1.0, bodies_.data(), kick_.data());
    const double most = kMostTurned * energy_of(u) + kMostForced * energy_of(xi_.data());
    kicks_ = hits_ == 0 && energy_of(kick_.data()) <= most;
}

double ImpulseStep::energy_of(const double* u) {
    scale(u, bodies_.data());
    return std::inner_product(bodies_.begin(), bodies_.end(), bodies_.begin(), 0.0);
}

// Accelerations without impulses at x, with velocities u as they are expected there; u′ as bodies turn by themselves.
void ImpulseStep::move_freely(double t, double h, const double* x, const double* u, const double* moved) {
    contacts_.leave_out(true);
    free_motion_.begin(t, x, u, rate_.data());
    free_motion_.finish(u, rate_.data());
    contacts_.leave_out(false);
    turn_freely(h, u, moved, rate_.data());
}

// Gyroscopic moments by the midpoint rule in principal axes, which keeps energy and angular momentum; as they are at
// the start of a step, they would make energy.
void ImpulseStep::turn_freely(double h, const double* u, const double* moved, double* rate) const {
    for (int b = 0; b < model_.bodies(); ++b) {
        const Vec3& I = model_.principal_inertia[b];
        const Vec3 w = twist_angular(moved, b);
        const auto moment = [&I](const Vec3& v) {
            return Vec3{(I.y - I.z) / I.x * v.y * v.z, (I.z - I.x) / I.y * v.z * v.x, (I.x - I.y) / I.z * v.x * v.y};
        };
        Vec3 middle = w;
        for (int i = 0; i < kGyroscopic; ++i) middle = w + (0.5 * h) * moment(middle);
        add(rate + kTwist * b + 4, moment(middle) - moment(twist_angular(u, b)));
    }
}

// As far as anything gets in a step, and somewhat farther.
void ImpulseStep::look_for_points(double h, const double* u) { reach_ = kReach + 1.5 * h * fastest(u); }

double ImpulseStep::bouncing_speed(double h) const { return std::max(rest_speed_, 2.0 * h * norm(model_.gravity)); }

double ImpulseStep::fastest(const double* u) const {
    double fastest = 0.0;
    for (const BodyShape& s : model_.contacts.shapes) {
        if (s.body == model_.ground()) continue;
        const double reach = std::min(s.shape->reach_out, 1e3) + norm(s.on_body.p);
        fastest = std::max(fastest, norm(twist_linear(u, s.body)) + reach * norm(twist_angular(u, s.body)));
    }
    return fastest;
}

void ImpulseStep::scale(const double* u, double* bodies) const {
    const auto inverse = rows_.inverse_sqrt_mass();
    for (int b = 0; b < model_.bodies(); ++b)
        for (int k = 0; k < 6; ++k) {
            const int at = kTwist * b + kComponent[k];
            bodies[6 * b + k] = u[at] / inverse[at];
        }
}

void ImpulseStep::add_scaled(double factor, const double* bodies, double* u) const {
    const auto inverse = rows_.inverse_sqrt_mass();
    for (int b = 0; b < model_.bodies(); ++b)
        for (int k = 0; k < 6; ++k) {
            const int at = kTwist * b + kComponent[k];
            u[at] += factor * bodies[6 * b + k] * inverse[at];
        }
}

}  // namespace bellcrank
