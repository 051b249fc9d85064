#include "formulations/adaptive.hpp"

#include <algorithm>

#include "adaptive/velocity_terms.hpp"
#include "spatial/algebra.hpp"

namespace bellcrank {

Adaptive::Adaptive(std::shared_ptr<const Model> model)
    : Bodies("adaptive", model, order_of(*model)),
      linkage_(std::make_shared<Linkage>(*model)),
      outward_(linkage_->links.size()),
      assembly_(linkage_, false),
      descent_(assembly_),
      joints_(linkage_->links.size()),
      reactions_(*model_, branches_, contacts_, joints_, {}),
      frames_(linkage_->links.size()),
      twists_of_(linkage_->links.size()),
      motions_(6 * linkage_->links.size()) {
    for (size_t i = 0; i < outward_.size(); ++i) outward_[linkage_->tree.given[i]] = static_cast<int>(i);
    for (size_t i = 0; i < outward_.size(); ++i) {
        joints_[i].joint = linkage_->links[outward_[i]].motion.joint();
        joints_[i].rows = joints_[i].joint.rows;
    }
    for (auto* records : {&force_, &poses_, &twists_, &rates_}) records->assign(tangent_size(), 0.0);
}

// Frames behind the joints follow from the bodies' poses, the joints' subspaces from these; what velocities make of
// accelerations from both.
void Adaptive::place(const double* x, const double* u) {
    for (const int i : outward_) {
        const Link& link = linkage_->links[i];
        const Mat3 R = rotation_matrix(pose_rotation(x, link.body));
        frames_[i] = linkage_->frame(i, x);
        const Place before = link.parent < 0 ? link.before : frames_[link.parent] * link.before;
        const Place behind = inverse(before) * frames_[i], at = link.before * behind;
        double q[7], S[36], speeds[6];
        if (link.motion.is_formula()) {
            const auto near = search_start(model_->formula_joints[link.motion.joint().formula], branches_);
            std::copy_n(near.data(), link.motion.coordinates(), q);
        }
        if (!link.motion.is_axial()) {
            link.motion.read(behind, q);
            link.motion.subspace(q, S);
        }
        assembly_.set_place(i, at, S);

        const Twist own{twist_angular(u, link.body), transpose_times(R, twist_linear(u, link.body))};
        twists_of_[i] = outward(link.principal.rotation, link.principal.shift, own);
        const Twist carrier = link.parent < 0 ? Twist{} : twists_of_[link.parent];
        const Six relative = stacked(twists_of_[i]) - motion_into(at, stacked(carrier));
        link.motion.speeds(S, relative, speeds);
        double bias[6];
        put(bias, moving_bias(link.motion, at, q, speeds, relative, carrier.w));
        assembly_.set_bias(i, bias);
    }
}

// Along S, of all joints.
const std::vector<double>& Adaptive::solve() {
    descent_.compute_all(-model_->gravity);
    if (descent_.has_digits()) return descent_.accelerations();
    ++statistics_.precise;
    if (exact_ == nullptr) exact_ = std::make_unique<ExactSolution>(*model_, *linkage_);
    exact_->solve(assembly_, -model_->gravity);
    if (exact_->leaves_open())
        refuse("bodies whose masses differ so much: 32 digits leave accelerations open; use formulation='lagrange'");
    statistics_.uncertainty = std::max(statistics_.uncertainty, exact_->uncertainty());
    return exact_->rates();
}

void Adaptive::accelerate(double t, const double* x, const double* u, double* udot) {
    ++statistics_.evaluations;
    is_shared_ = false;
    place(x, u);
    std::fill(force_.begin(), force_.end(), 0.0);
    add_element_forces(*model_, branches_, contacts_, t, x, u, force_.data());
    for (size_t i = 0; i < frames_.size(); ++i) {
        const Link& link = linkage_->links[i];
        const double* record = force_.data() + kTwist * link.body;
        const Vec3 along = transpose_times(rotation_matrix(pose_rotation(x, link.body)), load(record));
        double force[6];
        put(force,
            force_out_of(link.principal, stacked(load(record + 4), along)) + gyroscopic(link.inertia, twists_of_[i].w));
        assembly_.set_force(static_cast<int>(i), force);
    }
    assembly_.update_all();
    const std::vector<double>& rates = solve();
    std::fill_n(udot, tangent_size(), 0.0);
    for (const int i : outward_) {
        const Link& link = linkage_->links[i];
        const Vec3 base = -model_->gravity;
        const Six carried = link.parent < 0 ? stacked({0, 0, 0}, base) : six(motions_.data() + 6 * link.parent);
        const Six a = motion_into(assembly_.frames().place(i), carried) +
                      assembly_.joint_motion(i, rates.data() + link.freedom) + six(assembly_.bias(i));
        put(motions_.data() + 6 * i, a);
        const Twist own = inward(link.principal.rotation, link.principal.shift, as_motion(a));
        const Mat3 R = rotation_matrix(pose_rotation(x, link.body));
        const Vec3 round = transpose_times(link.principal.rotation, centripetal(twists_of_[i].w, link.principal.shift));
        store_twist(udot, link.body, R * (own.v + round) + model_->gravity, own.w);
    }
    std::copy_n(x, poses_.size(), poses_.begin());
    std::copy_n(u, twists_.size(), twists_.begin());
    std::copy_n(udot, rates_.size(), rates_.begin());
    followed_at_ = t;
}

void Adaptive::share_loads() {
    evaluate_rows(followed_at_, poses_.data());
    reactions_.take_motion(followed_at_, poses_.data(), twists_.data(), rates_.data());
    reactions_.spread_over_tree();
    for (int row = 0; row < rows_.rows(); ++row)
        loads_.multipliers[rows_.storage_row(row)] = reactions_.loads().multipliers[row];
    loads_.nothing.clear();
}

}  // namespace bellcrank
