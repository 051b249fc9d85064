#include "adaptive/joint_choice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bellcrank {

namespace {

// What rounding may make of a total acceleration whose terms are of size 1: they are sums of some ten products, through
// some forty levels.
constexpr double kRounding = 64.0 * std::numeric_limits<double>::epsilon();
constexpr double kUnknown = std::numeric_limits<double>::infinity();  // a total of which no digit is known

double part(double error, double whole) {
    return error == 0.0 ? 0.0 : whole > 0.0 ? std::min(1.0, error / whole) : 1.0;
}

}  // namespace

void JointChoice::forget() {
    computed_.clear();
    largest_ = squares_ = total_ = largest_rounding_ = rounding_squares_ = error_ = 0.0;
}

void JointChoice::count(double square, double rounding) {
    squares_ += square;
    largest_ = std::max(largest_, std::sqrt(square));
    largest_rounding_ = std::max(largest_rounding_, rounding);
    rounding_squares_ += rounding * rounding;
}

double JointChoice::rounding_at(double largest_left, double squares_left) const {
    switch (measure_) {
        case ErrorMeasure::relative_linkage:
            return part(std::sqrt(rounding_squares_), std::sqrt(std::max(total_, squares_ + squares_left)));
        case ErrorMeasure::relative_joint:
            return part(largest_rounding_, std::max(largest_, largest_left));
        default:
            return rounding();
    }
}

// Accelerations of all joints are at least those computed. Near balance a total, a small difference of large numbers,
// tells nothing more: then all joints are computed.
double JointChoice::measured(double largest_left, double squares_left) const {
    const auto of_joint = [&] { return std::max(largest_left, largest_rounding_); };
    const auto of_linkage = [&] { return std::sqrt(squares_left + rounding_squares_); };
    switch (measure_) {
        case ErrorMeasure::absolute_linkage:
            return of_linkage();
        case ErrorMeasure::relative_linkage:
            return part(of_linkage(), std::sqrt(std::max(total_, squares_)));
        case ErrorMeasure::absolute_joint:
            return of_joint();
        case ErrorMeasure::relative_joint:
            return part(of_joint(), largest_);
    }
    return 0.0;
}

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
    forget();
    open_.clear();
    queue_.clear();
    sum_ = rest_ = 0.0;
    unknown_ = 0;
    double input[RootedAssembly::kInput] = {0, 0, 0, base.x, base.y, base.z};
    const int root = static_cast<int>(assembly_.tree().nodes.size()) - 1;
    total_ = total(root, input, 0.0).least;
    if (carries_free_[root])
        free_bodies(root, input);
    else
        push(root, input, 0.0);
    error_ = error_left();
}

// Bodies that hang on nothing are computed whatever moves behind them.
void Descent::free_bodies(int node, const double* input) {
    if (!carries_free_[node]) return push(node, input, 0.0);
    const AssemblyNode& at = assembly_.tree().nodes[node];
    if (at.kind == NodeKind::sum) {
        free_bodies(at.left, input);
        return free_bodies(at.right, input);
    }
    double force[6];
    const double rounding = compute(node, input, 0.0, force);
    assembly_.hand_on(node, input, force, [&](int part, const double* in) { push(part, in, rounding); });
}

// What is handed on is no better than what it was made of.
double Descent::compute(int node, const double* input, double rounding, double* force) {
    const int link = assembly_.tree().nodes[node].link;
    const Link& of = assembly_.linkage().links[link];
    double* rate = rate_.data() + of.freedom;
    const RootedAssembly::Terms size = assembly_.joint_acceleration(node, input, rate, force);
    computed_.push_back(link);
    double square = 0.0, off;
    for (int i = 0; i < of.motion.freedoms(); ++i) square += rate[i] * rate[i];
    if (assembly_.is_even()) {
        rounding = assembly_.loss();
        off = rounding * (size.of_input + size.own);
    } else {
        const double own = assembly_.force_error(node, input, force);
        off = assembly_.joint_error(node, rounding, own);
        rounding += own;
    }
    if (!of.floats) count(square, off);
    return rounding;
}

// Σ in twice the digits: from 1 down to squares of small bounds, parts are taken away that were added before.
void Descent::add(double change) {
    const double s = sum_ + change, b = s - sum_;
    rest_ += (sum_ - (s - b)) + (change - b);
    sum_ = s;
}

// Between which bounds the total acceleration at an input is that is off by `rounding`.
Descent::Total Descent::total(int node, const double* input, double rounding) const {
    double value, size;
    assembly_.total(node, input, &value, &size);
    if (assembly_.is_even()) {
        const double part = std::max(kRounding, assembly_.loss()) * std::max(size, std::abs(value));
        return {std::max(value - part, 0.0), size > 0.0 ? std::max(value, 0.0) + part : 0.0};
    }
    const double off = assembly_.total_error(node, input, rounding), root = std::sqrt(std::max(value, 0.0));
    if (!std::isfinite(off)) return {0.0, kUnknown};
    const double least = std::max(root - off, 0.0), largest = root + off;
    return {least * least, largest * largest};
}

