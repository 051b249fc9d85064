#include "adaptive/dynamics.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "spatial/body_state.hpp"
#include "spatial/inertia.hpp"
#include "spatial/rotation.hpp"

namespace bellcrank {

std::vector<Obstacle> AdaptiveDynamics::obstacles(const Model& model) {
    std::vector<Obstacle> found = Linkage::obstacles(model, true);
    if (found.empty()) found = LinkageStops::obstacles(model);
    if (found.empty()) found = LinkageForces::obstacles(model, true);
    return found;
}

namespace {

// Of what a limit allows: what gains may leave, and what costs of joints that lock may add up to. Sums of both are too
// small by a few times, of costs by many where joints lock together; so their share follows what came of it.
constexpr double kReleaseShare = 1.0 / 16.0, kLeastLockShare = 1e-3, kMostLockShare = 0.25, kSwapShare = 0.25;
constexpr int kDecideEvery = 8;  // steps
// The distance says little of the errors of outputs: joints that one of them asks for are freed a few at a time.
constexpr double kOutputShare = 0.5;

// Joins invert, and lose the digits by which mobilities differ. So much of the norm of all accelerations may be lost;
// where it is more, bodies are raked one by one: inertias are only added, along paths as deep as the linkage.
constexpr double kLost = 1e-10, kSmallPart = 1e-3;  // the second: of the limit of the error
// Where light bodies carry heavy ones, a joint meets the small rest of large inertias in any order, and more so where
// others are locked. Of 1,600 trees with masses over ten decades the worst was off by 3e-5 of the norm.
constexpr double kUneven = 1e-4;

}  // namespace

AdaptiveDynamics::AdaptiveDynamics(std::shared_ptr<const Model> model, TreeShape shape) : model_(std::move(model)) {
    const std::vector<Obstacle> found = LinkageStops::obstacles(*model_);
    if (!found.empty()) throw std::invalid_argument(text_of(found));
    build(shape);
    for (const Link& link : linkage_->links) mass_ += link.mass;
}

void AdaptiveDynamics::build(TreeShape shape) {
    linkage_ = std::make_shared<Linkage>(*model_, shape, true);
    assembly_ = std::make_unique<HybridAssembly>(model_, linkage_);
    forces_ = std::make_unique<LinkageForces>(*model_, *linkage_);
    stops_ = std::make_unique<LinkageStops>(*model_, *linkage_);
    recorder_ = std::make_unique<MoveRecorder>(*linkage_);
    assembly_->frames().choose(forces_->turned());
    q_.assign(linkage_->coordinates, 0.0);
    for (auto* each : {&u_, &rates_, &stopped_}) each->assign(linkage_->freedoms, 0.0);
    free_.reserve(linkage_->links.size());
    stays_free_.clear();
    free_until_.assign(linkage_->links.size(), 0);
    for (const Link& link : linkage_->links) stays_free_.push_back(link.floats);
    for (const int link : assembly_->loops().giving_way()) stays_free_[link] = 1;
    unreleased_ = static_cast<int>(std::count(stays_free_.begin(), stays_free_.end(), 1));
    driven_.clear();
    for (const GivenMotion& motion : linkage_->given)
        if (driven_.empty() || driven_.back() != motion.link) driven_.push_back(motion.link);
    movable_ = 0;
    for (const Link& link : linkage_->links) movable_ += link.motion.freedoms() > 0;
    has_moved_.assign(linkage_->links.size(), 0);
    moved_.clear();
}

void AdaptiveDynamics::place(int number) {
    const Link& link = linkage_->links[number];
    const double* q = q_.data() + link.coordinate;
    double S[36];
    if (!link.motion.is_axial()) link.motion.subspace(q, S);
    assembly_->set_place(number, link.place(q), S);
}

// Where driven joints are now, and how they move.
void AdaptiveDynamics::drive() {
    const std::vector<GivenMotion>& given = linkage_->given;
    for (size_t i = 0; i < given.size();) {
        const Link& link = linkage_->links[given[i].link];
        double* q = q_.data() + link.coordinate;
        double first[7] = {}, second[7] = {};
        const int number = given[i].link;
        for (; i < given.size() && given[i].link == number; ++i) {
            const FunctionValue value = given[i].at(*model_, time_);
            q[given[i].coordinate] = value.f;
            first[given[i].coordinate] = value.d1;
            second[given[i].coordinate] = value.d2;
        }
        assembly_->set_given(number, first, link.motion.along_given(q, first), link.motion.along_given(q, second));
    }
}

void AdaptiveDynamics::start(double t, const double* poses, const double* twists, const double* angles) {
    rounding_ = 0.0;
    if (linkage_->tree.shape == TreeShape::balanced && linkage_->rounding(0.0) > kEvenRounding) {
        const auto [off, whole] = digits_lost(t, poses, twists, angles);
        const double limit = kSmallPart * limits_.error, square = limit * limit * (limits_.is_relative ? whole : mass_);
        rounding_ = kUneven;
        const bool keeps = off <= kLost * kLost * whole || off <= square;  // no number, if joins lost all digits
        if (!keeps)
            build(TreeShape::articulated);
        else if (whole > 0.0)
            rounding_ = std::max(rounding_, std::sqrt(off / whole));
    }
    read(t, poses, twists, angles, false);
    if (!assembly_->loops().empty()) close_loops();
    evaluate();
    release();
}

// The square of what accelerations of all joints are off from those of bodies that are raked one by one, and of all of
// them, in the norm of kinetic energy.
std::pair<double, double> AdaptiveDynamics::digits_lost(double t, const double* poses, const double* twists,
                                                        const double* angles) const {
    std::vector<double> found[2];
    for (const TreeShape shape : {TreeShape::balanced, TreeShape::articulated}) {
        AdaptiveDynamics probe(model_, shape);
        probe.read(t, poses, twists, angles, true);
        probe.evaluate_held();
        const size_t size = static_cast<size_t>(kTwist) * (model_->bodies() + 1);
        std::vector<double> x(size), u(size), &udot = found[shape == TreeShape::balanced ? 0 : 1];
        udot.resize(size);
        probe.motions(x.data(), u.data(), udot.data());
    }
    double off = 0.0, whole = 0.0;
    for (const Link& link : linkage_->links) {
        const int at = kTwist * link.body;
        const double* J = &link.moments.x;
        for (int k = 0; k < 3; ++k) {
            const auto add = [&](double weight, int place) {
                const double change = found[0][place] - found[1][place];
                off += weight * change * change;
                whole += weight * found[1][place] * found[1][place];
            };
            add(link.mass, at + k);
            add(J[k], at + 4 + k);
        }
    }
    return {off, whole};
}

void AdaptiveDynamics::read(double t, const double* poses, const double* twists, const double* angles, bool all_free) {
    time_ = t;
    step_ = 0.0;
    steps_ = decisions_ = 0;
    free_steps_ = 0.0;
    lost_ = budget_ = largest_error_ = loop_error_ = 0.0;
    lock_share_ = kLeastLockShare;
    std::fill(free_until_.begin(), free_until_.end(), 0);
    std::fill(rates_.begin(), rates_.end(), 0.0);
    const auto twist = [&](const Link& of) {
        const Mat3 R = rotation_matrix(pose_rotation(poses, of.body));
        const Twist own{twist_angular(twists, of.body), transpose_times(R, twist_linear(twists, of.body))};
        return stacked(outward(of.principal.rotation, of.principal.shift, own));
    };
    const AngleBranches branches = starting_branches(*model_, t, poses, angles);
    linkage_->read(*model_, branches, poses, q_.data());
    drive();
    assembly_->unbar();
    stops_->begin(q_.data());
    impact_energy_ = 0.0;
    impacts_ = 0;
    free_.clear();
    for (size_t i = 0; i < linkage_->links.size(); ++i) {
        const int number = static_cast<int>(i);
        const Link& link = linkage_->links[i];
        const bool grounded = link.parent < 0;
        place(number);
        const Six carried = grounded ? Six{} : twist(linkage_->links[link.parent]);
        Six relative = twist(link) - motion_into(assembly_->frames().place(number), carried);
        if (link.motion.has_given()) {
            const double* q = q_.data() + link.coordinate;
            double given[7] = {};
            link.motion.given_speeds(q, relative, given);
            assembly_->set_given(number, given, link.motion.along_given(q, given), Six{});
            relative = relative - assembly_->given_twist(number);
        }
        link.motion.speeds(assembly_->subspace(number), relative, u_.data() + link.freedom);
        const double* u = u_.data() + link.freedom;
        const bool moves = std::any_of(u, u + link.motion.freedoms(), [](double speed) { return speed != 0.0; });
        assembly_->set_free(number, all_free || moves || stays_free_[number] != 0);
        if (assembly_->is_free(number)) free_.push_back(number);
    }
    assembly_->begin_loops(branches);
    assembly_->close_all();
    forces_->begin(branches, poses, memory_);
    assembly_->take_motion(time_, q_.data(), u_.data());
    forces_->apply_all(time_, q_.data(), u_.data(), *assembly_);
    commit_contacts();
    follow();
    jump();
    stored_.assign(linkage_->links.size(), 0.0);
    work_ = springs_ = 0.0;
    for (size_t link = 0; link < stored_.size(); ++link) book_spring(static_cast<int>(link));
    between_ = forces_->potential_between(time_);
}

// What begins to slip, or to stick, does so from here on.
void AdaptiveDynamics::commit_contacts() {
    if (!forces_->has_contacts()) return;
    forces_->commit();
    forces_->apply(time_, q_.data(), u_.data(), {}, *assembly_);
}

// What bodies do, from places, forces and speeds as they are.
void AdaptiveDynamics::follow() {
    assembly_->update_loads();
    assembly_->take_motion(time_, q_.data(), u_.data());
}

// Frames and forces, after free joints have moved.
void AdaptiveDynamics::move_places() {
    drive();
    for (const auto* links : {&free_, &driven_})
        for (const int link : *links) place(link);
    assembly_->update_frames();
    load();
}

void AdaptiveDynamics::load() {
    if (forces_->follow_bodies()) assembly_->take_motion(time_, q_.data(), u_.data());
    forces_->apply(time_, q_.data(), u_.data(), free_, *assembly_);
}

void AdaptiveDynamics::evaluate_held() {
    follow();
    if (!stops_->chosen().empty()) return accelerate_at_stops();
    assembly_->hold();
    assembly_->accelerate(-model_->gravity, rates_.data());
}

// Where all joints are free, H is F.
void AdaptiveDynamics::evaluate() {
    const Vec3 base = -model_->gravity;
    attend_stops();
    evaluate_held();
    judge_at_stops();
    distance_ = is_all_free() ? 0.0 : std::max(assembly_->distance(base), 0.0);
    if (limits_.is_relative || rounding_ > 0.0) {
        whole_ = assembly_->distance_at_rest(base);  // no part is more; in balance both are rounding
        if (whole_ == 0.0) distance_ = 0.0;
        whole_ = std::max(whole_, distance_);
    }
    if (!outputs_.empty()) find_output_errors();
}

// What is left of the limit by rounding.
double AdaptiveDynamics::allowed() const {
    const double unit = limits_.is_relative ? whole_ : mass_;
    const double left = limits_.error * std::sqrt(unit) - rounding_ * std::sqrt(whole_);
    return left > 0.0 ? left * left : 0.0;
}

double AdaptiveDynamics::error() const {
    const double unit = limits_.is_relative ? whole_ : mass_,
                 off = std::sqrt(distance_) + rounding_ * std::sqrt(whole_);
    return off > 0.0 ? off / std::sqrt(unit) : 0.0;
}

double AdaptiveDynamics::mean_free() const {
    return steps_ > 0 ? free_steps_ / static_cast<double>(steps_) : static_cast<double>(free_.size()) - unreleased_;
}

int AdaptiveDynamics::room() const {
    const int most = limits_.joints < 0 ? linkage_->tree.links() : limits_.joints + unreleased_;
    return std::max(0, most - static_cast<int>(free_.size()));
}

// The kinetic energy that is lost where some joints, free until now, are locked; speeds after it. The motion was taken.
double AdaptiveDynamics::stop(const std::vector<int>& links) {
    const double before = assembly_->kinetic_energy();
    for (const int link : links) assembly_->set_free(link, false);
    assembly_->hold();
    assembly_->stop(stopped_.data());
    assembly_->take_motion(time_, q_.data(), stopped_.data());
    // What leads joints does work in impacts, so that energy is no sum of squares of what locks.
    struck_ = 0.0;
    if (!driven_.empty() || !assembly_->loops().giving_way().empty()) {
        const double lost = assembly_->energy_of_stop();
        struck_ = assembly_->kinetic_energy() - before + lost;
        return lost;
    }
    return std::max(before - assembly_->kinetic_energy(), 0.0);  // a sum of squares: −½ k of the root has fewer digits
}

void AdaptiveDynamics::lock_those() {
    book_springs();
    work_ += struck_;
    for (const int number : free_) {
        const Link& link = linkage_->links[number];
        const bool stays = assembly_->is_free(number);
        for (int i = link.freedom; i < link.freedom + link.motion.freedoms(); ++i) {
            u_[i] = stays ? stopped_[i] : 0.0;
            if (!stays) rates_[i] = 0.0;
        }
    }
    assembly_->arrange();
    load();  // dampers of those that lock are silent now
    std::erase_if(free_, [&](int link) { return !assembly_->is_free(link); });
}

double AdaptiveDynamics::set_free(const std::vector<std::uint8_t>& free) {
    const auto is_wanted = [&](int link) { return stays_free_[link] != 0 || free[link] != 0; };
    free_.clear();
    for (int link = 0; link < linkage_->tree.links(); ++link) {
        if (is_wanted(link)) assembly_->set_free(link, true);
        if (assembly_->is_free(link)) free_.push_back(link);
    }
    assembly_->arrange();
    follow();
    changing_.clear();
    std::remove_copy_if(free_.begin(), free_.end(), std::back_inserter(changing_), is_wanted);
    if (changing_.empty()) return 0.0;
    const double loss = stop(changing_);
    lock_those();
    follow();
    return loss;
}

// Free joints by what they would cost alone, of both limits, up to a share of these; at least so many. What they lose
// together is known before they lock, and they do not where it is too much.
// Where their number bounds, costs count in parts of the distance and of the energy that there are: those that matter
// less than what is missing make room for it.
void AdaptiveDynamics::lock_cheapest(double share, int count, bool swaps) {
    costs_.clear();
    const double most = swaps ? std::max(wanted(), distance_) : wanted();
    // Where their number is limited, however much may be lost, no decision takes more than a part of all of it.
    const double part_of_all = limits_.joints < 0 ? budget_ : kSwapShare * assembly_->kinetic_energy();
    const double energy_most = swaps ? part_of_all : std::min(budget_, part_of_all);
    for (const int number : free_) {
        const Link& link = linkage_->links[number];
        if (stays_free_[number] != 0 || free_until_[number] > steps_) continue;
        const auto part = [&](const std::vector<double>& along, double unit) {
            const double energy = assembly_->energy_along(number, along.data() + link.freedom);
            return energy > 0.0 ? energy / unit : 0.0;
        };
        costs_.emplace_back(part(u_, 2.0 * energy_most) + part(rates_, most), number);
    }
    std::sort(costs_.begin(), costs_.end());
    changing_.clear();
    double sum = 0.0;
    for (const auto& [cost, link] : costs_) {
        sum += cost;
        if (!(sum <= share) && static_cast<int>(changing_.size()) >= count) break;
        changing_.push_back(link);
    }
    if (changing_.empty()) return;
    const double loss = stop(changing_);
    if (loss > energy_most && count == 0) {
        for (const int link : changing_) assembly_->set_free(link, true);
        lock_share_ = std::max(kLeastLockShare, 0.25 * lock_share_);  // in loops more moves than one joint alone
    } else {
        lock_those();
        lost_ += loss;
        budget_ = std::max(budget_ - loss, 0.0);
    }
    evaluate();
}

// No error is admitted, now or later in a step.
bool AdaptiveDynamics::is_exact() const { return limits_.error == 0.0 && limits_.joints < 0; }

void AdaptiveDynamics::free_all() {
    const size_t before = free_.size();
    for (int link = 0; link < linkage_->tree.links(); ++link) {
        if (assembly_->is_free(link)) continue;
        assembly_->set_free(link, true);
        free_.push_back(link);
    }
    if (free_.size() == before) return;
    assembly_->arrange();
    evaluate();
}

// What is freed starts at rest, and costs nothing. Gains rank; the root decides: their sum may be far below what it
// finds.
void AdaptiveDynamics::release() {
    if (is_exact()) return free_all();
    const double begin = distance_ > allowed() ? kReleaseShare : kOutputShare;
    for (double share = begin; distance_ > wanted() && room() > 0; share *= 0.5) {
        changing_.clear();
        const double left = assembly_->gains(-model_->gravity, share * wanted(), room(), changing_);
        if (changing_.empty()) {
            if (!(left > 0.0) || wanted() == 0.0) return;
            share = left / wanted();  // F's may be smaller by orders, where what hangs on a joint is heavy
            continue;
        }
        for (const int link : changing_) {
            assembly_->set_free(link, true);
            free_.push_back(link);
        }
        assembly_->arrange();
        evaluate();
    }
}

void AdaptiveDynamics::decide() {
    ++decisions_;
    if (is_exact()) return free_all();
    const int most = limits_.joints + unreleased_, excess = static_cast<int>(free_.size()) - most;
    const bool bounds = limits_.joints >= 0 && excess >= 0 && distance_ > wanted();
    lock_cheapest(bounds ? kSwapShare : lock_share_, limits_.joints < 0 ? 0 : std::max(0, excess), bounds);
    if (distance_ > wanted())
        lock_share_ = std::max(kLeastLockShare, 0.25 * lock_share_);
    else if (distance_ < 0.25 * wanted())
        lock_share_ = std::min(kMostLockShare, 2.0 * lock_share_);
    release();
}

void AdaptiveDynamics::step_symplectic(double h) {
    work_ += h * power();
    for (const int number : free_) {
        const Link& link = linkage_->links[number];
        double *q = q_.data() + link.coordinate, *u = u_.data() + link.freedom, rates[7];
        for (int i = 0; i < link.motion.freedoms(); ++i) u[i] += h * rates_[link.freedom + i];
        link.motion.rates(q, u, rates);
        link.motion.move(q, rates, h);
    }
    time_ += h;
    move_places();
}

void AdaptiveDynamics::step_at_rest(double h) {
    for (const int number : free_) {
        const Link& link = linkage_->links[number];
        double *q = q_.data() + link.coordinate, rates[7];
        link.motion.rates(q, rates_.data() + link.freedom, rates);
        link.motion.move(q, rates, 0.5 * h * h);
    }
    time_ += h;
    move_places();
}

// The classical method; quaternions are vectors of four numbers, which are made one again.
void AdaptiveDynamics::step_runge_kutta(double h) {
    constexpr double kAt[4] = {0.0, 0.5, 0.5, 1.0}, kWeight[4] = {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0};
    const double begin = time_;
    q0_.clear();
    u0_.clear();
    for (const int number : free_) {
        const Link& link = linkage_->links[number];
        const double *q = q_.data() + link.coordinate, *u = u_.data() + link.freedom;
        q0_.insert(q0_.end(), q, q + link.motion.coordinates());
        u0_.insert(u0_.end(), u, u + link.motion.freedoms());
    }
    dq_.assign(q0_.size(), 0.0);
    du_.assign(u0_.size(), 0.0);
    for (int stage = 0; stage < 4; ++stage) {
        if (stage > 0) evaluate_held();
        work_ += h * kWeight[stage] * power();
        const double ahead = stage < 3 ? h * kAt[stage + 1] : 0.0;
        double *q0 = q0_.data(), *u0 = u0_.data(), *dq = dq_.data(), *du = du_.data();
        for (const int number : free_) {
            const Link& link = linkage_->links[number];
            double *q = q_.data() + link.coordinate, *u = u_.data() + link.freedom, rates[7];
            const double* a = rates_.data() + link.freedom;
            const int n = link.motion.coordinates(), d = link.motion.freedoms();
            link.motion.derivatives(q, u, rates);
            for (int i = 0; i < n; ++i) {
                dq[i] += kWeight[stage] * rates[i];
                q[i] = q0[i] + (stage < 3 ? ahead * rates[i] : h * dq[i]);
            }
            for (int i = 0; i < d; ++i) {
                du[i] += kWeight[stage] * a[i];
                u[i] = u0[i] + (stage < 3 ? ahead * a[i] : h * du[i]);
            }
            link.motion.normalize(q);
            q0 += n, dq += n, u0 += d, du += d;
        }
        time_ = begin + (stage < 3 ? ahead : h);
        move_places();
    }
}

// The pull acts from the next step on, which judges anew what matters.
void AdaptiveDynamics::pull(int body, const Hand* hand) {
    const int link = linkage_->link_of[body];
    if (hand != nullptr)
        forces_->hold(link, *hand);
    else
        forces_->release(link);
    assembly_->take_motion(time_, q_.data(), u_.data());
    forces_->apply(time_, q_.data(), u_.data(), {}, *assembly_);
}

std::vector<int> AdaptiveDynamics::take_moved() {
    for (const int link : moved_) has_moved_[link] = 0;
    return std::exchange(moved_, {});
}

void AdaptiveDynamics::take_step(double h, Method method) {
    switch (method) {
        case Method::symplectic_euler:
            step_symplectic(h);
            break;
        case Method::runge_kutta:
            step_runge_kutta(h);
            break;
        case Method::at_rest:
            step_at_rest(h);
            break;
    }
}

int AdaptiveDynamics::advance(int steps, double step, Method method) {
    if (step != step_) step_ = step, equal_ = 0, since_ = time_;
    for (int taken = 0; taken < steps; ++taken) {
        evaluate();
        budget_ += step * (limits_.loss_is_relative ? limits_.loss * assembly_->kinetic_energy() : limits_.loss);
        const bool is_over = limits_.joints >= 0 && static_cast<int>(free_.size()) > limits_.joints + unreleased_;
        if (steps_ % kDecideEvery == 0 || is_over || (distance_ > wanted() && room() > 0)) decide();
        if (!is_finite()) return taken;
        largest_error_ = std::max(largest_error_, error());
        for (size_t i = 0; i < outputs_.size(); ++i)
            largest_output_errors_[i] = std::max(largest_output_errors_[i], output_errors_[i]);
        if (!move(step, method, true) || !loops_are_closed()) return taken;
        for (const auto* links : {&free_, &driven_})
            for (const int link : *links)
                if (std::exchange(has_moved_[link], 1) == 0) moved_.push_back(link);
        time_ = since_ + step * static_cast<double>(++equal_);  // sums of many steps would lose digits
        ++steps_;
        free_steps_ += static_cast<double>(free_.size()) - unreleased_;
        if (every_ == 0) continue;
        recorder_->note(free_);
        recorder_->note(driven_);
        if (steps_ % every_ == 0) recorder_->frame(time_, q_, facts());
    }
    return steps;
}

int AdaptiveDynamics::coast(int steps, double step, Method method) {
    for (int taken = 0; taken < steps; ++taken) {
        attend_stops();
        evaluate_held();
        if (!is_finite() || !move(step, method, false) || !loops_are_closed()) return taken;
    }
    return steps;
}

bool AdaptiveDynamics::is_finite() const {
    for (const int number : free_) {
        const Link& link = linkage_->links[number];
        for (int i = link.freedom; i < link.freedom + link.motion.freedoms(); ++i)
            if (!std::isfinite(rates_[i])) return false;
    }
    return true;
}

std::pair<std::vector<int>, double> AdaptiveDynamics::gains(double enough, int most) {
    std::vector<int> links;
    const double left = assembly_->gains(-model_->gravity, enough, most, links);
    return {links, left};
}

void AdaptiveDynamics::record_every(int steps) {
    every_ = steps;
    recorder_->note_all();
    recorder_->frame(time_, q_, facts());
}

StepFacts AdaptiveDynamics::facts() {
    return {error(), lost_, static_cast<int>(free_.size()) - unreleased_, kinetic_energy(), potential_energy(), work()};
}

}  // namespace bellcrank
