// A program while it is written, over values of which each is computed once, and its slots at the end.
#include "expression/lower.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

#include "expression/graph.hpp"
#include "expression/reach.hpp"
#include "expression/schedule.hpp"
#include "interruption/interruption.hpp"
#include "programs/program.hpp"

namespace bellcrank {

inline constexpr std::uint32_t kNoValue = 0xffffffff;

class SlotProgram {
  public:
    // Values 0 … inputs − 1 are the inputs.
    explicit SlotProgram(std::uint32_t inputs) : inputs_(inputs) {}

    // The value of a constant; equal ones are one (0 and −0 are not).
    std::uint32_t constant(double value);
    // The value that the operation computes. b of a table is its number and c the derivative, as in Instruction.
    std::uint32_t emit(ProgramOp op, std::uint32_t a, std::uint32_t b = kNoValue, std::uint32_t c = kNoValue);
    std::pair<std::uint32_t, std::uint32_t> emit_sine_cosine(std::uint32_t a);

    // Slots by linear scan: a slot is free again after its value's last use.
    Program finish(std::span<const std::uint32_t> outputs) const;

  private:
    static constexpr std::uint32_t kConstant = 0x80000000;  // values from here on are constants
    bool is_computed(std::uint32_t value) const { return value >= inputs_ && value < kConstant; }
    std::uint32_t new_value() { return inputs_ + computed_++; }

