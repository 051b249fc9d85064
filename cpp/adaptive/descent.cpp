#include "adaptive/descent.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bellcrank {

namespace {

// What rounding may make of a total acceleration whose terms are of size 1: they are sums of some ten products, through
// some forty levels.
constexpr double kRounding = 64.0 * std::numeric_limits<double>::epsilon();

}  // namespace

Descent::Descent(const RootedAssembly& assembly) : assembly_(assembly) {
    const AssemblyTree& tree = assembly.tree();
    carries_free_.assign(tree.nodes.size(), 0);
    for (size_t i = 0; i < tree.nodes.size(); ++i) {
        const AssemblyNode& node = tree.nodes[i];
        if (node.kind == NodeKind::rake) carries_free_[i] = assembly.linkage().links[node.link].floats;
        if (node.kind == NodeKind::sum) carries_free_[i] = carries_free_[node.left] | carries_free_[node.right];
    }
    // Each node once, and those of the queue at most as many: room that is taken only as it is used.
    open_.reserve(tree.nodes.size());
    queue_.reserve(tree.nodes.size());
    computed_.reserve(tree.links());
    rate_.resize(assembly.linkage().freedoms);
}

void Descent::begin(const Vec3& base, ErrorMeasure measure) {
    measure_ = measure;
    open_.clear();
    queue_.clear();
    computed_.clear();
    largest_ = squares_ = sum_ = rest_ = 0.0;
    double input[RootedAssembly::kInput] = {0, 0, 0, base.x, base.y, base.z};
    const int root = static_cast<int>(assembly_.tree().nodes.size()) - 1;
    double size;
    assembly_.total(root, input, &total_, &size);
    if (carries_free_[root])
        free_bodies(root, input);
    else
        push(root, input);
    total_ = std::max(total_ - kRounding * size, 0.0);
    error_ = measured();
}

// Bodies that hang on nothing are computed whatever moves behind them.
void Descent::free_bodies(int node, const double* input) {
    if (!carries_free_[node]) return push(node, input);
    const AssemblyNode& at = assembly_.tree().nodes[node];
    if (at.kind == NodeKind::sum) {
        free_bodies(at.left, input);
        return free_bodies(at.right, input);
    }
    double force[6];
    compute(node, input, force);
    assembly_.hand_on(node, input, force, [this](int part, const double* in) { push(part, in); });
}

void Descent::compute(int node, const double* input, double* force) {
    const int link = assembly_.tree().nodes[node].link;
    const Link& of = assembly_.linkage().links[link];
    double* rate = rate_.data() + of.freedom;
    assembly_.joint_acceleration(node, input, rate, force);
    computed_.push_back(link);
    if (of.floats) return;
    double square = 0.0;
    for (int i = 0; i < of.motion.freedoms(); ++i) square += rate[i] * rate[i];
    squares_ += square;
    largest_ = std::max(largest_, std::sqrt(square));
}

// Σ in twice the digits: from 1 down to squares of small bounds, parts are taken away that were added before.
void Descent::add(double change) {
    const double s = sum_ + change, b = s - sum_;
    rest_ += (sum_ - (s - b)) + (change - b);
    sum_ = s;
}

void Descent::push(int node, const double* input) {
    double total, size;
    assembly_.total(node, input, &total, &size);
    if (size == 0.0) return;  // nothing in it accelerates
    total = std::max(total, 0.0) + kRounding * size;
    Open& open = open_.emplace_back();
    open.node = node;
    std::copy_n(input, RootedAssembly::kInput, open.input);
    add(total);
    queue_.push_back({total, static_cast<int>(open_.size()) - 1});
    std::push_heap(queue_.begin(), queue_.end());
}

void Descent::pop() {
    std::pop_heap(queue_.begin(), queue_.end());
    const Open open = open_[queue_.back().open];
    add(-queue_.back().total);
    queue_.pop_back();
    double force[6];
    if (assembly_.tree().nodes[open.node].kind != NodeKind::sum) compute(open.node, open.input, force);
    assembly_.hand_on(open.node, open.input, force, [this](int part, const double* in) { push(part, in); });
}

// Accelerations of all joints are at least those computed. Near balance a total, a small difference of large numbers,
// tells nothing more: then all joints are computed.
double Descent::measured() const {
    if (queue_.empty()) return 0.0;
    const double largest = std::sqrt(queue_.front().total), all = std::sqrt(std::max(sum_ + rest_, 0.0));
    const double whole = std::max(total_, squares_);
    switch (measure_) {
        case ErrorMeasure::absolute_linkage:
            return all;
        case ErrorMeasure::relative_linkage:
            return whole > 0.0 ? std::min(1.0, all / std::sqrt(whole)) : 1.0;
        case ErrorMeasure::absolute_joint:
            return largest;
        case ErrorMeasure::relative_joint:
            return largest_ > 0.0 ? std::min(1.0, largest / largest_) : 1.0;
    }
    return 0.0;
}

void Descent::refine(double bound) {
    while (!queue_.empty() && !(error_ <= bound)) {
        pop();
        error_ = std::min(error_, measured());
    }
}

void Descent::compute_all(const Vec3& base) {
    open_.clear();
    queue_.clear();
    computed_.clear();
    largest_ = error_ = 0.0;
    Open& root = open_.emplace_back();
    root = {static_cast<int>(assembly_.tree().nodes.size()) - 1, {0, 0, 0, base.x, base.y, base.z}};
    while (!open_.empty()) {
        const Open open = open_.back();
        open_.pop_back();
        double force[6];
        if (assembly_.tree().nodes[open.node].kind != NodeKind::sum) compute(open.node, open.input, force);
        assembly_.hand_on(open.node, open.input, force, [this](int part, const double* in) {
            Open& next = open_.emplace_back();
            next.node = part;
            std::copy_n(in, RootedAssembly::kInput, next.input);
        });
    }
}

}  // namespace bellcrank
