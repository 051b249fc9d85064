#include "tangents/law_numbers.hpp"

namespace bellcrank {

void add_law_numbers(const Model& model, int number, const LawInput<double>& at, const LawFunction<Dual4>& function,
                     double along, std::vector<Dual4>& room, double& by_time, ModelGradient& by_numbers) {
    const Law& law = model.laws[number];
    const int first = model.data().law_param_start[number], count = static_cast<int>(law.params.size());
    for (int from = 0; from <= count; from += kDirections) {
        Dual4 time = at.time;
        room.assign(law.params.begin(), law.params.end());
        for (int k = 0; k < kDirections && from + k <= count; ++k)
            (from + k == 0 ? time : room[from + k - 1]).d[k] = 1.0;
        const Dual4 effort = law.kind->tangent({at.value, at.rate, time}, room, function);
        for (int k = 0; k < kDirections && from + k <= count; ++k)
            (from + k == 0 ? by_time : by_numbers[NumberArray::law_params][first + from + k - 1]) +=
                along * effort.d[k];
    }
}

}  // namespace bellcrank
