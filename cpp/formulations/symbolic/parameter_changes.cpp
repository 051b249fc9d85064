#include "formulations/symbolic/parameter_changes.hpp"

#include <algorithm>
#include <cmath>

#include "expression/lower.hpp"
#include "matrices/least_squares.hpp"
#include "model/ports.hpp"

namespace bellcrank::symbolic {

namespace {

// Of the largest change of a number: what rounding leaves of it.
constexpr double kRoundingOfChanges = 1e-10;

Program slopes_of(Equations& equations) {
    std::vector<Ref> values;
    for (const Numbers::Followed& one : equations.numbers.followed(equations.model->data().formulas))
        values.push_back(one.value);
    const std::vector<Ref>& parameters = equations.numbers.parameters();
    return lower(equations.graph, derivative(equations.graph, values, parameters), parameters);
}

}  // namespace

ParameterChanges::ParameterChanges(Equations& equations) : numbers_(equations.numbers), slopes_(slopes_of(equations)) {
    for (const Numbers::Followed& one : numbers_.followed(equations.model->data().formulas))
        places_.push_back(number_place(*equations.model, one.array, one.index));
    renew();
}

void ParameterChanges::renew() {
    const auto numbers = static_cast<Eigen::Index>(places_.size()),
               parameters = static_cast<Eigen::Index>(numbers_.parameters().size());
    std::vector<double> out(slopes_.outputs()), work(slopes_.work_size());
    slopes_.evaluate(numbers_.values().data(), out.data(), work.data());
    using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    slope_ = Eigen::Map<const Rows>(out.data(), numbers, parameters);
    from_numbers_.setZero(parameters, numbers);
    if (slope_.size() > 0) from_numbers_ = least_squares(slope_, Eigen::MatrixXd::Identity(numbers, numbers));
}

void ParameterChanges::check(std::span<const NumberPlace> places) const {
    for (const NumberPlace& place : places) {
        const auto is_it = [&](const NumberPlace& one) { return one.array == place.array && one.index == place.index; };
        if (std::ranges::none_of(places_, is_it))
            throw Refusal(
                "formulation 'symbolic' does not implement derivatives by numbers that follow no parameter of the "
                "mechanism");
    }
}

void ParameterChanges::along(const ModelTangent& numbers, std::vector<Four>& out) const {
    check(numbers.changed());
    Eigen::MatrixXd change(places_.size(), kDirections);
    for (size_t i = 0; i < places_.size(); ++i)
        for (int k = 0; k < kDirections; ++k)
            change(static_cast<Eigen::Index>(i), k) = numbers.values(places_[i].array)[places_[i].index].d[k];
    const Eigen::MatrixXd found = from_numbers_ * change, made = slope_ * found;
    if (change.size() > 0 &&
        !((made - change).cwiseAbs().maxCoeff() <= kRoundingOfChanges * change.cwiseAbs().maxCoeff()))
        throw Refusal(
            "formulation 'symbolic' does not implement derivatives along changes of numbers that no parameters make");
    out.resize(count());
    for (int i = 0; i < count(); ++i)
        for (int k = 0; k < kDirections; ++k) out[i][k] = found(i, k);
}

void ParameterChanges::add(std::span<const double> gradient, ModelGradient& by_numbers) const {
    const Eigen::VectorXd by = from_numbers_.transpose() * Eigen::Map<const Eigen::VectorXd>(gradient.data(), count());
    for (size_t i = 0; i < places_.size(); ++i)
        by_numbers[places_[i].array][places_[i].index] += by[static_cast<Eigen::Index>(i)];
}

}  // namespace bellcrank::symbolic
