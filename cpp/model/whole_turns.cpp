// With φ = φ₀ + 2πk, relations C φ + d = 0 ask for whole numbers k with C k = b, b = −(d + C φ₀)/2π. Elimination leaves
// r of them as functions of the others, k_p = β_p + α_p·k_f, and what is sought are the k_f for which all k_p are
// whole. They are enumerated by the size of all turns,
//   |k|² = |k_f|² + Σ (β_p + α_p·k_f)² = s₀ + |U (k_f − c)|²,   UᵀU = 1 + Σ α_p α_pᵀ,
// inside of ellipsoids that grow (U. Fincke, M. Pohst, 1985). The coarser a fit, the fewer are tried: of many turns one
// fits by chance, and a relation with an irrational ratio is satisfied as nearly as wanted by enough of them.
#include "model/whole_turns.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

namespace bellcrank {

// Linear relations solved for as many of their unknowns as they determine.

// Row i is  x[pivots[i]] + Σ rows[i][j] x[j] = rows[i][n]  with j in free.
struct SolvedRelations {
    std::vector<std::vector<double>> rows;
    std::vector<int> pivots, free;
};

// Solves rows  Σ row[j] x[j] = row[n]  of n unknowns, by Gauss and Jordan with the largest pivots. Nothing if rows
// contradict each other by more than a tolerance.
std::optional<SolvedRelations> solved_relations(std::vector<std::vector<double>> rows, int n, double tolerance);

namespace {

constexpr double kNothing = 1e-9;  // part of a row's largest coefficient below which nothing is left of it

struct Pivot {
    size_t row;
    int column;
};

// The largest entry of rows k and after in columns that are free; column −1 if nothing is left of these rows.
Pivot largest_entry(const std::vector<std::vector<double>>& rows, size_t k, const std::vector<char>& is_pivot) {
    Pivot found{k, -1};
    double largest = kNothing;
    for (size_t r = k; r < rows.size(); ++r)
        for (size_t j = 0; j < is_pivot.size(); ++j)
            if (!is_pivot[j] && std::abs(rows[r][j]) > largest)
                largest = std::abs(rows[r][j]), found = {r, static_cast<int>(j)};
    return found;
}

}  // namespace

std::optional<SolvedRelations> solved_relations(std::vector<std::vector<double>> rows, int n, double tolerance) {
    SolvedRelations found;
    std::vector<char> is_pivot(n, 0);
    for (size_t k = 0; k < rows.size(); ++k) {
        const Pivot best = largest_entry(rows, k, is_pivot);
        if (best.column < 0) {
            for (size_t r = k; r < rows.size(); ++r)
                if (std::abs(rows[r][n]) > tolerance) return std::nullopt;
            rows.resize(k);
            break;
        }
        std::swap(rows[k], rows[best.row]);
        std::vector<double>& row = rows[k];
        const double pivot = row[best.column];
        for (double& entry : row) entry /= pivot;
        for (size_t r = 0; r < rows.size(); ++r) {
            const double factor = rows[r][best.column];
            if (r == k || factor == 0.0) continue;
            for (int j = 0; j <= n; ++j) rows[r][j] -= factor * row[j];
            rows[r][best.column] = 0.0;
        }
        is_pivot[best.column] = 1;
        found.pivots.push_back(best.column);
    }
    for (int j = 0; j < n; ++j)
        if (!is_pivot[j]) found.free.push_back(j);
    found.rows = std::move(rows);
    return found;
}

namespace {

constexpr double kSlack = 1e-6;   // rad by which an angle may be beyond a bound that it is placed at
constexpr double kMended = 0.35;  // rad, likewise where whole turns fit between the bounds: less than to turn once
struct Fit {
    double tolerance;  // of a relation, relative to the sum of its coefficients [rad]
    int tries;
};
constexpr Fit kFits[] = {{1e-8, 100'000}, {1e-5, 300}, {3e-3, 5}};
constexpr double kContradiction = 3e-3;  // turns
constexpr size_t kLargest = 400;         // relations that are solved together; of more, values propagate

// The turns that bring an angle within its bounds, or nearest to them.
struct TurnRange {
    double low, high;
};

TurnRange turns_within(const TurnProblem::Angle& a) {
    const double slack = a.high - a.low < kWholeTurn ? kSlack : kMended;
    TurnRange turns{std::ceil((a.low - a.value - slack) / kWholeTurn),
                    std::floor((a.high - a.value + slack) / kWholeTurn)};
    if (turns.low <= turns.high) return turns;
    // None: one turn ends below, the next one begins above.
    const double below = a.low - (a.value + kWholeTurn * turns.high), above = a.value + kWholeTurn * turns.low - a.high;
    const double nearest = below < above ? turns.high : turns.low;
    return {nearest, nearest};
}

// Angles that relations connect.
class ConnectedAngles {
  public:
    // place: room for a number by angle of the problem.
    ConnectedAngles(TurnProblem& problem, std::vector<int> angles, const std::vector<int>& relations,
                    std::vector<int>& place);
    void solve();

  private:
    bool eliminate();
    void weigh();
    bool fits(const Fit& fit);
    void enumerate(int level, double room);
    void take();
    bool satisfied() const;

    TurnProblem& problem_;
    std::vector<int> angles_;
    std::vector<TurnProblem::Relation> relations_;  // with angles by their place in angles_
    int n_;
    std::vector<double> start_, low_, high_;    // by angle: value [rad]; turns from there
    std::vector<std::vector<double>> reduced_;  // relations after elimination, by angle; then β
    std::vector<int> pivot_, free_;             // angles; pivot_ by row of reduced_
    std::vector<double> upper_, centre_;        // U, row by row; c
    double least_ = 0.0;                        // s₀
    std::vector<double> turns_, best_;
    double best_turns_ = 0.0, best_size_ = 0.0, tolerance_ = 0.0;
    int tried_ = 0, most_ = 0;
    bool found_ = false;
};

// Angles start within their bounds: the turns that bring them there are needed anyway.
ConnectedAngles::ConnectedAngles(TurnProblem& problem, std::vector<int> angles, const std::vector<int>& relations,
                                 std::vector<int>& place)
    : problem_(problem),
      angles_(std::move(angles)),
      n_(static_cast<int>(angles_.size())),
      start_(n_),
      low_(n_),
      high_(n_),
      turns_(n_, 0.0) {
    for (int i = 0; i < n_; ++i) {
        const TurnProblem::Angle& a = problem_.angles[angles_[i]];
        const TurnRange within = turns_within(a);
        const double first = std::clamp(0.0, within.low, within.high);
        place[angles_[i]] = i;
        start_[i] = a.value + kWholeTurn * first;
        low_[i] = within.low - first, high_[i] = within.high - first;
    }
    for (const int r : relations) {
        relations_.push_back(problem.relations[r]);
        for (auto& term : relations_.back().terms) term.first = place[term.first];
    }
}

void ConnectedAngles::solve() {
    tolerance_ = kFits[0].tolerance;
    if (satisfied()) {
        found_ = true, best_ = turns_;
    } else if (relations_.size() <= kLargest && eliminate()) {
        weigh();
        for (const Fit& fit : kFits)
            if (fits(fit)) break;
    }
    if (!found_) best_ = propagated_turns(relations_, start_, low_, high_);
    for (int i = 0; i < n_; ++i) problem_.angles[angles_[i]].value = start_[i] + kWholeTurn * best_[i];
}

// False if the relations contradict each other.
bool ConnectedAngles::eliminate() {
    std::vector<std::vector<double>> rows;
    for (const TurnProblem::Relation& relation : relations_) {
        std::vector<double> row(n_ + 1, 0.0);
        double largest = 0.0;
        row[n_] = -relation.rest / kWholeTurn;
        for (const auto& [angle, coefficient] : relation.terms) {
            row[angle] += coefficient;
            row[n_] -= coefficient * start_[angle] / kWholeTurn;
            largest = std::max(largest, std::abs(coefficient));
        }
        for (double& entry : row) entry /= largest;
        rows.push_back(std::move(row));
    }
    std::optional<SolvedRelations> solved = solved_relations(std::move(rows), n_, kContradiction);
    if (!solved) return false;
    reduced_ = std::move(solved->rows), pivot_ = std::move(solved->pivots), free_ = std::move(solved->free);
    return true;
}

// U, c and s₀.
void ConnectedAngles::weigh() {
    const int f = static_cast<int>(free_.size());
    std::vector<double> q(f * f, 0.0), g(f, 0.0);
    least_ = 0.0;
    for (int i = 0; i < f; ++i) q[i * f + i] = 1.0;
    for (const std::vector<double>& row : reduced_) {
        least_ += row[n_] * row[n_];
        for (int i = 0; i < f; ++i) {
            g[i] -= row[free_[i]] * row[n_];  // α is minus the reduced row
            for (int j = 0; j < f; ++j) q[i * f + j] += row[free_[i]] * row[free_[j]];
        }
    }
    upper_.assign(f * f, 0.0);
    for (int i = 0; i < f; ++i)
        for (int j = i; j < f; ++j) {
            double sum = q[i * f + j];
            for (int k = 0; k < i; ++k) sum -= upper_[k * f + i] * upper_[k * f + j];
            upper_[i * f + j] = i == j ? std::sqrt(std::max(sum, 1e-12)) : sum / upper_[i * f + i];
        }
    centre_.assign(f, 0.0);
    for (int i = 0; i < f; ++i) {  // Uᵀ y = −g
        double sum = -g[i];
        for (int k = 0; k < i; ++k) sum -= upper_[k * f + i] * centre_[k];
        centre_[i] = sum / upper_[i * f + i];
        least_ -= centre_[i] * centre_[i];
    }
    for (int i = f - 1; i >= 0; --i) {  // U c = y
        for (int j = i + 1; j < f; ++j) centre_[i] -= upper_[i * f + j] * centre_[j];
        centre_[i] /= upper_[i * f + i];
    }
    least_ = std::max(least_, 0.0);
}

// Whether some turns fit that well; best_ then has the fewest of those that were tried.
bool ConnectedAngles::fits(const Fit& fit) {
    tolerance_ = fit.tolerance;
    most_ = fit.tries;
    tried_ = 0;
    for (double room = 1.0 + 0.5 * n_; tried_ < most_ && room < kMostTurns * kMostTurns; room *= 2.0) {
        enumerate(static_cast<int>(free_.size()) - 1, room);
        if (!found_ && free_.empty()) return false;
        if (!found_) continue;
        // Fewer turns in sum than these have squares whose sum is at most this.
        const double enough = best_turns_ * best_turns_ - least_ + kSlack * (1.0 + best_turns_);
        if (enough > room) enumerate(static_cast<int>(free_.size()) - 1, enough);
        return true;
    }
    return found_;
}

// All turns of the free angles up to a level, those after it being set, for which there is room.
void ConnectedAngles::enumerate(int level, double room) {
    if (level < 0) return take();
    const int f = static_cast<int>(free_.size());
    const double scale = upper_[level * f + level];
    double middle = centre_[level];
    for (int j = level + 1; j < f; ++j) middle -= upper_[level * f + j] * (turns_[free_[j]] - centre_[j]) / scale;
    const int angle = free_[level];
    const double reach = std::sqrt(room) / scale;
    const double first = std::max(std::ceil(middle - reach), low_[angle]);
    const double last = std::min(std::floor(middle + reach), high_[angle]);
    if (first > last) return;
    // The search goes from the middle outwards, so that one that is cut short has seen the fewest turns.
    double up = std::clamp(std::round(middle), first, last), down = up - 1.0;
    while ((up <= last || down >= first) && tried_ < most_) {
        const bool rises = down < first || (up <= last && up - middle <= middle - down);
        double& turns = turns_[angle];
        turns = rises ? up++ : down--;
        const double used = scale * (turns - middle);
        if (used * used <= room) enumerate(level - 1, room - used * used);
    }
}

void ConnectedAngles::take() {
    ++tried_;
    double sum = 0.0, size = 0.0;
    for (size_t k = 0; k < reduced_.size(); ++k) {
        double exact = reduced_[k][n_];
        for (const int j : free_) exact -= reduced_[k][j] * turns_[j];
        const int p = pivot_[k];
        turns_[p] = std::round(exact);
        if (turns_[p] < low_[p] || turns_[p] > high_[p] || std::abs(turns_[p]) > kMostTurns) return;
    }
    for (int j = 0; j < n_; ++j) {
        const double angle = start_[j] + kWholeTurn * turns_[j];
        sum += std::abs(turns_[j]), size += angle * angle;
    }
    if (found_ && (sum > best_turns_ || (sum == best_turns_ && size >= best_size_))) return;
    if (!satisfied()) return;
    found_ = true, best_ = turns_, best_turns_ = sum, best_size_ = size;
}

bool ConnectedAngles::satisfied() const {
    return std::ranges::all_of(relations_, [&](const TurnProblem::Relation& relation) {
        double sum = relation.rest, weight = 0.0;
        for (const auto& [angle, coefficient] : relation.terms) {
            sum += coefficient * (start_[angle] + kWholeTurn * turns_[angle]);
            weight += std::abs(coefficient);
        }
        return std::abs(sum) <= tolerance_ * weight;
    });
}

}  // namespace

void add_whole_turns(TurnProblem& problem) {
    const int n = static_cast<int>(problem.angles.size());
    std::vector<int> root(n);
    for (int i = 0; i < n; ++i) root[i] = i;
    const auto root_of = [&](int i) {
        while (root[i] != i) i = root[i] = root[root[i]];
        return i;
    };
    for (const TurnProblem::Relation& r : problem.relations)
        for (const auto& [angle, coefficient] : r.terms) root[root_of(angle)] = root_of(r.terms[0].first);
    std::vector<std::vector<int>> angles(n), relations(n);
    for (int i = 0; i < n; ++i) angles[root_of(i)].push_back(i);
    for (size_t r = 0; r < problem.relations.size(); ++r)
        relations[root_of(problem.relations[r].terms[0].first)].push_back(static_cast<int>(r));
    std::vector<int> place(n);
    for (int i = 0; i < n; ++i) {
        if (angles[i].empty()) continue;
        if (!relations[i].empty()) {
            ConnectedAngles(problem, std::move(angles[i]), relations[i], place).solve();
            continue;
        }
        TurnProblem::Angle& alone = problem.angles[i];
        const TurnRange within = turns_within(alone);
        alone.value += kWholeTurn * std::clamp(0.0, within.low, within.high);
    }
}

namespace {

using Relation = TurnProblem::Relation;

int undecided_in(const Relation& relation, const std::vector<char>& decided, int& which) {
    int count = 0;
    for (const auto& [angle, coefficient] : relation.terms)
        if (!decided[angle] && angle != which) ++count, which = angle;
    return count;
}

// The factor by which an angle is slower than the fastest one of a relation.
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
