#include "model/propagated_turns.hpp"

#include <algorithm>
#include <cmath>

namespace bellcrank {

namespace {

using Relation = TurnProblem::Relation;

int undecided_in(const Relation& relation, const std::vector<char>& decided, int& which) {
    int count = 0;
    for (const auto& [angle, coefficient] : relation.terms)
        if (!decided[angle] && angle != which) ++count, which = angle;
    return count;
}

// By how much an angle is slower than the fastest one of a relation.
double slowness(const std::vector<Relation>& relations, int angle) {
    double most = 0.0;
    for (const Relation& relation : relations) {
        double own = 0.0, least = HUGE_VAL;
        for (const auto& [other, coefficient] : relation.terms) {
            if (other == angle) own = std::abs(coefficient);
            least = std::min(least, std::abs(coefficient));
        }
        most = std::max(most, own / least);
    }
    return most;
}

struct Next {
    int relation = -1, angle = -1;
    bool follows = false;  // from prescribed values alone
};

// A relation with one angle left to decide, one that follows from prescribed values first.
Next next_relation(const std::vector<Relation>& relations, const std::vector<char>& decided,
                   const std::vector<char>& stated) {
    Next found;
    for (size_t i = 0; i < relations.size() && !found.follows; ++i) {
        int which = -1;
        if (undecided_in(relations[i], decided, which) != 1) continue;
        const bool all = relations[i].stated && std::ranges::all_of(relations[i].terms, [&](const auto& term) {
                             return term.first == which || stated[term.first];
                         });
        if (found.relation < 0 || all) found = {static_cast<int>(i), which, all};
    }
    return found;
}

}  // namespace

std::vector<double> propagated_turns(const std::vector<Relation>& relations, const std::vector<double>& start,
                                     const std::vector<double>& low, const std::vector<double>& high) {
    const int n = static_cast<int>(start.size());
    std::vector<char> decided(n, 0), stated(n, 0);
    std::vector<double> value = start, turns(n, 0.0);
    for (int left = n; left > 0; --left) {
        const Next next = next_relation(relations, decided, stated);
        if (next.relation < 0) {
            int slowest = -1;
            for (int j = 0; j < n; ++j)
                if (!decided[j] && (slowest < 0 || slowness(relations, j) > slowness(relations, slowest))) slowest = j;
            decided[slowest] = 1;
            continue;
        }
        const int j = next.angle;
        double sum = relations[next.relation].rest, own = 0.0;
        for (const auto& [other, coefficient] : relations[next.relation].terms)
            other == j ? own += coefficient : sum += coefficient * value[other];
        const double target = own == 0.0 ? value[j] : -sum / own;
        turns[j] = std::clamp(std::round((target - start[j]) / kWholeTurn), low[j], high[j]);
        if (!(std::abs(turns[j]) <= kMostTurns)) turns[j] = 0.0;
        value[j] = next.follows ? target : start[j] + kWholeTurn * turns[j];
        decided[j] = 1, stated[j] = next.follows;
    }
    return turns;
}

}  // namespace bellcrank
