#include "tangents/law_numbers.hpp"

namespace bellcrank {

namespace {

constexpr int kInputs = 3;

// A number that is followed along itself by the lane that is its, if it is one of the four. All lanes are written at
// once: what is written by parts cannot be read as a whole without waiting.
Dual4 seeded(double value, int lane) {
    constexpr Four kUnits[] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
    return {value, 0 <= lane && lane < kDirections ? kUnits[lane] : Four{}};
}

}  // namespace

LawSlopes add_law_numbers(const Model& model, int number, const LawInput<double>& at,
                          const LawFunction<Dual4>& function, double along, std::vector<Dual4>& room,
                          ModelGradient& by_numbers) {
    const Law& law = model.laws[number];
    const int first = model.data().law_param_start[number], count = static_cast<int>(law.params.size());
    double* by_params = by_numbers[NumberArray::law_params].data() + first;
    double inputs[kInputs];
    room.resize(count);
    for (int from = 0; from < kInputs + count; from += kDirections) {
        for (int k = 0; k < count; ++k) room[k] = seeded(law.params[k], kInputs + k - from);
        const LawInput<Dual4> in{seeded(at.value, -from), seeded(at.rate, 1 - from), seeded(at.time, 2 - from)};
        const Four effort = along * law.kind->tangent(in, room, function).d;
        for (int k = 0; k < kDirections && from + k < kInputs + count; ++k) {
            if (from + k < kInputs)
                inputs[from + k] = effort[k];
            else
                by_params[from + k - kInputs] += effort[k];
        }
    }
    return {inputs[0], inputs[1], inputs[2]};
}

}  // namespace bellcrank
