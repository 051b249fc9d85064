#include "statics/loads.hpp"

#include <algorithm>
#include <cmath>

#include "model/forces.hpp"
#include "spatial/body_state.hpp"

namespace bellcrank {

namespace {

constexpr double kLeastLength = 1e-6;  // of a body, relative to the largest one

}  // namespace

Metric::Metric(const Model& model) : length_(model.bodies(), 0.0) {
    for (int b = 0; b < model.bodies(); ++b) {
        const Vec3& I = model.principal_inertia[b];
        if (model.mass[b] > 0.0) length_[b] = std::sqrt(0.5 * (I.x + I.y + I.z) / model.mass[b]);
    }
    for (const MarkerPair& pair : model.pairs)
        for (int s = 0; s < 2; ++s)
            if (pair.body[s] != model.ground())
                length_[pair.body[s]] = std::max(length_[pair.body[s]], norm(pair.offset[s]));
    for (const Wrench& w : model.wrenches) length_[w.body] = std::max(length_[w.body], norm(w.offset));
    double largest = 0.0;
    for (double l : length_) largest = std::max(largest, l);
    extent_ = largest > 0.0 ? largest : 1.0;
    for (double& l : length_) l = std::max(l, kLeastLength * extent_);
}

void Metric::force(const double* records, Eigen::VectorXd& out) const {
    out.resize(size());
    for (size_t b = 0; b < length_.size(); ++b)
        for (int k = 0; k < 6; ++k) out[6 * b + k] = records[kTwist * b + kComponent[k]] / (k < 3 ? 1.0 : length_[b]);
}

void Metric::displacement(const Eigen::VectorXd& v, double* records) const {
    for (size_t b = 0; b < length_.size(); ++b)
        for (int k = 0; k < 6; ++k) records[kTwist * b + kComponent[k]] = v[6 * b + k] / (k < 3 ? 1.0 : length_[b]);
}

void wrench_values(const Model& model, const Wrench& w, double t, double value[6]) {
    for (int k = 0; k < 6; ++k)
        value[k] = w.constant[k] + (w.function[k] < 0 ? 0.0 : model.functions[w.function[k]](t).f);
}

Loads::Loads(const Model& model, const AngleBranches& branches, double t)
    : model_(model), branches_(branches), contacts_(model.contacts), t_(t), rest_(kTwist * (model.bodies() + 1), 0.0) {
    for (size_t i = 0; i < model.wrenches.size(); ++i) {
        double value[6];
        wrench_values(model, model.wrenches[i], t, value);
        const bool moment = value[0] != 0.0 || value[1] != 0.0 || value[2] != 0.0;
        const bool force = value[3] != 0.0 || value[4] != 0.0 || value[5] != 0.0;
        if (moment || (force && model.wrenches[i].local)) follower_wrenches_.push_back(static_cast<int>(i));
    }
    const std::vector<ForceFormula>& formulas = model.data().formulas.forces;
    for (size_t i = 0; i < formulas.size(); ++i)
        if (!formulas[i].has_potential) free_formulas_.push_back(static_cast<int>(i));
}

void Loads::all(const double* x, double* force) const {
    applied_forces(model_, branches_, contacts_, t_, x, rest_.data(), force);
}

// The force of a wrench in world axes has a potential, its moment has none.
void Loads::add_wrench(const Wrench& w, const double* x, bool moment_only, double* force) const {
    double value[6];
    wrench_values(model_, w, t_, value);
    Vec3 moment = load(value), f = load(value + 3);
    const Mat3 R = rotation_matrix(pose_rotation(x, w.body));
    if (w.local) {
        const Mat3 A = rotation_matrix(w.rotation);
        moment = A * moment;
        f = A * f;
    } else {
        moment = transpose_times(R, moment);
        f = transpose_times(R, f);
    }
    double* record = force + kTwist * w.body;
    add(record + 4, moment);
    if (moment_only) return;
    add(record, R * f);
    add(record + 4, cross(w.offset, f));
}

void Loads::without_potential(const double* x, double* force) const {
    std::fill_n(force, kTwist * (model_.bodies() + 1), 0.0);
    for (int i : follower_wrenches_) add_wrench(model_.wrenches[i], x, !model_.wrenches[i].local, force);
    for (int i : free_formulas_) model_.formula_forces[i].add({model_, branches_, t_, x, rest_.data()}, force);
}

double Loads::effort(const Law& law, double value) const {
    const Function* function = law.function < 0 ? nullptr : &model_.functions[law.function];
    return law.kind->effort({value, 0.0, t_}, law.params, function);
}

// An error is a second difference: rounding where the slope is smooth, its jump at a kink.
Loads::Slope Loads::slope(const Law& law, double value) const {
    const auto at = [&](double near) { return law_slopes(model_, law, {near, 0.0, t_}, law_numbers_).value; };
    const double beside = kBeside * std::max(std::abs(value), 1.0), found = at(value);
    return {found, std::abs(at(value + beside) - 2.0 * found + at(value - beside))};
}

// An effort of a law without a potential depends on time and speed only; so does what a function of time adds to one
// that has a potential.
Loads::Potential Loads::potential(const double* x) const {
    Potential V;
    for (int b = 0; b < model_.bodies(); ++b) V.add(-model_.mass[b] * dot(model_.gravity, pose_position(x, b)));
    for (const Law& law : model_.laws) {
        const double value = coordinate_motion(model_, branches_, law.coordinate, x, rest_.data()).value;
        const Function* function = law.function < 0 ? nullptr : &model_.functions[law.function];
        if (law.kind->potential == nullptr) {
            V.add(-effort(law, value) * value);
            continue;
        }
        V.add(law.kind->potential(value, law.params, function));
        if (law.kind->name == "linear" && function != nullptr) V.add(-(*function)(t_).f * value);
    }
    for (const Wrench& w : model_.wrenches) {
        if (w.local) continue;
        double value[6];
        wrench_values(model_, w, t_, value);
        V.add(-dot(load(value + 3), pose_position(x, w.body) + rotation_matrix(pose_rotation(x, w.body)) * w.offset));
    }
    for (const FormulaForce& f : model_.formula_forces) V.add(f.potential({model_, branches_, t_, x, rest_.data()}));
    return V;
}

// A coordinate is rounded as it is itself, and as the places are between which it is measured.
double Loads::rounding(const double* x, const Metric& metric) const {
    double largest = 0.0;
    BodyCoordinate c;
    for (const Law& law : model_.laws) {
        evaluate_coordinate(model_, branches_, law.coordinate, x, rest_.data(), c);
        const MarkerPair& pair = model_.pairs[model_.coordinates[law.coordinate].pair];
        double rounded = std::abs(c.value), reach = 0.0;
        for (int s = 0; s < 2; ++s) {
            const double linear = norm(load(c.J[s])), angular = norm(load(c.J[s] + 3));
            rounded = std::max({rounded, linear * norm(pose_position(x, pair.body[s])), angular});
            if (pair.body[s] != model_.ground())
                reach = std::max({reach, linear, angular / metric.length(pair.body[s])});
        }
        largest = std::max(largest, std::abs(slope(law, c.value).value) * rounded * reach);
    }
    return kRounding * largest;
}

double Loads::largest(const double* x, const Metric& metric) const {
    double largest = 0.0;
    for (int b = 0; b < model_.bodies(); ++b) largest = std::max(largest, model_.mass[b] * norm(model_.gravity));
    BodyCoordinate c;
    for (const Law& law : model_.laws) {
        evaluate_coordinate(model_, branches_, law.coordinate, x, rest_.data(), c);
        const double tau = std::abs(effort(law, c.value));
        const MarkerPair& pair = model_.pairs[model_.coordinates[law.coordinate].pair];
        for (int s = 0; s < 2; ++s) {
            if (pair.body[s] == model_.ground()) continue;
            const double moment = norm(load(c.J[s] + 3)) / metric.length(pair.body[s]);
            largest = std::max(largest, tau * std::max(norm(load(c.J[s])), moment));
        }
    }
    for (const Wrench& w : model_.wrenches) {
        double value[6];
        wrench_values(model_, w, t_, value);
        largest = std::max({largest, norm(load(value + 3)), norm(load(value)) / metric.length(w.body)});
    }
    std::vector<double> record(rest_.size());
    for (const FormulaForce& f : model_.formula_forces) {
        std::fill(record.begin(), record.end(), 0.0);
        f.add({model_, branches_, t_, x, rest_.data()}, record.data());
        for (int b = 0; b < model_.bodies(); ++b)
            largest = std::max(
                {largest, norm(load(&record[kTwist * b])), norm(load(&record[kTwist * b + 4])) / metric.length(b)});
    }
    return largest;
}

}  // namespace bellcrank
