#include "adaptive/dynamics.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "spatial/body_state.hpp"
#include "spatial/inertia.hpp"
#include "spatial/rotation.hpp"

namespace bellcrank {

std::vector<Obstacle> AdaptiveDynamics::obstacles(const Model& model) {
    std::vector<Obstacle> found = Linkage::obstacles(model);
    if (found.empty()) found = LinkageForces::obstacles(model, true);
    return found;
}

namespace {

// Of what a limit allows: what gains may leave, and what costs of joints that lock may add up to. Sums of both are too
// small by a few times, of costs by many where joints lock together; so their share follows what came of it.
constexpr double kReleaseShare = 1.0 / 16.0, kLeastLockShare = 1e-3, kMostLockShare = 0.25, kSwapShare = 0.25;
constexpr int kDecideEvery = 8;  // steps

// Joins invert, and lose the digits by which mobilities differ. So much of the norm of all accelerations may be lost;
// where it is more, bodies are raked one by one: inertias are only added, along paths as deep as the linkage.
constexpr double kLost = 1e-10, kSmallPart = 1e-3;  // the second: of the limit of the error
// Where light bodies carry heavy ones, a joint meets the small rest of large inertias in any order, and more so where
// others are locked. Of 1,600 trees with masses over ten decades the worst was off by 3e-5 of the norm.
constexpr double kUneven = 1e-4;

}  // namespace

AdaptiveDynamics::AdaptiveDynamics(std::shared_ptr<const Model> model, TreeShape shape) : model_(std::move(model)) {
    build(shape);
    for (const Link& link : linkage_->links) {
        mass_ += link.mass;
        unreleased_ += link.floats;
    }
}

void AdaptiveDynamics::build(TreeShape shape) {
    linkage_ = std::make_shared<Linkage>(*model_, shape);
    assembly_ = std::make_unique<HybridAssembly>(linkage_);
    forces_ = std::make_unique<LinkageForces>(*model_, *linkage_);
    recorder_ = std::make_unique<MoveRecorder>(*linkage_);
    assembly_->frames().choose(forces_->turned());
    q_.assign(linkage_->coordinates, 0.0);
    for (auto* each : {&u_, &rates_, &stopped_}) each->assign(linkage_->freedoms, 0.0);
    free_.reserve(linkage_->links.size());
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

void AdaptiveDynamics::start(double t, const double* poses, const double* twists) {
    rounding_ = 0.0;
    if (linkage_->tree.shape == TreeShape::balanced && linkage_->rounding(0.0) > kEvenRounding) {
        const auto [off, whole] = digits_lost(t, poses, twists);
        const double limit = kSmallPart * limits_.error, square = limit * limit * (limits_.is_relative ? whole : mass_);
        rounding_ = kUneven;
        if (off > kLost * kLost * whole && off > square)
            build(TreeShape::articulated);
        else if (whole > 0.0)
            rounding_ = std::max(rounding_, std::sqrt(off / whole));
    }
    read(t, poses, twists, false);
    evaluate();
    release();
}

// The square of what accelerations of all joints are off from those of bodies that are raked one by one, and of all of
// them, in the norm of kinetic energy.
std::pair<double, double> AdaptiveDynamics::digits_lost(double t, const double* poses, const double* twists) const {
    std::vector<double> found[2];
    for (const TreeShape shape : {TreeShape::balanced, TreeShape::articulated}) {
        AdaptiveDynamics probe(model_, shape);
        probe.read(t, poses, twists, true);
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

void AdaptiveDynamics::read(double t, const double* poses, const double* twists, bool all_free) {
    time_ = t;
    step_ = 0.0;
    steps_ = decisions_ = 0;
    free_steps_ = 0.0;
    lost_ = budget_ = largest_error_ = 0.0;
    lock_share_ = kLeastLockShare;
    std::fill(rates_.begin(), rates_.end(), 0.0);
    const auto twist = [&](const Link& of) {
        const Mat3 R = rotation_matrix(pose_rotation(poses, of.body));
        const Twist own{twist_angular(twists, of.body), transpose_times(R, twist_linear(twists, of.body))};
        return stacked(outward(of.principal.rotation, of.principal.shift, own));
    };
    linkage_->read(poses, q_.data());
    free_.clear();
    for (size_t i = 0; i < linkage_->links.size(); ++i) {
        const int number = static_cast<int>(i);
        const Link& link = linkage_->links[i];
        const bool grounded = link.parent < 0;
        place(number);
        const Six carried = grounded ? Six{} : twist(linkage_->links[link.parent]);
        const Six relative = twist(link) - motion_into(assembly_->frames().place(number), carried);
        link.motion.speeds(assembly_->subspace(number), relative, u_.data() + link.freedom);
        const double* u = u_.data() + link.freedom;
        const bool moves = std::any_of(u, u + link.motion.freedoms(), [](double speed) { return speed != 0.0; });
        assembly_->set_free(number, all_free || moves || link.floats);
        if (assembly_->is_free(number)) free_.push_back(number);
    }
    assembly_->close_all();
    forces_->begin(time_, poses);
    assembly_->take_motion(q_.data(), u_.data());
    forces_->apply_all(time_, q_.data(), u_.data(), *assembly_);
    follow();
}

// What bodies do, from places, forces and speeds as they are.
void AdaptiveDynamics::follow() {
    assembly_->update_loads();
    assembly_->take_motion(q_.data(), u_.data());
}

// Frames and forces, after free joints have moved.
void AdaptiveDynamics::move_places() {
    for (const int link : free_) place(link);
    assembly_->update_frames();
    if (forces_->follow_bodies()) assembly_->take_motion(q_.data(), u_.data());
    forces_->apply(time_, q_.data(), u_.data(), free_, *assembly_);
}

void AdaptiveDynamics::evaluate_held() {
    follow();
    assembly_->hold();
    assembly_->accelerate(-model_->gravity, rates_.data());
}

// Where all joints are free, H is F.
void AdaptiveDynamics::evaluate() {
    const Vec3 base = -model_->gravity;
    evaluate_held();
    assembly_->loosen();
    distance_ = free_.size() == linkage_->links.size() ? 0.0 : std::max(assembly_->distance(base), 0.0);
    // In balance both are rounding; no part is more than the whole.
    if (limits_.is_relative || rounding_ > 0.0) whole_ = std::max(assembly_->distance_at_rest(base), distance_);
}

// Of a point against forces there, or of its body against moments.
double AdaptiveDynamics::mobility(int body, const Vec3& point, bool turns) {
    const int link = linkage_->link_of[body];
    const auto along = [&](const Vec3& way) {
        return assembly_->mobility_along(link, turns ? stacked(way, {}) : stacked(cross(point, way), way));
    };
    const Vec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    Mat3 found{};
    for (int i = 0; i < 3; ++i) found.m[4 * i] = along(axes[i]);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < i; ++j)
            found.m[3 * i + j] = found.m[3 * j + i] =
                0.5 * (along(axes[i] + axes[j]) - found.m[4 * i] - found.m[4 * j]);
    const Vec3 moments = principal_inertia(found).moments;
    return std::max({moments.x, moments.y, moments.z, 0.0});
}

double AdaptiveDynamics::point_error(int body, const Vec3& point) {
    return (std::sqrt(distance_) + rounding_ * std::sqrt(whole_)) * std::sqrt(mobility(body, point, false));
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
    assembly_->take_motion(q_.data(), stopped_.data());
    return std::max(before - assembly_->kinetic_energy(), 0.0);  // a sum of squares: −½ k of the root has fewer digits
}

void AdaptiveDynamics::lock_those() {
    for (const int number : free_) {
        const Link& link = linkage_->links[number];
        const bool stays = assembly_->is_free(number);
        for (int i = link.freedom; i < link.freedom + link.motion.freedoms(); ++i) {
            u_[i] = stays ? stopped_[i] : 0.0;
            if (!stays) rates_[i] = 0.0;
        }
    }
    assembly_->arrange();
    if (forces_->follow_bodies()) assembly_->take_motion(q_.data(), u_.data());
    forces_->apply(time_, q_.data(), u_.data(), free_, *assembly_);  // dampers of those that lock are silent now
    std::erase_if(free_, [&](int link) { return !assembly_->is_free(link); });
}

double AdaptiveDynamics::set_free(const std::vector<std::uint8_t>& free) {
    const auto is_wanted = [&](int link) { return linkage_->links[link].floats || free[link] != 0; };
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
    const double most = swaps ? std::max(allowed(), distance_) : allowed();
    const double energy_most = swaps ? std::max(budget_, assembly_->kinetic_energy()) : budget_;
    for (const int number : free_) {
        const Link& link = linkage_->links[number];
        if (link.floats) continue;
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
    } else {
        lock_those();
        lost_ += loss;
        budget_ = std::max(budget_ - loss, 0.0);
    }
    evaluate();
}

// What is freed starts at rest, and costs nothing. Gains rank; the root decides: their sum may be far below what it
// finds.
void AdaptiveDynamics::release() {
    for (double share = kReleaseShare; distance_ > allowed() && room() > 0; share *= 0.5) {
        changing_.clear();
        const double left = assembly_->gains(-model_->gravity, share * allowed(), room(), changing_);
        if (changing_.empty()) {
            if (!(left > 0.0) || allowed() == 0.0) return;
            share = left / allowed();  // F's may be smaller by orders, where what hangs on a joint is heavy
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
    const int most = limits_.joints + unreleased_, excess = static_cast<int>(free_.size()) - most;
    const bool bounds = limits_.joints >= 0 && excess >= 0 && distance_ > allowed();
    lock_cheapest(bounds ? kSwapShare : lock_share_, limits_.joints < 0 ? 0 : std::max(0, excess), bounds);
    if (distance_ > allowed())
        lock_share_ = std::max(kLeastLockShare, 0.25 * lock_share_);
    else if (distance_ < 0.25 * allowed())
        lock_share_ = std::min(kMostLockShare, 2.0 * lock_share_);
    release();
}

void AdaptiveDynamics::step_symplectic(double h) {
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
    assembly_->take_motion(q_.data(), u_.data());
    forces_->apply(time_, q_.data(), u_.data(), {}, *assembly_);
}

std::vector<int> AdaptiveDynamics::take_moved() {
    for (const int link : moved_) has_moved_[link] = 0;
    return std::exchange(moved_, {});
}

void AdaptiveDynamics::take_step(double h, Method method) {
    switch (method) {
        case Method::symplectic_euler:
            return step_symplectic(h);
        case Method::runge_kutta:
            return step_runge_kutta(h);
        case Method::at_rest:
            return step_at_rest(h);
    }
}

int AdaptiveDynamics::advance(int steps, double step, Method method) {
    if (step != step_) step_ = step, equal_ = 0, since_ = time_;
    for (int taken = 0; taken < steps; ++taken) {
        evaluate();
        budget_ += step * (limits_.loss_is_relative ? limits_.loss * assembly_->kinetic_energy() : limits_.loss);
        const bool is_over = limits_.joints >= 0 && static_cast<int>(free_.size()) > limits_.joints + unreleased_;
        if (steps_ % kDecideEvery == 0 || is_over || (distance_ > allowed() && room() > 0)) decide();
        if (!is_finite()) return taken;
        largest_error_ = std::max(largest_error_, error());
        take_step(step, method);
        for (const int link : free_)
            if (std::exchange(has_moved_[link], 1) == 0) moved_.push_back(link);
        time_ = since_ + step * static_cast<double>(++equal_);  // sums of many steps would lose digits
        ++steps_;
        free_steps_ += static_cast<double>(free_.size()) - unreleased_;
        if (every_ == 0) continue;
        recorder_->note(free_);
        if (steps_ % every_ == 0) recorder_->frame(time_, q_, facts());
    }
    return steps;
}

int AdaptiveDynamics::coast(int steps, double step, Method method) {
    for (int taken = 0; taken < steps; ++taken) {
        evaluate_held();
        if (!is_finite()) return taken;
        take_step(step, method);
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

StepFacts AdaptiveDynamics::facts() const { return {error(), lost_, static_cast<int>(free_.size()) - unreleased_}; }

Place AdaptiveDynamics::pose(int body) const {
    const int link = linkage_->link_of[body];
    return assembly_->frames().pose(link) * linkage_->links[link].principal;
}

void AdaptiveDynamics::motions(double* x, double* u, double* udot) const {
    std::vector<Six> accelerations(linkage_->links.size());
    std::vector<Twist> twists(linkage_->links.size());
    std::vector<Place> poses(linkage_->links.size());
    std::vector<int> outward_order(linkage_->links.size());
    for (size_t i = 0; i < outward_order.size(); ++i) outward_order[linkage_->tree.given[i]] = static_cast<int>(i);
    for (const int i : outward_order) {
        const Link& link = linkage_->links[i];
        const bool grounded = link.parent < 0;
        const Place& place = assembly_->frames().place(i);
        const Twist carrier = grounded ? Twist{} : twists[link.parent];
        const Six carried = grounded ? stacked({0, 0, 0}, -model_->gravity) : accelerations[link.parent];
        const double *q = q_.data() + link.coordinate, *speeds = u_.data() + link.freedom, *S = assembly_->subspace(i);
        const Six relative = joint_motion(link.motion, S, speeds);
        twists[i] = as_motion(motion_into(place, stacked(carrier)) + relative);
        poses[i] = grounded ? place : poses[link.parent] * place;
        accelerations[i] = motion_into(place, carried) +
                           moving_bias(link.motion, place, q, speeds, relative, carrier.w) +
                           joint_motion(link.motion, S, rates_.data() + link.freedom);
        const Twist own = inward(link.principal.rotation, link.principal.shift, as_motion(accelerations[i]));
        const Vec3 round = transpose_times(link.principal.rotation, centripetal(twists[i].w, link.principal.shift));
        const Place principal = poses[i] * link.principal;
        const Mat3& R = principal.rotation;
        const Twist speed = inward(link.principal.rotation, link.principal.shift, twists[i]);
        store(x + kPose * link.body, principal.shift);
        store(x + kPose * link.body + 4, quaternion_from_matrix(R));
        store_twist(u, link.body, R * speed.v, speed.w);
        store_twist(udot, link.body, R * (own.v + round) + model_->gravity, own.w);
    }
}

}  // namespace bellcrank
