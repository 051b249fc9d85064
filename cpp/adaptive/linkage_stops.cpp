#include "adaptive/linkage_stops.hpp"

#include <algorithm>
#include <cmath>

#include "adaptive/linkage_forces.hpp"

namespace bellcrank {

namespace {

// A pull that is no rounding, in parts of what joints exert; an acceleration towards a stop that is none.
constexpr double kPull = 1e-10, kTowards = 1e-12;

double product_of(const double* a, const double* b, int size) {
    double sum = 0.0;
    for (int i = 0; i < size; ++i) sum += a[i] * b[i];
    return sum;
}

}  // namespace

std::vector<Obstacle> LinkageStops::obstacles(const Model& model) {
    const JointTree tree = joint_tree(model);
    std::vector<Obstacle> found;
    for (const int number : tree.stops) {
        const Row& row = model.rows[number];
        bool is_own = row.function < 0 && row.term_end - row.term_begin == 1;
        if (is_own) {
            const Coordinate& coordinate = model.coordinates[model.terms[row.term_begin].coordinate];
            is_own = std::ranges::any_of(tree.joints, [&](const TreeJoint& joint) {
                const bool is_plain = joint.formula < 0 && joint.turning < Turning::swing_x;
                return joint.pair == coordinate.pair && is_plain && JointMotion::own_coordinate(joint, coordinate) >= 0;
            });
            // A joint that moves as it is given does not stop.
            is_own = is_own && std::ranges::none_of(tree.closing_rows, [&](int other) {
                         const Row& of = model.rows[other];
                         return of.term_end - of.term_begin == 1 &&
                                model.coordinates[model.terms[of.term_begin].coordinate].pair == coordinate.pair;
                     });
        }
        bool rubs = false;
        for (const Block& block : model.blocks)
            rubs |= number >= block.row_begin && number < block.row_end && block.friction >= 0;
        if (!is_own || rubs)
            found.push_back({"it takes no stops but limits of the coordinates of its joints that are not driven",
                             Obstacle::Of::row, number});
    }
    return found;
}

LinkageStops::LinkageStops(const Model& model, const Linkage& linkage)
    : model_(model),
      linkage_(linkage),
      first_(linkage.links.size() + 1, 0),
      at_(linkage.links.size(), -1),
      chosen_({}, {}, options_),
      is_resting_(linkage.links.size(), 0) {
    for (const Block& block : model.blocks)
        for (int number = block.row_begin; number < block.row_end && block.unilateral; ++number) {
            const Row& row = model.rows[number];
            const Term& term = model.terms[row.term_begin];
            int own = -1;
            const int link = linkage.link_along(model, term.coordinate, &own);
            all_.push_back({number, link, own, term.coefficient, row.constant, block.restitution});
        }
    std::ranges::stable_sort(all_, {}, &Along::link);
    for (const Along& stop : all_) ++first_[stop.link + 1];
    for (size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
    held_.assign(all_.size(), 0);
}

void LinkageStops::begin(const double* q) {
    if (empty()) return;
    free_.clear();
    choose({}, q);
    resting_.clear();
    std::ranges::fill(is_resting_, 0);
    for (size_t i = 0; i < all_.size(); ++i) {
        const Along& stop = all_[i];
        held_[i] = gap(stop, q) <= options_.contact_tolerance;
        if (held_[i] == 0 || is_resting_[stop.link] != 0) continue;
        is_resting_[stop.link] = 1;
        resting_.push_back(stop.link);
    }
}

void LinkageStops::choose(const std::vector<int>& free, const double* q) {
    if (empty() || free == free_) return;
    for (size_t i = 0; i < numbers_.size(); ++i) held_[numbers_[i]] = chosen_.active()[i];
    const std::vector<int> before = links_;
    for (const int link : links_) at_[link] = -1;
    free_ = free;
    links_.clear();
    numbers_.clear();
    std::vector<int> rows;
    std::vector<double> restitution;
    std::vector<std::uint8_t> active;
    for (const int link : free_) {
        if (first_[link] == first_[link + 1]) continue;
        at_[link] = static_cast<int>(numbers_.size());
        links_.push_back(link);
        for (int i = first_[link]; i < first_[link + 1]; ++i) {
            numbers_.push_back(i);
            rows.push_back(all_[i].row);
            restitution.push_back(all_[i].restitution);
            active.push_back(held_[i]);
            held_[i] = 0;
        }
        is_resting_[link] = 0;
    }
    chosen_ = Stops(std::move(rows), std::move(restitution), options_);
    chosen_.push(active);
    for (const int link : before) {
        if (at_[link] >= 0) continue;
        for (int i = first_[link]; i < first_[link + 1]; ++i) {
            const bool is_closed = gap(all_[i], q) <= options_.contact_tolerance;
            held_[i] = held_[i] != 0 && is_closed;
            if (is_closed && is_resting_[link] == 0) resting_.push_back(link), is_resting_[link] = 1;
        }
    }
    std::erase_if(resting_, [this](int link) { return is_resting_[link] == 0; });
}

void LinkageStops::measure(const double* q, const double* u) {
    double n[6];
    for (size_t i = 0; i < numbers_.size(); ++i) {
        const Along& stop = all_[numbers_[i]];
        const Link& link = linkage_.links[stop.link];
        direction_of(numbers_[i], q, n);
        chosen_.gap[i] = gap(stop, q);
        chosen_.speed[i] = product_of(n, u + link.freedom, link.motion.freedoms());
    }
}

void LinkageStops::direction_of(int number, const double* q, double* n) const {
    const Along& stop = all_[number];
    const Link& link = linkage_.links[stop.link];
    double along[7] = {};
    along[stop.coordinate] = stop.coefficient;
    link.motion.efforts(q + link.coordinate, along, n);
}

double LinkageStops::second_rate(int number, const double* q, const double* u) const {
    const Along& stop = all_[numbers_[number]];
    const Link& link = linkage_.links[stop.link];
    return stop.coefficient * link.motion.second_rate(q + link.coordinate, u + link.freedom, stop.coordinate);
}

// Directions of different coordinates are at right angles: axes of a joint, or slides turned by its angle.
HeldDirections LinkageStops::held(int link, const std::vector<std::uint8_t>& marked, const double* q,
                                  const double* u) const {
    HeldDirections out;
    std::fill_n(out.bias, 6, 0.0);
    const int freedoms = linkage_.links[link].motion.freedoms();
    for (int i = first_[link]; i < first_[link + 1]; ++i) {
        const int number = at_[link] + i - first_[link];
        if (marked[number] == 0) continue;
        const int before = out.count;
        add(i, q, out);
        if (out.count == before) continue;
        const double* n = out.along + freedoms * before;
        const double part = second_rate(number, q, u) / product_of(n, n, freedoms);
        for (int k = 0; k < freedoms; ++k) out.bias[k] -= part * n[k];
    }
    return out;
}

// The two ends of a range without room hold the same.
void LinkageStops::add(int number, const double* q, HeldDirections& to) const {
    const int freedoms = linkage_.links[all_[number].link].motion.freedoms();
    double n[6];
    direction_of(number, q, n);
    const double own = product_of(n, n, freedoms);
    for (int k = 0; k < to.count; ++k) {
        const double* other = to.along + freedoms * k;
        const double both = product_of(n, other, freedoms);
        if (both * both > 0.5 * own * product_of(other, other, freedoms)) return;
    }
    std::copy_n(n, freedoms, to.along + freedoms * to.count++);
}

void LinkageStops::put_back(const std::vector<std::uint8_t>& marked, double* q, double* u,
                            std::vector<int>& moved) const {
    double n[6];
    for (size_t i = 0; i < numbers_.size(); ++i) {
        const Along& stop = all_[numbers_[i]];
        const double open = gap(stop, q);
        const Link& link = linkage_.links[stop.link];
        const int freedoms = link.motion.freedoms();
        const bool is_held = marked[i] != 0;
        if (open < 0.0 || (is_held && open > 0.0)) {
            q[link.coordinate + stop.coordinate] -= open / stop.coefficient;
            if (moved.empty() || moved.back() != stop.link) moved.push_back(stop.link);
        }
        if (!is_held) continue;
        direction_of(numbers_[i], q, n);
        const double part = product_of(n, u + link.freedom, freedoms) / product_of(n, n, freedoms);
        for (int k = 0; k < freedoms; ++k) u[link.freedom + k] -= part * n[k];
    }
}

HeldDirections LinkageStops::held_at_rest(int link, const double* q) const {
    HeldDirections out;
    std::fill_n(out.bias, 6, 0.0);
    for (int i = first_[link]; i < first_[link + 1]; ++i)
        if (held_[i] != 0) add(i, q, out);
    return out;
}

bool LinkageStops::open_pulling(int link, const double* q, const double* exerted, double size,
                                std::vector<std::uint8_t>& marked) const {
    bool has_changed = false;
    double n[6];
    for (int number = at_[link]; number < at_[link] + first_[link + 1] - first_[link]; ++number) {
        if (marked[number] == 0) continue;
        direction(number, q, n);
        if (product_of(n, exerted, linkage_.links[link].motion.freedoms()) >= -kPull * size) continue;
        marked[number] = 0;
        has_changed = true;
    }
    return has_changed;
}

bool LinkageStops::judge(int link, const double* q, const double* rate, const double* exerted, double size,
                         bool may_close) {
    bool has_changed = false;
    double n[6];
    const int freedoms = linkage_.links[link].motion.freedoms();
    for (int i = first_[link]; i < first_[link + 1]; ++i) {
        if (held_[i] == 0 && !(may_close && gap(all_[i], q) <= options_.contact_tolerance)) continue;
        direction_of(i, q, n);
        const bool is_wrong = held_[i] != 0 ? product_of(n, exerted, freedoms) < -kPull * size
                                            : product_of(n, rate, freedoms) < -kTowards;
        held_[i] = (held_[i] != 0) != is_wrong;
        has_changed |= is_wrong;
    }
    return has_changed;
}

}  // namespace bellcrank
