#include "derivation/numbers.hpp"

#include <cmath>

#include "expression/part.hpp"

namespace bellcrank::symbolic {

Numbers::Numbers(Graph& graph, std::shared_ptr<const ParametricNumbers> parametric)
    : graph_(graph), given_(std::move(parametric)) {
    if (given_ == nullptr) return;
    std::vector<std::pair<Ref, Ref>> images;
    for (const Ref parameter : given_->parameters) {
        const Symbol& symbol = given_->graph->symbol_of(parameter);
        parameters_.push_back(graph_.symbol(symbol.name, symbol.range));
        images.emplace_back(parameter, parameters_.back());
    }
    values_ = given_->values;
    std::vector<Ref> formulas;
    for (const ParametricNumbers::Entry& entry : given_->entries) formulas.push_back(entry.formula);
    const std::vector<Ref> here = transfer(*given_->graph, formulas, graph_, images);
    for (size_t i = 0; i < here.size(); ++i) entries_[given_->entries[i].array][given_->entries[i].index] = here[i];
}

Expression Numbers::number(const char* array, int index, double value) const {
    if (const auto list = entries_.find(std::string_view(array)); list != entries_.end())
        if (const auto found = list->second.find(index); found != list->second.end()) return {&graph_, found->second};
    return constant(graph_, value);
}

Vector Numbers::vector(const char* array, int index, const Vec3& value) const {
    return {number(array, index, value.x), number(array, index + 1, value.y), number(array, index + 2, value.z)};
}

Matrix Numbers::rotation(const char* array, int index, const Quat& value) const {
    if (!follows(array, index, 4)) return matrix(graph_, clean_matrix(value));
    const Expression w = number(array, index, value.w), x = number(array, index + 1, value.x),
                     y = number(array, index + 2, value.y), z = number(array, index + 3, value.z);
    const Expression length = sqrt(w * w + x * x + y * y + z * z);
    return rotation_matrix(QuatT<Expression>{w / length, x / length, y / length, z / length});
}

bool Numbers::follows(const char* array, int index, int count) const {
    const auto list = entries_.find(std::string_view(array));
    if (list == entries_.end()) return false;
    const auto first = list->second.lower_bound(index);
    return first != list->second.end() && first->first < index + count;
}

void Numbers::steer(const ModelData& data) {
    if (given_ == nullptr) return;
    for (const ParametricNumbers::Steered& s : given_->steered)
        values_[s.parameter] =
            s.formula_value < 0 ? data.function_params[s.function_param] : data.formulas.values[s.formula_value];
}

std::vector<Numbers::Followed> Numbers::followed(const Formulas& formulas) const {
    std::vector<Followed> out;
    for (const auto& [array, list] : entries_)
        for (const auto& [index, value] : list) out.push_back({array, index, value});
    Ref value;
    for (size_t i = 0; i < formulas.parameters.size(); ++i)
        if (image(formulas.graph->symbol_of(formulas.parameters[i]), value))
            out.push_back({"formula_values", static_cast<int>(i), value});
    return out;
}

bool Numbers::image(const Symbol& symbol, Ref& out) const {
    for (size_t i = 0; i < parameters_.size(); ++i)
        if (given_->graph->symbol_of(given_->parameters[i]) == symbol) {
            out = parameters_[i];
            return true;
        }
    return false;
}

Mat3 clean_matrix(const Quat& q) {
    Mat3 R = rotation_matrix(q);
    for (double& m : R.m)
        if (std::abs(m) < 4e-15) m = 0.0;
    return R;
}

std::vector<Expression> brought(const Formulas& formulas, const Numbers& numbers, Graph& graph,
                                std::span<const Ref> roots, Images images) {
    for (size_t i = 0; i < formulas.parameters.size(); ++i) {
        Ref image;
        if (!numbers.image(formulas.graph->symbol_of(formulas.parameters[i]), image))
            image = graph.constant(formulas.values[i]);
        images.emplace_back(formulas.parameters[i], image);
    }
    std::vector<Expression> out;
    for (const Ref r : transfer(*formulas.graph, roots, graph, images)) out.push_back({&graph, r});
    return out;
}

JointTransform transform_of(const Formulas& formulas, const JointFormula& joint, const Numbers& numbers, Graph& graph,
                            const Images& images, bool reversed) {
    std::vector<Ref> roots(joint.rotation.begin(), joint.rotation.end());
    roots.insert(roots.end(), joint.position.begin(), joint.position.end());
    const std::vector<Expression> e = brought(formulas, numbers, graph, roots, images);
    JointTransform out;
    for (int i = 0; i < 9; ++i) out.rotation.m[i] = e[i];
    out.position = {e[9], e[10], e[11]};
    if (!reversed) return out;
    const Matrix R = out.rotation;
    out.position = -transpose_times(R, out.position);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) out.rotation.m[3 * i + j] = R.m[3 * j + i];
    return out;
}

}  // namespace bellcrank::symbolic
