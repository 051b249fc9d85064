#include "adaptive/assembly.hpp"

#include <algorithm>
#include <limits>

#include "spatial/lanes.hpp"

namespace bellcrank {

namespace {

constexpr std::uint8_t kVectors = 1, kMatrices = 2;

}  // namespace

RootedAssembly::RootedAssembly(std::shared_ptr<const Linkage> linkage, bool with_totals)
    : linkage_(std::move(linkage)), with_totals_(with_totals), frames_(tree()), marks_(tree()) {
    const AssemblyTree& t = tree();
    const std::vector<Link>& links = linkage_->links;
    joins_.resize(t.joins);
    laws_.resize(t.laws);
    bodies_.resize(links.size());
    if (with_totals_) {
        w_.resize(t.joins);
        totals_.resize(t.joins, t.laws, t.branched);
    }
    const size_t freedoms = linkage_->freedoms;
    size_t squares = 0;
    for (const Link& link : links) {
        squares_.push_back(static_cast<int>(squares));
        squares += static_cast<size_t>(link.motion.freedoms()) * link.motion.freedoms();
    }
    for (Array<double>* six_each : {&subspace_, &u_, &g1_, &g2_}) six_each->assign(6 * freedoms, 0.0);
    effort_.assign(freedoms, 0.0);
    r_.assign(freedoms, 0.0);
    terms_.assign(freedoms, 0.0);
    d_.assign(squares, 0.0);
    for (size_t i = 0; i < links.size(); ++i) {
        BodyState& body = bodies_[i];
        body = {};
        const AssemblyNode& node = t.nodes[t.body_of[i]];
        if (node.left >= 0) continue;
        body.phi = t.nodes[node.parent].kind == NodeKind::join ? links[i].mobility() : links[i].inertia;
    }
}

void RootedAssembly::set_place(int link, const Place& place, const double* subspace) {
    frames_.place(link) = place;
    const Link& of = linkage_->links[link];
    if (of.motion.slides() > 0) reach_ = std::max(reach_, norm(place.shift));
    if (!of.motion.is_axial()) std::copy_n(subspace, 6 * of.motion.freedoms(), subspace_.data() + 6 * of.freedom);
    marks_.mark(tree().joint_of[link], kMatrices);
}

bool RootedAssembly::set_force(int link, const double* force) {
    if (std::memcmp(bodies_[link].force, force, 6 * sizeof(double)) == 0) return false;
    std::memcpy(bodies_[link].force, force, 6 * sizeof(double));
    marks_.mark(tree().body_of[link], kVectors);
    return true;
}

bool RootedAssembly::set_effort(int link, const double* effort) {
    const Link& of = linkage_->links[link];
    double* own = effort_.data() + of.freedom;
    const size_t size = of.motion.freedoms() * sizeof(double);
    if (std::memcmp(own, effort, size) == 0) return false;
    std::memcpy(own, effort, size);
    marks_.mark(tree().joint_of[link], kVectors);
    return true;
}

void RootedAssembly::update_frames() {
    marks_.spread([this](int node, std::uint8_t what) {
        if (what >= kMatrices) frames_.update(tree().nodes[node]);
    });
    frames_.update_chosen();
}

void RootedAssembly::update_all_frames() {
    for (const AssemblyNode& node : tree().nodes) frames_.update(node);
    frames_.update_chosen();
}

// What an update of a node reads lies in as many places as it has parts.
void RootedAssembly::fetch(int number) const {
    const auto lines = [](const auto& of) {
        prefetch(reinterpret_cast<const double*>(&of), sizeof of / sizeof(double));
    };
    const AssemblyNode& node = tree().nodes[number];
    if (node.kind == NodeKind::body) return lines(bodies_[node.link]);
    if (node.kind == NodeKind::rake) return lines(laws_[node.slot]);
    if (node.kind != NodeKind::join) return;
    lines(joins_[node.slot]);
    if (!with_totals_) return;
    lines(w_[node.slot]);
    lines(totals_.joins[node.slot]);
    for (const int part : {node.left, node.right}) {
        const AssemblyNode& below = tree().nodes[part];
        if (below.kind == NodeKind::join)
            lines(totals_.joins[below.slot]);
        else if (below.left >= 0)
            lines(totals_.bodies[below.slot]);
    }
}

void RootedAssembly::update() {
    const auto work = [this](int node, std::uint8_t what) {
        if (with_totals_)
            update_node<true>(node, what >= kMatrices);
        else
            update_node<false>(node, what >= kMatrices);
        if (!losses_.empty()) measure_loads(node);
    };
    updated_ = marks_.sweep(work, [this](int node) { fetch(node); });
    judge_digits();
}

void RootedAssembly::update_all(bool anew) {
    marks_.clear();
    updated_ = static_cast<int>(tree().nodes.size());
    const bool is_measured = !anew && !losses_.empty();
    for (int node = 0; node < updated_; ++node) {
        if (with_totals_)
            update_node<true>(node, true);
        else
            update_node<false>(node, true);
        if (is_measured) measure_loads(node);
    }
    if (!is_measured) since_measured_ = std::numeric_limits<int>::max();
    judge_digits();
}

template <bool kTotals>
void RootedAssembly::update_node(int number, bool matrices) {
    const AssemblyNode& node = tree().nodes[number];
    switch (node.kind) {
        case NodeKind::body:
            return body<kTotals>(node, matrices);
        case NodeKind::join:
            if (matrices) join_matrices<kTotals>(node);
            return join_vectors<kTotals>(node);
        case NodeKind::rake:
            if (matrices) rake_matrices<kTotals>(node);
            return rake_vectors<kTotals>(node);
        case NodeKind::sum:
            return add_laws<kTotals>(node, matrices);
    }
}
template void RootedAssembly::update_node<true>(int, bool);
template void RootedAssembly::update_node<false>(int, bool);

std::size_t RootedAssembly::bytes() const {
    const auto size = [](const auto& array) { return array.capacity() * sizeof(array[0]); };
    return size(joins_) + size(w_) + totals_.bytes() + size(laws_) + size(bodies_) + size(squares_) + size(subspace_) +
           size(u_) + size(g1_) + size(g2_) + size(effort_) + size(r_) + size(terms_) + size(d_) + size(losses_) +
           errors_.bytes() + error_totals_.bytes() + frames_.bytes() + marks_.bytes() + size(tree().nodes) +
           size(linkage_->links) + size(linkage_->link_of) + size(tree().given) + size(tree().body_of) +
           size(tree().joint_of);
}

}  // namespace bellcrank
