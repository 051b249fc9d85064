// Velocities of a step by impulses.
#include <algorithm>
#include <cmath>

#include "impulses/impulse_step.hpp"

namespace bellcrank {

namespace {

constexpr double kAimed = 0.01;  // of the tolerance
constexpr double kEnough = 0.1;  // the same, where more attempts would be made
constexpr double kSame = 1e-3;   // distance within which a point is the same as in the last step, in sizes
constexpr double kGains = 1e-9;  // of the energy of contacts' speeds: less is rounding
constexpr double kFar = 2.0, kFarther = 10.0, kFarthest = 1e8;  // cut gaps, in fastest speeds: first, times, last

}  // namespace

// u1 = u + h a_f + M⁻¹ Jᵀ P, or with half of these in a step that a kick has begun; the speeds along rows in after_.
ImpulseOutcome ImpulseStep::find_velocities(double h, const double* u, double tolerance, double* u1) {
    for (size_t k = 0; k < flying_.size(); ++k) flying_[k] += part_ * h * rate_[k];
    std::copy_n(u, freed_.size(), freed_.begin());
    space_.take(flying_.data(), freed_.data());
    lay_out(h, u);
    start_from_last();
    velocities_.jacobian().to_rows(freed_.data(), free_.data());
    if (!std::ranges::all_of(free_, [](double v) { return std::isfinite(v); })) {
        std::ranges::copy(freed_, u1);
        return {};
    }
    ImpulseOutcome outcome = solve(h, tolerance, u1);
    outcome.lost_to_friction -= work_of_rubbing_kick();
    remember_impulses();
    return outcome;
}

void ImpulseStep::lay_out(double h, const double* u) {
    const double* twists = space_.twists(u);
    velocities_.begin();
    for (const FoundContact& found : points_) {
        const ContactLaw& law = model_.contacts.groups[found.group].law;
        ImpulsePoint point = point_at(found);
        point.friction = friction_of(found, twists);
        point.rolling = law.rolling;
        point.spinning = law.spinning;
        velocities_.add(point);
    }
    bound_friction(part_ * h);
    velocities_.finish(false);
    diagonal_.resize(velocities_.rows());
    velocities_.jacobian().response().diagonal(diagonal_.data());
    for (auto* v : {&before_, &free_, &after_, &total_}) v->assign(velocities_.rows(), 0.0);
    velocities_.jacobian().to_rows(u, before_.data());
}

ImpulsePoint ImpulseStep::point_at(const FoundContact& found) const {
    const auto& shapes = model_.contacts.shapes;
    return {{shapes[found.a].body, shapes[found.b].body}, found.point.position, found.point.normal, 0.0};
}

// Static where the point touched and did not slip, or begins to touch without slip.
double ImpulseStep::friction_of(const FoundContact& found, const double* twists) {
    const ContactLaw& law = model_.contacts.groups[found.group].law;
    if (law.static_friction == law.kinetic_friction) return law.kinetic_friction;
    const double* poses = space_.poses();
    if (const auto slipped = contacts_.slipped(found, poses))
        return *slipped ? law.kinetic_friction : law.static_friction;
    const Vec3 v = contacts_.velocity_between(found, poses, twists), n = found.point.normal;
    return norm(v - dot(v, n) * n) > kSlips * found.speed ? law.kinetic_friction : law.static_friction;
}

// Starts from impulses of a whole step, in the axes of now.
void ImpulseStep::start_from_last() {
    for (size_t row = 0; row < last_rows_.size(); ++row) velocities_.impulses[row] = part_ * last_rows_[row];
    for (LastPoint& last : last_points_) last.taken = false;
    for (const bool by_feature : {true, false})
        for (size_t i = 0; i < points_.size(); ++i) {
            const ImpulsePoint& point = velocities_.points()[i];
            double* P = &velocities_.impulses[point.row];
            LastPoint* last = P[0] == 0.0 ? last_point(points_[i], by_feature) : nullptr;
            if (last == nullptr) continue;
            last->taken = true;
            for (int r = 0; r < point.size; ++r)
                P[r] = part_ * dot(r < point.forces ? last->impulse : last->moment, point.axes[r]);
        }
}

// Finds a point by its feature; or, as features of faces that lie on each other change by rounding, by where it is.
ImpulseStep::LastPoint* ImpulseStep::last_point(const FoundContact& found, bool by_feature) {
    const auto less = [](const LastPoint& p, const Key& k) { return p.key < k; };
    const Key key = by_feature ? key_of(found) : Key{found.a, found.b, 0};
    auto at = std::lower_bound(last_points_.begin(), last_points_.end(), key, less);
    if (by_feature) return at != last_points_.end() && at->key == key ? &*at : nullptr;
    for (; at != last_points_.end() && std::get<0>(at->key) == found.a && std::get<1>(at->key) == found.b; ++at)
        if (!at->taken && norm(at->position - found.point.position) < kSame * found.size) return &*at;
    return nullptr;
}

ImpulseStep::Approach ImpulseStep::to_limit(int row, const ImpulsePiece& piece) const {
    return {row,         space_.error(row), kClosed * space_.unit(row), before_[row] + space_.rate(row),
            rest_speed_, piece.restitution};
}

ImpulseStep::Approach ImpulseStep::to_point(int i) const {
    const FoundContact& found = points_[i];
    const int row = velocities_.points()[i].row;
    return {row,          found.point.gap,      kTouches * found.size,
            before_[row], rest_speed_of(found), model_.contacts.groups[found.group].law.restitution};
}

bool ImpulseStep::is_hit(const Approach& at, double h) const {
    const double pushed = reused_ > 0.0 ? diagonal_[at.row] * start_[at.row] : 0.0;
    return at.speed < -bouncing_speed(h, at.rest_speed, pushed);
}

// Whether a limit or a contact that bounces is met within the step.
bool ImpulseStep::meets_a_bounce(double h) const {
    const auto meets = [&](const Approach& at) {
        return at.restitution > 0.0 && at.gap > at.closed && at.meets(h) && is_hit(at, h);
    };
    int row = 0;
    bool any = false;
    for (const ImpulsePiece& piece : velocities_.pieces()) {
        any |= piece.unilateral && meets(to_limit(row, piece));
        row += piece.size;
    }
    for (int i = 0; i < static_cast<int>(points_.size()); ++i) any |= meets(to_point(i));
    return any;
}

// What is added to the speed of an inequality, which then must not be negative. What bounces meets its impact where it
// gets in; so does a limit that does not, beside it, for their impulses are one problem.
double ImpulseStep::shift(const Approach& at, double h, double bounce, bool beside) {
    const bool hit = is_hit(at, h), bounces = hit && at.restitution > 0.0, open = at.gap > at.closed;
    if (open && (bounces || (beside && hit && at.meets(h)))) return Bounds::kInfinity;
    if (hit && at.meets(h)) ++hits_;
    return open ? at.gap / h : bounces ? bounce * at.restitution * at.speed : 0.0;
}

// The speed along a row with compliance, a rotor's, that the second half of a step begins with: where the step began,
// and changed by what the kick took from the rotor. So no momentum of the rotor is lost.
double ImpulseStep::led_by(int row, double compliance) const {
    const double began = end_rates_.empty() ? before_[row] : end_rates_[row];
    return began - compliance * 0.5 * reused_ * last_rows_[row];
}

// The speeds without impulses, and what is added to those of limits and contacts. Gaps too wide to close in a step are
// cut to `far` times the fastest speed, so that they do not set the scale of the residual.
void ImpulseStep::set_speeds(double h, double bounce, double far) {
    hits_ = 0;
    cuts_.assign(velocities_.rows(), Bounds::kInfinity);
    int row = 0;
    for (const ImpulsePiece& piece : velocities_.pieces())
        for (int r = 0; r < piece.size; ++r, ++row) {
            velocities_.q[row] =
                free_[row] + (piece.compliance > 0.0 ? -led_by(row, piece.compliance) : space_.rate(row));
        }
    for (; row < velocities_.rows(); ++row) velocities_.q[row] = free_[row];
    const double fastest = velocities_.largest(velocities_.q);
    const auto add = [&](int at, double s) {
        const double cut = far * fastest / velocities_.weight(at);
        if (s > cut) cuts_[at] = cut;
        velocities_.q[at] += std::min(s, cut);
    };
    row = 0;
    const bool beside = meets_a_bounce(h);
    for (const ImpulsePiece& piece : velocities_.pieces()) {
        if (piece.unilateral) add(row, shift(to_limit(row, piece), h, bounce, beside));
        row += piece.size;
    }
    for (size_t i = 0; i < points_.size(); ++i) {
        const int at = velocities_.points()[i].row;
        const ContactLaw& law = model_.contacts.groups[points_[i].group].law;
        add(at, shift(to_point(static_cast<int>(i)), h, law.by_impulse > 0.0 ? 0.0 : bounce, false));
    }
}

// Whether something moves towards one of these faster than the fastest speed without impulses: those of a heavy body
// throw a light one at many times its own. Then the cut gap may have stopped it.
bool ImpulseStep::meets_what_is_far() const {
    int row = 0;
    const auto meets = [&](int at, double rate) { return after_[at] + rate < -0.9 * cuts_[at]; };
    for (const ImpulsePiece& piece : velocities_.pieces()) {
        if (piece.unilateral && meets(row, space_.rate(row))) return true;
        row += piece.size;
    }
    return std::ranges::any_of(velocities_.points(), [&](const ImpulsePoint& p) { return meets(p.row, 0.0); });
}

// Newton's restitution may gain energy where points rub, or ask for what no impulses can do, as where a wedge would
// have to slide back under its own friction: then with half of it, and with none.
ImpulseOutcome ImpulseStep::solve(double h, double tolerance, double* u1) {
    start_ = velocities_.impulses;
    ImpulseOutcome outcome;
    int weakened = 0;
    for (const double bounce : {1.0, 0.5, 0.0}) {
        velocities_.impulses = start_;
        ConeReport report;
        for (double far = kFar; far < kFarthest; far *= kFarther) {
            report = find_impulses(h, bounce, far, tolerance);
            std::copy(freed_.begin(), freed_.end(), u1);
            velocities_.jacobian().add_response(velocities_.impulses.data(), u1);
            velocities_.jacobian().to_rows(u1, after_.data());
            if (!meets_what_is_far()) break;
        }
        outcome = describe(report);
        outcome.found = report.residual <= tolerance;
        const Work work = work_of_contacts(free_);
        const bool gains = work.normal + work.across > kGains * work.size;
        if (hits_ == 0 || bounce == 0.0 || (outcome.found && !gains)) break;
        ++weakened;
    }
    for (const FoundContact& found : points_) outcome.penetration = std::max(outcome.penetration, -found.point.gap);
    // An impact comes after the forces of the step. Beside what rests they act all the time: with the speeds before
    // them, their work is what potential energy gives.
    const Work work = work_of_contacts(hits_ > 0 ? free_ : before_);
    outcome.lost_to_impacts = -work.normal;
    outcome.lost_to_friction = -work.across;
    outcome.weakened = weakened;
    outcome.impacts = hits_;
    return outcome;
}

// Poisson's restitution has a second phase: what pushed in the first one pushes on by a part of that impulse.
ConeReport ImpulseStep::find_impulses(double h, double bounce, double far, double tolerance) {
    set_speeds(h, bounce, far);
    ConeReport report = velocities_.solve(kAimed * tolerance, kEnough * tolerance);
    factorizations_ += report.factorizations;
    if (hits_ == 0 || bounce == 0.0 || report.residual > tolerance || !pushes_on(h, bounce)) return report;
    const ConeReport next = velocities_.expand(more_, kAimed * tolerance, kEnough * tolerance);
    factorizations_ += next.factorizations;
    return next.residual > report.residual ? next : report;
}

// Whether points push by more than what rests pushes in a step anyway; by how much is in more_.
bool ImpulseStep::pushes_on(double h, double bounce) {
    more_.assign(points_.size(), 0.0);
    for (size_t i = 0; i < points_.size(); ++i) {
        const ContactLaw& law = model_.contacts.groups[points_[i].group].law;
        const int row = velocities_.points()[i].row;
        const double push = velocities_.impulses[row];
        if (law.by_impulse > 0.0 && push * diagonal_[row] > bouncing_speed(h, rest_speed_of(points_[i])))
            more_[i] = bounce * law.restitution * push;
    }
    return std::ranges::any_of(more_, [](double push) { return push > 0.0; });
}

// What impulses of limits and contacts add to the energy while speeds change from `began` to after_: along normals, and
// across them.
ImpulseStep::Work ImpulseStep::work_of_contacts(const std::vector<double>& began) const {
    const std::vector<double>& P = velocities_.impulses;
    Work work;
    const auto of = [&](int r) {
        work.size += std::abs(P[r]) * (std::abs(began[r]) + std::abs(after_[r]));
        return 0.5 * P[r] * (began[r] + after_[r]);
    };
    int row = 0;
    for (const ImpulsePiece& piece : velocities_.pieces()) {
        if (piece.unilateral && space_.rate(row) == 0.0) work.normal += of(row);
        if (piece.friction >= 0) work.across += of(row);
        row += piece.size;
    }
    for (const ImpulsePoint& point : velocities_.points()) {
        work.normal += of(point.row);
        for (int r = 1; r < point.size; ++r) work.across += of(point.row + r);
    }
    return work;
}

ImpulseOutcome ImpulseStep::describe(const ConeReport& report) const {
    ImpulseOutcome out;
    out.residual = report.residual;
    const int pieces = static_cast<int>(velocities_.pieces().size());
    if (report.worst < 0) return out;
    if (report.worst < pieces) {
        out.row = velocities_.pieces()[report.worst].model_row;
    } else {
        const FoundContact& found = points_[report.worst - pieces];
        out.between = {model_.contacts.shapes[found.a].body, model_.contacts.shapes[found.b].body};
    }
    return out;
}

// Keeps impulses of a whole step: of rows with what was in u′, of points as if they had pushed all the time as they do
// at its end.
void ImpulseStep::remember_impulses() {
    for (size_t row = 0; row < last_rows_.size(); ++row)
        last_rows_[row] = 0.5 * reused_ * last_rows_[row] + velocities_.impulses[row];
    last_points_.swap(kicking_points_);
    last_points_.clear();
    for (size_t i = 0; i < points_.size(); ++i)
        last_points_.push_back({key_of(points_[i]), (1.0 / part_) * velocities_.impulse_at(velocities_.points()[i]),
                                (1.0 / part_) * velocities_.moment_at(velocities_.points()[i]),
                                points_[i].point.position, false});
    std::sort(last_points_.begin(), last_points_.end(),
              [](const LastPoint& p, const LastPoint& q) { return p.key < q.key; });
}

}  // namespace bellcrank
