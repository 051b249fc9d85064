#include "derivation/couplings.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>

#include "expression/derivative.hpp"

namespace bellcrank::symbolic {

namespace {

// Linear equations between coordinates, solved for the last of their coordinates by pivots.

// A pivot is good from this part of what it was formed from: then it has lost four digits at most. What is left of an
// entry below `kNothing` is rounding.
constexpr double kGoodPivot = 1e-4;
constexpr double kNothing = 1e-12;

// Σ coefficients q + rest = 0.
struct LinearEquation {
    int row;
    std::vector<double> coefficients;  // per coordinate
    std::vector<double> sizes;  // per coordinate, the sum of what the coefficient was formed from, as if none cancelled
    Expression rest;            // of time and parameters
    double rest_size = 0.0;     // likewise, where it is a number
};

struct Eliminated {
    struct Solved {
        LinearEquation equation;
        int coordinate;
    };
    std::vector<Solved> solved;            // by coordinate; each follows from those of higher numbers
    std::vector<LinearEquation> nothing;   // what follows from the others, coefficients zero
    std::vector<LinearEquation> doubtful;  // which neither follow from the others nor have a good pivot
};

bool is_good(const LinearEquation& e, int column) {
    return std::abs(e.coefficients[column]) > kGoodPivot * e.sizes[column];
}

bool is_nothing(const LinearEquation& e, int column) {
    return std::abs(e.coefficients[column]) <= kNothing * e.sizes[column];
}

// Its part of the largest coefficient: the larger, the less the others grow.
double weight(const LinearEquation& e, int column) {
    double largest = 0.0;
    for (const double c : e.coefficients) largest = std::max(largest, std::abs(c));
    return std::abs(e.coefficients[column]) / largest;
}

// Takes so much of the pivot's equation away that the coordinate is left out.
void reduce(LinearEquation& e, const LinearEquation& pivot, int column) {
    if (e.sizes[column] == 0.0) return;
    const double p = pivot.coefficients[column], factor = e.coefficients[column] / p;
    const double size = e.sizes[column] / std::abs(p);
    for (size_t c = 0; c < e.coefficients.size(); ++c) {
        e.coefficients[c] -= factor * pivot.coefficients[c];
        e.sizes[c] += size * pivot.sizes[c];
    }
    e.rest = e.rest - factor * pivot.rest;
    e.rest_size += size * pivot.rest_size;
    e.coefficients[column] = e.sizes[column] = 0.0;
}

// Coordinates are numbered such that each follows from later numbers. The rank is judged entry by entry: by what is
// left of an entry against what it was formed from, so that neither units nor the factor of an equation matter.
Eliminated eliminate(std::vector<LinearEquation> open, int coordinates) {
    Eliminated out;
    for (int column = 0; column < coordinates; ++column) {
        auto best = open.end();
        for (auto e = open.begin(); e != open.end(); ++e)
            if (is_good(*e, column) && (best == open.end() || weight(*e, column) > weight(*best, column))) best = e;
        if (best != open.end()) {
            out.solved.push_back({std::move(*best), column});
            open.erase(best);
            for (LinearEquation& e : open) reduce(e, out.solved.back().equation, column);
            continue;
        }
        for (auto e = open.begin(); e != open.end();) {
            if (is_nothing(*e, column)) {
                e->coefficients[column] = e->sizes[column] = 0.0;
                ++e;
            } else {
                out.doubtful.push_back(std::move(*e));
                e = open.erase(e);
            }
        }
    }
    out.nothing = std::move(open);
    return out;
}

constexpr double kUnknown = std::numeric_limits<double>::infinity();

class Finder {
  public:
    Finder(Graph& graph, const Model& model, const Numbers& numbers, const JointTree& plan)
        : graph_(graph), model_(model), numbers_(numbers), plan_(plan), column_(model.coordinates.size(), -1) {
        for (const TreeJoint& joint : plan.joints)
            for (const JointStep& step : joint.steps()) steps_.emplace_back(&joint, step);
        std::vector<int> built;  // when the tree is built, per coordinate; −1: it is none of the tree's
        for (size_t c = 0; c < model.coordinates.size(); ++c) {
            out_.symbols.push_back(graph.symbol("coordinate " + std::to_string(c)));
            built.push_back(built_at(model.coordinates[c]));
            if (built.back() >= 0) placed_.push_back(static_cast<int>(c));
        }
        std::stable_sort(placed_.begin(), placed_.end(), [&](int a, int b) { return built[a] > built[b]; });
        for (size_t i = 0; i < placed_.size(); ++i) {
            column_[placed_[i]] = static_cast<int>(i);
            columns_.push_back(out_.symbols[placed_[i]]);
        }
        out_.time = graph.symbol("t");
        block_of_.resize(model.rows.size());
        for (size_t b = 0; b < model.blocks.size(); ++b)
            for (int r = model.blocks[b].row_begin; r < model.blocks[b].row_end; ++r)
                block_of_[r] = static_cast<int>(b);
    }

