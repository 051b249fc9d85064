#include "derivation/elimination.hpp"

#include <algorithm>
#include <cmath>

namespace bellcrank::symbolic {

namespace {

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

}  // namespace

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

}  // namespace bellcrank::symbolic
