#include "formulations/dca.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "model/forces.hpp"
#include "spatial/body_state.hpp"
#include "spatial/lanes.hpp"

namespace bellcrank {

namespace {

constexpr double kEarth = 9.81;  // m/s², where a mechanism says nothing of its times

// Matrices serve as long as positions have moved by no more than this, in parts of l and of 1/√α. Loads of redundant
// rows, which exert nothing where the matrices were formed, grow by α times an error and act in proportion to the way.
constexpr double kStale = 0.1;

// Where a row so nearly depends on others that iterations hardly correct it, the penalty of all rows grows by this.
constexpr double kStiffer = 10.0;

// Beyond this ratio of masses accelerations are iterated until nothing changes but rounding, as derivatives always are.
constexpr double kWideMasses = 1e3, kRounding = 1e-14;

// The mean distance of markers from the centres of mass of their bodies [m].
double length_of(const Model& model) {
    double sum = 0.0;
    int count = 0;
    for (const MarkerPair& pair : model.pairs)
        for (int s = 0; s < 2; ++s) {
            if (pair.body[s] == model.ground()) continue;
            const double reach = norm(pair.offset[s]);
            if (reach > 0.0) sum += reach, ++count;
        }
    return count > 0 ? sum / count : 1.0;
}

// Bodies of a chunk at least, and chunks at most; bodies from which more than one thread pays (bellcrank bench dca).
// None depends on the number of threads, and so results do not.
constexpr int kLeastInChunk = 128, kMostChunks = 32, kLeastForThreads = 1000;

int chunks_of(const Model& model) { return std::clamp(model.bodies() / kLeastInChunk, 1, kMostChunks); }

double size_of(const double* motion, int begin, int end, double length) {
    double linear = 0.0, angular = 0.0;
    for (int b = begin; b < end; ++b) {
        const double* m = motion + kTwist * b;
        for (int k = 0; k < 3; ++k) {
            linear = std::max(linear, std::abs(m[k]));
            angular = std::max(angular, std::abs(m[4 + k]));
        }
    }
    return std::max(linear / length, angular);
}

// Error with which rows are satisfied.
constexpr double kMetPosition = 1e-8;

// Errors of positions that matrices formed anew would not make less.
constexpr double kHeld = 1e-13;

// Positions that matrices formed once do not correct are corrected with new ones, so many times.
constexpr int kMostRenewals = 25;

// A change that no longer falls by this is rounding, up to so many tolerances, or that of a row which so nearly depends
// on others that the penalty does not lead it: neither goes on. What falls on is known to do so from there.
constexpr double kIdle = 0.5, kMostRounding = 1e3;

// Blocks in the order of the model; their rows are evaluated in as many stages as there are chunks.
RowOrder in_chunks(const Model& model) {
    RowOrder order = order_of(model);
    order.stages = chunks_of(model);
    const size_t blocks = order.blocks.size();
    for (size_t i = 0; i < blocks; ++i)
        order.evaluated[i] = order.solved[i] = static_cast<int>(i * static_cast<size_t>(order.stages) / blocks);
    return order;
}

}  // namespace

Dca::Dca(std::shared_ptr<const Model> model, const DcaOptions& options)
    : ConstrainedBodies("dca", model, in_chunks(*model),
                        {{.position_tolerance = 1e3 * options.position_tolerance,
                          .contact_tolerance = options.contact_tolerance,
                          .rest_speed = options.rest_speed}}),
      dca_options_(options),
      assembly_(*model_, rows_),
      body_loads_(*model_, rows_) {
    const int m = rows_.rows();
    step_.assign(tangent_size(), 0.0);
    for (auto* v : {&rhs_, &squares_, &softness_, &drift_, &wanted_, &change_, &compliance_, &null_}) v->assign(m, 0.0);
    for (const BlockLayout& b : rows_.blocks())
        std::fill_n(compliance_.begin() + b.row, b.size, model_->blocks[b.block].compliance);
    drifts_ = !dca_options_.projections ||
              std::any_of(compliance_.begin(), compliance_.end(), [](double c) { return c > 0.0; });
    length_ = length_of(*model_);
    redundant_.assign(m, 0.0);
    needed_.assign(m, std::numeric_limits<double>::infinity());
    if (!open_) make_metric();
    divide();
    wide_masses_ = mass_ratio(*model_) > kWideMasses;
    const double g = norm(model_->gravity);
    frequency_ = dca_options_.frequency * std::sqrt((g > 0.0 ? g : kEarth) / length_);
}

// Iterations of the augmented rule, the same at all levels. They end where positions have moved so far that other
// matrices are needed.
template <class Residual, class Apply>
bool Dca::iterate(Level level, const Residual& residual, const Apply& apply) {
    double before = 0.0;
    int i = 0;
    bool settled = false;
    bool idle = false;
    while (i < dca_options_.max_iterations && !settled && !idle && moved_ <= most_moved_) {
        residual();
        assembly_.solve(rhs_.data());
        const double change = apply();
        // What the next one would change, if each changes the same part of what the last one did.
        const double next = i > 0 ? change * std::min(change / before, 1.0) : change;
        idle = i > 0 && change > kIdle * before;
        settled = change < kMostRounding && (idle || !(next > 1.0));
        before = change;
        ++i;
    }
    ++iterations_[level][std::min(i, kMostCounted - 1)];
    return settled;
}

void Dca::refresh(double t, const double* x) {
    evaluate_jacobians(t, x);
    remember(t, x);
    penalty_ = dca_options_.penalty;
    factor();
}

void Dca::ready() {
    if (!factored_ || moved_ > most_moved_) factor();
}

// α of a row is the penalty by |Ĵ_r|², the inverse of the mass that it sees: so it is the same for a watch and a
// bridge.
void Dca::form() {
    moved_ = 0.0;
    most_moved_ = kStale / std::sqrt(penalty_);
    factored_ = true;
    ++statistics_.factorizations;
    each_chunk([&](Chunk& c) {
        row_squares(c, {}, squares_);
        for (int r = c.row_begin; r < c.row_end; ++r)
            softness_[r] = squares_[r] > 0.0 ? compliance_[r] + squares_[r] / penalty_ : 1.0;
    });
    assembly_.factor(rows_.J.data(), {softness_, enabled_, {}, {}}, squares_);
}

void Dca::factor() {
    form();
    if (!judge_pivots()) return;
    measure_doubtful_rows();
    form();
    judge_pivots();
}

// Matrices with a larger penalty, for the configuration at hand; false where there is none.
bool Dca::stiffen() {
    if (penalty_ >= dca_options_.max_penalty) return false;
    penalty_ = std::min(kStiffer * penalty_, dca_options_.max_penalty);
    factor();
    return true;
}

// C̈ + 2Ωμ Ċ + Ω² C = 0 in place of C̈ = 0, without projections.
void Dca::stabilize(const double* u) {
    if (!drifts_ && stops_.empty()) return;
    std::fill(drift_.begin(), drift_.end(), 0.0);
    if (!drifts_ || dca_options_.projections) return;
    scale(u, scaled_.data());
    rows_.multiply(scaled_.data(), speed_.data());
    for (int r = 0; r < rows_.rows(); ++r) {
        if (!rigid_[r] || unilateral_[r]) continue;
        const double rate = speed_[r] + rows_.Ct[r];
        drift_[r] = 2.0 * frequency_ * dca_options_.damping * rate + frequency_ * frequency_ * rows_.C[r];
    }
}

// λ and u̇ = M⁻¹ (f + Jᵀ λ) from λ = 0: with the residual r = Qc − J u̇ of what there is, (S + 1/α) δλ = r.
void Dca::accelerate(double t, const double* x, const double* u, double* udot) {
    ++statistics_.evaluations;
    accelerate_loaded(t, x, u, udot, [&] { accelerate_held(t, x, u, udot); });
}

void Dca::accelerate_held(double t, const double* x, const double* u, double* udot) {
    is_shared_ = false;
    free_motion_.begin(t, x, u, udot);
    each_chunk([&](const Chunk& c) {
        free_motion_.finish(std::span(bodies_).subspan(c.body_begin, c.body_end - c.body_begin), u, udot);
    });
    if (rows_.rows() == 0) return;
    evaluate_rows(t, x);
    ready();
    stabilize(u);
    if (!stops_.empty()) {
        rows_.evaluate_residuals(t, x, u, udot, rhs_.data());
        for (int r = 0; r < rows_.rows(); ++r) wanted_[r] = rhs_[r] - drift_[r];
        seek_contacts(t, x, u);
        solve_with_stops(lambda_);
        note_contacts(wanted_);
        rows_.add_accelerations(lambda_.data(), udot);
        return;
    }
    iterate_accelerations(t, x, u, udot);
}

// λ with y = S λ − b for b = wanted_.
void Dca::solve_with_stops(std::vector<double>& lambda) {
    find_pushing(lambda, [&] { solve_rows(accelerations, lambda); }, [&](int row) { return -drift_[row]; });
}

void Dca::find_impulses(std::vector<double>& b) {
    wanted_ = b;
    solve_rows(velocities, b);
}

// λ with S λ = wanted_ in rows that are enabled. The residual wanted_ − S λ, left in drift_, is carried from one
// iteration to the next.
void Dca::solve_rows(Level level, std::vector<double>& lambda) {
    std::vector<double>& left = drift_;
    double largest = 0.0;
    const double tolerance =
        level == velocities ? dca_options_.velocity_tolerance : dca_options_.acceleration_tolerance;
    const auto take = [&] {
        std::fill(step_.begin(), step_.end(), 0.0);
        rows_.add_transposed(rhs_.data(), step_.data());
        rows_.multiply(step_.data(), change_.data());
        double change = 0.0;
        for (const double v : step_) change = std::max(change, std::abs(v));
        for (int r = 0; r < rows_.rows(); ++r) {
            left[r] -= change_[r] + compliance_[r] * rhs_[r];
            lambda[r] += rhs_[r];
        }
        largest = std::max(largest, change);
        return largest > 0.0 ? change / (tolerance * largest) : 0.0;
    };
    if (!factored_) factor();
    std::fill(lambda.begin(), lambda.end(), 0.0);
    left = wanted_;
    const auto residual = [&] { rhs_ = left; };
    while (!iterate(level, residual, take) && stiffen());
}

// The same rule along a direction: v ← v + M⁻¹ Jᵀ δμ with (S + 1/α) δμ = wanted − J v − compliance × μ.
void Dca::solve_along(const std::vector<double>& wanted, double* v, std::vector<double>& mu) {
    ready();
    mu.assign(rows_.rows(), 0.0);
    double largest = 0.0;
    const auto residual = [&] {
        scale(v, scaled_.data());
        rows_.multiply(scaled_.data(), rhs_.data());
        for (int r = 0; r < rows_.rows(); ++r) rhs_[r] = wanted[r] - rhs_[r] - compliance_[r] * mu[r];
    };
    const auto take = [&] {
        const Sizes sizes = apply(rhs_, v);
        for (int r = 0; r < rows_.rows(); ++r) mu[r] += rhs_[r];
        largest = std::max({largest, sizes.step, sizes.motion});
        return largest > 0.0 ? sizes.step / (kRounding * largest) : 0.0;
    };
    while (!iterate(accelerations, residual, take) && stiffen());
}

void Dca::iterate_accelerations(double t, const double* x, const double* u, double* udot) {
    std::fill(lambda_.begin(), lambda_.end(), 0.0);
    const double rest = norm(model_->gravity) / length_;
    const double tolerance = wide_masses_ ? kRounding : dca_options_.acceleration_tolerance;
    double change = 0.0;
    const auto residual = [&] {
        each_chunk([&](const Chunk& c) { rows_.evaluate_stage(c.stage, t, x, false, u, udot, rhs_.data()); });
        if (!drifts_) return;
        for (int r = 0; r < rows_.rows(); ++r) rhs_[r] -= drift_[r] + compliance_[r] * lambda_[r];
    };
    const auto take = [&] {
        const Sizes sizes = apply(rhs_, udot);
        each_chunk([&](const Chunk& c) {
            for (int r = c.row_begin; r < c.row_end; ++r) lambda_[r] += rhs_[r];
        });
        change = sizes.step / std::max(sizes.motion, rest);
        return change / tolerance;
    };
    bool settled = false;
    while (!(settled = iterate(accelerations, residual, take)) && stiffen());
    if (settled) return;
    // Forces between heavy bodies leave of a light one what is left of their digits.
    double largest = std::numeric_limits<double>::min(), last = 0.0;
    for (int r = 0; r < rows_.rows(); ++r) {
        largest = std::max(largest, std::abs(loads_.weight()[r] * lambda_[r]));
        last = std::max(last, std::abs(loads_.weight()[r] * rhs_[r]));
    }
    statistics_.uncertainty = std::max({statistics_.uncertainty, change, last / largest});
}

Assembly::Times Dca::measure_nodes() {
    std::fill(rhs_.begin(), rhs_.end(), 1.0);
    factored_ = false;
    return assembly_.measure(rows_.J.data(), {softness_, enabled_, {}, {}}, squares_, rhs_.data());
}

void Dca::divide() {
    const int count = chunks_of(*model_), bodies = model_->bodies();
    const auto blocks = rows_.blocks();
    const auto row_of = [&](size_t block) { return block < blocks.size() ? blocks[block].row : rows_.rows(); };
    const auto part = [&](size_t all, int c) { return static_cast<int>(all * static_cast<size_t>(c) / count); };
    for (int c = 0; c < count; ++c) {
        Chunk& chunk = chunks_.emplace_back();
        chunk.stage = c;
        chunk.body_begin = part(bodies, c), chunk.body_end = part(bodies, c + 1);
        chunk.block_begin = part(blocks.size(), c), chunk.block_end = part(blocks.size(), c + 1);
        chunk.row_begin = row_of(chunk.block_begin), chunk.row_end = row_of(chunk.block_end);
    }
    bodies_.resize(bodies);
    std::iota(bodies_.begin(), bodies_.end(), 0);
    const int threads = dca_options_.threads > 0 ? dca_options_.threads : processors();
    if (threads > 1 && bodies >= kLeastForThreads) {
        pool_ = std::make_unique<ThreadPool>(threads);
        assembly_.use(pool_.get());
    }
}

void Dca::evaluate_jacobians(double t, const double* x) {
    each_chunk([&](const Chunk& c) { rows_.evaluate_stage(c.stage, t, x, true, nullptr, nullptr, nullptr); });
}

// |Ĵ_r|² in a metric: factors of the components in records, or none.
void Dca::row_squares(const Chunk& chunk, std::span<const double> metric, std::vector<double>& out) const {
    for (int i = chunk.block_begin; i < chunk.block_end; ++i) {
        const BlockLayout& b = rows_.blocks()[i];
        for (int r = 0; r < b.size; ++r) {
            double square = 0.0, row[6];
            for (const BlockSide& side : rows_.sides(b)) {
                if (side.body == model_->ground()) continue;
                side.rows.read(rows_.J.data(), r, row);
                for (int k = 0; k < 6; ++k) {
                    const double e = metric.empty() ? row[k] : metric[kTwist * side.body + kComponent[k]] * row[k];
                    square += e * e;
                }
            }
            out[b.row + r] = square;
        }
    }
}

// step_ = M⁻¹ Jᵀ λ, which is added to a motion.
Dca::Sizes Dca::apply(const std::vector<double>& lambda, double* motion) {
    each_chunk([&](Chunk& c) {
        body_loads_.accelerate(c.body_begin, c.body_end, rows_.J.data(), lambda.data(), step_.data());
        c.sizes = {size_of(step_.data(), c.body_begin, c.body_end, length_), 0.0};
        if (motion == nullptr) return;
        for (int k = kTwist * c.body_begin; k < kTwist * c.body_end; ++k) motion[k] += step_[k];
        c.sizes.motion = size_of(motion, c.body_begin, c.body_end, length_);
    });
    Sizes sizes{0.0, 0.0};
    for (const Chunk& c : chunks_) sizes = {std::max(sizes.step, c.sizes.step), std::max(sizes.motion, c.sizes.motion)};
    return sizes;
}

double Dca::size(const double* motion) { return size_of(motion, 0, model_->bodies(), length_); }

// All rows that hold are kept.
double Dca::largest_error(bool dropped) {
    if (dropped) return largest_given_up();
    double largest = 0.0;
    for (int r = 0; r < rows_.rows(); ++r) {
        if (!rigid_[r] || (unilateral_[r] && !enabled_[r])) continue;
        largest = std::max(largest, std::abs(rows_.C[r]));
    }
    return largest;
}

bool Dca::project(double t, double* x, double* u) {
    return !dca_options_.projections || ConstrainedBodies::project(t, x, u);
}

bool Dca::rows_hold(const double* x) {
    return largest_error(false) <= std::max(kMetPosition, kNoiseLeft * rounding_of_rows(x));
}

// Off the constraints rows that depend on others may do so no longer, as in Bennett's linkage, and ask for
// accelerations that have nothing to do with the motion: there, as near singular poses, the stages of a step are
// projected.
bool Dca::begin_stage(double t, const double* x, const double* u) {
    return dca_options_.projections && (ConstrainedBodies::begin_stage(t, x, u) || statistics_.dropped_rows > 0);
}

// Positions: (S + 1/α) δτ = −C, x ← x ⊕ M⁻¹ Jᵀ δτ. The matrices are those of the pose that the projection began at; J
// and C at the end of it are known.
void Dca::correct_positions(double t, double* x, bool) {
    evaluate_rows(t, x);
    wrong_ = std::max(wrong_, largest_error(false));
    for (int renewals = 0; renewals <= kMostRenewals; ++renewals) {
        ready();
        bool evaluated = true;
        const bool settled = iterate(
            positions,
            [&] {
                if (!evaluated) rows_.evaluate_values(t, x);
                evaluated = false;
                for (int r = 0; r < rows_.rows(); ++r) rhs_[r] = rigid_[r] ? -rows_.C[r] : 0.0;
            },
            [&] {
                const double change = apply(rhs_, nullptr).step;
                retract(x, step_.data(), x);
                ++statistics_.corrections;
                moved_ += change;
                corrected_ += change;
                return change / dca_options_.position_tolerance;
            });
        evaluate_jacobians(t, x);
        remember(t, x);
        if (settled || largest_error(false) <= kHeld) return;
        if (moved_ <= most_moved_) factored_ = false;
    }
}

// (S + 1/α) δμ = −Ċ, u ← u + M⁻¹ Jᵀ δμ.
double Dca::correct_rates(double t, const double* x, double* u) {
    ready();
    if (!stops_.empty()) return ConstrainedBodies::correct_rates(t, x, u);
    const double fastest = std::max(size(u), std::numeric_limits<double>::min());
    const auto rates = [&] {
        find_rates(u);
        for (int r = 0; r < rows_.rows(); ++r) rhs_[r] = -speed_[r];
    };
    iterate(velocities, rates, [&] { return apply(rhs_, u).step / (dca_options_.velocity_tolerance * fastest); });
    return 0.0;
}

double Dca::position_noise(const double* x) const {
    return rows_.rows() == 0 ? 0.0 : std::max(dca_options_.position_tolerance * length_, rounding_of_rows(x));
}

}  // namespace bellcrank
