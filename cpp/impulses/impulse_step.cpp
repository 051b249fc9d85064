// Positions of a step by impulses: back onto the rows, and out of what was penetrated.
#include "impulses/impulse_step.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "impulses/strike.hpp"
#include "spatial/body_state.hpp"

namespace bellcrank {

namespace {

// Energy of a kick by that of the motion, (ω h)²/4 where all turns at ω, and by that of half a step of forces alone.
constexpr double kMostTurned = 0.25, kMostForced = 4.0;
constexpr int kGyroscopic = 6;      // iterations
constexpr double kAtBound = 1e-9;   // parts of bounds, and of what speeds ask for
constexpr double kRests = 0.1;      // of the tolerance: speed at a bound that is none
constexpr double kSameTime = 1e-6;  // of a step: the next one begins where it ends, but for rounding of the sum

int rows_of(const std::vector<ImpulsePiece>& pieces) {
    int rows = 0;
    for (const ImpulsePiece& piece : pieces) rows += piece.size;
    return rows;
}

}  // namespace

ImpulseStep::ImpulseStep(const Model& model, const FreeMotion& free_motion, Contacts& contacts, RubbingRows& friction,
                         std::unique_ptr<ImpulseSpace> space, double rest_speed, double closed)
    : model_(model),
      free_motion_(free_motion),
      contacts_(contacts),
      friction_(friction),
      owned_(std::move(space)),
      space_(*owned_),
      rest_speed_(rest_speed),
      closed_(closed),
      positions_(space_),
      velocities_(space_),
      xi_(space_.speeds()),
      moved_(xi_),
      freed_(xi_),
      flying_(kTwist * (static_cast<size_t>(model.bodies()) + 1)),
      rate_(flying_),
      twists_(flying_),
      kick_(xi_),
      twist_kick_(flying_),
      end_twists_(flying_),
      trial_u_(xi_),
      on_bodies_(flying_),
      contact_part_(flying_),
      contact_kick_(model.bodies()),
      last_rows_(rows_of(space_.pieces())) {}

ImpulseOutcome ImpulseStep::step(double t, double h, const double* x, const double* u, double tolerance, double* x1,
                                 double* u1) {
    if (!model_.has_friction) return step_from(t, h, x, u, tolerance, x1, u1);
    ImpulseOutcome outcome;
    outcome.found = begin_rubbing(t, h, x, u);
    if (outcome.found) outcome = step_from(t, h, x, u, tolerance, x1, u1);
    // The kick has half of the last step's friction in it, against which it could not come to rest.
    if (outcome.found && part_ < 1.0 && reused_ > 0.0 && find_senses(tolerance)) {
        kicks_ = false;
        outcome = step_from(t, h, x, u, tolerance, x1, u1);
    }
    if (!outcome.found || !outcome.constraints_met) return friction_.leave_rubbing(), outcome;
    const bool otherwise = find_senses(tolerance);
    if (otherwise) kicks_ = false;
    friction_.end_rubbing(t + h, x1, u1, senses_, otherwise, tolerance * scale_of_speeds());
    return outcome;
}

ImpulseOutcome ImpulseStep::step_from(double t, double h, const double* x, const double* u, double tolerance,
                                      double* x1, double* u1) {
    if (!goes_on(t, x, u)) prepare(t, h, x, u, tolerance);
    part_ = kicks_ ? 0.5 : 1.0;
    reused_ = kicks_ ? h / last_h_ : 0.0;
    for (size_t k = 0; k < xi_.size(); ++k) moved_[k] = u[k] + reused_ * kick_[k];
    for (size_t k = 0; k < flying_.size(); ++k) flying_[k] = end_twists_[k] + reused_ * twist_kick_[k];
    if (!std::ranges::all_of(moved_, [](double v) { return std::isfinite(v); })) {
        std::copy_n(x, space_.configuration_size(), x1);
        std::ranges::copy(moved_, u1);  // the end of the run: who calls names the body
        return {};
    }
    look_for_points(h, flying_.data());
    space_.advance(t + h, h, x, moved_.data(), x1);
    const bool met = correct_positions(t + h, h, u, x1);
    move_freely(t + h, h);
    ImpulseOutcome outcome = find_velocities(h, moved_.data(), tolerance, u1);
    outcome.constraints_met = met;
    outcome.factorizations = std::exchange(factorizations_, 0);
    outcome.coarseness = coarseness_;
    outcome.lost_to_friction -= work_of_kick();
    space_.settle(u1);
    list_contacts(h, u1);
    kick_next(h, u1);
    end_rates_.assign(after_.begin(), after_.begin() + velocities_.rows_of_pieces());
    remember_end(t + h, x1, u1);
    return outcome;
}

ImpulseOutcome ImpulseStep::strike(double t, const double* x, const std::vector<Blow>& blows,
                                   const std::vector<StruckPoint>& points, double tolerance, double* u,
                                   std::vector<Vec3>& impulses) {
    return bellcrank::strike(space_, t, x, blows, points, closed_, tolerance, u, impulses);
}

// What held before stays where it is, whatever the kick does.
bool ImpulseStep::begin_rubbing(double t, double h, const double* x, const double* u) {
    if (!friction_.begin_rubbing(t, x, u, t + h, rubbing_)) return false;
    bounds_.assign(space_.pieces().size(), {});
    for (size_t i = 0; i < bounds_.size(); ++i)
        if (const int law = space_.pieces()[i].friction; law >= 0 && rubbing_[law].holds)
            bounds_[i] = {-Bounds::kInfinity, Bounds::kInfinity};
    positions_.bound(bounds_);
    return true;
}

// Bounds of impulses in a time.
void ImpulseStep::bound_friction(double time) {
    if (!model_.has_friction) return;
    for (size_t i = 0; i < bounds_.size(); ++i)
        if (const int law = space_.pieces()[i].friction; law >= 0)
            bounds_[i] = {time * rubbing_[law].effort.lower, time * rubbing_[law].effort.upper};
    velocities_.bound(bounds_);
}

double ImpulseStep::scale_of_speeds() const { return std::max(velocities_.largest(velocities_.q), velocities_.slow()); }

// What has an impulse within its bounds holds; what is at one of them slips, if it moves at all. Whether some do
// otherwise than before.
bool ImpulseStep::find_senses(double tolerance) {
    const double scale = scale_of_speeds();
    senses_.assign(model_.laws.size(), 0.0);
    bool otherwise = false;
    int row = 0;
    for (size_t i = 0; i < bounds_.size(); row += space_.pieces()[i++].size) {
        const int law = space_.pieces()[i].friction;
        if (law < 0) continue;
        const auto [lower, upper] = bounds_[i];
        const double P = velocities_.impulses[row], speed = after_[row] + space_.rate(row);
        double near = kAtBound * scale / (velocities_.weight(row) * diagonal_[row]);
        for (const double bound : {lower, upper})
            if (std::isfinite(bound)) near += kAtBound * std::abs(bound);
        const bool within = P > lower + near && P < upper - near;
        const double rest = (within ? 1.0 : kRests) * tolerance * scale;
        if (velocities_.weight(row) * std::abs(speed) > rest) senses_[law] = std::copysign(1.0, speed);
        otherwise |= rubbing_[law].holds ? senses_[law] != 0.0 : senses_[law] != rubbing_[law].sense;
    }
    return otherwise;
}

// What friction in joints has done in the kick that the step began with.
double ImpulseStep::work_of_rubbing_kick() const {
    double work = 0.0;
    int row = 0;
    for (const ImpulsePiece& piece : velocities_.pieces()) {
        if (piece.friction >= 0 && !end_rates_.empty())
            work += 0.25 * reused_ * last_rows_[row] * (end_rates_[row] + before_[row]);
        row += piece.size;
    }
    return work;
}

// A kick from the impulses of a trial step without one, if nothing is hit in it: at its end they are those that also
// surfaces and drives ask for that accelerate. Those of the model's rows act along the rows where the step begins.
void ImpulseStep::prepare(double t, double h, const double* x, const double* u, double tolerance) {
    part_ = 1.0;
    reused_ = 0.0;
    last_points_.clear();
    for (auto* v : {&kick_, &twist_kick_, &last_rows_}) std::fill(v->begin(), v->end(), 0.0);
    pair_kicks_.clear();
    space_.place(t, x);
    std::copy_n(space_.twists(u), flying_.size(), flying_.begin());
    end_rates_.clear();
    look_for_points(h, flying_.data());
    std::copy_n(u, moved_.size(), moved_.begin());
    trial_x_.resize(space_.configuration_size());
    space_.advance(t + h, h, x, moved_.data(), trial_x_.data());
    const bool met = correct_positions(t + h, h, u, trial_x_.data());
    move_freely(t + h, h);
    const bool found = find_velocities(h, moved_.data(), tolerance, trial_u_.data()).found;
    const double forced = gather_kick(h);
    space_.place(t, x);
    velocities_.begin();
    velocities_.finish(false);
    end_rates_.resize(velocities_.rows());
    velocities_.jacobian().to_rows(u, end_rates_.data());
    give_kick(h, forced, u);
    kicks_ = kicks_ && met && found;
}

bool ImpulseStep::goes_on(double t, const double* x, const double* u) const {
    return kicks_ && std::abs(t - end_t_) <= kSameTime * last_h_ && std::equal(end_x_.begin(), end_x_.end(), x) &&
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
    const double forced = gather_kick(h);
    give_kick(h, forced, u);
}

// on_bodies_ and total_, and twice the energy of what forces alone do.
double ImpulseStep::gather_kick(double h) {
    last_h_ = h;
    for (size_t k = 0; k < rate_.size(); ++k) twists_[k] = 0.5 * h * rate_[k];
    add_pushes();
    std::transform(last_rows_.begin(), last_rows_.end(), total_.begin(), [](double P) { return 0.5 * P; });
    std::fill(total_.begin() + velocities_.rows_of_pieces(), total_.end(), 0.0);
    return energy_of(twists_.data());
}

void ImpulseStep::give_kick(double h, double forced, const double* u) {
    space_.kick(0.5 * h, u, on_bodies_.data(), velocities_.jacobian(), total_.data(), kick_.data(), twist_kick_.data());
    std::copy_n(space_.twists(u), end_twists_.size(), end_twists_.begin());
    const double most = kMostTurned * energy_of(end_twists_.data()) + kMostForced * forced;
    kicks_ = hits_ == 0 && energy_of(twist_kick_.data()) <= most;
}

// on_bodies_ = what forces do in half a step, twists_, and contacts on average.
void ImpulseStep::add_pushes() {
    kick_pairs();
    std::fill(contact_kick_.begin(), contact_kick_.end(), Push{});
    for (const PairKick& pair : pair_kicks_)
        for (const auto& [body, push] : {std::pair(pair.bodies.first, pair.on[0]), {pair.bodies.second, pair.on[1]}}) {
            if (body == model_.ground()) continue;
            contact_kick_[body].linear += push.linear;
            contact_kick_[body].angular += push.angular;
        }
    for (int b = 0; b < model_.bodies(); ++b) {
        const Mat3 R = rotation_matrix(pose_rotation(space_.poses(), b));
        const Vec3 v = twist_linear(twists_.data(), b), w = twist_angular(twists_.data(), b);
        const Vec3& I = model_.principal_inertia[b];
        const Vec3 moment = transpose_times(R, contact_kick_[b].angular);
        store_twist(contact_part_.data(), b, contact_kick_[b].linear, moment);
        store_twist(on_bodies_.data(), b, model_.mass[b] * v + contact_kick_[b].linear,
                    Vec3{I.x * w.x, I.y * w.y, I.z * w.z} + moment);
    }
}

// The mean of this step's and earlier impulses. Bodies that have parted do nothing to each other any more.
void ImpulseStep::kick_pairs() {
    for (PairKick& pair : pair_kicks_) {
        pair.touches = false;
        for (Push& kept : pair.on) kept = {0.5 * reused_ * kept.linear, 0.5 * reused_ * kept.angular};
    }
    for (size_t i = 0; i < points_.size(); ++i) {
        if (!is_listed(static_cast<int>(i))) continue;
        const ImpulsePoint& point = velocities_.points()[i];
        const std::pair<int, int> bodies{point.bodies[0], point.bodies[1]};
        auto at = std::ranges::lower_bound(pair_kicks_, bodies, {}, &PairKick::bodies);
        if (at == pair_kicks_.end() || at->bodies != bodies) at = pair_kicks_.insert(at, {bodies, {}});
        at->touches = true;
        const Vec3 P = 0.5 * velocities_.impulse_at(point), moment = 0.5 * velocities_.moment_at(point);
        for (int side = 0; side < 2; ++side) {
            const int body = point.bodies[side];
            if (body == model_.ground()) continue;
            const Vec3 arm = point.position - pose_position(space_.poses(), body);
            const double sign = side == 0 ? 1.0 : -1.0;
            at->on[side].linear += sign * P;
            at->on[side].angular += sign * (cross(arm, P) + moment);
        }
    }
    std::erase_if(pair_kicks_, [](const PairKick& pair) { return !pair.touches; });
}

// What contacts have done in the kick that the step began with. Nothing was hit there, so that it is friction's.
double ImpulseStep::work_of_kick() const {
    double work = 0.0;
    for (size_t k = 0; k < contact_part_.size(); ++k)
        work += reused_ * contact_part_[k] * (end_twists_[k] + 0.5 * reused_ * twist_kick_[k]);
    return work;
}

double ImpulseStep::energy_of(const double* twists) const {
    double energy = 0.0;
    for (int b = 0; b < model_.bodies(); ++b) {
        const Vec3 v = twist_linear(twists, b), w = twist_angular(twists, b);
        const Vec3& I = model_.principal_inertia[b];
        energy += model_.mass[b] * dot(v, v) + I.x * w.x * w.x + I.y * w.y * w.y + I.z * w.z * w.z;
    }
    return energy;
}

// Accelerations without impulses where the space is; the second half of a step is expected to be like the first.
void ImpulseStep::move_freely(double t, double h) {
    for (size_t k = 0; k < twists_.size(); ++k) twists_[k] = flying_[k] + reused_ * twist_kick_[k];
    contacts_.leave_out(true);
    free_motion_.begin(t, space_.poses(), twists_.data(), rate_.data());
    free_motion_.finish(twists_.data(), rate_.data());
    contacts_.leave_out(false);
    coarseness_ = energy_of_forces(h);
    turn_freely(h, twists_.data());
}

Vec3 ImpulseStep::gyroscopic(int body, const Vec3& w) const {
    const Vec3& I = model_.principal_inertia[body];
    return {(I.y - I.z) / I.x * w.y * w.z, (I.z - I.x) / I.y * w.z * w.x, (I.x - I.y) / I.z * w.x * w.y};
}

// What they make in a step of bodies that rest, and their work over what positions may be wrong by; at twists_ and
// rate_.
double ImpulseStep::energy_of_forces(double h) const {
    double energy = 0.0;
    for (int b = 0; b < model_.bodies(); ++b) {
        const Vec3& I = model_.principal_inertia[b];
        const Vec3 a = twist_linear(rate_.data(), b);
        const Vec3 w = twist_angular(rate_.data(), b) - gyroscopic(b, twist_angular(twists_.data(), b));
        const double square = model_.mass[b] * dot(a, a);
        energy += 0.5 * h * h * (square + I.x * w.x * w.x + I.y * w.y * w.y + I.z * w.z * w.z);
        energy += kClosed * space_.length() * std::sqrt(model_.mass[b] * square);
    }
    return energy;
}

// Gyroscopic moments by the midpoint rule in principal axes, which keeps energy and angular momentum; as they are at
// the start of a step, they would make energy.
void ImpulseStep::turn_freely(double h, const double* expected) {
    for (int b = 0; b < model_.bodies(); ++b) {
        const Vec3 w = twist_angular(flying_.data(), b);
        Vec3 middle = w;
        for (int i = 0; i < kGyroscopic; ++i) middle = w + (0.5 * h) * gyroscopic(b, middle);
        add(rate_.data() + kTwist * b + 4, gyroscopic(b, middle) - gyroscopic(b, twist_angular(expected, b)));
    }
}

// Looks as far as anything gets in a step, and somewhat farther.
void ImpulseStep::look_for_points(double h, const double* twists) { way_ = 1.5 * h * fastest(twists); }

// The least speed of approach that is an impact: not what gravity makes in a step, or whatever else pushes: what pushed
// already in the last step follows a surface that accelerates.
double ImpulseStep::bouncing_speed(double h, double rest_speed, double pushed) const {
    return std::max({rest_speed, 2.0 * h * norm(model_.gravity), 2.0 * pushed});
}

// The option's is that of shapes of 0.1 m under gravity; others come to rest in proportion.
double ImpulseStep::rest_speed_of(const FoundContact& found) const { return rest_speed_ * found.speed; }

double ImpulseStep::fastest(const double* twists) const {
    double fastest = 0.0;
    for (const BodyShape& s : model_.contacts.shapes) {
        if (s.body == model_.ground()) continue;
        const double reach = std::min(s.shape->reach_out, 1e3) + norm(s.on_body.p);
        fastest = std::max(fastest, norm(twist_linear(twists, s.body)) + reach * norm(twist_angular(twists, s.body)));
    }
    return fastest;
}

namespace {

constexpr double kPenetration = 1e-8;  // that is left, in sizes (ContactSet)
constexpr double kRows = 1e-11;        // error of a row that is met, in lengths of the space, or rad
constexpr double kResidual = 1e-6;     // of displacements; the next correction has what they leave
constexpr int kCorrections = 12;

}  // namespace

// Contacts by displacements as small as they can be, those of a problem of the same kind without friction; rows, which
// these follow to first order, by the formulation. What leaves a contact, or bounces there, is not moved.
bool ImpulseStep::correct_positions(double t, double h, const double* u, double* x) {
    for (int i = 0; i < kCorrections; ++i) {
        space_.place(t, x);
        bool met = true;
        if (!(row_error() <= kRows)) {
            met = space_.close(t, x);
            space_.place(t, x);
        }
        points_ = contacts_.near(space_.poses(), way_);
        if (!met || !penetrates(space_.twists(u), h)) return met;
        positions_.begin();
        for (const FoundContact& found : close_) positions_.add(point_at(found));
        positions_.finish(true);
        int row = 0;
        for (const ImpulsePiece& piece : positions_.pieces())
            for (int r = 0; r < piece.size; ++r, ++row) positions_.q[row] = is_held(piece) ? space_.error(row) : 0.0;
        for (const FoundContact& found : close_) positions_.q[row++] = found.point.gap;
        factorizations_ += positions_.solve(kResidual).factorizations;
        std::fill(xi_.begin(), xi_.end(), 0.0);
        positions_.jacobian().add_response(positions_.impulses.data(), xi_.data());
        space_.displace(xi_.data(), x);
    }
    const bool met = space_.close(t, x);
    space_.place(t, x);
    points_ = contacts_.near(space_.poses(), way_);
    return met;
}

// Whether points are penetrated that bodies do not leave by themselves; close_ has all others that are near.
bool ImpulseStep::penetrates(const double* twists, double h) {
    bool any = false;
    close_.clear();
    for (const FoundContact& found : points_) {
        if (found.point.gap > kNearGap * found.size) continue;
        if (found.point.gap <= 0.0) {
            const double fast = bouncing_speed(h, rest_speed_of(found));
            const double speed = dot(contacts_.velocity_between(found, space_.poses(), twists), found.point.normal);
            if (speed > fast || (speed < -fast && model_.contacts.groups[found.group].law.restitution > 0.0)) continue;
        }
        close_.push_back(found);
        any = any || found.point.gap < -kPenetration * found.size;
    }
    return any;
}

// The largest error of rows that hold positions, in lengths of the space, or rad.
double ImpulseStep::row_error() const {
    double worst = 0.0;
    int row = 0;
    for (const ImpulsePiece& piece : positions_.pieces())
        for (int r = 0; r < piece.size; ++r, ++row) {
            if (!is_held(piece)) continue;
            const double C = space_.error(row);
            worst = std::isfinite(C) ? std::max(worst, (piece.unilateral ? -C : std::abs(C)) / space_.unit(row))
                                     : Bounds::kInfinity;
        }
    return worst;
}

}  // namespace bellcrank
