#include "impulses/impulse_step.hpp"

#include <algorithm>
#include <cmath>

#include "spatial/body_state.hpp"
#include "spatial/components.hpp"

namespace bellcrank {

namespace {

constexpr double kReach = 1e-3;  // gaps that count [m], beside those that a step may close
// Energy of a kick by that of the motion, (ω h)²/4 where all turns at ω, and by that of half a step of forces alone.
constexpr double kMostTurned = 0.25, kMostForced = 4.0;

int rows_of(const std::vector<ImpulsePiece>& pieces) {
    int rows = 0;
    for (const ImpulsePiece& piece : pieces) rows += piece.size;
    return rows;
}

}  // namespace

ImpulseStep::ImpulseStep(const Model& model, Contacts& contacts, ImpulseSpace& space, double rest_speed)
    : model_(model),
      contacts_(contacts),
      space_(space),
      rest_speed_(rest_speed),
      positions_(space),
      velocities_(space),
      xi_(space.speeds()),
      rate_(xi_),
      moved_(xi_),
      freed_(xi_),
      kick_(xi_),
      pushes_(model.bodies()),
      contact_kick_(model.bodies()),
      last_rows_(rows_of(space.pieces())) {}

ImpulseOutcome ImpulseStep::step(double t, double h, const double* x, const double* u, double tolerance, double* x1,
                                 double* u1) {
    if (!goes_on(t, x, u)) prepare(t, h, x, u, tolerance);
    part_ = kicks_ ? 0.5 : 1.0;
    reused_ = kicks_ ? h / last_h_ : 0.0;
    for (size_t k = 0; k < xi_.size(); ++k) moved_[k] = u[k] + reused_ * kick_[k];
    look_for_points(h, moved_.data());
    space_.advance(t + h, h, x, moved_.data(), x1);
    const bool met = correct_positions(t + h, h, u, x1);
    for (size_t k = 0; k < xi_.size(); ++k) xi_[k] = moved_[k] + reused_ * kick_[k];
    move_freely(t + h, h, x1, xi_.data(), moved_.data());
    ImpulseOutcome outcome = find_velocities(t + h, h, moved_.data(), tolerance, u1);
    outcome.constraints_met = met;
    list_contacts(h);
    kick_next(h, u1);
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
    space_.place(t, x);
    look_for_points(h, u);
    points_ = contacts_.near(space_.poses(), reach_);
    move_freely(t, h, x, u, u);
    find_velocities(t, h, u, tolerance, moved_.data());
    kick_next(h, u);
}

bool ImpulseStep::goes_on(double t, const double* x, const double* u) const {
    return kicks_ && t == end_t_ && std::equal(end_x_.begin(), end_x_.end(), x) &&
           std::equal(end_u_.begin(), end_u_.end(), u);
}

void ImpulseStep::remember_end(double t, const double* x, const double* u) {
    end_t_ = t;
    end_x_.assign(x, x + space_.configuration_size());
    end_u_.assign(u, u + space_.speeds());
}

// A kick that is large against what bodies do, as of a light body between heavy ones whose large impulses no longer
// balance where the mechanism has turned, is found anew as well.
//
// Half of what acted on the bodies in this step; what was hit acted once. Impulses of the model's rows are taken along
// the rows of now, those of contacts, whose points come and go, in world axes.
void ImpulseStep::kick_next(double h, const double* u) {
    last_h_ = h;
    push_bodies();
    for (int b = 0; b < model_.bodies(); ++b) {
        Push& kept = contact_kick_[b];
        kept.linear = 0.5 * (reused_ * kept.linear + pushes_[b].linear);
        kept.angular = 0.5 * (reused_ * kept.angular + pushes_[b].angular);
    }
    const auto of_points = total_.begin() + velocities_.rows_of_pieces();
    std::transform(last_rows_.begin(), last_rows_.end(), total_.begin(), [](double P) { return 0.5 * P; });
    std::fill(of_points, total_.end(), 0.0);
    for (size_t k = 0; k < kick_.size(); ++k) kick_[k] = xi_[k] = 0.5 * h * rate_[k];
    space_.add_response(contact_kick_, kick_.data());
    velocities_.add_response(total_.data(), kick_.data());
    const double most = kMostTurned * energy_of(u) + kMostForced * energy_of(xi_.data());
    kicks_ = hits_ == 0 && energy_of(kick_.data()) <= most;
}

// Of the contacts of this step.
void ImpulseStep::push_bodies() {
    std::fill(pushes_.begin(), pushes_.end(), Push{});
    for (const ImpulsePoint& point : velocities_.points()) {
        const Vec3 P = velocities_.impulse_at(point);
        for (const auto& [shape, sign] : {std::pair(point.found->a, 1.0), std::pair(point.found->b, -1.0)}) {
            const int body = model_.contacts.shapes[shape].body;
            if (body == model_.ground()) continue;
            const Vec3 arm = point.found->point.position - pose_position(space_.poses(), body);
            pushes_[body].linear += sign * P;
            pushes_[body].angular += sign * cross(arm, P);
        }
    }
}

double ImpulseStep::energy_of(const double* u) {
    const double* twists = space_.twists(u);
    double energy = 0.0;
    for (int b = 0; b < model_.bodies(); ++b) {
        const Vec3 v = twist_linear(twists, b), w = twist_angular(twists, b);
        const Vec3& I = model_.principal_inertia[b];
        energy += model_.mass[b] * dot(v, v) + I.x * w.x * w.x + I.y * w.y * w.y + I.z * w.z * w.z;
    }
    return energy;
}

// Accelerations without impulses at x, with velocities u as they are expected there; u′ as bodies turn by themselves.
void ImpulseStep::move_freely(double t, double h, const double* x, const double* u, const double* moved) {
    contacts_.leave_out(true);
    space_.accelerate_freely(t, h, x, u, moved, rate_.data());
    contacts_.leave_out(false);
}

// As far as anything gets in a step, and somewhat farther.
void ImpulseStep::look_for_points(double h, const double* u) { reach_ = kReach + 1.5 * h * fastest(space_.twists(u)); }

double ImpulseStep::bouncing_speed(double h) const { return std::max(rest_speed_, 2.0 * h * norm(model_.gravity)); }

double ImpulseStep::fastest(const double* twists) const {
    double fastest = 0.0;
    for (const BodyShape& s : model_.contacts.shapes) {
        if (s.body == model_.ground()) continue;
        const double reach = std::min(s.shape->reach_out, 1e3) + norm(s.on_body.p);
        fastest = std::max(fastest, norm(twist_linear(twists, s.body)) + reach * norm(twist_angular(twists, s.body)));
    }
    return fastest;
}

}  // namespace bellcrank
