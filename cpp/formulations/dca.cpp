#include "formulations/dca.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "formulations/dca/chunks.hpp"
#include "formulations/dca/iterate.hpp"
#include "spatial/body_state.hpp"

namespace bellcrank {

namespace {

constexpr double kEarth = 9.81;  // m/s², where a mechanism says nothing of its times

// Matrices serve as long as positions have moved by no more than this, in parts of l and of 1/√α. Loads of redundant
// rows, which exert nothing where the matrices were formed, grow by α times an error and act in proportion to the way.
constexpr double kStale = 0.1;

// Where a row so nearly depends on others that iterations hardly correct it, the penalty of all rows grows by this.
constexpr double kStiffer = 10.0;

// Beyond this ratio of masses accelerations are iterated until nothing changes but rounding.
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

}  // namespace

Dca::Dca(std::shared_ptr<const Model> model, const DcaOptions& options)
    : ConstrainedBodies("dca", model, in_chunks(*model),
                        {.position_tolerance = 1e3 * options.position_tolerance,
                         .contact_tolerance = options.contact_tolerance,
                         .rest_speed = options.rest_speed}),
      options_(options),
      assembly_(*model_, rows_),
      loads_(*model_, rows_) {
    const int m = rows_.rows();
    step_.assign(tangent_size(), 0.0);
    configuration_.assign(configuration_size(), 0.0);
    for (auto* v : {&rhs_, &squares_, &softness_, &drift_, &wanted_, &compliance_, &null_}) v->assign(m, 0.0);
    for (const BlockLayout& b : rows_.blocks())
        std::fill_n(compliance_.begin() + b.row, b.size, model_->blocks[b.block].compliance);
    drifts_ =
        !options_.projections || std::any_of(compliance_.begin(), compliance_.end(), [](double c) { return c > 0.0; });
    length_ = length_of(*model_);
    redundant_.assign(m, 0.0);
    needed_.assign(m, std::numeric_limits<double>::infinity());
    if (!open_) make_metric();
    divide();
    const auto [least, most] = std::minmax_element(model_->mass.begin(), model_->mass.end());
    wide_masses_ = !model_->mass.empty() && *most > kWideMasses * *least;
    const double g = norm(model_->gravity);
    frequency_ = options_.frequency * std::sqrt((g > 0.0 ? g : kEarth) / length_);
}

bool Dca::is_current(double t, const double* x) const {
    return known_ == Known::rows && t == time_ &&
           std::memcmp(x, configuration_.data(), configuration_.size() * sizeof(double)) == 0;
}

void Dca::remember(double t, const double* x) {
    std::copy_n(x, configuration_.size(), configuration_.begin());
    time_ = t;
    known_ = Known::rows;
}

void Dca::refresh(double t, const double* x) {
    evaluate_jacobians(t, x);
    remember(t, x);
    penalty_ = options_.penalty;
    factor();
}

void Dca::evaluate_rows(double t, const double* x) {
    if (!is_current(t, x)) refresh(t, x);
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
    if (penalty_ >= options_.max_penalty) return false;
    penalty_ = std::min(kStiffer * penalty_, options_.max_penalty);
    factor();
    return true;
}

// C̈ + 2Ωμ Ċ + Ω² C = 0 in place of C̈ = 0, without projections.
void Dca::stabilize(const double* u) {
    if (!drifts_ && stops_.empty()) return;
    std::fill(drift_.begin(), drift_.end(), 0.0);
    if (!drifts_ || options_.projections) return;
    scale(u, scaled_.data());
    rows_.multiply(scaled_.data(), speed_.data());
    for (int r = 0; r < rows_.rows(); ++r) {
        if (!rigid_[r] || unilateral_[r]) continue;
        const double rate = speed_[r] + rows_.Ct[r];
        drift_[r] = 2.0 * frequency_ * options_.damping * rate + frequency_ * frequency_ * rows_.C[r];
    }
}

// λ and u̇ = M⁻¹ (f + Jᵀ λ) from λ = 0: with the residual r = Qc − J u̇ of what there is, (S + 1/α) δλ = r.
void Dca::accelerate(double t, const double* x, const double* u, double* udot) {
    ++statistics_.evaluations;
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
        seek_contacts(u);
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
    const double tolerance = level == velocities ? options_.velocity_tolerance : options_.acceleration_tolerance;
    const auto take = [&] {
        std::fill(step_.begin(), step_.end(), 0.0);
        rows_.add_transposed(rhs_.data(), step_.data());
        rows_.multiply(step_.data(), speed_.data());
        double change = 0.0;
        for (const double v : step_) change = std::max(change, std::abs(v));
        for (int r = 0; r < rows_.rows(); ++r) {
            left[r] -= speed_[r] + compliance_[r] * rhs_[r];
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

void Dca::iterate_accelerations(double t, const double* x, const double* u, double* udot) {
    std::fill(lambda_.begin(), lambda_.end(), 0.0);
    const double rest = norm(model_->gravity) / length_;
    const double tolerance = wide_masses_ ? kRounding : options_.acceleration_tolerance;
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
        largest = std::max(largest, std::abs(weight_[r] * lambda_[r]));
        last = std::max(last, std::abs(weight_[r] * rhs_[r]));
    }
    statistics_.uncertainty = std::max({statistics_.uncertainty, change, last / largest});
}

Assembly::Times Dca::measure_nodes() {
    std::fill(rhs_.begin(), rhs_.end(), 1.0);
    factored_ = false;
    return assembly_.measure(rows_.J.data(), {softness_, enabled_, {}, {}}, squares_, rhs_.data());
}

void Dca::inputs_changed() {
    known_ = Known::nothing;
    is_shared_ = false;
}

}  // namespace bellcrank
