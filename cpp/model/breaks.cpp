#include "model/breaks.hpp"

namespace bellcrank {

namespace {

// The function of other laws is one of their coordinate.
bool is_of_time(const Law& law) { return law.kind->name != "table" && law.kind->name != "one_sided"; }

}  // namespace

void append_break_times(const Model& model, double from, double to, std::vector<double>& out) {
    const auto append = [&](int function) {
        if (function >= 0) model.functions[function].jumps(from, to, out);
    };
    for (const Row& row : model.rows) append(row.function);
    for (const Law& law : model.laws)
        if (is_of_time(law)) append(law.function);
    for (const Wrench& wrench : model.wrenches)
        for (const int function : wrench.function) append(function);
}

}  // namespace bellcrank
