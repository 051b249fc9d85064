#include "model/stops.hpp"

#include <cmath>
#include <utility>

#include "model/gap_course.hpp"

namespace bellcrank {

namespace {

// What leaves a stop faster than by rounding, as a fraction of the speed that counts as rest.
constexpr double kLeaving = 1e-5;

// What leaves or approaches it faster than gaps can show: at 1e-6 m/s a body rises against its weight by half of the
// position tolerance.
constexpr double kFlying = 1e-3;

// An acceleration off a stop that is rounding, against what the rows ask for.
constexpr double kTouching = 1e-10;

// A pull that is no rounding, in parts of the largest multiplier; an approach that is none.
constexpr double kPull = 1e-10, kApproach = 1e-12;

// Difference of speeds behind an impact, in parts of them, that shows that its restitution was weakened.
constexpr double kWeakened = 1e-7;

// Penetration with which the constraints are not met.
constexpr double kGivenUp = 1e-6;

}  // namespace

Stops::Stops(const Model& model, const StopOptions& options) : options_(options) {
    for (const Block& block : model.blocks)
        for (int row = block.row_begin; row < block.row_end && block.unilateral; ++row) {
            rows_.push_back(row);
            restitution_.push_back(block.restitution);
            law_.push_back(block.friction);
            has_friction_ |= block.friction >= 0;
        }
    begin();
}

Stops::Stops(std::vector<int> rows, std::vector<double> restitution, const StopOptions& options)
    : options_(options), rows_(std::move(rows)), law_(rows_.size(), -1), restitution_(std::move(restitution)) {
    begin();
}

void Stops::begin() {
    for (auto* v :
         {&active_, &candidate_, &touched_, &watched_, &flying_, &lifting_, &resting_, &held_, &kept_, &holding_})
        v->assign(rows_.size(), 0);
    for (auto* v : {&gap, &speed, &force, &leaving, &bounce_, &start_, &closing_, &reached_})
        v->assign(rows_.size(), 0.0);
}

void Stops::measure(const Model& model, const AngleBranches& branches, double t, const double* poses,
                    const double* twists) {
    for (size_t i = 0; i < rows_.size(); ++i) {
        const Row& row = model.rows[rows_[i]];
        FunctionValue f{0.0, 0.0, 0.0};
        if (row.function >= 0) f = model.functions[row.function](t);
        gap[i] = -f.f - row.constant - (law_[i] < 0 ? 0.0 : branches.friction(law_[i]).held_at);
        speed[i] = -f.d1;
        for (int k = row.term_begin; k < row.term_end; ++k) {
            const CoordinateMotion c = coordinate_motion(model, branches, model.terms[k].coordinate, poses, twists);
            gap[i] += model.terms[k].coefficient * c.value;
            speed[i] += model.terms[k].coefficient * c.rate;
        }
    }
}

std::vector<int> Stops::touched_of(const std::vector<int>& rows) const {
    std::vector<int> touched;
    for (size_t i = 0; i < rows.size(); ++i)
        if (touched_[i] && !is_friction(static_cast<int>(i))) touched.push_back(rows[i]);
    return touched;
}

// What a step ran into is pushed out of it by what pushes: then what was in contact may open as well.
void Stops::reset() {
    reached_ = gap;
    open();
    ran_into_ = false;
    for (size_t i = 0; i < rows_.size(); ++i)
        ran_into_ |= law_[i] < 0 && !watched_[i] && !held_[i] && gap[i] < -options_.contact_tolerance;
}

void Stops::close_penetrated() {
    for (size_t i = 0; i < rows_.size(); ++i)
        active_[i] |= law_[i] >= 0
                          ? holding_[i] != 0
                          : !watched_[i] && ((held_[i] && !ran_into_) || gap[i] < -options_.position_tolerance);
}

int Stops::deepest() const {
    int deepest = -1;
    for (int i = 0; i < count(); ++i) {
        if (is_friction(i) || watched_[i] || gap[i] >= -options_.position_tolerance) continue;
        if (deepest < 0 || gap[i] < gap[deepest]) deepest = i;
    }
    return deepest;
}

int Stops::nearest_held() const {
    int nearest = -1;
    for (int i = 0; i < count(); ++i)
        if (held_[i] && !watched_[i] && (nearest < 0 || gap[i] < gap[nearest])) nearest = i;
    return nearest;
}

void Stops::open() { std::fill(active_.begin(), active_.end(), 0); }

// A stop that a drive leads through depends on the drive's row, and either may be the one that is dropped. Those that
// somebody else watches are met by him.
bool Stops::hold() const {
    for (size_t i = 0; i < rows_.size(); ++i)
        if (law_[i] < 0 && !watched_[i] && !(gap[i] >= -kGivenUp)) return false;
    return true;
}

bool Stops::is_contact(int stop) const {
    return !is_friction(stop) && gap[stop] <= options_.contact_tolerance && speed[stop] >= -options_.rest_speed &&
           speed[stop] <= kLeaving * options_.rest_speed;
}

// Predictions and stages are off a stop by the errors of the method. They may not open what the step began on: the
// accelerations would jump to and fro. Nor may what was in flight at the start become contact before the end.
void Stops::seek_contacts() {
    for (int i = 0; i < count(); ++i) candidate_[i] = !flying_[i] && (is_contact(i) || resting_[i]);
}

void Stops::push_alone(int stop) {
    open();
    active_[stop] = 1;
}

void Stops::keep() {
    for (int i = 0; i < count(); ++i)
        active_[i] = kept_[i] =
            is_friction(i) ? holding_[i] : held_[i] && !watched_[i] && std::abs(speed[i]) <= options_.rest_speed;
}

// Newton's law of impact for what approaches, v⁺ = −e v⁻, or v⁺ = 0 for an approach too slow to bounce.
void Stops::seek_impacts() {
    bounces_ = false;
    for (int i = 0; i < count(); ++i) {
        candidate_[i] = !is_friction(i) && !watched_[i] && (kept_[i] || gap[i] <= options_.contact_tolerance);
        const double hit = candidate_[i] && !kept_[i] && speed[i] < 0.0 ? speed_of_impact(i) : 0.0;
        const bool bounces = hit < -options_.rest_speed;
        bounce_[i] = bounces ? -restitution_[i] * hit : 0.0;
        bounces_ |= bounces;
    }
}

bool Stops::find_bounced(std::vector<double>& restitution) const {
    restitution.assign(rows_.size(), 0.0);
    for (size_t i = 0; i < rows_.size(); ++i) {
        if (!active_[i] || bounce_[i] == 0.0) continue;
        restitution[i] = restitution_[i];
        if (!(std::abs(bounce_[i] + restitution_[i] * speed[i]) <= kWeakened * std::abs(bounce_[i]))) return false;
    }
    return true;
}

void Stops::weaken(double part) {
    for (double& speed : bounce_) speed *= part;
}

// The speed at which a stop was hit within the step. With constant acceleration its square is linear in the gap between
// the start and the end of the step, which went beyond the stop. Taken from the end, each impact would add energy, and
// what lies on a stop would be thrown up again by the weight it gathered in the step.
double Stops::speed_of_impact(int stop) const {
    const double end = speed[stop];
    if (!remembered_) return end;
    const double start = closing_[stop], open = start_[stop] > options_.contact_tolerance ? start_[stop] : 0.0;
    const double part = open > reached_[stop] ? std::min(open / (open - reached_[stop]), 1.0) : 1.0;
    return -std::sqrt(start * start + part * (end * end - start * start));
}

// One stop enters or leaves per pass: the strongest pull leaves first, then the deepest violation enters; after many
// passes the first one found does (Bland), which cannot cycle. What is left of a pull is rounding.
int Stops::next_change(double scale, bool first_found) const {
    int change = -1;
    double worst = -kPull * scale;
    for (int i = 0; i < count() && !(first_found && change >= 0); ++i)
        if (active_[i] && !is_friction(i) && force[i] < worst) change = i, worst = force[i];
    if (change >= 0) return change;
    worst = -kApproach;
    for (int i = 0; i < count() && !(first_found && change >= 0); ++i)
        if (candidate_[i] && !active_[i] && leaving[i] < worst) change = i, worst = leaving[i];
    return change;
}

void Stops::note_touched(double scale) {
    for (size_t i = 0; i < rows_.size(); ++i) {
        touched_[i] = active_[i] || (candidate_[i] && leaving[i] <= kTouching * scale);
        held_[i] = law_[i] < 0 && active_[i] && resting_[i];
    }
}

// What lies on a stop is left to the accelerations. All else is in flight, however slow or near, and meets the stop at
// a moment of its own: were it taken for contact before, its acceleration and speed would jump within a step of any
// length. What errors have pushed in while it lifts is not watched, so that the next projection pushes it out.
void Stops::watch() {
    for (size_t i = 0; i < rows_.size(); ++i) {
        if (law_[i] >= 0) continue;
        const bool near = gap[i] <= options_.contact_tolerance;
        flying_[i] = !near || std::abs(speed[i]) > kFlying * options_.rest_speed;
        resting_[i] = !flying_[i];
        lifting_[i] = flying_[i] && near && speed[i] > 0.0;
        watched_[i] = flying_[i] && !(lifting_[i] && gap[i] < -options_.position_tolerance);
    }
}

void Stops::watch_none() {
    for (auto* v : {&flying_, &lifting_, &watched_}) v->assign(rows_.size(), 0);
}

// The errors of a curve may be more than the gap of what lifts slowly: it is met only where it comes back.
void Stops::watched_gaps(double* out, double* rates) const {
    for (size_t i = 0; i < rows_.size(); ++i) {
        const double open = lifting_[i] && speed[i] > 0.0 ? std::abs(gap[i]) : gap[i];
        out[i] = watched_[i] ? open : 1.0;
        rates[i] = watched_[i] ? speed[i] : 0.0;
    }
}

void Stops::remember(double t) {
    remembered_ = true;
    remembered_at_ = t;
    start_ = gap;
    closing_ = speed;
    for (int i = 0; i < count(); ++i) resting_[i] = is_contact(i);
}

void Stops::forget() {
    remembered_ = false;
    for (auto* v : {&resting_, &held_, &flying_}) v->assign(rows_.size(), 0);
}

// A gap is negative at the end of the step or between.
bool Stops::passed(double t) const {
    if (!remembered_) return false;
    const double h = t - remembered_at_, slow = h * kLeaving * options_.rest_speed;
    for (size_t i = 0; i < rows_.size(); ++i) {
        const double approach = h * closing_[i], leave = h * speed[i];
        if (law_[i] >= 0 || watched_[i] || start_[i] <= options_.contact_tolerance || approach >= 0.0 || leave <= slow)
            continue;
        if (reached_[i] < -options_.contact_tolerance) return true;
        const GapCourse course(start_[i], approach, reached_[i], leave);
        if (course.at(course.lowest()) < -options_.contact_tolerance) return true;
    }
    return false;
}

// What is closed and approached where the step starts is met there; what is being left, where it comes back, however
// little it rose: a speed gathered behind the stop would throw others off theirs.
double Stops::first_met(double t) const {
    constexpr double kNone = 2.0, kAtEnd = 1.0 - 1e-6;
    const double h = t - remembered_at_;
    double first = kNone;
    for (size_t i = 0; i < rows_.size(); ++i) {
        if (!watched_[i]) continue;
        const bool near = start_[i] <= options_.contact_tolerance;
        if (near && closing_[i] < 0.0) return 0.0;
        const GapCourse course(near ? 0.0 : start_[i], h * closing_[i], gap[i], h * speed[i]);
        double closed = 1.0;
        if (!(gap[i] < 0.0)) {
            if (gap[i] <= (kAtEnd - 1.0) * h * speed[i]) first = std::min(first, 1.0);
            closed = course.lowest();
            if (!(closed > 0.0 && closed < 1.0 && course.at(closed) < -options_.contact_tolerance)) continue;
        }
        const double most = closing_[i] > 0.0 ? course.highest() : 0.0;
        const double met = course.zero(most > 0.0 && most < closed ? most : 0.0, closed);
        first = std::min(first, met < kAtEnd ? met : 1.0);
    }
    return first;
}

}  // namespace bellcrank