    // First the linear ones together, then the others one by one.
    Couplings run() {
        std::vector<LinearEquation> linear;
        std::vector<std::pair<int, Ref>> others;
        std::set<int> closing;
        for (const int row : plan_.closing_rows) {
            Ref error;
            LinearEquation equation;
            if (!read(row, error))
                closing.insert(row);
            else if (is_linear(row, error, equation))
                linear.push_back(std::move(equation));
            else
                others.emplace_back(row, error);
        }
        Eliminated eliminated = eliminate(std::move(linear), static_cast<int>(placed_.size()));
        for (const Eliminated::Solved& s : eliminated.solved) add(s);
        for (const LinearEquation& e : eliminated.doubtful) closing.insert(e.row);
        for (const LinearEquation& e : eliminated.nothing)
            if (holds(e))
                out_.redundant.push_back(e.row);
            else
                closing.insert(e.row);
        for (const auto& [row, error] : others)
            if (!take(row, error)) closing.insert(row);
        for (const int row : plan_.closing_rows)
            if (closing.contains(row)) out_.closing_rows.push_back(row);
        return std::move(out_);
    }

  private:
    // When the turn or slide that a coordinate is comes into being as the tree is built; −1: it is none of the tree's.
    int built_at(const Coordinate& coordinate) const {
        for (size_t i = 0; i < steps_.size(); ++i) {
            const auto& [joint, step] = steps_[i];
            const JointPart part = part_of(*joint, coordinate);
            const bool turns = step.motion == Motion::turn || step.motion == Motion::screw;
            if (part.kind == JointPart::Kind::slide && step.motion == Motion::slide && step.axis == part.number)
                return static_cast<int>(i);
            if (part.kind == JointPart::Kind::turn && turns && joint->turning != Turning::universal)
                return static_cast<int>(i);
        }
        return -1;
    }

    double number(Ref r) const { return graph_.is_constant(r) ? graph_.constant_value(r) : kUnknown; }

    // Returns derivatives by all coordinates of the tree.
    std::vector<double> gradient(Ref value) {
        std::vector<double> out;
        for (const Ref d : derivative(graph_, std::span(&value, 1), columns_, DerivativeForm::forward))
            out.push_back(number(d));
        return out;
    }

    Ref without(Ref value, const std::vector<Ref>& symbols) {
        const std::vector<Ref> zeros(symbols.size(), graph_.constant(0.0));
        return substitute(graph_, std::span(&value, 1), symbols, zeros)[0];
    }

    bool is_linear(int row, Ref error, LinearEquation& out) {
        out.row = row;
        out.coefficients = gradient(error);
        for (const double c : out.coefficients) {
            if (!std::isfinite(c)) return false;
            out.sizes.push_back(std::abs(c));
        }
        out.rest = {&graph_, without(error, columns_)};
        out.rest_size = std::abs(number(out.rest.ref));
        for (const double c : out.sizes) out.rest_size = std::max(out.rest_size, c);  // at one radian or metre
        return true;
    }

    void add(const Eliminated::Solved& solved) {
        const LinearEquation& e = solved.equation;
        const double pivot = e.coefficients[solved.coordinate];
        Expression value = e.rest / constant(graph_, -pivot);
        for (size_t c = 0; c < placed_.size(); ++c)
            if (static_cast<int>(c) != solved.coordinate && e.coefficients[c] != 0.0)
                value = value - (e.coefficients[c] / pivot) * Expression{&graph_, columns_[c]};
        add(e.row, solved.coordinate, value.ref, e.sizes, pivot);
    }