void Descent::push(int node, const double* input, double rounding) {
    const double total = this->total(node, input, rounding).most;
    if (total == 0.0) return;
    Open& open = open_.emplace_back();
    open.node = node;
    open.rounding = rounding;
    std::copy_n(input, RootedAssembly::kInput, open.input);
    count_open(total, 1);
    queue_.push_back({total, static_cast<int>(open_.size()) - 1});
    std::push_heap(queue_.begin(), queue_.end());
}

void Descent::pop() {
    std::pop_heap(queue_.begin(), queue_.end());
    const Open open = open_[queue_.back().open];
    count_open(queue_.back().total, -1);
    queue_.pop_back();
    double force[6], rounding = open.rounding;
    if (assembly_.tree().nodes[open.node].kind != NodeKind::sum)
        rounding = compute(open.node, open.input, rounding, force);
    assembly_.hand_on(open.node, open.input, force, [&](int part, const double* in) { push(part, in, rounding); });
}

void Descent::count_open(double total, int sign) {
    if (total < kUnknown)
        add(sign * total);
    else
        unknown_ += sign;
}

double Descent::error_left() const {
    if (queue_.empty()) return rounding();
    return measured(std::sqrt(queue_.front().total), unknown_ > 0 ? kUnknown : std::max(sum_ + rest_, 0.0));
}

void Descent::refine(double bound) {
    while (!queue_.empty() && !(error_ <= bound)) {
        if (rounding_at(std::sqrt(queue_.front().total), unknown_ > 0 ? kUnknown : sum_ + rest_) > bound) return;
        pop();
        error_ = std::max(std::min(error_, error_left()), rounding());
    }
}

void Descent::compute_all(const Vec3& base) {
    forget();
    open_.clear();
    queue_.clear();
    Open& root = open_.emplace_back();
    root = {static_cast<int>(assembly_.tree().nodes.size()) - 1, {0, 0, 0, base.x, base.y, base.z}, 0.0};
    while (!open_.empty()) {
        const Open open = open_.back();
        open_.pop_back();
        double force[6], rounding = open.rounding;
        if (assembly_.tree().nodes[open.node].kind != NodeKind::sum)
            rounding = compute(open.node, open.input, rounding, force);
        assembly_.hand_on(open.node, open.input, force, [&](int part, const double* in) {
            Open& next = open_.emplace_back();
            next.node = part;
            next.rounding = rounding;
            std::copy_n(in, RootedAssembly::kInput, next.input);
        });
    }
    error_ = rounding();
}

Ranking::Ranking(const Linkage& linkage)
    : linkage_(linkage), square_(linkage.links.size()), chosen_(linkage.links.size()) {
    order_.reserve(square_.size());
    left_.reserve(square_.size() + 1);
    computed_.reserve(square_.size());
    rate_.resize(linkage.freedoms);
}

void Ranking::begin(const std::vector<double>& rates, const std::vector<double>& roundings, ErrorMeasure measure,
                    const std::vector<int>& computed) {
    forget();
    measure_ = measure;
    rate_ = rates;
    std::fill(chosen_.begin(), chosen_.end(), 0);
    for (const int link : computed) {
        computed_.push_back(link);
        chosen_[link] = 1;
    }
    order_.clear();
    for (size_t i = 0; i < square_.size(); ++i) {
        const Link& link = linkage_.links[i];
        square_[i] = 0.0;
        for (int k = link.freedom; k < link.freedom + link.motion.freedoms(); ++k) square_[i] += rates[k] * rates[k];
        if (!link.floats) count(square_[i], roundings[i]);
        if (chosen_[i] != 0) continue;
        if (link.floats)
            computed_.push_back(static_cast<int>(i));
        else if (square_[i] > 0.0)
            order_.push_back(static_cast<int>(i));
    }
    std::sort(order_.begin(), order_.end(), [this](int a, int b) { return square_[a] > square_[b]; });
    left_.assign(order_.size() + 1, 0.0);
    for (size_t k = order_.size(); k-- > 0;) left_[k] = left_[k + 1] + square_[order_[k]];
    next_ = 0;
    refine(INFINITY);
}

void Ranking::refine(double bound) {
    const auto error = [this] {
        return measured(next_ < order_.size() ? std::sqrt(square_[order_[next_]]) : 0.0, left_[next_]);
    };
    for (error_ = error(); next_ < order_.size() && !(error_ <= bound); error_ = error())
        computed_.push_back(order_[next_++]);
}

}  // namespace bellcrank
