#include "expression/instructions.hpp"

#include <stdexcept>
#include <unordered_map>

#include "expression/reach.hpp"
#include "expression/schedule.hpp"
#include "expression/slots.hpp"
#include "interruption/interruption.hpp"

namespace bellcrank {

namespace {

// A value of the program and whether it is the negative of its node.
struct Value {
    std::uint32_t number = kNoValue;
    bool negative = false;
    Value seen_through(Ref r) const { return {number, negative != r.negative()}; }
};

ProgramOp program_op(Op op) {
    switch (op) {
        case Op::square_root:
            return ProgramOp::square_root;
        case Op::tangent:
            return ProgramOp::tangent;
        case Op::arcsine:
            return ProgramOp::arcsine;
        case Op::arccosine:
            return ProgramOp::arccosine;
        case Op::arctangent:
            return ProgramOp::arctangent;
        case Op::arctangent_2:
            return ProgramOp::arctangent_2;
        case Op::hyperbolic_sine:
            return ProgramOp::hyperbolic_sine;
        case Op::hyperbolic_cosine:
            return ProgramOp::hyperbolic_cosine;
        case Op::hyperbolic_tangent:
            return ProgramOp::hyperbolic_tangent;
        case Op::exponential:
            return ProgramOp::exponential;
        case Op::logarithm:
            return ProgramOp::logarithm;
        case Op::power:
            return ProgramOp::power;
        case Op::absolute:
            return ProgramOp::absolute;
        case Op::sign:
            return ProgramOp::sign;
        case Op::minimum:
            return ProgramOp::minimum;
        case Op::maximum:
            return ProgramOp::maximum;
        case Op::floor:
            return ProgramOp::floor;
        case Op::less:
            return ProgramOp::less;
        case Op::less_equal:
            return ProgramOp::less_equal;
        case Op::select:
            return ProgramOp::select;
        default:
            throw std::logic_error("lower: a node that no single operation computes");
    }
}

// One program: given nodes (inputs) and roots.
class Lowering {
  public:
    Lowering(const Graph& graph, std::span<const Ref> roots, std::span<const Ref> inputs)
        : graph_(graph), values_(graph.size()), slots_(static_cast<std::uint32_t>(inputs.size())) {
        std::vector<bool> leaves(graph.size(), false);
        for (std::size_t k = 0; k < inputs.size(); ++k) {
            leaves[inputs[k].index()] = true;
            values_[inputs[k].index()].number = static_cast<std::uint32_t>(k);
        }
        const Schedule schedule(graph, roots, leaves);
        schedule_ = &schedule;
        pair_angles();
        for (const std::uint32_t index : schedule.order()) {
            look_for_interrupts();
            values_[index] = compute(index);
        }
        std::vector<std::uint32_t> outputs;
        for (const Ref root : roots) outputs.push_back(plain(root));
        program_ = slots_.finish(outputs);
        program_.tables = std::move(tables_);
    }

    Program take() { return std::move(program_); }

  private:
    // Sine and cosine of one angle: the one computed first brings the other along.
    void pair_angles() {
        std::unordered_map<std::uint32_t, std::uint32_t> first_of;
        for (const std::uint32_t index : schedule_->order()) {
            const Node& node = graph_.node(index);
            if (node.op != Op::sine && node.op != Op::cosine) continue;
            const auto [found, is_new] = first_of.try_emplace(node.a.bits, index);
            if (!is_new) partner_[found->second] = index;
        }
    }

    Value value_of(Ref r) {
        Value& value = values_[r.index()];
        if (value.number == kNoValue && graph_.is_constant(r)) {
            const double number = graph_.constant_value(r.unsigned_part());
            value.number = slots_.constant(number);
        }
        return value.seen_through(r);
    }

    // The value with its sign, computed where it has none of its own.
    std::uint32_t plain(Ref r) {
        if (graph_.is_constant(r)) return slots_.constant(graph_.constant_value(r));
        const Value value = value_of(r);
        if (!value.negative) return value.number;
        const auto [found, is_new] = negated_.try_emplace(value.number, 0);
        if (is_new) found->second = slots_.emit(ProgramOp::negate, value.number);
        return found->second;
    }

