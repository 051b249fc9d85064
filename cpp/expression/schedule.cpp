#include "expression/schedule.hpp"

#include <algorithm>
#include <utility>

#include "expression/reach.hpp"
#include "interruption/interruption.hpp"

namespace bellcrank {

namespace {

constexpr std::uint16_t kMostRegisters = 0xffff;
// Angles that cost at most this many operations have their sine and cosine computed first, when little is alive that
// the long sequence (or, in native code, the call) would push out of registers.
constexpr std::uint16_t kCheapAngle = 8;

// The few operands of one node, in place.
template <class Item, class Before>
void sort_few(Item* items, int count, Before before) {
    for (int i = 1; i < count; ++i)
        for (int k = i; k > 0 && before(items[k], items[k - 1]); --k) std::swap(items[k], items[k - 1]);
}

bool is_angle_function(Op op) { return op == Op::sine || op == Op::cosine; }

}  // namespace

Schedule::Schedule(const Graph& graph, std::span<const Ref> roots, const std::vector<bool>& leaves) : graph_(graph) {
    count_uses(roots, leaves);
    choose_fused();
    measure();
    arrange(roots);
}

// Depth first, with the number of uses of every node and what its users think of its sign.
void Schedule::count_uses(std::span<const Ref> roots, const std::vector<bool>& leaves) {
    const std::size_t size = graph_.size();
    uses_.assign(size, 0);
    sign_balance_.assign(size, 0);
    is_inner_.assign(size, false);
    const auto is_given = [&](std::uint32_t node) { return leaves[node] || operand_count(graph_.node(node).op) == 0; };

    struct Frame {
        std::uint32_t node;
        int next;
    };
    std::vector<Frame> stack;
    const auto use = [&](Ref r, bool takes_sign) {
        const std::uint32_t node = r.index();
        ++uses_[node];
        if (!takes_sign) sign_balance_[node] += r.negative() ? -1 : 1;
        if (!is_given(node) && !is_inner_[node]) {
            is_inner_[node] = true;
            stack.push_back({node, 0});
        }
    };
    for (const Ref root : roots) {
        use(root, false);
        while (!stack.empty()) {
            look_for_interrupts();
            Frame& top = stack.back();
            const Node& node = graph_.node(top.node);
            if (top.next == operand_count(node.op)) {
                inner_.push_back(top.node);
                stack.pop_back();
            } else {
                use(operands_of(node)[top.next++], node.op == Op::add || node.op == Op::multiply);
            }
        }
    }
    for (const Ref root : roots) uses_[root.index()] += 1;  // a root is never fused
}

void Schedule::choose_fused() {
    fused_.assign(graph_.size(), false);
    const auto single = [&](Ref r, Op op) {
        return is_inner_[r.index()] && uses_[r.index()] == 1 && graph_.node(r).op == op;
    };
    const auto has_quotient = [&](Ref r) {
        const Node& node = graph_.node(r);
        return single(node.a, Op::reciprocal) || single(node.b, Op::reciprocal);
    };
    for (const std::uint32_t index : inner_) {
        const Node& node = graph_.node(index);
        if (node.op != Op::add) continue;
        const bool a = single(node.a, Op::multiply), b = single(node.b, Op::multiply);
        // A quotient is worth more as a division of its own than as a multiply-add after a reciprocal.
        if (a && !has_quotient(node.a))
            fused_[node.a.index()] = true;
        else if (b && !has_quotient(node.b))
            fused_[node.b.index()] = true;
    }
    for (const std::uint32_t index : inner_) {
        const Node& node = graph_.node(index);
        if (node.op != Op::multiply || fused_[index]) continue;
        if (single(node.b, Op::reciprocal))
            fused_[node.b.index()] = true;
        else if (single(node.a, Op::reciprocal))
            fused_[node.a.index()] = true;
    }
}

// The nodes that must be there before `node` can be computed, with fused ones replaced by their own operands.
int Schedule::unit_operands(std::uint32_t index, std::array<std::uint32_t, 4>& out) const {
    int count = 0;
    const Node& node = graph_.node(index);
    for (int k = 0; k < operand_count(node.op); ++k) {
        const std::uint32_t operand = operands_of(node)[k].index();
        if (!fused_[operand]) {
            out[count++] = operand;
            continue;
        }
        const Node& inside = graph_.node(operand);
        for (int j = 0; j < operand_count(inside.op); ++j) out[count++] = operands_of(inside)[j].index();
    }
    return count;
}

// Numbers of R. Sethi and J. D. Ullman, The generation of optimal code for arithmetic expressions, 1970: the values
// that are alive at once below a node, as if the graph were a tree. And its operations, as a tree too, up to a limit.
void Schedule::measure() {
    registers_.assign(graph_.size(), 0);
    weight_.assign(graph_.size(), 0);
    for (const std::uint32_t index : inner_) {
        look_for_interrupts();
        std::array<std::uint32_t, 4> operands;
        const int count = unit_operands(index, operands);
        std::array<std::uint16_t, 4> needs{};
        int weight = 1;
        for (int k = 0; k < count; ++k) {
            needs[k] = registers_[operands[k]];
            weight += weight_[operands[k]];
        }
        sort_few(needs.data(), count, [](std::uint16_t a, std::uint16_t b) { return a > b; });
        int most = 1;
        for (int k = 0; k < count; ++k)
            if (needs[k] != 0) most = std::max(most, needs[k] + k);
        registers_[index] = static_cast<std::uint16_t>(std::min<int>(most, kMostRegisters));
        weight_[index] = static_cast<std::uint16_t>(std::min<int>(weight, kCheapAngle + 2));
    }
}

void Schedule::arrange(std::span<const Ref> roots) {
    done_.assign(graph_.size(), false);
    std::vector<std::uint32_t> stack;
    // First the angles, then the functions in a row: native code computes several side by side.
    const auto is_cheap_angle = [&](std::uint32_t index) {
        return is_angle_function(graph_.node(index).op) && weight_[index] <= kCheapAngle + 1;
    };
    for (const std::uint32_t index : inner_)
        if (const std::uint32_t angle = graph_.node(index).a.index(); is_cheap_angle(index) && is_inner_[angle])
            visit(angle, stack);
    for (const std::uint32_t index : inner_)
        if (is_cheap_angle(index)) visit(index, stack);
    for (const Ref root : roots)
        if (is_inner_[root.index()]) visit(root.index(), stack);
}

// Depth first, operands that need many registers before those that need few.
void Schedule::visit(std::uint32_t root, std::vector<std::uint32_t>& stack) {
    if (done_[root]) return;
    stack.push_back(root);
    while (!stack.empty()) {
        look_for_interrupts();
        const std::uint32_t index = stack.back();
        if (done_[index]) {
            stack.pop_back();
            continue;
        }
        std::array<std::uint32_t, 4> operands;
        const int count = unit_operands(index, operands);
        // Pushed in rising order of need, so that the last one pushed, the first one done, needs most.
        sort_few(operands.data(), count,
                 [&](std::uint32_t a, std::uint32_t b) { return registers_[a] < registers_[b]; });
        bool ready = true;
        for (int k = 0; k < count; ++k)
            if (is_inner_[operands[k]] && !done_[operands[k]]) {
                stack.push_back(operands[k]);
                ready = false;
            }
        if (!ready) continue;
        done_[index] = true;
        order_.push_back(index);
        stack.pop_back();
    }
}

}  // namespace bellcrank