    // sizes: of what the derivatives of the row were formed from, that by its coordinate being `pivot`.
    void add(int row, int column, Ref value, std::vector<double> sizes, double pivot) {
        for (double& size : sizes) size /= std::abs(pivot);
        out_.found.push_back({row, placed_[column], value});
        solved_.push_back(column);
        sizes_.push_back(std::move(sizes));
    }

    // Whether a row that follows from others is met where they are: else it is left to be seen.
    bool holds(const LinearEquation& e) const {
        const double rest = std::abs(number(e.rest.ref));
        return rest == 0.0 || (std::isfinite(e.rest_size) && rest <= kNothing * e.rest_size);
    }

    // Whether the row gives a coordinate; the one that comes last in the tree, if it does so linearly and by a number
    // that is none of the rounding of those which it was formed from.
    bool take(int row, Ref error) {
        std::vector<double> formed = gradient(error);
        for (double& size : formed) size = std::abs(size);
        for (size_t k = 0; k < out_.found.size(); ++k) {
            const Coupling& known = out_.found[k];
            const double part = formed[solved_[k]];
            if (part == 0.0) continue;
            const Ref symbol = out_.symbols[known.coordinate];
            error = substitute(graph_, std::span(&error, 1), std::span(&symbol, 1), std::span(&known.value, 1))[0];
            for (size_t c = 0; c < formed.size(); ++c)
                if (sizes_[k][c] != 0.0) formed[c] += part * sizes_[k][c];
        }
        const std::vector<double> d = gradient(error);
        size_t last = 0;
        while (last < d.size() && d[last] == 0.0) ++last;
        if (last == d.size() || !std::isfinite(d[last]) || !(std::abs(d[last]) > kGoodPivot * formed[last]))
            return false;
        const Ref value = -graph_.divide(without(error, {columns_[last]}), graph_.constant(d[last]));
        add(row, static_cast<int>(last), value, std::move(formed), d[last]);
        return true;
    }

    // The error of a row that speaks of turns and slides of the tree alone.
    bool read(int number, Ref& error) const {
        const Row& row = model_.rows[number];
        const int formula = model_.formula_of_block[block_of_[number]];
        if (formula >= 0) return read_formula(number, formula, error);
        if (row.function >= 0 || row.term_begin == row.term_end) return false;
        Expression sum = -numbers_.number("row_constant", number, row.constant);
        for (int t = row.term_begin; t < row.term_end; ++t) {
            const int c = model_.terms[t].coordinate;
            if (column_[c] < 0) return false;
            sum = sum + numbers_.number("term_coefficient", t, model_.terms[t].coefficient) *
                            Expression{&graph_, out_.symbols[c]};
        }
        error = sum.ref;
        return row.term_end > row.term_begin + 1;
    }

    bool read_formula(int number, int formula, Ref& error) const {
        const Formulas& formulas = model_.data().formulas;
        const ConstraintFormula& given = formulas.constraints[formula];
        if (given.of_velocity || !given.markers.empty()) return false;
        Images images{{formulas.time, out_.time}};
        for (const CoordinateSymbols& c : given.coordinates) {
            if (column_[c.coordinate] < 0) return false;
            images.emplace_back(c.value, out_.symbols[c.coordinate]);
        }
        const Ref root[1] = {given.rows[number - model_.blocks[block_of_[number]].row_begin]};
        error = brought(formulas, numbers_, graph_, root, std::move(images))[0].ref;
        return given.coordinates.size() > 1;
    }

    Graph& graph_;
    const Model& model_;
    const Numbers& numbers_;
    const JointTree& plan_;
    std::vector<std::pair<const TreeJoint*, JointStep>> steps_;  // of the tree, as it is built
    std::vector<int> column_;   // per coordinate of the model, −1: it is none of the tree's
    std::vector<int> placed_;   // their coordinates, those of the tree's end first
    std::vector<Ref> columns_;  // their symbols
    std::vector<int> block_of_;
    std::vector<int> solved_;                 // per coupling found: its column
    std::vector<std::vector<double>> sizes_;  // and what the derivatives of its value were formed from
    Couplings out_;
};

}  // namespace

Couplings find_couplings(Graph& graph, const Model& model, const Numbers& numbers, const JointTree& plan) {
    return Finder(graph, model, numbers, plan).run();
}

}  // namespace bellcrank::symbolic
