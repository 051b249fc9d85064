// The factors of an articulated linkage (assembly_tree.hpp) add inertias and invert none, but where a light body
// carries a heavy one a joint's freedoms meet the small rest of large inertias. The equations themselves, Sᵀ f = Q with
// f the force that all behind a joint asks of it, are exact in 32 digits; what they lack is solved for by the same
// factors until nothing is lacking (docs/decisions/0008-digits-and-refinement.md).
#include "adaptive/exact_solution.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace bellcrank {

namespace {

constexpr int kMostPasses = 30;
constexpr double kExact = 1e-15;  // of the largest acceleration
// How far a place may be off, in each of its numbers: a product of a few rotations.
constexpr double kOff = 8.0 * std::numeric_limits<double>::epsilon();

using Exact = DoubleDouble;
using ExactVec = Vec3T<Exact>;

ExactVec exact(const Vec3& v) { return {v.x, v.y, v.z}; }
double size(const ExactVec& v) { return std::abs(v.x.hi) + std::abs(v.y.hi) + std::abs(v.z.hi); }

std::vector<int> parents_first(const Linkage& linkage) {
    std::vector<int> order(linkage.links.size());
    for (size_t i = 0; i < order.size(); ++i) order[linkage.tree.given[i]] = static_cast<int>(i);
    return order;
}

}  // namespace

ExactSolution::ExactSolution(const Model& model, const Linkage& linkage)
    : given_(linkage),
      linkage_(std::make_shared<Linkage>(model, TreeShape::articulated)),
      assembly_(linkage_, false),
      descent_(assembly_),
      outward_(parents_first(*linkage_)),
      forces_(6 * linkage_->links.size()),
      efforts_(linkage_->freedoms),
      own_(linkage_->freedoms),
      lack_(linkage_->freedoms),
      whole_(linkage_->freedoms),
      sizes_(linkage_->links.size()),
      motions_(linkage_->links.size()),
      loads_(linkage_->links.size()),
      rates_(linkage_->freedoms),
      roundings_(linkage_->links.size()) {
    for (const Link& link : linkage_->links) given_number_.push_back(linkage.link_of[link.body]);
}

// Biases stay out of the own assembly, which responds to efforts: they are found lacking.
void ExactSolution::take(const RootedAssembly& from) {
    from_ = &from;
    for (size_t i = 0; i < given_number_.size(); ++i) {
        const int own = static_cast<int>(i), given = given_number_[i];
        const Link& link = linkage_->links[i];
        assembly_.set_place(own, from.frames().place(given), from.subspace(given));
        std::copy_n(from.force(given), 6, forces_.data() + 6 * i);
        std::copy_n(from.effort(given), link.motion.freedoms(), efforts_.data() + link.freedom);
        assembly_.set_force(own, forces_.data() + 6 * i);
        assembly_.set_effort(own, efforts_.data() + link.freedom);
    }
}

