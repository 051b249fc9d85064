// Kind "waves": functions/waves.hpp. A motion law of a cam, which has no integral here.
#include "functions/waves.hpp"

#include <algorithm>
#include <stdexcept>

namespace bellcrank {

void check_waves(std::span<const double> params) {
    const double count = params.size() > 1 ? params[1] : 0.0, sines = kNumbersOfWave * count;
    if (!(count >= 1.0 && sines < static_cast<double>(params.size())))
        throw std::invalid_argument("waves function: each piece needs an amplitude, an omega and a phase");
    check_pieces(params.first(params.size() - static_cast<size_t>(sines)), 1, "waves");
    if (!std::ranges::all_of(params, [](double v) { return std::isfinite(v); }))
        throw std::invalid_argument("waves function: a parameter is not finite");
}

namespace {

FunctionValue evaluate_waves(std::span<const double> params, double x) { return waves_at(params, x); }

void wave_breaks(std::span<const double> params, double from, double to, std::vector<double>& out) {
    Pieces(params).append_breaks(from, to, out);
}

const FunctionRegistration waves({"waves", evaluate_waves, waves_at<Dual4>, nullptr, check_waves, nullptr, nullptr,
                                  nullptr, wave_breaks});

}  // namespace

}  // namespace bellcrank