    Value compute(std::uint32_t index) {
        const Node& node = graph_.node(index);
        switch (node.op) {
            case Op::add:
                return sum(index);
            case Op::multiply:
                return product(index);
            case Op::reciprocal: {
                const Value a = value_of(node.a);
                return {slots_.emit(ProgramOp::divide, slots_.constant(1.0), a.number), a.negative};
            }
            case Op::sine:
            case Op::cosine:
                return {angle_function(index), false};
            case Op::table:
                return {slots_.emit(ProgramOp::table, plain(node.a), table(node.function), node.order), false};
            default: {
                std::uint32_t operands[3] = {kNoValue, kNoValue, kNoValue};
                for (int k = 0; k < operand_count(node.op); ++k) operands[k] = plain(operands_of(node)[k]);
                return {slots_.emit(program_op(node.op), operands[0], operands[1], operands[2]), false};
            }
        }
    }

    Value product(std::uint32_t index) {
        const Node& node = graph_.node(index);
        for (const auto& [over, under] : {std::pair(node.a, node.b), std::pair(node.b, node.a)}) {
            if (!schedule_->fused(under.index())) continue;
            const Value top = value_of(over), bottom = value_of(graph_.node(under).a);
            return {slots_.emit(ProgramOp::divide, top.number, bottom.number),
                    (top.negative != bottom.negative) != under.negative()};
        }
        const Value a = value_of(node.a), b = value_of(node.b);
        return {slots_.emit(ProgramOp::multiply, a.number, b.number), a.negative != b.negative};
    }

    Value sum(std::uint32_t index) {
        const Node& node = graph_.node(index);
        const bool flip = schedule_->better_negative(index);
        for (const auto& [inside, other] : {std::pair(node.a, node.b), std::pair(node.b, node.a)}) {
            if (!schedule_->fused(inside.index())) continue;
            const Node& factors = graph_.node(inside);
            const Value a = value_of(factors.a), b = value_of(factors.b), c = value_of(other);
            const bool minus_product = (a.negative != b.negative) != (inside.negative() != flip);
            const bool minus_other = c.negative != flip;
            const ProgramOp op = minus_product
                                     ? (minus_other ? ProgramOp::negate_multiply_sub : ProgramOp::negate_multiply_add)
                                     : (minus_other ? ProgramOp::multiply_sub : ProgramOp::multiply_add);
            return {slots_.emit(op, a.number, b.number, c.number), flip};
        }
        const Value a = value_of(node.a), b = value_of(node.b);
        if (a.negative == b.negative) return {slots_.emit(ProgramOp::add, a.number, b.number), a.negative};
        const bool a_first = a.negative == flip;  // a − b is −node if a is the negative one
        return {slots_.emit(ProgramOp::subtract, a_first ? a.number : b.number, a_first ? b.number : a.number), flip};
    }

    std::uint32_t angle_function(std::uint32_t index) {
        if (values_[index].number != kNoValue) return values_[index].number;
        const Node& node = graph_.node(index);
        const std::uint32_t angle = plain(node.a);
        const auto partner = partner_.find(index);
        if (partner == partner_.end())
            return slots_.emit(node.op == Op::sine ? ProgramOp::sine : ProgramOp::cosine, angle);
        const auto [sine, cosine] = slots_.emit_sine_cosine(angle);
        values_[partner->second].number = node.op == Op::sine ? cosine : sine;
        return node.op == Op::sine ? sine : cosine;
    }

    std::uint32_t table(std::uint16_t function) {
        const auto [found, is_new] = table_numbers_.try_emplace(function, tables_.size());
        if (is_new) tables_.push_back({graph_.table_of(function).kind, graph_.table_of(function).params});
        return static_cast<std::uint32_t>(found->second);
    }

    const Graph& graph_;
    const Schedule* schedule_ = nullptr;
    std::vector<Value> values_;
    SlotProgram slots_;
    std::unordered_map<std::uint32_t, std::uint32_t> partner_, negated_;
    std::unordered_map<std::uint16_t, std::size_t> table_numbers_;
    std::vector<ProgramTable> tables_;
    Program program_;
};

}  // namespace

Program lower_given(const Graph& graph, std::span<const Ref> roots, std::span<const Ref> given) {
    return Lowering(graph, roots, given).take();
}

}  // namespace bellcrank