// Finds Q − Sᵀ f of each joint, and how large the force would be if nothing in it cancelled.
void ExactSolution::find_lacks(const Vec3& base) {
    for (const int i : outward_) {
        const Link& link = linkage_->links[i];
        const Place& place = assembly_.frames().place(i);
        MotionT<Exact> a{{0.0, 0.0, 0.0}, exact(base)};
        if (link.parent >= 0) a = motions_[link.parent];
        a = inward(place.rotation, place.shift, a);
        if (const double* zeta = from_->bias(given_number_[i]))
            a += MotionT<Exact>{exact(load(zeta)), exact(load(zeta + 3))};
        const double* rate = own_.data() + link.freedom;
        Exact* to[6] = {&a.w.x, &a.w.y, &a.w.z, &a.v.x, &a.v.y, &a.v.z};
        for (int k = 0, axis = 0; k < link.motion.freedoms(); ++k, ++axis) {
            if (link.motion.is_axial()) {
                while (!(link.motion.axes() >> axis & 1u)) ++axis;
                *to[axis] += rate[k];
            } else
                for (int c = 0; c < 6; ++c) *to[c] += Exact(assembly_.subspace(i)[6 * k + c]) * rate[k];
        }
        motions_[i] = a;
        // The principal frame is taken because nothing of the body's inertia has been rounded there.
        const Mat3& R = link.principal.rotation;
        const Vec3& J = link.moments;
        const auto [w, v] = inward(R, link.principal.shift, a);
        const ExactVec force = R * (link.mass * v);
        const double* given = forces_.data() + 6 * i;
        const ExactVec moment = R * ExactVec{w.x * J.x, w.y * J.y, w.z * J.z};
        const double pulled = size(force) + std::abs(given[3]) + std::abs(given[4]) + std::abs(given[5]);
        sizes_[i] = {size(moment) + norm(link.principal.shift) * size(force) + std::abs(given[0]) + std::abs(given[1]) +
                         std::abs(given[2]),
                     pulled};
        loads_[i] = {moment + cross(link.principal.shift, force) - exact({given[0], given[1], given[2]}),
                     force - exact({given[3], given[4], given[5]})};
    }
    for (auto each = outward_.rbegin(); each != outward_.rend(); ++each) {
        const Link& link = linkage_->links[*each];
        const Place& place = assembly_.frames().place(*each);
        const ForceT<Exact>& f = loads_[*each];
        const Exact along[6] = {f.n.x, f.n.y, f.n.z, f.f.x, f.f.y, f.f.z};
        const auto [turning, pulling] = sizes_[*each];
        for (int k = 0, axis = 0; k < link.motion.freedoms(); ++k, ++axis) {
            Exact lack = efforts_[link.freedom + k];
            double whole = 0.0;
            if (link.motion.is_axial()) {
                while (!(link.motion.axes() >> axis & 1u)) ++axis;
                lack -= along[axis];
                whole = axis < 3 ? turning : pulling;
            } else {
                const double* S = assembly_.subspace(*each) + 6 * k;
                for (int c = 0; c < 6; ++c) {
                    lack -= along[c] * S[c];
                    whole += std::abs(S[c]) * (c < 3 ? turning : pulling);
                }
            }
            lack_[link.freedom + k] = lack.hi;
            whole_[link.freedom + k] = whole + std::abs(efforts_[link.freedom + k]);
        }
        if (link.parent < 0) continue;
        loads_[link.parent] += outward(place.rotation, place.shift, f);
        sizes_[link.parent].first += turning + pulling * norm(place.shift);
        sizes_[link.parent].second += pulling;
    }
}

// Replaces the accelerations of the descent by those that efforts alone cause.
void ExactSolution::respond(const std::vector<double>& efforts) {
    constexpr double nothing[6] = {};
    for (size_t i = 0; i < given_number_.size(); ++i) {
        assembly_.set_force(static_cast<int>(i), nothing);
        assembly_.set_effort(static_cast<int>(i), efforts.data() + linkage_->links[i].freedom);
    }
    assembly_.update();
    descent_.compute_all({0, 0, 0});
}

double ExactSolution::largest(const std::vector<double>& rates) const {
    double most = 0.0;
    for (const double rate : rates) most = std::max(most, std::abs(rate));
    return most;
}

void ExactSolution::solve(const RootedAssembly& assembly, const Vec3& base) {
    take(assembly);
    assembly_.update_all();
    descent_.compute_all(base);
    own_ = descent_.accelerations();
    double left = std::numeric_limits<double>::infinity();
    for (int pass = 0; pass < kMostPasses; ++pass) {
        find_lacks(base);
        respond(lack_);
        const double change = largest(descent_.accelerations());
        if (!std::isfinite(change) || change > 0.7 * left) break;
        for (size_t k = 0; k < own_.size(); ++k) own_[k] += descent_.accelerations()[k];
        left = change;
        if (change <= kExact * largest(own_)) break;
    }
    unrefined_ = left > 0.0 ? left / std::max(left, largest(own_)) : 0.0;
    judge(left);
}

// The rounding of a place turns forces by as much: efforts of that size, of signs at random, say what joints make of
// it.
void ExactSolution::judge(double left) {
    std::fill(roundings_.begin(), roundings_.end(), left);
    std::uint32_t random = 1;
    for (int probe = 0; probe < 2; ++probe) {
        for (size_t k = 0; k < lack_.size(); ++k) {
            random = 1664525u * random + 1013904223u;
            lack_[k] = (random >> 31 ? kOff : -kOff) * whole_[k];
        }
        respond(lack_);
        for (size_t i = 0; i < given_number_.size(); ++i) {
            const Link& link = linkage_->links[i];
            double square = 0.0;
            for (int k = link.freedom; k < link.freedom + link.motion.freedoms(); ++k)
                square += descent_.accelerations()[k] * descent_.accelerations()[k];
            double& rounding = roundings_[given_number_[i]];
            rounding = std::max(rounding, left + std::sqrt(square));
        }
    }
    const double off = largest(roundings_);
    uncertainty_ = off > 0.0 ? off / std::max(off, largest(own_)) : 0.0;
    for (size_t i = 0; i < given_number_.size(); ++i) {
        const Link& link = linkage_->links[i];
        std::copy_n(own_.data() + link.freedom, link.motion.freedoms(),
                    rates_.data() + given_.links[given_number_[i]].freedom);
    }
}

}  // namespace bellcrank
