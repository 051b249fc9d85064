#include "formulations/recursive/efforts_tangent.hpp"

#include <algorithm>

#include "tangents/law_numbers.hpp"

namespace bellcrank::recursive {

Four EffortsTangent::change(const JointEffort& e, const Point& at, const Four& of_time, const Four& dx, const Four& du,
                            const ModelTangent& numbers) const {
    const int number = static_cast<int>(e.law - model_.laws.data());
    const LawInput<Dual4> in{{at.x[e.x], dx}, {at.u[e.u], du}, {at.t, of_time}};
    return e.law->kind->tangent(in, numbers.law_params(number), numbers.function_of(*e.law)).d;
}

void EffortsTangent::along(const Point& at, const Four& of_time, const Four* dx, const Four* du,
                           const ModelTangent& numbers, Four* out) const {
    for (const JointEffort& e : efforts_.list()) out[e.u] += change(e, at, of_time, dx[e.u], du[e.u], numbers);
}

void EffortsTangent::transposed(const Point& at, const double* y, std::span<const NumberPlace> further, double& by_t,
                                double* by_x, double* by_u, ModelGradient& by_numbers) {
    if (efforts_.list().empty()) return;
    unit_numbers_.change({});
    for (const JointEffort& e : efforts_.list()) {
        const int number = static_cast<int>(e.law - model_.laws.data());
        const LawSlopes by = add_law_numbers(model_, number, {at.x[e.x], at.u[e.u], at.t},
                                             unit_numbers_.function_of(*e.law), y[e.u], law_numbers_, by_numbers);
        by_x[e.u] += by.value;
        by_u[e.u] += by.rate;
        by_t += by.time;
    }
    for (const NumberPlace& place : further) {
        if (place.array != NumberArray::function_params) continue;
        unit_numbers_.change(std::vector<ModelTangent::Change>{{place, {1.0, 0.0, 0.0, 0.0}}});
        for (const JointEffort& e : efforts_.list())
            if (e.law->function >= 0)
                by_numbers[place.array][place.index] +=
                    y[e.u] * change(e, at, Four{}, Four{}, Four{}, unit_numbers_)[0];
    }
}

}  // namespace bellcrank::recursive
