#include "formulations/symbolic/couplings.hpp"

#include <string>

#include "expression/derivative.hpp"
#include "formulations/symbolic/formulas.hpp"

namespace bellcrank::symbolic {

namespace {

class Finder {
  public:
    Finder(Graph& graph, const Model& model, const Numbers& numbers, const Plan& plan)
        : graph_(graph), model_(model), numbers_(numbers), plan_(plan) {
        for (size_t c = 0; c < model.coordinates.size(); ++c) {
            out_.symbols.push_back(graph.symbol("coordinate " + std::to_string(c)));
            place_.push_back(place_of(model.coordinates[c]));
        }
        out_.time = graph.symbol("t");
        block_of_.resize(model.rows.size());
        for (size_t b = 0; b < model.blocks.size(); ++b)
            for (int r = model.blocks[b].row_begin; r < model.blocks[b].row_end; ++r)
                block_of_[r] = static_cast<int>(b);
    }

    Couplings run() {
        for (const int row : plan_.closing_rows)
            if (!take(row)) out_.closing_rows.push_back(row);
        return std::move(out_);
    }

  private:
    // Of the joint in the tree whose turn or slide a coordinate is; −1: it is none.
    int place_of(const Coordinate& coordinate) const {
        const std::string& kind = coordinate.kind->name;
        for (size_t k = 0; k < plan_.joints.size(); ++k) {
            const TreeJoint& joint = plan_.joints[k];
            if (joint.pair < 0 || joint.formula >= 0 || joint.pair != coordinate.pair) continue;
            for (int i = 0; i < 3; ++i) {
                const std::string axis(1, "xyz"[i]);
                const auto about = static_cast<Turning>(static_cast<int>(Turning::about_x) + i);
                const bool slides = kind == axis && joint.slides[i] && joint.screw_axis != i;
                if (slides || (kind == "theta_" + axis && joint.turning == about)) return static_cast<int>(k);
            }
        }
        return -1;
    }

    // Whether the row gives a coordinate; the one that comes last in the tree, if it does so linearly.
    bool take(int row) {
        Ref error;
        if (!read(row, error)) return false;
        for (const Coupling& known : out_.found) {
            const Ref symbol = out_.symbols[known.coordinate];
            error = substitute(graph_, std::span(&error, 1), std::span(&symbol, 1), std::span(&known.value, 1))[0];
        }
        const std::vector<Ref> d = derivative(graph_, std::span(&error, 1), out_.symbols, DerivativeForm::forward);
        int last = -1;
        for (size_t c = 0; c < d.size(); ++c) {
            if (graph_.is_constant(d[c]) && graph_.constant_value(d[c]) == 0.0) continue;
            if (place_[c] < 0) return false;
            if (last < 0 || place_[c] > place_[last]) last = static_cast<int>(c);
        }
        if (last < 0 || !graph_.is_constant(d[last])) return false;
        for (size_t c = 0; c < d.size(); ++c)
            if (static_cast<int>(c) != last && place_[c] == place_[last] &&
                !(graph_.is_constant(d[c]) && graph_.constant_value(d[c]) == 0.0))
                return false;
        const Ref symbol = out_.symbols[last], zero = graph_.constant(0.0);
        const Ref rest = substitute(graph_, std::span(&error, 1), std::span(&symbol, 1), std::span(&zero, 1))[0];
        out_.found.push_back({row, last, -graph_.divide(rest, d[last])});
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
            if (place_[c] < 0) return false;
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
            if (place_[c.coordinate] < 0) return false;
            images.emplace_back(c.value, out_.symbols[c.coordinate]);
        }
        const Ref root[1] = {given.rows[number - model_.blocks[block_of_[number]].row_begin]};
        error = brought(formulas, numbers_, graph_, root, std::move(images))[0].ref;
        return given.coordinates.size() > 1;
    }

    Graph& graph_;
    const Model& model_;
    const Numbers& numbers_;
    const Plan& plan_;
    std::vector<int> place_;  // per coordinate of the model
    std::vector<int> block_of_;
    Couplings out_;
};

}  // namespace

Couplings find_couplings(Graph& graph, const Model& model, const Numbers& numbers, const Plan& plan) {
    return Finder(graph, model, numbers, plan).run();
}

}  // namespace bellcrank::symbolic
