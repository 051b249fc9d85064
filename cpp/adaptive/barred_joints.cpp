// What stops do to joints: directions along which these do not accelerate, impulses, what is exerted on them.
#include <algorithm>

#include "adaptive/hybrid_assembly.hpp"

namespace bellcrank {

JointNumbers HybridAssembly::Numbers::of(int number, const Link& link, const double* S, int square, bool free) {
    const int at = 6 * link.freedom;
    JointNumbers out{
        link.motion,   S, free ? link.motion.freedoms() : 0, u.data() + at, d.data() + square, g1.data() + at,
        g2.data() + at};
    if (bar_of[number] < 0 || !free) return out;
    Bar& bar = bars[bar_of[number]];
    out.directions = bar.directions;
    out.along = bar.along;
    out.whole = bar.whole;
    return out;
}

double HybridAssembly::Numbers::energy(int number, const Link& link, int square, bool factored, const double* u) const {
    const int freedoms = link.motion.freedoms();
    if (bar_of[number] >= 0) return bellcrank::energy_along(bars[bar_of[number]].whole, freedoms, false, u);
    return bellcrank::energy_along(d.data() + square, freedoms, factored, u);
}

void HybridAssembly::unbar() {
    for (const System system : {System::moving, System::judging})
        while (bars(system)) bar(system, numbers_of(system).bars.back().link, 0, nullptr);
}

bool HybridAssembly::bar(System system, int link, int directions, const double* along, const double* bias) {
    Numbers& numbers = system == System::moving ? h_ : f_;
    int& place = numbers.bar_of[link];
    if (place < 0 && directions == 0) return false;
    const int freedoms = linkage_->links[link].motion.freedoms(), size = freedoms * directions;
    if (place < 0) {
        place = static_cast<int>(numbers.bars.size());
        numbers.bars.push_back({link, 0, {}, {}, {}});
    }
    Numbers::Bar& bar = numbers.bars[place];
    const bool is_same = bar.directions == directions && std::equal(along, along + size, bar.along);
    if (!is_same && system == System::judging && !is_open(tree().joint_of[link]))
        marks_.mark(tree().joint_of[link], kJointLoads | kJointMatrices);
    bool is_moved = false;
    for (int i = 0; i < freedoms; ++i) {
        const double next = bias == nullptr || directions == 0 ? 0.0 : bias[i];
        is_moved |= bar.bias[i] != next;
        bar.bias[i] = next;
    }
    bar.directions = directions;
    std::copy_n(along, size, bar.along);
    if (directions > 0) return is_moved;
    bar = numbers.bars.back();
    numbers.bar_of[bar.link] = place;
    numbers.bars.pop_back();
    place = -1;
    return is_moved;
}

void HybridAssembly::set_impulse(int link, const double* impulse) {
    for (int i = 0; i < linkage_->links[link].motion.freedoms(); ++i)
        impulses_[linkage_->links[link].freedom + i] += impulse[i];
    struck_.push_back(link);
}

void HybridAssembly::clear_impulses() {
    for (const int link : struck_)
        std::fill_n(impulses_.data() + linkage_->links[link].freedom, linkage_->links[link].motion.freedoms(), 0.0);
    struck_.clear();
}

void HybridAssembly::strike(double* speeds) {
    for (size_t i = order_.size(); i-- > 0;)
        held_[i].is_open ? hold_open(order_[i], Acting::impulses) : hold_front(order_[i], Acting::impulses);
    descend_struck(speeds);
}

void HybridAssembly::descend_struck(double* speeds) {
    for (size_t i = 0; i < order_.size(); ++i)
        if (held_[i].is_open) std::fill_n(held_[i].zeta, 6, 0.0);
    for (Numbers::Bar& bar : h_.bars) std::fill_n(bar.bias, 6, 0.0);
    accelerate({0, 0, 0}, speeds);
}

void HybridAssembly::exerted(int number, double* along) const {
    const AssemblyNode& node = tree().nodes[tree().joint_of[number]];
    const Held& own = held(tree().joint_of[number]);
    const Link& link = linkage_->links[number];
    Six f = own.x1 * six(own.input) + six(own.gamma);
    if (node.kind == NodeKind::rake)
        f = force_into(frames_.place(number), own.phi1 * six(own.input) + six(own.b1));
    else if (!node.ends)
        f = f - own.x2 * six(own.input + 6);
    double load[6];
    put(load, f);
    subspace_components(link.motion, subspace(number), load, along);
    for (int i = 0; i < link.motion.freedoms(); ++i) along[i] -= effort_[link.freedom + i];
}

}  // namespace bellcrank