    std::uint32_t inputs_, computed_ = 0;
    std::vector<double> constants_;
    std::unordered_map<std::uint64_t, std::uint32_t> constant_of_;
    std::vector<Instruction> steps_;  // over values
};

std::uint32_t SlotProgram::constant(double value) {
    const auto number = static_cast<std::uint32_t>(constants_.size());
    const auto [found, is_new] = constant_of_.try_emplace(std::bit_cast<std::uint64_t>(value), kConstant + number);
    if (is_new) constants_.push_back(value);
    return found->second;
}

std::uint32_t SlotProgram::emit(ProgramOp op, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    const std::uint32_t value = new_value();
    steps_.push_back({op, value, a, b == kNoValue ? a : b, c == kNoValue ? a : c});
    return value;
}

std::pair<std::uint32_t, std::uint32_t> SlotProgram::emit_sine_cosine(std::uint32_t a) {
    const std::uint32_t sine = new_value(), cosine = new_value();
    steps_.push_back({ProgramOp::sine_cosine, sine, a, a, cosine});
    return {sine, cosine};
}

Program SlotProgram::finish(std::span<const std::uint32_t> outputs) const {
    Program program;
    program.inputs = static_cast<int>(inputs_);
    program.constants = constants_;
    const std::uint32_t first = program.first_working();

    constexpr std::uint32_t kToTheEnd = 0xffffffff;
    std::vector<std::uint32_t> last_use(computed_, 0);
    for (std::uint32_t i = 0; i < steps_.size(); ++i) {
        look_for_interrupts();
        const std::array<std::uint32_t, 3> operands = {steps_[i].a, steps_[i].b, steps_[i].c};
        for (int k = 0; k < op_operands(steps_[i].op); ++k)
            if (is_computed(operands[k])) last_use[operands[k] - inputs_] = i;
    }
    for (const std::uint32_t value : outputs)
        if (is_computed(value)) last_use[value - inputs_] = kToTheEnd;

    std::vector<std::uint32_t> slot_of(computed_), free_slots;
    std::uint32_t used = 0;
    const auto slot = [&](std::uint32_t value) {
        if (value < inputs_) return value;
        return value < kConstant ? slot_of[value - inputs_] : inputs_ + (value - kConstant);
    };
    const auto take = [&](std::uint32_t value, std::uint32_t at) {
        std::uint32_t& chosen = slot_of[value - inputs_];
        if (free_slots.empty()) {
            chosen = first + used++;
        } else {
            chosen = free_slots.back();
            free_slots.pop_back();
        }
        return std::pair(chosen, last_use[value - inputs_] <= at);
    };

    program.instructions.reserve(steps_.size());
    for (std::uint32_t i = 0; i < steps_.size(); ++i) {
        look_for_interrupts();
        Instruction step = steps_[i];
        const std::array<std::uint32_t, 3> operands = {step.a, step.b, step.c};
        const int count = op_operands(step.op);
        step.a = slot(operands[0]);
        if (step.op != ProgramOp::table) step.b = slot(operands[1]);
        if (step.op != ProgramOp::table && step.op != ProgramOp::sine_cosine) step.c = slot(operands[2]);
        for (int k = 0; k < count; ++k) {
            const bool again = (k > 0 && operands[k] == operands[0]) || (k > 1 && operands[k] == operands[1]);
            if (!again && is_computed(operands[k]) && last_use[operands[k] - inputs_] == i)
                free_slots.push_back(slot(operands[k]));
        }
        const auto [out, unused] = take(steps_[i].out, i);
        step.out = out;
        if (step.op == ProgramOp::sine_cosine) {
            const auto [cosine, cosine_unused] = take(steps_[i].c, i);
            step.c = cosine;
            if (cosine_unused) free_slots.push_back(cosine);
        }
        if (unused) free_slots.push_back(out);
        program.instructions.push_back(step);
    }
    program.slots = static_cast<int>(first + used);
    for (const std::uint32_t value : outputs) program.outputs.push_back(slot(value));
    return program;
}

// One program from the graph: what lower() is made of.

// The roots as functions of the given nodes, which are symbols or any others.
Program lower_given(const Graph& graph, std::span<const Ref> roots, std::span<const Ref> given);

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

namespace {

// For every node: whether it depends on an input, and whether it depends on a parameter.
struct Dependence {
    std::vector<bool> input, parameter;
};

void check_symbols(const Graph& graph, std::span<const Ref> symbols, std::vector<bool>& seen) {
    for (const Ref symbol : symbols) {
        if (graph.node(symbol).op != Op::symbol || symbol.negative())
            throw std::invalid_argument("an input of a function must be a symbol, not an expression");
        if (seen[symbol.index()])
            throw std::invalid_argument("the symbol '" + graph.symbol_of(symbol).name + "' is given twice");
        seen[symbol.index()] = true;
    }
}

Dependence dependence(const Graph& graph, std::span<const std::uint32_t> nodes, std::span<const Ref> inputs,
                      std::span<const Ref> parameters) {
    std::vector<bool> seen(graph.size(), false);
    check_symbols(graph, inputs, seen);
    check_symbols(graph, parameters, seen);
    Dependence result{std::vector<bool>(graph.size(), false), std::vector<bool>(graph.size(), false)};
    for (const Ref symbol : inputs) result.input[symbol.index()] = true;
    for (const Ref symbol : parameters) result.parameter[symbol.index()] = true;

    std::string missing, alike;
    for (const std::uint32_t index : nodes) {
        const Node& node = graph.node(index);
        if (node.op == Op::symbol && !seen[index]) {
            const std::string& name = graph.symbol_of(Ref(index, false)).name;
            missing += (missing.empty() ? "'" : ", '") + name + "'";
            for (const Ref input : inputs)
                if (graph.symbol_of(input).name == name)
                    alike = "; '" + name + "' is also the name of an input, which is another symbol";
        }
        for (int k = 0; k < operand_count(node.op); ++k) {
            const std::uint32_t operand = operands_of(node)[k].index();
            if (result.input[operand]) result.input[index] = true;
            if (result.parameter[operand]) result.parameter[index] = true;
        }
    }
    if (!missing.empty())
        throw std::invalid_argument("the outputs depend on symbols that are no inputs: " + missing + alike);
    return result;
}

}  // namespace

Program lower(const Graph& graph, std::span<const Ref> roots, std::span<const Ref> inputs) {
    dependence(graph, graph.reachable(roots), inputs, {});
    return lower_given(graph, roots, inputs);
}

LoweredParts lower(const Graph& graph, std::span<const Ref> roots, std::span<const Ref> inputs,
                   std::span<const Ref> parameters) {
    const std::vector<std::uint32_t> nodes = graph.reachable(roots);
    const Dependence on = dependence(graph, nodes, inputs, parameters);

    // What depends on parameters only and is used by something that depends on inputs, or is asked for itself.
    std::vector<bool> taken(graph.size(), false);
    std::vector<Ref> hoisted;
    const auto use = [&](std::uint32_t index) {
        if (!on.parameter[index] || on.input[index] || taken[index]) return;
        taken[index] = true;
        hoisted.push_back(Ref(index, false));
    };
    for (const std::uint32_t index : nodes) {
        const Node& node = graph.node(index);
        for (int k = 0; on.input[index] && k < operand_count(node.op); ++k) use(operands_of(node)[k].index());
    }
    for (const Ref root : roots) use(root.index());

    std::vector<Ref> given(inputs.begin(), inputs.end());
    given.insert(given.end(), hoisted.begin(), hoisted.end());
    return {lower_given(graph, hoisted, parameters), lower_given(graph, roots, given)};
}

OperationCount count_operations(const Program& program) {
    OperationCount count;
    for (const Instruction& step : program.instructions) switch (step.op) {
            case ProgramOp::copy:
            case ProgramOp::negate:
                break;
            case ProgramOp::add:
            case ProgramOp::subtract:
                ++count.additions;
                break;
            case ProgramOp::multiply:
                ++count.multiplications;
                break;
            case ProgramOp::multiply_add:
            case ProgramOp::multiply_sub:
            case ProgramOp::negate_multiply_add:
            case ProgramOp::negate_multiply_sub:
                ++count.additions;
                ++count.multiplications;
                break;
            case ProgramOp::divide:
                ++count.divisions;
                break;
            case ProgramOp::sine:
            case ProgramOp::cosine:
                ++count.trigonometric;
                break;
            case ProgramOp::sine_cosine:
                count.trigonometric += 2;
                break;
            default:
                ++count.other;
        }
    return count;
}

}  // namespace bellcrank
