#include "integrate/ledger.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "model/forces.hpp"

namespace bellcrank {

namespace {

constexpr int kFewestNodes = 3, kMostNodes = 8;

// Gauss's rule integrates polynomials of twice the degree: half as many nodes as the motion has orders do. At times
// within a step it takes as many as these.
int nodes_of(int order, bool within) {
    return within ? kMostNodes : std::clamp(order / 2 + 1, kFewestNodes, kMostNodes);
}

}  // namespace

Ledger::Ledger(Dynamics& dynamics, Projection& projection, Record& record, const Observation& what)
    : dynamics_(dynamics),
      projection_(projection),
      record_(record),
      contacts_(record.contacts()),
      powers_(record.model(), what),
      settled_(powers_.columns(), 0.0),
      step_(settled_) {
    if (empty()) return;
    for (int nodes = kFewestNodes; nodes <= kMostNodes; ++nodes) rules_.push_back(rule(nodes));
    at_nodes_.resize(kMostNodes * settled_.size());
    x_.resize(dynamics.configuration_size());
    u_.resize(dynamics.tangent_size());
    udot_.resize(dynamics.tangent_size());
    multipliers_.resize(record.model().rows.size());
}

// Zeros of the Legendre polynomial by Newton's method.
Ledger::Rule Ledger::rule(int nodes) {
    Rule out;
    for (int i = 0; i < nodes; ++i) {
        double z = -std::cos(std::numbers::pi * (i + 0.75) / (nodes + 0.5)), slope = 0.0;
        for (int k = 0; k < 20; ++k) {
            double p = 1.0, before = 0.0;
            for (int j = 0; j < nodes; ++j) {
                const double next = ((2.0 * j + 1.0) * z * p - j * before) / (j + 1.0);
                before = p;
                p = next;
            }
            slope = nodes * (z * p - before) / (z * z - 1.0);
            z -= p / slope;
        }
        out.node.push_back(0.5 * (1.0 + z));
        out.weight.push_back(1.0 / ((1.0 - z * z) * slope * slope));
    }
    for (int i = 0; i < nodes; ++i) {
        std::vector<double> c(nodes, 0.0);
        c[0] = 1.0;
        for (int j = 0, degree = 0; j < nodes; ++j) {
            if (j == i) continue;
            const double scale = 1.0 / (out.node[i] - out.node[j]);
            ++degree;
            for (int k = degree; k >= 0; --k) c[k] = scale * ((k > 0 ? c[k - 1] : 0.0) - out.node[j] * c[k]);
        }
        out.polynomials.insert(out.polynomials.end(), c.begin(), c.end());
    }
    return out;
}

void Ledger::follow(double begin, double end, int order, bool within, const Curve& curve) {
    if (empty()) return;
    struck_ = false;
    const int nodes = nodes_of(order, within);
    rule_ = &rules_[nodes - kFewestNodes];
    begin_ = begin;
    length_ = end - begin;
    std::fill(step_.begin(), step_.end(), 0.0);
    const size_t columns = step_.size();
    for (int i = 0; i < nodes; ++i) {
        double* powers = at_nodes_.data() + i * columns;
        evaluate(begin + rule_->node[i] * length_, curve, powers);
        for (size_t c = 0; c < columns; ++c) step_[c] += length_ * rule_->weight[i] * powers[c];
    }
}

void Ledger::evaluate(double t, const Curve& curve, double* powers) {
    curve(t, x_.data(), u_.data());
    const bool moves = powers_.any_row_moves(record_.scenery(t, x_.data(), u_.data()));
    if (moves || !record_.model().friction_loads.empty()) {
        projection_.project_stage(t, x_.data(), u_.data());
        dynamics_.accelerate(t, x_.data(), u_.data(), udot_.data());
        if (moves) record_.multipliers(t, x_.data(), u_.data(), udot_.data(), multipliers_.data());
    }
    const Scenery at = record_.scenery(t, x_.data(), u_.data());
    powers_.evaluate(at, contacts_, moves ? multipliers_.data() : nullptr, powers);
}

void Ledger::strike(double t, const double* x, const double* u, bool whole_step) {
    if (empty()) return;
    struck_ = true;
    struck_at_ = energy(t, x, u);
    if (whole_step) struck_at_ += std::accumulate(step_.begin(), step_.end(), 0.0);
}

void Ledger::settle(double t, const double* x, const double* u) {
    if (rule_ == nullptr) return;
    for (size_t c = 0; c < step_.size(); ++c) settled_[c] += step_[c];
    if (struck_) settled_.back() += energy(t, x, u) - struck_at_;
    rule_ = nullptr;
    struck_ = false;
}

void Ledger::write(double t, double* works) const {
    std::copy(settled_.begin(), settled_.end(), works);
    if (rule_ == nullptr) return;
    const size_t columns = step_.size(), nodes = rule_->node.size();
    const double theta = length_ > 0.0 ? (t - begin_) / length_ : 0.0;
    for (size_t i = 0; i < nodes; ++i) {
        double part = 0.0;
        for (size_t k = nodes; k-- > 0;)
            part = (part + rule_->polynomials[i * nodes + k] / static_cast<double>(k + 1)) * theta;
        for (size_t c = 0; c < columns; ++c) works[c] += length_ * part * at_nodes_[i * columns + c];
    }
}

double Ledger::energy(double t, const double* x, const double* u) {
    const Scenery at = record_.scenery(t, x, u);
    const Energy e = inertial_energy(at.model, at.branches, at.x, at.u);
    return e.kinetic + e.potential;
}

void Ledger::move(double t, const double* x, const double* u) {
    if (empty()) return;
    const double before = stands_at_;
    stand(t, x, u);
    settled_[settled_.size() - 2] += stands_at_ - before;
}

}  // namespace bellcrank
