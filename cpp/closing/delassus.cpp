#include "closing/delassus.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "spatial/body_state.hpp"

namespace bellcrank {

namespace {

// A body with more joints than this is split; below it the dense coupling of its joints is cheaper than links.
constexpr int kHubDegree = 8;
constexpr int kJointsPerCopy = 4;

// The bodies of a block but for the ground.
std::vector<int> moving_bodies_of(const Model& model, int block) {
    std::vector<int> bodies = model.bodies_of(block);
    std::erase(bodies, model.ground());
    return bodies;
}

bool touches_ground(const Model& model, int block) {
    const std::vector<int> bodies = model.bodies_of(block);
    return std::find(bodies.begin(), bodies.end(), model.ground()) != bodies.end();
}

}  // namespace

Delassus::Delassus(const Model& model) : model_(model) {
    split_hubs();
    order_nodes();
}

void Delassus::split_hubs() {
    const int blocks = static_cast<int>(model_.blocks.size());
    const Lists incident(model_.bodies(), [&](const auto& put) {
        for (int i = 0; i < blocks; ++i)
            for (int body : moving_bodies_of(model_, i)) put(body, i);
    });
    for (int body = 0; body < model_.bodies(); ++body) {
        const int degree = static_cast<int>(incident[body].size());
        if (degree == 0) continue;
        const int count = degree <= kHubDegree ? 1 : (degree + kJointsPerCopy - 1) / kJointsPerCopy;
        const int first = static_cast<int>(copies_.size());
        for (int c = 0; c < count; ++c) {
            copies_.push_back({{body, 1.0 / count, {}}, {}, {}});
            if (c == 0) continue;
            const int link = blocks + links_++;  // copies form a binary tree
            copies_[first + c].links.emplace_back(link, 1.0);
            copies_[first + (c - 1) / 2].links.emplace_back(link, -1.0);
        }
        for (int k = 0; k < degree; ++k)
            copies_[count == 1 ? first : first + k / kJointsPerCopy].blocks.push_back(incident[body][k]);
    }
}

void Delassus::order_nodes() {
    const int blocks = static_cast<int>(model_.blocks.size()), nodes = blocks + links_;
    std::vector<Ends> couplings;
    for (const Copy& copy : copies_) {
        std::vector<int> at = copy.blocks;
        for (const auto& link : copy.links) at.push_back(link.first);
        for (size_t i = 0; i < at.size(); ++i)
            for (size_t j = i + 1; j < at.size(); ++j) couplings.emplace_back(at[i], at[j]);
    }
    elimination_ = minimum_degree(nodes, couplings, distance_from_ground(nodes, couplings));
    ldlt_ = std::make_unique<BlockLdlt>(block_sizes(), elimination_, closing_steps());
    order_rows();
}

// By elimination step.
std::vector<int> Delassus::block_sizes() const {
    const int blocks = static_cast<int>(model_.blocks.size());
    std::vector<int> sizes;
    for (int node : elimination_.order)
        sizes.push_back(node < blocks ? model_.blocks[node].row_end - model_.blocks[node].row_begin : 6);
    return sizes;
}

// A block that is the first to act on some body closes no loop: its pivots are at least those that the body alone would
// give, and its rows depend on none before them.
std::vector<std::uint8_t> Delassus::closing_steps() const {
    std::vector<std::uint8_t> closes(elimination_.order.size(), 1);
    for (const Copy& copy : copies_) {
        int first = static_cast<int>(closes.size());
        for (int block : copy.blocks) first = std::min(first, elimination_.position[block]);
        for (const auto& link : copy.links) first = std::min(first, elimination_.position[link.first]);
        closes[first] = 0;
    }
    return closes;
}

// Rows are evaluated in the stage in which the first of their products is formed.
void Delassus::order_rows() {
    const int blocks = static_cast<int>(model_.blocks.size());
    std::vector<int> first(elimination_.order.size());
    for (size_t step = 0; step < first.size(); ++step) first[step] = BlockLdlt::stage_of(static_cast<int>(step));
    for (const Copy& copy : copies_) {
        std::vector<int> steps;
        for (int block : copy.blocks) steps.push_back(elimination_.position[block]);
        for (const auto& link : copy.links) steps.push_back(elimination_.position[link.first]);
        for (int a : steps)
            for (int b : steps) first[a] = std::min(first[a], stage_of_product(a, b));
    }
    for (size_t step = 0; step < first.size(); ++step) {
        if (elimination_.order[step] >= blocks) continue;
        row_order_.blocks.push_back(elimination_.order[step]);
        row_order_.evaluated.push_back(first[step]);
        row_order_.solved.push_back(BlockLdlt::stage_of(static_cast<int>(step)));
    }
    row_order_.stages = ldlt_->stages();
}

int Delassus::stage_of_product(int step, int other) const {
    return ldlt_->block(std::min(step, other), std::max(step, other)).stage;
}

// Joints between the node and the ground, none where there is no way to it. Eliminating from the ground outwards keeps
// pivots of the order of their diagonal entries; the other way round the joint at the ground would be left with 1/n of
// its own, the mobility of all that hangs on it.
std::vector<int> Delassus::distance_from_ground(int nodes, std::vector<Ends> couplings) const {
    for (int i = 0; i < static_cast<int>(model_.blocks.size()); ++i)
        if (touches_ground(model_, i)) couplings.emplace_back(i, nodes);
    const Topology from_ground(nodes + 1, std::move(couplings));
    std::vector<int> distance(nodes, 0);
    for (const int node : from_ground.order) {
        if (node == nodes) continue;
        if (from_ground.parent[node] < 0) break;  // another tree
        distance[node] = from_ground.depth[node] - 1;
    }
    return distance;
}

void Delassus::bind(ConstraintRows& rows) {
    rows_ = &rows;
    const int blocks = static_cast<int>(model_.blocks.size());
    std::vector<const BlockLayout*> layout(blocks);
    row_of_.assign(rows.rows(), 0);
    for (const BlockLayout& b : rows.blocks()) {
        layout[b.block] = &b;
        const int step = elimination_.position[b.block];
        for (int r = 0; r < b.size; ++r) {
            row_of_[b.row + r] = ldlt_->row_start(step) + r;
            const double compliance = model_.blocks[b.block].compliance;
            if (compliance > 0.0)
                compliances_.push_back({stage_of_product(step, step),
                                        ldlt_->block(step, step).offset + r * (b.size + 1), b.row + r, compliance});
        }
    }
    for (Copy& copy : copies_) {
        std::vector<std::pair<int, BodyRows>> parts;  // elimination step, rows
        for (int block : copy.blocks)
            for (const BlockSide& side : rows.sides(*layout[block]))
                if (side.body == copy.body) parts.push_back({elimination_.position[block], side.rows});
        for (const auto& [node, sign] : copy.links)
            parts.push_back({elimination_.position[node], rows.append_link(copy.body, sign)});
        std::sort(parts.begin(), parts.end(), [](const auto& p, const auto& q) { return p.first < q.first; });
        for (size_t i = 0; i < parts.size(); ++i)
            for (size_t j = i; j < parts.size(); ++j) {
                const BlockLdlt::Stored& target = ldlt_->block(parts[i].first, parts[j].first);
                products_.add(parts[i].second, parts[j].second, target.offset, 1.0 / copy.share, target.stage);
            }
        copy.rows = std::move(parts);
    }
    products_.arrange(ldlt_->stages(), ldlt_->spill_offset());
    for (const BlockLdlt::Stored& block : ldlt_->blocks())
        if (!products_.writes(block.offset, block.stage)) unwritten_.push_back(block);
    std::stable_sort(unwritten_.begin(), unwritten_.end(),
                     [](const auto& a, const auto& b) { return a.stage < b.stage; });
    std::stable_sort(compliances_.begin(), compliances_.end(),
                     [](const auto& a, const auto& b) { return a.stage < b.stage; });
    enabled_.assign(ldlt_->rows(), 1);
    work_.assign(ldlt_->rows(), 0.0);
    column_ = work_;
    null_vector_.assign(rows.rows(), 0.0);
    product_ = search_ = direction_ = null_vector_;
    excluded_.reserve(ldlt_->rows());
    storage_of_.assign(ldlt_->rows(), -1);
    for (int r = 0; r < rows.rows(); ++r) storage_of_[row_of_[r]] = r;
    body_work_.assign(kTwist * (model_.bodies() + 1), 0.0);
}

void Delassus::set_compliances(std::span<const double> values) {
    for (Compliance& c : compliances_) c.value = values[c.row];
}

void Delassus::factor(const PivotRule& rule, std::span<const std::uint8_t> enabled) {
    begin(rule, enabled);
    for (int s = 0; s < ldlt_->stages(); ++s) factor_stage(s);
}

void Delassus::begin(const PivotRule& rule, std::span<const std::uint8_t> enabled) {
    next_unwritten_ = next_compliance_ = 0;
    for (size_t r = 0; r < enabled.size(); ++r) enabled_[row_of_[r]] = enabled[r];
    for (int r : excluded_)
        if (enabled_[r] == BlockLdlt::kTakesPart) enabled_[r] = BlockLdlt::kDropped;
    dynamics_known_ = false;
    tolerance_ = rule.tolerance;
    if (enabled.empty() && excluded_.empty()) return ldlt_->begin(rule, {});
    ldlt_->begin(rule, enabled_);
}

void Delassus::exclude(std::span<const int> rows) {
    for (int r : excluded_)
        if (enabled_[r] == BlockLdlt::kDropped) enabled_[r] = BlockLdlt::kTakesPart;
    excluded_.assign(rows.begin(), rows.end());
}

void Delassus::exclude_vanished(std::span<const int> rows) {
    exclude(rows);
    for (int r = 0; r < ldlt_->rows(); ++r)
        if (ldlt_->dropped()[r] == BlockLdlt::kVanished && enabled_[r] == BlockLdlt::kTakesPart) excluded_.push_back(r);
}

void Delassus::factor_stage(int stage) {
    if (precise_mode_) {
        if (stage + 1 == ldlt_->stages()) factor_precisely();
        return;
    }
    double* values = ldlt_->values();
    for (; next_unwritten_ < unwritten_.size() && unwritten_[next_unwritten_].stage == stage; ++next_unwritten_)
        std::fill_n(values + unwritten_[next_unwritten_].offset, unwritten_[next_unwritten_].size, 0.0);
    products_.evaluate(stage, rows_->J.data(), values);
    for (; next_compliance_ < compliances_.size() && compliances_[next_compliance_].stage == stage; ++next_compliance_)
        values[compliances_[next_compliance_].offset] += compliances_[next_compliance_].value;
    ldlt_->factor_stage(stage);
}

void Delassus::solve(double* b) {
    for (int s = 0; s < ldlt_->stages(); ++s) forward_stage(s, b);
    for (int s = ldlt_->stages() - 1; s >= 0; --s) backward_stage(s, b);
}

void Delassus::forward_stage(int stage, double* b) {
    if (links_ == 0 && !precise_mode_) ldlt_->forward_stage(stage, b);
}

// Where there are links, their rows are solved for as well, all at once; so are precise factors.
void Delassus::backward_stage(int stage, double* b) {
    if (links_ == 0 && !precise_mode_) return ldlt_->backward_stage(stage, b);
    if (stage + 1 < ldlt_->stages()) return;
    std::fill(work_.begin(), work_.end(), 0.0);
    for (size_t r = 0; r < row_of_.size(); ++r) work_[row_of_[r]] = b[r];
    if (precise_mode_) {
        factor_dynamics();
        precise_->solve(work_.data());
    } else {
        ldlt_->solve(work_.data());
    }
    for (size_t r = 0; r < row_of_.size(); ++r) b[r] = work_[row_of_[r]];
}

void Delassus::subtract_product(const double* lambda, double* r) {
    std::fill(body_work_.begin(), body_work_.end(), 0.0);
    rows_->add_transposed(lambda, body_work_.data());
    rows_->multiply(body_work_.data(), work_.data());
    for (int k = 0; k < rows_->rows(); ++k) r[k] -= work_[k];
    subtract_compliance(lambda, r);
}

void Delassus::subtract_compliance(const double* lambda, double* r) const {
    for (const Compliance& c : compliances_) r[c.row] -= c.value * lambda[c.row];
}

void Delassus::make_precise() {
    if (precise_ != nullptr) return;
    precise_ = std::make_unique<PreciseDelassus>(model_, block_sizes(), elimination_,
                                                 std::vector<BodyPart>(copies_.begin(), copies_.end()), *rows_);
    row_compliance_.assign(ldlt_->rows(), 0.0);
    part_.assign(ldlt_->rows(), 1);
    kept_ = dropped_now_ = part_;
}

void Delassus::collect_compliances() {
    for (const Compliance& c : compliances_) row_compliance_[row_of_[c.row]] = c.value;
}

// Excluded rows are judged like all others: no rounding is left that would ask for it.
void Delassus::factor_precisely() {
    make_precise();
    collect_compliances();
    for (size_t r = 0; r < part_.size(); ++r) part_[r] = enabled_[r] != BlockLdlt::kLeftOut;
    precise_->find_rank(tolerance_, row_compliance_, part_);
    dropped_count_ = 0;
    for (size_t r = 0; r < kept_.size(); ++r) {
        kept_[r] = part_[r] && (row_compliance_[r] > 0.0 || !precise_->rank().dropped()[r]);
        dropped_now_[r] = !kept_[r];
        dropped_count_ += dropped_now_[r];
    }
}

// The rows that are kept now, weighed by geometry alone.
void Delassus::factor_kept_precisely() {
    make_precise();
    collect_compliances();
    const auto dropped = ldlt_->dropped();
    for (size_t r = 0; r < part_.size(); ++r) part_[r] = enabled_[r] != BlockLdlt::kLeftOut && !dropped[r];
    precise_->find_rank(0.0, row_compliance_, part_);
}

void Delassus::factor_dynamics() {
    if (dynamics_known_) return;
    dynamics_known_ = true;
    if (!precise_mode_) {
        make_precise();
        collect_compliances();
        for (size_t r = 0; r < kept_.size(); ++r) kept_[r] = !ldlt_->dropped()[r];
    }
    precise_->factor_dynamics(row_compliance_, kept_);
}

bool Delassus::rank_is_right(double tolerance) {
    make_precise();
    collect_compliances();
    const auto dropped = ldlt_->dropped();
    int count = 0;
    for (size_t r = 0; r < part_.size(); ++r) {
        const bool in = enabled_[r] != BlockLdlt::kLeftOut;
        part_[r] = in && !dropped[r];
        if (!in || !dropped[r]) continue;
        if (row_compliance_[r] > 0.0) return false;  // it depends on none, however small its pivot
        ++count;
    }
    const auto depend = [&] {
        precise_->find_rank(tolerance, row_compliance_, part_);
        int rows = 0;
        for (size_t r = 0; r < part_.size(); ++r)
            rows += part_[r] && row_compliance_[r] == 0.0 && precise_->rank().dropped()[r];
        return rows;
    };
    const bool independent = depend() == 0;
    for (size_t r = 0; r < part_.size(); ++r) part_[r] = enabled_[r] != BlockLdlt::kLeftOut;
    return depend() == count && independent;
}

void Delassus::exclude_dependent() {
    exclude({});
    for (int r = 0; r < ldlt_->rows(); ++r)
        if (part_[r] && row_compliance_[r] == 0.0 && precise_->rank().dropped()[r]) excluded_.push_back(r);
}

// Into the work of the precise factors: bias − Ĵ û of the rows, 0 for links.
void Delassus::residual_of(std::span<const double> bias, std::span<const DoubleDouble> motion) {
    const std::span<DoubleDouble> work = precise_->work();
    std::fill(work.begin(), work.end(), DoubleDouble());
    double row[6];
    for (const BlockLayout& b : rows_->blocks())
        for (int r = 0; r < b.size; ++r) {
            DoubleDouble left = bias[b.row + r];
            for (const BlockSide& side : rows_->sides(b)) {
                side.rows.read(rows_->J.data(), r, row);
                for (int k = 0; k < 6; ++k) left -= motion[kTwist * side.body + kComponent[k]] * row[k];
            }
            work[row_of_[b.row + r]] = left;
        }
}

// û += Ĵᵀ λ with the λ that the work holds.
void Delassus::add_forces(std::span<DoubleDouble> motion) const {
    const std::span<const DoubleDouble> work = precise_->work();
    double row[6];
    for (const BlockLayout& b : rows_->blocks())
        for (int r = 0; r < b.size; ++r)
            for (const BlockSide& side : rows_->sides(b)) {
                side.rows.read(rows_->J.data(), r, row);
                for (int k = 0; k < 6; ++k)
                    motion[kTwist * side.body + kComponent[k]] += work[row_of_[b.row + r]] * row[k];
            }
}

// motion_ = what the forces of λ (storage rows) change by if every number of Ĵ is rounded otherwise. A row's
// numbers against a body are rounded as parts of the largest: those that happen to be small come from sums.
void Delassus::round_forces(const double* lambda) {
    constexpr double kLastPlace = std::numeric_limits<double>::epsilon();
    const auto inverse = rows_->inverse_sqrt_mass();
    std::fill(motion_.begin(), motion_.end(), DoubleDouble());
    std::uint32_t mixed = 1;
    double row[6];
    for (const BlockLayout& b : rows_->blocks())
        for (int r = 0; r < b.size; ++r) {
            const double force = std::abs(lambda[b.row + r]);
            for (const BlockSide& side : rows_->sides(b)) {
                side.rows.read(rows_->J.data(), r, row);
                const double* scale = &inverse[static_cast<size_t>(kTwist) * side.body];
                double largest = 0.0;  // of the angular part, not scaled
                for (int k = 3; k < 6; ++k)
                    if (scale[k + 1] > 0.0) largest = std::max(largest, std::abs(row[k]) / scale[k + 1]);
                for (int k = 0; k < 6; ++k) {
                    const double size = k < 3 ? std::abs(row[k]) : largest * scale[k + 1];
                    mixed = 1664525u * mixed + 1013904223u;
                    const double change = ((mixed >> 31) != 0 ? kLastPlace : -kLastPlace) * size * force;
                    motion_[kTwist * side.body + kComponent[k]] += change;
                }
            }
        }
}

double Delassus::accelerate_precisely(std::span<const double> bias, std::span<const double> scaled, double* lambda,
                                      double* udot) {
    factor_dynamics();
    const auto inverse = rows_->inverse_sqrt_mass();
    const std::span<DoubleDouble> work = precise_->work();
    motion_.assign(scaled.begin(), scaled.end());
    std::fill_n(lambda, row_of_.size(), 0.0);
    // Twice: where rows that almost depend on others meet bodies that differ by 1e14, one solution leaves 1e-9.
    for (int pass = 0; pass < 2; ++pass) {
        residual_of(bias, motion_);
        for (size_t r = 0; r < row_of_.size(); ++r)
            work[row_of_[r]] -= DoubleDouble(lambda[r]) * row_compliance_[row_of_[r]];
        precise_->solve_work();
        for (size_t r = 0; r < row_of_.size(); ++r) lambda[r] += work[row_of_[r]].hi;
        add_forces(motion_);
    }
    for (size_t k = 0; k < motion_.size(); ++k) udot[k] = motion_[k].hi * inverse[k];
    round_forces(lambda);
    no_bias_.assign(row_of_.size(), 0.0);
    residual_of(no_bias_, motion_);
    precise_->solve_work();
    add_forces(motion_);
    double most = 0.0;
    for (size_t k = 0; k < motion_.size(); ++k) most = std::max(most, std::abs(motion_[k].hi * inverse[k]));
    return most;
}

std::span<const std::uint8_t> Delassus::drops() const {
    return precise_mode_ ? std::span<const std::uint8_t>(dropped_now_) : ldlt_->dropped();
}

double Delassus::smallest_pivot() const {
    return precise_mode_ ? std::min(kSafePivot, precise_->rank().smallest_pivot()) : ldlt_->smallest_pivot();
}

std::span<const BlockLdlt::RowPivot> Delassus::doubtful() const {
    return precise_mode_ ? std::span<const BlockLdlt::RowPivot>() : ldlt_->doubtful();
}

std::span<const BlockLdlt::RowPivot> Delassus::small() const {
    return precise_mode_ ? std::span<const BlockLdlt::RowPivot>() : ldlt_->small();
}

}  // namespace bellcrank
