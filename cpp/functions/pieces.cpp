#include "functions/pieces.hpp"

#include <stdexcept>

namespace bellcrank {

namespace {

bool whole_number(double v, double low, double high) { return v >= low && v <= high && v == std::floor(v); }

}  // namespace

void check_pieces(std::span<const double> params, int sets, const std::string& kind) {
    const auto fault = [&kind](const std::string& what) { throw std::invalid_argument(kind + " function: " + what); };
    if (params.size() < 3) fault("the parameters start with order, pieces, extrapolation");
    if (!whole_number(params[0], 1, 64)) fault("order " + std::to_string(params[0]) + " is not in 1..64");
    if (!whole_number(params[1], 1, 1e8)) fault("number of pieces " + std::to_string(params[1]) + " is not positive");
    if (!whole_number(params[2], 0, 2))
        fault("extrapolation " + std::to_string(params[2]) + " is none of 0 hold, 1 linear, 2 periodic");
    const auto order = static_cast<std::size_t>(params[0]), pieces = static_cast<std::size_t>(params[1]);
    const std::size_t expected = 3 + pieces + 1 + static_cast<std::size_t>(sets) * pieces * order;
    if (params.size() != expected)
        fault("order " + std::to_string(order) + " and " + std::to_string(pieces) + " pieces need " +
              std::to_string(expected) + " parameters, " + std::to_string(params.size()) + " given");
    for (const double v : params)
        if (!std::isfinite(v)) fault("a parameter is not finite");
    for (std::size_t i = 0; i < pieces; ++i)
        if (!(params[3 + i] < params[4 + i]))
            fault("break " + std::to_string(i + 1) + " at " + std::to_string(params[4 + i]) +
                  " does not exceed the one before it");
}

}  // namespace bellcrank
