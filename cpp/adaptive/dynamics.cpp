#include "adaptive/dynamics.hpp"

#include <algorithm>
#include <cmath>

#include "spatial/body_state.hpp"
#include "spatial/rotation.hpp"

namespace bellcrank {

std::vector<Obstacle> AdaptiveDynamics::obstacles(const Model& model) {
    std::vector<Obstacle> found = Linkage::obstacles(model);
    if (found.empty()) found = LinkageForces::obstacles(model, true);
    return found;
}

namespace {

// Joins invert, and lose the digits by which mobilities differ. Where bodies differ by much, each is raked by itself:
// inertias are only added, for a path that is as deep as the linkage.
std::shared_ptr<const Linkage> linkage_of(const Model& model) {
    auto balanced = std::make_shared<Linkage>(model);
    if (balanced->rounding(0.0) <= kEvenRounding) return balanced;
    return std::make_shared<Linkage>(model, TreeShape::articulated);
}

}  // namespace

AdaptiveDynamics::AdaptiveDynamics(std::shared_ptr<const Model> model)
    : model_(std::move(model)),
      linkage_(linkage_of(*model_)),
      assembly_(linkage_),
      forces_(*model_, *linkage_),
      q_(linkage_->coordinates, 0.0),
      u_(linkage_->freedoms, 0.0),
      rates_(linkage_->freedoms, 0.0),
      stopped_(linkage_->freedoms, 0.0) {
    free_.reserve(linkage_->links.size());
    assembly_.frames().choose(forces_.turned());
    for (const Link& link : linkage_->links) mass_ += link.mass;
}

void AdaptiveDynamics::place(int number) {
    const Link& link = linkage_->links[number];
    const double* q = q_.data() + link.coordinate;
    double S[36];
    if (!link.motion.is_axial()) link.motion.subspace(q, S);
    assembly_.set_place(number, link.place(q), S);
}

void AdaptiveDynamics::start(double t, const double* poses, const double* twists) {
    time_ = t;
    const auto frame = [&](const Link& of) {
        const Place principal{rotation_matrix(pose_rotation(poses, of.body)), pose_position(poses, of.body)};
        return principal * inverse(of.principal);
    };
    const auto twist = [&](const Link& of) {
        const Mat3 R = rotation_matrix(pose_rotation(poses, of.body));
        const Twist own{twist_angular(twists, of.body), transpose_times(R, twist_linear(twists, of.body))};
        return stacked(outward(of.principal.rotation, of.principal.shift, own));
    };
    free_.clear();
    for (size_t i = 0; i < linkage_->links.size(); ++i) {
        const int number = static_cast<int>(i);
        const Link& link = linkage_->links[i];
        const bool grounded = link.parent < 0;
        const Place before = grounded ? link.before : frame(linkage_->links[link.parent]) * link.before;
        link.motion.read(inverse(before) * frame(link), q_.data() + link.coordinate);
        place(number);
        const Six carried = grounded ? Six{} : twist(linkage_->links[link.parent]);
        const Six relative = twist(link) - motion_into(assembly_.frames().place(number), carried);
        link.motion.speeds(assembly_.subspace(number), relative, u_.data() + link.freedom);
        assembly_.set_free(number, true);
        free_.push_back(number);
    }
    assembly_.close_all();
    forces_.apply_all(t, q_.data(), u_.data(), assembly_);
    follow();
}

// What bodies do, from places, forces and speeds as they are.
void AdaptiveDynamics::follow() {
    assembly_.update_loads();
    assembly_.take_motion(q_.data(), u_.data());
}

void AdaptiveDynamics::evaluate() {
    const Vec3 base = -model_->gravity;
    follow();
    assembly_.hold();
    std::fill(rates_.begin(), rates_.end(), 0.0);
    assembly_.accelerate(base, rates_.data());
    assembly_.loosen();
    distance_ = assembly_.distance(base);
}

double AdaptiveDynamics::set_free(const std::vector<std::uint8_t>& free) {
    const auto is_wanted = [&](int link) { return linkage_->links[link].floats || free[link] != 0; };
    free_.clear();
    for (int link = 0; link < linkage_->tree.links(); ++link) {
        if (is_wanted(link)) assembly_.set_free(link, true);
        if (assembly_.is_free(link)) free_.push_back(link);
    }
    assembly_.arrange();
    follow();
    if (std::all_of(free_.begin(), free_.end(), is_wanted)) return 0.0;
    const double before = assembly_.kinetic_energy();
    for (const int link : free_)
        if (!is_wanted(link)) assembly_.set_free(link, false);
    assembly_.hold();
    std::fill(stopped_.begin(), stopped_.end(), 0.0);
    const double after = assembly_.stop(stopped_.data());
    u_ = stopped_;
    assembly_.arrange();
    forces_.apply(time_, q_.data(), u_.data(), free_, assembly_);  // dampers of those that lock are silent now
    std::erase_if(free_, [&](int link) { return !assembly_.is_free(link); });
    follow();
    return before - after;
}

double AdaptiveDynamics::error() const { return std::sqrt(std::max(distance_, 0.0) / mass_); }

void AdaptiveDynamics::motions(double* x, double* u, double* udot) const {
    std::vector<Six> accelerations(linkage_->links.size());
    std::vector<Twist> twists(linkage_->links.size());
    std::vector<Place> poses(linkage_->links.size());
    std::vector<int> outward_order(linkage_->links.size());
    for (size_t i = 0; i < outward_order.size(); ++i) outward_order[linkage_->tree.given[i]] = static_cast<int>(i);
    for (const int i : outward_order) {
        const Link& link = linkage_->links[i];
        const bool grounded = link.parent < 0;
        const Place& place = assembly_.frames().place(i);
        const Twist carrier = grounded ? Twist{} : twists[link.parent];
        const Six carried = grounded ? stacked({0, 0, 0}, -model_->gravity) : accelerations[link.parent];
        const double *q = q_.data() + link.coordinate, *speeds = u_.data() + link.freedom, *S = assembly_.subspace(i);
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
