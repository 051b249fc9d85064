// What the tangent stiffness is put together from, and its products with vectors.
#include "statics/tangent_stiffness.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "spatial/body_state.hpp"
#include "spatial/rotation.hpp"

namespace bellcrank {

namespace {

std::vector<int> distinct_bodies(const Model& model, std::vector<int> bodies) {
    std::sort(bodies.begin(), bodies.end());
    bodies.erase(std::unique(bodies.begin(), bodies.end()), bodies.end());
    std::erase(bodies, model.ground());
    return bodies;
}

// The bodies of a force or constraint given by formulas.
template <class Formula>
std::vector<int> bodies_of(const Model& model, const Formula& formula) {
    std::vector<int> bodies;
    for (const MarkerSymbols& m : formula.markers) bodies.push_back(m.body);
    for (const CoordinateSymbols& c : formula.coordinates)
        for (int b : model.pairs[model.coordinates[c.coordinate].pair].body) bodies.push_back(b);
    return distinct_bodies(model, bodies);
}

}  // namespace

TangentStiffness::TangentStiffness(const Model& model, const AngleBranches& branches, const Metric& metric,
                                   const Loads& loads, const RowMatrix& rows)
    : model_(model),
      branches_(branches),
      metric_(metric),
      loads_(loads),
      rows_(rows),
      rest_(kTwist * (model.bodies() + 1), 0.0),
      weight_(model.coordinates.size()),
      unsure_(model.coordinates.size()),
      coordinates_of_pair_(model.pairs.size()) {
    std::vector<std::uint8_t> used(model.coordinates.size(), 0);
    for (const Term& term : model.terms) used[term.coordinate] = 1;
    for (const Law& law : model.laws) used[law.coordinate] = 1;
    for (int b = 0; b < model.bodies(); ++b) couple({b});
    for (size_t c = 0; c < used.size(); ++c) {
        if (!used[c]) continue;
        const int pair = model.coordinates[c].pair;
        coordinates_of_pair_[pair].push_back(static_cast<int>(c));
        couple(distinct_bodies(model, {model.pairs[pair].body[0], model.pairs[pair].body[1]}));
    }
    for (size_t b = 0; b < model.blocks.size(); ++b)
        couple(distinct_bodies(model, model.bodies_of(static_cast<int>(b))));
    for (const ForceFormula& f : model.data().formulas.forces) {
        bodies_of_force_.push_back(bodies_of(model, f));
        couple(bodies_of_force_.back());
    }
    values_.assign(36 * blocks_.size(), 0.0);
    errors_ = values_;
}

void TangentStiffness::couple(const std::vector<int>& bodies) {
    for (int a : bodies)
        for (int b : bodies) {
            if (a < b || !index_.emplace(std::pair(a, b), static_cast<int>(blocks_.size())).second) continue;
            blocks_.push_back({a, b});
        }
}

void TangentStiffness::add(int body, int i, int other, int j, double h, double error) {
    const double unit = (i < 3 ? 1.0 : metric_.length(body)) * (j < 3 ? 1.0 : metric_.length(other));
    h /= unit;
    error = error / unit + rounding_ * std::abs(h);
    const auto place = [&](int at) {
        values_[at] += h;
        errors_[at] += error;
    };
    if (body >= other) place(36 * index_.at({body, other}) + 6 * i + j);
    if (other >= body) place(36 * index_.at({other, body}) + 6 * j + i);
}

void TangentStiffness::add_pair(const MarkerPair& pair, const PairMatrix& H, double part) {
    for (int s = 0; s < 2; ++s)
        for (int o = 0; o < 2; ++o) {
            const int a = pair.body[s], b = pair.body[o];
            if (a == model_.ground() || b == model_.ground() || a < b) continue;
            const int at = 36 * index_.at({a, b});
            const double la = metric_.length(a), lb = metric_.length(b);
            for (int i = 0; i < 6; ++i)
                for (int j = 0; j < 6; ++j) {
                    const double h = H[12 * (6 * s + i) + 6 * o + j] / ((i < 3 ? 1.0 : la) * (j < 3 ? 1.0 : lb));
                    values_[at + 6 * i + j] += h;
                    errors_[at + 6 * i + j] += (part + rounding_) * std::abs(h);
                }
        }
}

// ∇²V of a law is its stiffness −dτ/dφ along ∇φ; what its effort adds with ∇²φ is that of all coordinates.
void TangentStiffness::add_laws(const double* x) {
    BodyCoordinate c;
    for (const Law& law : model_.laws) {
        evaluate_coordinate(model_, branches_, law.coordinate, x, rest_.data(), c);
        weight_[law.coordinate] -= loads_.effort(law, c.value);
        const Loads::Slope slope = loads_.slope(law, c.value);
        const double stiffness = -slope.value;
        if (stiffness == 0.0) continue;
        PairMatrix H;
        for (int i = 0; i < 12; ++i)
            for (int j = 0; j < 12; ++j) H[12 * i + j] = stiffness * c.J[i / 6][i % 6] * c.J[j / 6][j % 6];
        add_pair(model_.pairs[model_.coordinates[law.coordinate].pair], H, slope.error / std::abs(stiffness));
    }
}

// Each coordinate by itself: what cancels between them is rounded all the same.
void TangentStiffness::add_coordinates(const double* x, const Eigen::VectorXd& lambda, double force) {
    for (size_t r = 0; r < model_.rows.size(); ++r) {
        const int row = rows_.storage_row(static_cast<int>(r));
        if (!rows_.held()[row]) continue;
        for (int k = model_.rows[r].term_begin; k < model_.rows[r].term_end; ++k) {
            const double factor = model_.terms[k].coefficient * rows_.scale(row);
            weight_[model_.terms[k].coordinate] -= factor * lambda[row];
            unsure_[model_.terms[k].coordinate] += std::abs(factor) * kRounding * force;
        }
    }
    for (size_t p = 0; p < coordinates_of_pair_.size(); ++p) {
        if (model_.pairs[p].body[0] == model_.pairs[p].body[1]) continue;
        for (int c : coordinates_of_pair_[p]) {
            const double weight = std::max(std::abs(weight_[c]), unsure_[c]);
            if (weight == 0.0) continue;
            const WeighedCoordinate one[1] = {{c, weight}};
            PairMatrix H{};
            add_curvature(model_, branches_, model_.pairs[p], one, x, rest_.data(), H);
            for (double& h : H) h *= weight_[c] / weight;
            add_pair(model_.pairs[p], H, weight_[c] == 0.0 ? 0.0 : unsure_[c] / std::abs(weight_[c]));
        }
    }
}

// In principal axes a force g = Rᵀ f of constant direction changes by g×φ with a rotation φ, and its moment s×g by
// s×(g×φ). One that turns with the body changes in world axes by R (φ×g).
void TangentStiffness::add_wrenches(double t, const double* x) {
    for (const Wrench& w : model_.wrenches) {
        double value[6];
        wrench_values(model_, w, t, value);
        const Mat3 R = rotation_matrix(pose_rotation(x, w.body));
        const Vec3 g = w.local ? rotation_matrix(w.rotation) * load(value + 3) : transpose_times(R, load(value + 3));
        for (int j = 0; j < 3; ++j) {
            const Vec3 turn{j == 0 ? 1.0 : 0.0, j == 1 ? 1.0 : 0.0, j == 2 ? 1.0 : 0.0};
            const Vec3 change = w.local ? R * cross(turn, g) : cross(w.offset, cross(g, turn));
            for (int i = 0; i < 3; ++i) add(w.body, (w.local ? 0 : 3) + i, w.body, 3 + j, -0.5 * component(change, i));
        }
    }
}

// C̈ at constant twists, without what time alone and in part adds, is the second derivative; by polarization.
void TangentStiffness::add_formula_rows(double t, const double* x, const Eigen::VectorXd& lambda) {
    FormulaRows::Values values;
    std::vector<double> u(rest_.size(), 0.0);
    for (size_t b = 0; b < model_.blocks.size(); ++b) {
        const int formula = model_.formula_of_block[b];
        if (formula < 0) continue;
        const FormulaRows& rows = model_.formula_rows[formula];
        const std::vector<int> bodies = bodies_of(model_, model_.data().formulas.constraints[formula]);
        const int first = model_.blocks[b].row_begin, n = 6 * static_cast<int>(bodies.size());
        const auto at = [&](int i) -> double& { return u[kTwist * bodies[i / 6] + kComponent[i % 6]]; };
        const auto sum = [&] {
            rows.evaluate({model_, branches_, t, x, u.data()}, values);
            double s = 0.0;
            for (int r = 0; r < rows.rows(); ++r) {
                const int row = rows_.storage_row(first + r);
                if (rows_.held()[row]) s -= lambda[row] * rows_.scale(row) * values.bias[r];
            }
            return s;
        };
        const double still = sum();
        const auto form = [&](int i, int j) {
            at(i) = at(j) = 1.0;
            const double ahead = sum();
            at(i) = at(j) = -1.0;
            const double back = sum();
            at(i) = at(j) = 0.0;
            return 0.5 * (ahead + back) - still;
        };
        std::vector<double> own(n);
        for (int i = 0; i < n; ++i) own[i] = form(i, i);
        for (int i = 0; i < n; ++i)
            for (int j = 0; j <= i; ++j) {
                const double h = i == j ? 0.5 * own[i] : 0.5 * (form(i, j) - own[i] - own[j]);
                add(bodies[i / 6], i % 6, bodies[j / 6], j % 6, h);
            }
    }
}

namespace {

constexpr double kDisplacement = 4e-3;  // of a body's length or of a radian, for central differences
constexpr int kHalvings = 3;

}  // namespace

void TangentStiffness::evaluate(double t, const double* x, const Eigen::VectorXd& lambda, double force) {
    for (std::vector<double>* v : {&values_, &errors_, &weight_, &unsure_}) std::fill(v->begin(), v->end(), 0.0);
    double reach = 0.0;
    for (int b = 0; b < model_.bodies(); ++b) reach = std::max(reach, norm(pose_position(x, b)));
    rounding_ = kEpsilon * (8.0 + reach / metric_.extent());
    add_laws(x);
    add_coordinates(x, lambda, force);
    add_wrenches(t, x);
    add_formula_rows(t, x, lambda);
    add_formula_forces(t, x);
}

void TangentStiffness::add_formula_forces(double t, const double* x) {
    // Differences with steps h, h/2, h/4, extrapolated.
    std::vector<double> ahead(rest_.size()), back(rest_.size()), moved(x, x + kPose * (model_.bodies() + 1));
    std::array<std::vector<double>, kHalvings> slopes;
    std::vector<double> rounding(rest_.size());
    for (size_t f = 0; f < model_.formula_forces.size(); ++f) {
        const std::vector<int>& bodies = bodies_of_force_[f];
        const auto force = [&](std::vector<double>& out) {
            std::fill(out.begin(), out.end(), 0.0);
            model_.formula_forces[f].add({model_, branches_, t, moved.data(), rest_.data()}, out.data());
        };
        for (int b : bodies)
            for (int j = 0; j < 6; ++j) {
                double h = kDisplacement * (j < 3 ? metric_.length(b) : 1.0);
                for (std::vector<double>& slope : slopes) {
                    for (const double step : {h, -h}) {
                        double displacement[kTwist] = {};
                        displacement[kComponent[j]] = step;
                        const Quat q = advanced(pose_rotation(x, b), twist_angular(displacement, 0));
                        store(&moved[kPose * b], pose_position(x, b) + twist_linear(displacement, 0));
                        store(&moved[kPose * b + 4], q);
                        force(step > 0.0 ? ahead : back);
                    }
                    slope.resize(ahead.size());
                    for (size_t k = 0; k < slope.size(); ++k) {
                        slope[k] = (ahead[k] - back[k]) / (2.0 * h);
                        rounding[k] = 8.0 * kEpsilon * (std::abs(ahead[k]) + std::abs(back[k])) / h;
                    }
                    h *= 0.5;
                }
                std::copy_n(x + kPose * b, kPose, &moved[kPose * b]);
                for (int a : bodies)
                    for (int i = 0; i < 6; ++i) {
                        const int at = kTwist * a + kComponent[i];
                        const double coarse = (4.0 * slopes[1][at] - slopes[0][at]) / 3.0,
                                     fine = (4.0 * slopes[2][at] - slopes[1][at]) / 3.0;
                        const double slope = (16.0 * fine - coarse) / 15.0;
                        add(a, i, b, j, -0.5 * slope, 0.5 * (std::abs(fine - coarse) + rounding[at]));
                    }
            }
    }
}

double TangentStiffness::largest() const {
    double largest = 0.0;
    for (double v : values_) largest = std::max(largest, std::abs(v));
    return largest;
}

void TangentStiffness::multiply(const Eigen::VectorXd& v, Eigen::VectorXd& out) const {
    using Six = Eigen::Matrix<double, 6, 6, Eigen::RowMajor>;
    out.setZero(v.size());
    for (size_t k = 0; k < blocks_.size(); ++k) {
        const Eigen::Map<const Six> block(&values_[36 * k]);
        const int a = 6 * blocks_[k].row, b = 6 * blocks_[k].column;
        out.segment<6>(a) += block * v.segment<6>(b);
        if (a != b) out.segment<6>(b) += block.transpose() * v.segment<6>(a);
    }
}

double TangentStiffness::error_of_form(const Eigen::VectorXd& v) const {
    double sum = 0.0;
    for (size_t k = 0; k < blocks_.size(); ++k)
        for (int i = 0; i < 6; ++i)
            for (int j = 0; j < 6; ++j)
                sum += (blocks_[k].row == blocks_[k].column ? 1.0 : 2.0) *
                       std::abs(v[6 * blocks_[k].row + i] * v[6 * blocks_[k].column + j]) * errors_[36 * k + 6 * i + j];
    return sum;
}

}  // namespace bellcrank
