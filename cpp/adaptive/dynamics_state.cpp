// What adaptive dynamics tells of its state, energies and the work that was done among it, and the inputs that change
// it.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "adaptive/dynamics.hpp"
#include "spatial/body_state.hpp"
#include "spatial/rotation.hpp"

namespace bellcrank {

void AdaptiveDynamics::set_inputs(Model& model, std::span<const double> values) {
    follow();
    book_springs();
    const double before = assembly_->kinetic_energy() + springs_;
    model.set_inputs(time_, values);
    const bool jumped = jump();
    move_places();
    follow();
    for (size_t link = 0; link < stored_.size(); ++link) book_spring(static_cast<int>(link));
    work_ += assembly_->kinetic_energy() + springs_ - before;
    evaluate();
    if (jumped) decide();
}

// The speeds that drives prescribe may be others than those there are: then all joints react to that as to an impact.
bool AdaptiveDynamics::jump() {
    constexpr double kSame = 1e-9;
    bool differs = false;
    for (const GivenMotion& motion : linkage_->given) {
        const double is = given_rates(motion.link)[motion.coordinate], wanted = motion.at(*model_, time_).d1;
        differs |= !(std::abs(is - wanted) <= kSame * (1.0 + std::abs(is)));
    }
    if (differs) {
        free_.clear();
        for (int link = 0; link < linkage_->tree.links(); ++link) {
            assembly_->set_free(link, true);
            free_.push_back(link);
        }
        assembly_->arrange();
        follow();
        assembly_->hold();
        drive();
        assembly_->stop(u_.data());
        follow();
    } else
        drive();
    return differs;
}

std::pair<double, double> AdaptiveDynamics::coordinate(int number) const {
    int own = -1;
    const int at = linkage_->link_along(*model_, number, &own);
    if (at < 0) throw std::invalid_argument("the coordinate is none of a joint of the tree");
    const Link& link = linkage_->links[at];
    double rates[7];
    link.motion.rates(q_.data() + link.coordinate, u_.data() + link.freedom, rates);
    if (const double* given = assembly_->given_rates(at)) rates[own] += given[own];
    return {q_[link.coordinate + own], rates[own]};
}

Twist AdaptiveDynamics::twist(int body) {
    const int number = linkage_->link_of[body];
    const Link& link = linkage_->links[number];
    assembly_->take_motion(time_, q_.data(), u_.data());
    const Twist own = inward(link.principal.rotation, link.principal.shift, assembly_->twist_of(number));
    return {own.w, pose(body).rotation * own.v};
}

void AdaptiveDynamics::book_spring(int link) {
    const double now = forces_->potential_along(link, q_.data());
    springs_ += now - stored_[link];
    stored_[link] = now;
}

// Where joints have moved since the last time.
void AdaptiveDynamics::book_springs() {
    for (const auto* links : {&free_, &driven_})
        for (const int link : *links) book_spring(link);
}

double AdaptiveDynamics::kinetic_energy() {
    assembly_->take_motion(time_, q_.data(), u_.data());
    return assembly_->kinetic_energy();
}

double AdaptiveDynamics::potential_energy() {
    book_springs();
    return springs_ + forces_->potential_between(time_) - dot(model_->gravity, assembly_->first_moment());
}

// Power counts forces between bodies whole: what they store is work done to them.
double AdaptiveDynamics::work() { return work_ + forces_->potential_between(time_) - between_; }

// Of what has no potential, in the last evaluation; forces between bodies whole.
double AdaptiveDynamics::power() const {
    double sum = assembly_->power(u_.data());
    for (const int link : free_) sum -= forces_->stored_power(link, time_, q_.data(), u_.data(), given_rates(link));
    for (const int link : driven_)
        if (!assembly_->is_free(link))
            sum -= forces_->stored_power(link, time_, q_.data(), u_.data(), given_rates(link));
    return sum;
}

// Accelerations stay those of the last step.
std::vector<double> AdaptiveDynamics::drive_efforts() {
    du_.clear();
    const auto each = [&](const auto& take) {
        for (const int number : free_) {
            const Link& link = linkage_->links[number];
            for (int i = link.freedom; i < link.freedom + link.motion.freedoms(); ++i) take(rates_[i]);
        }
    };
    each([&](double rate) { du_.push_back(rate); });
    evaluate_held();
    size_t next = 0;
    each([&](double& rate) { rate = du_[next++]; });
    std::vector<double> out;
    for (size_t i = 0; i < linkage_->given.size(); ++i) out.push_back(drive_effort(static_cast<int>(i)));
    return out;
}

double AdaptiveDynamics::drive_effort(int number) const {
    const GivenMotion& motion = linkage_->given[number];
    const Link& link = linkage_->links[motion.link];
    double along[7] = {};
    forces_->efforts_along(motion.link, time_, q_.data(), u_.data(), assembly_->given_rates(motion.link), along);
    const double* q = q_.data() + link.coordinate;
    return link.motion.along_given(q, motion.coordinate, assembly_->given_force(motion.link)) -
           along[motion.coordinate];
}

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
        const Six relative = joint_motion(link.motion, S, speeds) + assembly_->given_twist(i);
        twists[i] = as_motion(motion_into(place, stacked(carrier)) + relative);
        poses[i] = grounded ? place : poses[link.parent] * place;
        accelerations[i] = motion_into(place, carried) + assembly_->bias(i, q, speeds, relative, carrier.w) +
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
